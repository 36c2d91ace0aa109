"""Weights of very different sizes: values and influences are those of exact arithmetic."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

import dmfroc
from dmfroc.analyses.catalogue import MEASURES, get_measure

pytestmark = pytest.mark.filterwarnings("ignore:check the weights, which few rows carry")

Y = np.array([0, 0, 0, 1, 1, 1])
X = np.array([0.1, 0.4, 0.6, 0.3, 0.5, 0.7])
HEAVY = np.array([1e18, 1, 1, 1, 1, 1])


def area(weights, scores, positive, negative):
    """Return the area of one set of rows against another by all pairs, in fractions."""
    won = sum(
        weights[i]
        * weights[j]
        * (Fraction(bool(scores[i] > scores[j])) + Fraction(bool(scores[i] == scores[j])) / 2)
        for i in positive
        for j in negative
    )
    return won / (sum(weights[i] for i in positive) * sum(weights[j] for j in negative))


def exact(name, y, scores, weights):
    """Return the exact value of a measure of pairs of classes."""
    rows = {k: np.flatnonzero(y == k).tolist() for k in np.unique(y).tolist()}
    total = {k: sum(weights[i] for i in rows[k]) for k in rows}
    if name == "auc_mu":
        of_pairs = [
            area(weights, scores[:, i] - scores[:, j], rows[i], rows[j])
            for i, j in permutations(rows, 2)
        ]
        return sum(of_pairs) / len(of_pairs)
    pairs = {
        (i, j): area(weights, scores[:, i], rows[i], rows[j]) for i, j in permutations(rows, 2)
    }
    if name == "hand_till":
        return sum(pairs.values()) / len(pairs)
    if name == "one_vs_one_auc_prevalence":
        shares = {(i, j): (total[i] + total[j]) for i, j in pairs}
        return sum(shares[pair] * pairs[pair] for pair in pairs) / sum(shares.values())
    rest = {
        i: sum(total[j] * pairs[i, j] for j in rows if j != i)
        / sum(total[j] for j in rows if j != i)
        for i in rows
    }
    if name == "one_vs_rest_auc":
        return sum(rest.values()) / len(rest)
    assert name == "one_vs_rest_auc_prevalence"
    return sum(total[i] * rest[i] for i in rows) / sum(total.values())


PAIRS = (
    "hand_till",
    "auc_mu",
    "one_vs_rest_auc",
    "one_vs_rest_auc_prevalence",
    "one_vs_one_auc_prevalence",
)


def sample(seed, k, ratio, *, ties):
    rng = np.random.default_rng(seed)
    y = np.arange(8 * k) % k
    scores = rng.normal(size=(len(y), k)) + 1.5 * np.eye(k)[y]
    weights = np.round(rng.uniform(0.5, 2, len(y)), 3)
    weights[rng.random(len(y)) < 0.2] *= ratio
    weights[rng.permutation(len(y))[0]] *= ratio
    return y, np.round(scores) if ties else scores, weights


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [1.0, 1e9, 1e16, 1e22])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", PAIRS)
def test_areas_of_pairs_are_exact(name, seed, ratio):
    y, scores, weights = sample(seed, 2 + seed % 3, ratio, ties=seed > 1)
    if len(set(y.tolist())) == 2:
        scores[:, 0] = -scores[:, 1]
    fractions = [Fraction(w) for w in weights.tolist()]
    expected = float(exact(name, y, scores, fractions))
    found = dmfroc.estimate(name, y, scores, sample_weight=weights)
    assert found.value == pytest.approx(expected, rel=1e-13, abs=1e-15)
    step = Fraction(1, 10**40)
    influences = dmfroc.extend.influences(name, y, scores, sample_weight=weights)
    for row in range(0, len(y), 3):
        moved = fractions.copy()
        moved[row] *= 1 + step
        change = (exact(name, y, scores, moved) - exact(name, y, scores, fractions)) / step
        assert influences[row] == pytest.approx(float(change), rel=1e-9, abs=1e-14)


def test_a_dominating_weight_does_not_cancel():
    for name in ("hand_till", "dmf_auc", "one_vs_rest_auc", "gini", "auc_mu"):
        assert dmfroc.estimate(name, Y, X, sample_weight=HEAVY).value == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("name", ["dmf_auc", "hand_till", "auc_mu"])
def test_areas_do_not_depend_on_the_weights_of_whole_classes(name, k):
    y, scores, weights = sample(k, k, 1.0, ties=k == 3)
    scores = scores if k > 2 else scores[:, 1]
    plain = dmfroc.estimate(name, y, scores, sample_weight=weights)
    for factors in (10.0 ** (-15 * np.arange(k)), 10.0 ** (12 * np.arange(k))):
        found = dmfroc.estimate(name, y, scores, sample_weight=weights * factors[y])
        assert found.value == pytest.approx(plain.value, rel=1e-9)
        assert found.standard_error == pytest.approx(plain.standard_error, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MEASURES))
def test_values_converge_as_a_weight_grows_or_are_refused(name):
    """What weighs 1e12 times as much as the rest is as good as infinitely heavy."""
    measure = get_measure(name)
    for k, seed in ((2, 5), (3, 6), (4, 7)):
        y, scores, weights = sample(seed, k, 1.0, ties=False)
        scores = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        for heavy in (y == 0, y == k - 1, np.arange(len(y)) == 3):
            values = []
            for ratio in (1e12, 1e15, 1e18, 1e40):
                predictions = dmfroc.Predictions.from_arrays(
                    y, scores, sample_weight=np.where(heavy, ratio * weights, weights)
                )
                if measure.applies_to(predictions):
                    values.append(float(measure(predictions)))
            ends = np.array(values)
            is_bounded = np.isfinite(measure.bounds).all()
            if is_bounded and len(ends):
                assert np.isfinite(ends).all()
                np.testing.assert_allclose(ends, ends[0], rtol=0, atol=2e-5)


@pytest.mark.parametrize(
    "name",
    ["h_measure", "kappa_area", "convex_hull_auc", "max_informedness", "expected_f_gain"],
)
@pytest.mark.filterwarnings("ignore:pass the weights, which are whole numbers")
def test_measures_that_rounding_would_decide_are_refused(name):
    with pytest.raises(ValueError, match=rf"{name} needs classes whose weights differ by a factor"):
        dmfroc.estimate(name, Y, X, sample_weight=HEAVY)
    assert np.isfinite(dmfroc.estimate(name, Y, X, sample_weight=[1e6, 1, 1, 1, 1, 1]).value)


@pytest.mark.parametrize("weight", [1e16, 1e40])
def test_brier_skill_of_a_rare_class(weight):
    p = np.array([0.2, 0.4, 0.6, 0.3, 0.5, 0.7])
    weights = np.array([weight, 1, 1, 1, 1, 1])
    exact_weights = [Fraction(w) for w in weights.tolist()]
    losses = sum(
        w * (Fraction(q) - int(c)) ** 2
        for w, q, c in zip(exact_weights, p.tolist(), Y, strict=True)
    )
    total, ones = sum(exact_weights), sum(exact_weights[3:])
    expected = 1 - losses * total / (ones * (total - ones))
    found = dmfroc.estimate("brier_skill_score", Y, p, sample_weight=weights).value
    assert found == pytest.approx(float(expected), rel=1e-12)
