"""Few verified labels with a judge, and other populations than the sample's."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics

import dmfroc
from dmfroc import Predictions
from dmfroc.analyses.evidence import _facts_of_few
from dmfroc.inference.evidence import facts_of
from dmfroc.inference.influences import influences_of, moments_of
from dmfroc.inference.units import sample_of
from dmfroc.inputs.class_shares import class_shares
from dmfroc.measures.measure import bind

RNG = np.random.default_rng(0)
N, N_VERIFIED = 2000, 200
TRUE = RNG.choice(3, N, p=[0.5, 0.3, 0.2])
SCORES = RNG.normal(size=(N, 3)) + 1.3 * np.eye(3)[TRUE]
OTHER = SCORES + RNG.normal(size=(N, 3))
JUDGE = np.where(RNG.random(N) < 0.85, TRUE, RNG.integers(3, size=N))
IS_VERIFIED = np.arange(N) < N_VERIFIED
HIDDEN = np.where(IS_VERIFIED, TRUE.astype(float), np.nan)
MEASURES = ["hand_till", "dmf_auc", "informedness", "average_precision", "accuracy"]
TWO = (RNG.random(800) < 0.5).astype(int)
P = 1 / (1 + np.exp(-(RNG.normal(size=800) + 2 * TWO - 1)))
HARD = (P > 0.6).astype(int)
FOLDS = np.arange(800) % 5


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURES)
def test_the_value_is_the_combination(name):
    found = dmfroc.estimate(name, HIDDEN, SCORES, judge=JUDGE)
    verified, on_all, on_verified = (
        dmfroc.estimate(name, y, s).value
        for y, s in (
            (TRUE[IS_VERIFIED], SCORES[IS_VERIFIED]),
            (JUDGE, SCORES),
            (JUDGE[IS_VERIFIED], SCORES[IS_VERIFIED]),
        )
    )
    labels = found.judge
    weight = labels.lambda_ / (1 - N_VERIFIED / N)
    assert found.value == pytest.approx(verified + weight * (on_all - on_verified))
    assert (labels.verified_value, labels.judge_value) == pytest.approx((verified, on_all))
    alone = dmfroc.estimate(name, TRUE[IS_VERIFIED], SCORES[IS_VERIFIED])
    assert labels.verified_error == pytest.approx(alone.standard_error)
    assert found.standard_error < 0.95 * alone.standard_error
    assert labels.effective_labels > 1.1 * N_VERIFIED
    assert found.interval[0] < found.value < found.interval[1]


@pytest.mark.parametrize("name", [m for m in MEASURES if m != "dmf_auc"])  # its thresholds move
def test_verified_rows_add_what_is_missing_without_them(name):
    measure = dmfroc.measures.MEASURES[name]
    y, scores = TRUE[IS_VERIFIED], SCORES[IS_VERIFIED]
    predictions = dmfroc.Predictions.from_arrays(y, scores)
    bound = bind(measure, predictions)
    [plain] = influences_of([measure], bound, predictions)
    found = _facts_of_few(measure, sample_of(predictions)).influences.influences
    without = [measure(*(np.delete(x, row, axis=0) for x in (y, scores))) for row in range(40)]
    n = N_VERIFIED
    np.testing.assert_allclose(
        found[:40], (n - 1) / n * (plain.value - np.array(without)), atol=1e-9
    )
    if name == "accuracy":  # a mean
        np.testing.assert_allclose(found, plain.influences, atol=1e-12)
    assert 0 <= found.std() / plain.influences.std() - 1 < 0.1


def test_accuracy_is_ppi():
    """The mean of rows that are right or wrong is a case that others have in closed form."""
    predicted = SCORES.argmax(axis=1)
    y = (predicted == TRUE)[IS_VERIFIED] * 1.0
    f = (predicted == JUDGE) * 1.0
    n, m = N_VERIFIED, N - N_VERIFIED
    weight = np.cov(y, f[IS_VERIFIED])[0, 1] / (f.var(ddof=1) * (1 + n / m))
    value = y.mean() + weight * (f[~IS_VERIFIED].mean() - f[IS_VERIFIED].mean())
    found = dmfroc.estimate("accuracy", HIDDEN, SCORES, judge=JUDGE)
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.judge.lambda_ == pytest.approx(weight, abs=1e-9)
    parts = (y - weight * f[IS_VERIFIED]).var(ddof=1) / n, weight**2 * f[~IS_VERIFIED].var() / m
    assert found.standard_error == pytest.approx(np.sqrt(sum(parts)), rel=0.03)


def test_a_perfect_judge_is_nearly_all_labels_and_a_useless_one_none():
    perfect = dmfroc.estimate("hand_till", HIDDEN, SCORES, judge=TRUE)
    whole = dmfroc.estimate("hand_till", TRUE, SCORES)
    assert perfect.standard_error == pytest.approx(whole.standard_error, rel=0.1)
    noise = RNG.permutation(TRUE)
    useless = dmfroc.estimate("hand_till", HIDDEN, SCORES, judge=noise)
    assert abs(useless.judge.lambda_) < 0.15
    assert useless.standard_error < 1.02 * useless.judge.verified_error


def test_a_judge_that_follows_from_the_scores_has_no_weight():
    """Its AUC is 1 on all rows, and on the verified ones."""
    hidden = np.where(IS_VERIFIED[:800], TWO, np.nan)
    found = dmfroc.estimate("hand_till", hidden, P, judge=HARD)
    verified = dmfroc.estimate("hand_till", TWO[:N_VERIFIED], P[:N_VERIFIED])
    assert (found.judge.lambda_, found.judge.judge_value) == (0, 1)
    assert found.value == pytest.approx(verified.value, rel=1e-12)
    assert any("the judge's labels follow from these scores" in x for x in found.warnings)


def test_all_verified_is_the_plain_value():
    found = dmfroc.estimate("hand_till", TRUE, SCORES, judge=JUDGE)
    assert found.value == pytest.approx(dmfroc.estimate("hand_till", TRUE, SCORES).value)


@pytest.mark.slow
def test_evaluate_and_compare(tmp_path):
    evaluation = dmfroc.evaluate(HIDDEN, SCORES, judge=JUDGE, measures=MEASURES)
    assert list(evaluation.to_pandas("judge")["n_verified"]) == [N_VERIFIED] * len(MEASURES)
    assert evaluation.to_pandas("agreement")["count"].sum() == N_VERIFIED
    evaluation.to_html(tmp_path / "one.html")
    evaluation.plot()
    scores = {"a": SCORES, "b": OTHER}
    comparison = dmfroc.compare(HIDDEN, scores, measures="hand_till", judge=JUDGE)
    assert comparison.estimates["a"].value == evaluation.estimates["hand_till"].value
    [d] = comparison.differences
    apart = np.hypot(*(e.standard_error for e in comparison.estimates.values()))
    assert d.standard_error < apart
    verified = dmfroc.compare(
        TRUE[IS_VERIFIED], {"a": SCORES[IS_VERIFIED], "b": OTHER[IS_VERIFIED]}, measures="hand_till"
    ).differences[0]
    assert d.standard_error < verified.standard_error
    comparison.to_html(tmp_path / "two.html")
    assert len(comparison.to_pandas("judge")) == 2
    str(comparison), comparison.plot(), comparison.best_set()


def test_labels_of_any_kind():
    names = np.array(["ash", "elm", "fir"], object)
    text = np.where(IS_VERIFIED, names[TRUE], None)
    found = dmfroc.estimate("hand_till", text, SCORES, judge=names[JUDGE])
    assert found.value == dmfroc.estimate("hand_till", HIDDEN, SCORES, judge=JUDGE).value
    series = pd.Series(HIDDEN, dtype="Int64")
    assert dmfroc.estimate("hand_till", series, SCORES, judge=JUDGE).value == found.value


@pytest.mark.parametrize(("n_verified", "is_few"), [(200, True), (1000, False)])
def test_few_rows_on_which_a_good_judge_errs(n_verified, is_few):
    rng = np.random.default_rng(4)
    true = rng.choice(3, 4000, p=[0.5, 0.3, 0.2])
    scores = rng.normal(size=(4000, 3)) + np.eye(3)[true]
    judge = np.where(rng.random(4000) < 0.95, true, (true + 1) % 3)
    hidden = np.where(np.arange(4000) < n_verified, true, np.nan)
    found = dmfroc.estimate("average_precision", hidden, scores, judge=judge)
    assert any("the few on which the judge errs" in x for x in found.warnings) == is_few


POINTS = ["sensitivity_at", "specificity_at", "fpr_at", "precision_at", "accuracy_at_coverage"]


@pytest.mark.parametrize("name", [*POINTS, "precision_at_k", "recall_at"])
def test_thresholds_are_estimated_with_a_judge_too(name):
    """NumPy refused weights of all rows for scores of the verified ones."""
    hidden = np.where(np.arange(800) < 200, TWO.astype(float), np.nan)
    judge = np.where(np.random.default_rng(3).random(800) < 0.95, TWO, 1 - TWO)
    probabilities = np.column_stack([1 - P, P])
    found = dmfroc.estimate(name, hidden, probabilities, judge=judge)
    alone = dmfroc.estimate(name, TWO[:200], probabilities[:200])
    low, high = found.interval
    assert 0 <= low <= found.value <= high <= 1
    assert high - low < (1.7 if name in POINTS else 1.05) * np.ptp(alone.interval)
    # A number of rows is the same share of all as of the verified ones
    whole = dmfroc.estimate(name, TWO, probabilities).value
    of_rows = {"precision_at_k": dmfroc.measures.precision_at_k(40)}
    if name != "recall_at":
        whole = dmfroc.estimate(of_rows.get(name, name), TWO, probabilities).value
        assert found.value == pytest.approx(whole, abs=2.5 * found.standard_error + 0.02)


def test_a_value_with_a_judge_stays_in_its_range():
    """The weight of the judge can carry it further, as where the derivative all but vanishes."""
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=1500)
    p = 1 / (1 + np.exp(-(3 * rng.normal(size=1500) + 8 * y - 4)))
    judge = np.where(rng.random(1500) < 0.9, 1 - y, y)
    hidden = np.where(np.arange(1500) < 100, y, np.nan)
    for name in ("entropy_predicted", "evenness_predicted", "brier_reliability", "accuracy"):
        with warnings.catch_warnings(action="ignore"):
            found = dmfroc.estimate(name, hidden, np.column_stack([1 - p, p]), judge=judge)
        low, high = dmfroc.measures.MEASURES[name].range_in(
            dmfroc.Predictions.from_arrays(y, np.column_stack([1 - p, p]))
        )
        assert low <= found.interval[0] <= found.value <= found.interval[1] <= high
        assert np.ptp(found.interval) > found.standard_error
        assert abs(found.judge.lambda_) <= 2.5


def test_warnings_about_scores_are_those_of_verified_rows():
    """A judge worse than chance does not say that score columns may be swapped, let alone twice."""
    hidden = np.where(np.arange(800) < 300, TWO.astype(float), np.nan)
    for judge, scores, n_warnings in ((1 - TWO, P, 0), (TWO, 1 - P, 1)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            dmfroc.estimate("hand_till", hidden, scores, judge=judge)
        assert sum("is larger in class" in str(x.message) for x in caught) == n_warnings


@pytest.mark.slow
@pytest.mark.parametrize("judge", [np.zeros(N, int), np.where(np.arange(N) == N - 1, 1, 0)])
@pytest.mark.parametrize("name", [*MEASURES[:-1], "max_informedness", "calibration_slope"])
def test_a_judge_that_gives_one_label_has_no_weight(judge, name):
    if name == "calibration_slope":
        name = dmfroc.measures.calibration_slope(pos_label=1)
    probabilities = np.exp(SCORES) / np.exp(SCORES).sum(axis=1, keepdims=True)
    with warnings.catch_warnings(action="ignore"):
        found = dmfroc.estimate(name, HIDDEN, probabilities, judge=judge)
        alone = dmfroc.estimate(name, TRUE[IS_VERIFIED], probabilities[IS_VERIFIED])
        both = dmfroc.compare(HIDDEN, {"a": SCORES, "b": OTHER}, measures="hand_till", judge=judge)
    assert found.value == pytest.approx(alone.value)
    assert found.standard_error == pytest.approx(alone.standard_error, rel=0.1)
    assert any("its weight is 0" in x for x in found.warnings)
    assert both.estimates["a"].judge.lambda_ == 0


def test_rows_of_weight_zero_count_for_nothing_beside_a_judge():
    weights = (np.arange(N) % 7 > 0) * 1.0
    kept, groups = weights > 0, np.arange(N) // 2
    in_strata = dmfroc.Judge(JUDGE, strata=groups % 2)
    for given in ({"judge": JUDGE}, {"judge": JUDGE, "groups": groups}, {"judge": in_strata}):
        with warnings.catch_warnings(action="ignore"):
            found = dmfroc.estimate("hand_till", HIDDEN, SCORES, sample_weight=weights, **given)
            of_kept = {x: values[kept] for x, values in given.items()}
            plain = dmfroc.estimate("hand_till", HIDDEN[kept], SCORES[kept], **of_kept)
        if given["judge"] is not in_strata:  # whose shares are those of all rows
            assert found.value == pytest.approx(plain.value)
            assert found.interval == pytest.approx(plain.interval)


def test_strata_do_not_borrow_from_rows_that_nobody_verified():
    """Near perfection their intervals were the whole range: (0.00009, 1) for M of 0.9999."""
    rng = np.random.default_rng(4)
    y = rng.integers(2, size=4000)
    p = 1 / (1 + np.exp(-(2 * rng.normal(size=4000) + 12 * y - 6)))
    strata = np.searchsorted([0.9, 0.99, 0.9999], np.maximum(p, 1 - p))
    is_verified = np.zeros(4000, bool)
    for stratum, size in enumerate((16, 30, 60, 150)):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        is_verified[rows[:size]] = True
    hidden = np.where(is_verified, y, np.nan)
    judge = np.where(rng.random(4000) < 0.98, y, 1 - y)
    for name, most in (("hand_till", 0.08), ("brier_score", 0.08), ("log_loss", 0.8)):
        with warnings.catch_warnings(action="ignore"):
            found = dmfroc.estimate(
                name, hidden, np.column_stack([1 - p, p]), judge=dmfroc.Judge(judge, strata=strata)
            )
        assert np.ptp(found.interval) < most


@pytest.mark.parametrize("name", ["hand_till", "average_precision", "accuracy"])
def test_unseen_errors_are_counted_among_the_rows_that_were_drawn(name):
    true = np.tile([0, 1], 500)
    site = (np.arange(1000) < 200).astype(int)
    current = np.where(site == 1, np.arange(1000) < 60, np.arange(1000) % 20 < 2)  # 3 and 1 in 10
    y = np.where(current, true.astype(float), np.nan)
    scores = np.eye(2)[true] * 0.9 + 0.05
    found = dmfroc.estimate(name, y, scores, judge=dmfroc.Judge(np.zeros(1000), strata=site))
    plain = dmfroc.estimate(name, true[current], scores[current])
    assert found.judge.n_verified == current.sum() == 140
    assert found.value == plain.value == 1
    # An unseen row has the weight of an average unit of Kish's effective sizes
    weights = np.where(site == 1, 200 / 60, 800 / 80)[current]
    n_effective = weights.sum() ** 2 / (weights**2).sum()
    lost = 1 - plain.interval[0]
    assert 1 - found.interval[0] == pytest.approx(lost * len(weights) / n_effective, rel=0.02)


def test_ends_of_a_ratio_of_few_events_keep_their_meaning():
    """A logarithm of a value below its standard error led to ends near 1e10."""
    rng = np.random.default_rng([7, 8])
    for _ in range(12):
        y = (rng.random(2000) < 0.04).astype(int)
        score = rng.normal(size=2000) + 2 * y
        odds = 0.04 / 0.96 * np.exp(2 * score - 2)
        judge = np.where(rng.random(2000) < 0.97, y, 1 - y)
        hidden = np.where(np.arange(2000) < 200, y, np.nan)
        probabilities = np.column_stack([1 / (1 + odds), odds / (1 + odds)])
        with warnings.catch_warnings(action="ignore"):
            found = dmfroc.estimate("observed_expected_ratio", hidden, probabilities, judge=judge)
        if y[:200].sum() > 2:
            assert 0 <= found.interval[0] < found.interval[1] < 8


def test_groups_with_a_judge():
    rows = np.repeat(np.arange(N), 2)
    twice = dmfroc.estimate("accuracy", HIDDEN[rows], SCORES[rows], judge=JUDGE[rows], groups=rows)
    once = dmfroc.estimate("accuracy", HIDDEN, SCORES, judge=JUDGE)
    assert twice.value == pytest.approx(once.value)
    assert twice.standard_error == pytest.approx(once.standard_error, rel=0.02)


def test_rows_that_were_not_drawn_at_random():
    easy = SCORES.max(axis=1) > np.median(SCORES.max(axis=1))
    probability = np.where(easy, 0.3, 0.05)
    drawn = np.where(RNG.random(N) < probability, TRUE.astype(float), np.nan)
    with pytest.warns(UserWarning, match="probability="):
        biased = dmfroc.estimate("accuracy", drawn, SCORES, judge=JUDGE)
    found = dmfroc.estimate(
        "accuracy", drawn, SCORES, judge=dmfroc.Judge(JUDGE, probability=probability)
    )
    truth = dmfroc.estimate("accuracy", TRUE, SCORES).value
    assert found.interval[0] < truth < found.interval[1]
    assert abs(found.judge.verified_value - truth) < abs(biased.judge.verified_value - truth)


def test_strata_have_the_variance_of_stratified_sampling():
    """Cochran's two phases: that of all rows, and within strata that of the verified ones."""
    rng = np.random.default_rng(3)
    n = 4000
    stratum = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    y = (rng.random(n) < 0.5).astype(int)
    predicted = np.where(rng.random(n) < np.array([0.97, 0.8, 0.3])[stratum], y, 1 - y)
    right = (predicted == y) * 1.0
    is_verified = np.zeros(n, bool)
    for place, size in enumerate((120, 150, 130)):
        is_verified[rng.choice(np.flatnonzero(stratum == place), size, replace=False)] = True
    hidden = np.where(is_verified, y, np.nan)
    names = np.array(["easy", "hard", "odd"])[stratum]
    judge = rng.permutation(y)  # says nothing, so that the value is that of the verified rows
    found = dmfroc.estimate(
        "accuracy", hidden, y_pred=predicted, judge=dmfroc.Judge(judge, strata=names)
    )
    means = np.array([right[is_verified & (stratum == s)].mean() for s in range(3)])
    sizes, verified = np.bincount(stratum), np.bincount(stratum, is_verified)
    value = sizes @ means / n
    assert found.judge.verified_value == pytest.approx(value)
    within = means * (1 - means) * verified / (verified - 1)
    between = sizes / n @ (means - value) ** 2 / n
    error = np.sqrt(((sizes / n) ** 2 * within / verified).sum() + between)
    assert found.standard_error == pytest.approx(error, rel=0.02)
    assert found.judge.verified_error == pytest.approx(error, rel=0.01)
    alike = dmfroc.estimate(
        "accuracy",
        hidden,
        y_pred=predicted,
        judge=dmfroc.Judge(judge, probability=(verified / sizes)[stratum]),
    )
    assert alike.value == pytest.approx(found.value, abs=0.01)
    assert found.standard_error < 0.92 * alike.standard_error
    both = dmfroc.compare(
        hidden, y_pred={"a": predicted, "b": rng.permutation(predicted)}, measures="accuracy",
        judge=dmfroc.Judge(judge, strata=names),
    )  # fmt: skip
    assert both.estimates["a"].standard_error == pytest.approx(found.standard_error)


