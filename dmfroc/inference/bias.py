"""How far a value may be from the truth because it is biased, which no standard error says.

Some are large enough to matter. Chance in the many cells of a table raises what a prediction seems
to tell of the class. With many classes of few observations each, so does chance in their curves.
And an observation that is ranked among others raises its own precision. An interval reaches further
by that much, on the side where the truth is.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from dmfroc.inference.units import Sample, Units
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import Measure, bind
from dmfroc.measures.statistics.statistic import once_per_predictions

NOTABLE_BIAS = 0.25  # of a standard error
_FEW_OF_MANY = 0.5  # classes per observation of the rarest, from which on biases show
_N_DIVISIONS = 2
_HALVES_OF = 2.0  # times what halves show: of 5 or 10 cases of a class they show half of the bias
_MOST_SCORES = 1 << 20  # whose halves take little time


def bias_of_cells(
    measure: Measure, value: float, n_classes: int, evidence: float, error: float
) -> float:
    """Return the largest bias that chance in the cells of a table gives a value, if notable."""
    if measure.bias_of_chance is None:
        return 0.0
    bias = measure.bias_of_chance(value, n_classes) / evidence
    return bias if abs(bias) >= NOTABLE_BIAS * error else 0.0


def has_many_small_classes(measure: Measure, units: Units, n_classes: int) -> bool:
    """Whether there are so many classes of so few observations that the measure is biased."""
    # The curve of two classes is that of the sample, and its area as unbiased as M is
    is_unbiased = measure.is_unbiased or (measure.is_dmf_auc and n_classes == 2)
    return not is_unbiased and n_classes >= _FEW_OF_MANY * units.n_complete_sets


def has_halves(predictions: Predictions, units: Units) -> bool:
    """Whether halves of each class can be evaluated in little time."""
    n_scores = predictions.n_observations * len(predictions.present)
    is_small = n_scores <= _MOST_SCORES
    return units.n_complete_sets >= 2 and is_small and predictions.folds is None


def bias_of_halves(measure: Measure, value: float, sample: Sample, error: float) -> float:
    """Return the bias that halves of many small classes show, if it is notable.

    A value from half of the units of each class is biased by about twice as much, if the bias is of
    the order of 1 / n. The mean over both halves of a division leaves nothing else of first order.
    """
    predictions, units = sample
    has_bias = has_many_small_classes(measure, units, len(predictions.present))
    if not has_bias or not has_halves(predictions, units):
        return 0.0
    of_halves = bind(measure, predictions).values_of_each(_halves(predictions, units.of_row))
    bias = _HALVES_OF * (float(np.mean(of_halves)) - value)
    # A half may lack a prediction without which the measure is not defined.
    return bias if np.isfinite(bias) and abs(bias) >= NOTABLE_BIAS * error else 0.0


@once_per_predictions
def _halves(
    predictions: Predictions, unit_of_row: Int[np.ndarray, " n"]
) -> Float[np.ndarray, "halves n"]:
    """Return the weights of halves of the units, with half of each class, or one more or less."""
    _, first_row = np.unique(unit_of_row, return_index=True)
    classes = predictions.true[first_row]
    generator, halves = np.random.default_rng(0), []
    for _ in range(_N_DIVISIONS):
        order = np.lexsort((generator.random(len(classes)), classes))
        is_first = np.empty(len(classes), bool)
        is_first[order] = np.arange(len(classes)) % 2 == 0
        halves += [is_first[unit_of_row], ~is_first[unit_of_row]]
    return np.array(halves) * predictions.sample_weight
