"""The bootstraps: weights, replicates and intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from dmfroc import Predictions, estimate, hand_till_score
from dmfroc._backend import double_precision
from dmfroc.measures import get_measure
from dmfroc.uncertainty import bootstrap
from dmfroc.uncertainty.jackknife import moments_of, quantile_in_standard_errors
from dmfroc.uncertainty.units import Units, units_of

MEASURES = ["hand_till", "dmf_auc", "informedness"]


def sample(n=240, n_classes=3, shift=1.2, seed=0):
    generator = np.random.default_rng(seed)
    classes = np.arange(n) % n_classes
    return classes, generator.normal(size=(n, n_classes)) + shift * np.eye(n_classes)[classes]


@pytest.fixture(scope="module")
def predictions():
    return Predictions.from_arrays(*sample())


# Weights


@pytest.mark.parametrize("bayesian", [False, True])
def test_weights_keep_the_size_of_every_class(predictions, bayesian):
    units = units_of(predictions)
    weights = bootstrap.draw_weights(predictions, units, range(20), 3, bayesian=bayesian)
    totals = np.stack([np.bincount(predictions.true, w) for w in weights])
    np.testing.assert_allclose(totals, np.broadcast_to([80, 80, 80], totals.shape), rtol=1e-12)
    assert (weights >= 0).all()
    assert (weights == np.round(weights)).all() == (not bayesian)


@pytest.mark.parametrize(("bayesian", "variance"), [(False, 79 / 80), (True, 79 / 81)])
def test_weights_have_their_variance(predictions, bayesian, variance):
    """Of a multinomial count 1 - 1/m, of m times a flat Dirichlet share (m - 1)/(m + 1)."""
    units = units_of(predictions)
    weights = bootstrap.draw_weights(predictions, units, range(2000), 4, bayesian=bayesian)
    assert abs(weights.mean() - 1) < 1e-12
    assert abs(weights.var() - variance) < 0.02


def test_draws_do_not_depend_on_how_many_are_computed_at_a_time(predictions, monkeypatch):
    def draws():
        return estimate("hand_till", predictions, method="bootstrap", n_draws=150).draws

    few = draws()
    monkeypatch.setattr(bootstrap, "_NUMBERS_PER_TASK", 7 * predictions.n_observations)
    monkeypatch.setattr(bootstrap, "_SCORES_AT_ONCE", predictions.scores.size)
    np.testing.assert_allclose(draws(), few, rtol=0, atol=1e-14)


def test_more_draws_begin_with_the_same(predictions):
    few, many = (
        estimate("hand_till", predictions, method="bootstrap", n_draws=n).draws for n in (100, 200)
    )
    np.testing.assert_array_equal(many[:100], few)


def test_seeds(predictions):
    def draws(random_state):
        found = estimate(
            "hand_till", predictions, method="bootstrap", n_draws=100, random_state=random_state
        )
        return found.draws

    np.testing.assert_array_equal(draws(5), draws(5))
    assert (draws(5) != draws(6)).any()
    np.testing.assert_array_equal(draws(np.random.default_rng(1)), draws(np.random.default_rng(1)))
    with pytest.raises(ValueError, match="random_state must be >= 0, but it is -1"):
        draws(-1)


# Replicates


@pytest.mark.parametrize("measure", MEASURES)
def test_a_replicate_is_the_measure_of_the_drawn_rows(predictions, measure):
    """The value under the drawn counts is the value of a sample with repeated rows.

    The thresholds of the curve stay those of the sample, so that the two agree less closely.
    """
    found = estimate(measure, predictions, method="bootstrap", n_draws=100)
    counts = bootstrap.draw_weights(
        predictions, units_of(predictions), range(5), 0, bayesian=False
    ).astype(int)
    for value, count in zip(found.draws, counts, strict=False):
        rows = np.repeat(np.arange(predictions.n_observations), count)
        again = estimate(measure, predictions.true[rows], predictions.scores[rows]).value
        assert abs(value - again) < (2e-3 if measure == "dmf_auc" else 1e-12)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("method", ["bootstrap", "bayesian_bootstrap"])
def test_standard_errors_agree_with_the_jackknife(measure, method):
    predictions = Predictions.from_arrays(*sample(n=900))
    expected = estimate(measure, predictions).standard_error
    found = estimate(measure, predictions, method=method, n_draws=1000).standard_error
    assert abs(found / expected - 1) < 0.1


def test_replicates_use_the_sample_weights():
    classes, scores = sample()
    weights = np.random.default_rng(2).uniform(0.2, 3, len(classes))
    predictions = Predictions.from_arrays(classes, scores, sample_weight=weights)
    count = bootstrap.draw_weights(predictions, units_of(predictions), range(1), 0, bayesian=False)[
        0
    ]
    draws = estimate("hand_till", predictions, method="bootstrap", n_draws=100).draws
    expected = hand_till_score(classes, scores, sample_weight=np.maximum(weights * count, 1e-300))
    assert abs(draws[0] - expected) < 1e-12


def test_standard_errors_of_replicates_are_those_of_the_drawn_rows(predictions):
    bound = double_precision(get_measure("hand_till").bind)(predictions)
    found = bootstrap.replicate_values(
        bound,
        predictions,
        units_of(predictions),
        bayesian=False,
        n_draws=3,
        seed=0,
        standard_errors=True,
    )
    counts = bootstrap.draw_weights(
        predictions, units_of(predictions), range(3), 0, bayesian=False
    ).astype(int)
    for error, count in zip(found.standard_errors, counts, strict=True):
        rows = np.repeat(np.arange(predictions.n_observations), count)
        drawn = estimate("hand_till", predictions.true[rows], predictions.scores[rows])
        assert abs(error - drawn.standard_error) < 1e-12


# Intervals


def one_stratum(n):
    return Units(np.arange(n), np.zeros(n, int), np.array([n]), n_complete_sets=n)


def test_intervals_are_those_of_scipy():
    """SciPy's bootstrap of a mean, given the same replicates."""
    generator = np.random.default_rng(8)
    x = generator.exponential(size=60)
    counts = generator.multinomial(60, np.full(60, 1 / 60), size=4000)
    values = counts @ x / 60
    influence = (x - x.mean()) / 60
    replicates = bootstrap.Replicates(values)
    moments = moments_of(influence, one_stratum(60))
    arguments = x.mean(), replicates, influence, moments, 0.9, (-np.inf, np.inf)

    percentile, basic, bca = (
        bootstrap.replicate_interval(*arguments, kind) for kind in ("percentile", "basic", "bca")
    )
    assert percentile == tuple(np.quantile(values, [0.05, 0.95]))
    assert basic == pytest.approx(2 * x.mean() - np.array(percentile[::-1]), abs=1e-15)
    # Where SciPy takes the normal quantile of the level, ours is the t interval's half-width.
    level = 1 - 2 * stats.norm.sf(quantile_in_standard_errors(moments, 0.9))
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
        bootstrap.replicate_interval(
            value, bootstrap.Replicates(values), influence, moments, 0.95, (0.0, 1.0), "bca"
        )
        for value in (np.nextafter(x.mean(), 0), x.mean(), np.nextafter(x.mean(), 1))
    )
    assert 0.1 < (values == x.mean()).mean() < 0.2
    assert below == exact == above


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
            bayesian: bootstrap.replicate_interval(
                x.mean(),
                bootstrap.Replicates(w @ x),
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


@pytest.mark.parametrize("interval_type", bootstrap.INTERVAL_TYPES)
@pytest.mark.parametrize("measure", MEASURES)
def test_intervals_agree_in_large_samples(measure, interval_type):
    predictions = Predictions.from_arrays(*sample(n=900))
    expected = estimate(measure, predictions)
    found = estimate(
        measure, predictions, method="bootstrap", interval_type=interval_type, n_draws=400
    )
    np.testing.assert_allclose(
        found.interval, expected.interval, atol=0.8 * expected.standard_error
    )
    assert found.interval[0] < found.value < found.interval[1]
    assert (found.method, found.n_draws, found.seed) == ("bootstrap", 400, 0)


@pytest.mark.parametrize("method", ["bootstrap", "bayesian_bootstrap"])
@pytest.mark.parametrize("measure", MEASURES)
def test_perfect_classifier_gets_an_honest_interval(measure, method):
    classes = np.repeat([0, 1, 2], 20)
    found = estimate(measure, classes, np.eye(3)[classes], method=method, n_draws=100)
    low, high = found.interval
    assert found.standard_error == 0
    assert high == pytest.approx(1)
    assert 0.6 < low < 0.9
    assert any("the classifier is perfect" in warning for warning in found.warnings)


def test_few_observations_are_told():
    classes = np.repeat([0, 1, 2], [40, 40, 4])
    scores = np.random.default_rng(0).normal(size=(84, 3)) + np.eye(3)[classes]
    found = estimate("hand_till", classes, scores, method="bootstrap", n_draws=100)
    assert any(w.startswith("the rarest class has 4 independent") for w in found.warnings)
    assert not estimate("hand_till", *sample(), method="bootstrap", n_draws=100).warnings


# Units


def test_groups_of_one_row_change_nothing(predictions):
    groups = np.random.default_rng(1).permutation(predictions.n_observations)
    plain, grouped = (estimate("hand_till", predictions, groups=g) for g in (None, groups))
    assert grouped.standard_error == pytest.approx(plain.standard_error, rel=1e-12)
    assert grouped.interval == pytest.approx(plain.interval, rel=1e-12)


@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_repeated_rows_in_groups_are_not_new_information(method):
    classes, scores = sample(n=300)
    once = estimate("hand_till", classes, scores, method=method)
    thrice = estimate(
        "hand_till",
        np.repeat(classes, 3),
        np.repeat(scores, 3, axis=0),
        groups=np.repeat(np.arange(300), 3),
        method=method,
    )
    assert thrice.standard_error == pytest.approx(once.standard_error, rel=1e-9)
    assert thrice.interval == pytest.approx(once.interval, abs=1e-9)


def test_patients_with_several_classes():
    """Correlated rows: the standard error is that of the groups, whether jackknife or bootstrap."""
    generator = np.random.default_rng(3)
    values, errors = [], []
    for _ in range(150):
        classes = generator.integers(3, size=(80, 4))
        clarity = 1 + 1.5 * generator.normal(size=(80, 1, 1))  # of each patient's cases
        scores = generator.normal(size=(80, 4, 3)) + clarity * np.eye(3)[classes]
        groups = np.repeat(np.arange(80), 4)
        found = estimate("hand_till", classes.ravel(), scores.reshape(-1, 3), groups=groups)
        values.append(found.value)
        errors.append(found.standard_error)
    naive = estimate("hand_till", classes.ravel(), scores.reshape(-1, 3)).standard_error
    resampled = estimate(
        "hand_till", classes.ravel(), scores.reshape(-1, 3), groups=groups, method="bootstrap"
    ).standard_error
    assert abs(np.mean(errors) / np.std(values, ddof=1) - 1) < 0.15
    assert abs(resampled / errors[-1] - 1) < 0.1
    assert errors[-1] > 1.1 * naive


def test_unstratified_replicates_have_every_class():
    classes = np.repeat([0, 1, 2], [30, 30, 1])
    scores = np.random.default_rng(4).normal(size=(61, 3)) + np.eye(3)[classes]
    predictions = Predictions.from_arrays(classes, scores)
    units = units_of(predictions, stratify=False)
    counts = bootstrap.draw_weights(predictions, units, range(50), 0, bayesian=False)
    assert (counts[:, -1] > 0).all()
    assert (counts.sum(axis=1) == 61).all()
    assert np.isfinite(
        estimate("hand_till", predictions, method="bootstrap", stratify=False, n_draws=100).draws
    ).all()


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], r"one entry for each of the 240 observations, but its shape is \(2,\)"),
        ([1.0] * 3 + [np.nan] + [2.0] * 236, "missing value in row 3 "),
        ([None] + ["a"] * 239, "missing value in row 0 "),
        (["ward"] * 240, "one group only, 'ward'"),
    ],
)
def test_wrong_groups(predictions, groups, message):
    with pytest.raises(ValueError, match=message):
        estimate("hand_till", predictions, groups=groups)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "bootstrap", "n_draws": 10}, "n_draws must be an integer >= 100"),
        (
            {"method": "bayesian_bootstrap", "interval_type": "studentized"},
            "has no studentized interval",
        ),
    ],
)
def test_wrong_options(predictions, options, message):
    with pytest.raises(ValueError, match=message):
        estimate("hand_till", predictions, **options)


