"""Rows that stand for what a sample does not show: which they are, and that they weigh nothing."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from simulations import cyclic_scores, normal_scores, tied_probabilities

from dmfroc import Predictions, compare, estimate, evaluate
from dmfroc.inference.evidence import facts_in
from dmfroc.inference.influences import influences_on
from dmfroc.inference.units import sample_of
from dmfroc.inference.unseen import Unseen, unseen_rows
from dmfroc.measures import MEASURES, get_measure
from dmfroc.measures.measure import bind


def unseen_part(predictions):
    """Return the scores of unseen rows, their classes, and those for which they are taken."""
    rows = unseen_rows(predictions)
    return rows.predictions.scores[len(predictions.true) :], rows.true, rows.taken_for


def samples(n_classes):
    """Return scores, probabilities with ties, and the latter in folds."""
    classes, scores = normal_scores(1, 90, n_classes, 1.5)
    tied = tied_probabilities(1, 90, n_classes)
    folds = np.arange(90) // n_classes % 3
    return {
        "scores": Predictions.from_arrays(classes, scores),
        "probabilities": Predictions.from_arrays(*tied),
        "folds": replace(Predictions.from_arrays(*tied), folds=folds.astype(np.int32)),
    }


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["scores", "probabilities", "folds"])
def test_rows_of_weight_zero_change_no_value_and_no_influence(kind, n_classes):
    predictions, n = samples(n_classes)[kind], 90
    whole, found = unseen_rows(predictions).predictions, []
    assert (whole.sample_weight[n:] == 0).all()
    for name, measure in MEASURES.items():
        if not measure.applies_to(predictions) or not measure.interval.is_of_weights:
            continue
        plain = influences_on(measure, predictions)
        beside = bind(measure.in_sample(predictions), whole)
        with np.errstate(all="ignore"):  # what a row of weight 0 would add may be 0 / 0
            values, gradients = beside.values_and_gradients(whole.sample_weight)
        assert values[0] == pytest.approx(plain.value, rel=1e-10, abs=1e-10), name
        scale = np.abs(plain.influences).max()
        np.testing.assert_allclose(
            gradients[0, :n], plain.influences, rtol=0, atol=1e-7 * scale, err_msg=name
        )
        found.append(name)
    assert len(found) > 30


def test_errors_are_scored_as_cases_of_each_other_class_are():
    """From the worst to the best tenth of them by the score of that class; one like a success."""
    classes, scores = normal_scores(2, 99, 3)
    predictions = Predictions.from_arrays(classes, scores)
    of_rows, true, taken_for = unseen_part(predictions)
    is_gross = unseen_rows(predictions).is_gross
    for c in range(3):
        for d in range(3):
            gross, own = (of_rows[(true == c) & (taken_for == d) & (x == is_gross)] for x in (1, 0))
            if c != d:
                np.testing.assert_array_equal(gross, of_rows[(true == d) & (taken_for == d)])
            if c == d:
                assert len(own) == 1
                assert own[0, c] > scores[:, c].max()
                assert (np.delete(own[0], c) < np.delete(scores, c, axis=1).min()).all()
                continue
            cases = scores[classes == d]
            places = np.round(np.array([0.1, 0.3, 0.5, 0.7, 0.9]) * 32).astype(int)
            around = np.sort(cases[:, d])[places[:, None] + np.array([-1, 1])]
            found = np.sort(own[:, d])
            assert ((around[:, 0] <= found) & (found <= around[:, 1])).all()
            assert all((row == cases).all(axis=1).any() for row in own)


def test_of_many_classes_errors_are_taken_for_the_heaviest_and_the_lightest():
    sizes = np.array([5, 9, 6, 7, 20, 8, 4])
    classes = np.repeat(np.arange(7), sizes)
    scores = np.random.default_rng(3).normal(size=(len(classes), 7))
    _, true, taken_for = unseen_part(Predictions.from_arrays(classes, scores))
    for c in range(7):
        others = np.delete(np.arange(7), c)
        expected = {c, others[sizes[others].argmin()], others[sizes[others].argmax()]}
        assert set(taken_for[true == c]) == expected


@pytest.mark.parametrize("n_classes", [2, 4])
def test_unseen_probabilities_are_probabilities(n_classes):
    classes, p = tied_probabilities(5, 80, n_classes)
    of_rows, true, taken_for = unseen_part(Predictions.from_arrays(classes, p))
    np.testing.assert_allclose(of_rows.sum(axis=1), 1, rtol=1e-12)
    assert (of_rows >= p.min()).all()
    best = of_rows[np.arange(len(true)), true][true == taken_for]
    assert (best >= p.max()).all() or p.min() > 0


@pytest.mark.parametrize("digits", [4, 6])
def test_unseen_rows_of_rounded_probabilities_are_probabilities(digits):
    """Whose rows add up to about 1."""
    classes, scores = normal_scores(7, 80, 3, 1.5)
    p = np.round(np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True), digits)
    predictions, measure = Predictions.from_arrays(classes, p), get_measure("brier_score")
    of_rows = unseen_part(predictions)[0]
    assert ((of_rows >= 0) & (of_rows <= 1)).all()
    found = facts_in(sample_of(predictions), measure)
    assert found.value == pytest.approx(measure(predictions), rel=1e-12)


@pytest.mark.parametrize("as_one", [True, False])
def test_unseen_rows_of_one_score_have_one_score(as_one):
    """Columns s and -s, or p and 1 - p, as those of all rows."""
    classes, scores = cyclic_scores(80, 2)
    p = 1 / (1 + np.exp(-scores[:, 1]))
    predictions = Predictions.from_arrays(classes, p if as_one else np.column_stack([1 - p, p]))
    of_rows, true, taken_for = unseen_part(predictions)
    np.testing.assert_allclose(of_rows.sum(axis=1), 0 if as_one else 1, atol=1e-12)
    best = of_rows[true == taken_for, 1]
    assert best[0] <= p.min()
    assert best[1] >= p.max()


def test_folds_have_unseen_rows_of_their_own():
    predictions = samples(3)["folds"]
    rows = unseen_rows(predictions)
    folds = rows.predictions.folds[90:]
    assert np.bincount(folds).tolist() == [len(folds) // 3] * 3
    np.testing.assert_array_equal(folds[rows.success], folds)
    np.testing.assert_array_equal(rows.true[rows.success], rows.true)
    np.testing.assert_array_equal(rows.true[rows.success], rows.taken_for[rows.success])


def test_unseen_rows_do_not_depend_on_the_order_of_rows():
    """Also where scores of the own class tie, and others differ."""
    classes, scores = normal_scores(4, 90, 3, 2.0)
    scores = np.round(scores)
    order = np.random.default_rng(6).permutation(90)
    found, expected = (
        unseen_part(Predictions.from_arrays(classes[x], scores[x])) for x in (order, np.arange(90))
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "name", ["accuracy", "hand_till", "average_precision", "brier_score", "log_loss", "macro_f1"]
)
def test_a_success_does_no_harm_and_an_error_no_good(name):
    measure, predictions = get_measure(name), samples(3)["probabilities"]
    limits = facts_in(sample_of(predictions), measure).limits
    good = limits.of_unseen * (1 if measure.greater_is_better else -1)
    is_success = limits.unseen.success == np.arange(len(good))
    assert (good[is_success] >= -1e-12).all()
    kinds = limits.unseen.kind[~is_success]
    means = np.bincount(kinds, good[~is_success])[np.unique(kinds)]
    assert (means < 0).all()


@pytest.mark.parametrize("name", ["mutual_information", "entropy_real_given_predicted"])
def test_an_error_of_a_kind_without_any_makes_an_information_worse(name):
    """Its derivative at a share of 0 is infinite; many rows do not make it known there."""
    y = np.repeat([0, 1, 2], [130, 100, 70])
    predicted = np.where(np.arange(300) < 2, 1, y)  # errors of one kind of six
    predictions = Predictions.from_arrays(y, np.eye(3)[predicted])
    measure = get_measure(name)
    limits = facts_in(sample_of(predictions), measure).limits
    good = limits.of_unseen * (1 if measure.greater_is_better else -1)
    errors = limits.unseen.errors
    assert (good[errors] < 0).all()
    worse = -1 if measure.greater_is_better else 1
    for side, share in ((worse, 0.75), (-worse, 0.25)):
        assert limits._bases[side].unseen[errors].sum() == pytest.approx(share)


# Masses


def units(kind, gross=()):
    """Return units of two classes: a success and errors of two kinds for each."""
    group = np.array([0, 1, 0, 0, 0, 1, 1])
    success = np.array([0, 1, 0, 0, 0, 1, 1])
    return Unseen(group, np.array(kind), np.zeros(7, int), success, np.isin(np.arange(7), gross))


def test_a_mass_is_shared_as_the_squares_of_what_the_dearest_error_of_a_class_costs():
    unseen = units([0, 1, 2, 2, 3, 4, 5])
    costs = np.array([-1.0, -1.0, 1.0, 3.0, 1.9, 4.0, 3.9])
    # Of class 0 the kind with a mean of 2, of class 1 that of 4
    expected = np.array([0, 0, 4 / 2, 4 / 2, 0, 16, 0]) / 20
    np.testing.assert_allclose(unseen.shares(costs), expected, rtol=1e-12)
    np.testing.assert_allclose(unseen.shares(1e-3 * costs), expected, rtol=1e-12)


def test_nothing_is_shared_where_no_error_costs_anything():
    unseen = units([0, 1, 2, 2, 3, 4, 5])
    assert (unseen.shares(np.full(7, -1.0)) == 0).all()
    assert (unseen.shares(np.zeros(7)) == 0).all()
    infinite = np.array([-1.0, -1.0, np.inf, np.nan, 1.9, 4.0, 3.9])
    assert unseen.shares(infinite).sum() == pytest.approx(1)


@pytest.mark.parametrize("n_wrong", [0, 1, 4])
@pytest.mark.parametrize("n_classes", [2, 3, 9])
@pytest.mark.parametrize("as_scores", [False, True])
def test_of_a_single_observed_class_limits_are_beta_quantiles(n_wrong, n_classes, as_scores):
    """Cases alone show a sensitivity, and that 40 of 40 may be 39 of 41."""
    predicted = np.repeat([1, 0], [40 - n_wrong, n_wrong])
    columns = {"y_score": np.eye(n_classes)[predicted]} if as_scores else {"y_pred": predicted}
    found = estimate("accuracy", np.ones(40, int), labels=list(range(n_classes)), **columns)
    low = stats.beta.ppf(0.025, 40 - n_wrong + 0.25, n_wrong + 0.75)
    high = 1 if n_wrong == 0 else stats.beta.ppf(0.975, 40 - n_wrong + 0.75, n_wrong + 0.25)
    np.testing.assert_allclose(found.interval, (low, high), atol=3e-3)


@pytest.mark.parametrize("as_one", [False, True])
def test_unseen_probabilities_of_a_single_observed_class_are_exchanged(as_one):
    p = np.random.default_rng(0).uniform(0.4, 1, 30)
    y_score = p if as_one else np.column_stack([1 - p, p])
    rows = unseen_rows(Predictions.from_arrays(np.ones(30, int), y_score, labels=[0, 1]))
    is_typical = (rows.true != rows.taken_for) & ~rows.is_gross
    exchanged = 1 - np.asarray(rows.predictions.scores)[30:][is_typical, 1]
    assert abs(exchanged[:, None] - p).min(axis=1).max() < 1e-9


def test_errors_ahead_of_everybody_count_if_others_cost_nothing():
    unseen = units([0, 1, 2, 2, 3, 4, 5], gross=(4, 6))
    costs = np.array([0.0, 0.0, 0.0, 0.0, 2.0, 1e-15, 1.0])
    np.testing.assert_allclose(unseen.shares(costs), np.array([0, 0, 0, 0, 4, 0, 1]) / 5)
    costs[5] = 0.5
    np.testing.assert_allclose(unseen.shares(costs), np.array([0, 0, 0, 0, 4, 0.25, 0]) / 4.25)


def test_some_units_are_without_their_successes_and_beside_others_apart():
    unseen = units([0, 1, 2, 2, 3, 4, 5])
    np.testing.assert_array_equal(unseen.errors, [2, 3, 4, 5, 6])
    some = unseen.some(unseen.errors)
    both = some.beside(some, stratum=3)
    assert (both.success == -1).all()
    assert set(both.kind[:5]) & set(both.kind[5:]) == set()
    assert set(both.group[:5]) & set(both.group[5:]) == set()
    np.testing.assert_array_equal(both.stratum, [0] * 5 + [3] * 5)


@pytest.mark.parametrize("n_classes", [3, 8])
def test_limits_do_not_depend_on_the_order_of_the_classes(n_classes):
    """Classes have the same size, and scores tie: typical cases and other classes are chosen."""
    classes, scores = normal_scores(3, 20 * n_classes, n_classes, 1.0)
    scores, others = np.round(scores, 1), np.round(normal_scores(4, *scores.shape, 1.0)[1], 1)
    order = np.random.default_rng(0).permutation(n_classes)
    each = {"a": scores, "b": others}
    renamed = np.argsort(order)[classes], {name: x[:, order] for name, x in each.items()}
    found, expected = compare(*renamed), compare(classes, each)
    for name in each:
        np.testing.assert_allclose(
            found.estimates[name].interval, expected.estimates[name].interval, rtol=1e-9
        )
    np.testing.assert_allclose(
        found.differences[0].interval, expected.differences[0].interval, rtol=1e-9
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["brier_uncertainty", "evenness_global", "entropy_predicted"])
def test_limits_at_the_largest_value_are_those_beside_it(name, n_classes):
    """In the balance of classes, seen and predicted, no observation adds anything."""
    classes = np.arange(30 * n_classes) % n_classes
    each = 0.8 * np.eye(n_classes)[np.where(classes == 0, classes, -classes) % n_classes] + 0.1
    each /= each.sum(axis=1, keepdims=True)
    exact, beside = (estimate(name, classes[:n], each[:n]) for n in (len(classes), -1))
    assert exact.standard_error == pytest.approx(0, abs=1e-12)
    assert exact.interval[1] == pytest.approx(exact.value)
    assert exact.interval[0] == pytest.approx(beside.interval[0], rel=0.02)
    assert exact.interval[0] < 0.99 * exact.value


@pytest.mark.parametrize("n", range(10, 101, 10))
def test_unseen_rows_are_the_same_whatever_weight_all_rows_have(n):
    classes = np.repeat(np.arange(3), n)
    scores = np.round(normal_scores(n, 3 * n, 3, 0.0)[1])
    found, expected = (
        unseen_rows(Predictions.from_arrays(classes, scores, sample_weight=np.full(3 * n, weight)))
        for weight in (0.1, 1.0)
    )
    np.testing.assert_array_equal(found.predictions.scores, expected.predictions.scores)


@pytest.mark.filterwarnings("ignore")
def test_limits_are_the_same_whatever_weight_all_rows_have():
    """Sums of weights of 0.1 are rounded: 50 of them are less than 5, one beside a border."""
    classes = np.repeat([0, 1], [50, 60])
    scores = np.round(normal_scores(3, 110, 2, 1.0)[1] + np.eye(2)[classes], 1)
    each = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    expected = evaluate(classes, each, measures="all").estimates
    found = evaluate(classes, each, measures="all", sample_weight=np.full(110, 0.1)).estimates
    for name, estimated in expected.items():
        interval = found[name].interval
        np.testing.assert_allclose(interval, estimated.interval, rtol=1e-4, atol=1e-6, err_msg=name)


@pytest.mark.parametrize(
    ("kind", "name"),
    [(x, y) for x in ("scores", "folds") for y in ("accuracy", "hand_till", "macro_f1")]
    + [("probabilities", "brier_score")],
)
def test_one_observation_is_unseen_whatever_the_classes_and_folds(name, kind):
    predictions = samples(3)[kind]
    measure = get_measure(name)
    limits = facts_in(sample_of(predictions), measure).limits
    good = 1 if measure.greater_is_better else -1
    is_success = limits.unseen.success == np.arange(len(limits.of_unseen))
    for side, base in limits._bases.items():
        assert base.unseen.sum() == pytest.approx(1)
        errors = 0.75 if side * good < 0 else 0.25
        assert base.unseen[~is_success].sum() == pytest.approx(errors)


def test_a_distance_of_none_has_an_interval():
    """It has no derivative at 0, where an unseen error of either class adds its share: 3 / n."""
    y = np.repeat([0, 1], [120, 60])
    found = estimate("distance_to_perfect", y, y_pred=y)
    assert found.value == found.interval[0] == 0
    assert 2 / 60 < found.interval[1] < 4 / 60


def test_a_limit_that_rests_on_one_unseen_error_is_explained():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 50)
    scores = rng.normal(size=(150, 3))
    scores[:100, :2] += 8  # classes that nothing tells apart
    scores[100:, 2] += 8
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    hard, mean = (estimate(x, y, shares) for x in ("dmf_auc", "hand_till"))
    assert hard.value - hard.interval[0] > 5 * hard.standard_error
    assert mean.value - mean.interval[0] < 3 * mean.standard_error
    [told] = hard.warnings
    assert mean.warnings == ()
    assert "one would move the value by more than 2 standard errors" in told
    with_error = estimate("dmf_auc", np.append(y, 2), np.vstack([shares, shares[0]]))
    assert hard.value - with_error.value > 2 * hard.standard_error
    assert hard.interval[0] < with_error.value


@pytest.mark.parametrize("n_folds", [2, 5])
def test_intervals_of_folds_are_about_as_long_in_standard_errors_as_without(n_folds):
    """The unseen observation is of few kinds then too; else they were a fifth too short."""
    lengths = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y = np.arange(180) % 3
        common = rng.normal(size=(180, 3)) + 2 * np.eye(3)[y]
        named = {name: common + 0.5 * rng.normal(size=(180, 3)) for name in "ab"}
        for folds in (None, np.arange(180) // 3 % n_folds):
            [found] = compare(y, named, measures="hand_till", folds=folds).differences
            low, high = found.interval
            lengths.append((high - low) / found.standard_error)
    whole, of_folds = np.reshape(lengths, (-1, 2)).T
    np.testing.assert_allclose(of_folds.mean() / whole.mean(), 1, atol=0.06)
