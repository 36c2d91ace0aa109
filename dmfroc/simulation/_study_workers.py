"""Who computes the replications of a study: this process, others, or the workers of Dask."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context, parent_process
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from typing import Any, NamedTuple

import numpy as np

from dmfroc._kit.progress import is_watched

Setting = Mapping[str, Any]
Rows = list[dict[str, Any]]

_PATIENCE = 5.0  # seconds
_PACKAGES = ("dmfroc", "jax", "numpy", "scipy", "scikit-learn")
# One thread per worker: more of them would only wait for each other. XLA reads NPROC.
_ONE_THREAD = dict.fromkeys(
    ("NPROC", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


def canonical(setting: Setting) -> str:
    return json.dumps(setting, sort_keys=True)


def generator_of(seed: int, setting: Setting, replication: int) -> np.random.Generator:
    """Return random numbers that depend on seed, setting and replication and on nothing else."""
    digest = hashlib.sha256(canonical(setting).encode()).digest()
    entropy = [seed, int.from_bytes(digest[:16])]
    return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(replication,)))


@lru_cache
def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


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
        found: list[Rows] = []
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
                found.append([dict(row) for row in rows])
            except SystemExit as end:
                raise RuntimeError(
                    f"the function called sys.exit({end.code!r}) {where}: let it raise an exception"
                ) from end
            except Exception as error:
                error.add_note(where)
                raise
        return Finished(found, versions())


@contextlib.contextmanager
def _limit(seconds: float | None, where: str) -> Iterator[None]:
    """Raise TimeoutError in what takes longer, which must run in the main thread."""
    if seconds is None:
        yield
        return

    def expire(*_: Any) -> None:
        raise TimeoutError(f"the function took more than {seconds:g} seconds {where}")

    previous = signal.signal(signal.SIGALRM, expire)
    # What compiled code keeps Python from hearing ends with the process
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


def _start_worker(stop: Event) -> None:
    """Prepare a worker process: it ends with its parent, which alone minds Ctrl-C."""
    global _is_stopped
    _is_stopped = stop.is_set
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(chunk: Chunk) -> Finished:
    return chunk.compute(_is_stopped)


# Who does it


class Workers(NamedTuple):
    """Who computes chunks, and returns them as they are finished."""

    number: int
    compute: Callable[[list[Chunk]], Iterator[tuple[Chunk, Finished]]]


@contextlib.contextmanager
def workers(n_workers: int | None, scheduler: str | None, stop: Event) -> Iterator[Workers]:
    if scheduler is not None:
        try:
            from distributed import Client
        except ImportError as error:
            raise ImportError("a scheduler needs Dask: pip install 'dmfroc[dask]'") from error
        with Client(scheduler, set_as_default=False) as client:
            executor = client.get_executor(pure=False)
            number = max(1, sum(client.nthreads().values()))
            try:
                yield Workers(number, partial(_completed, executor, Chunk.compute, stop))
            finally:
                executor.shutdown(wait=False)
        return
    number = n_workers or os.cpu_count() or 1
    if number == 1:
        yield Workers(1, partial(_one_by_one, stop))
        return
    own = _OwnProcesses()
    with _environment(_ONE_THREAD):
        # Not by forking, which deadlocks where JAX has threads.
        executor = ProcessPoolExecutor(number, own, _start_worker, (stop,))
        try:
            yield Workers(number, partial(_completed, executor, _work, stop))
        except BrokenProcessPool as error:
            raise RuntimeError(
                "a worker process was killed, perhaps for want of memory, or could not start; "
                "what was finished is kept: run the study again, with fewer workers if need be"
            ) from error
        finally:
            executor.shutdown(wait=False, cancel_futures=True)
            own.terminate()


def _one_by_one(stop: Event, chunks: list[Chunk]) -> Iterator[tuple[Chunk, Finished]]:
    for chunk in chunks:
        if stop.is_set():
            return
        yield chunk, chunk.compute(stop.is_set)


def _completed(
    executor: Executor,
    function: Callable[[Chunk], Finished],
    stop: Event,
    chunks: list[Chunk],
) -> Iterator[tuple[Chunk, Finished]]:
    futures = {executor.submit(function, chunk): chunk for chunk in chunks}
    for future in as_completed(futures):
        if stop.is_set():
            for pending in futures:
                pending.cancel()
        if not future.cancelled():
            # Each result is let go once it is stored.
            yield futures.pop(future), future.result()


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


class _OwnProcesses(SpawnContext):
    """Starts processes by spawning, and ends those alone: other threads may run studies too."""

    def __init__(self) -> None:
        self._started: list[BaseProcess] = []

    def Process(self, *args: Any, **kwargs: Any) -> BaseProcess:  # type: ignore[override]
        process = SpawnContext.Process(*args, **kwargs)
        self._started.append(process)
        return process

    def terminate(self) -> None:
        """End all that are still there."""
        for process in self._started:
            process.terminate()


_environment_lock = threading.Lock()
_environments: list[dict[str, str | None]] = []  # what was there before the first of several


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for the processes started meanwhile, by whichever thread."""
    with _environment_lock:
        if not _environments:
            before = {name: os.environ.get(name) for name in variables}
            os.environ.update(variables)
        else:
            before = _environments[0]
        _environments.append(before)
    try:
        yield
    finally:
        with _environment_lock:
            _environments.pop()
            if not _environments:
                for name, value in before.items():
                    if value is None:
                        os.environ.pop(name, None)
                    else:
                        os.environ[name] = value


@contextlib.contextmanager
def progress(name: str, n_finished: int, n_total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on a terminal; yields the function that advances it."""
    if not is_watched():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task(name, total=n_total, completed=n_finished)
        yield partial(progress.advance, task)