@given(st.integers(2, 5), st.integers(0, 1000))
def test_draws_stay_in_range(n_classes, seed):
    classes, scores = sample(n=40, n_classes=n_classes, seed=seed)
    found = estimate("hand_till", classes, scores, method="bootstrap", n_draws=100)
    assert (found.draws >= 0).all()
    assert (found.draws <= 1).all()
    assert 0 <= found.interval[0] <= found.interval[1] <= 1


def test_replicates_of_two_classes_are_areas():
    classes, scores = sample(n=60, n_classes=2)
    predictions = Predictions.from_arrays(classes, scores)
    count = bootstrap.draw_weights(predictions, units_of(predictions), range(1), 0, bayesian=False)[
        0
    ]
    draws = estimate("dmf_auc", predictions, method="bootstrap", n_draws=100).draws
    expected = roc_auc_score(classes, scores[:, 1], sample_weight=count)
    assert abs(draws[0] - expected) < 1e-12


# What becomes of the draws


def test_draws_become_an_arviz_tree(predictions):
    arviz = pytest.importorskip("arviz")
    found = estimate("hand_till", predictions, method="bayesian_bootstrap", n_draws=500)
    tree = found.to_datatree()
    assert tree["posterior"]["hand_till"].dims == ("chain", "draw")
    np.testing.assert_array_equal(tree["posterior"]["hand_till"].values[0], found.draws)
    assert tree["posterior"].attrs["method"] == "bayesian_bootstrap"
    summary = arviz.summary(tree, round_to=None)
    assert float(summary.loc["hand_till", "mean"]) == pytest.approx(found.draws.mean(), abs=1e-3)
    with pytest.raises(ValueError, match="has no draws: use a bootstrap"):
        estimate("hand_till", predictions).to_datatree()


