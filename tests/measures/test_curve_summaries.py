"""Summaries of curves: the means of ratios of which areas are made."""

import autograd
import autograd.numpy as differentiated_numpy
import numpy as np
import pytest

from dmfroc.measures.curve_summaries import _mean_ratio


@pytest.mark.parametrize("sign", [-1, 1])
def test_mean_of_a_ratio_whose_divisor_hardly_changes(sign):
    """Near 0 a series takes over from the closed form, which cancels there."""
    z = sign * np.geomspace(1e-12, 0.5, 200)
    nodes, shares = np.polynomial.legendre.leggauss(40)
    u = (nodes + 1) / 2

    def mean(top, top_end, xp):
        return lambda z: _mean_ratio(top, top_end, 1.0 + 0 * z, 1 + z, xp)

    for power, (top, top_end) in enumerate([(1.0, 1.0), (0.0, 1.0)]):  # 1 or u above 1 + uz
        exact = u**power / (1 + np.outer(z, u)) @ shares / 2
        rounding = [1e-14, 1e-12][power]
        np.testing.assert_allclose(mean(top, top_end, np)(z), exact, rtol=rounding)
        slope = -(u ** (power + 1)) / (1 + np.outer(z, u)) ** 2 @ shares / 2
        derivative = autograd.elementwise_grad(mean(top, top_end, differentiated_numpy))
        np.testing.assert_allclose(derivative(z), slope, rtol=1e-10)