@pytest.mark.parametrize("name", ["average_precision", "f1", "accuracy", "brier_score"])
def test_prevalence_is_that_of_repeated_rows(name):
    repeats = np.where(TWO == 1, 1, 99)
    n_positive, n_negative = (TWO == 1).sum(), 99 * (TWO == 0).sum()
    share = n_positive / (n_positive + n_negative)
    rows = np.repeat(np.arange(800), repeats)
    long = dmfroc.estimate(name, TWO[rows], P[rows], y_pred=HARD[rows]).value
    found = dmfroc.estimate(name, TWO, P, y_pred=HARD, population=share)
    assert found.value == pytest.approx(long, abs=1e-9)
    assert found.class_sizes == "fixed"
    named = dmfroc.estimate(name, TWO, P, y_pred=HARD, population={0: 1 - share, 1: share})
    assert named.interval == found.interval
    given = dmfroc.estimate(name, TWO, P, y_pred=HARD, population=dmfroc.Importance(repeats))
    assert given.value == pytest.approx(long, abs=1e-9)


def test_rounded_shares_are_made_to_add_up_to_one():
    shares = class_shares([0.2, 0.8 + 5e-7], Predictions.from_arrays(TWO, P))
    assert shares.sum() == pytest.approx(1, abs=1e-15)
    assert shares[1] / shares[0] == pytest.approx((0.8 + 5e-7) / 0.2, rel=1e-12)


