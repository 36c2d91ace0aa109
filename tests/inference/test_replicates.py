"""Weights of the replicates, their values, and the intervals that follow from them."""

import numpy as np
import pytest
from scipy import stats
from simulations import cyclic_scores
from sklearn.metrics import roc_auc_score

import dmfroc
from dmfroc import Predictions, estimate, hand_till_score
from dmfroc.inference import compiled_replicates, replicates
from dmfroc.inference.influences import moments_of
from dmfroc.inference.units import Units, units_of
from dmfroc.measures import dmf_auc, hand_till
from dmfroc.measures.measure import bind

MEASURES = ["hand_till", "dmf_auc", "informedness"]


# Weights


@pytest.mark.parametrize("bayesian", [False, True])
def test_weights_keep_the_size_of_every_class(predictions, bayesian):
    units = units_of(predictions)
    weights = replicates.draw_weights(predictions, units, range(20), 3, bayesian=bayesian)
    totals = np.stack([np.bincount(predictions.true, w) for w in weights])
    np.testing.assert_allclose(totals, np.broadcast_to([80, 80, 80], totals.shape), rtol=1e-12)
    assert (weights >= 0).all()
    assert (weights == np.round(weights)).all() == (not bayesian)


@pytest.mark.slow
@pytest.mark.parametrize(("bayesian", "variance"), [(False, 79 / 80), (True, 79 / 81)])
def test_weights_have_their_variance(predictions, bayesian, variance):
    """Of a multinomial count 1 - 1/m, of m times a flat Dirichlet share (m - 1)/(m + 1)."""
    units = units_of(predictions)
    weights = replicates.draw_weights(predictions, units, range(20_000), 4, bayesian=bayesian)
    assert abs(weights.mean() - 1) < 1e-12
    assert abs(weights.var() - variance) < 0.006  # five standard errors, half of what 1/m makes


@pytest.mark.parametrize("measure", ["hand_till", "dmf_auc"])
def test_draws_do_not_depend_on_how_many_are_computed_at_a_time(measure, predictions, monkeypatch):
    """Of fits not even the last digit does, because each stops by itself."""

    def draws():
        return estimate(measure, predictions, method=dmfroc.Bootstrap(150)).draws

    few = draws()
    monkeypatch.setattr(replicates, "_NUMBERS_PER_TASK", 7 * predictions.n_observations)
    monkeypatch.setattr(replicates, "_NUMBERS_AT_ONCE", 1)
    np.testing.assert_allclose(draws(), few, rtol=0, atol=1e-14 if measure == "hand_till" else 0)


def test_more_draws_begin_with_the_same(predictions):
    few, many = (
        estimate("hand_till", predictions, method=dmfroc.Bootstrap(n)).draws for n in (100, 200)
    )
    np.testing.assert_array_equal(many[:100], few)


def test_unstratified_replicates_have_every_class():
    classes = np.repeat([0, 1, 2], [30, 30, 1])
    scores = np.random.default_rng(4).normal(size=(61, 3)) + np.eye(3)[classes]
    predictions = Predictions.from_arrays(classes, scores)
    units = units_of(predictions, stratify=False)
    counts = replicates.draw_weights(predictions, units, range(50), 0, bayesian=False)
    assert (counts[:, -1] > 0).all()
    assert (counts.sum(axis=1) == 61).all()
    assert np.isfinite(
        estimate("hand_till", predictions, method=dmfroc.Bootstrap(100), stratify=False).draws
    ).all()


# Values


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
def test_a_replicate_is_the_measure_of_the_drawn_rows(predictions, measure):
    """The value under the drawn counts is the value of a sample with repeated rows.

    The thresholds of the curve stay those of the sample, so that the two agree less closely.
    """
    found = estimate(measure, predictions, method=dmfroc.Bootstrap(100), stratify=True)
    assert found.standard_error == pytest.approx(found.draws.std(ddof=1), rel=1e-12)
    counts = replicates.draw_weights(
        predictions, units_of(predictions), range(5), 0, bayesian=False
    ).astype(int)
    for value, count in zip(found.draws, counts, strict=False):
        rows = np.repeat(np.arange(predictions.n_observations), count)
        again = estimate(measure, predictions.true[rows], predictions.scores[rows]).value
        assert abs(value - again) < (2e-3 if measure == "dmf_auc" else 1e-12)


def test_replicates_of_two_classes_are_areas():
    classes, scores = cyclic_scores(n=60, n_classes=2)
    predictions = Predictions.from_arrays(classes, scores)
    count = replicates.draw_weights(
        predictions, units_of(predictions), range(1), 0, bayesian=False
    )[0]
    draws = estimate("dmf_auc", predictions, method=dmfroc.Bootstrap(100)).draws
    expected = roc_auc_score(classes, scores[:, 1] - scores[:, 0], sample_weight=count)
    assert abs(draws[0] - expected) < 1e-12


def test_replicates_use_the_sample_weights():
    classes, scores = cyclic_scores()
    weights = np.random.default_rng(2).uniform(0.2, 3, len(classes))
    predictions = Predictions.from_arrays(classes, scores, sample_weight=weights)
    count = replicates.draw_weights(
        predictions, units_of(predictions), range(1), 0, bayesian=False
    )[0]
    draws = estimate("hand_till", predictions, method=dmfroc.Bootstrap(100)).draws
    expected = hand_till_score(classes, scores, sample_weight=np.maximum(weights * count, 1e-45))
    assert abs(draws[0] - expected) < 1e-12


