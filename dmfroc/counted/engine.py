"""Who does the work: the cores of this machine, or the workers of a Dask cluster.

A task turns a part into a state, and states are merged. Both engines run the same tasks; the
result is the same for any way to divide the data, but for the rounding of sums.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, runtime_checkable

from dmfroc._kit.progress import track
from dmfroc._kit.threads import become_worker, result_of
from dmfroc.counted.sources import FramePart, Part

_FAN_IN = 8


@runtime_checkable
class State(Protocol):
    """What is known of some of the data."""

    def merged(self, other: Any) -> Any:
        """Return what is known of both."""


def map_reduce[S: State](
    task: Callable[[Part], S], parts: Sequence[Part], scheduler: str | None, description: str
) -> S:
    """Return the merged states of all parts.

    Parameters
    ----------
    task : callable
        Turns a part into a state. It is sent to the workers with all that it holds.
    parts : sequence of Part
        At least one.
    scheduler : str, optional
        Address of a Dask scheduler; None for the cores of this machine.
    description : str
        What the progress bar says; Dask has its own dashboard.
    """
    if scheduler is not None:
        return _by_dask(task, parts, scheduler)
    found: S | None = None
    for state in track(_by_threads(task, parts), len(parts), description):
        found = state if found is None else found.merged(state)
    assert found is not None
    return found


def _by_threads[S](task: Callable[[Part], S], parts: Sequence[Part]) -> Iterator[S]:
    """Yield the states in the order of the parts; few are held at a time."""
    if len(parts) == 1:
        yield task(parts[0])
        return
    n_threads = min(os.cpu_count() or 1, len(parts))
    stop = threading.Event()
    executor = ThreadPoolExecutor(n_threads, initializer=become_worker, initargs=(stop, False))
    pending: deque[Future[S]] = deque()
    try:
        for part in parts:
            pending.append(executor.submit(task, part))
            if len(pending) > n_threads:
                yield result_of(pending.popleft())
        while pending:
            yield result_of(pending.popleft())
    finally:
        stop.set()
        executor.shutdown(wait=False, cancel_futures=True)


def _by_dask[S: State](task: Callable[[Part], S], parts: Sequence[Part], scheduler: str) -> S:
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError("a scheduler needs Dask: pip install 'dmfroc[dask]'") from error
    try:
        client = Client(scheduler, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"scheduler {scheduler!r} cannot be reached: {error}") from error
    with client:
        # All workers have a copy, so that what one of them knows is not lost with it.
        [shared] = client.scatter([task], broadcast=True, hash=False)
        states = []
        for part in parts:
            if isinstance(part, FramePart):
                table = client.compute(part.table)
                states.append(client.submit(_on_table, shared, table, part.number, pure=False))
            else:
                states.append(client.submit(_call, shared, part, pure=False))
        while len(states) > 1:
            states = [
                client.submit(_merge, states[first : first + _FAN_IN], pure=False)
                for first in range(0, len(states), _FAN_IN)
            ]
        [total] = states
        found: S = total.result()
        return found


def _call[S](task: Callable[[Part], S], part: Part) -> S:
    return task(part)


def _on_table[S](task: Callable[[Part], S], table: Any, number: int) -> S:
    return task(FramePart(table, number))


def _merge[S: State](states: list[S]) -> S:
    found, *others = states
    for state in others:
        found = found.merged(state)
    return found
