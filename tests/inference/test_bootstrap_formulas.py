"""Intervals of the bootstraps, recomputed from their replicates by the formulas."""

import numpy as np
import pytest
from scipy import stats

from dmfroc import BayesianBootstrap, Bootstrap, estimate
from dmfroc.extend import influences
from dmfroc.inference.evidence import facts_in
from dmfroc.inference.influences import moments_of
from dmfroc.inference.units import sample_of, units_of
from dmfroc.measures import get_measure

LEVELS = [0.5, 0.8, 0.95, 0.99]
MEASURES = ["hand_till", "informedness"]


def limits_in(measure, predictions):
    return facts_in(sample_of(predictions, stratify=True), get_measure(measure)).limits


def beside_the_tilted(ends, measure, predictions, level):
    """Return an interval that reaches at least as far as the tilted one."""
    tilted = limits_in(measure, predictions).interval_at(1 - level)
    return min(ends[0], tilted.low), max(ends[1], tilted.high)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("bayesian", [False, True])
@pytest.mark.parametrize("measure", MEASURES)
def test_intervals_are_their_formulas(predictions, measure, bayesian, level):
    def interval(interval_type):
        return estimate(
            measure,
            predictions,
            method=(BayesianBootstrap if bayesian else Bootstrap)(300, interval_type),
            level=level,
            stratify=True,
        )

    found = {kind: interval(kind) for kind in ("percentile", "bca")}
    draws, value = found["bca"].draws, found["bca"].value
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    percentile = np.quantile(draws, tails)
    expected = beside_the_tilted(percentile, measure, predictions, level)
    np.testing.assert_allclose(found["percentile"].interval, expected, rtol=0, atol=1e-9)

    influence = influences(measure, predictions)
    freedom = moments_of(influence, units_of(predictions, stratify=True)).spread.degrees_of_freedom
    quantiles = stats.t(freedom).ppf(tails)
    bias = stats.norm.ppf(np.mean(draws < value - 1e-9) + np.mean(abs(draws - value) < 1e-9) / 2)
    acceleration = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
    if bayesian:
        corrected = 2 * bias - acceleration + quantiles
    else:
        shifted = bias + quantiles
        corrected = bias + shifted / (1 - acceleration * shifted)
    bca = np.quantile(draws, stats.norm.cdf(corrected))
    expected = beside_the_tilted(bca, measure, predictions, level)
    np.testing.assert_allclose(found["bca"].interval, expected, rtol=0, atol=1e-9)
