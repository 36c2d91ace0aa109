"""A user's program, as type checkers see it: checked by mypy, run by a test."""

from __future__ import annotations

from typing import assert_type

import numpy as np
import pandas as pd

import dmfroc


def main(truth: list[str], scores: dict[str, np.ndarray]) -> None:
    """Use what most users use, with the types that it has."""
    first = next(iter(scores.values()))
    evaluation = dmfroc.evaluate(truth, first, measures=["hand_till"], level=0.9)
    assert_type(evaluation, dmfroc.results.Evaluation)
    assert_type(evaluation.estimates, dict[str, dmfroc.results.Estimate])
    estimate = dmfroc.estimate("hand_till", truth, first, method=dmfroc.Bootstrap(200))
    assert_type(estimate.interval, tuple[float, float])
    comparison = dmfroc.compare(truth, scores, measures="hand_till", test=dmfroc.Equivalence(0.01))
    assert_type(comparison, dmfroc.results.Comparison)
    assert_type(comparison.differences[0].p_value, float)
    assert_type(comparison.probability_better, dict[tuple[str, str], float])
    assert_type(comparison.to_pandas(), pd.DataFrame)
    assert_type(comparison.warnings, tuple[str, ...])
    evaluation.to_html("report.html")
    assert_type(dmfroc.hand_till_score(truth, first), float)
    curve = dmfroc.multiclass_roc(truth, first, pair_weights="prevalence")
    assert_type(curve.auc, float)
    assert_type(list(dmfroc.applications.scorers()), list[str])
    assert_type(dmfroc.Predictions.from_file("a.csv", label="y"), dmfroc.Predictions)


def over_time(event: list[bool], risk: np.ndarray, time: np.ndarray) -> None:
    """Judge outcomes that take time."""
    several = dmfroc.estimate("hand_till", event, risk, follow_up=dmfroc.FollowUp(time, [1.0, 2.0]))
    assert_type(several, dmfroc.results.HorizonCurves)
    one = dmfroc.estimate("hand_till", event, risk, follow_up=dmfroc.FollowUp(time, 1.0))
    assert_type(one, dmfroc.results.Estimate)
