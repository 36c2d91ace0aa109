"""Checks of the options of posteriors, and the effective sizes of weighted classes."""

from __future__ import annotations

from typing import Any

from dmfroc._kit.options import integer

_MOST = 10**8  # draws or chains, more than any memory holds

MOST_LIKELIHOODS = 1 << 27  # a gigabyte of them, one for each draw and observation


def check_size(**sizes: int) -> None:
    """Refuse numbers of chains or draws that are not positive integers."""
    for name, size in sizes.items():
        integer(name, size, 1, _MOST)


def check_priors(priors: Any, kind: type) -> None:
    """Refuse priors of another kind."""
    if not isinstance(priors, kind):
        raise TypeError(
            f"priors must be {kind.__name__}, but they are of type {type(priors).__name__}: leave "
            "them out for the default ones"
        )
