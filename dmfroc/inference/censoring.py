"""Weights of rows whose class at a horizon is known: one over the chance to stay uncensored.

That chance G is estimated from all rows (Kaplan and Meier). So a row acts on a value in two ways:
by its own class and scores, and through the weights of others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from dmfroc._kit.arrays import BoolPerRow, PerRow, divide
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.arrays import as_numpy, row_names
from dmfroc.inputs.checks import real_weights
from dmfroc.inputs.horizon import FollowUp
from dmfroc.inputs.judge import probabilities
from dmfroc.inputs.messages import Source
from dmfroc.inputs.predictions import Predictions

OfRows = Float[np.ndarray, " r"]
IntOfRows = Int[np.ndarray, " r"]
"""One number for each row of a stratum."""
OfTimes = Float[np.ndarray, " t"]
"""One number for each of its times."""


class Stratum(NamedTuple):
    """Rows with one G, which falls at so many times of censoring before the horizon.

    Attributes
    ----------
    rows : numpy.ndarray of int, shape (r,)
        Their places.
    stays : numpy.ndarray of int, shape (r,)
        The number of these times at which each row is followed and not censored.
    leaves : numpy.ndarray of int, shape (r,)
        The place of the time at which it is censored; ``n_times`` for none.
    n_times : int
        Number of the times.
    """

    rows: IntOfRows
    stays: IntOfRows
    leaves: IntOfRows
    n_times: int

    def staying(self, numbers: OfRows) -> OfTimes:
        """Add up the numbers of the rows that stay at each time."""
        return np.bincount(self.stays, numbers, self.n_times + 1)[::-1].cumsum()[::-1][1:]

    def leaving(self, numbers: OfRows) -> OfTimes:
        """Add up the numbers of the rows that are censored at each time."""
        return np.bincount(self.leaves, numbers, self.n_times + 1)[:-1]

    def chances(self, weights: OfRows) -> OfRows:
        """Return G just before each row's time, or before the horizon."""
        stay, leave = self.staying(weights), self.leaving(weights)
        steps = divide(stay, stay + leave, np, 1.0)
        return np.append(1.0, steps.cumprod())[self.stays]

    def through(self, influences: OfRows, weights: OfRows) -> OfRows:
        """Return what each row does to the value through G: its derivative, times the weight.

        A row that is censored raises the weights of all rows that stay; one that stays lowers them.
        """
        stay, leave = self.staying(weights), self.leaving(weights)
        moved = self.staying(influences) / np.maximum(stay + leave, 1e-300)
        lost = divide(moved * leave, stay, np)
        lowered = np.append(0.0, lost.cumsum())[self.stays]
        return weights * (np.append(moved, 0.0)[self.leaves] - lowered)


@dataclass(frozen=True, eq=False)
class CensoringWeights:
    """Weights of rows that are known at a horizon, estimated from these and from unknown rows.

    Attributes
    ----------
    counted : numpy.ndarray of bool, shape (m,)
        Which of the given rows count; all else is about these n.
    given : numpy.ndarray of shape (n,)
        Weights of the rows before they are divided by G.
    known : numpy.ndarray of bool, shape (n,)
        Which rows have a class, and a weight; values are about these.
    strata : sequence of Stratum
        The rows by what their G is estimated from; none if G is given.
    """

    methods: ClassVar[tuple[str, ...]] = ("jackknife", "bootstrap", "bayesian_bootstrap")

    counted: Bool[np.ndarray, " m"]
    given: PerRow
    known: BoolPerRow
    strata: tuple[Stratum, ...]

    def chances(self, weights: PerRow) -> PerRow:
        """Return G for each row if rows have other weights, 1 where it is given."""
        result = np.ones(len(self.known))
        for stratum in self.strata:
            result[stratum.rows] = stratum.chances(weights[stratum.rows])
        return result

    def drawn(self, counts: PerRow) -> Float[np.ndarray, " known"]:
        """Return how much known rows count in a sample that has each row so often, with its G."""
        drawn, before = self.chances(self.given * counts), counts * self.chances(self.given)
        return np.divide(before, drawn, out=np.zeros(len(counts)), where=counts > 0)[self.known]

    def through(
        self, influences: Float[np.ndarray, "*values known"]
    ) -> tuple[Float[np.ndarray, "*values n"], Float[np.ndarray, "*values 0"]]:
        """Return the influences of all rows, also through G, and those of no other sample."""
        widened = np.zeros((*influences.shape[:-1], len(self.known)))
        widened[..., self.known] = influences
        for values in widened.reshape(-1, len(self.known)):
            for stratum in self.strata:
                rows = stratum.rows
                values[rows] += stratum.through(values[rows], self.given[rows])
        return widened, widened[..., :0]


def in_stratum(has: BoolPerRow, time: PerRow, is_gone: BoolPerRow) -> Stratum:
    """Return a stratum of some rows; those that are gone were censored before the horizon.

    At equal times events come before censoring.
    """
    rows, times = np.flatnonzero(has), np.unique(time[has & is_gone])
    stays = np.searchsorted(times, time[rows], "left")
    return Stratum(rows, stays, np.where(is_gone[rows], stays, len(times)), len(times))


