"""Two columns of two classes are one score, and columns of logits are told from their softmax."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import softmax

import dmfroc
from dmfroc import functional
from dmfroc.inputs.score_doubts import are_complements
from dmfroc.measures import MEASURES, hand_till

GENERATOR = np.random.default_rng(0)
Y = np.arange(200) % 2
LOGITS = GENERATOR.normal(size=(200, 2)) + np.eye(2)[Y] + GENERATOR.normal(size=(200, 1))
EXCESS = LOGITS[:, 1] - LOGITS[:, 0]
# One needs three classes, one is 1 for all, one takes hard labels, which a single score lacks, and
# one takes changes of risks
OTHERS = {"vus", "top_k_accuracy", "one_vs_rest_auc_bias", "net_reclassification"}
OF_SCORES = [name for name, x in MEASURES.items() if x.needs == "scores" and name not in OTHERS]


@pytest.mark.parametrize("name", OF_SCORES)
def test_logits_their_softmax_and_their_difference_have_one_value(name):
    found = [MEASURES[name](Y, x) for x in (LOGITS, softmax(LOGITS, axis=1), EXCESS)]
    np.testing.assert_allclose(found, found[2], rtol=0, atol=1e-12)


def test_the_difference_is_told_and_the_largest_score_stays():
    with pytest.warns(UserWarning, match="The score is that of class 1 less that of 0"):
        found = dmfroc.Predictions.from_arrays(Y, LOGITS)
    np.testing.assert_array_equal(found.scores.argmax(axis=1), LOGITS.argmax(axis=1))
    scores = np.stack([1 - softmax(LOGITS, axis=1)[:, 1], softmax(LOGITS, axis=1)[:, 1]], axis=1)
    np.testing.assert_array_equal(dmfroc.Predictions.from_arrays(Y, scores).scores, scores)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([[0.2, 0.8], [0.7, 0.3], [0.5, 0.5]], True),
        ([[3, -9], [1, 5], [2, 2]], True),  # the other way round, on another scale
        ([[3, -9], [1, 5], [1, 2]], False),  # ties in one column alone
        ([[1, 1], [2, 2], [3, 4]], False),
        ([[0, 1], [0, 2], [0, 3]], False),
        ([[1e308, -1e308], [-1e308, 1e308]], True),
    ],
)
def test_complements_rank_the_rows_the_other_way_round(columns, expected):
    scores = np.array(columns, float)
    assert are_complements(scores) == expected
    with jax.enable_x64(True):
        assert bool(are_complements(jnp.asarray(scores), jnp)) == expected


def test_functions_of_arrays_and_scans_take_the_difference():
    expected = dmfroc.hand_till_score(Y, EXCESS)
    for scores in (LOGITS, jnp.asarray(LOGITS)):
        assert functional.dmf_auc(Y, scores, n_classes=2) == pytest.approx(expected, abs=1e-6)
        found = functional.value(hand_till(), Y, scores, n_classes=2)
        assert found == pytest.approx(expected, abs=1e-6)
        assert dmfroc.estimate("hand_till", Y, scores).value == pytest.approx(expected, abs=1e-12)

    def batches():
        yield Y[:50], LOGITS[:50]
        yield Y[50:], LOGITS[50:]

    for name in ("hand_till", "dmf_auc", "average_precision", "balanced_accuracy"):
        scanned, whole = (dmfroc.estimate(name, *x) for x in ([dmfroc.scan(batches)], [Y, LOGITS]))
        assert scanned.value == pytest.approx(whole.value, abs=1e-12)


def test_a_warning_says_if_softmax_would_change_m():
    y = np.arange(300) % 3
    logits = GENERATOR.normal(size=(300, 3)) + 2 * np.eye(3)[y]
    level = GENERATOR.normal(size=(300, 1))
    for scores, is_told in ((logits + 3 * level, True), (softmax(logits, axis=1), False)):
        for name in ("hand_till", "dmf_auc"):
            told = [x for x in dmfroc.estimate(name, y, scores).warnings if "softmax" in x]
            assert bool(told) == is_told
    found = dmfroc.estimate("hand_till", y, logits + 3 * level)
    moved = dmfroc.hand_till_score(y, softmax(logits, axis=1)) - found.value
    assert abs(moved) > found.standard_error
