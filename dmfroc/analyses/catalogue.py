"""All measures by name: importing this module registers those of every family."""

from __future__ import annotations

import ast
import contextlib
import difflib
import inspect
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

from dmfroc._kit.habits import unclear
from dmfroc._kit.later import DataFrame
from dmfroc._kit.text import normalized
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures import (
    agreement,
    benefits,
    binary,
    calibration,
    curve_areas,
    operating_points,
    ordered,
    probabilities,
    ranking,
    reclassification,
    registry,
    smooth_calibration,
    table,
)
from dmfroc.measures.contingency_table import ContingencyTable, contingency_measures
from dmfroc.measures.measure import IntervalProperties, Measure
from dmfroc.measures.registry import FACTORIES, SYNONYMS
from dmfroc.multiclass import measure as multiclass

Measures = Sequence[str | Measure] | str | Measure | None
"""One measure, several, or those by default."""

__all__ = [
    "FACTORIES",
    "MEASURES",
    "ContingencyTable",
    "IntervalProperties",
    "contingency_measures",
    "get_measure",
    "measure_table",
]

# In the order in which tables list them, whichever was imported first
_FAMILIES = (
    multiclass,
    ranking,
    ordered,
    curve_areas,
    operating_points,
    probabilities,
    reclassification,
    calibration,
    smooth_calibration,
    benefits,
    table,
    binary,
    agreement,
)
_ORDER = [family.__name__ for family in _FAMILIES]
MEASURES = dict(
    sorted(registry.MEASURES.items(), key=lambda item: _ORDER.index(registry.MODULES[item[0]]))
)
"""All built-in measures by name, in the order in which tables list them."""


_AREAS = (
    "'hand_till' (mean over pairs of classes), 'one_vs_rest_auc' (mean over classes against the "
    "rest), 'one_vs_rest_auc_prevalence' (by how frequent they are) or 'dmf_auc' (one curve)"
)
_AREA_NAMES = (
    "auc, roc_auc, auroc, auc_roc, roc_auc_score, c_statistic, c_stat, c_index, concordance, "
    "area_under_the_curve, area_under_curve, area_under_the_roc_curve, area_under_roc_curve"
)

_MEAN = re.compile(r"(macro|weighted|micro)_(.+)")  # in front of what it is a mean of
_TOP_K = re.compile(r"(?:top|acc|accuracy|hits?)(?:at)?([1-9]\d*)(?:acc|accuracy)?")


_NAMES = {normalized(x): name for name, xs in SYNONYMS.items() for x in xs.split(", ")}
_NAMES |= {normalized(text): m.name for m in MEASURES.values() for text in (m.title, m.name)}
_AREAS_OF_TWO = frozenset(map(normalized, _AREA_NAMES.split(", ")))
_N_NEAR = 5
_LEAST_ALIKE = 0.7  # names of measures, as difflib's ratio


def _not_of_two(predictions: Predictions) -> str | None:
    if predictions.n_classes == 2:
        return MEASURES["hand_till"].obstacle(predictions)
    return (
        f"is a measure of two classes, and there are {predictions.n_classes}: use {_AREAS}, or "
        "pos_label= for one class against the rest"
    )


_AREA_OF_TWO = replace(MEASURES["hand_till"], name="auc", title="AUC", obstacle=_not_of_two)


def get_measure(measure: Measures) -> Measure:
    """Return the measure of that name; a measure is returned as it is.

    Parameters
    ----------
    measure : str or Measure
        A name that `measure_table` lists, a title, or another name by which the measure is known,
        such as ``"mcc"`` or ``"Cross-Entropy"``: case, spaces and hyphens do not matter. ``"auc"``
        is the area under the ROC curve of two classes. Options follow in parentheses, as in the
        names of results: ``"partial_auc(max_fpr=0.2)"``.

    Returns
    -------
    Measure
        With the name that `measure_table` lists.

    Raises
    ------
    TypeError, ValueError
        If there is no measure of that name, or several; the message names those that come near.

    Examples
    --------
    >>> get_measure("Log-Loss").name, get_measure("qwk").name
    ('log_loss', 'weighted_kappa')
    >>> get_measure("partial_auc(max_fpr=0.2)") == get_measure("Partial AUC(0.2)")
    True
    """
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        remedy = "; by position it comes before y_true"
        if isinstance(measure, list | tuple):
            remedy = ": evaluate and compare take several"
        elif callable(measure):
            remedy = ": wrap a function of others as dmfroc.Measure(bind=...)"
        raise TypeError(
            "measure must be one name or Measure, such as 'hand_till', but it is a "
            f"{type(measure).__name__}{remedy}"
        )
    if measure in MEASURES:
        return MEASURES[measure]
    word = normalized(measure)
    if word in _AREAS_OF_TWO:
        return _AREA_OF_TWO
    if word in _NAMES:
        return MEASURES[_NAMES[word]]
    if top := _TOP_K.fullmatch(word):
        return probabilities.top_k_accuracy(int(top[1]))
    if (made := _made(measure.strip())) is not None:
        return made
    if hint := unclear(measure):
        raise ValueError(f"measure is {measure!r}{hint}")
    near = _near(word) or _with_options_of(measure)
    hint = f"near it are {', '.join(near)}, and " if near else ""
    if measure.count("(") > measure.count(")"):
        hint = f"its parenthesis is not closed; {hint}"
    raise ValueError(
        f"measure must be the name of a measure, but it is {measure!r}; {hint}"
        "dmfroc.measures.measure_table() lists all"
    )


