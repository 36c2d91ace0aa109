"""A random sample of the pairs of classes: what it computes, and the error that it adds."""

import numpy as np
import pytest
from simulations import normal_scores

import dmfroc
from dmfroc import Predictions, compare, dmf_auc_score, estimate, multiclass_roc
from dmfroc.inference.evidence import facts_of_classifiers, joint_facts
from dmfroc.inference.influences import PartInfluences
from dmfroc.inference.units import sample_of
from dmfroc.measures import dmf_auc
from dmfroc.measures.measure import bind
from dmfroc.multiclass import rates
from dmfroc.multiclass.curve import area
from dmfroc.multiclass.rates import CurveOptions, RateTable


def classes_of_different_sizes(n_classes, n=600, seed=1):
    prior = np.linspace(1, 2, n_classes)
    return normal_scores(seed, n, n_classes, prior=prior / prior.sum())


def test_all_pairs_are_the_whole():
    classes, scores = classes_of_different_sizes(5)
    expected = estimate("dmf_auc", classes, scores)
    for n_pairs in (10, 11, 1000):
        found = estimate(dmf_auc(n_pairs=n_pairs), classes, scores)
        assert found.value == expected.value
        assert found.standard_error == expected.standard_error
        assert found.interval == expected.interval
    assert dmf_auc_score(classes, scores, n_pairs=10) == pytest.approx(expected.value, rel=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rounding", [8, 0])
def test_pairs_are_counted_alike_one_by_one_and_by_column(monkeypatch, rounding, weighted):
    classes, scores = classes_of_different_sizes(5)
    weights = np.random.default_rng(2).exponential(size=600) if weighted else None
    whole = {"labels": range(6), "sample_weight": weights}  # a class that does not occur
    scores = np.column_stack([np.round(scores, rounding), np.zeros(600)])
    predictions = Predictions.from_arrays(classes, scores, **whole)
    expected = bind(dmf_auc(), predictions).values_and_gradients(predictions.sample_weight)
    monkeypatch.setattr(rates, "_all_pairs", lambda p: rates._sampled_pairs(p, np.arange(10)))
    found = bind(dmf_auc(), predictions).values_and_gradients(predictions.sample_weight)
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-12 * np.abs(y).max())


def test_a_sample_has_the_rates_of_its_pairs():
    classes, scores = classes_of_different_sizes(7)
    names = np.array(list("gfedcba"))
    whole, some = (
        multiclass_roc(names[classes], scores, labels=names, n_pairs=n, random_state=3)
        for n in (None, 6)
    )
    assert len(some.pairs) == len(set(some.pairs)) == 12
    assert {(j, i) for i, j in some.pairs} == set(some.pairs)
    places = [whole.pairs.index(pair) for pair in some.pairs]
    np.testing.assert_allclose(some.pairwise_tpr, whole.pairwise_tpr[places], rtol=0, atol=1e-15)
    np.testing.assert_allclose(some.pairwise_fpr, whole.pairwise_fpr[places], rtol=0, atol=1e-15)


def test_every_pair_is_drawn_as_often():
    n_pairs, n_draws = 45, 1000
    options = [CurveOptions(n_pairs=9, random_state=seed) for seed in range(n_draws)]
    drawn = np.concatenate([o._drawn(9, n_pairs) for o in options])
    counts = np.bincount(drawn, minlength=n_pairs)
    assert counts.sum() == 9 * n_draws
    expected, variance = n_draws / 5, n_draws / 5 * 4 / 5
    # The sum of squares is about chi-squared with 44 degrees of freedom; 1 in 10,000 exceeds 90
    assert ((counts - expected) ** 2 / variance).sum() * 44 / 45 < 90
    assert (options[0]._drawn(9, n_pairs) == options[0]._drawn(9, n_pairs)).all()


@pytest.mark.parametrize(
    ("pair_weights", "few_cells"), [("equal", 0), ("equal", 1 << 20), ("prevalence", 1 << 20)]
)
def test_derivatives_by_pairs_are_finite_differences(monkeypatch, pair_weights, few_cells):
    """A pair that is there 21 times among pairs that are there 20 times has the weight 21/20."""
    monkeypatch.setattr("dmfroc.multiclass.center.FEW_CELLS", few_cells)
    classes, scores = classes_of_different_sizes(4)
    options = CurveOptions(pair_weights, n_thresholds=9, n_pairs=4)
    table = options(Predictions.from_arrays(classes, scores)).count(np.ones(600), np)
    found = area.derivative_by_pairs(table)
    n, times = len(found), 20
    assert n == 8

    def repeated(pair, more):
        which = np.repeat(np.arange(n), np.full(n, times) + more * (np.arange(n) == pair))
        return RateTable(
            table.counts[:, which],
            table.totals,
            table.counted[:, which],
            table.cell_weights[which],
            table.shrinkage,
        )

    rises = [area(repeated(g, 1), np) - area(repeated(g, -1), np) for g in range(n)]
    expected = np.array(rises) / 2 * times
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-2 * np.abs(expected).max())
    assert abs(found.sum()) < 1e-9 * np.abs(found).max()
    assert np.abs(found).max() > 1e-4


