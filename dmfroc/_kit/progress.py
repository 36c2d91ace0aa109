"""A progress bar for long jobs, on terminals and in notebooks only."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

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
    start, task = time.monotonic(), None
    bar: Any = None
    try:
        for n_finished, item in enumerate(items, 1):
            yield item
            if bar is not None:
                bar.update(task, completed=n_finished)
            elif is_watched() and time.monotonic() - start >= _PATIENCE:
                from rich.console import Console
                from rich.markup import escape
                from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

                bar = Progress(
                    *Progress.get_default_columns()[:2],
                    MofNCompleteColumn(),
                    TimeRemainingColumn(),
                    console=Console(stderr=True),
                    transient=True,
                )
                bar.start()
                task = bar.add_task(escape(description), total=total, completed=n_finished)
    finally:
        if bar is not None:
            bar.stop()
