"""What a statistic is: a map of observation weights to a table of counts.

What several measures need of the same predictions is computed once, and lives as long.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import AnyArray, AnyPerRow, PerRow


class Sums(NamedTuple):
    """A table that is one row of numbers, such as weighted sums over the observations."""

    values: Float[AnyArray, "*draws m"]


class Statistic(ABC):
    """Counts of given predictions.

    A table is a named tuple of arrays. Adding observations adds to it.

    Attributes
    ----------
    is_compiled : bool
        Whether JAX can count it too.
    """

    is_compiled: ClassVar[bool] = True

    @property
    def n_numbers(self) -> int:
        """How many numbers a set of weights takes beside one for each score, if they are more."""
        return 0

    @property
    def is_batched(self) -> bool:
        """Whether NumPy can count it for several sets of weights at once."""
        return False

    def parts(self) -> Sequence[Statistic]:
        """Return statistics of some of the counts each, such that each fits a processor's cache.

        The value of a measure is the sum of its summaries of all parts.
        """
        return [self]

    @abstractmethod
    def count(self, weights: AnyPerRow, xp: Any) -> Any:
        """Return the table, by NumPy or by JAX (``xp``)."""

    @abstractmethod
    def pull_back(self, weights: PerRow, table: Any, derivatives: Any) -> PerRow:
        """Return derivatives with respect to the weights from those with respect to the table."""


def once_per_predictions[**P, T](function: Callable[P, T]) -> Callable[P, T]:
    """Remember the result of ``function`` for as long as its first argument exists.

    That are predictions; what it takes besides are arrays and options. It is remembered for the
    last options.
    """
    results: WeakKeyDictionary[Any, tuple[Lock, dict[str, Any]]] = WeakKeyDictionary()
    lock = Lock()  # `evaluate` binds its measures in several threads

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        predictions: Any = args[0]
        others: list[Any] = [*args[1:], *kwargs, *kwargs.values()]
        with lock:
            own_lock, last = results.setdefault(predictions, (Lock(), {}))
        with own_lock:
            if not last or not _are_equal(last["others"], others):
                last.update(result=function(*args, **kwargs), others=others)
            result: T = last["result"]
            return result

    return wrapper


def _are_equal(some: list[Any], others: list[Any]) -> bool:
    is_equal = (a is b or np.array_equal(a, b) for a, b in zip(some, others, strict=False))
    return len(some) == len(others) and all(is_equal)
