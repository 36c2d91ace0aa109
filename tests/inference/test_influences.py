"""Influences: derivatives, what leaving an observation out changes, DeLong's placements."""

import itertools
import tracemalloc
from dataclasses import replace

import delong
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from simulations import normal_scores

from dmfroc import Measure, Predictions, estimate, hand_till_score, influences
from dmfroc.inference import evidence
from dmfroc.inference.influences import moments_of, moments_of_sums
from dmfroc.inference.interval import Interval
from dmfroc.inference.limits import interval
from dmfroc.inference.rare_errors import RareErrors, pools_classes, rare_errors
from dmfroc.inference.units import units_of
from dmfroc.measures import MEASURES as MEASURES_BY_NAME
from dmfroc.measures import dmf_auc, get_measure, informedness, precision_at_k, recall_at
from dmfroc.measures.measure import bind

MEASURES = ["dmf_auc", "hand_till", "informedness"]
SKEWED = [0.6, 0.3, 0.1]


@pytest.mark.filterwarnings("ignore:4 rows tie for the largest score:UserWarning")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "measure",
    [*MEASURES, informedness("prevalence"), dmf_auc(pair_weights="prevalence", shrinkage=0.1)],
    ids=[*MEASURES, "informedness-prevalence", "dmf_auc-prevalence"],
)
def test_influences_are_finite_differences(measure, weighted):
    classes, scores = normal_scores(8, 60, 3)
    weights = np.random.default_rng(9).uniform(0.5, 2, size=60) if weighted else np.ones(60)
    predictions = Predictions.from_arrays(classes, np.round(scores, 1), sample_weight=weights)
    found = influences(measure, predictions)
    step = 1e-3
    value = bind(get_measure(measure), predictions).values
    moved = step * np.diag(weights)[::3]
    differences = [(value(weights + x) - value(weights - x))[0] / (2 * step) for x in moved]
    scale = np.abs(found).max()
    np.testing.assert_allclose(found[::3], differences, rtol=0, atol=1e-4 * scale)
    assert scale > 1e-4


@pytest.mark.parametrize("measure", MEASURES[:2])
def test_influences_vanish_in_total_within_each_class(measure):
    # Rescaling the weights of a class changes neither area.
    classes, scores = normal_scores(10, 60, 3, prior=SKEWED)
    predictions = Predictions.from_arrays(classes, scores)
    found = influences(measure, predictions)
    totals = np.bincount(classes, found)
    np.testing.assert_allclose(totals, 0, rtol=0, atol=1e-10)


def leave_one_out(function, classes, scores, rows):
    """Return the change of a measure when single rows get no weight."""
    weights = np.ones(len(classes))
    whole = function(classes, scores, sample_weight=weights)
    changes = []
    for row in rows:
        weights[row] = 0
        changes.append(whole - function(classes, scores, sample_weight=weights))
        weights[row] = 1
    return np.array(changes)


def test_influences_on_m_are_exactly_what_leaving_one_out_changes():
    # M is linear in the shares of each class: the true jackknife differs by n_c / (n_c - 1).
    classes, scores = normal_scores(11, 60, 3, prior=SKEWED)
    predictions = Predictions.from_arrays(classes, scores)
    found = influences("hand_till", predictions)
    sizes = np.bincount(classes)[classes]
    changes = leave_one_out(hand_till_score, classes, scores, range(60))
    np.testing.assert_allclose(found * sizes / (sizes - 1), changes, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["dmf_auc", "informedness"])
def test_influences_are_nearly_what_leaving_one_out_changes(measure):
    classes, scores = normal_scores(12, 600, 3)
    predictions = Predictions.from_arrays(classes, scores)
    rows = np.arange(0, 600, 10)

    def value(classes, scores, sample_weight):
        return estimate(measure, classes, scores, sample_weight=sample_weight).value

    changes = leave_one_out(value, classes, scores, rows)
    found = influences(measure, predictions)[rows]
    # Leaving a row out also moves the thresholds and is a large step for the rate of a rare cell.
    assert np.corrcoef(found, changes)[0, 1] > 0.98
    assert np.sqrt((found**2).sum()) == pytest.approx(np.sqrt((changes**2).sum()), rel=0.05)