def test_standard_errors_are_those_of_draws_of_pairs():
    classes, scores = classes_of_different_sizes(12, n=300)
    whole = estimate(dmf_auc(n_thresholds=9), classes, scores)
    predictions = Predictions.from_arrays(classes, scores)
    errors, variances = [], []
    for seed in range(40):
        measure = dmf_auc(n_thresholds=9, n_pairs=30, random_state=seed)
        bound = bind(measure, predictions)
        [value] = bound.values(predictions.sample_weight)
        parts = bound.sampled_parts(predictions.sample_weight)
        assert parts[1] == 66
        [of_value] = parts[0]
        part = PartInfluences(of_value, parts[1])
        errors.append(value - whole.value)
        variances.append(part.products(part))
    # Of 40 draws a mean square has a standard error of 22 per cent
    assert np.mean(np.square(errors)) / np.mean(variances) == pytest.approx(1, abs=0.7)
    assert abs(np.mean(errors)) < 3.5 * np.sqrt(np.mean(variances) / 40)


def test_the_standard_error_has_both_parts():
    classes, scores = classes_of_different_sizes(12)
    measure = dmf_auc(n_thresholds=19, n_pairs=30)
    predictions = Predictions.from_arrays(classes, scores)
    bound, weights = bind(measure, predictions), predictions.sample_weight
    _, [gradient] = bound.values_and_gradients(weights)
    sizes = predictions.class_counts[predictions.true]
    parts = bound.sampled_parts(weights)
    z = parts[0][0] - parts[0][0].mean()
    of_rows = (gradient**2 * sizes / (sizes - 1)).sum()
    of_pairs = (1 - 30 / 66) * 30 / 29 * (z @ z)
    found = estimate(measure, classes, scores)
    assert found.standard_error == pytest.approx(np.sqrt(of_rows + of_pairs), rel=1e-12)
    assert of_pairs > 0.1 * of_rows


def test_pairs_are_the_same_for_all_classifiers():
    classes, scores = classes_of_different_sizes(8)
    other = scores + 0.5 * np.random.default_rng(5).normal(size=scores.shape)
    measure = dmf_auc(n_thresholds=19, n_pairs=10)
    scores_of = {"a": scores, "b": other, "c": 2 * scores}
    found = compare(classes, scores_of, measures=measure)
    differences = {(d.first, d.second): d for d in found.differences}
    same = differences["a", "c"]
    assert same.value == pytest.approx(0, abs=1e-12)
    assert same.standard_error == pytest.approx(0, abs=1e-10)
    each = [estimate(measure, classes, x).standard_error for x in (scores, other)]
    assert differences["a", "b"].standard_error < np.hypot(*each)
    for name, error in zip("ab", each, strict=True):
        assert found.estimates[name].standard_error == error
    samples = {x: sample_of(Predictions.from_arrays(classes, s)) for x, s in scores_of.items()}
    joint = joint_facts(facts_of_classifiers(measure, samples))
    scales = np.array([facts.moments.spread.scale for facts in joint.facts.values()])
    assert np.diag(joint.covariance) == pytest.approx(scales**2, rel=1e-9)
    moments = joint.differences["a", "b"]
    assert moments.scaled(3.0).spread.scale == pytest.approx(3 * moments.spread.scale, rel=1e-12)


def test_folds_draw_the_same_pairs():
    classes, scores = classes_of_different_sizes(6)
    measure, folds = dmf_auc(n_thresholds=19, n_pairs=8), np.arange(600) % 2
    found = estimate(measure, classes, scores, folds=folds)
    each = [estimate(measure, classes[folds == f], scores[folds == f]) for f in (0, 1)]
    assert found.value == pytest.approx(np.mean([x.value for x in each]), abs=1e-12)
    whole = estimate(dmf_auc(n_thresholds=19), classes, scores, folds=folds)
    assert found.standard_error > whole.standard_error


def test_what_takes_all_pairs_says_so():
    classes, scores = classes_of_different_sizes(5)
    predictions = Predictions.from_arrays(classes, scores)
    measure = dmf_auc(n_pairs=4)
    with pytest.raises(ValueError, match=r"counts a sample of the pairs .* leave n_pairs out"):
        estimate(measure, predictions, method=dmfroc.Bootstrap(100))
    with pytest.raises(ValueError, match="counts a sample of the pairs"):
        dmfroc.extend.influences(measure, predictions)
    with pytest.raises(ValueError, match="are then not independent: leave n_pairs out"):
        compare({"a": predictions, "b": predictions}, measures=measure, paired=False)
    with pytest.raises(ValueError, match="takes all pairs of classes here: leave n_pairs out"):
        estimate(measure, dmfroc.scan([(classes, scores)], n_bins=64))
    with pytest.raises(ValueError, match="band of the curve needs all pairs"):
        dmfroc.evaluate(predictions, measures=[measure]).plot()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_pairs": 1}, ValueError, "n_pairs must be an integer >= 2, but it is 1"),
        ({"n_pairs": True}, TypeError, "n_pairs must be an integer >= 2"),
        ({"n_pairs": 3, "random_state": -1}, ValueError, "random_state must be an integer >= 0"),
    ],
)
def test_wrong_options_are_told(options, error, message):
    with pytest.raises(error, match=message):
        dmf_auc(**options)
