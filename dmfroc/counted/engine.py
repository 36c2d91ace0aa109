"""Map and reduce on the cores of this machine, or on the workers of a Dask cluster.

A task turns a part into a state, and states are merged. Both engines run the same tasks. Except for
the rounding of sums, the result does not depend on the division of the data.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from dmfroc._kit.progress import track
from dmfroc._kit.threads import in_order, n_cores
from dmfroc.counted.sources import FramePart, SourcePart

if TYPE_CHECKING:
    from distributed import Client

_FAN_IN = 8


class State(Protocol):
    """What is known of some of the data."""

    def merged(self, other: Any) -> Any:
        """Return what is known of both."""


def map_reduce[S: State](
    task: Callable[[SourcePart], S | None],
    parts: Sequence[SourcePart],
    scheduler: str | None,
    description: str,
) -> S | None:
    """Return the merged states of all parts, see `merged`.

    Parameters
    ----------
    task : callable
        Turns a part into a state; None without rows. It is sent to the workers with all that it
        holds.
    parts : sequence of SourcePart
        At least one.
    scheduler : str, optional
        Address of a Dask scheduler; None for the cores of this machine.
    description : str
        What the progress bar says; Dask has its own dashboard.
    """
    if scheduler is not None:
        return _by_dask(task, parts, scheduler)
    with in_order(task, parts, n_cores() + 1) as states:
        return merged(track(states, len(parts), description))


def _by_dask[S: State](
    task: Callable[[SourcePart], S | None], parts: Sequence[SourcePart], scheduler: str
) -> S | None:
    with _dask_client(scheduler) as client:
        # Every worker has a copy, so that no part of the task is lost with one of them.
        [shared] = client.scatter([task], broadcast=True, hash=False)
        states = []
        for part in parts:
            argument: Any = part
            if isinstance(part, FramePart):
                table = client.compute(part.table)
                argument = client.submit(FramePart, table, part.number, pure=False)
            states.append(client.submit(operator.call, shared, argument, pure=False))
        while len(states) > 1:
            states = [
                client.submit(merged, states[first : first + _FAN_IN], pure=False)
                for first in range(0, len(states), _FAN_IN)
            ]
        return states[0].result()


def merged[S: State](states: Iterable[S | None]) -> S | None:
    """Return what all states know together; None if there are none, or nothing but None."""
    known = (state for state in states if state is not None)
    return functools.reduce(lambda one, other: one.merged(other), known, next(known, None))


@contextmanager
def _dask_client(scheduler: str) -> Iterator[Client]:
    """Connect to the scheduler at an address, such as ``tcp://127.0.0.1:8786``."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            "a scheduler needs Dask: run python -m pip install '.[dask]' in a clone of dmfroc"
        ) from error
    # Closed also if it cannot connect: what is half-built waits a minute when Python ends
    unconnected: Any = Client.__new__(Client)
    with closing(unconnected) as client:
        try:
            client.__init__(scheduler, set_as_default=False)
        except Exception as error:
            raise ValueError(f"scheduler {scheduler} cannot be reached: {error}") from error
        yield client
