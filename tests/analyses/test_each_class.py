"""One class of several against the rest, and all of them at once."""

from functools import partial

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sklearn_metrics

import dmfroc
from dmfroc import FollowUp, Predictions, compare, compare_subgroups, estimate, evaluate
from dmfroc.inference.simultaneous import holm
from dmfroc.measures import MEASURES

RNG = np.random.default_rng(3)
Y = RNG.choice(3, size=240, p=[0.15, 0.25, 0.6])
LOGITS = RNG.normal(size=(240, 3)) + 1.5 * np.eye(3)[Y]
SCORES = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
OTHER = (SCORES + RNG.dirichlet([1, 1, 1], size=240)) / 2
HARD = SCORES.argmax(axis=1)
TWO_CLASSES = [
    "recall", "precision", "specificity", "f1", "average_precision", "brier_score", "auc",
    "net_benefit(threshold=0.2)", "calibration_slope", "sensitivity_at(specificity=0.8)",
    "max_informedness",
]  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore:check that y_score and y_pred are")


@pytest.mark.parametrize("name", TWO_CLASSES)
def test_it_is_the_two_classes_that_one_would_make(name):
    for label in range(3):
        found = estimate(name, Y, SCORES, pos_label=label)
        two = (label == Y).astype(int)
        by_hand = estimate(name, two, SCORES[:, label], y_pred=(label == HARD).astype(int))
        assert found.value == by_hand.value
        assert found.interval == by_hand.interval
        assert found.design["positive_class"] == label


def test_values_are_scikit_learns():
    names = np.array(["ant", "bee", "cow"])
    for k, label in enumerate(names):
        of_labels = {"labels": [label], "average": None}
        expected = {
            "recall": sklearn_metrics.recall_score(names[Y], names[HARD], **of_labels)[0],
            "precision": sklearn_metrics.precision_score(names[Y], names[HARD], **of_labels)[0],
            "f1": sklearn_metrics.f1_score(names[Y], names[HARD], **of_labels)[0],
            "jaccard": sklearn_metrics.jaccard_score(names[Y], names[HARD], **of_labels)[0],
        }
        found = evaluate(names[Y], y_pred=names[HARD], measures=[*expected], pos_label=label)
        assert {x: e.value for x, e in found.items()} == pytest.approx(expected)
        auc = estimate("auc", names[Y], SCORES, pos_label=label).value
        assert auc == pytest.approx(sklearn_metrics.roc_auc_score(k == Y, SCORES[:, k]))


def test_groups_folds_judges_and_subgroups_follow():
    two, own = (Y == 1).astype(int), SCORES[:, 1]
    groups, folds = np.arange(240) // 3, np.arange(240) % 4
    for options in ({"groups": groups}, {"folds": folds}, {"method": dmfroc.Bootstrap(200)}):
        found = estimate("average_precision", Y, SCORES, pos_label=1, **options)
        assert found.interval == estimate("average_precision", two, own, **options).interval
    by_group = compare_subgroups(Y, SCORES, by=groups % 2, measures="auc", pos_label=1)
    of_two = compare_subgroups(two, own, by=groups % 2, measures="auc")
    assert by_group.differences[0].p_value == of_two.differences[0].p_value
    said = np.where(RNG.random(240) < 0.9, Y, 2)
    known = np.where(RNG.random(240) < 0.5, Y.astype(object), None)
    judged = estimate("recall", known, SCORES, judge=said, pos_label=1)
    of_two = [None if x is None else int(x == 1) for x in known]
    by_hand = estimate(
        "recall", of_two, own, y_pred=(HARD == 1).astype(int), judge=(said == 1).astype(int)
    )
    assert judged.value == pytest.approx(by_hand.value)
    assert judged.interval == pytest.approx(by_hand.interval)


