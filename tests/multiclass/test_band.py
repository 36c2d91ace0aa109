"""Band of the curve: shape, two classes by hand, bootstrap, differences, coverage, certainty."""

import itertools

import numpy as np
import pytest
from bands import bootstrap_band, curve_band
from scipy.special import expit, logit, ndtr, ndtri
from scipy.stats import beta, binom
from simulations import normal_scores, tied_probabilities

from dmfroc import Predictions, multiclass_roc
from dmfroc.measures.bound import values_and_influences
from dmfroc.multiclass.band import _exact_lower
from dmfroc.multiclass.curve import rates_at_thresholds
from dmfroc.multiclass.rates import DEFAULT_N_THRESHOLDS, CurveOptions

N = 150


def predictions_of(classes, scores, **kwargs):
    return Predictions.from_arrays(classes, scores, **kwargs)


def perfect(n, n_classes, prior=None):
    classes, scores = normal_scores(0, n, n_classes, prior=prior)
    return predictions_of(classes, scores + 100 * np.eye(n_classes)[classes])


CASES = {
    "three": predictions_of(*normal_scores(1, N, 3, 1.5)),
    "three, weighted": predictions_of(
        *normal_scores(1, N, 3, 1.5),
        sample_weight=np.random.default_rng(2).uniform(0.2, 3, size=N),
    ),
    "three, unbalanced": predictions_of(*normal_scores(2, N, 3, 1.5, prior=[0.8, 0.15, 0.05])),
    "three, tied": predictions_of(*tied_probabilities(3, N, 3, levels=5)),
    "three, strong": predictions_of(*normal_scores(4, N, 3, 5.0)),
    "three, chance": predictions_of(*normal_scores(5, N, 3, 0.0)),
    "three, few": predictions_of(*normal_scores(6, 12, 3)),
    "three, perfect": perfect(N, 3),
    "three, constant": predictions_of(np.arange(N) % 3, np.zeros((N, 3))),
    "two": predictions_of(*normal_scores(7, N, 2)),
    "two, tied": predictions_of(*tied_probabilities(8, N, 2, levels=5)),
    "two, few": predictions_of(*normal_scores(9, 12, 2)),
    "two, perfect": perfect(N, 2),
    "five": predictions_of(*normal_scores(10, N, 5, 2.0)),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys(), scope="module")
def case(request):
    return request.param, multiclass_roc(request.param), curve_band(request.param)


@pytest.mark.slow
def test_band_surrounds_the_curve_and_is_a_band(case):
    _, curve, band = case
    assert np.array_equal(band.tpr[1:-1], np.interp(band.fpr[1:-1], curve.fpr, curve.tpr))
    assert (band.fpr[0], band.tpr[0], band.fpr[-1], band.tpr[-1]) == (0, 0, 1, 1)
    assert (np.diff(band.fpr) > 0).all()
    for ends in (band.low, band.high):
        assert ((ends >= 0) & (ends <= 1)).all()
        assert (np.diff(ends) >= 0).all()
    assert (band.low <= band.tpr).all()
    assert (band.tpr <= band.high).all()
    assert (band.high > band.low)[:-1].all()
    assert band.low[0] == 0
    assert band.low[-1] == band.high[-1] == 1  # every curve ends at (1, 1)
    assert (band.level, band.method) == (0.95, "jackknife")


def test_band_surrounds_the_curve_between_its_points(case):
    _, curve, band = case
    inside = (curve.fpr > 0) & (curve.fpr < 1)
    fpr, tpr = curve.fpr[inside], curve.tpr[inside]
    assert (np.interp(fpr, band.fpr, band.low) <= tpr + 1e-12).all()
    assert (tpr <= np.interp(fpr, band.fpr, band.high) + 1e-12).all()


def test_band_widens_with_its_level():
    bands = [curve_band(CASES["three"], level=level) for level in (0.5, 0.8, 0.95, 0.99)]
    for narrow, wide in itertools.pairwise(bands):
        assert (wide.low <= narrow.low).all()
        assert (wide.high >= narrow.high).all()
        assert (wide.high[1:-1] - wide.low[1:-1] > narrow.high[1:-1] - narrow.low[1:-1]).all()
    assert [band.level for band in bands] == [0.5, 0.8, 0.95, 0.99]


def test_band_of_four_times_as_many_observations_is_half_as_wide():
    classes, scores = normal_scores(1, N, 3, 1.5)
    one = curve_band(CASES["three"])
    four = curve_band(predictions_of(np.tile(classes, 4), np.tile(scores, (4, 1))))
    middle = (one.fpr > 0.1) & (one.fpr < 0.6)
    ratio = (four.high - four.low)[middle] / (one.high - one.low)[middle]
    assert np.median(ratio) == pytest.approx(0.5, abs=0.02)