# The paper's bootstrap


def test_the_papers_bootstrap_is_too_narrow():
    predictions = Predictions.from_arrays(*sample(n=600, n_classes=4))
    honest = estimate("dmf_auc", predictions)
    found = estimate("dmf_auc", predictions, method="paper_bootstrap", n_draws=200)
    assert found.value == honest.value
    assert 0.05 < found.standard_error / honest.standard_error < 0.3
    assert found.warnings[0].startswith("the paper's bootstrap takes cumulative counts")


def test_the_papers_bootstrap_is_for_its_curve_only(predictions):
    for measure, sampled in (("hand_till", predictions), ("dmf_auc", sample(n_classes=2))):
        arguments = (sampled,) if isinstance(sampled, Predictions) else sampled
        with pytest.raises(ValueError, match="it is for 'dmf_auc' of three or more classes"):
            estimate(measure, *arguments, method="paper_bootstrap")
    with pytest.raises(ValueError, match="the interval_type 'percentile' only"):
        estimate("dmf_auc", predictions, method="paper_bootstrap", interval_type="bca")


# Measures with kinks


def test_measures_with_kinks_are_resampled():
    predictions = Predictions.from_arrays(*sample(n=120))
    found = estimate("convex_hull_auc", predictions, n_draws=200)
    assert found.method == "bootstrap"
    assert estimate("hand_till", predictions).method == "jackknife"
    by_derivative = estimate("convex_hull_auc", predictions, method="jackknife")
    assert any("convex_hull_auc has kinks" in warning for warning in by_derivative.warnings)
    assert by_derivative.standard_error == pytest.approx(found.standard_error, rel=0.3)
