"""The nominal coverage of intervals."""

from __future__ import annotations


def check_level(level: float) -> None:
    """Refuse a level outside (0, 1)."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, such as 0.95, but it is {level!r}")
