"""The seed of what is drawn."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from dmfroc._kit.options import generator_of, integer


def seed_of(random_state: Any) -> int:
    """Return the seed of the random streams."""
    if isinstance(random_state, Integral):
        return integer("random_state", random_state, 0)
    return int(generator_of(random_state).integers(2**31))
