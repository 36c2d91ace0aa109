"""Subgroups: agreement with single estimates and with comparisons, and the tests of all groups."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logit
from simulations import cyclic_scores

import dmfroc
from dmfroc import Predictions, compare, compare_subgroups, estimate
from dmfroc.analyses.subgroups import THE_OTHERS


def sample(n=240, n_classes=3, seed=0, gap=0.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    site = rng.choice(["a", "b", "c"], size=n, p=[0.5, 0.3, 0.2])
    shift = 1.2 + gap * (site == "c")
    return y, rng.normal(size=(n, n_classes)) + shift[:, None] * np.eye(n_classes)[y], site


@pytest.mark.parametrize("measure", ["hand_till", "informedness"])
def test_each_group_has_its_own_estimate(measure):
    y, scores, site = sample()
    weights = 0.5 + np.arange(len(y)) % 4
    found = compare_subgroups(y, scores, site, measures=measure)
    weighted = compare_subgroups(y, scores, site, measures=measure, sample_weight=weights)
    assert list(found.estimates) == list(weighted.estimates) == ["a", "b", "c"]
    for name, of_group in found.estimates.items():
        rows = site == name
        assert of_group == estimate(measure, y[rows], scores[rows])
        own = estimate(measure, y[rows], scores[rows], sample_weight=weights[rows])
        assert weighted.estimates[name] == own
        assert found.sizes[name] == rows.sum()


def test_two_groups_are_two_independent_samples():
    y, scores, site = sample()
    first = site == "a"
    [difference] = compare_subgroups(
        y, scores, np.where(first, "a", "b"), measures="hand_till"
    ).differences
    parts = {
        "a": Predictions.from_arrays(y[first], scores[first]),
        "b": Predictions.from_arrays(y[~first], scores[~first]),
    }
    [expected] = compare(parts, measures="hand_till", paired=False).differences
    assert difference.value == pytest.approx(expected.value, rel=1e-12)
    assert difference.standard_error == pytest.approx(expected.standard_error, rel=1e-12)
    assert difference.p_value == pytest.approx(expected.p_value, rel=0.01)
    assert difference.adjusted_p_value == difference.p_value


def test_differences_with_all_others_are_those_with_their_mean():
    y, scores, site = sample()
    found = compare_subgroups(y, scores, site, measures="hand_till")
    assert [(d.first, d.second) for d in found.differences] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
        ("a", THE_OTHERS),
        ("b", THE_OTHERS),
        ("c", THE_OTHERS),
    ]
    value, error, n = (
        {k: f(k) for k in "abc"}
        for f in (
            lambda k: found.estimates[k].value,
            lambda k: found.estimates[k].standard_error,
            lambda k: found.sizes[k],
        )
    )
    of_a = found.differences[3]
    share = n["b"] / (n["b"] + n["c"])
    assert of_a.value == pytest.approx(
        value["a"] - share * value["b"] - (1 - share) * value["c"], rel=1e-12
    )
    expected = np.hypot(error["a"], np.hypot(share * error["b"], (1 - share) * error["c"]))
    assert of_a.standard_error == pytest.approx(expected, rel=1e-12)


def test_omnibus_test_of_two_groups_is_the_square_of_their_difference():
    y, scores, site = sample(n=3000)
    by = np.where(site == "a", "a", "b")
    found = compare_subgroups(y, scores, by, measures="hand_till")
    [difference] = found.differences
    z = difference.value / difference.standard_error
    assert found.omnibus.degrees_of_freedom[0] == 1
    assert found.omnibus.statistic == pytest.approx(z**2, rel=0.01)
    assert found.omnibus.p_value == pytest.approx(difference.p_value, rel=0.02)


@pytest.mark.parametrize("options", [{}, {"folds": np.arange(240) % 2}])
def test_two_groups_have_the_p_value_of_their_difference(options):
    y, scores, site = sample(240)
    by = np.where(site == "a", "a", "b")
    found = compare_subgroups(y, scores, by, measures="accuracy", **options)
    [difference], (statistic, freedom) = (
        found.differences,
        (
            found.omnibus.statistic,
            found.omnibus.degrees_of_freedom,
        ),
    )
    assert found.omnibus.p_value == difference.p_value
    assert stats.f.sf(statistic, *freedom) == pytest.approx(difference.p_value, rel=1e-9)


def test_omnibus_statistic_is_wald_s_in_large_groups():
    y, scores, site = sample(n=30_000)
    found = compare_subgroups(y, scores, site, measures="hand_till")
    # On the logit scale, where a small group's variance depends less on its value
    values = np.array([e.value for e in found.estimates.values()])
    errors = np.array([e.standard_error for e in found.estimates.values()])
    covariance = np.diag((errors / (values * (1 - values))) ** 2)
    values = np.log(values / (1 - values))
    contrasts = np.array([[1, -1, 0], [1, 0, -1]])
    gaps = contrasts @ values
    wald = gaps @ np.linalg.solve(contrasts @ covariance @ contrasts.T, gaps)
    # The variances are those of intervals, which an unseen observation makes a little longer
    assert 0.98 < found.omnibus.statistic / (wald / 2) < 1
    assert found.omnibus.p_value == pytest.approx(stats.chi2.sf(wald, 2), abs=0.005)


def test_omnibus_test_is_recomputed_from_intervals_and_influences():
    """As the docstring of `SubgroupComparison.omnibus` says, at any level of the comparison."""
    y, scores, site = sample(150, n_classes=2, gap=1.0)
    found = compare_subgroups(y, scores, site, measures="hand_till", level=0.9)
    freedom, logits, ends = [], [], []
    for name in "abc":
        rows = site == name
        own = estimate("hand_till", y[rows], scores[rows])
        logits.append(logit(own.value))
        ends.append(logit(own.interval))
        influences = dmfroc.extend.influences("hand_till", y[rows], scores[rows])
        by_class = [influences[y[rows] == c] for c in (0, 1)]
        parts = np.array([len(x) * x.var(ddof=1) for x in by_class])
        doubts = [max(stats.kurtosis(x), 0) / len(x) + 2 / (len(x) - 1) for x in by_class]
        freedom.append(2 * parts.sum() ** 2 / (parts**2 @ doubts))
    freedom, logits, (low, high) = np.array(freedom), np.array(logits), np.transpose(ends)
    mean = logits.mean()
    for _ in range(50):
        side = np.where(logits > mean, logits - low, high - logits)
        weights = (stats.t.ppf(0.975, freedom) / side) ** 2
        mean = weights @ logits / weights.sum()
    # Welch (1951), with these degrees of freedom for n - 1
    lost = ((1 - weights / weights.sum()) ** 2 / freedom).sum()
    statistic = weights @ (logits - mean) ** 2 / 2 / (1 + 2 / 8 * lost)
    assert found.omnibus.statistic == pytest.approx(statistic, rel=1e-9)
    assert found.omnibus.degrees_of_freedom == (2, pytest.approx(8 / (3 * lost), rel=1e-9))
    assert found.omnibus.p_value == pytest.approx(stats.f.sf(statistic, 2, 8 / (3 * lost)))


@pytest.mark.slow
def test_omnibus_test_of_equal_groups_near_perfection_seldom_rejects():
    """A group without a gross error has a tiny variance: 37 % of such tests were significant."""
    by = np.repeat(["a", "b", "c"], [60, 60, 40])
    y = np.arange(160) % 3
    p_values = []
    for seed in range(20):
        z = np.random.default_rng(seed).normal(size=(160, 3)) + 5.5 * np.eye(3)[y]
        scores = np.exp(1.5 * z) / np.exp(1.5 * z).sum(axis=1)[:, None]
        found = compare_subgroups(y, scores, by, measures="brier_score")
        p_values.append(found.omnibus.p_value)
    assert np.sum(np.array(p_values) < 0.05) <= 3  # of a binomial (20, 0.05): 98 %


def test_differences_of_independent_groups_have_the_intervals_of_independent_samples():
    y, scores, site = sample()
    is_first = site == "a"
    found = compare_subgroups(y, scores, is_first, measures="hand_till")
    names = [difference.first for difference in found.differences]
    samples = {str(part): (y[is_first == part], scores[is_first == part]) for part in (True, False)}
    first = names[0].rpartition("=")[2].rpartition(" ")[2]
    other = str(first != "True")
    [expected] = compare(
        {name: Predictions.from_arrays(*samples[name]) for name in (first, other)},
        measures="hand_till",
        paired=False,
    ).differences
    [difference] = found.differences
    assert difference.interval == pytest.approx(expected.interval, rel=1e-9)
    assert difference.p_value == pytest.approx(expected.p_value, rel=1e-6)
    assert difference.probability_better == pytest.approx(expected.probability_better, rel=1e-6)


def test_columns_cross():
    y, scores, site = sample()
    old = np.arange(240) % 8 < 4
    table = pd.DataFrame({"site": site, "old": old})
    found = compare_subgroups(y, scores, table, measures="hand_till")
    assert next(iter(found.estimates)) == "site=a, old=False"
    assert len(found.estimates) == 6
    as_dict = compare_subgroups(y, scores, {"site": site, "old": old}, measures="hand_till")
    assert as_dict.estimates == found.estimates


def test_groups_that_say_too_little_are_named_and_left_out():
    y, scores, site = sample()
    site = site.astype(object)
    site[:2] = "tiny"
    site[np.flatnonzero(y == 1)[3:40:2]] = "two"
    site[np.flatnonzero(y == 0)[-3:]] = "two"
    site[np.flatnonzero(y == 2)[-30:]] = "two"
    with pytest.warns(UserWarning, match="left out: t(iny, which lacks class 2|wo, )"):
        found = compare_subgroups(y, scores, site, measures="hand_till")
    assert found.left_out == {
        "tiny": "which lacks class 2",
        "two": "whose class 0 has size 3, below min_class_size=5",
    }
    assert "left out: tiny, which lacks class 2" in str(found)
    assert "two" not in found.estimates


def test_clusters_inside_groups_count_as_one():
    y, scores, site = sample()
    twice = np.repeat(np.arange(240), 2)
    found = compare_subgroups(
        y[twice], scores[twice], site[twice], measures="hand_till", groups=twice
    )
    single = compare_subgroups(y, scores, site, measures="hand_till")
    for one, other in zip(found.differences, single.differences, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-12)
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-12)
    assert found.omnibus.statistic == pytest.approx(single.omnibus.statistic, rel=1e-9)


def test_the_same_observations_in_two_groups_do_not_differ():
    """Every patient is in both groups with the same scores: the difference is 0 for certain."""
    y, scores, _ = sample(90)
    patient, eye = np.tile(np.arange(90), 2), np.repeat(["left", "right"], 90)
    rng = np.random.default_rng(1)
    both = np.concatenate([scores, scores + 0.1 * rng.normal(size=scores.shape)])
    ys = np.tile(y, 2)
    correlated = compare_subgroups(ys, both, eye, measures="hand_till", groups=patient)
    independent = compare_subgroups(ys, both, eye, measures="hand_till")
    paired = compare(y, {"left": both[:90], "right": both[90:]}, measures="hand_till")
    [difference] = correlated.differences
    assert difference.standard_error < 0.2 * independent.differences[0].standard_error
    assert difference.standard_error == pytest.approx(
        paired.differences[0].standard_error, rel=0.02
    )
    assert correlated.omnibus.p_value == pytest.approx(difference.p_value, abs=0.02)
    with pytest.raises(ValueError, match="use method='jackknife'"):
        compare_subgroups(
            ys, both, eye, measures="hand_till", groups=patient, method=dmfroc.Bootstrap(100)
        )


def test_bootstrap_agrees_with_the_jackknife():
    y, scores, site = sample(n=900)
    by_draws = compare_subgroups(
        y, scores, site, measures="hand_till", method=dmfroc.Bootstrap(1000)
    )
    by_influences = compare_subgroups(y, scores, site, measures="hand_till")
    for one, other in zip(by_draws.differences, by_influences.differences, strict=True):
        assert one.interval == pytest.approx(other.interval, abs=0.01)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        (None, "by is missing"),
        ({}, "by has no column"),
        (["a"] * 3, r"by must have one entry for each of the 240 observations, .*\(3,\)"),
        ([None] + ["a"] * 239, r"by has a missing value in row 0"),
        (["a"] * 240, "Need at least two groups with 5 observations of each class; found 1 of 1"),
    ],
)
def test_bad_groups_are_refused(by, message):
    y, scores, _ = sample()
    with pytest.raises(ValueError, match=message):
        compare_subgroups(y, scores, by, measures="hand_till")


def test_a_perfect_group_is_tested_by_its_interval():
    y, scores = cyclic_scores()
    by, perfect = np.arange(len(y)) % 2 == 0, 0.1 + np.eye(scores.shape[1])[y]
    scores = np.where(by[:, None], perfect, scores)
    found = compare_subgroups(y, scores, by, measures="hand_till")
    assert found.estimates["True"].value == pytest.approx(1)
    assert found.differences[0].standard_error > 0
    low, high = found.estimates["True"].interval[0], found.estimates["False"].interval[1]
    assert high < low  # so that a test has to reject
    assert found.omnibus.p_value < 0.01
    alike = compare_subgroups(y, perfect, by, measures="hand_till")
    assert (alike.omnibus.statistic, alike.omnibus.p_value) == (0, 1)


def test_forest_plot_has_a_row_for_each_group():
    y, scores, site = sample()
    found = compare_subgroups(y, scores, site, measures="hand_till")
    display = found.plot(color="black")
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    ends = [tuple(line.get_xdata()) for line in display.intervals_]
    assert ends == [e.interval for e in found.estimates.values()]
    assert {line.get_color() for line in display.values_} == {"black"}
    assert labels == [f"{name} (n={found.sizes[name]})" for name in "abc"]
    assert list(found.to_pandas().index) == ["a", "b", "c"]
    assert len(found.to_pandas("differences")) == 6


@pytest.mark.parametrize("size", [1, 0, -3])
def test_the_least_class_size_is_two(size):
    classes = np.arange(60) % 3
    with pytest.raises(
        ValueError, match=f"min_class_size must be an integer >= 2, but it is {size}"
    ):
        compare_subgroups(classes, np.eye(3)[classes], np.arange(60) // 30, min_class_size=size)


def test_groups_have_means_over_folds():
    rng = np.random.default_rng(5)
    y, by, folds = rng.integers(3, size=300), rng.integers(3, size=300), rng.integers(4, size=300)
    scores = rng.normal(size=(300, 3)) + np.eye(3)[y]
    y[(by == 2) & (folds == 1)] %= 2
    with pytest.warns(UserWarning, match="left out: 2, which lacks class 2 in a fold"):
        found = compare_subgroups(y, scores, by, measures="hand_till", folds=folds)
    assert list(found.estimates) == ["0", "1"]
    for group, of_group in enumerate(found.estimates.values()):
        rows = by == group
        expected = estimate("hand_till", y[rows], scores[rows], folds=folds[rows])
        assert of_group.interval == pytest.approx(expected.interval, abs=1e-12)
    y, by, scores, folds = y[by < 2], by[by < 2], scores[by < 2], folds[by < 2]
    counts = 1 + np.arange(len(y)) % 2
    weighted = compare_subgroups(
        y, scores, by, measures="accuracy", folds=folds, frequency_weight=counts
    )
    repeated = compare_subgroups(
        *(np.repeat(x, counts, axis=0) for x in (y, scores, by)),
        measures="accuracy",
        folds=np.repeat(folds, counts),
    )
    assert weighted.differences[0].interval == pytest.approx(repeated.differences[0].interval)


def crossed_groups(seed=0, n=40):
    """Twelve crossed groups whose true values differ by the effect of one column alone."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        [(a, b, y) for a in "pqr" for b in "stuv" for y in np.arange(n) % 2],
        columns=["a", "b", "y"],
    )
    shift = rows.a.map({"p": 0.5, "q": 1.2, "r": 1.9})
    return rows, rng.normal(size=len(rows)) + shift * rows.y


