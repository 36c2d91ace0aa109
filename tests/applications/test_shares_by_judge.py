"""Class shares by a judge that is calibrated by class."""

import numpy as np
import pytest

import dmfroc
from dmfroc.applications.shares_by_judge import inverted_shares


def rows(verified, others):
    """Return labels and the judge's, by counts of verified rows and of others."""
    k = len(others)
    y = np.repeat(np.arange(k), np.sum(verified, axis=1)).tolist() + [None] * int(np.sum(others))
    judge = [np.repeat(np.arange(k), counts) for counts in (*verified, others)]
    return y, np.concatenate(judge)


def test_published_example():
    found = dmfroc.applications.judged_shares(*rows([[140, 60], [20, 180]], [600, 400]))
    np.testing.assert_allclose(found[1].value, 1 / 6, atol=1e-15)
    np.testing.assert_allclose(found[1].interval, (0.05635, 0.26273), atol=5e-6)
    np.testing.assert_allclose(found[0].interval, np.subtract(1, found[1].interval)[::-1])
    assert (found.n_verified, found.n_rows) == (400, 1000)


def test_shares_solve_the_equations_of_the_judge():
    verified = np.array([[80, 15, 5], [10, 70, 20], [4, 6, 90]])
    others = np.array([300, 400, 300])
    found = dmfroc.applications.judged_shares(*rows(verified, others))
    shares = np.array([found[c].value for c in range(3)])
    np.testing.assert_allclose(shares @ (verified / 100), others / 1000, atol=1e-12)


def test_a_perfect_judge_gives_its_own_shares():
    found = dmfroc.applications.judged_shares(*rows(np.diag([2000] * 3), [100, 300, 600]))
    np.testing.assert_allclose([found[c].value for c in range(3)], [0.1, 0.3, 0.6], atol=1e-15)
    error = np.sqrt(0.3 * 0.7 / 1000)
    np.testing.assert_allclose(found[1].standard_error, error, rtol=0.02)


def test_classes_may_be_renamed():
    y, judge = rows([[80, 15, 5], [10, 70, 20], [4, 6, 90]], [300, 400, 300])
    names = np.array(["c", "a", "b"])
    found = dmfroc.applications.judged_shares(y, judge)
    renamed = dmfroc.applications.judged_shares(
        [None if c is None else names[c] for c in y], names[judge]
    )
    for c, name in enumerate(names):
        np.testing.assert_allclose(renamed[name].interval, found[c].interval, atol=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.9, 1.0])
def test_intervals_cover(share):
    generator = np.random.default_rng(1)
    judge, shares = np.array([[0.7, 0.3], [0.1, 0.9]]), np.array([1 - share, share])
    covered = []
    for _ in range(1000):
        verified = np.array([generator.multinomial(200, of_class) for of_class in judge])
        others = generator.multinomial(1000, shares @ judge)
        low, high = inverted_shares(verified, others, 0.95)[2][1]
        covered.append(low <= share <= high)
    assert 0.93 < np.mean(covered) < 0.985


def test_a_judge_that_errs_otherwise_on_other_rows_is_found():
    with pytest.warns(UserWarning, match="share of 1 outside of 0 to 1|errs otherwise"):
        found = dmfroc.applications.judged_shares(*rows([[140, 60], [20, 180]], [950, 50]))
    assert found[1].value == 0
    assert found.warnings


def test_prediction_powered_inference_names_judged_shares():
    y, judge = rows([[140, 60], [20, 180]], [900, 100])
    with pytest.warns(UserWarning, match="judged_shares"):
        dmfroc.estimate("accuracy", y, y_pred=judge, judge=judge)


@pytest.mark.parametrize(
    ("y", "judge", "message"),
    [
        ([0, 0, 1, 1], [0, 0, 1, 1], "a label in every row"),
        ([0, 0, 1, None], [0, 0, 1, 1], "1 has fewer"),
        ([0, 0, 0, None], [0, 0, 0, 0], "all are 0"),
        ([0, 0, 1, 1, None], [0, 1, 0, 1, 1], "does not tell the classes apart"),
        ([0, 0, 1, 1, None], [0, 0, 1, 1, 2], "judge has labels not in labels=: 2"),
        ([0, 0, 1, 1, None], [0, 0, 1, 1, None], "judge has a missing label"),
    ],
)
def test_what_cannot_be_inverted_is_refused(y, judge, message):
    with pytest.raises(ValueError, match=message):
        dmfroc.applications.judged_shares(y, judge)


def test_a_judge_is_held_against_rates_whatever_the_numbers_of_rows():
    """Of a million rows of one class and ten of the other it is right in 90 %."""
    counts, others = np.array([[900_000, 100_000], [1, 9]]), np.array([5000, 5000])
    y = np.concatenate([np.repeat([0.0, 1], counts.sum(axis=1)), np.full(others.sum(), np.nan)])
    said = np.concatenate([*map(np.repeat, [[0, 1]] * 3, [*counts, others])])
    found = dmfroc.applications.judged_shares(y, said)
    assert found[1].value == pytest.approx(0.5)
    nearly_alike = np.array([[50_000, 50_000], [50_002, 49_998]])
    y = np.concatenate([np.repeat([0.0, 1], nearly_alike.sum(axis=1)), [np.nan] * 10])
    said = np.concatenate([*map(np.repeat, [[0, 1]] * 2, nearly_alike), [0, 1] * 5])
    with pytest.raises(ValueError, match="does not tell the classes apart"):
        dmfroc.applications.judged_shares(y, said)
