"""The LC index against a fine grid of costs, and its symmetries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import triang

from dmfroc.applications import lc_index


def drawn(seed, n=40):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    scores = [(rng.normal(size=n) * scale + y).round(1) for scale in (0.8, 1.2)]
    return y.astype(int), *scores


def least_loss(y, score, cost):
    cuts = np.append(np.unique(score), np.inf)
    missed = np.array([np.mean((score < cut) & (y == 1)) for cut in cuts])
    alarms = np.array([np.mean((score >= cut) & (y == 0)) for cut in cuts])
    return np.min(np.outer(cost, missed) + np.outer(1 - cost, alarms), axis=1)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from([(0.0, 0.5, 1.0), (0.2, 0.3, 0.7), (0.5, 0.5, 0.9)]))
def test_it_is_the_mean_of_who_loses_less_over_a_grid_of_costs(seed, belief):
    y, first, second = drawn(seed)
    low, mode, high = belief
    edges = np.linspace(low, high, 4001)
    cost = (edges[1:] + edges[:-1]) / 2
    wins = np.sign(np.round(least_loss(y, second, cost) - least_loss(y, first, cost), 13))
    share = np.diff(triang.cdf(edges, (mode - low) / (high - low), low, high - low))
    options = {"lowest_cost": low, "most_likely_cost": mode, "highest_cost": high}
    value = lc_index(y, first, second, **options)
    assert value == pytest.approx(wins @ share, abs=0.01)
    assert lc_index(y, second, first, **options) == pytest.approx(-value, abs=1e-12)
    assert lc_index(y, first, np.exp(first), **options) == 0


def test_weights_are_repeated_rows():
    y, first, second = drawn(1)
    weights = np.arange(len(y)) % 3 + 1
    repeated = (np.repeat(x, weights) for x in (y, first, second))
    assert lc_index(y, first, second, sample_weight=weights) == pytest.approx(
        lc_index(*repeated), abs=1e-12
    )


@pytest.mark.parametrize("options", [{"lowest_cost": 0.7}, {"highest_cost": 1.5}])
def test_costs_out_of_order_are_refused(options):
    with pytest.raises(ValueError, match="Costs must satisfy"):
        lc_index(*drawn(0), **options)
