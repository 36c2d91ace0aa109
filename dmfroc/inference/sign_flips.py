"""Tests of a paired difference by flipping the signs of what observations contribute to it.

If the two classifiers are exchangeable, each observation's contribution is as likely to have the
other sign. A t test whose variance rests on a few observations has few degrees of freedom, and
rejects far too seldom; this one needs no variance. For accuracy it is McNemar's mid-p test
(Fagerland, Lydersen and Laake 2013), whose size is closer to the nominal level than that of the
exact test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import PerDraw
from dmfroc.inference.influences import NO_VARIATION, Moments
from dmfroc.inference.units import Units

_FEWEST_OF_STRATUM = 20  # units; with fewer it rejects 5 to 7 % at a level of 5 %
_MOST_FREEDOM = 60  # degrees of freedom, from which on the t test loses less than a point of power
_MOST_UNITS = 50_000
_N_FLIPS, _UNITS_AT_ONCE, _PAIRS_AT_ONCE = 9999, 512, 256
_ROUNDING = 1e-9

SignFlips = PerDraw
"""The difference in the sample, followed by that under each draw of signs."""


def has_large_strata(units: Units | Moments) -> bool:
    """Whether no stratum is so small that the flips reject too often."""
    return bool(units.sizes.min() >= _FEWEST_OF_STRATUM)


def uses_sign_flips(moments: Moments, units: Units | Moments) -> bool:
    """Whether so few observations make the variance that signs are flipped, in large strata.

    Then the variance has less than half of the degrees of freedom that it has of normal influences.
    """
    return bool(
        moments.spread.degrees_of_freedom < min(_MOST_FREEDOM, moments.own.sum() / 2)
        and has_large_strata(units)
        and units.sizes.sum() <= _MOST_UNITS
    )


def sign_flips(
    differences: Float[np.ndarray, "p u"], values: Sequence[float], units: Units
) -> Iterator[SignFlips]:
    """Yield each difference and what it would be under draws of signs.

    ``differences`` are of the influences, in the order of the strata; ``values`` of the measure.
    What a unit contributes is its influence and a part of the value. All units have equal parts if
    the value depends on the sizes of the strata, else all strata.
    """
    sizes = units.sizes
    totals = np.add.reduceat(differences, np.cumsum(sizes) - sizes, axis=1)
    depends_on_sizes = np.abs(totals).max(axis=1) > _ROUNDING * np.abs(differences).sum(axis=1)
    shares = np.where(depends_on_sizes[:, None], sizes / sizes.sum(), 1 / len(sizes)) / sizes
    contributions = differences + np.asarray(values)[:, None] * np.repeat(shares, sizes, axis=1)
    for first in range(0, len(contributions), _PAIRS_AT_ONCE):
        some = contributions[first : first + _PAIRS_AT_ONCE]
        # The k-th sign is that of the k-th largest contribution, whose own sign does not matter. So
        # a p-value depends neither on other pairs nor on the order of names or rows
        large_first = np.sort(np.abs(some), axis=1)[:, ::-1]
        least = _ROUNDING * np.maximum(large_first[:, :1], NO_VARIATION)
        large_first[large_first <= least] = 0.0
        large_first = large_first[:, large_first.any(axis=0)]  # few, for accuracy
        generator, flipped = np.random.default_rng(0), np.zeros((len(some), _N_FLIPS))
        for start in range(0, large_first.shape[1], _UNITS_AT_ONCE):
            part = large_first[:, start : start + _UNITS_AT_ONCE]
            flipped += part @ generator.choice([-1.0, 1.0], (part.shape[1], _N_FLIPS))
        totals = some.sum(axis=1, keepdims=True)
        yield from np.hstack([totals, np.where(totals < -least, -1.0, 1.0) * flipped])


def p_value_of_flips(flips: SignFlips, sign: int, of_limits: float) -> float:
    """Return the share of draws more extreme than the sample, and half of those as extreme (mid-p).

    Differences of either sign count if ``sign`` is 0. The sample is one of the draws, in full. If
    no other is as extreme, the p-value is at most that of the limits.
    """
    sides = sign * flips if sign else np.abs(flips)
    beyond, rounding = sides[1:] - sides[0], _ROUNDING * np.abs(flips).max()
    n_extreme, n_more = (int((beyond >= x).sum()) for x in (-rounding, rounding))
    p_value = (1 + (n_extreme + n_more) / 2) / len(flips)
    return p_value if n_extreme else min(p_value, of_limits)