# In public


def test_influences_on_the_area_of_two_classes_are_delongs_placements():
    classes, scores = normal_scores(13, 60, 2, prior=[0.7, 0.3])
    scores = np.round(scores, 1)
    found = influences("hand_till", classes, scores)
    share = delong.placements(classes, scores)
    value = hand_till_score(classes, scores)
    sizes = np.bincount(classes)[classes]
    np.testing.assert_allclose(found, (share - value) / sizes, rtol=0, atol=1e-15)
    # Of one score: what a positive wins, or a negative is won over, less the area.
    score = scores[:, 1]
    positive, negative = score[classes == 1], score[classes == 0]
    won = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    expected = np.empty(60)
    expected[classes == 1] = (won.mean(axis=1) - won.mean()) / len(positive)
    expected[classes == 0] = (won.mean(axis=0) - won.mean()) / len(negative)
    for measure in ("hand_till", "dmf_auc"):
        found = influences(measure, classes, score)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


def test_influences_of_several_classes_are_placements_too():
    classes, scores = normal_scores(14, 60, 4, prior=[0.4, 0.3, 0.2, 0.1])
    found = influences("hand_till", classes, np.round(scores, 1))
    share = delong.placements(classes, np.round(scores, 1))
    sizes = np.bincount(classes)
    centred = share - (np.bincount(classes, share) / sizes)[classes]
    np.testing.assert_allclose(found, centred / sizes[classes], rtol=0, atol=1e-15)


FREE_OF_CLASS_SIZES = [
    *("dmf_auc", "hand_till", "auc_mu", "vus", "ordinal_vus", "balanced_accuracy"),
    "polytomous_discrimination_index",
]


@pytest.mark.parametrize("weighted", [False, True])
def test_influences_sum_to_zero_where_they_should(weighted):
    classes, scores = normal_scores(15, 60, 3, prior=SKEWED)
    weights = np.random.default_rng(16).uniform(0.5, 2, size=60) if weighted else None
    predictions = Predictions.from_arrays(classes, scores, sample_weight=weights)
    for measure in MEASURES_BY_NAME.values():
        if not measure.applies_to(predictions) or measure.name == "correlation":
            continue
        found = influences(measure, predictions)
        scale = np.abs(found).sum()
        assert found.sum() == pytest.approx(0, abs=1e-9 * scale), measure.name
        of_classes = np.abs(np.bincount(classes, found)).max()
        is_free = of_classes <= 1e-9 * scale
        assert is_free == (measure.name in FREE_OF_CLASS_SIZES), measure.name


@pytest.mark.parametrize("measure", [*MEASURES, "macro_f1", "cohen_kappa"])
def test_standard_errors_follow_from_influences(measure):
    """The variance within classes, each times n / (n - 1), and of the sizes of the classes.

    Where observations of all classes cost alike, there is one stratum.
    """
    classes, scores = normal_scores(17, 60, 3, prior=SKEWED)
    predictions = Predictions.from_arrays(classes, scores)
    found = influences(measure, classes, scores)
    given_sizes = of_sizes = 0
    for k in range(3):
        of_class = found[classes == k]
        n = len(of_class)
        given_sizes += ((of_class - of_class.mean()) ** 2).sum() * n / (n - 1)
        of_sizes += of_class.sum() ** 2 / n
    given = estimate(measure, predictions, stratify=True)
    assert given.standard_error == pytest.approx(np.sqrt(given_sizes), rel=1e-10)
    both = estimate(measure, predictions)
    total = given_sizes + of_sizes
    if measure in ("cohen_kappa", "informedness"):
        total = (found**2).sum() * 60 / 59
    assert both.standard_error == pytest.approx(np.sqrt(total), rel=1e-10)
    assert given.class_sizes == "fixed"
    assert both.class_sizes == ("fixed" if measure in FREE_OF_CLASS_SIZES else "random")


