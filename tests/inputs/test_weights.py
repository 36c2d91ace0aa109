"""Weights of every kind, and those that are unusable."""

import re

import numpy as np
import polars as pl
import pytest
from prediction_samples import FRAME, LABELS, SCORES

from dmfroc.inputs.arguments import as_predictions


def test_weights():
    predictions = as_predictions(LABELS, SCORES, sample_weight=[1, 2, 3, 4, 0])
    assert predictions.sample_weight.tolist() == [1, 2, 3, 4, 0]
    assert predictions.sample_weight.dtype == np.float64
    assert predictions.is_weighted is True
    assert as_predictions(LABELS, SCORES, sample_weight=[True] * 5).is_weighted is False
    assert as_predictions(LABELS, SCORES, sample_weight=[2.0] * 5).is_weighted is True


@pytest.mark.parametrize(
    ("weight", "error", "message"),
    [
        (
            [1, 1, -1, 1, 1],
            ValueError,
            "sample_weight is -1.0 at row 2 (counting from 0): it must be finite",
        ),
        ([1, np.nan, 1, 1, 1], ValueError, "sample_weight is nan at row 1 (counting from 0)"),
        ([1, 1, 1, np.inf, 1], ValueError, "sample_weight is inf at row 3 (counting from 0)"),
        (pl.Series([1, None, 1, 1, 1]), ValueError, "sample_weight is nan at row 1"),
        ([0] * 5, ValueError, "sample_weight is zero in every row: some observations must count"),
        ([1, 0, 1, 1, 0], ValueError, "sample_weight is zero in all rows of class 'a': give some"),
        ([1, 1, 1, 1], ValueError, "y_true has 5 rows but sample_weight has 4: both must"),
        (
            np.ones((5, 1)),
            ValueError,
            "sample_weight has shape (5, 1), but must be one number per row",
        ),
        (FRAME, ValueError, "sample_weight has shape (5, 3), but must be one number per row"),
        (1.0, ValueError, "sample_weight has shape (), but must be one number per row"),
        (
            [1e-200, 1, 1, 1e200, 1],
            ValueError,
            "sample_weight has positive weights from 1e-200 to 1e+200: the largest must not be",
        ),
        (
            ["1"] * 5,
            TypeError,
            "sample_weight holds text values, such as '1'; convert them to real numbers",
        ),
        ([1j] * 5, TypeError, "sample_weight holds complex128 values; convert them to real"),
    ],
)
def test_unusable_weights(weight, error, message):
    with pytest.raises(error, match=re.escape(message)):
        as_predictions(LABELS, SCORES, sample_weight=weight)


def test_absent_class_needs_no_weight():
    predictions = as_predictions([0, 1], np.eye(3)[:2], labels=[0, 1, 2], sample_weight=[1, 2])
    assert predictions.absent_labels == (2,)


@pytest.mark.parametrize("scale", [1e300, 1e160, 1e-160, 1e-170, 5e-324])
def test_only_ratios_of_extreme_weights_are_kept(scale):
    weights = np.array([1.0, 2.0, 3.0, 4.0, 0.0]) * scale
    found = as_predictions(LABELS, SCORES, sample_weight=weights).sample_weight
    assert 0.5 <= found.max() < 2
    np.testing.assert_array_equal(found / found[0], weights / weights[0])
