"""How much memory there is, for what would otherwise end the process without a word."""

from __future__ import annotations

import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_ABSURD = 10**18  # bytes
_LITTLE = 1 << 24  # bytes that need not be asked for


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse what would take more memory than there is; where that is unknown, go ahead."""
    available = available_memory() if needed > _LITTLE else None
    if available is not None and needed > available:
        raise MemoryError(
            f"{what} takes about {_gigabytes(needed)}, but {_gigabytes(available)} are free: "
            f"{remedy}"
        )


def available_memory() -> int | None:
    """Return how many bytes this process can still have; None if that is not known."""
    found = [x for x in (_of_machine(), _of_container(), _of_limit()) if x is not None]
    return min(found, default=None)


def _of_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        [line] = [line for line in lines if line.startswith("MemAvailable:")]
        return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        return None


def _of_container() -> int | None:
    try:
        limit = int((_CGROUP / "memory.max").read_text())  # "max" is no number
        used = int((_CGROUP / "memory.current").read_text())
        [cached] = [
            int(line.split()[1])
            for line in (_CGROUP / "memory.stat").read_text().splitlines()
            if line.startswith("inactive_file ")
        ]
        return limit - used + cached
    except (OSError, ValueError):
        return None


def _of_limit() -> int | None:
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return None
    return None if limit == resource.RLIM_INFINITY else limit - used


def _gigabytes(n_bytes: int) -> str:
    if n_bytes > _ABSURD:  # perhaps more than a float can hold
        return "over a billion GB"
    return f"{max(n_bytes, 0) / 1e9:.1f} GB"