@pytest.mark.parametrize(
    ("measure", "sizes", "is_pooled"),
    [
        ("accuracy", (300, 290, 10), True),
        ("weighted_f1", (300, 290, 10), True),
        ("correlation", (300, 290, 10), True),
        ("brier_score", (300, 290, 10), True),
        ("macro_f1", (300, 290, 10), False),
        ("one_vs_rest_auc", (300, 290, 10), False),
        ("macro_f1", (200, 200, 200), True),
        ("hand_till", (200, 200, 200), False),
        ("dmf_auc", (300, 290, 10), False),
        ("balanced_accuracy", (200, 200, 200), False),
        ("share_right", (200, 200, 200), False),
    ],
)
def test_classes_are_pooled_where_their_observations_cost_alike(measure, sizes, is_pooled):
    classes = np.repeat(np.arange(3), sizes)
    scores = np.eye(3)[np.random.default_rng(0).permutation(classes)] * 0.6 + 0.4 / 3
    predictions = Predictions.from_arrays(classes, scores)
    of_users = Measure(name="share_right", bind=lambda _: lambda weights: weights.sum())
    found = of_users if measure == "share_right" else get_measure(measure)
    assert pools_classes(found, predictions) == is_pooled


@pytest.mark.parametrize(
    "name",
    [n for n, m in MEASURES_BY_NAME.items() if m.interval.pools_classes is not None],
)
def test_measures_declare_whether_classes_are_pooled_as_samples_with_errors_show_it(name):
    measure, generator = MEASURES_BY_NAME[name], np.random.default_rng(0)
    undeclared = replace(measure, interval=replace(measure.interval, pools_classes=None))
    for n_classes in (2, 2, 3, 4):
        share = np.sort(generator.dirichlet(np.ones(n_classes)))[:: generator.choice([-1, 1])]
        sizes = np.maximum(np.round(100 * share), 3).astype(int)
        y = np.repeat(np.arange(n_classes), sizes)
        predictions = Predictions.from_arrays(y, 0.4 / n_classes + 0.6 * np.eye(n_classes)[y])
        if measure.applies_to(predictions):
            assert pools_classes(measure, predictions) == pools_classes(undeclared, predictions)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_classes", [3, 10, 40])
def test_classes_are_not_pooled_where_no_error_costs_anything(n_classes, seed):
    """As of class sizes alone, whatever rounding makes of nothing."""
    generator = np.random.default_rng(seed)
    shares = generator.dirichlet(np.full(n_classes, 1.5))
    y = np.append(np.arange(n_classes), generator.choice(n_classes, 19 * n_classes, p=shares))
    probabilities = generator.dirichlet(np.ones(n_classes), len(y))
    predictions = Predictions.from_arrays(y, probabilities)
    assert not pools_classes(get_measure("brier_uncertainty"), predictions)


@pytest.mark.filterwarnings("ignore:y_pred is not the class", "ignore:two columns of y_score")
def test_influences_take_what_estimate_takes():
    classes, scores = normal_scores(18, 60, 3)
    names = np.array(["b", "c", "a"])[classes]
    labels = ["b", "c", "a"]
    expected = influences("informedness", classes, scores)
    np.testing.assert_array_equal(
        influences("informedness", names, scores, labels=labels), expected
    )
    predicted = scores.argmax(axis=1)
    for other in (
        influences("informedness", classes, y_pred=predicted),
        influences(informedness(), Predictions.from_arrays(classes, scores)),
        influences("informedness", classes, scores[:, [1, 0, 2]], y_pred=predicted),
    ):
        np.testing.assert_array_equal(other, expected)
    with pytest.raises(ValueError, match="recall is a measure of two classes"):
        influences("recall", classes, scores)
    with pytest.warns(UserWarning, match="1 class has a column but no observation .* out: 3"):
        influences("gini", classes, np.column_stack([scores, scores[:, 0]]), labels=range(4))


