"""The independent units: rows, groups of rows, strata."""

import numpy as np
import pytest
from simulations import cyclic_scores

from dmfroc import estimate


def test_groups_of_one_row_change_nothing(predictions):
    groups = np.random.default_rng(1).permutation(predictions.n_observations)
    plain, grouped = (estimate("hand_till", predictions, groups=g) for g in (None, groups))
    assert grouped.standard_error == pytest.approx(plain.standard_error, rel=1e-12)
    assert grouped.interval == pytest.approx(plain.interval, rel=1e-12)


@pytest.mark.parametrize("method", ["jackknife", "bootstrap"])
def test_repeated_rows_in_groups_are_not_new_information(method):
    classes, scores = cyclic_scores(n=300)
    once = estimate("hand_till", classes, scores, method=method)
    thrice = estimate(
        "hand_till",
        np.repeat(classes, 3),
        np.repeat(scores, 3, axis=0),
        groups=np.repeat(np.arange(300), 3),
        method=method,
    )
    assert thrice.standard_error == pytest.approx(once.standard_error, rel=1e-9)
    assert thrice.interval == pytest.approx(once.interval, abs=1e-9)


def test_patients_with_several_classes():
    """Correlated rows: the standard error is that of the groups, whether jackknife or bootstrap."""
    generator = np.random.default_rng(3)
    values, errors = [], []
    for _ in range(150):
        classes = generator.integers(3, size=(80, 4))
        clarity = 1 + 1.5 * generator.normal(size=(80, 1, 1))  # of each patient's cases
        scores = generator.normal(size=(80, 4, 3)) + clarity * np.eye(3)[classes]
        groups = np.repeat(np.arange(80), 4)
        found = estimate("hand_till", classes.ravel(), scores.reshape(-1, 3), groups=groups)
        values.append(found.value)
        errors.append(found.standard_error)
    naive = estimate("hand_till", classes.ravel(), scores.reshape(-1, 3)).standard_error
    resampled = estimate(
        "hand_till", classes.ravel(), scores.reshape(-1, 3), groups=groups, method="bootstrap"
    ).standard_error
    assert abs(np.mean(errors) / np.std(values, ddof=1) - 1) < 0.15
    assert abs(resampled / errors[-1] - 1) < 0.1
    assert errors[-1] > 1.1 * naive


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], r"one entry for each of the 240 observations, but its shape is \(2,\)"),
        ([1.0] * 3 + [np.nan] + [2.0] * 236, "missing value in row 3 "),
        ([None] + ["a"] * 239, "missing value in row 0 "),
        (["ward"] * 240, "one group only, 'ward'"),
    ],
)
def test_wrong_groups(predictions, groups, message):
    with pytest.raises(ValueError, match=message):
        estimate("hand_till", predictions, groups=groups)
