"""Options in the order of the labels, single probabilities, baselines: either class is positive."""

import inspect
import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn import metrics
from sklearn.metrics import average_precision_score

import dmfroc
from dmfroc import Predictions, applications, compare, curves, estimate, evaluate, measures
from dmfroc.applications import plan
from dmfroc.cli.commands import app

RNG = np.random.default_rng(49)
N = 120
P = RNG.beta(2, 3, N).round(2) + 0.003  # with ties, but none at 1/2
Y = (RNG.random(N) < P).astype(int)
OTHER = np.clip(P + RNG.normal(0, 0.15, N), 0.01, 0.99)
NEW = RNG.beta(2, 5, 80)  # of the target
X, X_OF_TARGET = RNG.normal(size=(N, 2)) + Y[:, None], RNG.normal(size=(90, 2))
FOLDS, GROUPS = np.arange(N) % 4, np.arange(N) // 3
COSTS, OF_THREE = [[0, 5], [1, 0]], [[0, 5, 2], [1, 0, 0.7]]
SHARES = [0.9, 0.1]


def both(p):
    return np.column_stack([1 - p, p])


class Data:
    """The rows with ``pos_label``, or with classes, columns and options turned around by hand."""

    def __init__(self, *, turned=False, **given):
        self.turned, self.given = turned, given
        self.y = 1 - Y if turned else Y
        self.scores, self.others, self.new = map(self.columns, (both(P), both(OTHER), both(NEW)))

    def columns(self, scores):
        return scores[:, ::-1] if self.turned else scores

    def rows(self, option):
        return np.array(option)[:: -1 if self.turned else 1]

    def matrix(self, option):
        return np.flip(option) if self.turned else np.array(option)

    @property
    def predictions(self):
        made = Predictions.from_arrays(self.y, self.scores)
        return made.with_positive_class(self.given.get("pos_label", 1))

    def estimate(self, measure, **options):
        found = estimate(measure, self.y, self.scores, **options, **self.given)
        return [found.value, found.standard_error, *found.interval]

    def compare(self, measure, **options):
        scores = {"a": self.scores, "b": self.others}
        found = compare(self.y, scores, measures=measure, **options, **self.given)
        values = [x for e in found.estimates.values() for x in (e.value, *e.interval)]
        return [*values, *(d.p_value for d in found.differences)]


def of_utility(d):
    utility = measures.expected_utility(d.matrix(COSTS))
    return [
        *d.estimate(utility),
        *d.estimate(utility, folds=FOLDS),
        *d.estimate(measures.expected_utility(d.rows(OF_THREE))),
        *d.compare(utility, groups=GROUPS),
        *d.estimate(utility, judge=d.y),
        utility(d.predictions),
    ]


def of_kappa(d):
    kappa = measures.weighted_kappa(d.matrix([[0, 3], [1, 0]]))
    return [*d.estimate(kappa), *d.compare(kappa)]


def of_population(d):
    return [
        *d.estimate("accuracy", population=d.rows(SHARES)),
        *d.estimate("precision", population=d.rows(SHARES), folds=FOLDS),
        *d.estimate("accuracy", population=d.new),
        *d.compare("average_precision", population=d.rows(SHARES)),
    ]


def of_curve(d):
    costs = {"costs": lambda t: d.matrix([[0, t / (1 - t)], [1, 0]]), "thresholds": [0.1, 0.6]}
    return [*np.ravel(applications.decision_curve(d.predictions, **costs).difference)]


def of_weights(d, **options):
    found = applications.select_class_weights(d.predictions, n_starts=1, **options)
    return [found.expected_cost, found.unweighted_cost]


def of_plan(d):
    given = {"measure": "average_precision", "half_width": 0.05}
    kinds = d.rows(SHARES), "pilot", "balanced"
    return [plan(d.predictions, **given, prevalence=x).half_width(500) for x in kinds]


def of_pair_weights(d):
    options = {"measures": ["dmf_auc"], "pair_weights": d.matrix(COSTS)}
    [found] = evaluate(d.y, d.scores, **options, **d.given).estimates.values()
    return [*found.interval, *d.estimate(measures.dmf_auc(pair_weights=d.matrix(COSTS)))]