@pytest.mark.parametrize("error", [0.05, 0.2])
@pytest.mark.parametrize("n_errors", [0, 1, 3, 40])
def test_errors_of_one_size_have_the_exact_limit_of_a_poisson_mean(n_errors, error):
    """Without a worst value, as of the log loss."""
    weight = 0.01
    rare = RareErrors(1.0, -np.inf, 1 + weight * np.log(0.05))
    [limit] = rare.worse_limits(1 - n_errors * weight, n_errors * weight**2, [error])
    # The mean under which so few errors have the probability of the error
    mean = (1 - limit) / weight
    assert stats.poisson(mean).cdf(n_errors) == pytest.approx(error, rel=1e-9)


@pytest.mark.parametrize("error", [0.025, 0.2])
@pytest.mark.parametrize(("n_errors", "n"), [(0, 20), (1, 20), (7, 300), (299, 300), (300, 300)])
def test_the_limit_of_a_proportion_is_clopper_and_pearsons(n_errors, n, error):
    rare = RareErrors(1.0, 0.0, 0.05 ** (1 / n))
    share = n_errors / n
    [found] = rare.worse_limits(1 - share, share * (1 - share) / n, [error])
    exact = stats.binomtest(n - n_errors, n).proportion_ci(1 - 2 * error, method="exact").low
    assert found == pytest.approx(exact, abs=1e-9)


def test_an_unobserved_error_of_average_precision_counts_as_two():
    """Over ranks the cost of an error is exponential: drawn by size it is twice the average."""
    classes = np.repeat([0, 1, 2], 40)
    predictions = Predictions.from_arrays(classes, np.eye(3)[classes])
    evidence, missed = np.full(3, 40.0), 1 - 0.05 ** (1 / 40)
    for name, factor in (("average_precision", 2), ("hand_till", 1)):
        measure, limits = get_measure(name), []
        # All cases of a class, or of every class, that a perfect sample may have missed
        for y, weight in (([1], missed), ([0, 1, 2], 1 - 0.05 ** (1 / 120))):
            for other in ((0, 1), (2, 1), (1, 0)):
                wrong = [other[1] if c == other[0] else other[0] for c in y]
                drawn = Predictions.from_arrays(
                    np.append(classes, y),
                    np.eye(3)[np.append(classes, wrong)],
                    sample_weight=np.append(
                        np.where(np.isin(classes, y), 1 - weight, 1.0), np.full(len(y), 40 * weight)
                    ),
                )
                limits.append(measure(drawn))
        rare = rare_errors(measure, predictions, evidence, (0.0, 1.0))
        assert 1 - rare.worse_limits(1.0, 0.0, [0.05])[0] == pytest.approx(
            factor * (1 - min(limits)), rel=1e-6
        )
        # Where the sample has many errors, it shows what they cost
        assert rare.worse_limits(0.6, 1e-3, [0.05]) == rare._replace(gross_errors=1).worse_limits(
            0.6, 1e-3, [0.05]
        )


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("top_k_accuracy", "accuracy"),
        ("auc_mu", "hand_till"),
        ("precision_recall_area", "average_precision"),
    ],
)
def test_measures_that_lose_alike_by_an_unobserved_error_have_one_limit(name, other):
    """Such an error may rank last, though the typical one ties with cases of other classes."""
    classes = np.repeat([0, 1, 2], 40)
    predictions = Predictions.from_arrays(classes, np.eye(3)[classes])
    found, expected = (
        rare_errors(get_measure(m), predictions, np.full(3, 40.0), (0.0, 1.0))
        for m in (name, other)
    )
    assert found.limit == pytest.approx(expected.limit, rel=1e-12)
    assert found.gross_errors == expected.gross_errors