def test_all_classes_hold_at_once():
    found = estimate("recall", Y, SCORES, pos_label=range(3))
    assert list(found) == [0, 1, 2]
    for label, e in found.items():
        alone = estimate("recall", Y, SCORES, pos_label=label, level=0.9831)
        assert (e.value, e.interval) == (alone.value, alone.interval)
    assert 0.9831**3 >= 0.95 > 0.983**3
    assert str(found).startswith("Intervals hold for all 3 classes at once with 95 %\n")
    assert found.to_pandas()["label"].tolist() == [0, 1, 2]
    assert found.as_json()["level"] == 0.95
    both = evaluate(Y, SCORES, measures=["recall", "precision"], pos_label=range(3))
    assert both.to_pandas()["value"].tolist() == pytest.approx(
        np.ravel([(both[k]["recall"].value, both[k]["precision"].value) for k in range(3)])
    )
    finished = estimate("recall", Predictions.from_arrays(Y, SCORES), pos_label=range(3))
    assert [e.value for e in finished.values()] == [e.value for e in found.values()]


def test_a_column_of_one_class_alone_is_printed():
    few, p = Y[:18] > 1, SCORES[:18, 2]
    found = estimate(
        "average_precision", few, np.stack([1 - p, p], axis=1), pos_label=[False, True]
    )
    assert len({e.bias_corrected is None for e in found.values()}) == 2
    assert found.to_pandas()["bias_corrected"].isna().sum() == 1
    assert "average precision" in str(found).lower()


def test_p_values_are_adjusted_for_all_classes():
    scores = {"one": SCORES, "other": OTHER}
    found = compare(Y, scores, measures="average_precision", pos_label=range(3))
    alone = [compare(Y, scores, measures="average_precision", pos_label=k) for k in range(3)]
    p = [x.differences[0].p_value for x in alone]
    assert [x.differences[0].p_value for x in found.values()] == p
    assert [x.differences[0].adjusted_p_value for x in found.values()] == holm(p).tolist()
    assert "adjusted" in str(found)
    three = compare(Y, {**scores, "same": LOGITS}, measures="auc", pos_label=range(3))
    p = [d.p_value for x in three.values() for d in x.differences]
    adjusted = [d.adjusted_p_value for x in three.values() for d in x.differences]
    assert adjusted == holm(p).tolist()
    several = compare(Y, scores, measures=["recall", "f1"], pos_label=range(3))
    assert list(several) == ["recall", "f1"]
    assert list(several["f1"]) == [0, 1, 2]


def test_reports_have_all_classes_in_one_table(tmp_path):
    found = evaluate(Y, SCORES, measures=["recall"], pos_label=range(3))
    found.to_html(tmp_path / "report.html")
    assert "Intervals hold for all 3 classes" in (tmp_path / "report.html").read_text()


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"pos_label= must be one of the classes .*, but it is 7"):
        estimate("recall", Y, SCORES, pos_label=7)
    with pytest.raises(ValueError, match=r"classes, each once, but it is \[1, 2, 1\]"):
        estimate("recall", Y, SCORES, pos_label=[1, 2, 1])
    with pytest.raises(ValueError, match=r"pos_label= must be one of the classes .*, but it is 7"):
        estimate("recall", Y, SCORES, pos_label=(0, 7))
    with pytest.raises(ValueError, match=r"pos_label= must be one of the classes .* is \[\[0"):
        estimate("recall", Y, SCORES, pos_label=[[0], [1]])
    with pytest.raises(ValueError, match="pos_label must hold at least one value"):
        estimate("recall", Y, SCORES, pos_label=[])
    for single in (SCORES[:, 1], SCORES[:, [1]], {"a": SCORES[:, 1].tolist()}):
        of_several = isinstance(single, dict)
        function = partial(compare, measures="auc") if of_several else partial(estimate, "auc")
        with pytest.raises(ValueError, match="needs a score of each, but y_score has one"):
            function(y_true=Y > 1, y_score=single, pos_label=[False, True])
    with pytest.raises(TypeError, match="pos_label cannot be given together with a scan"):
        estimate("recall", dmfroc.scan([(Y, SCORES)]), pos_label=[0, 1])
    with pytest.raises(TypeError, match=r"'per_class': pass pos_label= a list of the classes"):
        estimate("recall", Y, SCORES, per_class=True)
    with pytest.raises(ValueError, match="such as pos_label=2, for that class against the rest"):
        MEASURES["recall"](Y, SCORES)


