"""The seed of what is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmfroc._kit.options import generator_of


def seed_of(random_state: Any) -> int:
    """Return the seed of the random streams."""
    if isinstance(random_state, int | np.integer):
        if random_state < 0:
            raise ValueError(f"random_state must be >= 0, but it is {random_state}")
        return int(random_state)
    return int(generator_of(random_state).integers(2**31))
