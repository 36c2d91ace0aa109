"""A progress bar for long jobs, on terminals and in notebooks only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

_PATIENCE = 2.0  # seconds; shorter jobs show nothing


def is_watched() -> bool:
    """Whether stderr is a terminal, or a notebook can show a bar."""
    if "ipykernel" in sys.modules and find_spec("ipywidgets") is not None:
        return True
    # A daemon may have no stderr at all, or a closed one
    stream = sys.stderr
    return stream is not None and not stream.closed and stream.isatty()


def track[T](items: Iterable[T], total: int, description: str) -> Iterator[T]:
    """Yield the items, and show how many have come once that takes more than two seconds."""
    with progress_bar(description, 0, total, _PATIENCE) as advance:
        for item in items:
            yield item
            advance(1)


@contextmanager
def progress_bar(
    description: str, n_finished: int, n_total: int, patience: float = 0.0
) -> Iterator[Callable[[int], None]]:
    """Yield the function that advances a bar; a bar that appears late is removed at the end.

    Parameters
    ----------
    description : str
        Text before the bar.
    n_finished, n_total : int
        Items that are finished already, and all of them.
    patience : float
        Seconds before the bar appears.
    """
    start, bar, task = time.monotonic(), None, None

    def advance(n: int) -> None:
        nonlocal n_finished, bar, task
        n_finished += n
        if bar is not None:
            bar.update(task, completed=n_finished)
        elif is_watched() and time.monotonic() - start >= patience:
            from rich.console import Console
            from rich.markup import escape
            from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

            bar = Progress(
                *Progress.get_default_columns()[:2],
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=patience > 0,
            )
            bar.start()
            task = bar.add_task(escape(description), total=n_total, completed=n_finished)

    try:
        if patience == 0:
            advance(0)
        yield advance
    finally:
        if bar is not None:
            bar.stop()