@pytest.mark.slow
def test_shrunken_groups_are_closer_to_the_truth():
    rows, score = crossed_groups()
    true = {"p": stats.norm.cdf(0.5 / 2**0.5), "q": stats.norm.cdf(1.2 / 2**0.5)}
    true["r"] = stats.norm.cdf(1.9 / 2**0.5)
    found = compare_subgroups(rows.y, score, rows[["a", "b"]], measures="hand_till", shrink=True)
    closer = found.shrunken
    truths = np.array([true[name[2]] for name in found.estimates])
    alone, near = (
        np.array([e.value for e in several.values()])
        for several in (found.estimates, closer.estimates)
    )
    assert ((near - truths) ** 2).mean() < 0.6 * ((alone - truths) ** 2).mean()
    ends = np.array([e.interval for e in closer.estimates.values()])
    assert ((ends[:, 0] < truths) & (truths < ends[:, 1])).mean() > 0.8
    assert np.ptp(ends, axis=1).mean() < 0.9 * np.mean(
        [np.ptp(e.interval) for e in found.estimates.values()]
    )
    gap, smallest = closer.largest_gap, closer.smallest
    assert gap.interval[0] < np.ptp(truths) < gap.interval[1] < np.ptp(alone) + 0.1
    assert smallest.interval[0] < truths.min() < smallest.interval[1]
    assert "shrunken" in found.to_pandas()
    assert "largest gap in hand_till" in str(found)
    plain = compare_subgroups(rows.y, score, rows[["a", "b"]], measures="hand_till")
    assert plain.shrunken is None
    assert plain.estimates == found.estimates