def of_choice(d):
    options = {"by": "f1", "population": d.rows(SHARES), "n_draws": 100}
    found = applications.choose_threshold(d.y, d.scores, **options, **d.given)
    return [found.threshold.value, found.value.value, *np.ravel(found.curve)]


# By function and option: numbers from data, whose options have the order of the labels
IN_ORDER = {
    "measures.expected_utility cost_matrix": of_utility,
    "measures.weighted_kappa weights": of_kappa,
    "measures.auc_mu partition": lambda d: d.estimate(measures.auc_mu(d.matrix([[0, 2], [5, 1]]))),
    "multiclass_roc pair_weights": of_pair_weights,
    "estimate population": of_population,
    "Importance weights": lambda d: d.estimate(
        "precision", population=dmfroc.Importance(X, X_OF_TARGET)
    ),
    "applications.choose_threshold population": of_choice,
    "applications.decision_curve costs": of_curve,
    "applications.select_class_weights cost_matrix": (
        lambda d: of_weights(d, cost_matrix=d.matrix(COSTS))
    ),
    "applications.select_class_weights prevalences": lambda d: of_weights(
        d, prevalences=d.rows([9, 1])
    ),
    "applications.plan prevalence": of_plan,
}
# The order of the labels themselves, of no classes, or of sorted classes whichever is positive
OF_NO_CHOICE = r" (labels|cuts|y_score|by|pos_label)$|ClassifierCV|Accumulator|bayesian_roc"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", IN_ORDER)
def test_options_have_the_order_of_the_labels_whichever_class_is_positive(name):
    by_hand, found, plain, same = (
        IN_ORDER[name](x) for x in (Data(turned=True), Data(pos_label=0), Data(), Data(pos_label=1))
    )
    np.testing.assert_allclose(found, by_hand, rtol=1e-9)
    np.testing.assert_array_equal(same, plain)


def test_all_options_in_the_order_of_the_labels_are_walked():
    found = set()
    for module in (dmfroc, measures, applications, curves, dmfroc.papers):
        for name in dir(module):
            doc = inspect.getdoc(getattr(module, name)) or ""
            part = re.search(r"Parameters\n-+\n(.*?)(\n\n\w+\n---|\Z)", doc, re.S)
            for entry in re.split(r"\n(?=\S)", part[1]) if part else ():
                text = " ".join(entry.split())
                if re.search(r"order of the labels|\(K, ?(K|d)?\)|share of each class", text, re.I):
                    place = f"{module.__name__}.".removeprefix("dmfroc.")
                    found.add(f"{place}{name} {entry.split(' :')[0]}")
    assert {x for x in found if not re.search(OF_NO_CHOICE, x)} <= set(IN_ORDER)


def test_one_share_is_that_of_the_positive_class():
    for at in (0, 1):
        options, choice = {"pos_label": at}, {"by": "accuracy", "n_draws": 100}
        for share in (0.2, {at: 0.2, 1 - at: 0.8}, [0.2, 0.8] if at == 0 else [0.8, 0.2]):
            options["population"] = share
            found = estimate("accuracy", Y, both(P), **options).value
            chosen = applications.choose_threshold(Y, P, **choice, **options)
            if share == 0.2:
                first, first_chosen = found, chosen
            assert found == first
            assert (chosen.threshold, chosen.value) == (first_chosen.threshold, first_chosen.value)


def test_a_matrix_has_the_order_of_the_labels_in_posteriors():
    kappa = measures.weighted_kappa([[0, 3], [1, 0]])
    options = {"method": "bayes", "random_state": 1}
    found = estimate(kappa, Y, both(P), pos_label=0, **options)
    assert found.value == estimate(kappa, Y, both(P), **options).value


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_equal_scores_are_decided_alike_whichever_class_is_positive():
    p = np.where(np.arange(N) % 3, P, 0.5)
    plain, turned = (evaluate(Y, both(p), measures="all", pos_label=x).estimates for x in (1, 0))
    same = {x for x, m in measures.MEASURES.items() if m.in_given_order}
    assert {"expected_utility", "risk_coverage_area", "expected_calibration_error"} < same
    for name in (same & set(turned)) | {"accuracy", "cohen_kappa", "hand_till"}:
        assert turned[name].value == pytest.approx(plain[name].value, abs=1e-12), name