# Against chance


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("hand_till", 1 / 2),
        ("dmf_auc", 1 / 2),
        ("brier_skill_score", 0),
        ("d2_log_loss", 0),
        ("cohen_kappa", 0),
        ("informedness", 0),
        ("balanced_accuracy", 1 / 3),
    ],
)
@pytest.mark.filterwarnings("ignore:chance")
def test_chance_has_the_value_of_chance(measure, value):
    found = compare(Y, {"model": SCORES, "chance": None}, measures=measure)
    assert found.estimates["chance"].value == pytest.approx(value, abs=1e-12)
    [difference] = found.differences
    assert difference.value == pytest.approx(found.estimates["model"].value - value)
    assert difference.p_value < 1e-4


@pytest.mark.filterwarnings("ignore:chance")
def test_chance_forecasts_the_shares_and_predicts_the_most_frequent_class():
    shares = np.bincount(Y) / len(Y)
    names = ["accuracy", "log_loss", "average_precision"]
    found = compare(Y, {"model": SCORES, "chance": "chance"}, measures=names)
    values = {name: x.estimates["chance"].value for name, x in found.items()}
    assert values["accuracy"] == pytest.approx(shares.max())
    assert values["log_loss"] == pytest.approx(-shares @ np.log(shares))
    assert values["average_precision"] == pytest.approx(1 / 3)
    hard = compare(Y, y_pred={"model": HARD, "chance": None}, measures="accuracy")
    assert hard.estimates["chance"].value == pytest.approx(shares.max())


@pytest.mark.filterwarnings("ignore:chance")
@pytest.mark.parametrize("measure", ["accuracy", "log_loss", "d2_log_loss", "brier_skill_score"])
def test_chance_forecasts_the_shares_of_the_population(measure):
    """Its values are those of rows that are weighted by hand."""
    shares = np.array([0.5, 0.3, 0.2])
    weights = (shares / np.bincount(Y))[Y] * len(Y)
    scores = {"model": SCORES, "chance": None}
    found = compare(Y, scores, measures=measure, population=shares)
    by_hand = compare(Y, scores, measures=measure, sample_weight=weights)
    for name in scores:
        assert found[name].value == pytest.approx(by_hand[name].value)


@pytest.mark.filterwarnings("ignore:chance")
def test_chance_has_no_skill_at_a_horizon():
    rng = np.random.default_rng(0)
    x, lost = rng.normal(size=400), rng.exponential(2, 400)
    event = rng.exponential(np.exp(1 - x))
    scores = {"model": 1 - np.exp(-2 * np.exp(x - 1)), "chance": None}
    follow_up = FollowUp(np.minimum(event, lost), 2.0)
    found = compare(event <= lost, scores, measures="brier_skill_score", follow_up=follow_up)
    assert found["chance"].value == pytest.approx(0, abs=1e-12)


@pytest.mark.filterwarnings("ignore:chance")
def test_the_p_value_of_an_area_is_close_to_that_of_ranks():
    rng = np.random.default_rng(1)
    for shift in (0.2, 0.3, 0.5):
        y = np.arange(150) % 3 == 0
        score = rng.normal(size=150) + shift * y
        [difference] = compare(y, {"model": score, "chance": None}, measures="auc").differences
        of_ranks = stats.mannwhitneyu(score[y], score[~y]).pvalue
        assert difference.p_value == pytest.approx(of_ranks, rel=0.5, abs=0.02)


def test_what_can_be_read_once_serves_all_classes():
    found = evaluate(Y, SCORES, measures=iter(["recall", "auc"]), pos_label=range(3))
    assert found == evaluate(Y, SCORES, measures=["recall", "auc"], pos_label=range(3))
    drawn = {"method": dmfroc.Bootstrap(100), "random_state": np.random.default_rng(1)}
    seeds = {e.seed for e in estimate("auc", Y, SCORES, pos_label=range(3), **drawn).values()}
    assert len(seeds) == 1
