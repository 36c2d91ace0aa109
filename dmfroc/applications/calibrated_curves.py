"""ROC curves that follow from calibration plots."""

from __future__ import annotations

from typing import Any

import numpy as np

from dmfroc.curves import Curve, OperatingPoints
from dmfroc.extend import check_in_unit_interval, draw_roc, numbers_of_rows


def roc_from_calibration(true_probability: Any, density: Any) -> Curve:
    r"""Return the ROC curve that follows from a calibration plot and the density of its groups.

    Parameters
    ----------
    true_probability : array-like of shape (g,)
        Share of positives in each group, in [0, 1], the groups in order of rising prediction.
    density : array-like of shape (g,)
        Share of all cases in each group, >= 0 with sum 1.

    Returns
    -------
    Curve
        As from `roc_curve`, of shares of all cases instead of counts; its area is
        :math:`\frac{M^2}{PN}\sum_g(1-p_g)\rho_g[\sum_{h>g}p_h\rho_h+\frac12p_g\rho_g]`.
        ``thresholds`` are the numbers of the groups.

    Raises
    ------
    ValueError
        If an input is out of range, lengths differ, or one class has no cases.

    References
    ----------
    Vuk and Curk, ROC curve, lift chart and calibration plot, equations 6.2 to 6.8, with the sign
    of 6.7 and 6.8 corrected.

    Examples
    --------
    >>> round(roc_from_calibration([0.1, 0.5, 0.9], [0.3, 0.4, 0.3]).area, 4)
    0.836
    """
    probability, shares = numbers_of_rows(true_probability=true_probability, density=density)
    if probability.ndim != 1 or probability.shape != shares.shape or probability.size == 0:
        raise ValueError(
            "true_probability and density must be one-dimensional and of one length, but have "
            f"the shapes {probability.shape} and {shares.shape}"
        )
    check_in_unit_interval("true_probability", probability, "group")
    if not (np.all(shares >= 0) and np.isclose(shares.sum(), 1, rtol=0, atol=1e-9)):
        raise ValueError(f"density must be >= 0 with sum 1, but its sum is {shares.sum()}")
    positive, negative = (probability * shares)[::-1], ((1 - probability) * shares)[::-1]
    if not (positive.sum() > 0 and negative.sum() > 0):
        raise ValueError("the groups must hold cases of both classes, but hold only one")
    true_positives = np.append(0.0, np.cumsum(positive))
    false_positives = np.append(0.0, np.cumsum(negative))
    groups = np.append(np.inf, np.arange(len(shares), dtype=np.float64)[::-1])
    sizes = float(true_positives[-1]), float(false_positives[-1])
    return draw_roc(OperatingPoints(1, groups, true_positives, false_positives, *sizes))
