"""Cross-validated predictions: means over folds, cvAUC's variance, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from simulations import cyclic_scores

import dmfroc
from dmfroc import Predictions, compare, estimate, evaluate, hand_till_score, multiclass_roc
from dmfroc.cli.commands import app
from dmfroc.extend import influences
from dmfroc.plots import MulticlassROCDisplay

MEASURES = ["hand_till", "informedness", "dmf_auc"]


def sample(n=180, n_folds=3, n_classes=3):
    y, scores = cyclic_scores(n, n_classes)
    folds = np.arange(n) // n_classes % n_folds
    return y, scores, folds


@pytest.mark.parametrize("measure", MEASURES)
def test_the_value_is_the_mean_over_the_folds(measure):
    y, scores, folds = sample()
    found = estimate(measure, y, scores, folds=folds, stratify=True)
    inside = [estimate(measure, y[folds == f], scores[folds == f], stratify=True) for f in range(3)]
    assert found.value == pytest.approx(np.mean([e.value for e in inside]), rel=1e-12)
    # The folds are independent samples: each class has 20 cases in each.
    expected = np.sqrt(sum(e.standard_error**2 for e in inside)) / 3
    assert found.standard_error == pytest.approx(expected, rel=1e-9)


def test_scores_of_different_folds_are_never_compared():
    y, scores, folds = sample()
    one = estimate("hand_till", y, scores, folds=folds)
    other = estimate("hand_till", y, scores + 100 * folds[:, None], folds=folds)
    assert one == other


def cv_auc(y, score, folds):
    """Variance of LeDell, Petersen and van der Laan (2015), and ours: n_c - V in place of n_c."""
    names = np.unique(folds)
    influence, auc = np.zeros(len(y)), []
    for fold in names:
        rows = folds == fold
        positive, negative = score[rows & (y == 1)], score[rows & (y == 0)]
        wins = np.sign(positive[:, None] - negative) / 2 + 0.5
        auc.append(wins.mean())
        influence[rows & (y == 1)] = wins.mean(axis=1) - wins.mean()
        influence[rows & (y == 0)] = wins.mean(axis=0) - wins.mean()
    n = np.bincount(y)
    v = len(names)
    # With folds of equal size: sum of squares over n_c^2, and over n_c (n_c - V).
    published = sum((influence[y == c] ** 2).sum() / n[c] ** 2 for c in (0, 1))
    ours = sum((influence[y == c] ** 2).sum() / (n[c] * (n[c] - v)) for c in (0, 1))
    return np.mean(auc), published, ours


@pytest.mark.parametrize("n_folds", [3, 5])
def test_two_classes_are_cv_auc_with_degrees_of_freedom(n_folds):
    y, scores, folds = sample(60 * n_folds, n_folds, 2)
    score = scores[:, 1]
    auc, published, ours = cv_auc(y, score, folds)
    found = estimate("hand_till", y, score, folds=folds)
    assert found.value == pytest.approx(auc, rel=1e-12)
    assert found.standard_error == pytest.approx(np.sqrt(ours), rel=1e-9)
    assert found.standard_error**2 == pytest.approx(published * 30 / 29, rel=1e-9)


def test_real_folds_are_close_to_cv_auc(external_directory):
    table = pd.read_csv(external_directory / "admissions_oof.csv")
    found = estimate("hand_till", table["y"], table["score"], folds=table["fold"])
    # What ci.cvAUC prints of these data (cvAUC 1.1.4, its example).
    assert found.value == pytest.approx(0.9046473, abs=5e-8)
    # The positives, 4 or 5 in each of 10 folds, are nearly all of the variance.
    n = np.bincount(table["y"])[1]
    assert n == 48
    assert found.standard_error == pytest.approx(0.01620238 * np.sqrt(n / (n - 10)), rel=0.015)


def test_patients_of_real_folds_are_close_to_pooled_cv_auc(external_directory):
    table = pd.read_csv(external_directory / "adherence_oof.csv")
    found = estimate(
        "hand_till", table["y"], table["score"], folds=table["fold"], groups=table["id"]
    )
    # What ci.pooled.cvAUC prints of these data (cvAUC 1.1.4, its example): 500 patients.
    assert found.value == pytest.approx(0.8648046, abs=5e-8)
    assert found.standard_error == pytest.approx(0.01551888 * np.sqrt(500 / 490), rel=0.02)
    assert (
        found.standard_error
        < estimate("hand_till", table["y"], table["score"], folds=table["fold"]).standard_error
    )


def test_real_folds_of_four_classes_have_their_published_values(external_directory):
    table, labels = pd.read_csv(external_directory / "hpc_cv.csv"), ["VF", "F", "M", "L"]
    found = estimate("hand_till", table["obs"], table[labels], folds=table["fold"])
    # What the README of yardstick prints of roc_auc(obs, VF:L) in each of the folds.
    published = [0.813, 0.817, 0.869, 0.849, 0.811, 0.836, 0.825, 0.846, 0.828, 0.812]
    parts = [part for _, part in table.groupby("fold")]
    inside = [hand_till_score(part["obs"], part[labels]) for part in parts]
    assert inside == pytest.approx(published, abs=5.001e-4)
    assert found.value == pytest.approx(np.mean(inside), rel=1e-12)


def test_folds_of_repeats_count_observations_once():
    """Two repeats with the same scores and folds: nothing was learned from the second."""
    y, scores, folds = sample(120)  # so few that limits are taken alike with and without groups
    single = estimate("hand_till", y, scores, folds=folds)
    repeat = np.repeat([0, 1], len(y))
    twice = estimate(
        "hand_till",
        np.tile(y, 2),
        np.tile(scores, (2, 1)),
        folds=[f"{r}.{f}" for r, f in zip(repeat, np.tile(folds, 2), strict=True)],
        groups=np.tile(np.arange(len(y)), 2),
    )
    assert twice.value == pytest.approx(single.value, rel=1e-12)
    assert twice.standard_error == pytest.approx(single.standard_error, rel=1e-9)
    assert twice.interval == pytest.approx(single.interval, rel=1e-9)


@pytest.mark.parametrize(
    "folds",
    [
        lambda table: table[["rep", "fold"]],
        lambda table: table[["rep", "fold"]].to_numpy(),
        lambda table: [table.rep, table.fold],
        lambda table: {"rep": table.rep.tolist(), "fold": table.fold.tolist()},
        lambda table: list(zip(table.rep, table.fold, strict=True)),
    ],
    ids=range(5),
)
def test_the_columns_of_a_repeated_cross_validation_cross(cases_directory, folds):
    table = pd.read_csv(cases_directory / "third/repeated_folds.csv")
    found = estimate("hand_till", table.y, table.score, folds=folds(table), groups=table.row)
    assert found.value == pytest.approx(0.7843406919654694, rel=1e-12)
    inside = [hand_till_score(x.y, x.score) for _, x in table.groupby(["rep", "fold"])]
    assert found.value == pytest.approx(np.mean(inside), rel=1e-12)
    with pytest.warns(
        UserWarning, match="200 of 200 groups have rows in several folds: .* in repeats of a cross"
    ):
        estimate("hand_till", table.y, table.score, folds=table.fold, groups=table.row)
    read = Predictions.from_arrays(table.y, table.score).in_folds(folds(table))
    assert len(np.unique(read.folds)) == len(inside)


def test_groups_with_rows_in_several_folds_are_told(tmp_path):
    y, scores, folds = np.arange(120) % 2, np.random.default_rng(0).random(120), np.arange(120) % 5
    patient = np.where(np.arange(120) < 60, np.arange(120) // 3, 20 + folds)
    with pytest.warns(UserWarning, match="^20 of 25 groups have rows in several folds: if one fit"):
        estimate("hand_till", y, scores, folds=folds, groups=patient)
    path, line = tmp_path / "a.csv", ["evaluate", str(tmp_path / "a.csv"), "--label", "y"]
    table = {"y": y, "p": scores, "fold": folds, "patient": patient}
    pd.DataFrame(table).to_csv(path, index=False)
    line += ["--scores", "p", "--fold", "fold"]
    assert "warning: pass --groups patient if rows" in CliRunner().invoke(app, line).output
    told = CliRunner().invoke(app, [*line, "--groups", "patient"]).output
    assert "warning: 20 of 25 groups have rows in several folds" in told
    assert "pass --groups" not in told


def test_comparison_is_paired_inside_the_folds():
    y, scores, folds = sample()
    other = scores + np.random.default_rng(1).normal(scale=0.5, size=scores.shape)
    [found] = compare(y, {"a": scores, "b": other}, measures="hand_till", folds=folds).differences
    parts = [
        compare(
            y[folds == f], {"a": scores[folds == f], "b": other[folds == f]}, measures="hand_till"
        ).differences[0]
        for f in range(3)
    ]
    assert found.value == pytest.approx(np.mean([d.value for d in parts]), rel=1e-12)
    expected = np.sqrt(sum(d.standard_error**2 for d in parts)) / 3
    assert found.standard_error == pytest.approx(expected, rel=1e-9)
    with pytest.raises(ValueError, match="folds cannot be given for independent samples"):
        compare(y, {"a": scores, "b": other}, measures="hand_till", folds=folds, paired=False)


def test_bootstrap_draws_inside_the_folds():
    y, scores, folds = sample(360)
    by_draws = estimate("hand_till", y, scores, folds=folds, method=dmfroc.Bootstrap(1000))
    by_influences = estimate("hand_till", y, scores, folds=folds)
    assert by_draws.value == pytest.approx(by_influences.value, rel=1e-12)
    # Resampling 40 cases of a class per fold knows 39/40 of their variance.
    ratio = by_draws.standard_error / by_influences.standard_error
    assert ratio == pytest.approx(np.sqrt(39 / 40), abs=0.06)


def test_evaluation_and_influences_know_folds():
    y, scores, folds = sample()
    evaluation = evaluate(y, scores, folds=folds, measures=["hand_till", "informedness"])
    assert evaluation.estimates["hand_till"] == estimate("hand_till", y, scores, folds=folds)
    predictions = Predictions.from_arrays(y, scores).in_folds(folds)
    found = influences("hand_till", predictions)
    first = influences("hand_till", y[folds == 0], scores[folds == 0])
    assert found[folds == 0] == pytest.approx(first / 3, rel=1e-12)
    assert hand_till_score(predictions) == pytest.approx(evaluation.estimates["hand_till"].value)
    with pytest.raises(ValueError, match="have no common curve"):
        _ = evaluation.curve


@pytest.mark.parametrize("n_classes", [2, 3])
def test_mean_of_the_curves_has_the_mean_area(n_classes):
    y, scores, folds = sample(n_classes=n_classes)
    scores = np.round(scores, 1)  # ties, and curves of two classes that rise together
    display = MulticlassROCDisplay.from_predictions(y, scores, folds=folds)
    mean, inside = (
        display.curve,
        [multiclass_roc(y[folds == f], scores[folds == f]) for f in (0, 1, 2)],
    )
    assert mean.auc == pytest.approx(np.mean([curve.auc for curve in inside]), rel=1e-12)
    assert display.estimate.value == pytest.approx(mean.auc, rel=1e-9)
    at = np.array([0.1234, 0.5678])  # no curve has a corner there
    expected = np.mean([np.interp(at, curve.fpr, curve.tpr) for curve in inside], axis=0)
    assert np.interp(at, mean.fpr, mean.tpr) == pytest.approx(expected, rel=1e-12)
    assert (np.diff(mean.fpr) >= 0).all()
    assert (np.diff(mean.tpr) >= -1e-15).all()
    assert (mean.fpr[[0, -1]], mean.tpr[[0, -1]]) == (pytest.approx([0, 1]), pytest.approx([0, 1]))
    assert (display.band_, len(display.folds_.get_paths())) == (None, 3)
    assert "mean over folds" in display.ax_.get_xlabel()
    again = evaluate(y, scores, folds=folds, measures=["dmf_auc"]).plot()
    np.testing.assert_array_equal(again.line_.get_xydata(), display.line_.get_xydata())
    with pytest.raises(ValueError, match="pairs of one curve"):
        display.plot(plot_pairs=True)


def test_rows_of_weight_zero_are_in_no_fold():
    y, scores, folds = sample()
    weights = np.where(folds == 2, 0.0, 1.0)
    weights[-3:] = 1.0  # one case of each class is left of the last fold
    kept = weights > 0
    found = estimate("hand_till", y, scores, folds=folds, sample_weight=weights)
    assert found == estimate("hand_till", y[kept], scores[kept], folds=folds[kept])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y, f: f[:-1], r"folds must have one entry for each of the 180.*\(179,\)"),
        (lambda y, f: np.zeros(180), "folds has one fold only, 0.0"),
        (lambda y, f: np.where(f == 0, np.nan, f), "folds has a missing value in row 0"),
        (lambda y, f: np.where(y == 1, 0, f), "fold 1 lacks class 1.*stratify"),
        (lambda y, f: [f, y], "fold 0=0, 1=0 lacks class 1.*stratify"),
        (lambda y, f: np.arange(180), "nearly every fold is one row. Of leave-one-out no measure"),
    ],
)
def test_bad_folds_are_refused(change, message):
    y, scores, folds = sample()
    with pytest.raises(ValueError, match=message):
        estimate("hand_till", y, scores, folds=change(y, folds))


@pytest.mark.parametrize("method", ["paper_bootstrap", "bayes"])
def test_methods_without_folds_say_so(method):
    y, scores, folds = sample()
    with pytest.raises(ValueError, match="knows no folds"):
        estimate("dmf_auc", y, scores, folds=folds, method=method)


LOSSES = ["accuracy", "brier_score", "log_loss", "cohen_kappa", "ranked_probability_score"]
OF_ALL_CLASSES = ["hand_till", "informedness", "average_precision"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_folds_subgroups_and_samples_may_lack_a_class_that_the_measure_does_not_need():
    rng = np.random.default_rng(2)
    y, fold = np.arange(120) % 3, np.arange(120) // 3 % 4
    p = 0.7 * rng.dirichlet(np.ones(3), 120) + 0.3 * np.eye(3)[y]
    fold = np.where((fold == 3) & (y == 2), 0, fold)
    names = np.array([f"f{k}" for k in fold])
    for name in LOSSES:
        rows = [fold == k for k in range(4)]
        parts = [dmfroc.estimate(name, y[x], p[x], labels=[0, 1, 2]).value for x in rows]
        found = dmfroc.estimate(name, y, p, folds=names)
        assert found.value == pytest.approx(np.mean(parts))
        assert found.standard_error > 0
        assert dmfroc.evaluate(y, p, folds=names, measures=[name])[name].value == found.value
        both = dmfroc.compare(y, {"a": p, "b": p[:, [1, 0, 2]]}, folds=names, measures=name)
        assert both["a"].value == found.value
        groups = dmfroc.compare_subgroups(y, p, names, measures=name)
        assert [x.value for x in groups.estimates.values()] == pytest.approx(parts)
        assert not groups.left_out
    for name in OF_ALL_CLASSES:
        with pytest.raises(ValueError, match="fold f3 lacks class 2"):
            dmfroc.estimate(name, y, p, folds=names)
        assert list(dmfroc.compare_subgroups(y, p, names, measures=name).left_out) == ["f3"]
    for name in ("hand_till", "average_precision"):
        with pytest.raises(ValueError, match="holds one class only"):
            dmfroc.evaluate(y[y == 1], p[y == 1], labels=[0, 1, 2], measures=[name])
    one = dmfroc.estimate("brier_score", y[y == 1], p[y == 1], labels=[0, 1, 2])
    assert one.value == pytest.approx((((p - np.eye(3)[1])[y == 1] ** 2).sum(axis=1) / 2).mean())
    single = dmfroc.estimate("log_loss", np.ones(40, int), p[y == 1, 1], labels=[0, 1])
    assert single.value == pytest.approx(-np.log(p[y == 1, 1]).mean())


@pytest.mark.filterwarnings("ignore")
def test_accuracy_of_folds_without_a_class_in_a_file(cases_directory):
    path = str(cases_directory / "third" / "folds.csv")
    options = ["--label", "stage", "--fold", "fold", "--measures", "accuracy", "--json"]
    done = CliRunner().invoke(app, ["evaluate", path, *options])
    found = json.loads(done.stdout)["estimates"]["accuracy"]
    assert found["value"] == pytest.approx(0.7284848, abs=1e-6)
