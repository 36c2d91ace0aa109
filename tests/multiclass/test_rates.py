"""Rates of all pairs at common quantile levels, counted one pair at a time."""

import jax.numpy as jnp
import numpy as np
import pytest
from simulations import normal_scores

from dmfroc import Predictions, dmf_auc_score, multiclass_roc
from dmfroc._kit.compiled import in_double_precision
from dmfroc.multiclass.rates import CurveOptions

POOLS = ["column", "balanced", "pooled"]
every_pool = pytest.mark.parametrize("pool", POOLS)


@pytest.fixture(params=["by merging", "by bisection"])
def _in_both_ways(request, monkeypatch):
    """Find thresholds as in small pools, and as in large ones."""
    if request.param == "by bisection":
        monkeypatch.setattr("dmfroc.multiclass.thresholds._LARGEST_MERGED", 0)


in_both_ways = pytest.mark.usefixtures("_in_both_ways")


def levels(n_thresholds):
    """Return the levels t / (T + 1), and 1/2, as fractions over one denominator."""
    numerators = {2 * t for t in range(1, n_thresholds + 1)} | {n_thresholds + 1}
    return sorted(numerators), 2 * (n_thresholds + 1)


def rates_by_counting(classes, scores, weights=None, n_thresholds=99, pool="column"):
    """Return the true and false positive rates of all ordered pairs, shape (q, T) each.

    The threshold at level u of a pair is the largest of its pooled scores (both classes, in column
    i or in both columns) with at least the share u of the pool above or at it. Unless all scores
    count alike, each class has half of the weight: that of the other class, so that counts stay
    whole. Where
    several scores equal the threshold, each counts by the share that makes the part of the pool
    above it exactly u.
    """
    weights = np.ones(len(classes)) if weights is None else np.asarray(weights, float)
    present = np.unique(classes)
    numerators, denominator = levels(n_thresholds)
    tpr, fpr = [], []
    for i in present:
        for j in present[present != i]:
            of_pair = np.isin(classes, [i, j])
            columns = [i] if pool == "column" else [i, j]
            pooled = np.concatenate([scores[of_pair, column] for column in columns])
            own = classes[of_pair] == i
            of_other = weights[of_pair] @ ~own, weights[of_pair] @ own
            balance = 1 if pool == "pooled" else np.where(own, *of_other)
            pool_weights = np.tile(weights[of_pair] * balance, len(columns))
            total = pool_weights.sum()
            order = np.argsort(pooled)[::-1]
            cumulative = np.cumsum(pool_weights[order])
            for numerator in numerators:
                place = np.flatnonzero(cumulative * denominator >= numerator * total)[0]
                threshold = pooled[order][place]
                greater = pool_weights[pooled > threshold].sum()
                tied = pool_weights[pooled == threshold].sum()
                share = (numerator * total / denominator - greater) / tied
                counts = (scores[:, i] > threshold) + share * (scores[:, i] == threshold)
                for rates, counted in ((tpr, i), (fpr, j)):
                    of_class = classes == counted
                    rates.append(np.average(counts[of_class], weights=weights[of_class]))
    shape = (-1, len(numerators))
    return np.reshape(tpr, shape), np.reshape(fpr, shape)


def assert_rates(classes, scores, weights=None, n_thresholds=99, pool="column"):
    curve = multiclass_roc(
        classes, scores, sample_weight=weights, n_thresholds=n_thresholds, threshold_pool=pool
    )
    tpr, fpr = rates_by_counting(classes, scores, weights, n_thresholds, pool)
    np.testing.assert_allclose(curve.pairwise_tpr, tpr, rtol=0, atol=1e-12)
    np.testing.assert_allclose(curve.pairwise_fpr, fpr, rtol=0, atol=1e-12)


@in_both_ways
@every_pool
@pytest.mark.parametrize("rounding", [8, 1, 0])
@pytest.mark.parametrize("prior", [None, [0.7, 0.2, 0.1]])
def test_rates_agree_with_counting(rounding, prior, pool):
    classes, scores = normal_scores(1, 60, 3, prior=prior)
    assert_rates(classes, np.round(scores, rounding), pool=pool)


@in_both_ways
@every_pool
@pytest.mark.parametrize("n_thresholds", [9, 10, 17, 100])
def test_rates_agree_with_counting_on_any_grid(n_thresholds, pool):
    classes, scores = normal_scores(2, 60, 3, prior=[0.5, 0.3, 0.2])
    assert_rates(classes, np.round(scores, 1), n_thresholds=n_thresholds, pool=pool)


@in_both_ways
@every_pool
@pytest.mark.parametrize("rounding", [8, 0])
def test_weighted_rates_agree_with_counting(rounding, pool):
    classes, scores = normal_scores(3, 60, 3)
    weights = np.random.default_rng(4).exponential(size=60)
    assert_rates(classes, np.round(scores, rounding), weights, pool=pool)


@in_both_ways
def test_float32_rates_agree_with_counting():
    classes, scores = normal_scores(5, 60, 3)
    assert_rates(classes, scores.astype(np.float32))


@pytest.mark.slow
@pytest.mark.parametrize(("weighted", "pool"), [(False, "balanced"), (True, "pooled")])
def test_rates_of_many_classes_agree_with_counting(weighted, pool):
    classes, scores = normal_scores(31, 9000, 30)
    weights = np.random.default_rng(32).exponential(size=9000) if weighted else None
    assert_rates(classes, np.round(scores, 2), weights, n_thresholds=9, pool=pool)


