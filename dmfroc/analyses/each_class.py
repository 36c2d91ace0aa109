"""Results of each class against the rest, which hold for all at once, and of each measure."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dmfroc._kit.options import check_level, flag, listed
from dmfroc._kit.remarks import collected_remarks, warn
from dmfroc._kit.text import split_calls
from dmfroc.analyses.catalogue import get_measure
from dmfroc.analyses.comparison_result import Comparison
from dmfroc.analyses.evidence import counted_sample
from dmfroc.inference.options import Options
from dmfroc.inference.simultaneous import holm_adjusted
from dmfroc.inputs.arrays import is_missing
from dmfroc.inputs.judge import labels_of
from dmfroc.inputs.labels import sorted_labels
from dmfroc.inputs.predictions import Predictions
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
    """Return the results of each class that occurs, if ``per_class`` is asked for, else None.

    ``call`` has all arguments of the function, as read once. The level of each interval is that of
    independent ones which hold all at once: intervals about normal values of any correlation then
    hold at least as often (Šidák 1967).
    """
    if not flag("per_class", call["per_class"]):
        return None
    if taken := [x for x in ("pos_label", "follow_up") if call[x] is not None]:
        raise ValueError(f"per_class=True takes each class in turn: leave {', '.join(taken)} out")
    counted_sample(call["y_true"], None, {"per_class": True}, Options())  # which a scan excludes
    scores = call["y_score"]
    several = scores.values() if isinstance(scores, Mapping) else [scores]
    if any(map(_is_single, several)):
        raise ValueError(
            "per_class=True needs a score of each class, but y_score has one alone, whose small "
            "values speak for another class: pass the scores of both classes, or Predictions"
        )
    y_true, level = call["y_true"], check_level(call["level"])
    labels = _labels([*y_true.values()] if isinstance(y_true, Mapping) else [y_true])
    of_each = math.ceil(level ** (1 / len(labels)) * _DIGITS) / _DIGITS
    own = {"per_class": False, "level": of_each}
    found = _results_of(function, call, {x: own | {"pos_label": x} for x in labels})
    compared = [x for x in found.values() if isinstance(x, Comparison)]
    differences = iter(holm_adjusted(d for x in compared for d in x.differences))
    for label, x in found.items():
        if isinstance(x, Comparison):
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


def _labels(samples: list[Any]) -> list[Hashable]:
    """Return the classes that occur in any of the samples."""
    labels: dict[Hashable, None] = {}
    for sample in samples:
        if isinstance(sample, Predictions):
            labels |= dict.fromkeys(sample.labels[k] for k in sample.present)
        else:
            given = labels_of(sample, "y_true").tolist()
            labels |= dict.fromkeys(sorted_labels({x for x in given if not is_missing(x)}))
    return list(labels)
