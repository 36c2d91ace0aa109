"""Selective prediction: risk-coverage curves."""

import numpy as np
import pytest

from dmfroc.applications import RiskCoverageDisplay, risk_coverage_curve
from dmfroc.measures import MEASURES

RNG = np.random.default_rng(0)
Q = RNG.dirichlet(np.ones(3), size=90)
T = RNG.integers(3, size=90)


def test_risk_and_coverage():
    curve = risk_coverage_curve(T, Q)
    assert curve.area == pytest.approx(MEASURES["risk_coverage_area"](T, Q))
    assert curve.risk[-1] == pytest.approx((Q.argmax(axis=1) != T).mean())
    for coverage, threshold, risk in zip(curve.coverage, curve.thresholds, curve.risk, strict=True):
        decided = Q.max(axis=1) >= threshold
        assert coverage == pytest.approx(decided.mean())
        assert risk == pytest.approx((Q.argmax(axis=1) != T)[decided].mean())
    low, high = curve.intervals()
    assert (low <= curve.risk).all()
    assert (curve.risk <= high).all()
    display = RiskCoverageDisplay.from_predictions(T, {"a": Q, "b": Q[:, [1, 0, 2]]})
    assert list(display.lines_) == ["a", "b"]