def test_perfect_values_have_a_limit_though_the_range_goes_on():
    """Perfect scores have an expected F-gain of 3/4, and a net benefit of the prevalence."""
    classes = np.repeat([0, 1], [60, 40])
    for name, perfect in (("expected_f_gain", 0.75), ("net_benefit", 0.4)):
        found = estimate(name, classes, classes, stratify=True)
        assert found.value == pytest.approx(perfect, abs=1e-12)
        assert found.exact_limit == "lower"
        assert perfect - 0.1 < found.interval[0] < perfect - 0.01


def test_measures_that_errors_can_improve_have_no_such_limit():
    classes = np.repeat([0, 1], [60, 20])
    predictions = Predictions.from_arrays(classes, classes)
    for name in ("entropy_predicted", "observed_expected_ratio"):
        measure = get_measure(name)
        assert rare_errors(measure, predictions, np.array([60.0, 20.0]), measure.bounds) is None


def test_errors_that_cost_something_at_any_rank_count_at_most_twice():
    classes = np.repeat(np.arange(10), 20)
    predictions = Predictions.from_arrays(classes, np.eye(10)[classes])
    for name in ("leave_one_out_average_precision", "precision_recall_gain_area", "ordinal_vus"):
        measure = get_measure(name)
        bounds = measure.range_in(predictions, sizes_are_fixed=True)
        found = rare_errors(measure, predictions, np.full(10, 20.0), bounds)
        assert found.gross_errors == 2, name


@pytest.mark.parametrize(("k", "factor"), [(30, 2), (20, 3), (10, 6), (0.1, 3)])
def test_an_unobserved_error_may_be_among_the_first_k(k, factor):
    """It costs 1 / k with probability k / 60, so that drawn by size it costs 60 / k as much."""
    classes = np.repeat([0, 1, 2], 60)
    predictions = Predictions.from_arrays(classes, np.eye(3)[classes])
    for measure in (precision_at_k(k), recall_at(k)):
        found = estimate(measure, predictions, stratify=True)
        assert found.gross_errors == factor
        assert found.value <= found.interval[1] <= found.value + 1e-12
        # Errors in any of the 180 may be unobserved
        share = 1 - found.interval[0] / found.value
        assert share == pytest.approx(factor * (1 - 0.05 ** (1 / 60)) / 3, rel=0.1)


@pytest.mark.slow
def test_what_many_classes_lose_at_the_top_takes_little_memory():
    classes = np.repeat(np.arange(1500), 2)  # with 64 ranks for each, 1.2 GB
    predictions = Predictions.from_arrays(classes, np.eye(1500, dtype=np.float32)[classes])
    tracemalloc.start()
    heavy = [
        rare_errors(get_measure(name), predictions, np.full(1500, 2.0), (0.0, 1.0)).gross_errors
        for name in ("average_precision", "hand_till")
    ]
    assert heavy == [2, 1]
    assert tracemalloc.get_traced_memory()[1] < 4e8
    tracemalloc.stop()


def test_no_limit_excludes_anything_without_an_error_probability():
    classes, scores = normal_scores(1, 60, 3, 2.0)
    predictions = Predictions.from_arrays(classes, scores)
    rare = rare_errors(get_measure("hand_till"), predictions, np.full(3, 20.0), (0.0, 1.0))
    assert rare.worse_limits(0.9, 1e-3, [0.0]) == [0]


@pytest.mark.parametrize("worst", [0.0, -np.inf])
def test_the_limit_of_a_loss_is_the_mirrored_one(worst):
    [up] = RareErrors(1.0, worst, 0.9).worse_limits(0.95, 1e-3, [0.025])
    [down] = RareErrors(0.0, 1 - worst, 0.1).worse_limits(0.05, 1e-3, [0.025])
    assert down == pytest.approx(1 - up, rel=1e-12)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), worst=st.sampled_from([0.0, -1.0, -np.inf]))
