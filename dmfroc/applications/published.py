"""Populations from published figures: a prevalence, an AUC, a distribution of risks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtri

from dmfroc import Predictions
from dmfroc.extend import PerClass, PerRow, number, numbers

_N_ROWS = 200_000
_LARGEST_GAP = 0.1  # relative, between the mean risk and the prevalence


@dataclass(frozen=True)
class PublishedFigures:
    """What is published of a classifier, instead of a pilot for `dmfroc.applications.plan`.

    Each measure is planned with the figures that concern it. Calibration, Brier score and net
    benefit follow from `risks`, measures of ranks from `auc` and `prevalence`. The ratio of
    observed to expected events follows from `prevalence` alone, as if all had the same risk, which
    needs most cases.

    Attributes
    ----------
    prevalence : float or sequence of float, optional
        Share of the positive class, or of each of several classes; by default the mean risk.
    auc : float, optional
        Area under the ROC curve, or Hand and Till's M of several classes. By default that of the
        risks. Scores are normal with the same variance in each class.
    risks : tuple, optional
        Their distribution: ``("normal", mean, sd)`` of the linear predictor, ``("beta", a, b)`` of
        the risks, or ``("quantiles", probabilities, risks)``. The risks are taken to be right.
    threshold : float
        The positive class is predicted from this risk on.
    correlation : float, optional
        Correlation of the estimates of two classifiers with these figures, whose difference is
        planned.
    """

    prevalence: float | Sequence[float] | None = None
    auc: float | None = None
    risks: tuple[Any, ...] | None = None
    threshold: float = 0.5
    correlation: float | None = None

    def __post_init__(self) -> None:
        if self.risks is None and (self.prevalence is None or self.auc is None):
            raise TypeError("give prevalence= and auc=, or risks=, or all of these")
        for name, low in (("auc", 0.5), ("correlation", -1.0), ("threshold", 0.0)):
            value = getattr(self, name)
            if value is not None and not low < number(name, value) < 1:
                raise ValueError(f"{name} must be between {low:g} and 1, but it is {value!r}")
        if self.prevalence is not None:
            shares = numbers("prevalence", np.atleast_1d(self.prevalence))
            is_right = (shares > 0).all() and (len(shares) > 1 or shares[0] < 1)
            if not is_right or (len(shares) > 1 and self.risks is not None):
                raise ValueError(
                    f"prevalence must be a share in (0, 1), or without risks= a positive share of "
                    f"each class, but it is {self.prevalence!r}"
                )
        if self.risks is not None:
            self._quantiles_of_risks(np.array([0.5]))

    @property
    def shares(self) -> PerClass:
        """The share of each class; of two classes the positive one is the second."""
        given = self.mean_risk if self.prevalence is None else self.prevalence
        shares = np.atleast_1d(np.asarray(given, float))
        return shares / shares.sum() if len(shares) > 1 else np.append(1 - shares, shares)

    @property
    def mean_risk(self) -> float:
        """The mean of the risks."""
        return float(self._quantiles_of_risks(_middles(_N_ROWS)).mean())

    @property
    def message(self) -> str | None:
        """What says that the figures contradict each other, if they do."""
        if self.risks is None or self.prevalence is None:
            return None
        mean, share = self.mean_risk, float(self.shares[1])
        if abs(mean - share) <= _LARGEST_GAP * share:
            return None
        return (
            f"the mean risk is {mean:.3g} and the prevalence {share:.3g}: calibration, Brier score "
            "and net benefit are planned for the risks, all else for the prevalence"
        )

    def _quantiles_of_risks(self, at: PerRow) -> PerRow:
        found = np.array([np.nan])
        with suppress(TypeError, ValueError):
            match self.risks:
                case ("normal", mean, sd) if sd >= 0:
                    found = expit(mean + sd * ndtri(at))
                case ("beta", a, b):
                    found = betaincinv(a, b, at)
                case ("quantiles", levels, risks) if (np.diff(levels) > 0).all():
                    found = np.interp(at, np.asarray(levels, float), np.asarray(risks, float))
        if not ((found > 0) & (found < 1)).all():
            raise ValueError(
                "risks must be ('normal', mean, sd), ('beta', a, b) or ('quantiles', rising "
                f"probabilities, risks between 0 and 1), but it is {self.risks!r}"
            )
        return found

    def population(self, measure: str, needs: str) -> Predictions:
        """Return a large sample for a measure and what it needs, spread over the distributions."""
        shares, u = self.shares, _middles(_N_ROWS)
        if measure == "observed_expected_ratio":
            risks = np.full(_N_ROWS, shares[1])
        elif self.risks is not None and (needs != "scores" or self.auc is None):
            risks = np.clip(self._quantiles_of_risks(u), 1e-12, 1 - 1e-12)
        else:
            assert self.auc is not None
            distance = np.sqrt(2) * ndtri(self.auc)
            sizes = np.maximum(np.round(_N_ROWS * shares).astype(int), 2)
            y = np.repeat(np.arange(len(shares)), sizes)
            if len(shares) > 2:
                normal = np.random.default_rng(0).normal(size=(len(y), len(shares)))
                return Predictions.from_arrays(y, normal + distance * np.eye(len(shares))[y])
            z = np.concatenate([ndtri(_middles(n)) for n in sizes]) + distance * y
            return self._with_risks(y, expit(logit(shares[1]) + distance * (z - distance / 2)))
        events = np.floor(np.cumsum(risks) + 0.5)
        return self._with_risks(np.diff(events, prepend=0.0).astype(int), risks)

    def _with_risks(self, y: np.ndarray, risks: np.ndarray) -> Predictions:
        scored = Predictions.from_arrays(y, np.stack([1 - risks, risks], axis=1))
        return replace(scored, predicted=(risks >= self.threshold).astype(np.int32))


def _middles(n: int) -> PerRow:
    """Return equally probable levels."""
    return (np.arange(n) + 0.5) / n
