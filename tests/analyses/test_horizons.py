"""Outcomes that take time: classes at a horizon, censoring, competing events."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq

import dmfroc
from dmfroc.analyses.evidence import METHODS, evidence_of
from dmfroc.applications import choose_threshold, decision_curve
from dmfroc.inference.evidence import facts_of
from dmfroc.inference.options import Options
from dmfroc.measures import MEASURES
from dmfroc.plots import HorizonDisplay

RNG = np.random.default_rng(1)
N, T = 60, 0.7
X = RNG.normal(size=(N, 2))
RATES = np.exp([0.9, 0.7] * X) * [1, 0.7]
FIRST = RNG.exponential(1 / RATES)
END = RNG.exponential(1.3, N).round(1)  # with ties
TIME = np.minimum(FIRST.min(axis=1), END).round(1)
KIND = np.where(FIRST.min(axis=1) > END, 0, FIRST.argmin(axis=1) + 1)
RISKS = RATES / RATES.sum(axis=1, keepdims=True) * (1 - np.exp(-RATES.sum(axis=1) * T))[:, None]
LAST_CENSORED = np.where(TIME.max() == TIME, 0, KIND)
BACK = np.arange(N)[::-1]


def followed(**given):
    return {"follow_up": dmfroc.FollowUp(given.pop("time", TIME), given.pop("horizon", T), **given)}


FOLLOWED = followed()
SMOOTH = ["hand_till", "brier_score", "log_loss", "one_vs_rest_auc", "accuracy"]
OF_TWO = ["calibration_slope", "calibration_intercept", "observed_expected_ratio", "net_benefit",
          "brier_skill_score", "recall", "precision", "negative_predictive_value"]  # fmt: skip


def chance_before(x, time, is_event):
    """Return the chance to stay uncensored just before x, by its definition."""
    product = 1.0
    for u in np.unique(time[~is_event & (time < x)]):
        leave = (~is_event & (time == u)).sum()
        product *= 1 - leave / (leave + (time > u).sum())
    return product


def by_hand(time, kind, t):
    """Return classes, and weights that are 0 where the class is not known."""
    chances = [chance_before(x, time, kind > 0) for x in np.minimum(time, t)]
    known = (time >= t) | (kind > 0)
    return np.where(time <= t, kind, 0), known / np.array(chances)


def influences(measure, y, scores, **given):
    """Return the facts of a measure, with influences through the censoring."""
    of_rows = {x: given.pop(x) for x in ("sample_weight", "y_pred") if x in given}
    evidence = evidence_of(y, scores, Options(**given), of_rows, needs="scores")
    found = MEASURES[measure]
    [facts] = facts_of([found], evidence.sample)
    return facts


@pytest.fixture(scope="module")
def pbc(external_directory):
    return pd.read_csv(external_directory / "pbc.csv")


def test_time_roc(pbc):
    """What timeROC 0.4.1 prints of bilirubin and death; its constant is of 2,000 draws."""
    given = {"time": pbc.time, "ties": "left_out"}
    printed = {365: (0.8230, 0.0364), 1095: (0.8342, 0.0248), 1825: (0.8623, 0.0215)}
    for t, (value, error) in printed.items():
        facts = influences("hand_till", pbc.status == 2, pbc.bili, **followed(horizon=t, **given))
        by_squares = np.sqrt((facts.influences.influences**2).sum())
        assert (facts.value, by_squares) == pytest.approx((value, error), abs=5e-5)
        if t == 365:
            ends = facts.value + np.array([-1.96, 1.96]) * by_squares
            assert ends == pytest.approx([0.7516, 0.8944], abs=1.1e-4)
    several = dmfroc.estimate(
        "hand_till", pbc.status == 2, pbc.bili, **followed(horizon=[*printed], **given)
    )
    assert several.critical_values["hand_till"] == pytest.approx(2.286, abs=0.09)


def test_ties_with_the_horizon(pbc):
    """One death on day 1,095."""
    for at, value in {"event": 0.8361, "event_free": 0.8319, "left_out": 0.8342}.items():
        found = dmfroc.estimate(
            "hand_till",
            pbc.status == 2,
            pbc.bili,
            follow_up=dmfroc.FollowUp(pbc.time, 1095, ties=at),
        )
        assert found.value == pytest.approx(value, abs=5e-5)


def test_censored_at_the_horizon_is_event_free():
    time, died = np.array([1.0, 2, 3, 3, 3, 3]), np.array([1, 1, 0, 0, 0, 0])
    found = dmfroc.estimate(
        "hand_till", died, [6, 5, 4, 3, 2, 1], follow_up=dmfroc.FollowUp(time, 3)
    )
    assert found.value == 1


@pytest.mark.parametrize("data", ["simulated", "melanoma", "paquid"])
def test_competing_events(data, request):
    """Hand and Till's M over pairs of rows with weights, and the Brier score, by hand."""
    time, kind, risks, t = TIME, KIND, RISKS, T
    if data != "simulated":
        table = pd.read_csv(request.getfixturevalue("external_directory") / f"{data}.csv")[:300]
        marker = table.thick if data == "melanoma" else -table.DSST
        time, kind = table.time.to_numpy(), table.status.astype(int).to_numpy()
        z = (marker - marker.mean()).to_numpy() / marker.std()
        t, risks = np.median(time), np.stack([0.3 / (1 + np.exp(-z)), 0.1 / (1 + np.exp(z))], 1)
    classes, w = by_hand(time, kind, t)
    scores = np.column_stack([1 - risks.sum(axis=1), risks])
    areas = []
    for i, j in itertools.permutations(range(3), 2):  # the score of i, in class i and class j
        own, other = (np.flatnonzero((classes == c) & (w > 0)) for c in (i, j))
        higher = np.sign(scores[own, i][:, None] - scores[other, i]) / 2 + 0.5
        areas.append(w[own] @ higher @ w[other] / (w[own].sum() * w[other].sum()))
    given = {"follow_up": dmfroc.FollowUp(time, t)}
    found = dmfroc.evaluate(kind, risks, measures=["hand_till", "dmf_auc", "brier_score"], **given)
    assert found.estimates["hand_till"].value == pytest.approx(np.mean(areas), abs=1e-12)
    brier = w @ ((scores - np.eye(3)[classes]) ** 2).sum(axis=1) / w.sum()
    halved = found.estimates["brier_score"].value / brier
    assert halved == pytest.approx(1, abs=1e-12) or halved == pytest.approx(0.5, abs=1e-12)
    weighted = dmfroc.estimate("dmf_auc", classes, scores, sample_weight=w)
    assert found.estimates["dmf_auc"].value == pytest.approx(weighted.value, abs=1e-12)
    assert found.predictions.n_observations == (w > 0).sum()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_without_censoring_nothing_changes():
    is_event = KIND > 0
    classes = np.where(TIME <= T, KIND, 0)[is_event]
    scores = np.column_stack([1 - RISKS.sum(axis=1), RISKS])[is_event]
    for kinds, labels, risks in ((2, classes, scores), (1, classes > 0, RISKS.sum(1)[is_event])):
        plain = dmfroc.evaluate(labels, risks, measures="all", method="jackknife")
        given = {"follow_up": dmfroc.FollowUp(TIME[is_event], T, censored=0), "method": "jackknife"}
        at = KIND[is_event] if kinds == 2 else np.ones(is_event.sum(), bool)
        found = dmfroc.evaluate(at, risks, measures="all", **given)
        assert list(found.estimates) == list(plain.estimates)
        for name, one in plain.estimates.items():
            other = found.estimates[name]
            numbers = [(x.value, x.standard_error, *x.interval) for x in (one, other)]
            np.testing.assert_allclose(*numbers, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("measure", [*SMOOTH, *OF_TWO])
@pytest.mark.parametrize("censoring", ["kaplan-meier", "strata"])
@pytest.mark.filterwarnings("ignore:a class has the weight", "ignore:.*y_pred is not the class")
def test_influences_are_derivatives_of_the_whole_procedure(measure, censoring):
    """A row's weight also counts in the chance to stay uncensored."""
    kind, risks = (KIND, RISKS) if measure in SMOOTH else (KIND > 0, RISKS.sum(axis=1))
    given = followed(censoring=censoring, by=X[:, 0] > 0 if censoring == "strata" else None)
    if measure in ("accuracy", "recall", "precision", "negative_predictive_value"):
        hard = RISKS.sum(axis=1) > 0.5
        given["y_pred"] = hard if measure in OF_TWO else RISKS.argmax(axis=1) + hard
    weights, step = 1 + np.arange(N) % 3 / 2, 1e-5
    found = influences(measure, kind, risks, sample_weight=weights, **given).influences.influences
    for row in range(0, N, 7):
        ends = []
        for end in (1 + step, 1 - step):
            moved = weights.copy()
            moved[row] *= end
            ends.append(dmfroc.estimate(measure, kind, risks, sample_weight=moved, **given).value)
        assert found[row] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-7), row


