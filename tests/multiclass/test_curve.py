"""The multiclass ROC curve: its effects, special cases, invariances."""

import warnings

import numpy as np
import pytest
from scipy import special
from scipy.special import expit, softmax, xlogy
from scipy.stats import rankdata
from simulations import normal_scores, tied_probabilities
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.tree import DecisionTreeClassifier

from dmfroc import (
    dmf_auc_score,
    estimate,
    hand_till_score,
    multiclass_roc,
)
from dmfroc.measures import dmf_auc

# The curve


def deviance_by_hand(curve):
    """Sum the deviance of the pairwise rates from the product of the effects."""
    deviance = 0
    for rates, effect in zip(
        (curve.pairwise_tpr, curve.pairwise_fpr), curve.threshold_effect, strict=True
    ):
        fitted = expit(curve.pair_effect[:, None] * effect)
        complement = expit(-curve.pair_effect[:, None] * effect)
        loss = xlogy(rates, rates) - xlogy(rates, fitted)
        loss += xlogy(1 - rates, 1 - rates) - xlogy(1 - rates, complement)
        deviance += 2 * loss.sum()
    return deviance


def test_curve_follows_from_its_effects():
    classes, scores = normal_scores(9, 60, 3)
    curve = multiclass_roc(classes, scores)
    assert curve.converged
    assert 0 < curve.n_iter < 100
    assert curve.pair_effect.mean() == pytest.approx(1, rel=0, abs=1e-12)
    assert (curve.pair_effect > 0).all()
    tpr, fpr = expit(curve.threshold_effect)
    np.testing.assert_allclose(curve.tpr, [0, *tpr, 1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(curve.fpr, [0, *fpr, 1], rtol=0, atol=1e-12)
    assert curve.auc == pytest.approx(np.trapezoid(curve.tpr, curve.fpr), rel=0, abs=1e-15)
    assert curve.deviance == pytest.approx(deviance_by_hand(curve), rel=1e-6)
    assert dmf_auc_score(classes, scores) == pytest.approx(curve.auc, rel=0, abs=1e-12)


@pytest.mark.parametrize(
    ("shift", "rounding", "prior"),
    [(0, 8, None), (1, 0, None), (3, 8, None), (3, 0, [0.8, 0.15, 0.05]), (-1, 1, None)],
)
def test_curve_never_turns_back(shift, rounding, prior):
    classes, scores = normal_scores(10, 60, 3, shift, prior)
    curve = multiclass_roc(classes, np.round(scores, rounding))
    for rates in (curve.fpr, curve.tpr):
        assert rates[0] == 0
        assert rates[-1] == 1
        assert (np.diff(rates) >= 0).all()


@pytest.mark.parametrize("shift", [0.2, 1.0, 2.5])
def test_pairs_alike_give_the_curve_of_each(shift):
    # One population of pairs: the centre is near the mean of the pairs' own areas.
    classes, scores = normal_scores(11, 600, 3, shift)
    assert dmf_auc_score(classes, scores) == pytest.approx(
        hand_till_score(classes, scores), rel=0, abs=0.01
    )


def test_class_without_observations_is_left_out_with_one_warning():
    classes, scores = normal_scores(12, 80, 4)
    keep = classes != 2
    classes, scores = classes[keep], scores[keep]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        curve = multiclass_roc(classes, scores, labels=range(4))
    assert len(caught) == 1
    assert str(caught[0].message).endswith("left out: 2")
    assert list(curve.pairs) == [(0, 1), (0, 3), (1, 0), (1, 3), (3, 0), (3, 1)]
    without = multiclass_roc(classes, scores[:, [0, 1, 3]], labels=[0, 1, 3])
    np.testing.assert_array_equal(curve.tpr, without.tpr)
    np.testing.assert_array_equal(curve.fpr, without.fpr)


# Two classes


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rounding", [8, 0])
def test_two_classes_agree_with_scikit_learn(rounding, weighted):
    classes, scores = normal_scores(13, 60, 2)
    score = np.round(scores[:, 1], rounding)
    weights = np.random.default_rng(14).exponential(size=60) if weighted else None
    fpr, tpr, _ = roc_curve(classes, score, sample_weight=weights, drop_intermediate=False)
    auc = roc_auc_score(classes, score, sample_weight=weights)
    for y_score in (score, np.column_stack([np.zeros(60), score])):
        curve = multiclass_roc(classes, y_score, sample_weight=weights)
        np.testing.assert_allclose(curve.fpr, fpr, rtol=0, atol=1e-12)
        np.testing.assert_allclose(curve.tpr, tpr, rtol=0, atol=1e-12)
        assert curve.auc == pytest.approx(auc, rel=0, abs=1e-12)
        assert dmf_auc_score(classes, y_score, sample_weight=weights) == pytest.approx(
            auc, rel=0, abs=1e-12
        )
    assert curve.pairs == ((1, 0),)
    assert curve.deviance == 0
    assert curve.converged


def test_two_classes_in_the_other_order_use_the_other_column():
    classes, scores = normal_scores(15, 60, 2)
    auc = dmf_auc_score(classes, scores[:, ::-1], labels=[1, 0])
    excess = scores[:, 0] - scores[:, 1]
    assert auc == pytest.approx(roc_auc_score(classes == 0, excess), rel=0, abs=1e-12)


# Perfect, nearly perfect, worthless


def perfect_scores(n, n_classes):
    classes = np.arange(n) % n_classes
    scores = np.random.default_rng(16).random((n, n_classes))
    scores[np.arange(n), classes] += 1
    return classes, scores


@pytest.mark.parametrize("kind", ["continuous", "one-hot"])
def test_perfect_classifier(kind):
    classes, scores = perfect_scores(10_000, 5)
    if kind == "one-hot":
        scores = np.eye(5)[classes]
    curve = multiclass_roc(classes, scores)
    assert 1 - 1e-6 <= curve.auc <= 1
    assert curve.converged
    for array in (curve.fpr, curve.tpr, curve.threshold_effect, curve.pair_effect):
        assert np.isfinite(array).all()
    assert 0 <= curve.deviance < 1
    found = estimate("dmf_auc", classes, scores)
    assert 1 - 1e-6 <= found.value <= 1
    assert np.isfinite(found.standard_error)


@pytest.mark.parametrize("kind", ["continuous", "one-hot"])
def test_one_exchange_of_two_rows_is_seen(kind):
    classes, scores = perfect_scores(10_000, 5)
    if kind == "one-hot":
        scores = np.eye(5)[classes]
    scores[[0, 1]] = scores[[1, 0]]
    found = estimate("dmf_auc", classes, scores)
    assert 1e-5 < 1 - found.value < 1e-3
    assert found.standard_error > 1e-5
    assert found.interval[0] < found.value < found.interval[1] < 1


@pytest.mark.parametrize("n_thresholds", [99, 100, 10, 9])
@pytest.mark.parametrize("kind", ["continuous", "one-hot"])
def test_one_exchange_of_two_rows_is_seen_on_any_grid(kind, n_thresholds):
    classes, scores = perfect_scores(60, 3)
    if kind == "one-hot":
        scores = np.eye(3)[classes]
    perfect = multiclass_roc(classes, scores, n_thresholds=n_thresholds).auc
    assert 1 - 1e-6 <= perfect <= 1
    scores[[0, 1]] = scores[[1, 0]]
    assert 0.8 < multiclass_roc(classes, scores, n_thresholds=n_thresholds).auc < 0.99


@pytest.mark.parametrize("column", [0, 3])
def test_one_inverted_pair_is_seen(column):
    classes, scores = perfect_scores(10_000, 5)
    # One observation gets the lowest score of its own column that still beats half the others.
    scores[np.flatnonzero(classes == column)[0], column] = 0.5
    found = estimate("dmf_auc", classes, scores)
    assert 1e-6 < 1 - found.value < 1e-3
    assert found.standard_error > 1e-6


@pytest.mark.parametrize("kind", ["continuous", "tied"])
def test_random_classifier(kind):
    generator = np.random.default_rng(17)
    classes = generator.integers(5, size=50_000)
    scores = generator.normal(size=(50_000, 5))
    if kind == "tied":
        scores = np.round(scores)
    found = estimate("dmf_auc", classes, scores)
    assert abs(found.value - 0.5) < 3 * found.standard_error
    assert found.standard_error < 0.005


@pytest.mark.parametrize("pair_weights", ["equal", "prevalence"])
def test_constant_scores_are_one_half(pair_weights):
    classes, _ = normal_scores(18, 60, 3, prior=[0.7, 0.2, 0.1])
    curve = multiclass_roc(classes, np.full((60, 3), 0.3), pair_weights=pair_weights)
    assert curve.auc == pytest.approx(0.5, rel=0, abs=1e-9)
    np.testing.assert_allclose(curve.tpr, curve.fpr, rtol=0, atol=1e-9)
    assert curve.deviance == pytest.approx(0, rel=0, abs=1e-9)


def test_reversed_scores_give_the_complement():
    classes, scores = normal_scores(19, 60, 3, 2.0)
    # The grid of levels is symmetric, so that the curve is turned by half a circle.
    auc = dmf_auc_score(classes, scores)
    assert dmf_auc_score(classes, -scores) == pytest.approx(1 - auc, rel=0, abs=1e-8)


def tree_on_iris(seed):
    """Return the other half's classes, and the scores of a tree grown on a random half."""
    X, classes = load_iris(return_X_y=True)
    order = np.random.default_rng(seed).permutation(150)
    half, other = order[:75], order[75:]
    tree = DecisionTreeClassifier(random_state=seed).fit(X[half], classes[half])
    return classes[other], tree.predict_proba(X[other])


@pytest.mark.parametrize("seed", [0, 1, 3, 4, 6, 18, 20])
def test_decision_tree_on_iris_stays_near_hand_till(seed):
    # One class of three is separated perfectly, the scores of the others are few and tied.
    classes, scores = tree_on_iris(seed)
    m = hand_till_score(classes, scores)
    strong = estimate(dmf_auc(shrinkage=1), classes, scores)
    assert strong.value == pytest.approx(m, rel=0, abs=0.01)
    found = estimate("dmf_auc", classes, scores)
    assert strong.value < found.value < 1 - (1 - m) / 2
    assert min(found.standard_error, strong.standard_error) > 0.001


def test_without_shrinkage_separated_pairs_pull_the_curve_up():
    classes, scores = tree_on_iris(18)
    m = hand_till_score(classes, scores)
    strong, weak, plain = (dmf_auc_score(classes, scores, shrinkage=s) for s in (1, 0.05, 0))
    assert 3 * (strong - m) < plain - m < 0.03
    assert dmf_auc_score(classes, scores) == weak
    assert 0 < plain - weak < 0.2 * (plain - strong)  # nearly the paper's centre


# Invariances


@pytest.mark.parametrize("rounding", [8, 0])
def test_integer_weights_repeat_rows(rounding):
    classes, scores = normal_scores(20, 60, 3)
    scores = np.round(scores, rounding)
    weights = np.random.default_rng(21).permutation(np.repeat([0, 0, 1, 3], 15))
    repeated = np.repeat(np.arange(60), weights)
    weighted = multiclass_roc(classes, scores, sample_weight=weights)
    expected = multiclass_roc(classes[repeated], scores[repeated])
    np.testing.assert_allclose(weighted.pairwise_tpr, expected.pairwise_tpr, atol=1e-12)
    np.testing.assert_allclose(weighted.pairwise_fpr, expected.pairwise_fpr, atol=1e-12)
    assert weighted.auc == pytest.approx(expected.auc, rel=0, abs=1e-9)
    assert dmf_auc_score(classes, scores, sample_weight=weights) == pytest.approx(
        expected.auc, rel=0, abs=1e-9
    )


@pytest.mark.parametrize("pair_weights", ["equal", "prevalence"])
def test_weights_of_one_are_no_weights(pair_weights):
    classes, scores = tied_probabilities(22, 60, 3)
    options = {"pair_weights": pair_weights}
    weighted = dmf_auc_score(classes, scores, sample_weight=np.full(60, 2.5), **options)
    assert weighted == pytest.approx(dmf_auc_score(classes, scores, **options), rel=0, abs=1e-9)


def test_order_of_rows_does_not_matter():
    classes, scores = tied_probabilities(23, 60, 3)
    order = np.random.default_rng(24).permutation(60)
    curve = multiclass_roc(classes, scores)
    permuted = multiclass_roc(classes[order], scores[order])
    assert permuted.auc == pytest.approx(curve.auc, rel=0, abs=1e-9)
    np.testing.assert_allclose(permuted.pairwise_tpr, curve.pairwise_tpr, atol=1e-12)


def test_order_of_classes_does_not_matter():
    classes, scores = normal_scores(25, 60, 3, prior=[0.6, 0.3, 0.1])
    order = [2, 0, 1]
    curve = multiclass_roc(classes, scores)
    permuted = multiclass_roc(classes, scores[:, order], labels=order)
    assert permuted.auc == pytest.approx(curve.auc, rel=0, abs=1e-9)
    place = [permuted.pairs.index(pair) for pair in curve.pairs]
    np.testing.assert_allclose(permuted.pairwise_tpr[place], curve.pairwise_tpr, atol=1e-12)
    np.testing.assert_allclose(permuted.pairwise_fpr[place], curve.pairwise_fpr, atol=1e-12)
    np.testing.assert_allclose(permuted.pair_effect[place], curve.pair_effect, atol=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_area_is_invariant_to_twelve_digits(seed):
    n_classes = 3 + seed % 3
    n, generator = 40 + 30 * n_classes, np.random.default_rng(seed)
    classes, scores = normal_scores(seed, n, n_classes, prior=softmax(-np.arange(n_classes)))
    scores = np.round(scores + 2.0 * np.eye(n_classes)[classes] * (classes < 2)[:, None], seed)
    costs, order = generator.uniform(1, 5, (n_classes, n_classes)), generator.permutation(n_classes)
    auc, dear = (dmf_auc_score(classes, scores, pair_weights=x) for x in ("equal", costs))
    rarer = np.concatenate([np.arange(n), np.tile(np.flatnonzero(classes), 2)])
    for found, expected in (
        (dmf_auc_score(classes[rarer], scores[rarer]), auc),
        (dmf_auc_score(np.argsort(order)[classes], scores[:, order]), auc),
        (dmf_auc_score(np.tile(classes, 3), np.tile(scores, (3, 1))), auc),
        (dmf_auc_score(classes, scores, pair_weights=7 * costs), dear),
        (dmf_auc_score(classes, np.exp(scores) * np.arange(1, n_classes + 1)), auc),
        (dmf_auc_score(classes, rankdata(scores, "dense", axis=0)), auc),
        (dmf_auc_score(classes, special.logit((scores + 9) / 19)), auc),
    ):
        assert found == pytest.approx(expected, rel=0, abs=1e-12)
    assert abs(auc - dear) > 1e-4


def test_increasing_map_of_all_scores_does_not_matter():
    classes, scores = normal_scores(26, 60, 3)
    auc = dmf_auc_score(classes, scores)
    for mapped in (np.exp(scores), 4 * scores, scores**3):
        assert dmf_auc_score(classes, mapped) == pytest.approx(auc, rel=0, abs=1e-9)


def test_number_of_thresholds_hardly_matters():
    classes, scores = normal_scores(27, 600, 3, 1.0)
    coarse, *aucs = [dmf_auc_score(classes, scores, n_thresholds=t) for t in (25, 99, 400)]
    assert np.ptp(aucs) < 1e-3
    assert abs(coarse - aucs[-1]) < 2e-3  # chords below a concave curve


def test_class_skew_moves_it_no_more_than_hand_till():
    # Wang and Carvalho, section 5.2: one balanced test set, resampled with Dirichlet(1) classes.
    generator = np.random.default_rng(28)
    n, n_classes = 4000, 4
    classes = np.repeat(np.arange(n_classes), n // n_classes)
    scores = generator.normal(size=(n, n_classes))
    scores[np.arange(n), classes] += np.array([0.75, 1.5, 2.25, 3.0])[classes]
    aucs, ms = [], []
    while len(aucs) < 30:
        counts = generator.multinomial(1000, generator.dirichlet(np.ones(n_classes)))
        if counts.min() < 5:
            continue
        rows = np.concatenate(
            [
                c * n // n_classes + generator.integers(n // n_classes, size=m)
                for c, m in enumerate(counts)
            ]
        )
        aucs.append([dmf_auc_score(classes[rows], scores[rows], shrinkage=s) for s in (1, 0.05)])
        ms.append(hand_till_score(classes[rows], scores[rows]))
    assert (np.std(aucs, axis=0) <= 1.1 * np.std(ms)).all()
    strong, weak = np.mean(aucs, axis=0)
    assert strong == pytest.approx(np.mean(ms), rel=0, abs=0.02)
    assert weak == pytest.approx(dmf_auc_score(classes, scores), rel=0, abs=0.01)


@pytest.mark.parametrize("link", ["probits", "Logit", "", None])
def test_unknown_links_are_refused(link):
    classes = np.arange(30) % 3
    with pytest.raises(ValueError, match=rf"link must be one of \(.*\), but it is {link!r}"):
        multiclass_roc(classes, np.eye(3)[classes], link=link)
