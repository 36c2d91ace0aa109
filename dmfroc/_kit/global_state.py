"""What belongs to the user's process, and stays as it is."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def undisturbed() -> Iterator[None]:
    """Import what may import JAX, which draws from NumPy's global stream when it is imported."""
    if "jax" in sys.modules:
        yield
        return
    import numpy as np

    streams = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(streams[0])
        np.random.set_state(streams[1])
