"""Streams that are watched: limits that hold at all times at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._kit.options import refuse
from dmfroc.counted.batches import ONLY, Batch
from dmfroc.counted.estimates import CountedEvidence
from dmfroc.inference import independent
from dmfroc.inference.anytime import (
    error_at_one_time,
    limits_of_mean,
    limits_of_share,
)
from dmfroc.inference.evidence import Facts
from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.limits import Interval, IntervalAt
from dmfroc.inference.method import JointEstimates
from dmfroc.measures.measure import Measure
from dmfroc.measures.statistics.forecasts import as_probabilities, loss_numbers, wrong_probabilities
from dmfroc.results.estimate import Estimate
from dmfroc.results.result import Result
from dmfroc.results.table import Column, Table

_MOST_LOOKS = 4000
METHOD = "confidence sequence"


class Look(NamedTuple):
    """What a stream showed at one time.

    Attributes
    ----------
    n_observations : int
        Rows so far.
    value : float
        Value of the measure in all of them; NaN while it is not defined.
    interval : tuple of float
        Limits that hold at all times at once.
    """

    n_observations: int
    value: float
    interval: tuple[float, float]


@dataclass(frozen=True, eq=False, repr=False)
class ConfidenceSequence(Result):
    """Limits of a measure in a stream that hold at all times at once, with the looks so far.

    Attributes
    ----------
    measure, title : str
        Name of the measure, and its name in tables.
    level : float
        Probability with which the limits of all times hold the true value.
    exact : bool
        Whether they do so exactly, for any number of rows; if not, in large samples.
    looks : tuple of Look
        One for each call, in the order of the rows.
    warnings : tuple of str
        What a careful reader has to know.
    """

    main_table: ClassVar[str] = "looks"
    json_names: ClassVar[tuple[str, ...]] = ("measure", "level", "exact", "n_observations")

    measure: str
    title: str
    level: float
    exact: bool
    looks: tuple[Look, ...]
    warnings: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """Value of the measure in all rows so far."""
        return self.looks[-1].value

    @property
    def interval(self) -> tuple[float, float]:
        """The limits now."""
        return self.looks[-1].interval

    @property
    def n_observations(self) -> int:
        """Number of rows so far."""
        return self.looks[-1].n_observations

    def head(self) -> list[str]:
        """Return value and limits now in a line."""
        low, high = self.interval
        return [
            f"{self.title} {self.value:.4f} in {self.n_observations:,} rows "
            f"({100 * self.level:g} % limits at all times {low:.4f} to {high:.4f})"
        ]

    def tables(self) -> list[Table]:
        """Return all looks."""
        percent = f"{100 * self.level:g} % limits at all times"
        looks = self.looks
        columns = [
            Column("n_observations", "rows", [x.n_observations for x in looks], "count"),
            Column("value", self.title, [x.value for x in looks]),
            Column("interval", percent, [(*x.interval, math.nan) for x in looks], "interval"),
        ]
        return [Table("looks", f"{self.title} over time", columns)]


class RunningTotals:
    """How many rows there were and how many were right, and Brier scores.

    These have their sum and that of their squares, NaN if a row has a weight or no probabilities.
    """

    def __init__(self) -> None:
        self.rows, self.right, self.brier = 0, 0, np.zeros(2)

    def add(self, rows: int, right: int, brier: Float[np.ndarray, " 2"] | None) -> None:
        """Add an update."""
        self.rows += rows
        self.right += right
        self.brier = self.brier + (np.nan if brier is None else brier)

    def add_batch(self, batch: Batch) -> None:
        """Add an update with a batch."""
        predicted, p = batch.predicted[ONLY], as_probabilities(batch.scores[ONLY].T)
        right = 0 if predicted is None else int((predicted == batch.true).sum())
        brier = None
        if batch.weights is None and wrong_probabilities(p) is None:
            losses = loss_numbers(p, batch.true, np)[:, 0]
            brier = np.array([losses.sum(), losses @ losses])
        self.add(len(batch.true), right, brier)


class CurrentEstimate(NamedTuple):
    """What a stream says of a measure now."""

    n_observations: int
    value: float
    interval_at: IntervalAt
    """The interval holds at all times."""
    share: tuple[float, int] | None
    """Of a mean of numbers in [0, 1], such as a rate: their sum, and how many rows count."""
    facts: Facts | None
    obstacle: str | None = None
    squares: float | None = None
    """The sum of their squares, unless they are zeros and ones."""

    @property
    def exact(self) -> bool:
        """Whether the intervals are exact."""
        return self.share is not None


def share_in_table(name: str, table: Float[np.ndarray, "k k"]) -> tuple[int, int] | None:
    """Return of how many rows a measure is the share of, from predicted by observed classes.

    None for measures that are no shares of rows.
    """
    if name == "accuracy":
        return int(np.trace(table)), int(table.sum())
    if len(table) != 2:
        return None
    shares = {
        "recall": (table[1, 1], table[:, 1]),
        "specificity": (table[0, 0], table[:, 0]),
        "precision": (table[1, 1], table[1]),
        "negative_predictive_value": (table[0, 0], table[0]),
        "fallout": (table[1, 0], table[:, 0]),
        "miss_rate": (table[0, 1], table[:, 1]),
    }
    if name not in shares:
        return None
    part, whole = shares[name]
    return int(part), int(whole.sum())


def current_of_share(successes: int, n: int, n_observations: int) -> CurrentEstimate:
    """Return what the number of successes says of a rate, exactly."""

    def interval_at(error: float) -> Interval:
        return Interval(*limits_of_share(successes, n, error))

    value = successes / n if n else math.nan
    obstacle = None if n else "no row counts for it yet"
    return CurrentEstimate(n_observations, value, interval_at, (successes, n), None, obstacle)


def current_of_brier(totals: RunningTotals) -> CurrentEstimate:
    """Return what all rows say of the Brier score, exactly."""
    (total, squares), n = totals.brier.tolist(), totals.rows
    if math.isnan(total):
        raise ValueError("brier_score needs probabilities: some rows have other scores, or weights")

    def interval_at(error: float) -> Interval:
        return Interval(*limits_of_mean(total, squares, n, error))

    return CurrentEstimate(n, total / n, interval_at, (total, n), None, squares=squares)


def current_of_facts(facts: Facts, n_observations: int) -> CurrentEstimate:
    """Return what influences say of a value, in large samples."""

    def interval_at(error: float) -> Interval:
        return facts.interval_at(error_at_one_time(n_observations, error))

    return CurrentEstimate(n_observations, facts.value, interval_at, None, facts)


def not_yet_estimated(measure: Measure, n_observations: int, obstacle: str) -> CurrentEstimate:
    """Return that a value may be anything."""
    return CurrentEstimate(
        n_observations, math.nan, lambda error: Interval(*measure.bounds), None, None, obstacle
    )


def current_of_counts(
    measure: Measure, table: Float[np.ndarray, "k k"], evidence: CountedEvidence
) -> CurrentEstimate:
    """Return what counts say of a measure; ``table`` is that of predicted by observed classes."""
    predictions = evidence.predictions
    n = predictions.n_observations
    share = share_in_table(measure.name, table) if table.any() else None
    if share is not None and not predictions.is_weighted:
        return current_of_share(*share, n)
    if len(predictions.present) < 2:
        return not_yet_estimated(measure, n, "rows of one class only were seen")
    refuse(measure.name, measure.obstacle(predictions))
    [facts] = evidence.facts_of([measure])
    if not np.isfinite(facts.value):
        return not_yet_estimated(measure, n, "it is not defined for these rows")
    return current_of_facts(facts, n)


def look(current: CurrentEstimate, level: float) -> Look:
    """Return a look at a stream."""
    return Look(current.n_observations, current.value, current.interval_at(1 - level)[:2])


def add_look(looks: list[Look], new: Look) -> None:
    """Add a look; of very many, every second of the older half is forgotten."""
    looks.append(new)
    if len(looks) > _MOST_LOOKS:
        half = len(looks) // 2
        looks[:half] = looks[:half:2]


def named(
    measure: Measure, level: float, current: CurrentEstimate, looks: list[Look]
) -> dict[str, Any]:
    """Return what all results of a stream have in common."""
    obstacle = (
        [] if current.obstacle is None else [f"{measure.name} has no limits: {current.obstacle}"]
    )
    return {
        "measure": measure.name,
        "title": measure.title,
        "level": level,
        "exact": current.exact,
        "looks": tuple(looks),
        "warnings": tuple(obstacle),
    }


type Looks = dict[tuple[str, float], list[Look]]  # by measure and level


def looks_from(entries: Any) -> Looks:
    """Return looks that were written as JSON."""
    return {
        (name, level): [Look(n, value, (low, high)) for n, value, (low, high) in looks]
        for (name, level), looks in entries
    }


def joint_of_streams(
    streams: Mapping[str, CurrentEstimate],
    measure: Measure,
    level: float,
    seed: int,
    hypothesis: Hypothesis,
) -> JointEstimates:
    """Return values and differences of independent streams; one may stop at any time."""
    errors = {name: _error(current) for name, current in streams.items()}
    estimates = {
        name: Estimate(
            measure=measure.name,
            title=measure.title,
            value=current.value,
            standard_error=errors[name],
            interval=look(current, level).interval,
            level=level,
            method=METHOD,
        )
        for name, current in streams.items()
    }
    values = {name: (current.value, current.interval_at) for name, current in streams.items()}
    return independent.joint_estimates(
        estimates,
        {name: current.interval_at for name, current in streams.items()},
        independent.contrasts_of_intervals(values, errors, hypothesis),
        errors,
        hypothesis,
        seed,
    )


def _error(current: CurrentEstimate) -> float:
    """Return the standard error of a value at one time, never 0."""
    if current.facts is not None:
        low, high = current.facts.interval_at(0.3173)[:2]
        return (high - low) / 2
    k, n = current.share or (0, 0)
    if current.squares is not None:
        return math.sqrt(max(current.squares - k**2 / n, 0.25) / n) / math.sqrt(n)
    shrunk = (k + 0.5) / (n + 1)
    return math.sqrt(shrunk * (1 - shrunk) / max(n, 1))