# Intervals


def one_stratum(n):
    return Units(np.arange(n), np.zeros(n, int), np.array([n]), np.array([float(n)]))


def test_intervals_are_those_of_scipy():
    """SciPy's bootstrap of a mean, given the same replicates."""
    generator = np.random.default_rng(8)
    x = generator.exponential(size=60)
    counts = generator.multinomial(60, np.full(60, 1 / 60), size=4000)
    values = counts @ x / 60
    influence = (x - x.mean()) / 60
    moments = moments_of(influence, one_stratum(60))
    arguments = x.mean(), values, influence, moments, 0.9, (-np.inf, np.inf)

    percentile, bca = (
        replicates.replicate_interval(*arguments, kind) for kind in ("percentile", "bca")
    )
    assert percentile == tuple(np.quantile(values, [0.05, 0.95]))
    # Where SciPy takes the normal quantile of the level, ours is the t interval's half-width.
    level = 1 - 2 * stats.norm.sf(stats.t.ppf(0.95, moments.spread.degrees_of_freedom))
    assert 0.9 < level < 0.93
    expected = stats.bootstrap(
        (x,), np.mean, confidence_level=level, method="BCa", n_resamples=4000, random_state=1
    ).confidence_interval
    assert bca == pytest.approx(tuple(expected), abs=0.02)
    assert bca[1] > percentile[1] + 0.005  # skewed to the right


def test_rounding_does_not_tell_the_value_from_equal_replicates():
    """One in seven replicates of a proportion is the proportion itself."""
    x = np.repeat([0.0, 1.0], [50, 10])
    values = np.random.default_rng(10).multinomial(60, np.full(60, 1 / 60), size=2000) @ x / 60
    influence = (x - x.mean()) / 60
    moments = moments_of(influence, one_stratum(60))
    below, exact, above = (
        replicates.replicate_interval(value, values, influence, moments, 0.95, (0.0, 1.0), "bca")
        for value in (np.nextafter(x.mean(), 0), x.mean(), np.nextafter(x.mean(), 1))
    )
    assert 0.1 < (values == x.mean()).mean() < 0.2
    assert below == exact == above


@pytest.mark.slow
def test_corrected_intervals_of_both_bootstraps_agree():
    """To second order they are the same, though the skewness of the replicates is not."""
    generator = np.random.default_rng(9)
    x = generator.exponential(size=150)
    influence = (x - x.mean()) / 150
    moments = moments_of(influence, one_stratum(150))
    weights = {
        False: generator.multinomial(150, np.full(150, 1 / 150), size=100_000) / 150,
        True: generator.dirichlet(np.ones(150), size=100_000),
    }
    percentile, corrected = (
        {
            bayesian: replicates.replicate_interval(
                x.mean(),
                w @ x,
                influence,
                moments,
                0.95,
                (-np.inf, np.inf),
                kind,
                bayesian=bayesian,
            )
            for bayesian, w in weights.items()
        }
        for kind in ("percentile", "bca")
    )
    sd = np.sqrt((influence**2).sum())
    np.testing.assert_allclose(corrected[True], corrected[False], rtol=0, atol=0.08 * sd)
    for bayesian in (False, True):
        assert corrected[bayesian][1] > percentile[bayesian][1] + 0.06 * sd


@pytest.mark.parametrize(
    ("measure", "n_draws", "is_by_numpy"),
    [
        (hand_till(), 12_000, True),
        (hand_till(), 13_000, False),
        (dmf_auc(), 5_000, True),
        (dmf_auc(), 6_000, False),
    ],
)
def test_jax_compiles_where_that_saves_time(measure, n_draws, is_by_numpy, monkeypatch):
    """NumPy evaluates as many draws as take it no longer than JAX takes to compile."""
    classes = np.arange(80) % 4
    scores = np.random.default_rng(0).normal(size=(80, 4)) + np.eye(4)[classes]
    predictions = Predictions.from_arrays(classes, scores)
    bound = bind(measure, predictions)
    found = []

    def find(*_):
        found.append("jax")
        return lambda counts: np.zeros((len(counts), 1))

    monkeypatch.setattr(compiled_replicates, "replicates_of", find)
    monkeypatch.setattr(type(bound), "values", lambda _, weights: np.zeros((len(weights), 1)))
    options = {"bayesian": False, "n_draws": n_draws, "seed": 0}
    replicates.replicate_values(bound, predictions, units_of(predictions), **options)
    assert found == ([] if is_by_numpy else ["jax"])


def test_fits_in_many_folds_are_compiled():
    y = np.arange(24) % 3
    scores = np.eye(3)[y]
    bound = bind(dmf_auc(), Predictions.from_arrays(y, scores))
    n_draws = replicates._MOST_BY_NUMPY // max(
        bound.statistic.n_numbers, replicates._NUMBERS_OF_COUNTS
    )
    assert replicates._is_numpy_cheaper(bound, n_draws, 1)
    assert not replicates._is_numpy_cheaper(bound, n_draws, 5)
    counted = bind(hand_till(), Predictions.from_arrays(y, scores))
    assert replicates._is_numpy_cheaper(counted, 2000, 5)
