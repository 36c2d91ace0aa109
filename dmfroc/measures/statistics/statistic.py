"""What a statistic is: a map of observation weights to a table of counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import AnyArray


class Statistic(ABC):
    """Counts of given predictions.

    A table is a named tuple of arrays. Adding observations adds to it.

    Attributes
    ----------
    is_compiled : bool
        Whether JAX can count it too.
    is_batched : bool
        Whether NumPy can count it for several sets of weights at once.
    """

    is_compiled: ClassVar[bool] = True
    is_batched: ClassVar[bool] = False

    def parts(self) -> Sequence[Statistic]:
        """Return statistics of some of the counts each, such that each fits a processor's cache.

        The value of a measure is the sum of its summaries of all parts.
        """
        return [self]

    @abstractmethod
    def count(self, weights: Float[AnyArray, " n"], xp: Any) -> Any:
        """Return the table, by NumPy or by JAX (``xp``)."""

    @abstractmethod
    def pull_back(
        self, weights: Float[np.ndarray, " n"], table: Any, derivatives: Any
    ) -> Float[np.ndarray, " n"]:
        """Return derivatives with respect to the weights from those with respect to the table."""
