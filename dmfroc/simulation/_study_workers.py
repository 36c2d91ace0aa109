"""Workers that compute the replications of a study: this process, others, or those of Dask."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from dmfroc._kit.dask import dask_client

Setting = Mapping[str, Any]
Rows = list[dict[str, Any]]

_PATIENCE = 5.0  # seconds
_PACKAGES = ("dmfroc", "jax", "numpy", "scipy", "scikit-learn")


def canonical(setting: Setting) -> str:
    return json.dumps(setting, sort_keys=True)


def generator_of(seed: int, setting: Setting, replication: int) -> np.random.Generator:
    """Return random numbers that depend on seed, setting and replication and on nothing else."""
    digest = hashlib.sha256(canonical(setting).encode()).digest()
    entropy = [seed, int.from_bytes(digest[:16])]
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(replication,)))


@lru_cache
def versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


class Finished(NamedTuple):
    """The rows of some replications, and what they were computed with."""

    rows: list[Rows]
    versions: dict[str, str]


@dataclass(frozen=True)
class Chunk:
    """Replications of one setting, computed in one go."""

    function: Callable[..., Any]
    seed: int
    setting: Setting
    replications: range
    time_limit: float | None = None

    def compute(self, is_stopped: Callable[[], bool] = lambda: False) -> Finished:
        """Evaluate the replications one by one, until told to stop."""
        finished: list[Rows] = []
        for replication in self.replications:
            if is_stopped():
                break
            where = f"in replication {replication} of the setting {self.setting}"
            try:
                generator = generator_of(self.seed, self.setting, replication)
                with _limit(self.time_limit, where):
                    result = self.function(generator, **self.setting)
                rows = [result] if isinstance(result, Mapping) else list(result)
                if not rows:
                    raise ValueError("the function returned no row")
                finished.append([dict(row) for row in rows])
            except SystemExit as end:
                raise RuntimeError(
                    f"the function called sys.exit({end.code!r}) {where}: let it raise an exception"
                ) from end
            except Exception as error:
                error.add_note(where)
                raise
        return Finished(finished, versions())


@contextlib.contextmanager
def _limit(seconds: float | None, where: str) -> Iterator[None]:
    """Raise TimeoutError in what takes longer, which must run in the main thread."""
    if seconds is None:
        yield
        return

    def expire(*_: Any) -> None:
        raise TimeoutError(f"the function took more than {seconds:g} seconds {where}")

    previous = signal.signal(signal.SIGALRM, expire)
    # Compiled code may keep Python from seeing the signal: then the process has to end
    last = threading.Timer(2 * seconds + _PATIENCE, os._exit, [1])
    last.daemon = True
    if parent_process() is not None:
        last.start()
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        last.cancel()


_is_stopped: Callable[[], bool] = lambda: False  # noqa: E731  # of a worker process


def _start_worker(stop: Event, receiver: Connection) -> None:
    """Prepare a worker process: it ignores Ctrl-C, and ends when its parent closes the pipe."""
    global _is_stopped
    _is_stopped = stop.is_set
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(receiver,), daemon=True).start()
    # One thread for each worker: more of them would only wait for each other. XLA reads NPROC.
    names = "NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"
    os.environ |= dict.fromkeys(names, "1")
    threadpool_limits(1)  # of the libraries that are loaded already


def _end_with(receiver: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        receiver.recv()
    os._exit(1)


def _work(chunk: Chunk) -> Finished:
    return chunk.compute(_is_stopped)


type Compute = Callable[[Iterable[Chunk]], Iterator[tuple[Chunk, Finished]]]
"""Yields chunks with their results, in whatever order they are finished."""


@contextlib.contextmanager
def workers(
    n_workers: int | None, scheduler: str | None, stop: Event
) -> Iterator[tuple[int, Compute]]:
    """Start workers, yield their number and the function that computes, and end the workers.

    Processes are our own and not joblib's. In an experiment with joblib 1.6 its workers outlived a
    parent that was killed, a Ctrl-C lost the replications in hand, and the number of results that
    waited to be stored had no limit.
    """
    if scheduler is not None:
        with dask_client(scheduler) as client:
            executor = client.get_executor(pure=False)
            number = max(1, sum(client.nthreads().values()))
            try:
                yield number, partial(_completed, executor, Chunk.compute, 2 * number, stop)
            finally:
                executor.shutdown(wait=False)
        return
    number = n_workers or os.cpu_count() or 1
    if number == 1:
        yield 1, partial(_one_by_one, stop)
        return
    context = get_context("spawn")  # a forked process deadlocks if JAX has threads
    receiver, sender = context.Pipe(duplex=False)
    executor = ProcessPoolExecutor(number, context, _start_worker, (stop, receiver))
    with receiver, sender:  # a parent that is killed closes them, too
        try:
            yield number, partial(_completed, executor, _work, 2 * number, stop)
        except BrokenProcessPool as error:
            raise RuntimeError(
                "a worker process was killed, perhaps for want of memory, or could not start; "
                "what was finished is kept: run the study again, with fewer workers if need be"
            ) from error
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


def _one_by_one(stop: Event, chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, Finished]]:
    for chunk in chunks:
        if stop.is_set():
            return
        yield chunk, chunk.compute(stop.is_set)


def _completed(
    executor: Executor,
    function: Callable[[Chunk], Finished],
    n_ahead: int,
    stop: Event,
    chunks: Iterable[Chunk],
) -> Iterator[tuple[Chunk, Finished]]:
    """Yield results when they are there; at most ``n_ahead`` are computed or kept meanwhile."""
    remaining, futures = iter(chunks), dict[Future[Finished], Chunk]()
    while True:
        if stop.is_set():
            for pending in futures:
                pending.cancel()
        else:
            for chunk in itertools.islice(remaining, n_ahead - len(futures)):
                futures[executor.submit(function, chunk)] = chunk
        if not futures:
            return
        for future in wait(futures, return_when=FIRST_COMPLETED).done:
            chunk = futures.pop(future)
            if not future.cancelled():
                yield chunk, future.result()


@contextlib.contextmanager
def gentle_interrupt() -> Iterator[Event]:
    """Let the first Ctrl-C set an event, and a second one interrupt as usual."""
    stop = get_context("spawn").Event()
    previous = signal.getsignal(signal.SIGINT)
    in_main_thread = threading.current_thread() is threading.main_thread()
    # A shell's background jobs ignore Ctrl-C, which is meant for what is in the foreground.
    if not in_main_thread or previous is signal.SIG_IGN:
        yield stop
        return

    def interrupt(*_: Any) -> None:
        stop.set()
        signal.signal(signal.SIGINT, previous)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, previous)