def cox_chances(
    stratum: Stratum, covariates: Shaped[np.ndarray, "n p"], time: PerRow, is_censored: BoolPerRow
) -> PerRow:
    """Return G just before each row's time, or before the horizon, by a Cox regression."""
    try:
        from statsmodels.duration.hazard_regression import PHReg
    except ImportError as error:
        raise ImportError(
            "censoring='cox' needs statsmodels: run python -m pip install statsmodels"
        ) from error
    if covariates.dtype.kind not in "fiub" or not np.isfinite(covariates).all():
        raise ValueError(
            "censoring_by must hold finite numbers for censoring='cox', one row of covariates for "
            "each observation: encode categories as columns of 0 and 1"
        )
    if not is_censored.any():
        return np.ones(len(time))
    x = covariates - covariates.mean(axis=0)
    place = np.unique(time, return_inverse=True)[1]
    try:  # at equal times events come before censoring
        fit = PHReg(2 * place + is_censored, x, status=is_censored).fit()
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "censoring_by: the covariates of censoring='cox' depend on each other linearly: leave "
            "some out"
        ) from error
    hazards = np.exp(x @ fit.params)
    at_risk = stratum.staying(hazards) + stratum.leaving(hazards)
    jumps = stratum.leaving(np.ones(len(time))) / at_risk
    return np.asarray(np.exp(-np.append(0.0, jumps.cumsum())[stratum.stays] * hazards))


def predictions_at(
    y_true: Any, y_score: Any, follow_up: FollowUp[float] | None, given: dict[str, Any]
) -> tuple[Predictions, CensoringWeights | None]:
    """Return predictions, at a horizon if one is given, and how its weights are estimated."""
    if follow_up is None:
        return as_predictions(y_true, y_score, **given), None
    if np.ndim(FollowUp.of(follow_up).horizon):
        raise ValueError("follow_up must have one horizon here: call this for each horizon")
    y_true, y_score, ended = follow_up.classes_of_events(y_true, y_score, given)
    return at_horizon(follow_up, as_predictions(y_true, y_score, **given), ended)


def at_horizon(
    follow_up: FollowUp[float], events: Predictions, ended: Any = None
) -> tuple[Predictions, CensoringWeights | None]:
    """Return the classes at the horizon; unknown rows have no weight, others 1 / G.

    These weights are not estimated if nobody is censored before. ``ended`` is which times end
    with an event, see `FollowUp.classes_of_events`.
    """
    n, rows, t, weight = events.n_given, events.given_rows, follow_up.horizon, events.sample_weight
    time = real_weights(follow_up.time, n, Source(weight="time"), rows)
    none, counted = int(events.is_turned), weight > 0
    ended = events.true != none if ended is None else rows.arranged(ended, None, "y_true")
    happened = ended & ((time <= t) if follow_up.ties == "event" else (time < t))
    is_free = ((time > t) if follow_up.ties == "left_out" else (time >= t)) & ~happened
    known, is_gone = happened | is_free, ~ended & ~is_free & counted
    true = np.where(happened, events.true, none).astype(np.int32)
    if len(np.unique(true[known & counted])) < 2:
        raise ValueError(
            f"horizon={t:g}: times are {time.min():g} to {time.max():g}, and the rows that are "
            "known there are not of two classes or more: take another horizon"
        )
    chance, stratum = np.ones(len(weight)), np.zeros(len(weight), int)
    way = follow_up.censoring if np.ndim(follow_up.censoring) == 0 else "given"
    if way == "given":
        chance = probabilities(follow_up.censoring, n, rows, "censoring")
    elif way == "strata":
        names = row_names(follow_up.by, "by", n, rows, "a stratum")
        stratum = np.unique(names, return_inverse=True)[1]
    own, t_own, is_gone = stratum[counted], time[counted], is_gone[counted]
    strata = [in_stratum(own == s, t_own, is_gone) for s in np.unique(own)]
    if way == "cox":
        x = rows.arranged(as_numpy(follow_up.by, "by"), follow_up.by, "by")[counted]
        chance[counted] = cox_chances(strata[0], x.reshape(len(x), -1), t_own, ~ended[counted])
    if way in ("given", "cox"):
        strata = []
    weights = CensoringWeights(counted, weight[counted], known[counted], tuple(strata))
    for one in strata:
        if not one.staying(weights.given[one.rows]).all():
            raise ValueError(
                f"horizon={t:g} is beyond the follow-up, which ends with censored rows at "
                f"{t_own[one.rows].max():g}: take an earlier horizon, or fewer strata"
            )
    chance[counted] *= weights.chances(weights.given)
    at = replace(events, true=true, index=rows.index)
    facts = {"at": t, "time": getattr(follow_up.time, "name", None), "rows": len(t_own)}
    facts |= {"known": int(known[counted].sum()), "censored": int(is_gone.sum())}
    facts |= {} if follow_up.ties == "event" else {"ties": follow_up.ties}
    facts["censoring"] = way
    at = at.reweighted(np.where(known, weight / chance, 0.0), horizon=facts)
    return at, None if strata and known[counted].all() else weights
