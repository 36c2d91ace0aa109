"""What a perfect sample shows, beyond which no sample with a few tiny misses can go.

A perfect sample shows that misses are rare, not that they are small: of a class with n observations
a share 1 - error^(1/n) of the population may be missed, and none of that be seen (Clopper and
Pearson's exact bound; the rule of three). How much a measure loses by that is what it says of a
sample in which that share of that class is ranked, and predicted, as badly as can be.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from jaxtyping import Float

from dmfroc.measures.measure import Measure, bind
from dmfroc.predictions import Predictions
from dmfroc.uncertainty.influences import PerfectAt, PerfectSample

_USERS = "user-defined"  # measures of which nothing is known beforehand
_TOLERANCE = 1e-6  # of a value that is fitted


def perfect_sample(
    measure: Measure, predictions: Predictions, evidence: Float[np.ndarray, " c"] | None
) -> PerfectAt:
    """Return what says, for an error probability, how bad a classifier perfect in a sample may be.

    Of the predictions only the classes and their weights matter; those that occur have
    ``evidence``. Nothing is said of a measure that perfect predictions do not bring to its best
    value.
    """
    best = measure.range_in(predictions, sizes_are_fixed=True)[int(measure.greater_is_better)]
    present = predictions.present
    weights = np.bincount(
        predictions.true, predictions.sample_weight, minlength=predictions.n_classes
    )[present]

    @cache
    def at(error: float) -> PerfectSample | None:
        is_general = measure.family == _USERS or measure.needs == "probabilities"
        if is_general or evidence is None or len(weights) < 2:
            return None
        nobody = _with_missed(predictions, weights, 0, 1, 0.0)
        if not measure.applies_to(nobody):
            return None
        value = _value(measure, nobody)
        if not abs(value - best) <= _TOLERANCE:
            return None
        # Of the class of which most may go unseen and the one that weighs most, taken for the one
        # that weighs least or most of the others.
        values = []
        for c in {int(evidence.argmin()), int(weights.argmax())}:
            unseen = float(1 - error ** (1 / evidence[c]))
            by_weight = [place for place in np.argsort(weights).tolist() if place != c]
            for other in {by_weight[0], by_weight[-1]}:
                missed = _with_missed(predictions, weights, c, other, unseen)
                values.append(_value(measure, missed))
        return PerfectSample(value, min(values) if measure.greater_is_better else max(values))

    return at


def _with_missed(
    predictions: Predictions,
    weights: Float[np.ndarray, " c"],
    place: int,
    other_place: int,
    share: float,
) -> Predictions:
    """Return perfect predictions, but that a share of one class is taken for another."""
    present, n_classes = predictions.present, predictions.n_classes
    missed, other = present[place], present[other_place]
    true = np.append(present, missed).astype(np.int32)
    scores = np.eye(n_classes)[true]
    # Behind all others in its own column, before all others in theirs.
    scores[-1] = np.where(np.arange(n_classes) == missed, -1.0, 2.0)
    weights = np.append(weights, weights[place] * share)
    weights[place] *= 1 - share
    predicted = np.append(present, other).astype(np.int32)
    return Predictions(predictions.labels, true, scores, weights, predicted).counted


def _value(measure: Measure, predictions: Predictions) -> float:
    [value], _ = bind(measure, predictions).values_and_gradients(predictions.sample_weight)
    return float(value)