def test_only_ratios_of_weights_matter():
    classes, scores = normal_scores(1, N, 3, 1.5)
    doubled = curve_band(predictions_of(classes, scores, sample_weight=np.full(N, 2.0)))
    found = curve_band(CASES["three"])
    np.testing.assert_allclose(doubled.low, found.low, atol=1e-6)
    np.testing.assert_allclose(doubled.high, found.high, atol=1e-6)


def test_pair_weights_and_thresholds_are_those_of_the_curve():
    options = {"pair_weights": {(0, 1): 5.0}, "n_thresholds": 29, "shrinkage": 0.1}
    curve = multiclass_roc(CASES["three"], **options)
    band = curve_band(CASES["three"], **options)
    assert np.array_equal(band.tpr[1:-1], np.interp(band.fpr[1:-1], curve.fpr, curve.tpr))


# Its width


def two_classes_by_hand(classes, score, grid):
    """Zou and Donner's combination of the logit intervals of two proportions, exact for a few."""
    thresholds = np.sort(score)[::-1]
    ends = {}
    for name, scores in (("fpr", score[classes == 0]), ("tpr", score[classes == 1])):
        rate, n = (scores >= thresholds[:, None]).mean(axis=1), len(scores)
        unseen = 1 - 0.05 ** (1 / n)
        with np.errstate(divide="ignore", invalid="ignore"):
            half_width = 1.96 / np.sqrt(n * rate * (1 - rate))
            low = np.where(rate == 0, 0, expit(logit(rate) - half_width))
            high = np.where(rate == 1, 1, expit(logit(rate) + half_width))
        low, high = np.where(rate == 1, 1 - unseen, low), np.where(rate == 0, unseen, high)
        low, high = np.minimum(low, 1 - unseen), np.maximum(high, unseen)
        events, others = n * rate, n * (1 - rate)
        low = np.where(events < 5.5, beta.ppf(0.025, events, others + 1), low)
        high = np.where(others < 5.5, beta.ppf(0.975, events + 1, others), high)
        low, high = np.where(rate == 0, 0, low), np.where(rate == 1, 1, high)
        ends[name] = [np.concatenate([[0], x, [1]]) for x in (rate, low, high)]
    (fpr, fpr_low, fpr_high), (tpr, tpr_low, tpr_high) = ends["fpr"], ends["tpr"]
    at = np.interp(grid, fpr, tpr)
    below = np.hypot(at - np.interp(grid, fpr, tpr_low), at - np.interp(grid, fpr_high, tpr))
    above = np.hypot(np.interp(grid, fpr, tpr_high) - at, np.interp(grid, fpr_low, tpr) - at)
    return np.maximum(at - below, 0), np.minimum(at + above, 1)


def test_two_classes_are_two_proportions():
    classes, scores = normal_scores(11, N, 2, 0.8)
    score = scores[:, 1] - scores[:, 0]
    band = curve_band(predictions_of(classes, score))
    inner = slice(1, -1)
    expected_ends = two_classes_by_hand(classes, score, band.fpr[inner])
    middle = band.fpr[inner] < 0.94
    # Not closer: the band is monotone, has the percentiles as its thresholds, and t quantiles.
    for ends, by_hand in zip((band.low, band.high), expected_ends, strict=True):
        found, expected = ends[inner][middle], by_hand[middle]
        assert np.median(np.abs(found - expected)) < 0.015
        assert np.abs(found - expected).max() < 0.08


def test_width_is_that_of_the_bootstrap():
    # Probabilities, so that the two rates of a threshold are correlated.
    classes, scores = normal_scores(12, 600, 3, 1.2)
    scores = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    band = curve_band(predictions_of(classes, scores))
    grid = np.array([0.1, 0.2, 0.3, 0.5])
    generator = np.random.default_rng(13)
    by_class = [np.flatnonzero(classes == label) for label in range(3)]
    replicates = []
    for _ in range(200):
        rows = np.concatenate([generator.choice(of_class, len(of_class)) for of_class in by_class])
        curve = multiclass_roc(classes[rows], scores[rows])
        replicates.append(np.interp(grid, curve.fpr, curve.tpr))
    width = np.interp(grid, band.fpr, band.high - band.low)
    np.testing.assert_allclose(width, 2 * 1.96 * np.std(replicates, axis=0), rtol=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["three", "three, weighted", "two, tied"])
def test_bootstrap_band_is_about_that_of_the_jackknife(name):
    jackknife = curve_band(CASES[name], n_thresholds=29)
    found, whole = (
        curve_band(CASES[name], find=bootstrap_band, n_thresholds=29, kind=kind)
        for kind in ("pointwise", "simultaneous")
    )
    assert (found.method, whole.kind) == ("bootstrap", "simultaneous")
    middle = slice(15, -25)
    width, expected = ((x.high - x.low)[middle] for x in (found, jackknife))
    np.testing.assert_allclose(width.mean(), expected.mean(), rtol=0.15)
    assert np.all(whole.low <= found.low)
    assert np.all(whole.high >= found.high)


