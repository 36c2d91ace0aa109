"""Work on all cores."""

from __future__ import annotations

import functools
import itertools
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
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

    A description shows the progress, see `track`.
    """
    with in_order(function, items, len(items)) as results:
        return list(results if description is None else track(results, len(items), description))


@contextmanager
def in_order[T, R](
    function: Callable[[T], R], items: Sequence[T], n_ahead: int
) -> Iterator[Iterator[R]]:
    """Iterate over ``function`` of every item in their order, computed on all cores.

    At most ``n_ahead`` results are computed or kept before they are taken. Inside one of its own
    workers it computes item after item: the cores are busy already, and pools within pools would
    have as many threads as cores squared. Once the caller is interrupted or an item has failed,
    workers start no other item. An interrupt does not wait for those under way.
    """
    stop: threading.Event | None = getattr(_worker, "stop", None)
    if stop is not None:
        yield (_unless_stopped(stop, function, item) for item in items)
        return
    if len(items) < 2:
        yield map(function, items)
        return
    stop, waits = threading.Event(), True
    n_threads = min(len(items), n_cores())
    executor = ThreadPoolExecutor(n_threads, initializer=setattr, initargs=(_worker, "stop", stop))

    def results() -> Iterator[R]:
        futures = (executor.submit(_unless_stopped, stop, function, item) for item in items)
        pending = deque(itertools.islice(futures, n_ahead))
        while pending:
            # The system may send an interrupt to any thread; the main one has to wake up to see it
            while not wait([pending[0]], _INTERRUPTIBLE_AFTER).done:
                pass
            yield pending.popleft().result()
            pending.extend(itertools.islice(futures, 1))

    try:
        yield results()
    except KeyboardInterrupt:
        waits = False
        raise
    finally:
        stop.set()
        executor.shutdown(waits, cancel_futures=True)


def tasks_of[S: Sequence[Any]](items: S, n_per_core: int) -> list[S]:
    """Divide items into as many consecutive parts for every core."""
    n_each = max(1, -(-len(items) // (n_per_core * n_cores())))
    return [items[first : first + n_each] for first in range(0, len(items), n_each)]  # type: ignore[misc]


def n_cores() -> int:
    """Return how many cores there are."""
    return cpu_count() or 1


class _Stopped(Exception):
    """Ends a worker whose result nobody waits for."""


_worker = threading.local()


def _unless_stopped[T, R](stop: threading.Event, function: Callable[[T], R], item: T) -> R:
    if stop.is_set():
        raise _Stopped
    return function(item)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let the BLAS of NumPy and SciPy use a single thread, for small matrices.

    If several processes share the cores, its threads wait for each other many times as long as
    they work. Their number is a setting of the process: the first of several Python threads
    changes it and changes it back, and the others use it as it is meanwhile.
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
    """Return the BLAS libraries that are loaded; looking for them takes milliseconds.

    SciPy brings its own, which JAX uses. Once it is loaded, they are looked for again.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