FOLDS = np.arange(N) % 2
TOGETHER = {
    "folds": {"folds": FOLDS},
    "shares": {"population": {0: 0.6, 1: 0.3, 2: 0.1}},
    "groups": {"groups": np.arange(N) // 2},
    "fixed sizes": {"stratify": True},
    "one stratum": {"stratify": False},
    "folds and shares": {"folds": FOLDS, "population": {0: 0.6, 1: 0.3, 2: 0.1}},
    "labels": {"labels": [0, 2, 1], "y_score": RISKS[:, ::-1]},
}


@pytest.mark.parametrize("kind", TOGETHER)
def test_other_options_together_with_a_horizon(kind):
    """The value is that with the weights by hand, the influences are its derivatives."""
    given = {"y_score": RISKS, "sample_weight": 1 + np.arange(N) % 3 / 2} | TOGETHER[kind]
    classes, w = by_hand(TIME, KIND, T)
    none = 1 - given["y_score"].sum(axis=1)
    by_weights = given | {"y_score": np.column_stack([none, given["y_score"]])}
    by_weights["sample_weight"] = w
    one = given | {"sample_weight": None}
    value = dmfroc.estimate("brier_score", KIND, **one, **FOLLOWED).value
    assert value == pytest.approx(dmfroc.estimate("brier_score", classes, **by_weights).value)
    names = {"labels", "sample_weight"} & {*given}
    of_rows = {x: given[x] for x in names}
    options = {x: y for x, y in given.items() if x not in {*names, "y_score"}} | FOLLOWED
    evidence = evidence_of(KIND, given["y_score"], Options(**options), of_rows, needs="scores")
    measure, units = MEASURES["brier_score"], evidence.sample.units
    [facts] = facts_of([measure], evidence.sample)
    for row in range(0, N, 11):
        ends = []
        for end in (1 + 1e-5, 1 - 1e-5):
            moved = given["sample_weight"].copy()
            moved[row] *= end
            call = given | {"sample_weight": moved}
            ends.append(dmfroc.estimate("brier_score", KIND, **call, **FOLLOWED).value)
        found = facts.influences.influences[row]
        assert found == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-7), row
    assert len(units.unit_of_row) == N
    error = dmfroc.estimate("brier_score", KIND, **given, **FOLLOWED).standard_error
    squares = np.bincount(units.unit_of_row, facts.influences.influences) ** 2
    assert error == pytest.approx(np.sqrt(squares.sum()), rel=0.2)