def test_influences_of_the_rates_are_derivatives():
    few = CASES["three, few"]
    statistic, ones = CurveOptions()(few), np.ones(few.n_observations)
    _, found = values_and_influences(statistic, rates_at_thresholds(1), ones)

    def rates(weights):
        return rates_at_thresholds(1)(statistic.count(weights, np), np)

    change = 1e-5 * np.eye(few.n_observations)
    expected = [(rates(1 + shift) - rates(1 - shift)) / 2e-5 for shift in change]
    np.testing.assert_allclose(found, np.stack(expected, axis=-1), rtol=1e-4, atol=1e-7)


@pytest.mark.slow
def test_band_covers():
    truth_classes, truth_scores = normal_scores(14, 30_000, 3, 1.5)
    population = multiclass_roc(truth_classes, truth_scores)
    grid = np.array([0.02, 0.1, 0.3, 0.6])
    truth = np.interp(grid, population.fpr, population.tpr)
    covered = []
    for seed in range(40):
        band = curve_band(predictions_of(*normal_scores(100 + seed, N, 3, 1.5)), n_thresholds=29)
        low, high = (np.interp(grid, band.fpr, ends) for ends in (band.low, band.high))
        covered.append((low <= truth) & (truth <= high))
    # Of 160 correlated intervals; if each covers in 95 %, fewer than 85 % is a matter of 1e-4.
    assert np.mean(covered) > 0.85


# What few observations cannot know


def test_perfect_classifier_is_known_up_to_the_rule_of_three():
    for n in (12, N):
        band = curve_band(perfect(n, 2))
        unseen = 1 - 0.05 ** (2 / n)
        seen = (band.fpr > unseen) & (band.fpr < 1)
        assert band.low[seen][0] == pytest.approx(1 - unseen, abs=1e-9)
        assert (band.low[seen] >= 1 - unseen - 1e-9).all()
        assert (band.low[seen] <= 1 - unseen + 1e-9).all()
        below = band.fpr < unseen
        assert (band.low[below] <= band.fpr[below] / unseen + 1e-9).all()
        np.testing.assert_allclose(band.high[1:], 1, atol=1e-9)


def test_each_rate_is_as_well_known_as_its_own_class():
    # Three positives say little about the true positive rate, and nothing about the other one.
    classes = np.array([1] * 3 + [0] * (N - 3))
    score = np.concatenate([np.full(3, 0.5), np.linspace(0, 1, N - 3)])
    for shift, highest_fpr in ((1.0, 0.02), (0.35, 0.22)):  # behind none and behind 15 %
        band = curve_band(predictions_of(classes, score + shift * classes))
        seen = band.fpr > highest_fpr
        assert (band.low[seen] > 0.05 ** (1 / 3) - 1e-3).all()
        assert band.low[seen][0] == pytest.approx(0.05 ** (1 / 3), abs=0.07)


@pytest.mark.slow
@pytest.mark.parametrize("deviation", [3.0, 1 / 3])  # of the positives, to that of the negatives
def test_band_holds_at_both_corners_although_the_curve_is_not_concave(deviation):
    generator, held = np.random.default_rng(3), 0
    near = np.geomspace(1e-5, 0.5, 100)
    fpr = np.concatenate([near, 1 - near[::-1]])
    truth = ndtr((ndtri(fpr) + 1.2) / deviation)
    for _ in range(15):
        classes = np.arange(100) % 2
        scores = np.where(classes, 1.2 + deviation * generator.normal(size=100), 0)
        scores = np.where(classes, scores, generator.normal(size=100))
        band = curve_band(predictions_of(classes, scores), kind="simultaneous")
        low, high = (np.interp(fpr, band.fpr, ends) for ends in (band.low, band.high))
        held += bool(((low <= truth) & (truth <= high)).all())
    assert held >= 14  # of 30 samples, 0 and 23 with chords to the corners


def test_constant_scores_are_no_certain_knowledge():
    band = curve_band(CASES["three, constant"])
    inner = (band.fpr > 0.02) & (band.fpr < 0.98)
    assert ((band.high - band.low)[inner] > 0.01).all()


# Around the whole curve


@pytest.mark.slow
def test_simultaneous_band_is_the_pointwise_one_of_a_higher_level(case):
    predictions, _, pointwise = case
    whole = curve_band(predictions, kind="simultaneous")
    assert (pointwise.kind, whole.kind, whole.level) == ("pointwise", "simultaneous", 0.95)
    assert (whole.low <= pointwise.low + 1e-12).all()
    assert (whole.high >= pointwise.high - 1e-12).all()
    bonferroni = curve_band(predictions, level=1 - 0.05 / DEFAULT_N_THRESHOLDS)
    if len(predictions.present) > 2:  # of two classes there are as many thresholds as scores
        assert (whole.low >= bonferroni.low - 1e-12).all()
        assert (whole.high <= bonferroni.high + 1e-12).all()