@pytest.mark.filterwarnings("ignore")
def test_rows_of_the_target_have_the_order_of_the_labels():
    by_hand = applications.randomized_threshold(1 - Y, 1 - P, tpr=0.7)
    expected = 1 - by_hand.predict(1 - NEW, random_state=1)
    for scores, new in ((both(P), both(NEW)), (P, NEW)):
        given = Predictions.from_arrays(Y, scores).with_positive_class(0)
        found = applications.randomized_threshold(given, tpr=0.7)
        thresholds = np.array([found.strict, found.lenient])
        if scores is P:  # thresholds are those of the given score
            thresholds = 1 - thresholds
        np.testing.assert_allclose(thresholds, [by_hand.strict, by_hand.lenient])
        np.testing.assert_array_equal(found.predict(new, random_state=1), expected)
        weights = applications.select_class_weights(given, cost_matrix=COSTS)
        assert weights.labels == (0, 1)
        np.testing.assert_array_equal(weights.predict(new), weights.predict(both(NEW)))
    new = 1 - NEW[:, None]  # of the positive class
    single = estimate("accuracy", Y, both(P), population=new, pos_label=0)
    two = estimate("accuracy", Y, both(P), population=both(NEW), pos_label=0)
    assert single.value == pytest.approx(two.value, abs=1e-12)


# A single probability


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_one_probability_does_for_both_classes(tmp_path):
    two = evaluate(Y, both(P), measures="all", pos_label=0).estimates
    file = tmp_path / "first.csv"  # whose column is named after the first class
    pd.DataFrame({"y": np.array(["ill", "well"])[Y], "p_ill": 1 - P}).to_csv(file, index=False)
    of_file = Predictions.from_file(file, label="y")
    for single in (
        evaluate(
            Predictions.from_arrays(Y, P, pos_label=0, direction="<="), measures="all"
        ).estimates,
        evaluate(Y, 1 - P, measures="all", pos_label=0).estimates,
        evaluate(of_file, measures="all", pos_label="ill").estimates,
    ):
        assert len(single) == len(evaluate(Y, P, measures="all").estimates)
        for name, one in single.items():
            found, expected = ((x.value, x.standard_error, *x.interval) for x in (one, two[name]))
            assert found == pytest.approx(expected, abs=1e-8, nan_ok=True), name


def first(p):
    """Make the first class positive; a single column is of the second."""
    return {"pos_label": 0} | ({"direction": "<="} if p.ndim == 1 else {})


def read(p):
    return Predictions.from_arrays(Y, p, **first(p))


def on_scale(p, thresholds):
    return np.where(np.isinf(thresholds), np.inf, 1 - thresholds if p.ndim == 1 else thresholds)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_one_probability_in_all_functions():
    for call in (
        lambda p, q: compare(
            {"a": read(p), "b": read(q)}, measures=measures.net_benefit(0.4)
        ).to_pandas(),
        lambda p, q: on_scale(
            p, applications.choose_threshold(Y, p, n_draws=100, **first(p)).curve[0]
        ),
        # Thresholds of the given score rise as those of the probability fall
        lambda p, q: applications.decision_curve(Y, p, **first(p)).benefit.value[:: 2 * p.ndim - 3],
        lambda p, q: curves.calibration_curve(Y, p, **first(p)).y,
        lambda p, q: on_scale(p, curves.roc_curve(Y, p, multi_class="ovr")[0].points.thresholds),
        lambda p, q: applications.operating_point(Y, p, 0.5, **first(p)).tpr,
        lambda p, q: on_scale(
            p, applications.optimal_operating_points(Y, p, **first(p)).thresholds
        ),
        lambda p, q: dmfroc.applications.calibration_tests(
            Predictions.from_arrays(Y, p).with_positive_class(0)
        ).to_pandas(),
        lambda p, q: dmfroc.compare_subgroups(
            Predictions.from_arrays(Y, p).with_positive_class(0), by=FOLDS, measures="log_loss"
        ).to_pandas(),
    ):
        found, expected = call(P, OTHER), call(both(P), both(OTHER))
        if isinstance(found, pd.DataFrame):
            pd.testing.assert_frame_equal(found, expected)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-9)


# Whose score one column is, and its direction