def test_weights_are_repeated_rows_and_groups_of_copies_are_rows():
    times = 1 + np.arange(N) % 3
    repeated = np.repeat(np.arange(N), times)
    one = dmfroc.estimate("brier_score", KIND, RISKS, sample_weight=times, **FOLLOWED)
    many = dmfroc.estimate(
        "brier_score",
        KIND[repeated],
        RISKS[repeated],
        follow_up=dmfroc.FollowUp(TIME[repeated], T),
        groups=repeated,
    )
    counted = dmfroc.estimate("brier_score", KIND, RISKS, frequency_weight=times, **FOLLOWED)
    assert one.value == pytest.approx(many.value, abs=1e-12)
    assert one.standard_error == pytest.approx(many.standard_error, rel=1e-10)
    assert counted.value == pytest.approx(one.value, abs=1e-12)
    assert counted.standard_error < one.standard_error


def test_strata_and_given_chances():
    stratum = X[:, 0] > 0
    chances = np.empty(N)
    for s in (False, True):
        own = stratum == s
        until = np.minimum(TIME, T)[own]
        chances[own] = [chance_before(x, TIME[own], KIND[own] > 0) for x in until]
    strata = dmfroc.estimate("brier_score", KIND, RISKS, 
                             **followed(censoring="strata", by=stratum))  # fmt: skip
    given = dmfroc.estimate("brier_score", KIND, RISKS, **followed(censoring=chances))
    assert strata.value == pytest.approx(given.value, abs=1e-12)
    assert strata.standard_error != given.standard_error