def test_f1_at_one_per_cent_in_closed_form():
    recall = (HARD[TWO == 1] == 1).mean()
    fallout = (HARD[TWO == 0] == 1).mean()
    tp, fp, fn = 0.01 * recall, 0.99 * fallout, 0.01 * (1 - recall)
    found = dmfroc.estimate("f1", TWO, P, y_pred=HARD, population=0.01)
    assert found.value == pytest.approx(2 * tp / (2 * tp + fp + fn), abs=1e-12)


def test_measures_without_prevalence_stay():
    for name in ("hand_till", "recall"):
        plain = dmfroc.estimate(name, TWO, P, y_pred=HARD)
        found = dmfroc.estimate(name, TWO, P, y_pred=HARD, population=0.01)
        assert found.value == pytest.approx(plain.value, abs=1e-9)
        assert found.standard_error == pytest.approx(plain.standard_error, rel=0.01)


def test_prevalence_of_three_classes_and_of_comparisons():
    shares = {0: 0.2, 1: 0.3, 2: 0.5}
    predicted = SCORES.argmax(axis=1)
    recalls = metrics.recall_score(TRUE, predicted, average=None)
    found = dmfroc.evaluate(TRUE, SCORES, measures=["accuracy"], population=shares)
    assert found.estimates["accuracy"].value == pytest.approx(recalls @ list(shares.values()))
    comparison = dmfroc.compare(
        TRUE, {"a": SCORES, "b": OTHER}, measures="accuracy", population=list(shares.values())
    )
    assert comparison.estimates["a"].interval == found.estimates["accuracy"].interval
    boot = dmfroc.estimate(
        "accuracy", TRUE, SCORES, population=shares, method=dmfroc.Bootstrap(500)
    )
    error = found.estimates["accuracy"].standard_error
    assert boot.standard_error == pytest.approx(error, rel=0.15)


