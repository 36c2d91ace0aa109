"""Work on all cores."""

from __future__ import annotations

import atexit
import contextvars
import functools
import itertools
import logging
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager, nullcontext, suppress
from os import cpu_count
from queue import SimpleQueue
from typing import Any
from weakref import WeakSet

from dmfroc._kit.progress import track

_BLAS_LOCK = threading.Lock()
_FEW_NUMBERS = 250_000  # for fewer, starting threads takes longer than the work
_NUMBERS_PER_TASK = 50_000  # for fewer, handing out a task does
_TASKS_PER_CORE = 32  # of many items: few enough that handing them out takes no time
_INTERRUPTIBLE_AFTER = 0.1  # seconds
_PATIENCE_AT_END = 0.2  # seconds


def parallel[T, R](function: Callable[[T], R], items: Sequence[T], n_numbers: int) -> list[R]:
    """Return ``function`` of every item, on all cores if there are many numbers to work on.

    NumPy's sorts and copies release the GIL.
    """
    if n_numbers < _FEW_NUMBERS:
        return [function(item) for item in items]
    per_core = max(n_numbers // (_NUMBERS_PER_TASK * n_cores()), 1)
    parts = tasks_of(items, min(per_core, _TASKS_PER_CORE))
    done = parallel_map(lambda part: [function(item) for item in part], parts)
    return list(itertools.chain(*done))


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
    have as many threads as cores squared. For the same reason BLAS uses one thread. Once the caller
    is interrupted or an item has failed, workers start no other item. An interrupt does not wait
    for those under way.
    """
    stop: threading.Event | None = getattr(_worker, "stop", None)
    if stop is not None and not _worker.is_alone:
        yield (_unless_stopped(stop, function, item) for item in items)
        return
    if len(items) < 2:
        yield map(function, items)
        return
    workers = _pool(min(len(items), n_cores()), is_alone=False)
    with one_blas_thread(), workers as (submit, stop):

        def results() -> Iterator[R]:
            futures = (submit(_unless_stopped, stop, function, item) for item in items)
            pending = deque(itertools.islice(futures, n_ahead))
            while pending:
                yield result_of(pending.popleft())
                pending.extend(itertools.islice(futures, 1))

        yield results()


type _Submit = Callable[..., Future[Any]]
"""Has a worker call a function with the arguments that follow it."""


@contextmanager
def _pool(n_workers: int, *, is_alone: bool) -> Iterator[tuple[_Submit, threading.Event]]:
    """Start workers, for whom nobody waits after an interrupt, and what ends them."""
    stop, tasks, waits = threading.Event(), SimpleQueue[Any](), True
    workers: list[threading.Thread] = []

    def work() -> None:
        become_worker(stop, is_alone)
        while (task := tasks.get()) is not None:
            _fulfil(*task)
            del task  # and what it has returned

    def submit(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        in_context = contextvars.copy_context().run  # of the caller, such as its numpy.errstate
        tasks.put((future, in_context, (function, *arguments)))
        return future

    try:
        for _ in range(n_workers):
            workers.append(_start(work))
        yield submit, stop
    except (KeyboardInterrupt, Stopped):
        waits = False
        raise
    finally:
        stop.set()
        for _ in workers:
            tasks.put(None)
        for worker in workers if waits else ():
            worker.join()


def in_background[R](function: Callable[[], R]) -> Future[R]:
    """Call a function in a thread of its own, for which nobody need wait."""
    future: Future[R] = Future()
    _start(lambda: _fulfil(future, function, ()))
    return future


def _start(work: Callable[[], None]) -> threading.Thread:
    # `with jax.default_device(...)` holds for one thread. Another one may be importing JAX.
    jax = sys.modules.get("jax")
    device = getattr(getattr(jax, "config", None), "jax_default_device", None)

    def run() -> None:
        with jax.default_device(device) if jax and device is not None else nullcontext():
            work()

    thread = threading.Thread(target=run, daemon=True)  # Python's end would wait for others
    thread.start()
    _started.add(thread)
    return thread


def _fulfil(future: Future[Any], function: Callable[..., Any], arguments: Sequence[Any]) -> None:
    try:
        future.set_result(function(*arguments))
    except BaseException as error:
        future.set_exception(error)


@atexit.register
def _end() -> None:
    """Wait for threads that are at work, unless an interrupt ends the process.

    Compilers crash when Python is finalized around them.
    """
    try:
        if isinstance(getattr(sys, "last_exc", None), KeyboardInterrupt):
            end_as_interrupted()
        while any(thread.is_alive() for thread in _started):
            time.sleep(_INTERRUPTIBLE_AFTER)
    except KeyboardInterrupt:
        end_as_interrupted()


def end_as_interrupted() -> None:
    """End the process at once, by the signal, if threads are at work that do not stop.

    Those that compile a program end when it is compiled, after seconds.
    """
    last = time.monotonic() + _PATIENCE_AT_END
    for thread in list(_started):
        thread.join(max(last - time.monotonic(), 0))
    if any(thread.is_alive() for thread in _started):
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            with suppress(AttributeError, OSError, ValueError):  # it may be None, or closed
                stream.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)


def tasks_of[S: Sequence[Any]](items: S, n_per_core: int) -> list[S]:
    """Divide items into as many consecutive parts for every core."""
    n_each = max(1, -(-len(items) // (n_per_core * n_cores())))
    return [items[first : first + n_each] for first in range(0, len(items), n_each)]  # type: ignore[misc]


def interruptible[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Have a function that calls long programs leave the main thread free for interrupts.

    Programs do not end for an interrupt, and the main thread would not act on it before they do.
    A function of this kind must not warn: the thread does not know its caller.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if threading.current_thread() is not threading.main_thread():
            return function(*args, **kwargs)
        with _pool(1, is_alone=True) as (submit, _):
            return result_of(submit(lambda: function(*args, **kwargs)))

    return call


def check_stopped() -> None:
    """End a worker whose result nobody waits for any more; long tasks call this now and then."""
    stop: threading.Event | None = getattr(_worker, "stop", None)
    if stop is not None and stop.is_set():
        raise Stopped


def n_cores() -> int:
    """Return how many cores there are."""
    return cpu_count() or 1


def result_of[R](future: Future[R]) -> R:
    """Return the result of a thread; interrupts are acted on while it works."""
    # The system may tell any thread of an interrupt, but only the main one, once awake, acts on it.
    while not wait([future], _INTERRUPTIBLE_AFTER).done:
        check_stopped()
    return future.result()


class Stopped(Exception):
    """Ends a worker whose result nobody waits for."""


_worker = threading.local()
_started: WeakSet[threading.Thread] = WeakSet()


def become_worker(stop: threading.Event, is_alone: bool) -> None:
    """Make this thread one that a stop ends, alone or one of a pool."""
    _worker.stop, _worker.is_alone = stop, is_alone


def _unless_stopped[T, R](stop: threading.Event, function: Callable[[T], R], item: T) -> R:
    if stop.is_set():
        raise Stopped
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
