"""Warnings about results: given as Python warnings, or collected where they are shown."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1])
_collector: ContextVar[list[str] | None] = ContextVar("collector", default=None)
wording: ContextVar[Callable[[str], str]] = ContextVar("wording", default=str)
"""How readers are told of arguments: a command names its options, also in its reports."""


class Note(str):
    """What is shown with the warnings of a result, and no reason for a Python warning."""


def warn(remarks: Iterable[str | None]) -> None:
    """Give each warning; its line is that of the first caller outside of the package."""
    collected = _collector.get()
    for remark in remarks:
        if remark is None or (collected is None and isinstance(remark, Note)):
            continue
        if collected is None:
            warnings.warn(remark, UserWarning, skip_file_prefixes=(_PACKAGE,))
        else:
            collected.append(remark)


@contextmanager
def collected_remarks() -> Iterator[list[str]]:
    """List the warnings of a block, each once, instead of giving them.

    The filters of warnings belong to all threads, and are left alone.
    """
    collected: list[str] = []
    token = _collector.set(collected)
    try:
        yield collected
    finally:
        _collector.reset(token)
        collected[:] = dict.fromkeys(collected)