def test_shrunken_groups_of_one_column_are_a_random_effects_mean():
    """With a known tau the value is the weighted mean of its own and the common one."""
    rows, score = crossed_groups(1, 200)
    found = compare_subgroups(rows.y, score, rows.b, measures="hand_till", shrink=True)
    alone = np.array([e.value for e in found.estimates.values()])
    near = np.array([e.value for e in found.shrunken.estimates.values()])
    order = np.argsort(alone)
    assert (np.diff(near[order]) > 0).all()
    assert np.ptp(near) < np.ptp(alone)
    assert min(alone) < near.mean() < max(alone)


def test_perfect_groups_are_shrunken_and_two_are_too_few():
    y, scores, site = sample()
    perfect = np.where((site == "c")[:, None], 50 * np.eye(3)[y] + scores, scores)
    found = compare_subgroups(
        y,
        perfect,
        np.where(site == "c", site, np.arange(240) // 3 % 3),
        measures="hand_till",
        shrink=True,
    )
    # A perfect group counts half an error, and is drawn towards the others
    assert 0.8 < found.shrunken.estimates["c"].value < 1
    few = {"by": np.where(site == "c", "c", "d"), "shrink": True, "measures": "hand_till"}
    with pytest.raises(ValueError, match="shrink=True needs at least three groups"):
        compare_subgroups(y, scores, **few)


def test_the_largest_gap_is_between_the_limits_of_all_pairs():
    rng = np.random.default_rng(2)
    group = np.repeat(list("abcd"), 60)
    y = rng.integers(2, size=240)
    right = rng.random(240) < np.where(group == "c", 0.6, 0.9)
    found = compare_subgroups(y, y_pred=np.where(right, y, 1 - y), by=group, measures="accuracy")
    gap, values = found.largest_gap, {x: e.value for x, e in found.estimates.items()}
    assert (gap.first, gap.second) == (max(values, key=values.get), "c")
    assert gap.value == pytest.approx(np.ptp([*values.values()]))
    pairs = [d.interval for d in found.differences if len(d.second) == 1]
    assert gap.interval[0] == max(max(low, -high) for low, high in pairs)
    assert gap.interval[1] == max(max(high, -low) for low, high in pairs)
    assert f"largest gap: {gap.first} minus c = {gap.value:.4f}, 95 % interval" in str(found)
    same = compare_subgroups(y, y_pred=y, by=group, measures="accuracy").largest_gap
    assert (same.value, same.interval[0]) == (0, 0)
    assert same.interval[1] > 0


def test_several_measures_are_those_of_each():
    y, scores, site = sample()
    names = ["accuracy", "hand_till"]
    for given in (names, "accuracy, hand_till"):
        found = compare_subgroups(y, scores, site, measures=given)
        for name, one in found.items():
            alone = compare_subgroups(y, scores, site, measures=name)
            assert one.differences == alone.differences
        assert list(found) == names
    assert found.to_pandas()["measure"].tolist() == np.repeat(names, 3).tolist()


def test_perfect_groups_differ_by_no_error_of_rounding():
    """Of 146 and 154 rows, whose influences cancel but for the last digit."""
    y = np.random.default_rng(0).integers(3, size=300)
    scores = np.eye(3)[y] + np.random.default_rng(1).dirichlet(np.ones(3), 300)
    found = compare_subgroups(y, scores, np.arange(300) % 2, measures="hand_till")
    assert [d.standard_error for d in found.differences] == [0.0]
    assert "0.000000" not in str(found)


def test_groups_by_a_number_are_told_at_once(recwarn):
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 2, 300), rng.normal(size=300)
    with pytest.raises(ValueError, match=r"found 0 of 300. Cut numbers"):
        compare_subgroups(y, s, rng.normal(size=300), measures="hand_till")
    assert not recwarn.list
    many = np.where(np.arange(300) < 240, np.arange(300) % 2, np.arange(300))
    with pytest.warns(UserWarning, match="in all 60 of 62 groups") as told:
        compare_subgroups(y, s, many, measures="hand_till")
    assert len(told) == 1