def test_plan_with_a_judge():
    pilot = dmfroc.Predictions.from_arrays(TRUE, SCORES)
    alone = dmfroc.applications.plan(pilot, measure="accuracy", half_width=0.03)
    found = dmfroc.applications.plan(pilot, measure="accuracy", half_width=0.03, judge=JUDGE)
    predicted = SCORES.argmax(axis=1)
    correlation = np.corrcoef(predicted == TRUE, predicted == JUDGE)[0, 1]
    # But an unseen row costs as much as alone: the judge errs on it, too
    assert 1 < found.n / (alone.n * (1 - correlation**2)) < 1.15
    two = {"a": pilot, "b": dmfroc.Predictions.from_arrays(TRUE, OTHER)}
    both = [
        dmfroc.applications.plan(two, measure="hand_till", difference=0.02, judge=j).n
        for j in (None, JUDGE)
    ]
    assert both[1] < both[0]
    with pytest.raises(ValueError, match="a classifier or a judge is perfect"):
        dmfroc.applications.plan(pilot, measure="hand_till", half_width=0.03, judge=TRUE)
    with pytest.raises(ValueError, match="judge has labels not in labels=: 3, first at row"):
        dmfroc.applications.plan(pilot, measure="accuracy", half_width=0.03, judge=JUDGE + 1)
    with pytest.raises(ValueError, match="y_true has 2000 rows but judge has 1999"):
        dmfroc.applications.plan(pilot, measure="accuracy", half_width=0.03, judge=JUDGE[1:])