@pytest.mark.parametrize("labels", [None, ["ill", "well"], ["well", "ill"]])
@pytest.mark.parametrize("positive", ["ill", "well"])
def test_a_single_score_is_that_of_the_positive_class_as_in_scikit_learn(labels, positive):
    names, call = np.array(["well", "ill"])[Y], {"labels": labels, "pos_label": positive}
    expected = average_precision_score(names, P, pos_label=positive)
    fpr, tpr, _ = metrics.roc_curve(names, P, pos_label=positive, drop_intermediate=False)
    auc = metrics.auc(fpr, tpr)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = Predictions.from_arrays(names, P, **call)
    told = [str(w.message) for w in caught]
    if auc < 0.5:
        assert f"of class {positive!r} is larger in class" in told[-1]
    assert len(told) == (auc < 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = {"a": P, "b": OTHER}
        judged = {"judge": names, "measures": "average_precision"}
        values = [
            estimate("average_precision", names, P, **call).value,
            evaluate(names, P, **judged, **call).estimates["average_precision"].value,
            compare(names, scores, measures="average_precision", **call).estimates["a"].value,
            estimate("average_precision", found).value,
        ]
        assert curves.roc_curve(names, P, **call).area == pytest.approx(auc)
        groups = dmfroc.compare_subgroups(names, P, FOLDS % 2, measures="hand_till", **call)
    np.testing.assert_allclose(values, expected)
    areas = [
        metrics.roc_auc_score(names[x == FOLDS % 2] == positive, P[x == FOLDS % 2]) for x in (0, 1)
    ]
    np.testing.assert_allclose([x.value for x in groups.estimates.values()], areas)


AT_MOST = {"direction": "<="}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("positive", [0, 1])
@pytest.mark.parametrize("small", [50 - 40 * P, 1 - P, -OTHER], ids=["marker", "share", "outlier"])
def test_small_scores_speak_for_the_class_without_being_negated(small, positive):
    small = small if positive else -small
    by_hand = (positive == Y).astype(int), -small
    given = {"pos_label": positive, **AT_MOST}
    finished = Predictions.from_arrays(Y, small, **given)
    assert finished.direction == "<="
    assert "the class of small scores" in str(finished)
    for name in ("hand_till", "average_precision", "max_informedness", "sensitivity_at"):
        expected = estimate(name, *by_hand)
        np.testing.assert_allclose(estimate(name, finished).interval, expected.interval, rtol=1e-9)
    for by in ("youden", "specificity"):
        options = {"by": by, "n_draws": 100}
        found = applications.choose_threshold(Y, small, **options, **given)
        expected = applications.choose_threshold(*by_hand, **options)
        assert found.direction == "<="
        assert found.threshold.value == -expected.threshold.value
        assert found.threshold.interval == tuple(-x for x in expected.threshold.interval[::-1])
        assert found.value == expected.value
        np.testing.assert_array_equal(found.curve, expected.curve * [[-1], [1]])
        # What is printed can be fed back
        point = applications.operating_point(Y, small, found.threshold.value, **given)
        told = small <= found.threshold.value
        assert point.tpr == pytest.approx(np.mean(told[positive == Y]))
        assert point.fpr == pytest.approx(np.mean(told[positive != Y]))
        assert point.direction == "<="
    points = curves.operating_points(Y, small, **given)
    assert points.direction == "<="
    for t, hits in zip(points.thresholds, points.true_positives, strict=True):
        assert np.count_nonzero((small <= t) & (positive == Y)) == hits
    optima = applications.optimal_operating_points(finished, cost_fn=3)
    expected = applications.optimal_operating_points(*by_hand, cost_fn=3)
    np.testing.assert_array_equal(optima.thresholds, -expected.thresholds)
    assert optima.midpoints == tuple(-x for x in expected.midpoints)
    mixed = applications.randomized_threshold(finished, fpr=0.2)
    expected = applications.randomized_threshold(*by_hand, fpr=0.2)
    labels = expected.predict(-small, random_state=0) == 1
    np.testing.assert_array_equal(mixed.predict(small, random_state=0) == positive, labels)
    curve = curves.roc_curve(Y, small, **given)
    hull, of_hand = curves.convex_hull(curve), curves.convex_hull(curves.roc_curve(*by_hand))
    np.testing.assert_array_equal(hull.calibrate(small), of_hand.calibrate(-small))
    repaired = applications.repair_concavities(curve, small)
    expected = applications.repair_concavities(curves.roc_curve(*by_hand), -small)
    np.testing.assert_allclose(repaired, -expected, atol=1e-12)
    assert dmfroc.plots.ROCDisplay.from_predictions(Y, small, **given).curves[positive].area == (
        curve.area
    )


def test_probabilities_of_the_other_class_have_one_scale():
    small, at = 1 - P, [0.3, 0.6]
    found = applications.decision_curve(Y, small, thresholds=at, **AT_MOST)
    expected = applications.decision_curve(Y, P, thresholds=[1 - x for x in at[::-1]])
    np.testing.assert_allclose(found.benefit.value[::-1], expected.benefit.value, atol=1e-12)
    assert "if the score is at most the threshold" in str(found)
    assert json.loads(found.to_json())["direction"] == "<="
    read_small = Predictions.from_arrays(Y, small, **AT_MOST)
    expected = estimate("log_loss", Y, P).value
    assert estimate("log_loss", read_small).value == pytest.approx(expected)
    curve = curves.calibration_curve(Y, small, **AT_MOST)
    np.testing.assert_allclose(curve.y, curves.calibration_curve(Y, P).y)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((Y, both(P)), AT_MOST, "direction= concerns a single score, but there are 2 columns"),
        ((Y, P), {"direction": "<"}, r"direction must be one of \('>=', '<='\)"),
        ((Y, P), {"pos_label": 7}, "pos_label= must be one of the classes 0, 1, but it is 7"),
        ((Y, P), {"pos_label": "yes"}, "must be one of the classes 0, 1, but it is 'yes'"),
        ((Y, pd.Series(P, name="p_0")), {"pos_label": 1}, "'p_0'.* pass direction='<=' if"),
    ],
)
def test_a_direction_is_one_of_a_single_score(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        Predictions.from_arrays(*arguments, **options)


def test_finished_predictions_keep_whose_score_they_have():
    given = Predictions.from_arrays(Y, P)
    with pytest.warns(UserWarning, match="it is taken for that of class 1, so that small values"):
        found = estimate("average_precision", given, pos_label=0)
    expected = Predictions.from_arrays(Y, P, pos_label=0, **AT_MOST)
    assert found.value == estimate("average_precision", expected).value
    with pytest.raises(TypeError, match=r"pass dmfroc.Predictions.from_arrays, which takes it"):
        estimate("average_precision", given, direction="<=")


def test_a_warning_names_what_takes_a_direction():
    with pytest.warns(UserWarning, match="direction='<=', if need be to Predictions.from_arrays"):
        dmfroc.hand_till_score(Y, -P)
    given = Predictions.from_arrays(Y, -P, direction="<=")
    assert dmfroc.hand_till_score(given) == dmfroc.hand_till_score(Y, P)


@pytest.mark.filterwarnings("ignore")
def test_thresholds_of_the_command_stay_on_the_scale_of_the_file(cases_directory, tmp_path):
    cases = cases_directory / "third"
    at_most = ["--direction", "<=", "--threshold"]
    for file, columns, cut, right in (
        ("egfr.csv", ["--label", "ckd", "--scores", "egfr"], 60, 0.85625),
        ("p_healthy.csv", ["--label", "ill", "--scores", "p"], 0.4, 0.88125),
    ):
        line = [cases / file, *columns]
        found = run("evaluate", *line, *at_most, cut, "--measures", "accuracy,informedness")
        assert found["estimates"]["accuracy"]["value"] == pytest.approx(right, abs=1e-6)
        assert found["direction"] == "<="
        best = run("threshold", *line, *at_most[:2])
        assert best["direction"] == "<="
        [threshold, youden] = (best["choice"][x]["value"] for x in ("threshold", "Youden's J"))
        fed = run("evaluate", *line, *at_most, threshold, "--measures", "informedness")
        assert fed["estimates"]["informedness"]["value"] == pytest.approx(youden)
        if file == "egfr.csv":
            assert (threshold, youden) == (66, pytest.approx(0.635460, abs=1e-6))
            rules = tmp_path / "rules.toml"
            rules.write_text('[[rule]]\nmeasure = "accuracy"\nat_least = 0.8\n')
            gate = CliRunner().invoke(
                app, ["gate", str(rules), *map(str, line), *at_most, "60", "--json"]
            )
            assert json.loads(gate.stdout)["rules"][0]["value"] == pytest.approx(right)
            pair = pd.read_csv(cases / file).assign(other=lambda x: x["egfr"] * 2)
            pair.to_csv(tmp_path / "pair.csv", index=False)
            line = [tmp_path / "pair.csv", "--label", "ckd", "--scores", "egfr,other"]
            found = run("compare", *line, *at_most, cut, "--measure", "accuracy")
            values = [x["value"] for x in found["estimates"].values()]
            assert values == pytest.approx([right, np.mean((pair["other"] <= 60) == pair["ckd"])])
        else:
            line = [*line, "--direction", "<="]
            found = run("decision", *line, "--threshold", 0.4)["thresholds"][0]
            told, ill = (pd.read_csv(cases / file).eval(x) for x in ("p <= .4", "ill == 1"))
            expected = np.mean(told & ill) - np.mean(told & ~ill) * 0.6 / 0.4
            assert found["value"] == pytest.approx(expected)


def run(*arguments):
    found = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


@pytest.mark.filterwarnings("ignore")
def test_one_probability_in_the_command(tmp_path):
    shown = np.where(np.arange(N) % 2, Y.astype(object), "")
    table = pd.DataFrame({"y": Y, "shown": shown, "judge": Y, "by": FOLDS % 2, "p": P})
    file = tmp_path / "p.csv"
    table.to_csv(file, index=False)
    first = ["--label", "y", "--scores", "p", "--pos-label", "0", "--direction", "<="]
    ignore = ["--ignore"]
    found = run("evaluate", file, *first, *ignore, "shown,judge,by", "--measures", "all")
    shown_once = {"dmf_auc"}
    assert set(found["estimates"]) == set(evaluate(Y, P, measures="all").estimates) - shown_once
    value = found["estimates"]["average_precision"]["value"]
    assert value == pytest.approx(estimate("average_precision", 1 - Y, 1 - P).value)
    groups = run("subgroups", file, *first, "--by", "by", "--measure", "net_benefit")["groups"]
    expected = measures.net_benefit()(1 - Y[FOLDS % 2 == 0], 1 - P[FOLDS % 2 == 0])
    assert next(iter(groups.values()))["value"] == pytest.approx(expected)
    judged = ["--label", "shown", *first[2:], "--judge", "judge", "--measures", "net_benefit"]
    found = run("evaluate", file, *judged)["estimates"]["net_benefit"]["value"]
    verified = np.where(shown == "", None, shown)
    options = {"judge": Y, "pos_label": 0}
    assert found == pytest.approx(estimate("net_benefit", verified, 1 - P, **options).value)
    refused = CliRunner().invoke(app, ["evaluate", str(file), *judged[:-1], "accuracy"])
    assert "needs hard labels" in refused.output


# Baselines


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("positive", [0, 1])
def test_baselines_treat_the_positive_class(positive):
    share = np.mean(positive == Y)
    scores = {"model": both(P), "treat all": None, "none": "treat none", "zero": "always 0"}
    found = compare(Y, scores, measures=measures.net_benefit(0.2), pos_label=positive)
    values = {name: e.value for name, e in found.estimates.items()}
    treated = share - (1 - share) / 4
    assert values["treat all"] == pytest.approx(treated, abs=1e-12)
    assert values["none"] == 0
    assert values["zero"] == pytest.approx(treated if positive == 0 else 0, abs=1e-12)
    curve = applications.decision_curve(Y, P, thresholds=[0.2], pos_label=positive).baselines
    assert curve["treat all"][0] == pytest.approx(treated, abs=1e-12)
    recall = compare(Y, scores, measures="recall", pos_label=positive).estimates
    assert (recall["treat all"].value, recall["none"].value) == (1, 0)
    by_hand = compare(
        (positive == Y).astype(int),
        {"model": P if positive else 1 - P, "treat all": None, "none": "treat none"},
        measures=measures.net_benefit(0.2),
    )
    for one, other in zip(found.differences[:2], by_hand.differences[:2], strict=True):
        assert one.p_value == pytest.approx(other.p_value, rel=1e-9)
    given = Predictions.from_arrays(Y, both(P)).with_positive_class(positive)
    of_predictions = compare({"model": given, "treat all": None}, measures="recall")
    assert of_predictions.estimates["treat all"].value == 1