def test_the_limit_falls_with_every_error(seed, worst):
    """One more error of any size makes a sample worse."""
    generator = np.random.default_rng(seed)
    rare = RareErrors(1.0, worst, 0.97)
    losses = generator.uniform(0, 0.03 / -np.log(0.05), 20)
    ends = [
        rare.worse_limits(1 - losses[:n].sum(), (losses[:n] ** 2).sum(), [0.05])[0]
        for n in range(21)
    ]
    assert (np.diff(ends) < 1e-12).all()
    assert ends[0] == pytest.approx(0.97, abs=1e-12)


@pytest.mark.parametrize(
    ("further", "ends"),
    [(0.25, (0.5, 1)), (-0.25, (0.25, 0.75)), (1, (0.5, 1)), (-1, (0.125, 0.75))],
)
def test_an_interval_reaches_further_on_one_side_within_its_bounds(further, ends):
    assert Interval(0.5, 0.75).reaching(further, (0.125, 1.0)) == Interval(*ends)


def test_random_sizes_are_added_on_the_measures_own_scale():
    """Both parts of an error that is symmetric there add up as squares, on either side."""
    classes = np.repeat([0, 1, 2], [40, 8, 6])
    rng = np.random.default_rng(0)
    predicted = np.where(rng.random(54) < 0.6, classes, rng.integers(3, size=54))
    predictions = Predictions.from_arrays(classes, np.eye(3)[predicted])
    moments = moments_of(influences("accuracy", predictions), units_of(predictions))
    assert moments.depends_on_sizes
    value = float((classes == predicted).mean())
    ends = interval(value, moments, 0.1, (0, 1), (0, 1), symmetric_on_line=False)
    assert 0 < ends.low < value < ends.high < 1
    assert ends.high - value == pytest.approx(value - ends.low, rel=1e-12)


@pytest.mark.parametrize("at_once", [16, 1 << 20])
def test_moments_of_differences_are_those_of_the_differences(monkeypatch, at_once):
    """However many influences are multiplied at once; those of two copies are nothing."""
    monkeypatch.setattr(evidence, "_NUMBERS_AT_ONCE", at_once)
    classes, scores = normal_scores(3, 90, 3)
    units = units_of(Predictions.from_arrays(classes, scores))
    sums = np.random.default_rng(4).standard_exponential((4, 90)) / 90
    sums = np.concatenate([sums, sums[:1]])
    found = evidence._moments_of_differences(sums, units)
    pairs = itertools.combinations(range(5), 2)
    for (first, second), moments in zip(pairs, found, strict=True):
        [expected] = moments_of_sums((sums[first] - sums[second])[None], units)
        for name in ("variances", "kurtoses", "variances_of_sizes"):
            np.testing.assert_allclose(
                getattr(moments, name), getattr(expected, name), rtol=1e-9, atol=1e-15
            )
    covariance = evidence.joint_covariance(sums, units)
    for row, moments in enumerate(moments_of_sums(sums, units)):
        assert covariance[row, row] == pytest.approx(moments.standard_error**2, rel=1e-12)
    assert covariance[0] == pytest.approx(covariance[4], rel=1e-12)


def test_recalibration_does_not_tell_unobserved_errors_from_right_forecasts():
    """Their probabilities tie, so that errors in a share u of 50 cases of 200 cost about u / 5."""
    classes = np.repeat([0, 1], [200, 50])
    forecast = np.where(classes == 1, 0.95, 0.04)
    found = estimate("brier_discrimination", classes, forecast, stratify=True)
    assert found.value == pytest.approx(0.16, abs=1e-12)
    unobserved = 1 - 0.05 ** (1 / 50)
    assert 0.16 - found.interval[0] == pytest.approx(unobserved / 5, rel=0.1)
