"""Tests of a paired difference by flipping the signs of what observations contribute to it.

If the two classifiers are exchangeable, each observation's contribution is as likely to have the
other sign. A t test whose variance rests on a few observations has few degrees of freedom, and
rejects far too seldom; this one needs no variance. For accuracy it is McNemar's exact test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.influences import Moments
from dmfroc.inference.units import Units

_FEWEST_OF_STRATUM = 20  # units; with fewer it rejects 5 to 7 % at a level of 5 %
_MOST_FREEDOM = 60  # degrees of freedom, from which on the t test loses less than a point of power
_MOST_UNITS = 50_000
_N_FLIPS, _UNITS_AT_ONCE, _PAIRS_AT_ONCE = 9999, 512, 256
_ROUNDING = 1e-9

SignFlips = Float[np.ndarray, " draws"]
"""The difference in the sample, followed by that under each draw of signs."""


def uses_sign_flips(moments: Moments, units: Units) -> bool:
    """Whether so few observations make the variance that signs are flipped, in large strata.

    Then the variance has less than half of the degrees of freedom that it has of normal influences.
    """
    return bool(
        moments.spread.degrees_of_freedom < min(_MOST_FREEDOM, moments.own.sum() / 2)
        and units.sizes.min() >= _FEWEST_OF_STRATUM
        and len(units.stratum) <= _MOST_UNITS
    )


def sign_flips(
    differences: Float[np.ndarray, "p u"], values: Sequence[float], units: Units
) -> Iterator[SignFlips]:
    """Yield each difference and what it would be under draws of signs, the same for all.

    ``differences`` are of the influences, in the order of the strata; ``values`` of the measure.
    What a unit contributes is its influence about the mean of its stratum, and an equal part of
    that stratum's share in the value.
    """
    parts = list(units.centred_parts(differences))
    shares = np.asarray(values)[:, None] / len(parts)
    contributions = np.concatenate([part + shares / part.shape[1] for part in parts], axis=1)
    for first in range(0, len(contributions), _PAIRS_AT_ONCE):
        some = contributions[first : first + _PAIRS_AT_ONCE]
        generator, flipped = np.random.default_rng(0), np.zeros((len(some), _N_FLIPS))
        for start in range(0, some.shape[1], _UNITS_AT_ONCE):
            part = some[:, start : start + _UNITS_AT_ONCE]
            flipped += part @ generator.choice([-1.0, 1.0], (part.shape[1], _N_FLIPS))
        yield from np.column_stack([some.sum(axis=1), flipped])


def p_value_of_flips(flips: SignFlips, hypothesis: Hypothesis, of_t_test: float) -> float:
    """Return the share of draws as extreme as the sample; if none is, at most the t test's."""
    sides = np.abs(flips) if hypothesis.is_two_sided else hypothesis.sign * flips
    n_extreme = int((sides >= sides[0] - _ROUNDING * np.abs(flips).max()).sum())  # itself included
    p_value = n_extreme / len(flips)
    return min(p_value, of_t_test) if n_extreme == 1 else p_value