def test_chances_by_a_cox_regression():
    """Of one covariate of 0 and 1 the partial likelihood is written out; tied times by Breslow."""
    pytest.importorskip("statsmodels")
    covariate = (X[:, 0] > 0).astype(float)
    gone = KIND == 0
    at = np.unique(TIME[gone])

    def slope(beta):
        total = 0.0
        for u in at:
            leave = gone & (u == TIME)
            risk = leave | (u < TIME)
            hazard = np.exp(beta * covariate[risk])
            total += covariate[leave].sum()
            total -= leave.sum() * (hazard * covariate[risk]).sum() / hazard.sum()
        return total

    beta = brentq(slope, -5, 5)
    jumps = [
        (leave := gone & (u == TIME)).sum() / np.exp(beta * covariate[leave | (u < TIME)]).sum()
        for u in at
    ]
    before = [sum(j for j, u in zip(jumps, at, strict=True) if u < min(t, T)) for t in TIME]
    chances = np.exp(-np.array(before) * np.exp(beta * covariate))
    options = {"censoring": "cox"}
    found = dmfroc.estimate("brier_score", KIND, RISKS, **followed(**options, by=covariate))
    given = dmfroc.estimate("brier_score", KIND, RISKS, **followed(censoring=chances))
    assert found.value == pytest.approx(given.value, abs=1e-7)
    assert found.standard_error == pytest.approx(given.standard_error, rel=1e-6)
    moved = dmfroc.estimate(
        "brier_score", KIND, RISKS, **followed(**options, by=7 - 3 * covariate[:, None])
    )
    assert moved.value == pytest.approx(found.value, abs=1e-7)
    index = pd.Series(covariate, [f"r{i}" for i in range(N)])
    y = pd.Series(KIND[BACK], index.index[BACK])
    scores = pd.DataFrame(RISKS[BACK], y.index)
    time = pd.Series(TIME[BACK], y.index)
    turned = dmfroc.estimate("brier_score", y, scores, **followed(**options, time=time, by=index))
    assert turned.value == pytest.approx(found.value, abs=1e-12)
    for wrong, message in ((np.full(N, np.nan), "finite numbers"), (X[:, [0, 0]], "linearly")):
        with pytest.raises(ValueError, match=message):
            dmfroc.estimate("brier_score", KIND, RISKS, **followed(**options, by=wrong))


def test_a_marker_for_one_kind_of_event():
    """Rows with another kind of event count as the rest."""
    classes, w = by_hand(TIME, KIND, T)
    found = dmfroc.estimate("hand_till", KIND, X[:, 0], pos_label=1, **FOLLOWED)
    plain = dmfroc.estimate("hand_till", classes == 1, X[:, 0], sample_weight=w)
    assert found.value == pytest.approx(plain.value, abs=1e-12)


def test_how_censored_rows_are_named():
    expected = dmfroc.estimate("brier_score", KIND, RISKS, **FOLLOWED)
    words = np.array(["lost", "relapse", "zombie"])[KIND]
    for given in (
        {"y_true": [None if k == 0 else int(k) for k in KIND]},
        {"y_true": np.where(KIND == 0, np.nan, KIND)},
        {"y_true": words} | followed(censored="lost"),
        {"y_true": words, "labels": ["lost", "relapse", "zombie"]},
        {"y_true": np.where(KIND == 0, None, words), "labels": ["fine", "relapse", "zombie"]},
        {"y_true": pd.Series(KIND, BACK)} | followed(time=pd.Series(TIME, BACK)),
        {"y_true": dmfroc.Predictions.from_arrays(
            KIND, np.column_stack([1 - RISKS.sum(axis=1), RISKS])), "y_score": None},
    ):  # fmt: skip
        found = dmfroc.estimate("brier_score", **({"y_score": RISKS} | FOLLOWED | given))
        assert found.value == pytest.approx(expected.value, abs=1e-12)
        assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-12)


CODINGS = {  # of no event and event, and whether they are told apart
    "text": (("0", "1"), True),
    "text of booleans": (("False", "True"), True),
    "empty": (("", "dead"), True),
    "named by default": (("no event", "dead"), True),
    "mixed": ((0, "dead"), True),
    "one and two": ((1, 2), False),
    "one and two, floats": ((1.0, 2.0), False),
    "one and two, text": (("1", "2"), False),
    "signs": ((-1, 1), False),
    "words": (("alive", "dead"), False),
    "other words": (("censored", "event"), False),
    "words in wrong order": (("Living", "Died of Disease"), False),
}


@pytest.fixture(scope="module")
def survival(cases_directory):
    """Return follow-up of 300 patients, the risks, and the right values at 36 months."""
    right = next(
        x["right"]
        for x in json.loads((cases_directory / "third" / "expected_handout.json").read_text())
        if x["name"] == "survival12.csv"
    )
    return pd.read_csv(cases_directory / "third" / "survival12.csv"), right