@pytest.mark.parametrize("scale", [5e-324, 1e-310])
def test_rates_of_subnormal_scores_agree_with_counting(scale):
    classes, scores = normal_scores(6, 60, 3)
    assert_rates(classes, np.round(10 * scores) * scale)


@in_both_ways
@every_pool
def test_rates_of_scores_that_differ_in_their_last_bits_agree_with_counting(pool):
    classes, scores = normal_scores(13, 60, 3, prior=[0.5, 0.3, 0.2])
    assert_rates(classes, 1 + np.round(20 * scores) * 2.0**-50, pool=pool)


@every_pool
def test_pooled_share_above_the_threshold_is_its_level(pool):
    classes, scores = normal_scores(7, 60, 3, prior=[0.6, 0.3, 0.1])
    curve = multiclass_roc(classes, np.round(scores), threshold_pool=pool)
    pairs = list(curve.pairs)
    sizes = np.bincount(classes) if pool == "pooled" else np.ones(3)
    numerators, denominator = levels(99)
    for g, (i, j) in enumerate(pairs):
        h = pairs.index((j, i))
        both = [g] if pool == "column" else [g, h]
        of_i, of_j = ((curve.pairwise_tpr, curve.pairwise_fpr)[::k] for k in (1, -1))
        above = sum(
            sizes[i] * x[place] + sizes[j] * y[place]
            for place, x, y in zip(both, of_i, of_j, strict=False)
        )
        share = above / (len(both) * (sizes[i] + sizes[j]))
        np.testing.assert_allclose(share, np.array(numerators) / denominator, atol=1e-12)


def test_classes_of_equal_size_have_one_pool():
    classes, scores = normal_scores(9, 60, 3)
    balanced, pooled = (
        multiclass_roc(classes, np.round(scores, 1), threshold_pool=pool) for pool in POOLS[1:]
    )
    np.testing.assert_allclose(balanced.pairwise_tpr, pooled.pairwise_tpr, rtol=0, atol=1e-14)
    np.testing.assert_allclose(balanced.pairwise_fpr, pooled.pairwise_fpr, rtol=0, atol=1e-14)


def test_pairs_are_named_and_ordered():
    classes, scores = normal_scores(8, 60, 3)
    names = np.array(["b", "c", "a"])[classes]
    curve = multiclass_roc(names, scores, labels=["b", "c", "a"])
    expected = [("b", "c"), ("b", "a"), ("c", "b"), ("c", "a"), ("a", "b"), ("a", "c")]
    assert list(curve.pairs) == expected
    tpr, fpr = rates_by_counting(classes, scores)
    np.testing.assert_allclose(curve.pairwise_tpr, tpr, rtol=0, atol=1e-12)
    np.testing.assert_allclose(curve.pairwise_fpr, fpr, rtol=0, atol=1e-12)


def test_absent_class_has_no_rates():
    classes, scores = normal_scores(12, 80, 4)
    keep = classes != 2
    predictions = Predictions.from_arrays(classes[keep], scores[keep], labels=range(4))
    table = CurveOptions()(predictions).count(np.ones(keep.sum()), np)
    tpr, fpr = rates_by_counting(classes[keep], scores[keep])
    np.testing.assert_allclose(table.rates(np), np.stack([tpr, fpr], axis=1), rtol=0, atol=1e-12)


def fractional_weights(generator):
    weights = generator.choice([0, 0.01, 0.3, 7, 100], size=20)
    weights[:4] = 0.1
    return weights


@pytest.mark.slow
@every_pool
def test_rounding_of_fractional_weights_leaves_rates_in_their_range(pool):
    """A rate above 1 has no logit, and the area would be NaN."""
    generator = np.random.default_rng(8)
    for seed in range(200):
        weights = fractional_weights(generator)
        predictions = Predictions.from_arrays(
            *normal_scores(seed, 20, 4, prior=[0.25] * 4), sample_weight=weights
        )
        counts = CurveOptions(threshold_pool=pool)(predictions)
        rates = counts.count(weights, np).rates(np)
        assert rates.min() >= 0
        assert rates.max() <= 1
        if seed < 20:
            with in_double_precision():
                by_jax = np.asarray(counts.count(jnp.asarray(weights), jnp).rates(jnp))
            np.testing.assert_allclose(by_jax, rates, rtol=0, atol=1e-14)
            assert by_jax.min() >= 0
            assert by_jax.max() <= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_thresholds": 0}, "n_thresholds must be an integer >= 9, but it is 0"),
        ({"n_thresholds": -99}, "n_thresholds must be an integer >= 9, but it is -99"),
        ({"shrinkage": -1.0}, "shrinkage must be a finite number >= 0, but it is -1.0"),
        ({"shrinkage": np.inf}, "shrinkage must be a finite number >= 0, but it is inf"),
        ({"shrinkage": np.nan}, "shrinkage must be a finite number >= 0, but it is nan"),
    ],
)
def test_wrong_options_are_told(options, message):
    classes, scores = normal_scores(29, 60, 3, 0.5)
    for function in (multiclass_roc, dmf_auc_score):
        with pytest.raises(ValueError, match=message):
            function(classes, scores, **options)
