"""Work on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client


def checked_scheduler(scheduler: Any) -> str | None:
    """Return the address of a scheduler, or None for this machine."""
    if not (scheduler is None or (isinstance(scheduler, str) and scheduler)):
        raise TypeError(f"scheduler must be the address of a Dask scheduler, not {scheduler!r}")
    return scheduler


@contextmanager
def dask_client(scheduler: str) -> Iterator[Client]:
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
