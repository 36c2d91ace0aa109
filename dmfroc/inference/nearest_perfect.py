"""What a perfect sample shows, beyond which no sample with a few tiny misses can go.

A perfect sample shows that misses are rare, not that they are small: of one class, or of all alike,
a share 1 - error^(1/n) of the population may be missed, and none of that be seen among their n
observations (Clopper and Pearson's exact bound; the rule of three). How much a measure loses by
that is what it says of a sample in which that share is ranked, and predicted, as badly as can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from jaxtyping import Float

from dmfroc.inference.influences import PerfectAt, PerfectSample
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import Measure, bare_value_of

_USERS = "user-defined"  # measures of which nothing is known beforehand
_TOLERANCE = 1e-6  # of a value that is fitted


def perfect_sample(
    measure: Measure,
    predictions: Predictions,
    evidence: Float[np.ndarray, " c"] | None,
    best: float,
) -> PerfectAt:
    """Return what says, for an error probability, how bad a classifier perfect in a sample may be.

    Of the predictions only the classes and their weights matter; those that occur have
    ``evidence``. Nothing is said of a measure that perfect predictions do not bring to the ``best``
    end of its range.
    """
    present = predictions.present
    weights = np.bincount(
        predictions.true, predictions.sample_weight, minlength=predictions.n_classes
    )[present]

    @cache
    def at(error: float) -> PerfectSample | None:
        is_general = measure.family == _USERS or measure.needs == "probabilities"
        if is_general or evidence is None or len(weights) < 2:
            return None
        nobody = _with_missed(predictions, weights, [0], [1], 0.0)
        if not measure.applies_to(nobody):
            return None
        value = bare_value_of(measure, nobody)
        if not abs(value - best) <= _TOLERANCE:
            return None
        # Of the class of which most may go unseen, of the one that weighs most, or of all alike;
        # taken for the one that weighs least or most of the others.
        every_class = range(len(weights))
        values = []
        for places in {(int(evidence.argmin()),), (int(weights.argmax()),), tuple(every_class)}:
            missed = list(places)
            unseen = float(1 - error ** (1 / evidence[missed].sum()))
            for by_weight in (np.argsort(weights), np.argsort(-weights)):
                others = [int(by_weight[by_weight != place][0]) for place in missed]
                worse = _with_missed(predictions, weights, missed, others, unseen)
                values.append(bare_value_of(measure, worse))
        return PerfectSample(value, min(values) if measure.greater_is_better else max(values))

    return at


def _with_missed(
    predictions: Predictions,
    weights: Float[np.ndarray, " c"],
    missed: Sequence[int],
    others: Sequence[int],
    share: float,
) -> Predictions:
    """Return perfect predictions, but that a share of some classes is taken for others."""
    present, n_classes = predictions.present, predictions.n_classes
    true = np.append(present, present[missed]).astype(np.int32)
    predicted = np.append(present, present[others]).astype(np.int32)
    scores = np.eye(n_classes)[true]
    # Behind all others in their own columns, before all others in the rest.
    scores[len(present) :] = 2 - 3 * scores[len(present) :]
    with_missed = np.append(weights, weights[missed] * share)
    with_missed[missed] *= 1 - share
    return Predictions(predictions.labels, true, scores, with_missed, predicted).counted