@pytest.mark.parametrize("coding", CODINGS)
def test_no_event_is_told_apart_or_asked_for(survival, coding):
    """Arrays and predictions have one check: the right value, or an error that names the remedy."""
    table, right = survival
    (none, event), is_known = CODINGS[coding]
    y = np.where(table.status == 2, np.array(event, object), np.array(none, object)).tolist()
    at = {"follow_up": dmfroc.FollowUp(table.months, 36)}
    named = {"follow_up": dmfroc.FollowUp(table.months, 36, censored=none)}
    risk = table.risk.to_numpy()
    two, by = np.column_stack([1 - risk, risk]), np.arange(len(y)) % 2
    calls = {
        "estimate": lambda y, p, **o: dmfroc.estimate("hand_till", y, p, **o).value,
        "evaluate": lambda y, p, **o: dmfroc.evaluate(y, p, measures="hand_till", **o)[
            "hand_till"
        ].value,
        "compare": lambda y, p, **o: dmfroc.compare(
            y, {"a": p, "b": p**2}, measures="hand_till", **o
        )["a"].value,
        "gate": lambda y, p, **o: dmfroc.applications.gate(
            [{"measure": "hand_till", "at_least": 0.5}], y, p, **o
        ).rules[0].value,
        "subgroups": lambda y, p, **o: dmfroc.compare_subgroups(y, p, by, measures="hand_till",
                                                                **o) and None,
        "decision_curve": lambda y, p, **o: decision_curve(y, p, thresholds=[0.3], **o) and None,
        "choose_threshold": lambda y, p, **o: choose_threshold(y, p, n_draws=100, **o) and None,
    }  # fmt: skip
    for name, call in calls.items():
        for scores in (risk, two):
            found = call(y, scores, **named)
            assert found in (None, pytest.approx(right["hand_till"], abs=1e-12)), name
            if is_known:
                assert call(y, scores, **at) == found, name
                continue
            for given in ({}, {"pos_label": event} if name != "subgroups" else {}):
                with pytest.raises(ValueError, match=f"rows whose time .* such as censored={none!r}"
                                                     .replace("1.0", "1")):  # fmt: skip
                    call(y, scores, **given, **at)
    if coding == "mixed":
        return  # which predictions refuse
    sample = dmfroc.Predictions.from_arrays(y, risk, labels=[none, event])
    found = dmfroc.estimate("brier_score", sample, **(at if is_known else named))
    assert found.value == pytest.approx(right["brier_score"], abs=1e-12)
    if not is_known:
        with pytest.raises(ValueError, match="name the value of rows whose time ends"):
            dmfroc.estimate("brier_score", sample, **at)
    turned = dmfroc.Predictions.from_arrays(y, -risk, labels=[event, none])
    with pytest.raises(ValueError, match="is taken for no event, but that is"):
        dmfroc.estimate("hand_till", turned, **named)


def test_a_status_that_is_missing_does_not_make_the_living_an_event():
    y = np.where(KIND > 0, "dead", "alive").astype(object)
    y[:3] = None
    with pytest.raises(ValueError, match="such as censored='alive'"):
        dmfroc.estimate("hand_till", y, X[:, 0], **FOLLOWED)
    with pytest.raises(ValueError, match="such as censored='alive'"):
        dmfroc.estimate("hand_till", y, X[:, 0], **followed(censored="Alive"))
    found = dmfroc.estimate("hand_till", y, X[:, 0], **followed(censored="alive"))
    kinds = np.where(y == "dead", 1, 0)
    assert found.value == dmfroc.estimate("hand_till", kinds, X[:, 0], **FOLLOWED).value
    with pytest.raises(ValueError, match=r"order the classes, labels=\['alive', 'dead'\]"):
        dmfroc.estimate("hand_till", y, X[:, 0], labels=["dead", "alive"],
                        **followed(censored="alive"))  # fmt: skip


@pytest.mark.parametrize("method", ["bootstrap", "bayesian_bootstrap"])
def test_bootstraps_estimate_the_censoring_again(method):
    found = dmfroc.estimate("brier_score", KIND, RISKS, method=METHODS[method](1000), **FOLLOWED)
    jackknife = dmfroc.estimate("brier_score", KIND, RISKS, **FOLLOWED)
    assert found.standard_error == pytest.approx(jackknife.standard_error, rel=0.15)


def test_several_horizons():
    horizons = [0.3, 0.5, 0.9]
    scores = {"a": RISKS, "b": {t: RISKS * t for t in horizons}}
    given = {"measures": "brier_score"}
    found = dmfroc.compare(KIND, scores, **followed(horizon=horizons), **given)
    for place, t in enumerate(horizons):
        alone = dmfroc.compare(KIND, {"a": RISKS, "b": RISKS * t}, **followed(horizon=t), **given)
        assert found.points["a"][place] == alone.estimates["a"]
        [difference] = alone.differences
        assert found.points["a - b"][place] == difference
    errors = [x.standard_error for x in found.points["a - b"]]
    assert np.sqrt(np.diag(found.covariances["a - b"])) == pytest.approx(errors, rel=0.1)
    a, b, c = (x.value for x in found.points["a - b"])
    mean = (0.1 * a + 0.3 * b + 0.2 * c) / 0.6  # trapezoids
    difference = found.means["a - b"]
    assert difference.value == pytest.approx(mean)
    assert (difference.first, difference.second) == ("a", "b")
    assert isinstance(found.means["a"], dmfroc.results.Estimate)  # a value has no p-value
    assert found.means["a"].measure == "brier_score"
    apart = found.means["a"].value - found.means["b"].value
    assert difference.value == pytest.approx(apart)
    for name, (low, high) in {x: y.T for x, y in found.simultaneous.items()}.items():
        ends = np.array([x.interval for x in found.points[name]]).T
        assert (low < ends[0]).all()
        assert (high > ends[1]).all()
        assert 1.96 < found.critical_values[name] < 2.4
    assert len(found.to_pandas()) == 9
    frame = found.to_pandas("means")
    assert frame.loc["a - b", "mean"] == pytest.approx(mean)
    shown = HorizonDisplay(found).plot(difference=True)
    assert list(shown.lines_["a - b"].get_xdata()) == horizons
    assert set(found.plot(band="pointwise").bands_) == {"a", "b"}
    measures = dmfroc.evaluate(
        KIND,
        RISKS,
        measures=["brier_score", "hand_till"],
        follow_up=dmfroc.FollowUp(TIME, horizons),
    )
    assert measures.points["brier_score"] == found.points["a"]


