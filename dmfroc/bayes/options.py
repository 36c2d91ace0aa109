"""Checks of the options of posteriors, and the effective sizes of weighted classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.options import is_one_of
from dmfroc.inputs.predictions import Predictions


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse an option that is none of several words."""
    if not is_one_of(value, choices):
        raise ValueError(f"{name} must be one of {choices}, but it is {value!r}")


def check_size(**sizes: int) -> None:
    """Refuse numbers of chains or draws that are not positive integers."""
    for name, size in sizes.items():
        if not (isinstance(size, int | np.integer) and size >= 1):
            raise ValueError(f"{name} must be a positive integer, but it is {size!r}")


def effective_sizes(predictions: Predictions) -> Float[np.ndarray, " k"]:
    """Return the size of each class; of a weighted one Kish's, ``(sum w)^2 / sum w^2``."""
    weights, classes, n = predictions.sample_weight, predictions.true, predictions.n_classes
    total = np.bincount(classes, weights, minlength=n)
    squares = np.bincount(classes, weights**2, minlength=n)
    return np.divide(total**2, squares, out=np.zeros(n), where=squares > 0)
