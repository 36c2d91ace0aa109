"""Remarks: what has to be known of a result, told as warnings or collected where they are shown."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1])
_collector: ContextVar[list[str] | None] = ContextVar("collector", default=None)


def warn(remarks: Iterable[str | None]) -> None:
    """Warn of each remark; the first caller outside of the package gets the blame."""
    collected = _collector.get()
    for remark in remarks:
        if remark is None:
            continue
        if collected is None:
            warnings.warn(remark, UserWarning, skip_file_prefixes=(_PACKAGE,))
        else:
            collected.append(remark)


def note(text: str) -> None:
    """Tell what is no reason for a warning, where remarks are collected to be shown."""
    collected = _collector.get()
    if collected is not None:
        collected.append(text)


@contextmanager
def collected_remarks() -> Iterator[list[str]]:
    """List the remarks of a block, each once, instead of warning of them.

    The filters of warnings belong to all threads, and are left alone.
    """
    collected: list[str] = []
    token = _collector.set(collected)
    try:
        yield collected
    finally:
        _collector.reset(token)
        collected[:] = dict.fromkeys(collected)