def test_two_classes_have_one_area_in_the_picture():
    followed = {"follow_up": dmfroc.FollowUp(TIME, [0.4, 0.7])}
    died = np.minimum(KIND, 1)
    found = dmfroc.evaluate(died, RISKS.sum(axis=1), **followed)
    shown = HorizonDisplay(found).plot()
    assert "hand_till" in shown.lines_
    assert "dmf_auc" not in shown.lines_
    one = HorizonDisplay(dmfroc.estimate("hand_till", died, RISKS.sum(axis=1), **followed)).plot()
    assert one.ax_.get_ylabel() == "AUC"
    assert one.ax_.get_xlabel() == "Horizon (95 % simultaneous intervals)"
    assert list(one.ax_.get_xticks()) == [0.4, 0.7]
    two = {"a": RISKS.sum(axis=1), "b": RISKS[:, 0]}
    several = HorizonDisplay(dmfroc.compare(died, two, measures="brier_score", **followed)).plot()
    assert several.ax_.get_ylabel() == "Brier score"
    assert [line.get_label() for line in several.lines_.values()] == ["a", "b"]


def test_prediction_accuracy_is_about_the_aalen_johansen_prediction():
    """One minus the Brier score over that of the cumulative incidence of the event."""
    died = KIND == 1
    is_event, incidence, survival = KIND > 0, 0.0, 1.0
    for u in np.unique(TIME[TIME <= T]):
        is_now, at_risk = u == TIME, (u <= TIME).sum()
        incidence += survival * (died & is_now).sum() / at_risk
        survival *= 1 - (is_event & is_now).sum() / at_risk
    given = {"follow_up": dmfroc.FollowUp(TIME, T), "pos_label": 1}
    brier = dmfroc.estimate("brier_score", KIND, RISKS[:, 0], **given).value
    found = dmfroc.estimate("brier_skill_score", KIND, RISKS[:, 0], **given).value
    classes, w = by_hand(TIME, KIND, T)
    assert (w * (classes == 1)).sum() / w.sum() == pytest.approx(incidence, abs=1e-12)
    assert found == pytest.approx(1 - brier / (incidence * (1 - incidence)), abs=1e-12)


def test_subgroups_share_the_censoring():
    by = np.where(np.arange(N) % 2, "odd", "even")
    found = dmfroc.compare_subgroups(KIND > 0, RISKS.sum(axis=1), by, measures="brier_score",
                                     min_class_size=2, **FOLLOWED)  # fmt: skip
    classes, w = by_hand(TIME, KIND, T)
    for name, one in found.estimates.items():
        own = (by == name) & (w > 0)
        plain = dmfroc.estimate("brier_score", classes[own] > 0, RISKS.sum(axis=1)[own],
                                sample_weight=w[own])  # fmt: skip
        assert one.value == pytest.approx(plain.value, abs=1e-12)
    with pytest.raises(ValueError, match=r"follow_up has weights .* use method='jackknife'"):
        dmfroc.compare_subgroups(KIND > 0, RISKS.sum(axis=1), by, method=dmfroc.Bootstrap(100),
                                 measures="brier_score", min_class_size=2, **FOLLOWED)  # fmt: skip


