"""The independent units: rows, groups of rows, strata."""

import numpy as np
import pytest
from simulations import cyclic_scores, normal_scores

from dmfroc import Predictions, estimate, hand_till_score
from dmfroc.extend import influences
from dmfroc.inference.influences import moments_of
from dmfroc.inference.units import units_of


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
    # Of groups the influences are those beside one more
    assert thrice.interval == pytest.approx(once.interval, abs=1e-4)


@pytest.mark.slow
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


def test_influences_of_groups_are_what_leaving_them_out_changes():
    generator = np.random.default_rng(4)
    classes, scores = normal_scores(5, 240, 3)
    groups = generator.integers(12, size=240)
    found = influences("hand_till", classes, scores)
    units = units_of(Predictions.from_arrays(classes, scores), groups)
    whole = hand_till_score(classes, scores)
    changes = np.array(
        [whole - hand_till_score(classes[groups != g], scores[groups != g]) for g in range(12)]
    )
    of_groups = np.bincount(groups, found)
    np.testing.assert_allclose(units.sums(found), of_groups, rtol=0, atol=1e-15)
    # What belongs to a class is divided by what the others have of it, if a group is left out
    left_out = np.zeros(12)
    for c in range(3):
        share = np.bincount(groups[classes == c], minlength=12) / (classes == c).sum()
        left_out += np.bincount(groups[classes == c], found[classes == c], 12) / (1 - share)
    assert (left_out**2).sum() == pytest.approx((changes**2).sum(), rel=0.03)
    assert np.corrcoef(of_groups, changes)[0, 1] > 0.99
    error = estimate("hand_till", classes, scores, groups=groups).standard_error
    assert error == pytest.approx(np.sqrt(12 / 11 * (of_groups**2).sum()), rel=1e-9)


def test_a_class_of_one_group_alone_leaves_an_interval():
    classes, scores = normal_scores(5, 60, 2)
    groups = np.where(classes == 1, 0, np.arange(60) // 5)
    found = estimate("hand_till", classes, scores, groups=groups)
    assert np.isfinite([found.standard_error, *found.interval]).all()


def test_the_class_of_the_fewest_groups_says_how_many_complete_sets_there_are():
    classes = np.repeat([0, 1, 2], [40, 12, 20])
    predictions = Predictions.from_arrays(classes, np.eye(3)[classes])
    assert units_of(predictions, np.arange(72) // 4).n_complete_sets == pytest.approx(3)
    assert units_of(predictions).n_complete_sets == pytest.approx(12)
    # Three groups; the second has cases of all classes
    groups = np.searchsorted([30, 56], np.arange(72), "right")
    assert units_of(predictions, groups).n_complete_sets == pytest.approx(1)


@pytest.mark.parametrize("n_groups", [12, 9])
def test_groups_have_no_more_degrees_of_freedom_than_there_are(n_groups):
    """In one stratum, or in three with a few each."""
    classes, scores = normal_scores(5, 240, 3)
    order = np.argsort(classes, kind="stable") if n_groups == 9 else np.arange(240)
    groups = np.arange(240) * n_groups // 240
    predictions = Predictions.from_arrays(classes[order], scores[order])
    units = units_of(predictions, groups)
    moments = moments_of(influences("hand_till", predictions), units)
    n_strata = len(units.sizes)
    assert moments.spread.degrees_of_freedom <= n_groups - n_strata
    found = estimate("hand_till", predictions, groups=groups)
    assert any(f"groups of observations: {n_groups} are few" in remark for remark in found.warnings)


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
