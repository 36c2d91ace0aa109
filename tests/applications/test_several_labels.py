"""Rows with several labels: scikit-learn's values, covariance between labels, missing entries."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics

import dmfroc

RNG = np.random.default_rng(0)
TOPIC = RNG.normal(size=(300, 1))
TRUE = (TOPIC + RNG.normal(size=(300, 4)) > [0.0, 0.5, 1.0, 1.8]).astype(int)
SCORES = TRUE + RNG.normal(size=(300, 4)) + 0.7 * TOPIC
OTHER = SCORES + RNG.normal(size=(300, 4))
HARD = (SCORES > 0.5).astype(int)
ONE = "classifier"
OF_SCORES = {
    "hand_till": metrics.roc_auc_score,
    "average_precision": metrics.average_precision_score,
}
OF_LABELS = {
    "f1": metrics.f1_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "jaccard": metrics.jaccard_score,
}


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("name", [*OF_SCORES, *OF_LABELS])
def test_values_are_those_of_scikit_learn(name, average):
    theirs, said = (OF_SCORES[name], SCORES) if name in OF_SCORES else (OF_LABELS[name], HARD)
    given = {"y_score": said} if name in OF_SCORES else {"y_pred": said}
    found = dmfroc.applications.multilabel(TRUE, measure=name, average=average, **given)
    assert found.estimates[ONE].value == pytest.approx(
        theirs(TRUE, said, average=average), abs=1e-12
    )
    of_labels = [e[ONE].value for e in found.by_label.values()]
    assert of_labels == pytest.approx(theirs(TRUE, said, average=None), abs=1e-12)
    weights = {"sample_weight": np.linspace(0.5, 2, len(TRUE))}
    found = dmfroc.applications.multilabel(TRUE, measure=name, average=average, **given, **weights)
    assert found.estimates[ONE].value == pytest.approx(
        theirs(TRUE, said, average=average, **weights), abs=1e-12
    )


@pytest.mark.slow
@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("name", ["hand_till", "f1"])
def test_errors_are_those_of_a_bootstrap_of_rows(name, average):
    theirs, said = (OF_SCORES[name], SCORES) if name in OF_SCORES else (OF_LABELS[name], HARD)
    given = {"y_score": said} if name in OF_SCORES else {"y_pred": said}
    rng = np.random.default_rng(1)
    draws = []
    for _ in range(600):
        rows = rng.integers(300, size=300)
        draws.append(theirs(TRUE[rows], said[rows], average=average))
    found = dmfroc.applications.multilabel(TRUE, measure=name, average=average, **given).estimates[
        ONE
    ]
    assert found.standard_error == pytest.approx(np.std(draws), rel=0.1)
    assert found.interval[0] < found.value < found.interval[1]


MAKERS = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pytest.importorskip("polars").DataFrame(columns),
    "pyarrow": lambda columns: pytest.importorskip("pyarrow").table(columns),
}


def named(maker, array, names="uvwx", order=(0, 1, 2, 3)):
    return MAKERS[maker]({names[place]: array[:, place] for place in order})


@pytest.mark.slow
@pytest.mark.parametrize("maker", MAKERS)
def test_columns_of_tables_are_matched_by_name(maker):
    expected = dmfroc.applications.multilabel(TRUE, SCORES, y_pred=HARD, labels=list("uvwx"))
    true, scores, hard = named(maker, TRUE), named(maker, SCORES, order=(2, 0, 3, 1)), HARD
    prefixed = named(maker, SCORES, ["p_u", "p_v", "p_w", "p_x"], (3, 2, 1, 0))
    hard = named(maker, HARD, order=(1, 0, 2, 3))
    for given in (
        dmfroc.applications.multilabel(true, scores),
        dmfroc.applications.multilabel(true, {"one": scores, "other": prefixed}),
        dmfroc.applications.multilabel(TRUE, {"one": named(maker, SCORES), "other": scores}),
        dmfroc.applications.multilabel(TRUE, scores, labels=list("uvwx")),
        dmfroc.applications.multilabel(
            named(maker, TRUE, order=(3, 1, 2, 0)), scores, labels=list("uvwx")
        ),
    ):
        assert list(given.by_label) == list("uvwx")
        for one in given.estimates.values():
            assert one.value == expected.estimates[ONE].value
    of_labels = dmfroc.applications.multilabel(true, y_pred=hard)
    assert of_labels.estimates == dmfroc.applications.multilabel(TRUE, y_pred=HARD).estimates
    # Names in another order than those of the truth
    turned = dmfroc.applications.multilabel(true, SCORES[:, ::-1], labels=list("xwvu"))
    assert list(turned.by_label) == list("xwvu")
    assert turned.estimates[ONE].value == pytest.approx(expected.estimates[ONE].value, rel=1e-12)


@pytest.mark.parametrize("maker", MAKERS)
def test_columns_with_other_names_are_refused(maker):
    true, scores = named(maker, TRUE), named(maker, SCORES, "abcd")
    wrong = r"columns and classes do not match by name: no column for class 'u', 'v', 'w', 'x'"
    with pytest.raises(ValueError, match=rf"^y_score: {wrong}"):
        dmfroc.applications.multilabel(true, scores)
    with pytest.raises(ValueError, match=rf"^y_score\['one'\]: {wrong}"):
        dmfroc.applications.multilabel(true, {"one": scores})
    with pytest.raises(ValueError, match=rf"^y_pred: {wrong}"):
        dmfroc.applications.multilabel(true, y_pred=named(maker, HARD, "abcd"))
    with pytest.raises(ValueError, match=r"^y_true: columns and classes do not match"):
        dmfroc.applications.multilabel(true, SCORES, labels=list("abcd"))
    with pytest.raises(ValueError, match=r"^y_score: .* no class for column 'w', 'x'"):
        dmfroc.applications.multilabel(named(maker, TRUE, order=(0, 1)), named(maker, SCORES))


def test_numbers_of_columns_are_names():
    expected = dmfroc.applications.multilabel(TRUE, SCORES).estimates
    turned = pd.DataFrame(SCORES)[[2, 3, 1, 0]]
    for scores in (turned, turned.add_prefix("p_")):
        for true in (TRUE, pd.DataFrame(TRUE)):
            found = dmfroc.applications.multilabel(true, scores)
            assert list(found.by_label) == list("0123")
            assert found.estimates == expected


def test_labels_that_are_copies_are_one():
    twice = dmfroc.applications.multilabel(TRUE[:, [0, 0]], SCORES[:, [0, 0]])
    once = dmfroc.estimate("hand_till", TRUE[:, 0], SCORES[:, 0])
    assert twice.estimates[ONE].value == pytest.approx(once.value)
    covariance = twice.label_covariances[ONE]
    assert covariance == pytest.approx(np.full((2, 2), covariance[0, 0]))
    assert twice.estimates[ONE].standard_error == pytest.approx(once.standard_error)
    [first, _] = twice.by_label.values()
    assert first[ONE].interval == once.interval


def test_a_mean_has_the_variance_of_the_covariances():
    found = dmfroc.applications.multilabel(TRUE, SCORES)
    covariance = found.label_covariances[ONE]
    assert covariance[0, 1] != 0
    error = np.sqrt(covariance.mean())
    assert found.estimates[ONE].standard_error == pytest.approx(error)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["hand_till", "max_informedness", "specificity_at", "f1"])
def test_micro_is_the_estimate_of_all_entries_in_groups(name):
    given = {"y_pred": HARD.ravel()}
    rows = np.repeat(np.arange(300), 4)
    plain = dmfroc.estimate(name, TRUE.ravel(), SCORES.ravel(), groups=rows, **given)
    [found] = dmfroc.applications.multilabel(
        TRUE, SCORES, y_pred=HARD, measure=name, average="micro"
    ).estimates.values()
    assert (found.value, found.interval) == (plain.value, plain.interval)
    assert found.bias_corrected == plain.bias_corrected


@pytest.mark.filterwarnings("ignore")
def test_what_is_known_of_labels_is_known_of_their_mean():
    rng = np.random.default_rng(4)
    y = (rng.random((300, 3)) < 0.3).astype(int)
    p = 1 / (1 + np.exp(-(rng.normal(size=(300, 3)) + 2 * y - 1.5)))
    for name in ("max_informedness", "brier_miscalibration", "expected_calibration_error"):
        found = dmfroc.applications.multilabel(y, p, measure=name)
        [mean] = found.estimates.values()
        labels = [x[ONE] for x in found.by_label.values()]
        corrected = [x.value if x.bias_corrected is None else x.bias_corrected for x in labels]
        assert mean.bias_corrected == pytest.approx(np.mean(corrected))
    [plain] = dmfroc.applications.multilabel(
        y, p, measure=dmfroc.measures.expected_calibration_error(debiased=True)
    ).estimates.values()
    assert plain.value == pytest.approx(mean.bias_corrected)
    assert plain.value < mean.value
    assert mean.interval[0] < plain.value


@pytest.mark.slow
def test_means_over_labels_of_few_positives_are_covered():
    """One stratum of rows hides that they are few."""
    rng, true, covers = np.random.default_rng(3), stats.norm.cdf(1.5 / 2**0.5), []
    for _ in range(20):
        y = np.zeros((400, 4), int)
        for label in range(4):
            y[rng.permutation(400)[:4], label] = 1
        [mean] = dmfroc.applications.multilabel(
            y, rng.normal(size=(400, 4)) + 1.5 * y
        ).estimates.values()
        covers.append(mean.interval[0] <= true <= mean.interval[1])
    assert np.mean(covers) > 0.85


def test_paired_differences():
    found = dmfroc.applications.multilabel(
        TRUE, {"a": SCORES, "b": OTHER}, measure="average_precision"
    )
    [d] = found.differences
    assert d.value == pytest.approx(
        metrics.average_precision_score(TRUE, SCORES) - metrics.average_precision_score(TRUE, OTHER)
    )
    apart = np.hypot(*(e.standard_error for e in found.estimates.values()))
    assert d.standard_error < 0.9 * apart
    of_label = dmfroc.compare(
        TRUE[:, 1], {"a": SCORES[:, 1], "b": OTHER[:, 1]}, measures="average_precision"
    ).differences[0]
    assert found.label_differences["1"][0].p_value == pytest.approx(of_label.p_value)


def test_missing_entries_are_left_out_of_their_label():
    table = pd.DataFrame(TRUE.astype(float), columns=list("abcd"))
    table.loc[::3, "b"] = np.nan
    found = dmfroc.applications.multilabel(table, SCORES)
    known = table["b"].notna().to_numpy()
    alone = dmfroc.estimate("hand_till", TRUE[known, 1], SCORES[known, 1])
    assert found.by_label["b"][ONE].interval == alone.interval
    micro = dmfroc.applications.multilabel(table, SCORES, average="micro").estimates[ONE]
    entries = table.notna().to_numpy()
    assert micro.value == pytest.approx(metrics.roc_auc_score(TRUE[entries], SCORES[entries]))
    assert "Missing entries: 100" in str(found)


def test_a_label_without_positives_is_left_out():
    none = np.c_[TRUE, np.zeros(300)]
    with pytest.warns(UserWarning, match="left out of the mean: '4'"):
        found = dmfroc.applications.multilabel(none, np.c_[SCORES, OTHER[:, 0]])
    assert (
        found.estimates[ONE].value
        == dmfroc.applications.multilabel(TRUE, SCORES).estimates[ONE].value
    )
    assert list(found.left_out) == ["4"]
    with pytest.raises(ValueError, match="no label has a value"):
        dmfroc.applications.multilabel(np.zeros((10, 2)), np.zeros((10, 2)))


def test_groups_are_units():
    twice = dmfroc.applications.multilabel(
        np.repeat(TRUE, 2, axis=0), np.repeat(SCORES, 2, axis=0), groups=np.arange(600) // 2
    )
    once = dmfroc.applications.multilabel(TRUE, SCORES)
    assert twice.estimates[ONE].value == pytest.approx(once.estimates[ONE].value)
    errors = [x.estimates[ONE].standard_error for x in (twice, once)]
    assert errors[0] == pytest.approx(errors[1], rel=0.01)


def test_result_is_whole(tmp_path):
    found = dmfroc.applications.multilabel(TRUE, {"a": SCORES, "b": OTHER}, simultaneous=True)
    found.to_html(tmp_path / "labels.html")
    assert found.best_set() == ("a",)
    assert len(found.to_pandas("labels")) == 8
    assert found.as_json()["average"] == "macro"
    found.plot_best_set()
    dmfroc.applications.multilabel(TRUE, SCORES).plot_best_set()


@pytest.mark.parametrize(
    ("arguments", "options", "kind", "message"),
    [
        ((TRUE + 1, SCORES), {}, ValueError, "must hold 0, 1 or missing"),
        ((TRUE[:, 0], SCORES), {}, ValueError, r"must have shape \(n, L\)"),
        ((TRUE, SCORES[:, :2]), {}, ValueError, "both must have a row"),
        ((TRUE, SCORES), {"measure": "f1"}, ValueError, "needs predicted labels"),
        ((TRUE, SCORES), {"average": "mean"}, ValueError, "average must be"),
        ((TRUE, SCORES), {"labels": ["a"]}, ValueError, "labels must name"),
        ((TRUE, np.where(SCORES > 2, np.nan, SCORES)), {}, ValueError, "is missing in row"),
        ((TRUE,), {}, TypeError, "give y_score"),
        ((TRUE,), {"y_pred": SCORES}, ValueError, "0 and 1 only"),
        ((TRUE, {1: SCORES}), {}, TypeError, "must be strings"),
        ((TRUE, SCORES), {"groups": np.zeros(300)}, ValueError, "one group only"),
    ],
)
def test_errors(arguments, options, kind, message):
    with pytest.raises(kind, match=message):
        dmfroc.applications.multilabel(*arguments, **options)


def test_picture_has_each_label_and_hollow_their_mean():
    found = dmfroc.applications.multilabel(TRUE, SCORES, labels=["art", "law", "war", "sea"])
    rows = found.plot().rows
    assert [row.name for row in rows] == ["art", "law", "war", "sea", "macro average"]
    assert [row.value for row in rows[:-1]] == [e[ONE].value for e in found.by_label.values()]
    assert [row.is_filled for row in rows] == [True] * 4 + [False]
    assert (
        dmfroc.applications.multilabel(TRUE, {"a": SCORES, "b": OTHER})
        .plot()
        .comparison.differences
    )


def test_the_report_of_one_classifier():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=(60, 3))
    one = dmfroc.applications.multilabel(
        y, y + rng.normal(size=(60, 3)), labels=["art", "law", "war"]
    )
    for found, name in (
        (one, "classifier"),
        (dmfroc.applications.items({"a": [1] * 30 + [0] * 10}), "a"),
    ):
        page = found.to_html()
        estimate = found.estimates[name]
        assert f"{found.title} of {name}" in page
        assert f"{estimate.value:.3f}" in page
    assert "war" in one.to_html()


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_the_order_of_two_classifiers_turns_a_difference_alone(average):
    y, scores = TRUE[:40, :3], {"a": SCORES[:40, :3], "b": OTHER[:40, :3]}
    found, turned = (
        dmfroc.applications.multilabel(y, dict(x), average=average).differences[0]
        for x in (scores.items(), reversed(scores.items()))
    )
    low, high = found.interval
    assert turned.interval == pytest.approx((-high, -low))
    assert turned.p_value == pytest.approx(found.p_value)


def test_recall_weighted_by_support_is_that_of_all_entries():
    """Which has intervals of its own: the shares of the labels are a matter of chance in both."""
    both = {"a": HARD, "b": (OTHER > 0.5).astype(int)}
    weighted, micro = (
        dmfroc.applications.multilabel(TRUE, y_pred=both, measure="recall", average=average)
        for average in ("weighted", "micro")
    )
    for a, b in zip(
        [*weighted.values(), *weighted.differences],
        [*micro.values(), *micro.differences],
        strict=True,
    ):
        assert a.value == pytest.approx(b.value)
        assert a.standard_error == pytest.approx(b.standard_error, rel=0.03)
        assert a.interval == pytest.approx(b.interval, abs=0.15 * np.ptp(b.interval))


@pytest.mark.parametrize("weights", [np.zeros(300), np.ones(299), np.full(300, np.inf)])
def test_weights_of_rows_are_checked(weights):
    with pytest.raises(ValueError, match="sample_weight must be 300 finite numbers above 0"):
        dmfroc.applications.multilabel(TRUE, SCORES, sample_weight=weights)


def test_what_limits_the_precision_alone_is_no_python_warning():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=(60, 2))
    with warnings.catch_warnings(action="error"):
        found = dmfroc.applications.multilabel(
            y, y + rng.normal(size=(60, 2)), groups=np.arange(60) // 10
        )
    assert found.warnings[0].startswith("collect more groups of observations: 6 are few")


@pytest.mark.parametrize("measure", ["accuracy", "f1"])
def test_the_mean_of_one_label_is_as_uncertain_as_the_label(measure):
    given = {"y_true": TRUE[:12, :1], "y_pred": HARD[:12, :1], "measure": measure}
    for average in ("macro", "weighted"):
        found = dmfroc.applications.multilabel(**given, average=average)
        [of_label] = found.by_label.values()
        assert found[ONE].standard_error == pytest.approx(of_label[ONE].standard_error)