def test_decisions_at_a_horizon():
    p = RISKS.sum(axis=1)
    classes, w = by_hand(TIME, KIND > 0, T)
    curve = decision_curve(KIND > 0, p, thresholds=[0.3], **FOLLOWED)
    treated = p >= 0.3
    benefit = (w * treated) @ (classes - 0.3 / 0.7 * (1 - classes)) / w.sum()
    assert curve.benefit.value[0] == pytest.approx(benefit, abs=1e-12)
    alone = dmfroc.estimate(dmfroc.measures.net_benefit(0.3), KIND > 0, p, **FOLLOWED)
    assert curve.benefit.standard_error[0] == pytest.approx(alone.standard_error)
    found = choose_threshold(KIND > 0, p, n_draws=100, **FOLLOWED)
    plain = choose_threshold(classes > 0, p, sample_weight=w, n_draws=100)
    assert (found.threshold.value, found.value.value) == pytest.approx(
        (plain.threshold.value, plain.value.value)
    )
    known = (TIME >= T) | (KIND > 0)
    with pytest.raises(ValueError, match="use the intervals of calibration_intercept"):
        dmfroc.applications.calibration_tests(KIND > 0, p, **FOLLOWED)
    tests = dmfroc.applications.calibration_tests(
        (KIND > 0)[known], p[known], follow_up=dmfroc.FollowUp(TIME[known], T)
    )
    assert tests.tests == dmfroc.applications.calibration_tests(classes[known] > 0, p[known]).tests


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"follow_up": 2}, r"FollowUp, such as dmfroc\.FollowUp\(times, horizon=5\), but it is 2"),
        ({"horizon": -1}, "horizon must be above 0 and finite"),
        ({"horizon": [2, 1]}, "several in rising order"),
        ({"horizon": [1, 2], "method": "bootstrap"}, "or give one horizon"),
        ({"y_true": LAST_CENSORED, "horizon": 99}, "follow-up, which ends with censored rows at"),
        ({"time": TIME + 1}, "not of two classes or more: take another horizon"),
        ({"time": -TIME}, "time is -.* must be finite and >= 0"),
        ({"time": TIME[1:]}, "time has 59"),
        ({"ties": "lost"}, "ties must be one of"),
        ({"censoring": "strata"}, "by has the strata of censoring='strata'"),
        ({"censoring": np.zeros(N)}, "censoring must be above 0 and at most 1"),
        ({"y_score": RISKS[:, 0]}, "a marker for one kind of event: name it by pos_label="),
        ({"y_score": RISKS * 9}, "the risk of each kind of event, and at most 1 in all"),
        ({"y_score": {1: RISKS}}, "scores at the horizons 1, but none at 0.7: give them for each"),
        ({"y_true": np.zeros(N, int)}, "y_true has no event: all rows are censored"),
        ({"population": dmfroc.Importance(np.ones(N))}, "population.* leave one out"),
        ({"judge": KIND}, "follow_up cannot be given together with judge="),
        ({"method": "bayes"}, "known to method='jackknife', 'bootstrap', .* leave method="),
    ],
)  # fmt: skip
def test_what_is_refused(given, message):
    changed = {x: given[x] for x in ("time", "horizon", "ties", "censoring") if x in given}
    others = {x: given[x] for x in given if x not in changed}

    def call():
        both = {"y_true": KIND, "y_score": RISKS} | followed(**changed) | others
        return dmfroc.estimate("brier_score", **both)

    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_first_class_of_predictions_and_independent_samples_are_refused():
    words = np.array(["gone", "dead"])[KIND % 2]
    sample = dmfroc.Predictions.from_arrays(words, X[:, 0])
    with pytest.raises(ValueError, match=r"first class, 'dead', .* labels=\['gone', 'dead'\]"):
        dmfroc.estimate("hand_till", sample, **followed(censored="gone"))
    with pytest.raises(ValueError, match="follow_up is that of one sample: leave paired=True"):
        dmfroc.compare(KIND > 0, {"a": X[:, 0], "b": X[:, 1]}, paired=False, **FOLLOWED)


def test_few_rows_with_much_weight_are_reported():
    time = np.append(np.linspace(0.1, 1, 400), np.full(10, 2.0))
    died = np.append(np.arange(400) % 8 == 0, np.zeros(10, bool))
    with pytest.warns(UserWarning, match="the weights, which few rows carry"):
        dmfroc.estimate(
            "brier_score", died, np.linspace(0.1, 0.9, 410), follow_up=dmfroc.FollowUp(time, 2)
        )


def test_a_value_that_is_not_finite_at_one_horizon_is_refused():
    y, time = np.array([0, 1] * 30), np.r_[np.arange(1.0, 31), np.arange(1.0, 31)]

    def bind(predictions):
        n_events = predictions.true.sum()
        return lambda w: np.where(n_events < 20, np.nan, w @ predictions.true / w.sum())

    odd = dmfroc.Measure(name="odd", bind=bind)
    with pytest.raises(ValueError, match="odd is nan for 'odd', which cannot be compared"):
        dmfroc.estimate(odd, y, np.linspace(0, 1, 60), follow_up=dmfroc.FollowUp(time, [5, 25]))


