"""The nominal coverage of intervals."""

from __future__ import annotations

from typing import Any

from dmfroc._kit.options import number


def check_level(level: Any) -> float:
    """Return the level; refuse one outside (0, 1)."""
    checked = number("level", level)
    if not 0 < checked < 1:
        raise ValueError(f"level must be between 0 and 1, such as 0.95, but it is {level!r}")
    return checked