@pytest.mark.slow
def test_the_whole_curve_lies_within_the_simultaneous_band():
    """Normal scores, whose curve is known; the pointwise band does not hold it so often."""
    n_samples, level = 25, 0.8
    held = dict.fromkeys(("pointwise", "simultaneous"), 0)
    for seed in range(n_samples):
        sample = predictions_of(*normal_scores(seed, 90, 3, 1.0))
        for kind in held:
            band = curve_band(sample, level=level, kind=kind, n_thresholds=31)
            truth = ndtr(ndtri(band.fpr) + 1.0)
            seen = (band.fpr > 0.02) & (band.fpr < 0.98)
            held[kind] += bool(((band.low <= truth) & (truth <= band.high))[seen].all())
    error = np.sqrt(level * (1 - level) / n_samples)
    assert held["simultaneous"] / n_samples > level - 2 * error
    assert held["pointwise"] / n_samples < level - 3 * error


# Input


def test_class_without_observations_is_left_out():
    classes, scores = normal_scores(15, N, 3, 1.5)
    wide = np.column_stack([scores, scores[:, 0] - 1])
    band = curve_band(predictions_of(classes, wide, labels=[0, 1, 2, 3]))
    without = curve_band(predictions_of(classes, scores))
    np.testing.assert_allclose(band.high, without.high)


def test_repeated_rows_in_groups_are_one_unit_each():
    """Rows in three copies, each trio a group, say as much as the rows; as single rows, more."""
    classes, scores = normal_scores(1, N, 3, 1.5)
    groups = np.repeat(np.arange(N), 3)
    copies = predictions_of(np.repeat(classes, 3), np.repeat(scores, 3, axis=0))
    plain, grouped = curve_band(CASES["three"]), curve_band(copies, groups=groups)
    for end in ("low", "high"):
        np.testing.assert_allclose(getattr(grouped, end), getattr(plain, end), rtol=0, atol=1e-12)
    assert mean_width(curve_band(copies)) < 0.7 * mean_width(plain)


def test_groups_of_observations_that_are_easy_together_widen_the_band():
    classes, scores = normal_scores(1, N, 3, 1.5)
    groups = np.empty(N, int)  # across classes
    groups[np.argsort(scores[np.arange(N), classes])] = np.arange(N) // 5
    grouped = curve_band(CASES["three"], groups=groups)
    assert mean_width(grouped) > 1.3 * mean_width(curve_band(CASES["three"]))


def mean_width(band):
    return (band.high - band.low)[30:70].mean()


def test_the_simultaneous_band_does_not_depend_on_the_order_of_the_rows():
    classes, scores = normal_scores(5, 90, 3)
    order = np.random.default_rng(6).permutation(90)
    bands = [
        curve_band(Predictions.from_arrays(classes[rows], scores[rows]), kind="simultaneous")
        for rows in (order, np.argsort(classes, kind="stable"))
    ]
    np.testing.assert_allclose(bands[0].low, bands[1].low, atol=1e-12)


@pytest.mark.parametrize("kind", ["pointwise", "simultaneous"])
def test_the_lower_end_is_zero_where_no_negative_could_be_seen(kind):
    """A rate of 1 in 4,000 among 500 negatives; the thresholds of intervals are farther apart."""
    for seed in range(5):
        scores = np.random.default_rng(seed).normal(size=1000) + np.repeat([0, 1.2], 500)
        sample = predictions_of(np.repeat([0, 1], 500), scores)
        band = curve_band(sample, kind=kind)
        assert band.fpr[1] < 1 / 4000 < 1 / 500
        assert band.tpr[1] > 0
        assert band.low[1] == 0


def test_few_events_have_exact_limits():
    """Wilson's lower limit of one event in n is exceeded in one sample in six."""
    n, level = 500, 0.95
    for events in (1, 2, 4):
        rate = _exact_lower(events, n, level)
        assert binom.sf(events - 1, n, rate) == pytest.approx((1 - level) / 2, rel=1e-6)
    assert _exact_lower(5, n, level) == 1
    # Of 50 positives one is at the bottom, so that the true rate may be nearly 1
    scores = np.concatenate([np.linspace(0, 1, 50), [-5], np.linspace(2, 3, 49)])
    band = curve_band(predictions_of(np.repeat([0, 1], 50), scores))
    just_below = band.high[(band.fpr > 0.9) & (band.fpr < 0.98)]
    assert just_below.max() > 1 - _exact_lower(1, 50, level) * 1.5