def test_net_benefit_with_strata_is_that_of_dcurves(survival):
    """Kaplan and Meier's share of events among those who are treated."""
    table, _ = survival
    risk, event, time = table.risk.to_numpy(), (table.status == 2).to_numpy(), table.months
    for threshold in (0.2, 0.3, 0.5):
        treated, survives = risk >= threshold, 1.0
        of_treated, events = time[treated].to_numpy(), event[treated]
        for at in np.unique(of_treated[events & (of_treated <= 36)]):
            survives *= 1 - (events & (of_treated == at)).sum() / (of_treated >= at).sum()
        expected = treated.mean() * (1 - survives - survives * threshold / (1 - threshold))
        found = dmfroc.estimate(
            *(dmfroc.measures.net_benefit(threshold), event.astype(int), risk),
            **{"follow_up": dmfroc.FollowUp(time, 36, censoring="strata", by=treated)},
        )
        assert found.value == pytest.approx(expected)


def test_means_over_horizons_of_many_rows(monkeypatch):
    """Limits of many rows hold bins of their influences, and those of means the rows' own."""
    rng, n = np.random.default_rng(5), 5000
    features = rng.normal(size=n)
    events, ends = rng.exponential(np.exp(-features / 2)), rng.exponential(2, n)
    follow_up = dmfroc.FollowUp(np.minimum(events, ends), [0.1, 0.5], censored=0)
    named = {"a": features, "b": features + rng.normal(size=n)}

    def mean():
        found = dmfroc.compare(
            (events <= ends).astype(int), named, measures="auc", follow_up=follow_up
        )
        return found.means["a - b"]

    expected = mean()
    monkeypatch.setattr("dmfroc.inference.evidence._MANY_UNITS", 1000)
    found = mean()
    assert found.value == expected.value
    apart = expected.standard_error / 50
    assert found.interval == pytest.approx(expected.interval, abs=apart)


def test_scores_of_events_beyond_the_horizon_are_not_called_reversed():
    """Those at high risk leave early, so that most events that are seen are of low risk."""
    rng = np.random.default_rng(7)
    risk = rng.random(400)
    t, lost = rng.exponential(1 / (0.1 + risk)), rng.exponential(np.where(risk > 0.5, 0.8, 50))
    follow_up = dmfroc.FollowUp(np.minimum(t, lost), 1)
    found = dmfroc.estimate("hand_till", t <= lost, risk, follow_up=follow_up)  # no warning
    assert found.value > 0.8
    with pytest.warns(UserWarning, match="larger in class False|below chance"):
        dmfroc.estimate("hand_till", t <= lost, risk)


def test_the_one_auc_of_two_classes_is_shown_once_at_several_horizons():
    rng = np.random.default_rng(0)
    died, risk, time = rng.integers(0, 2, 300), rng.normal(size=300), rng.exponential(size=300)
    found = dmfroc.evaluate(died, risk, follow_up=dmfroc.FollowUp(time, [0.2, 0.5]))
    assert found.means["dmf_auc"].value == pytest.approx(found.means["hand_till"].value)
    for table in found.tables():
        assert {str(name) for name in table.columns[0].cells} == {"AUC"}
    assert "Hand-Till M" not in found.to_html()
    assert "DMF-AUC" not in str(found)
    one = dmfroc.compare(
        *(died, {"a": risk, "b": -risk}),
        follow_up=dmfroc.FollowUp(time, [0.2, 0.5]),
    )
    assert len(one.tables()[1].columns[0].cells) == 3


def test_a_horizon_after_all_times_is_named_with_them():
    followed_up = dmfroc.FollowUp(np.linspace(0.5, 5, N), 200)
    with pytest.raises(ValueError, match=r"^horizon=200: times are 0\.5 to 5, and the rows"):
        dmfroc.estimate("auc", (KIND > 0).astype(int), RISKS[:, 0], follow_up=followed_up)


@pytest.mark.parametrize("horizon", [T, [0.3, T]])
def test_columns_of_one_kind_of_event_are_its_risk_and_the_rest(horizon):
    """Two columns by horizon, as others return them, are no classes."""
    event, risk = (KIND > 0).astype(int), RISKS.sum(axis=1)
    by_horizon = np.stack([risk / 2, risk], axis=1)
    options = followed(horizon=horizon, censored=0)
    rest = dmfroc.estimate("brier_score", event, np.stack([1 - risk, risk], axis=1), **options)
    alone = dmfroc.estimate("brier_score", event, risk, **options)
    if horizon == T:
        assert rest.value == pytest.approx(alone.value, rel=1e-12)
    for wrong in (by_horizon, pd.DataFrame(by_horizon), np.column_stack([by_horizon, risk])):
        with pytest.raises(ValueError, match="at several horizons a dict by horizon"):
            dmfroc.estimate("brier_score", event, wrong, **options)