@pytest.mark.parametrize("is_importance", [True, False])
def test_few_rows_with_the_weight(is_importance):
    weights = np.where(np.arange(800) < 12, 1000.0, 0.01)
    options = {"sample_weight": weights}
    if is_importance:
        options = {"population": dmfroc.Importance(weights)}
    with pytest.warns(UserWarning, match="800 rows count as 12 of equal weight"):
        dmfroc.estimate("accuracy", TWO, P, y_pred=HARD, **options)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({}, ValueError, "missing label at row 200.*judge="),
        ({"judge": HIDDEN}, ValueError, "a judge must label all rows"),
        ({"judge": JUDGE[:-1]}, ValueError, "judge has 1999"),
        ({"judge": JUDGE, "population": [0.2, 0.3, 0.5]}, ValueError, "leave one out"),
        ({"judge": JUDGE, "method": "bootstrap"}, ValueError, "method='jackknife' alone"),
        (
            {"judge": dmfroc.Judge(JUDGE, strata=IS_VERIFIED)},
            ValueError,
            "no row of False is verified",
        ),
        (
            {"judge": dmfroc.Judge(JUDGE, strata=np.arange(N) % 2), "groups": np.arange(N) // 2},
            ValueError,
            "several strata",
        ),
        ({"judge": dmfroc.Judge(JUDGE, probability=np.zeros(N))}, ValueError, "above 0"),
    ],
)
def test_errors_with_a_judge(options, kind, message):
    with pytest.raises(ValueError, match="leave probability out"):
        dmfroc.Judge(JUDGE, probability=np.ones(N), strata=JUDGE)
    with pytest.raises(kind, match=message):
        dmfroc.estimate("accuracy", HIDDEN, SCORES, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": {0: 0.5, 7: 0.5}}, "names 7"),
        ({"population": {0: 0.5, 1: 0.6}}, "add up to 1"),
        ({"population": [0.5, 0.3, 0.2]}, "each of the 2 classes"),
        ({"population": {0: 1.0, 1: 0.0}}, "two classes or more"),
        ({"population": 0.5, "stratify": False}, "leave stratify=False out"),
        (
            {"population": dmfroc.Importance(-np.ones(800))},
            "importance is -1.0 at row 0 .* must be finite and >= 0",
        ),
        ({"population": dmfroc.Importance(np.zeros(800))}, "importance is zero in every row"),
        ({"population": dmfroc.Importance(np.ones(3))}, "y_true has 800 rows but importance has 3"),
    ],
)
def test_errors_of_populations(options, message):
    with pytest.raises(ValueError, match=message):
        dmfroc.estimate("accuracy", TWO, P, y_pred=HARD, **options)


