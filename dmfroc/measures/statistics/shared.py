"""What several measures need of the same predictions is computed once, and lives as long."""

from __future__ import annotations

import functools
from collections.abc import Callable
from threading import Lock
from weakref import WeakKeyDictionary

from dmfroc.predictions import Predictions


def once_per_predictions[T](function: Callable[[Predictions], T]) -> Callable[[Predictions], T]:
    """Remember the result of ``function`` for as long as the predictions exist."""
    results: WeakKeyDictionary[Predictions, T] = WeakKeyDictionary()
    lock = Lock()  # `evaluate` binds its measures in several threads

    @functools.wraps(function)
    def wrapper(predictions: Predictions) -> T:
        with lock:
            if predictions not in results:
                results[predictions] = function(predictions)
            return results[predictions]

    return wrapper
