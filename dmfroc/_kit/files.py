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
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_OLD = 86_400  # seconds; what another machine left may be in use until then


@contextmanager
def written(path: Path, name: str) -> Iterator[BinaryIO]:
    """Open a file for writing that appears under its name once all of it is on disk.

    A link stays a link, and a file that is overwritten keeps its mode. The data go to a file of a
    random name beside it, which is removed if the block fails; those that killed processes left
    there are removed too. Other errors of the block are passed on as they are.

    Raises
    ------
    ValueError
        If the file cannot be written, or is none: devices and pipes are not replaced. It is called
        by the name of the argument.
    """
    what = f"{name} {path}"
    with _writing(what):
        target = Path(os.path.realpath(path))
        before = _regular(target)
        remove_strays(target.parent)
        descriptor, partial = _opened_beside(target, before)
    try:
        with _writing(what, among_others=True), os.fdopen(descriptor, "wb") as stream:
            yield stream
            with _writing(what):
                stream.flush()
                os.fsync(descriptor)
        with _writing(what):
            os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _writing(what: str, *, among_others: bool = False) -> Iterator[None]:
    """Name the file in errors of writing it: among others only those of a full disk."""
    try:
        yield
    except (OSError, ValueError) as error:  # a path with NUL is a ValueError
        number = getattr(error, "errno", None)
        if among_others and (number not in _FULL or getattr(error, "filename", None) is not None):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise ValueError(f"{what} cannot be written: {reason}") from error


def checked_path(name: str, path: Any) -> Path:
    """Return a path that is one of text."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"{name} must be a path, but it is {path!r}")
    if not os.fspath(path):
        raise ValueError(f"{name} must be a path, but it is empty")
    return Path(path)


def check_readable(file: Path) -> None:
    """Refuse what cannot be read, or only once."""
    if not file.exists():
        raise FileNotFoundError(f"{file}: there is no such file; check the path")
    if file.is_dir():
        raise ValueError("this is a directory; name one file in it")
    if not file.is_file():
        raise ValueError("this is a pipe or a device; write its contents to a file first")


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
            match = _STRAY.fullmatch(entry.name)
            if match and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_abandoned(entry, int(match[1], 16), int(match[2]))


def _regular(target: Path) -> os.stat_result | None:
    """Return what is known of a file that may be overwritten; None if there is none yet."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("it is no regular file, and would be replaced by one")
    if not os.access(target, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    return status


def _host() -> int:
    return zlib.crc32(node().encode())


def _opened_beside(target: Path, before: os.stat_result | None) -> tuple[int, Path]:
    """Create a file beside one to be written, locked as long as it is open."""
    mode = 0o666 if before is None else stat.S_IMODE(before.st_mode)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    name = f".dmfroc-{_host():08x}-{os.getpid()}-{secrets.token_hex(8)}.partial"
    beside = target.with_name(name)
    descriptor = os.open(beside, flags, mode)
    with contextlib.suppress(OSError):  # file systems without locks
        _lock(descriptor)
    if os.fstat(descriptor).st_nlink == 0:  # taken for a stray just before it was locked
        os.close(descriptor)
        return _opened_beside(target, before)
    if before is not None and hasattr(os, "fchown"):
        with contextlib.suppress(OSError):  # another owner, which this process may not set
            os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, mode)
    return descriptor, beside


def _lock(descriptor: int, *, waits: bool = True) -> None:
    with contextlib.suppress(ImportError):  # on Windows, where no open file can be removed
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_abandoned(entry: os.DirEntry[str], host: int, process: int) -> None:
    """Remove a partial file unless somebody may be writing it.

    The number of a process identifies it in one container only, and containers may share the name
    of the host: a lock tells that the file is in use. Between hosts locks may be lost, so that
    files of other hosts must be old, too.
    """
    if host != _host() and time.time() - entry.stat(follow_symlinks=False).st_mtime < _OLD:
        return
    if host == _host():
        with contextlib.suppress(ProcessLookupError, OverflowError):
            os.kill(process, 0)
            return
    descriptor = os.open(entry.path, os.O_RDWR)
    try:
        _lock(descriptor, waits=False)
        os.unlink(entry.path)
    finally:
        os.close(descriptor)
