"""The risk-coverage curve: the error rate where a classifier may decline to decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.options import check_level, refuse
from dmfroc.curves.curve import wilson_intervals
from dmfroc.inputs.arguments import as_predictions
from dmfroc.measures.operating_points import by_confidence, risk_area
from dmfroc.measures.statistics.forecasts import no_probabilities, probabilities_of
from dmfroc.results.result import AttributeTables


@dataclass(frozen=True, eq=False, repr=False)
class RiskCoverageCurve(AttributeTables):
    """Error rates of a classifier's most certain decisions.

    Attributes
    ----------
    coverage : numpy.ndarray of shape (m,)
        Share of the observations that are decided, rising to 1; one for each distinct certainty.
    risk : numpy.ndarray of shape (m,)
        Error rate among them.
    thresholds : numpy.ndarray of shape (m,)
        The least certainty of a decision, its largest probability.
    area : float
        Area under the curve, `dmfroc.measures.risk_coverage_area`.
    n_effective : float
        As how many observations of equal weight the sample counts (Kish).
    """

    coverage: Float[np.ndarray, " m"]
    risk: Float[np.ndarray, " m"]
    thresholds: Float[np.ndarray, " m"]
    area: float
    n_effective: float

    def intervals(self, level: float = 0.95) -> Float[np.ndarray, "2 m"]:
        """Return Wilson's interval of the error rate at each threshold.

        Parameters
        ----------
        level : float
            Nominal coverage of each interval by itself.

        Returns
        -------
        numpy.ndarray of shape (2, m)
            Lower and upper limits, in [0, 1].

        References
        ----------
        Wilson (1927), Probable inference, the law of succession, and statistical inference.
        """
        return wilson_intervals(self.risk, self.coverage * self.n_effective, check_level(level))


def risk_coverage_curve(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> RiskCoverageCurve:
    """Return the error rate of the most certain decisions, by their share of all.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Probabilities of the classes; the largest one is the certainty of a decision.
    labels, sample_weight
        As for `Predictions.from_arrays`.

    Returns
    -------
    RiskCoverageCurve
        Observations of equal certainty are decided together. For a certainty that tells nothing
        the risk is the error rate of all, at every coverage.

    Raises
    ------
    TypeError, ValueError
        If the scores are no probabilities.

    References
    ----------
    El-Yaniv and Wiener (2010), On the foundations of noise-free selective classification.

    Examples
    --------
    >>> curve = risk_coverage_curve([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.3])
    >>> curve.coverage, curve.risk
    (array([0.25, 0.5 , 0.75, 1.  ]), array([0.  , 0.  , 0.  , 0.25]))
    """
    predictions = as_predictions(
        y_true, y_score, labels=labels, sample_weight=sample_weight, needs="probabilities"
    )
    refuse("risk_coverage_curve", no_probabilities(predictions))
    counted = predictions.as_given.counted
    weights = counted.sample_weight
    statistic = by_confidence(counted)
    points = statistic.count(weights, np)
    accepted = points.tp[0] + points.fp[0]
    place = statistic.ends(0)[1:]
    certainty = probabilities_of(counted).max(axis=1)[statistic.rows[0]]
    return RiskCoverageCurve(
        accepted[place] / accepted[-1],
        points.fp[0][place] / accepted[place],
        certainty[place - 1],
        float(risk_area(points, np)),
        float(weights.sum() ** 2 / (weights**2).sum()),
    )