def of_target(n, share, seed):
    """Draw classes, two columns of probabilities and features of another population."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    x = rng.normal(size=(n, 2)) + np.column_stack([1.5 * y, 0 * y])
    p = 1 / (1 + np.exp(1.1 - 1.5 * x[:, 0]))
    return y, np.column_stack([1 - p, p]), x


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the class shares")
@pytest.mark.parametrize("option", ["shares", "importance"])
def test_errors_of_estimated_populations_are_those_of_a_bootstrap(option):
    y, p, x = of_target(500, 0.5, 1)
    _, q, z = of_target(400, 0.25, 2)
    rng = np.random.default_rng(3)

    def value(rows, others):
        population = q[others] if option == "shares" else dmfroc.Importance(x[rows], z[others])
        return dmfroc.estimate("average_precision", y[rows], p[rows], population=population)

    found = value(slice(None), slice(None))
    draws = []
    for _ in range(150):
        rows = np.concatenate([rng.choice(np.flatnonzero(y == k), (y == k).sum()) for k in (0, 1)])
        draws.append(value(rows, rng.integers(400, size=400)).value)
    assert found.standard_error == pytest.approx(np.std(draws), rel=0.2)
    if option == "shares":
        fixed = dmfroc.estimate("average_precision", y, p, population=0.25)
        assert found.standard_error > 1.2 * fixed.standard_error


def test_estimated_shares_are_those_of_the_target():
    y, p, _ = of_target(4000, 0.5, 4)
    truth, q, _ = of_target(4000, 0.1, 5)
    with pytest.warns(UserWarning, match="class shares in the target, .* uncertain"):
        dmfroc.estimate("accuracy", y, p, population=q[:30])
    found = dmfroc.estimate("accuracy", y, p, population=q)
    direct = dmfroc.estimate("accuracy", truth, q)
    both = np.hypot(found.standard_error, direct.standard_error)
    assert abs(found.value - direct.value) < 3 * both
    given = dmfroc.estimate("accuracy", y, p, population=truth.mean())
    assert given.value == pytest.approx(found.value, abs=0.01)
    decided, new = (2 * np.eye(2)[(x[:, 1] > 0.5).astype(int)] for x in (p, q))  # no probabilities
    by_label = dmfroc.estimate("accuracy", y, decided, population=new)
    assert by_label.value == pytest.approx(found.value, abs=0.02)


@pytest.mark.filterwarnings("ignore:the class shares")
def test_comparisons_in_an_estimated_population():
    y, p, x = of_target(400, 0.5, 6)
    _, q, z = of_target(300, 0.3, 7)
    scores = {"a": p, "b": p[:, ::-1] * 0.3 + p * 0.7}
    one = dmfroc.compare(
        y, scores, measures="average_precision", population=dmfroc.Importance(x, z)
    )
    alone = dmfroc.estimate("average_precision", y, p, population=dmfroc.Importance(x, z))
    assert one.estimates["a"].value == pytest.approx(alone.value)
    assert one.estimates["a"].standard_error == pytest.approx(alone.standard_error)
    with pytest.raises(ValueError, match="population of a comparison must be shares"):
        dmfroc.compare(y, scores, population=q)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population": np.full((50, 2), 0.5), "method": "bootstrap"}, "alone: leave"),
        ({"population": np.full((3, 2), np.nan)}, "population must be numbers"),
        ({"population": dmfroc.Importance(np.ones((5, 2)), np.ones((9, 2)))}, "shapes are"),
        ({"population": dmfroc.Importance(np.ones((800, 2)), np.ones((9, 2)))}, "redundant"),
        ({"population": dmfroc.Importance(P[:, None], P[:, None] + 5)}, "without error"),
        ({"population": dmfroc.Importance(P[:, None] * np.nan, P[:, None])}, "finite features"),
        (
            {"population": dmfroc.Importance(P[:, None], P[:1, None])},
            "two rows of the target or more",
        ),
        ({"population": [[0.8, 0.2]]}, "two rows or more.*shares have one dimension"),
        (
            {
                "folds": dmfroc.Folds(FOLDS, target="learner"),
                "population": dmfroc.Importance(P[:, None], P[::3, None]),
            },
            "leave target out",
        ),
        (
            {"population": dmfroc.Importance(pd.DataFrame({"a": P}), pd.DataFrame({"b": P[::3]}))},
            "other names in the sample, 'a', than in the target, 'b'",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_errors_of_estimated_populations(options, message):
    with pytest.raises(ValueError, match=message):
        dmfroc.estimate("accuracy", TWO, np.column_stack([1 - P, P]), **options)


@pytest.mark.filterwarnings("ignore")
def test_scores_that_do_not_tell_classes_apart_estimate_no_shares():
    same = np.full((800, 2), 0.5)
    with pytest.raises(ValueError, match="do not tell the classes apart"):
        dmfroc.estimate("accuracy", TWO, same, population=same)


@pytest.fixture(scope="module")
def of_few_target_rows():
    """Return what few rows of the target say, and the same weights as if they were known."""
    y, p, x = of_target(400, 0.5, 8)
    _, _, z = of_target(60, 0.25, 9)
    z[:, 1] += 0.7
    p = np.where(
        x[:, 1:] > 0, p, p[np.random.default_rng(0).permutation(400)]
    )  # the features decide how good p is
    names = ["dmf_auc", "hand_till", "convex_hull_auc", "h_measure", "expected_calibration_error"]
    found = dmfroc.evaluate(y, p, measures=names, population=dmfroc.Importance(x, z))
    weights = found.predictions.sample_weight
    known = dmfroc.evaluate(
        y, p, measures=names, population=dmfroc.Importance(weights), method="jackknife"
    )
    return found, known


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["convex_hull_auc", "h_measure", "expected_calibration_error"])
def test_every_estimate_has_the_error_of_estimated_weights(of_few_target_rows, name):
    found, known = (x.estimates[name] for x in of_few_target_rows)
    assert found.method == "jackknife"
    assert found.value == pytest.approx(known.value)
    assert found.standard_error > 1.04 * known.standard_error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["brier_discrimination", "brier_miscalibration"])
def test_cross_fitted_values_work_through_estimated_weights(of_few_target_rows, name):
    sample, measure = of_few_target_rows[0].sample, dmfroc.measures.get_measure(name)
    [facts] = facts_of([measure], sample)
    chosen = facts.chosen_by_others
    moments = moments_of(chosen.influences, facts.units).with_parts(chosen.parts)
    rows, weights = np.arange(len(sample.predictions.true)), sample.units.weights
    [plain] = influences_of([measure], bind(measure, sample.predictions), sample.predictions)
    raw = measure.interval.cross_fit(sample.predictions, rows, plain[:2])[1]
    slope = raw @ weights.slopes
    variance = len(weights.influences_of_target) * np.var(
        weights.influences_of_target @ slope, ddof=1
    )
    direct = moments_of(raw + weights.influences_of_rows @ slope, facts.units).standard_error
    assert moments.standard_error == pytest.approx(np.hypot(direct, np.sqrt(variance)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["pointwise", "simultaneous"])
def test_bands_have_the_error_of_estimated_weights(of_few_target_rows, kind):
    found, known = (x.band(kind) for x in of_few_target_rows)
    np.testing.assert_allclose(found.tpr, known.tpr)
    middle = slice(20, 60)
    widths = [(x.high - x.low)[middle].mean() for x in (found, known)]
    assert widths[0] > 1.05 * widths[1]


@pytest.mark.parametrize("library", [pd, pl])
def test_features_in_tables_are_matched_by_name(library):
    y, p, x = of_target(300, 0.5, 10)
    _, _, z = of_target(200, 0.3, 11)
    source = library.DataFrame({"a": x[:, 0], "b": x[:, 1]})
    target = library.DataFrame({"b": z[:, 1], "a": z[:, 0]})
    values = [
        dmfroc.estimate("accuracy", y, p, population=dmfroc.Importance(*pair)).value
        for pair in ((x, z), (source, target), (source, z))
    ]
    assert values == pytest.approx(values[:1] * 3)


def test_independent_samples_have_weights_of_their_own():
    samples = {"a": dmfroc.Predictions.from_arrays(TWO, P)}
    samples["b"] = dmfroc.Predictions.from_arrays(TWO[:500], P[:500] ** 2)
    weights = {"b": 0.5 + P[:500], "a": 1.5 - P}
    importance = {name: dmfroc.Importance(w) for name, w in weights.items()}
    found = dmfroc.compare(samples, measures="hand_till", paired=False, population=importance)
    for name, sample in samples.items():
        alone = dmfroc.estimate("hand_till", sample, population=dmfroc.Importance(weights[name]))
        assert found.estimates[name].value == alone.value
        assert found.estimates[name].interval == pytest.approx(alone.interval)
    errors = [x.standard_error for x in found.estimates.values()]
    assert found.differences[0].standard_error == pytest.approx(np.hypot(*errors))


@pytest.mark.parametrize(
    ("importance", "message"),
    [
        (dmfroc.Importance(np.ones(800)), "by name of the classifier, 'a', 'b'"),
        ({"a": dmfroc.Importance(np.ones(800))}, "by name of the classifier, 'a', 'b'"),
        (dict.fromkeys("ab", dmfroc.Importance(P[:, None], P[::2, None])), "samples dependent"),
        (
            dict.fromkeys("ab", dmfroc.Importance(-np.ones(800))),
            "importance is -1.0 at row 0 .* finite and >= 0",
        ),
    ],
)
def test_importance_of_independent_samples_is_refused(importance, message):
    samples = {name: dmfroc.Predictions.from_arrays(TWO, P) for name in "ab"}
    with pytest.raises(ValueError, match=message):
        dmfroc.compare(samples, measures="hand_till", paired=False, population=importance)


@pytest.mark.parametrize("measure", ["hand_till", "dmf_auc", "one_vs_rest_auc"])
def test_class_of_one_verified_row(measure):
    """Without that row there is no value to compare with; NumPy's warnings said so, from inside."""
    rng = np.random.default_rng(1)
    y = np.append(np.arange(30) % 2, 2)
    scores = rng.normal(size=(31, 3)) + np.eye(3)[y]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = dmfroc.estimate(measure, y, scores, judge=y)
        plain = dmfroc.estimate(measure, y, scores)
    assert found.value == pytest.approx(plain.value)
    assert np.isfinite(found.standard_error)
