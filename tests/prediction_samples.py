"""A small set of predictions, and how tests compare predictions and error messages."""

import re

import numpy as np
import pandas as pd

LABELS = ["b", "a", "c", "b", "a"]
SCORES = np.array(
    [
        [0.1, 0.7, 0.2],
        [0.6, 0.3, 0.1],
        [0.2, 0.3, 0.5],
        [0.5, 0.4, 0.1],
        [0.9, 0.0, 0.1],
    ]
)
FRAME = pd.DataFrame(SCORES, columns=["a", "b", "c"])


def assert_identical(left, right):
    np.testing.assert_equal(left.labels, right.labels)
    np.testing.assert_equal([type(x) for x in left.labels], [type(x) for x in right.labels])
    for name in ("true", "scores", "sample_weight", "predicted"):
        one, other = getattr(left, name), getattr(right, name)
        np.testing.assert_equal(one is None, other is None, name)
        if one is not None:
            np.testing.assert_equal(one.dtype, other.dtype, name)
            np.testing.assert_array_equal(one, other, name)


def exactly(text):
    """Match the whole of an error message."""
    return f"^{re.escape(text)}$"
