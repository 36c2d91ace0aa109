"""Files that appear whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def written(path: Path, name: str) -> Iterator[BinaryIO]:
    """Open a file for writing; it appears under its name if all goes well, or not at all.

    Errors call it by the name of the argument.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        if target.exists():
            with target.open("r+b"):  # may it be overwritten?
                pass
        stream = partial.open("wb")
    except OSError as error:
        raise ValueError(f"{name} {path} cannot be written: {error.strerror}") from error
    try:
        with stream:
            yield stream
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
