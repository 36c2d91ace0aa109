"""Scales without ends: increasing maps, their inverses and their derivatives."""

import numpy as np
import pytest

from dmfroc.inference.scales import scale_of

INF = np.inf


@pytest.mark.parametrize(
    "bounds", [(-1.0, 1.0), (0.0, 0.25), (0.0, INF), (-2.0, INF), (-INF, 1.0), (-INF, INF)], ids=str
)
def test_the_range_is_mapped_onto_the_line(bounds):
    scale, y = scale_of(bounds), np.linspace(-5, 5, 41)
    x, step = scale.from_line(y), 1e-5
    np.testing.assert_allclose(scale.to_line(x), y, rtol=0, atol=1e-12)
    by_differences = (scale.from_line(y + step) - scale.from_line(y - step)) / (2 * step)
    np.testing.assert_allclose(scale.slope(x) * by_differences, 1, rtol=1e-7)
    if np.isfinite(bounds).any():
        ends = scale.from_line(np.array([-1000.0, 1000.0]))
        np.testing.assert_allclose(ends, bounds, atol=1e-12)
