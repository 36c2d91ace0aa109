"""A progress bar for long jobs, on terminals only."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator

_PATIENCE = 2.0  # seconds; shorter jobs show nothing


def is_watched() -> bool:
    """Whether stderr is a terminal."""
    # A daemon may have no stderr at all, or a closed one
    stream = sys.stderr
    return stream is not None and not stream.closed and stream.isatty()


def track[T](items: Iterable[T], total: int, description: str) -> Iterator[T]:
    """Yield the items, and show how many have come once that takes more than two seconds."""
    start, bar = time.monotonic(), None
    try:
        for done, item in enumerate(items, start=1):
            yield item
            if bar is None and is_watched() and time.monotonic() - start > _PATIENCE:
                from rich.console import Console
                from rich.progress import Progress

                bar = Progress(console=Console(stderr=True), transient=True)
                bar.start()
                task = bar.add_task(description, total=total, completed=done)
            elif bar is not None:
                bar.update(task, completed=done)
    finally:
        if bar is not None:
            bar.stop()
