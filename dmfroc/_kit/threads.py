"""Work on all cores."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from os import cpu_count
from typing import Any

from dmfroc._kit.progress import track

_BLAS_LOCK = threading.Lock()
_FEW_NUMBERS = 100_000  # for fewer, starting threads takes longer than the work
_INTERRUPTIBLE_AFTER = 0.1  # seconds


def parallel[T](function: Callable[[T], None], items: Sequence[T], n_numbers: int) -> None:
    """Call ``function`` on every item, on all cores if there are many numbers to work on.

    NumPy's sorts and copies release the GIL.
    """
    if n_numbers < _FEW_NUMBERS:
        for item in items:
            function(item)
    else:
        parallel_map(function, items)


def parallel_map[T, R](
    function: Callable[[T], R], items: Sequence[T], description: str | None = None
) -> list[R]:
    """Return ``function`` of every item in their order, computed on all cores.

    Inside one of its own workers it computes item after item: the cores are at work already, and
    pools within pools would have as many threads as cores squared. Once the caller is interrupted
    or an item has failed, workers start no other item, and an interrupt does not wait for those
    under way. A description shows how far it is, see `track`.
    """
    stop: threading.Event | None = getattr(_worker, "stop", None)
    if stop is not None:
        return [_unless_stopped(stop, function, item) for item in items]
    if len(items) < 2:
        return [function(item) for item in items]
    stop, waits = threading.Event(), True
    executor = ThreadPoolExecutor(
        min(len(items), n_cores()), initializer=_become_worker, initargs=(stop,)
    )
    try:
        futures = [executor.submit(_unless_stopped, stop, function, item) for item in items]
        results = (_result(future) for future in futures)
        return list(results if description is None else track(results, len(items), description))
    except KeyboardInterrupt:
        waits = False
        raise
    finally:
        stop.set()
        executor.shutdown(waits, cancel_futures=True)


def n_cores() -> int:
    """Return how many cores there are."""
    return cpu_count() or 1


def _result[R](future: Future[R]) -> R:
    # The system may tell any thread of an interrupt, but only the main one, once awake, acts on it.
    while not wait([future], _INTERRUPTIBLE_AFTER).done:
        pass
    return future.result()


class _Stopped(Exception):
    """Ends a worker whose result nobody waits for."""


_worker = threading.local()


def _become_worker(stop: threading.Event) -> None:
    _worker.stop = stop


def _unless_stopped[T, R](stop: threading.Event, function: Callable[[T], R], item: T) -> R:
    if stop.is_set():
        raise _Stopped
    return function(item)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Have the BLAS of NumPy and SciPy take a single thread, for small matrices.

    Where processes share the cores its threads wait for each other many times as long as they
    work. Their number is a setting of the process: of several Python threads the first to come
    changes it and changes it back, and those that come meanwhile take it as it is.
    """
    if not _BLAS_LOCK.acquire(blocking=False):
        yield
        return
    try:
        with _blas(has_scipys="scipy.linalg" in sys.modules).limit(limits=1):
            yield
    finally:
        _BLAS_LOCK.release()


@functools.cache
def _blas(*, has_scipys: bool) -> Any:
    """Return the BLAS libraries that are loaded: looking for them takes milliseconds.

    SciPy brings its own, which JAX uses; where it comes later they are looked for again.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
