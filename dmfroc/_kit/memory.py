"""Available memory: a calculation that needs more would end the process without a message."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_ABSURD = 10**18  # bytes
_LITTLE = 1 << 24  # bytes that need not be asked for


def check_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse a calculation that needs more memory than is known to be available."""
    available = available_memory() if needed > _LITTLE else None
    if available is not None and needed > available:
        raise MemoryError(
            f"{what} takes about {_gigabytes(needed)}, but {_gigabytes(available)} are free: "
            f"{remedy}"
        )


def available_memory() -> int | None:
    """Return how many bytes this process can still have; None if that is not known."""
    amounts = []
    for amount in (_free_in_machine, _free_in_container, _free_below_limit):
        with contextlib.suppress(ImportError, OSError, ValueError):
            amounts.append(amount())
    return min(amounts, default=None)


def _free_in_machine() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    [line] = [line for line in lines if line.startswith("MemAvailable:")]
    return int(line.split()[1]) * 1024


def _free_in_container() -> int:
    limit = int((_CGROUP / "memory.max").read_text())  # "max" is no number
    used = int((_CGROUP / "memory.current").read_text())
    lines = (_CGROUP / "memory.stat").read_text().splitlines()
    [cached] = [int(line.split()[1]) for line in lines if line.startswith("inactive_file ")]
    return limit - used + cached


def _free_below_limit() -> int:
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        raise ValueError("the process has no limit")
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return limit - used


def _gigabytes(n_bytes: int) -> str:
    if n_bytes > _ABSURD:  # perhaps more than a float can hold
        return "over a billion GB"
    return f"{max(n_bytes, 0) / 1e9:.1f} GB"
