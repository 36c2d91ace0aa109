"""The bias of a value, as halves of the sample, or all rows of the folds, show it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import PerRow, divide
from dmfroc.inference.reweighted import MeasureOfUnits
from dmfroc.inference.tilt import PerUnit
from dmfroc.inference.units import Sample, Units
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.cross_fitting import class_of_units, scores_of_units
from dmfroc.measures.measure import Measure, bare_value_of
from dmfroc.measures.statistics.statistic import once_per_predictions

NOTABLE_BIAS = 0.25  # of a standard error
_FEW_OF_MANY = 0.5  # classes per observation of the rarest, from which on biases show
_FEW_FOR_HALVES = 0.1  # the same, from which on halves are looked at
_FEW_SCORES = 1 << 16  # up to which they always are
_N_DIVISIONS = 16  # of so few; fewer of more, and if it is clear before what bias they show
_EXACT = 0.1  # of a standard error: two of the bias that halves show
_DIGITS = 9  # of influences, beyond which equal ones differ by rounding
_PART_SHOWN = 0.5  # of the bias of tiny classes
_PART_OF_CHOICE = math.sqrt(2) - 1  # of one of the order of the error, as that of the best of many
_UNEQUAL = 2.0  # weights of classes, from which on values at a rare class are biased
_MOST_SCORES = 1 << 20  # whose halves take little time


class Bias(NamedTuple):
    """What is known of the bias of a value.

    Attributes
    ----------
    of_value : float
        By how much the value is too large; 0 if that is small beside its standard error.
    allowed : float
        By how much the interval is longer because of it.
    of_many_classes : bool
        Whether there are so many classes of so few observations that the measure is biased.
    of_few_rows : bool
        Whether other class shares than those observed let few rows decide.
    has_halves : bool
        Whether halves of each class were, or can be, evaluated in little time.
    """

    of_value: float
    allowed: float
    of_many_classes: bool
    of_few_rows: bool
    has_halves: bool


def bias_of(
    measure: Measure,
    value: float,
    error: float,
    sample: Sample,
    function: MeasureOfUnits | None = None,
    influences: PerUnit | None = None,
    depends_on_sizes: bool = False,
    of_rows: PerRow | None = None,
) -> Bias:
    """Return what a sample shows of the bias of a value with this standard error.

    If the value depends on class sizes, which are a matter of chance, so are those of halves.
    The influences of units are sums of those ``of_rows``.
    """
    predictions, units = sample
    n_classes, bias, chooses = len(predictions.present), 0.0, measure.interval.chooses
    part = _PART_OF_CHOICE if chooses else _PART_SHOWN
    corrected = 0.0  # of a bias that halves show of the value before
    is_unbiased = measure.interval.is_unbiased or (measure.is_dmf_auc and n_classes == 2)
    are_many = n_classes >= _FEW_OF_MANY * units.n_complete_sets and not is_unbiased
    few_decide = not is_unbiased and _depends_on_few(measure, predictions)
    is_small = units.n_complete_sets >= 2 and _n_scores(predictions) <= _MOST_SCORES
    if not np.isfinite(value) or measure.interval.cross_fit is not None:
        return Bias(0.0, 0.0, are_many, few_decide, is_small)
    if measure.interval.debiased is not None and influences is not None and of_rows is not None:
        # Of independent rows; as the variance, it is larger if those of a group are alike
        bias, part = excess_of_folds(measure.interval.debiased, value, predictions), 1.0
        design_effect = float(divide(influences @ influences, of_rows @ of_rows, np))
        bias = min(bias * max(design_effect, 1.0), value - measure.bounds[0])
    elif predictions.folds is not None and measure.needs != "scores" and not is_unbiased:
        bias = excess_of_folds(measure, value, predictions)
    elif function is not None and influences is not None and not is_unbiased:
        few = few_decide or n_classes >= _FEW_FOR_HALVES * units.n_complete_sets
        if chooses or (is_small and (few or _n_scores(predictions) <= _FEW_SCORES)):
            how = {"by_chance": depends_on_sizes, "is_ratio": measure.is_ratio}
            bias = _bias_of_halves(function, value, influences, error, **how)
            corrected = function.correction
    is_notable = chooses or abs(bias) + abs(corrected) >= NOTABLE_BIAS * error
    is_seen = is_small and math.isfinite(bias)
    if not (is_notable and np.isfinite(bias)):
        bias = corrected = 0.0
    return Bias(bias + corrected, bias / part + corrected, are_many, few_decide, is_seen)


def _n_scores(predictions: Predictions) -> int:
    return len(predictions.true) * len(predictions.present)


def _depends_on_few(measure: Measure, predictions: Predictions) -> bool:
    """Whether other class shares than those observed let few rows decide, as of a precision.

    At a small share it depends on the few rows of the other classes that score as high.
    """
    if measure.needs != "scores" or measure.is_dmf_auc:
        return False
    present = predictions.present
    weights = predictions.class_totals[present] / predictions.class_counts[present]
    return bool(weights.max() > _UNEQUAL * weights.min())


def excess_of_folds(measure: Measure, value: float, predictions: Predictions) -> float:
    """Return by how much a mean over folds exceeds the value of all rows at once."""
    return value - bare_value_of(measure, _without_folds(predictions))


@once_per_predictions
def _without_folds(predictions: Predictions) -> Predictions:
    """Return the same rows for all measures, whose counts are then found once."""
    return replace(predictions, folds=None)


def _bias_of_halves(
    function: MeasureOfUnits,
    value: float,
    influences: PerUnit,
    error: float,
    *,
    by_chance: bool = False,
    is_ratio: bool = False,
) -> float:
    """Return the bias that halves of the sample show; nan if there are none.

    A value from half of the units of each class is biased by about twice as much, if the bias is of
    the order of 1 / n. The mean over both halves of a division leaves nothing else of first order.
    That of a ratio without an upper end is of its logarithm: where a half has a single error, the
    ratio itself is far from the order of 1 / n.
    """
    if is_ratio and not value > 0:
        return math.nan
    unseen, values, bias = np.zeros(len(function.rows.true)), np.zeros((0, 2)), math.nan
    own, error = (math.log(value), error / value) if is_ratio else (value, error)
    for halves in _halves(*function.sample, influences, by_chance=by_chance):
        of_halves = np.array([[function.value(half, unseen) for half in halves]])
        with np.errstate(divide="ignore", invalid="ignore"):  # of 0
            values = np.append(values, np.log(of_halves) if is_ratio else of_halves, axis=0)
        # A half may lack a prediction without which the measure is not defined
        if not np.isfinite(values).all():
            return math.nan
        bias = float(values.mean()) - own
        if len(values) > 1:
            chance = float(values.mean(axis=1).std(ddof=1)) / math.sqrt(len(values))
            if 2 * chance < max(NOTABLE_BIAS * error - abs(bias), _EXACT * error):
                break
    return -value * math.expm1(-bias) if is_ratio else bias


def _rounded(x: PerUnit) -> PerUnit:
    with np.errstate(invalid="ignore"):  # of what stands for infinities
        return np.round(x / max(np.abs(x).max(initial=0), 1e-300), _DIGITS)


def _halves(
    predictions: Predictions, units: Units, influences: PerUnit, *, by_chance: bool = False
) -> Iterator[Float[np.ndarray, "2 v"]]:
    """Yield the masses of both halves of the units, each with half of the classes or by chance.

    Units are drawn in the order of what they move, equal ones by class size and scores. So neither
    the order of the rows nor rounding matters, and a complement has the same halves.
    Half of each class, or one more or less, is where class sizes are given or do not matter.
    Divisions that leave a half without one of the classes, as of groups with several, are left out.
    """
    rows, n = units.unit_of_row_with_class, len(units.stratum)
    classes = class_of_units(predictions, rows, n)
    generator = np.random.default_rng(0)
    of_scores, moved = scores_of_units(predictions, rows, n), np.abs(_rounded(influences[:n]))
    of_class = classes, predictions.class_counts[classes]
    by_size = np.lexsort((*map(_rounded, of_scores), *of_class, moved))
    n_divisions = _N_DIVISIONS * _FEW_SCORES // _n_scores(predictions)
    for _ in range(min(max(n_divisions, 2), _N_DIVISIONS)):
        drawn = np.empty(n)
        drawn[by_size] = generator.random(n)
        order = np.argsort(drawn) if by_chance else np.lexsort((drawn, classes))
        is_first = np.empty(n, bool)
        is_first[order] = np.arange(n) % 2 == 0
        pair = np.stack([is_first, ~is_first])
        if all(len(np.unique(predictions.true[x[rows]])) == len(predictions.present) for x in pair):
            yield 2.0 * pair
