"""Given class shares: every fold has them, and so have samples without one of the units."""

import numpy as np
import pytest

import dmfroc
from dmfroc import compare, estimate, evaluate
from dmfroc.measures import get_measure, recall_at, weighted_kappa

RNG = np.random.default_rng(3)
N = 200
FOLDS = np.arange(N) % 2
Y = (RNG.random(N) < np.where(FOLDS == 0, 0.15, 0.85)).astype(int)  # folds 85/15 and 15/85


def drawn(shift):
    x = RNG.normal(size=N) + 1.2 * Y - 1.6 + shift
    return np.column_stack([1 / (1 + np.exp(x)), 1 / (1 + np.exp(-x))])


A, B = drawn(0.3), drawn(-0.8)
WEIGHTS = RNG.uniform(0.2, 3, N)
IN_CLASS = np.where(Y == 1, RNG.geometric(0.1, N) % 25, 100 + RNG.geometric(0.1, N) % 25)
MIXED = RNG.geometric(0.08, N) % 40
SHARES = {0: 0.8, 1: 0.2}


def fold_value(measure, scores, rows, weights):
    weights = weights.copy()
    for label, share in SHARES.items():
        own = rows & (label == Y)
        weights[own] *= share / weights[own].sum()
    return get_measure(measure)(Y[rows], scores[rows], sample_weight=weights[rows])


def by_hand(measure, scores, *, kept=True, folds=FOLDS, weights=None):
    weights = np.ones(N) if weights is None else weights
    parts = [(folds == fold) & kept for fold in np.unique(folds)]
    return np.mean([fold_value(measure, scores, rows, weights) for rows in parts])


@pytest.mark.parametrize("measure", ["accuracy", "precision", "average_precision", "log_loss"])
def test_every_fold_has_the_shares(measure):
    options = {"folds": FOLDS, "population": SHARES}
    expected = by_hand(measure, A)
    for method in ("jackknife", dmfroc.Bootstrap(100)):
        found = estimate(measure, Y, A, method=method, **options)
        assert found.value == pytest.approx(expected, abs=1e-12)
    of_learner = options | {"folds": dmfroc.Folds(FOLDS, "learner")}
    learner = estimate(measure, Y, A, **of_learner)
    assert learner.value == pytest.approx(expected, abs=1e-12)
    both = [fold_value(measure, A, fold == FOLDS, np.ones(N)) for fold in (0, 1)]
    assert learner.standard_error == pytest.approx(np.std(both, ddof=1) * np.sqrt(1 / 2 + 1))
    weighted = estimate(measure, Y, A, sample_weight=WEIGHTS, **options).value
    assert weighted == pytest.approx(by_hand(measure, A, weights=WEIGHTS), abs=1e-12)
    [of_all] = evaluate(Y, A, measures=[measure], **options).estimates.values()
    assert of_all.value == pytest.approx(expected, abs=1e-12)
    for each in (options, of_learner):
        compared = compare(Y, {"a": A, "b": B}, measures=measure, **each)
        difference = expected - by_hand(measure, B)
        assert compared.differences[0].value == pytest.approx(difference, abs=1e-12)


@pytest.mark.filterwarnings("ignore:the class shares in the target")
def test_rows_of_the_target_and_turned_classes_in_folds():
    of_target = drawn(0)[:60]
    whole = estimate("accuracy", Y, A, population=of_target)
    shares = whole.value  # accuracy is linear in the shares, so these follow from it
    rates = [np.mean((A[k == Y].argmax(axis=1)) == k) for k in (0, 1)]
    share = (shares - rates[0]) / (rates[1] - rates[0])
    options = {"folds": FOLDS, "pos_label": 0}
    found = estimate("accuracy", Y, A, population=of_target, **options).value
    same = estimate("accuracy", Y, A, population=[1 - share, share], **options).value
    assert found == pytest.approx(same, abs=1e-12)


def test_a_fold_without_weight_of_a_class_is_refused():
    importance = np.where((FOLDS == 0) & (Y == 1), 0, 1)
    for call in (estimate, lambda m, y, s, **o: compare(y, {"a": s, "b": B}, measures=m, **o)):
        # Shares need all classes, and so does one of the measures
        for measure, given in (
            ("accuracy", {"population": SHARES, "sample_weight": importance}),
            ("informedness", {"population": SHARES, "sample_weight": importance}),
            ("informedness", {"population": dmfroc.Importance(importance)}),
        ):
            with pytest.raises(ValueError, match="fold 0 lacks class 1"):
                call(measure, Y, A, folds=FOLDS, **given)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("unit", "options"),
    [
        (np.arange(N), {}),
        (np.arange(N), {"folds": FOLDS}),
        (np.arange(N), {"sample_weight": WEIGHTS}),
        (np.arange(N), {"folds": FOLDS, "sample_weight": WEIGHTS}),
        (IN_CLASS, {"groups": IN_CLASS}),
        (MIXED, {"groups": MIXED}),
    ],
)
def test_errors_are_those_of_leaving_out(unit, options):
    kappa = weighted_kappa([[0, 3], [1, 0]])
    for measure in ("accuracy", kappa):
        known = {
            "folds": options.get("folds", np.zeros(N)),
            "weights": options.get("sample_weight"),
        }
        units = np.unique(unit)
        values = np.array([by_hand(measure, A, kept=unit != x, **known) for x in units])
        stratum = np.array([Y[unit == x].mean() for x in units])
        if len(np.unique(stratum)) > 2:
            stratum[:] = 0
        square = sum(
            (n - 1) / n * ((values[stratum == c] - values[stratum == c].mean()) ** 2).sum()
            for c, n in zip(*np.unique(stratum, return_counts=True), strict=True)
        )
        found = estimate(measure, Y, A, population=SHARES, **options)
        assert found.standard_error == pytest.approx(np.sqrt(square), rel=0.12)
        if measure == "accuracy":
            draws = {"method": dmfroc.Bootstrap(400)}
            found = estimate(measure, Y, A, population=SHARES, **options, **draws)
            assert found.standard_error == pytest.approx(np.sqrt(square), rel=0.2)


def test_a_recall_is_not_limited_by_an_estimated_share():
    """At most k / share of the positives are among the first k, but the share is uncertain."""
    rng = np.random.default_rng(0)
    scores = rng.beta(0.5, 0.5, size=(2, 300))
    y, of_target = (rng.random(300) < scores[0]).astype(int), scores[1]
    target = np.column_stack([1 - of_target, of_target])
    sharp = np.where(y == 1, 0.6 + 0.4 * scores[0], 0.4 * scores[0])
    probabilities = np.column_stack([1 - sharp, sharp])
    found = estimate(recall_at(0.1), y, probabilities, population=target)
    assert found.interval[1] > found.value + found.standard_error


def test_the_calibration_slope_of_few_heavy_rows_gets_a_warning():
    """With target shares of .98 and .02 two of the heaviest rows outweigh the other class."""
    rng = np.random.default_rng(0)
    p = rng.beta(1, 1, size=200)
    y, both = (rng.random(200) < p).astype(int), np.column_stack([1 - p, p])
    with pytest.warns(UserWarning, match="of the heaviest rows: few of these determine"):
        estimate("calibration_slope", y, both, population=[0.98, 0.02])
    assert estimate("calibration_slope", y, both, population=[0.6, 0.4]).warnings == ()
