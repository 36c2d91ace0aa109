"""The bias of a value, as halves of the sample, or all rows of the folds, show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import IntPerRow
from dmfroc.inference.units import Sample, Units
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import Measure, bare_value_of, bind
from dmfroc.measures.statistics.statistic import once_per_predictions

_NOTABLE_BIAS = 0.25  # of a standard error
_FEW_OF_MANY = 0.5  # classes per observation of the rarest, from which on biases show
_FEW_OF_CENTRE = 0.1  # the same of the DMF-AUC, whose centre follows the chance in easy pairs
_N_DIVISIONS = 2
_HALVES_OF = 2.0  # times what halves show, of many small classes: they show half of the bias
_UNEQUAL = 2.0  # weights of classes, from which on values at a rare class are biased
_MOST_SCORES = 1 << 20  # whose halves take little time
_MOST_SCORES_OF_CENTRE = 1 << 16  # the same for the DMF-AUC of classes that are not so small


class Biases(NamedTuple):
    """What is known of the bias of a value.

    Attributes
    ----------
    possible : tuple of float
        The biases that show; the first notable one counts. They are 0 where none shows.
    of_many_classes : bool
        Whether there are so many classes of so few observations that the measure is biased.
    of_few_rows : bool
        Whether other class shares than those observed let few rows decide.
    has_halves : bool
        Whether halves of each class can be evaluated in little time.
    """

    possible: tuple[float, ...]
    of_many_classes: bool
    of_few_rows: bool
    has_halves: bool


def biases_of(measure: Measure, sample: Sample, possible: Sequence[float] = ()) -> Biases:
    """Return what is known of the bias of a measure whose ``possible`` biases were found."""
    predictions, units = sample
    return Biases(
        tuple(possible),
        has_many_small_classes(measure, units, len(predictions.present)),
        depends_on_few(measure, predictions),
        has_halves(predictions, units),
    )


def biases_in_memory(measure: Measure, value: float, sample: Sample) -> Biases:
    """Return what observations in memory show of the bias of a value."""
    predictions = sample.predictions
    if not np.isfinite(value):
        return biases_of(measure, sample)
    other = measure.interval.less_biased
    beside_another = 0.0 if other is None else value - bare_value_of(other, predictions)
    if measure.interval.threshold is not None:  # halves have other thresholds, a step away
        return biases_of(measure, sample, [beside_another])
    in_tables = bias_of_chance(measure, value, sample)
    if predictions.folds is not None and measure.needs == "labels":
        # Folds can lack errors, so that their mean exceeds the value of all rows
        in_tables = max(in_tables, excess_of_folds(measure, value, predictions), key=abs)
    # Halves have other bins and other ties, and may show less than a measure without the bias
    of_halves = max(bias_of_halves(measure, value, sample), beside_another, key=abs)
    return biases_of(measure, sample, [in_tables, of_halves])


def bias_of_chance(measure: Measure, value: float, sample: Sample) -> float:
    """Return the bias by chance in the table of hard labels, or in each fold's."""
    n_effective, folds = sample.units.effective_sizes, sample.predictions.folds
    n_times_bias = measure.interval.bias_of_chance
    if n_effective is None or n_times_bias is None:
        return 0.0
    n_of_each = float(n_effective.sum()) / (1 if folds is None else len(np.unique(folds)))
    return n_times_bias(value, len(sample.predictions.present)) / n_of_each


def without_bias(
    measure: Measure, value: float, bias: float, bounds: tuple[float, float]
) -> float | None:
    """Return the value less a bias, inside of the range; None if there is no such value.

    What remains of a choice of thresholds only cross-fitting shows. A bias that is estimated
    from halves of a small sample, and is larger than the range allows, shows nothing.
    """
    if not bias or measure.interval.cross_fit is not None:
        return None
    corrected = float(np.clip(value - bias, *bounds))
    is_known = measure.interval.bias_of_chance is not None
    return corrected if is_known or corrected not in bounds else None


def notable_bias(biases: Sequence[float], error: float) -> float:
    """Return the first bias that is notable beside a standard error; 0 if none is."""
    return next((x for x in biases if x and abs(x) >= _NOTABLE_BIAS * error), 0.0)


def has_many_small_classes(
    measure: Measure, units: Units, n_classes: int, few: float = _FEW_OF_MANY
) -> bool:
    """Whether there are so many classes of so few observations that the measure is biased."""
    are_many = n_classes >= few * units.n_complete_sets
    # The curve of two classes is that of the sample, and its area as unbiased as M is
    is_unbiased = measure.interval.is_unbiased or (measure.is_dmf_auc and n_classes == 2)
    return are_many and not is_unbiased


def depends_on_few(measure: Measure, predictions: Predictions) -> bool:
    """Whether other class shares than those observed let few rows decide, as of a precision.

    At a small share it depends on the few rows of the other classes that score as high.
    """
    if measure.needs != "scores" or measure.interval.is_unbiased or measure.is_dmf_auc:
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


def has_halves(predictions: Predictions, units: Units) -> bool:
    """Whether halves of each class can be evaluated in little time."""
    n_scores = len(predictions.true) * len(predictions.present)
    return units.n_complete_sets >= 2 and n_scores <= _MOST_SCORES and predictions.folds is None


def bias_of_halves(measure: Measure, value: float, sample: Sample) -> float:
    """Return the bias that halves of small or reweighted classes show; 0 if it cannot be seen.

    A value from half of the units of each class is biased by about twice as much, if the bias is of
    the order of 1 / n. The mean over both halves of a division leaves nothing else of first order.
    """
    predictions, units = sample
    is_small = has_many_small_classes(measure, units, len(predictions.present))
    has_bias = is_small or depends_on_few(measure, predictions)
    if measure.is_dmf_auc and predictions.scores.size <= _MOST_SCORES_OF_CENTRE:
        n_classes = len(predictions.present)
        has_bias |= has_many_small_classes(measure, units, n_classes, _FEW_OF_CENTRE)
    if not has_bias or not has_halves(predictions, units):
        return 0.0
    halves = _halves(predictions, units.unit_of_known_row)
    if not len(halves):
        return 0.0
    of_halves = bind(measure, predictions).values_of_each(halves)
    all_of_it = 1.0 if measure.is_dmf_auc and not is_small else _HALVES_OF
    bias = all_of_it * (float(np.mean(of_halves)) - value)
    # A half may lack a prediction without which the measure is not defined.
    return bias if np.isfinite(bias) else 0.0


@once_per_predictions
def _halves(predictions: Predictions, unit_of_row: IntPerRow) -> Float[np.ndarray, "halves n"]:
    """Return the weights of halves of the units, with half of each class, or one more or less.

    Divisions that leave a half without one of the classes, as of groups with several, are left out.
    """
    _, first_row = np.unique(unit_of_row, return_index=True)
    classes = predictions.true[first_row]
    generator, halves = np.random.default_rng(0), []
    for _ in range(_N_DIVISIONS):
        order = np.lexsort((generator.random(len(classes)), classes))
        is_first = np.empty(len(classes), bool)
        is_first[order] = np.arange(len(classes)) % 2 == 0
        halves += [is_first[unit_of_row], ~is_first[unit_of_row]]
    weights = np.array(halves) * predictions.sample_weight
    has_class = [weights[:, predictions.true == c].any(axis=1) for c in predictions.present]
    is_whole = np.all(has_class, axis=0).reshape(-1, 2).all(axis=1)
    return weights[np.repeat(is_whole, 2)]