def _made(text: str) -> Measure | None:
    """Return the measure whose options are in its name, as in ``partial_auc(max_fpr=0.2)``."""
    match = re.fullmatch(r"([^()]+)(\(.*\))?", text, re.DOTALL)
    head, given = ("", None) if match is None else (match[1].strip(), match[2])
    mean = _MEAN.sub(r"\2_\1", head)
    head = mean if f"{mean}_".startswith(tuple(f"{x}_" for x in FACTORIES)) else head
    head = head if f"{head}_".startswith(tuple(FACTORIES)) else _NAMES.get(normalized(head), "")
    function = max((x for x in FACTORIES if f"{head}_".startswith(f"{x}_")), key=len, default="")
    if not function:
        return None
    make = FACTORIES[function]
    options = list(inspect.signature(make).parameters)
    try:
        words, named = _arguments(f"f{given or '()'}", options)
    except (SyntaxError, ValueError) as error:
        example = f"{function}({', '.join(f'{x}=...' for x in options)})"
        has = f"{', '.join(options)}, written as in {example!r}" if options else "none"
        raise ValueError(f"measure is {text!r}, but its options are {has}") from error
    head = "_".join([head, *words])
    words = head.removeprefix(function).split("_")[1:]
    for chosen in chain.from_iterable(combinations(options, n) for n in range(len(words) + 1)):
        values = [*words[: len(chosen) - 1], "_".join(words[len(chosen) - 1 :])]
        of_words: dict[str, Any] = dict(zip(chosen, values, strict=False))
        with contextlib.suppress(TypeError, ValueError):
            if not words or make(**of_words).name == head:
                named |= of_words
                break
    else:
        return None
    return make(**named)


def _arguments(text: str, options: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Return bare words, each the value of some option, and the options given by name or place."""
    call = ast.parse(text, mode="eval").body
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        raise ValueError("it must be one call")
    words = [x.id for x in call.args if isinstance(x, ast.Name)]
    others = [x for x in call.args if not isinstance(x, ast.Name)]
    names = [*options[: len(others)], *(x.arg for x in call.keywords)]
    nodes = [*others, *(x.value for x in call.keywords)]
    values = [x.id if isinstance(x, ast.Name) else ast.literal_eval(x) for x in nodes]
    if ... in values or not set(names) <= set(options) or len(set(names)) < len(names):
        raise ValueError("an option is unknown, is given twice, or has no value")
    return words, {str(name): value for name, value in zip(names, values, strict=True)}


def _near(word: str) -> list[str]:
    """Return the names of the measures that are most like a word, the nearest first."""
    close = difflib.get_close_matches(word, _NAMES, n=len(_NAMES), cutoff=_LEAST_ALIKE)
    return list(dict.fromkeys(_NAMES[name] for name in close))[:_N_NEAR]


def _with_options_of(text: str) -> list[str]:
    """Return the functions that make measures with the options in a name."""
    options = set(re.findall(r"(\w+)\s*=", text))
    return [x for x in FACTORIES if options & {*inspect.signature(FACTORIES[x]).parameters}]


def measure_table() -> DataFrame:
    """Return what measures there are, one row for each.

    Returns
    -------
    pandas.DataFrame
        Indexed by name: title, family, smallest and largest value, value under chance (NaN if it
        depends on the sample), whether greater is better, what it is computed from, and the
        default method of its interval.

    Examples
    --------
    >>> measure_table().loc["hand_till", ["title", "family", "interval"]].tolist()
    ['Hand-Till M', 'ranking', 'jackknife']
    """
    import pandas as pd

    return pd.DataFrame(
        {
            "title": measure.title,
            "family": measure.family,
            "low": measure.bounds[0],
            "high": measure.bounds[1],
            "chance": measure.chance,
            "greater_is_better": measure.greater_is_better,
            "needs": measure.needs,
            "interval": measure.default_method,
        }
        for measure in MEASURES.values()
    ).set_index(pd.Index(MEASURES, name="measure"))
