"""Several runs: the published analysis of readers, exact cases, and agreement with `compare`."""

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats

from dmfroc import NonInferiority, compare, compare_runs
from dmfroc.measures import hand_till


def runs(seed=0, n=120, n_runs=3, shifts=(1.5, 1.0), sd=0.2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return y, {
        name: [
            rng.normal(size=(n, 3)) + (shift + sd * rng.normal()) * np.eye(3)[y]
            for _ in range(n_runs)
        ]
        for name, shift in zip("ABC", shifts, strict=False)
    }


def test_published_analysis_of_five_readers(external_directory):
    """Van Dyke et al.: what MRMCaov and RJafroc print of its empirical areas, by the jackknife."""
    table = pd.read_csv(external_directory / "van_dyke.csv").sort_values("case")
    by = {key: part for key, part in table.groupby(["treatment", "reader"])}
    y = by[1, 1]["truth"].to_numpy()
    scores = {f"{t}": [by[t, r]["rating"].to_numpy(float) for r in range(1, 6)] for t in (1, 2)}
    found = compare_runs(y, scores, measures="hand_till", covariances="leave_one_out")
    assert found.mean_squares["classifiers"] == pytest.approx(0.004796171, abs=5e-10)
    assert found.mean_squares["classifiers:runs"] == pytest.approx(0.0005510306, abs=5e-11)
    assert found.covariances.same_classifier == pytest.approx(0.0003440748, abs=5e-11)
    assert found.covariances.different == pytest.approx(0.0002390284, abs=5e-11)
    test = found.random_runs
    assert test.statistic == pytest.approx(4.456319, abs=5e-7)
    assert test.degrees_of_freedom == pytest.approx((1, 15.25967), abs=5e-6)
    assert test.p_value == pytest.approx(0.05166569, abs=5e-9)
    assert found.fixed_runs.statistic == pytest.approx(5.475953, abs=5e-7)
    [difference] = test.differences
    assert difference.value == pytest.approx(-0.04380032, abs=5e-9)
    assert difference.standard_error == pytest.approx(0.02074862, abs=5e-9)


@pytest.mark.parametrize(
    ("covariances", "statistic", "freedom", "p_value"),
    [("delong", 4.484854, 15.06611, 0.05123303), ("unbiased", 4.489614, 15.03418, 0.0511618)],
)
def test_published_covariances_of_pairs(
    external_directory, covariances, statistic, freedom, p_value
):
    """Van Dyke et al. by MRMCaov's other covariances."""
    table = pd.read_csv(external_directory / "van_dyke.csv").sort_values("case")
    by = {key: part for key, part in table.groupby(["treatment", "reader"])}
    y = by[1, 1]["truth"].to_numpy()
    scores = {f"{t}": [by[t, r]["rating"].to_numpy(float) for r in range(1, 6)] for t in (1, 2)}
    found = compare_runs(y, scores, measures="hand_till", covariances=covariances)
    test = found.random_runs
    assert test.statistic == pytest.approx(statistic, abs=5e-7)
    assert test.degrees_of_freedom[1] == pytest.approx(freedom, abs=5e-6)
    assert test.p_value == pytest.approx(p_value, abs=5e-8)
    if covariances == "delong":
        [difference] = test.differences
        assert difference.standard_error == pytest.approx(0.0206825, abs=5e-8)


@pytest.mark.parametrize(
    ("nested_in", "covariances", "statistic", "freedom", "p_value", "error"),
    [
        ("readers", "influences", 8.704, 4, 0.04195875, None),
        ("readers", "leave_one_out", 8.704, 4, 0.04195875, None),
        ("tests", "leave_one_out", 2.104491, 68.42325, 0.1514363, 0.03019283),
    ],
)
def test_published_analyses_of_cases_nested_in_readers_and_tests(
    external_directory, nested_in, covariances, statistic, freedom, p_value, error
):
    """Van Dyke et al. by MRMCaov, as if each reader, or each test, had cases of its own."""
    table = pd.read_csv(external_directory / "van_dyke.csv").sort_values("case")
    by = {key: part for key, part in table.groupby(["treatment", "reader"])}
    y = by[1, 1]["truth"].to_numpy()
    n_copies = 5 if nested_in == "readers" else 2
    copy = np.repeat(np.arange(n_copies), len(y))
    scores = {}
    for t in (1, 2):
        ratings = [np.tile(by[t, r]["rating"].to_numpy(float), n_copies) for r in range(1, 6)]
        own = range(5) if nested_in == "readers" else [t - 1] * 5
        scores[f"{t}"] = [np.where(copy == k, x, np.nan) for k, x in zip(own, ratings, strict=True)]
    test = compare_runs(
        np.tile(y, n_copies), scores, measures="hand_till", covariances=covariances
    ).random_runs
    assert test.statistic == pytest.approx(statistic, abs=5e-7 if error else 5e-4)
    assert test.degrees_of_freedom == pytest.approx((1, freedom), abs=5e-6)
    assert test.p_value == pytest.approx(p_value, abs=5e-8)
    if error:
        assert test.differences[0].standard_error == pytest.approx(error, abs=5e-9)


@pytest.mark.parametrize("groups", [None, np.arange(120) // 4])
def test_cases_that_nobody_read_are_as_good_as_absent(groups):
    y, scores = runs()
    lacks = np.arange(120) // 12 == 3
    some = {x: [np.where(lacks[:, None], np.nan, s) for s in of] for x, of in scores.items()}
    kept = {x: [s[~lacks] for s in of] for x, of in scores.items()}
    found = compare_runs(y, some, groups=groups, measures="hand_till")
    own = None if groups is None else groups[~lacks]
    expected = compare_runs(y[~lacks], kept, groups=own, measures="hand_till")
    assert found.n_observations == expected.n_observations == 108
    np.testing.assert_allclose(found.covariances, expected.covariances, rtol=1e-9)
    assert found.random_runs.p_value == pytest.approx(expected.random_runs.p_value)


def test_readers_who_share_no_cases_share_no_error():
    """Split-plot: two of three readers have halves of the cases, so that two of three pairs do."""
    y, scores = runs(n=240)
    first = np.arange(240) < 120
    read = [first, ~first, first]
    some = {
        x: [np.where(r[:, None], s, np.nan) for r, s in zip(read, of, strict=True)]
        for x, of in scores.items()
    }
    found = compare_runs(y, some, measures="hand_till").covariances
    half = {x: [of[0][first], of[2][first]] for x, of in scores.items()}
    of_two = compare_runs(y[first], half, measures="hand_till")
    assert "two runs of two learners" in of_two.warnings[-1]
    expected = of_two.covariances
    assert found.same_classifier == pytest.approx(expected.same_classifier / 3)
    assert found.different == pytest.approx(expected.different / 3)


def test_tables_with_missing_scores_keep_their_names_and_order():
    y, scores = runs()
    lacks = np.arange(120) % 7 == 0
    some = {x: [np.where(lacks[:, None], np.nan, s) for s in of] for x, of in scores.items()}
    expected = compare_runs(y, some, measures="hand_till")
    names, index = np.array(["x", "y", "z"]), [f"row {i}" for i in range(120)]
    turned = {
        x: [pd.DataFrame(s[:, ::-1], index, ["p_z", "p_y", "p_x"]) for s in of]
        for x, of in some.items()
    }
    found = compare_runs(pd.Series(names[y], index), turned, measures="hand_till")
    assert found.covariances == expected.covariances
    turned["A"][1] = turned["A"][1].iloc[::-1]
    with pytest.raises(ValueError, match="run 1 of 'A': with missing scores give all rows in the"):
        compare_runs(pd.Series(names[y], index), turned, measures="hand_till")


def test_one_sided_tests_and_margins_of_runs():
    y, scores = runs(shifts=(1.3, 1.3))
    plain = compare_runs(y, scores, measures="hand_till").random_runs.differences[0]
    found = compare_runs(y, scores, measures="hand_till", test=NonInferiority(0.05))
    d, freedom = found.random_runs.differences[0], found.random_runs.degrees_of_freedom[1]
    p_value = stats.t.sf((plain.value + 0.05) / plain.standard_error, freedom)
    assert d.p_value == pytest.approx(p_value)
    low = plain.value - stats.t.ppf(0.95, freedom) * plain.standard_error
    assert d.interval == pytest.approx((low, np.inf))
    assert "A is not worse than B by 0.05 or more" in str(found)
    with pytest.raises(ValueError, match="margin must be less than"):
        compare_runs(y, scores, measures="hand_till", test=NonInferiority(2.0))
    some = {
        x: [np.where(np.arange(120)[:, None] < 9, np.nan, s) for s in of]
        for x, of in scores.items()
    }
    with pytest.raises(ValueError, match="covariances='delong' needs scores of all cases"):
        compare_runs(y, some, measures="hand_till", covariances="delong")


def test_unbiased_covariances_are_those_of_all_samples():
    """Their mean over all draws with replacement is the covariance of the areas in these draws."""
    positive, negative = np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([[0.0, 1.0], [2.0, 3.0]])
    y, values, estimates = np.array([0, 0, 1, 1]), [], []
    for rows in np.ndindex(2, 2, 2, 2):
        runs = np.concatenate([negative[[*rows[:2]]], positive[[*rows[2:]]]])
        scores = {"A": [runs[:, 0]] * 3, "B": [runs[:, 1]] * 3}
        found = compare_runs(y, scores, measures="hand_till", covariances="unbiased")
        values.append([found.values["A"][0], found.values["B"][0]])
        estimates.append([found.covariances.different, found.covariances.variance])
    covariance = np.cov(np.transpose(values), bias=True)
    expected = covariance[0, 1], np.trace(covariance) / 2
    np.testing.assert_allclose(np.mean(estimates, axis=0), expected, atol=1e-12)


@pytest.mark.parametrize("options", [{"measures": "accuracy"}, {"groups": np.arange(40) // 2}])
def test_unbiased_covariances_are_those_of_two_classes_without_groups(options):
    y, scores = np.arange(40) % 2, np.random.default_rng(0).random((6, 40))
    by = {"A": [*scores[:3]], "B": [*scores[3:]]}
    if options.get("measures"):
        by = {name: [np.stack([1 - s, s], axis=1) for s in of] for name, of in by.items()}
    with pytest.raises(ValueError, match="covariances='unbiased' is for"):
        compare_runs(y, by, **{"measures": "hand_till"} | options, covariances="unbiased")


@pytest.mark.parametrize("crossed", [True, False])
def test_three_runs_of_two_learners_by_hand(crossed):
    y, scores = runs()
    found = compare_runs(y, scores, measures="hand_till", crossed=crossed)
    values = np.array([[hand_till()(y, s) for s in of_one] for of_one in scores.values()])
    names = [f"{name}{run}" for name in scores for run in range(3)]
    flat = dict(zip(names, [s for of_one in scores.values() for s in of_one], strict=True))
    errors = {
        (d.first, d.second): d.standard_error**2
        for d in compare(y, flat, measures="hand_till").differences
    }

    def error_of_differences(a, b):
        return errors.get((a, b), errors.get((b, a)))

    # Var(X - Y) = 2 (variance - covariance): differences of the means say the same as covariances.
    between = np.mean(
        [error_of_differences(f"A{i}", f"B{j}") for i in range(3) for j in range(3) if i != j]
    )
    within = np.mean(
        [
            error_of_differences(f"{x}{i}", f"{x}{j}")
            for x in "AB"
            for i, j in [(0, 1), (0, 2), (1, 2)]
        ]
    )
    same = np.mean([error_of_differences(f"A{i}", f"B{i}") for i in range(3)])
    c = found.covariances
    if crossed:
        assert 2 * (c.variance - c.different) == pytest.approx(between, rel=1e-9)
        assert 2 * (c.variance - c.same_run) == pytest.approx(same, rel=1e-9)
    assert 2 * (c.variance - c.same_classifier) == pytest.approx(within, rel=1e-9)
    if crossed:
        differences = values[0] - values[1]
        mean_square = differences.var(ddof=1) / 2
        free = 2
    else:
        mean_square = values.var(axis=1, ddof=1).mean()
        free = 4
    error = mean_square + 3 * max(c.same_classifier - c.different, 0)
    gap = values[0].mean() - values[1].mean()
    [difference] = found.random_runs.differences
    assert difference.value == pytest.approx(gap, rel=1e-12)
    assert difference.standard_error == pytest.approx(np.sqrt(2 * error / 3), rel=1e-9)
    freedom = found.random_runs.degrees_of_freedom
    assert freedom == pytest.approx((1, free * (error / mean_square) ** 2))
    assert found.random_runs.p_value == pytest.approx(difference.p_value, rel=1e-9)


def test_fixed_cases_are_a_paired_t_test_of_the_runs():
    y, scores = runs(n_runs=5)
    found = compare_runs(y, scores, measures="hand_till")
    expected = stats.ttest_rel(found.values["A"], found.values["B"])
    [difference] = found.fixed_cases.differences
    assert difference.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert difference.interval == pytest.approx(expected.confidence_interval(), rel=1e-9)
    independent = compare_runs(y, scores, measures="hand_till", crossed=False)
    expected = stats.ttest_ind(found.values["A"], found.values["B"])
    assert independent.fixed_cases.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_runs_that_do_not_vary_show_their_difference_for_certain():
    y, scores = runs(n_runs=1, shifts=(1.5, 1.0, 1.0))
    same = {"A": scores["A"] * 3, "B": scores["B"] * 3, "C": scores["B"] * 3}
    test = compare_runs(y, same, measures="hand_till").fixed_cases
    assert [difference.p_value for difference in test.differences] == [0, 0, 1]
    assert [difference.standard_error for difference in test.differences] == [0, 0, 0]
    assert [d.probability_better for d in test.differences] == [1, 1, 0.5]


def test_plot_shows_every_difference_for_each_kind_of_new_data():
    y, scores = runs(n_runs=4)
    found = compare_runs(y, scores, measures="hand_till")
    display = found.plot(ax=Figure().subplots())
    tests = [found.random_runs, found.fixed_runs, found.fixed_cases]
    differences = [test.differences[0] for test in tests]
    assert [line.get_xdata()[0] for line in display.values_] == [d.value for d in differences]
    assert [tuple(x.get_xdata()) for x in display.intervals_] == [d.interval for d in differences]
    assert display.figure_ is display.ax_.figure


@pytest.mark.parametrize("crossed", [True, False])
def test_fixed_runs_are_the_mean_over_runs_as_one_measure(crossed):
    """For these runs, the variance of the difference of means is that of the mean influences."""
    y, scores = runs()
    found = compare_runs(y, scores, measures="hand_till", crossed=crossed)
    from dmfroc.extend import influences

    mean = {
        k: np.mean([influences("hand_till", y, s) for s in of_one], axis=0)
        for k, of_one in scores.items()
    }
    gap = mean["A"] - mean["B"]
    variance = sum(
        (y == c).sum() / ((y == c).sum() - 1) * (gap[y == c] ** 2).sum() for c in range(3)
    )
    [difference] = found.fixed_runs.differences
    assert difference.standard_error**2 == pytest.approx(variance, rel=1e-9)


@pytest.mark.parametrize("measure", ["accuracy", "brier_score"])
def test_random_class_sizes_count_in_the_error(measure):
    """The mean over runs of what a row loses is one more number of the row."""
    y, scores = runs(n=80)
    lean = {"A": [0.8, 0, 0], "B": [0, 0, 0.8]}  # learners favour different classes
    scores = {
        k: [np.exp(s + lean[k]) / np.exp(s + lean[k]).sum(1)[:, None] for s in of_one]
        for k, of_one in scores.items()
    }

    def losses(s):
        right = s.argmax(1) == y
        return right if measure == "accuracy" else ((s - np.eye(3)[y]) ** 2).sum(1) / 2

    gap = np.subtract(*(np.mean([losses(s) for s in v], axis=0) for v in scores.values()))
    [difference] = compare_runs(y, scores, measures=measure).fixed_runs.differences
    assert difference.value == pytest.approx(gap.mean())
    of_classes = [gap[y == c] for c in range(3)]
    within = sum(len(x) * x.var(ddof=1) for x in of_classes) / len(gap) ** 2
    between = sum(len(x) * (x.mean() - gap.mean()) ** 2 for x in of_classes) / len(gap) ** 2
    assert difference.standard_error == pytest.approx((within + between) ** 0.5)


@pytest.mark.parametrize("seed", range(3))
def test_two_runs_that_happen_to_vary_little_have_the_error_of_the_cases(seed):
    y, scores = runs(seed, n_runs=2, sd=0)
    found = compare_runs(y, scores, measures="hand_till")  # of its precision, no Python warning
    assert re.search("two runs of two learners .* three runs or more", found.warnings[-1])
    random, fixed = (t.differences[0] for t in (found.random_runs, found.fixed_runs))
    assert random.standard_error >= fixed.standard_error * (1 - 1e-12)


def test_runs_in_any_order_and_classifiers_in_any_order():
    y, scores = runs(shifts=(1.5, 1.2, 1.0))
    found = compare_runs(y, scores, measures="hand_till")
    turned = compare_runs(y, {k: scores[k][::-1] for k in "CBA"}, measures="hand_till")
    assert found.random_runs.statistic == pytest.approx(turned.random_runs.statistic, rel=1e-9)
    assert len(found.random_runs.differences) == 3
    assert len(found.to_pandas()) == 9
    assert "new cases, new runs" in str(found)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda s: list(s.values()), TypeError, "dict of lists"),
        (lambda s: {"A": s["A"]}, ValueError, "at least two classifiers"),
        (lambda s: s | {"B": s["B"][:2]}, ValueError, "equally many runs, but .*'A': 3, 'B': 2"),
        (lambda s: {k: v[:1] for k, v in s.items()}, ValueError, "at least two runs"),
    ],
)
def test_bad_runs_are_refused(change, kind, message):
    y, scores = runs()
    with pytest.raises(kind, match=message):
        compare_runs(y, change(scores), measures="hand_till")


@pytest.mark.parametrize("measure", ["auc", "accuracy", "cohen_kappa"])
@pytest.mark.parametrize("in_groups", [False, True])
def test_a_case_that_nobody_has_read_is_as_if_it_were_not_there(measure, in_groups):
    """Also of measures that depend on the class sizes, which are a matter of chance."""
    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.3).astype(int)
    groups = np.arange(200) // 4 if in_groups else None

    def scores(shift):
        p = 1 / (1 + np.exp(shift / 2 - rng.normal(size=200) - shift * y))
        return np.column_stack([1 - p, p])

    every = {name: [scores(shift) for _ in range(3)] for name, shift in (("a", 2), ("b", 1.5))}
    is_read = np.arange(200) != 5
    unread = {k: [np.where(is_read[:, None], x, np.nan) for x in v] for k, v in every.items()}
    without = {k: [x[is_read] for x in v] for k, v in every.items()}
    of_others = None if groups is None else groups[is_read]
    found = compare_runs(y, unread, measures=measure, groups=groups)
    expected = compare_runs(y[is_read], without, measures=measure, groups=of_others)
    for kind, test in expected.tests.items():
        for one, other in zip(found.tests[kind].differences, test.differences, strict=True):
            assert one.value == pytest.approx(other.value, abs=1e-12)
            assert one.standard_error == pytest.approx(other.standard_error, rel=1e-9)
