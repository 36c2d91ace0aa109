"""Files are written as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from platform import node
from typing import Any, BinaryIO

_STRAY = re.compile(r"\.dmfroc-([0-9a-f]{8})-([0-9]+)-[0-9a-f]{16}\.partial")
_OLD = 86_400  # seconds; what another machine left may be in use until then


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name once all of it is on disk.

    A link stays a link, and a file that is overwritten keeps its mode. The data go to a file of a
    random name beside it, which is removed if the block fails; those that killed processes left
    there are removed too.

    Raises
    ------
    OSError
        If the file cannot be written, or is none: devices and pipes are not replaced.
    """
    target = Path(os.path.realpath(path))
    before = _regular(target)
    remove_strays(target.parent)
    partial = target.with_name(
        f".dmfroc-{_host():08x}-{os.getpid()}-{secrets.token_hex(8)}.partial"
    )
    mode = 0o666 if before is None else stat.S_IMODE(before.st_mode)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(partial, flags, mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            if before is not None:
                _like(before, descriptor)
            yield stream
            stream.flush()
            os.fsync(descriptor)
        os.replace(partial, target)
    except OSError as error:
        if error.filename is None:  # such as that of a full disk
            error.filename = os.fspath(path)
        raise
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def written(path: Path, name: str) -> Iterator[BinaryIO]:
    """Open a file as `written_whole` does; errors call it by the name of the argument."""
    try:
        with written_whole(path) as stream:
            yield stream
    except (OSError, ValueError) as error:  # a name with NUL is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{name} {path} cannot be written: {reason}") from error


def checked_path(name: str, path: Any) -> Path:
    """Return a path that is one of text."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"{name} must be a path, but it is {path!r}")
    if not os.fspath(path):
        raise ValueError(f"{name} must be a path, but it is empty")
    return Path(path)


def made_directory(name: str, path: Any) -> Path:
    """Return a directory, which is made where there is none; errors call it by a name."""
    directory = checked_path(name, path)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # a name with NUL is a ValueError
        raise ValueError(
            f"{name} {directory} is no directory, and cannot be made one: {error}"
        ) from error
    return directory


def remove_strays(directory: Path) -> None:
    """Remove what processes that were killed while they wrote have left in a directory."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            found = _STRAY.fullmatch(entry.name)
            if found and _is_abandoned(entry, int(found[1], 16), int(found[2])):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _regular(target: Path) -> os.stat_result | None:
    """Return what is known of a file that may be overwritten; None if there is none yet."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(None, "it is no regular file, and would be replaced by one", str(target))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    return found


def _like(before: os.stat_result, descriptor: int) -> None:
    """Give a file the owner, if this process may, and the mode of the one that it replaces."""
    if hasattr(os, "fchown"):
        with contextlib.suppress(OSError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _host() -> int:
    return zlib.crc32(node().encode())


def _is_abandoned(entry: os.DirEntry[str], host: int, process: int) -> bool:
    if host != _host():
        return time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
