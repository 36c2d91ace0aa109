"""Results of each class against the rest, which hold for all at once, and of each measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dmfroc._kit.options import check_level, listed
from dmfroc._kit.remarks import collected_remarks, warn
from dmfroc._kit.text import split_calls
from dmfroc.analyses.catalogue import get_measure
from dmfroc.analyses.comparison_result import Comparison
from dmfroc.inference.simultaneous import holm_adjusted
from dmfroc.results.result import ResultsByName, attributed

_DIGITS = 1e4  # of the level of each class


def for_each_measure(
    function: Callable[..., Any], call: Mapping[str, Any]
) -> ResultsByName[Any] | None:
    """Return the results of each measure, if several are asked for, else None."""
    given = call["measures"]
    if isinstance(given, str) and len(names := split_calls(given)) > 1:
        given = names
    if not isinstance(given, list | tuple):
        return None
    each = {x.name: {"measures": x} for x in map(get_measure, listed("measures", given))}
    return ResultsByName(_results_of(function, call, each), "measure")


def _results_of(
    function: Callable[..., Any],
    call: Mapping[str, Any],
    changes: Mapping[Any, dict[str, Any]],
) -> dict[Hashable, Any]:
    """Return the results of a function whose arguments are those of a call, but for each change."""
    options = {x: call[x] for x in call if x not in ("surplus", "others")}
    found: dict[Hashable, Any] = {}
    told: dict[str, list[str]] = {}
    for name, own in changes.items():
        with collected_remarks() as told[str(name)]:
            found[name] = function(**options | own)
    warn(attributed(told))
    return found


def for_each_class(
    function: Callable[..., Any], call: Mapping[str, Any]
) -> ResultsByName[Any] | None:
    """Return the results of each class, if ``pos_label`` is a list of them, else None.

    ``call`` has all arguments of the function, as read once. The level of each interval is that of
    independent ones which hold all at once: intervals about normal values of any correlation then
    hold at least as often (Šidák 1967).
    """
    if np.ndim(call["pos_label"]) != 1:
        return None
    labels = listed("pos_label", np.asarray(call["pos_label"], object).tolist())
    if len(set(labels)) < len(labels):
        raise ValueError(f"pos_label must be classes, each once, but it is {labels}")
    scores, level = call["y_score"], check_level(call["level"])
    several = scores.values() if isinstance(scores, Mapping) else [scores]
    if any(map(_is_single, several)):
        raise ValueError(
            "pos_label of several classes needs a score of each, but y_score has one alone, whose "
            "small values speak for another class: pass the scores of both classes, or Predictions"
        )
    of_each = math.ceil(level ** (1 / len(labels)) * _DIGITS) / _DIGITS
    own = {x: {"level": of_each, "pos_label": x} for x in labels}
    found = _results_of(function, call, own)
    if all(isinstance(x, Comparison) for x in found.values()):
        differences = iter(holm_adjusted(d for x in found.values() for d in x.differences))
        for label, x in found.items():
            found[label] = replace(x, differences=tuple(next(differences) for _ in x.differences))
    return ResultsByName(found, level=level)


def _is_single(scores: Any) -> bool:
    """Whether there is one number for each row."""
    length = (len(scores),) if isinstance(scores, list | tuple) else ()
    shape: tuple[int, ...] = getattr(scores, "shape", length)
    if len(shape) != 1 or shape[0] == 0:
        return bool(shape[1:] == (1,))
    first = next(iter(scores))
    return np.ndim(first) == 0 and not isinstance(first, Mapping)
