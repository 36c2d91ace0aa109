"""Geometry of summary curves and regions: lines and ellipses of logits, seen as rates."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.special import expit, logit

_LOGITS = np.arange(-40.0, 40.001, 0.25)  # the density of the logistic is below 1e-17 beyond
_N_CORNERS = 200


@np.errstate(under="ignore")
def area_under_line(
    intercept: Float[np.ndarray, "*draw"], slope: Float[np.ndarray, "*draw"]
) -> Float[np.ndarray, "*draw"]:
    """Return the area under ``logit tpr = intercept + slope logit fpr``.

    By the trapezoid rule over the logit of the false positive rate, which converges faster than
    any power of the step where the integrand and all its derivatives vanish at both ends.
    """
    density = 0.25 * expit(_LOGITS) * expit(-_LOGITS)
    lines = zip(np.ravel(intercept), np.ravel(slope), strict=True)
    areas = [expit(a + b * _LOGITS) @ density for a, b in lines]
    return np.reshape(areas, np.shape(intercept))


def line_at(
    fpr: Float[np.ndarray, " points"],
    intercept: Float[np.ndarray, " draws"],
    slope: Float[np.ndarray, " draws"],
) -> Float[np.ndarray, "draws points"]:
    """Return the curve of each draw at false positive rates inside (0, 1)."""
    return expit(intercept[:, None] + slope[:, None] * logit(fpr))


def region_around(
    logits: Float[np.ndarray, "draws 2"], level: float
) -> Float[np.ndarray, "corners 2"]:
    """Return the corners of the ellipse of logits that holds a share of the draws, as rates."""
    center = logits.mean(axis=0)
    root = np.linalg.cholesky(np.cov(logits.T))
    distance = np.linalg.norm(np.linalg.solve(root, (logits - center).T), axis=0)
    angle = np.linspace(0, 2 * np.pi, _N_CORNERS)
    circle = np.quantile(distance, level) * np.stack([np.cos(angle), np.sin(angle)])
    return expit(center + (root @ circle).T)
