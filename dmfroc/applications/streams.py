"""Streams that are watched: limits that hold at all times at once, however often one looks.

A nonnegative martingale that starts at 1 exceeds ``1 / error`` with probability ``error`` at most,
at any time (Ville 1939). A mixture over alternatives is such a martingale. Of zeros and ones it is
exact; of values with influences it is asymptotic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import betaln, ndtr, xlog1py, xlogy

from dmfroc import Measure
from dmfroc.counted import Accumulator, Look
from dmfroc.extend import (
    DEFAULT_LEVEL,
    Column,
    Facts,
    Hypothesis,
    Interval,
    JointEstimates,
    JointEvidence,
    RandomState,
    Result,
    Table,
    Test,
    check_level,
    comparison_fields,
    contrasts_of_intervals,
    get_measure,
    joint_estimates,
    seed_of,
)
from dmfroc.results import Comparison, Estimate

_MOST_LOOKS = 4000
METHOD = "confidence sequence"
_BEST_AT = 500  # rows at which limits are shortest
_MIXING = 8.1 / _BEST_AT  # variance of the mixture, by which they are so for 95 %
_JEFFREYS = 0.5
_ONE_SIGMA = 0.3173  # error probability of an interval of one standard error
_CELLS = {  # by predicted and observed class, and the class that they are a share of
    "recall": ("observed", 1, 1),
    "specificity": ("observed", 0, 0),
    "precision": ("predicted", 1, 1),
    "negative_predictive_value": ("predicted", 0, 0),
    "fallout": ("observed", 1, 0),
    "miss_rate": ("observed", 0, 1),
}
_BETS = 2.0 ** -np.arange(1, 9)  # shares of what may be lost; small ones for many rows


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

    drawn_by = "dmfroc.applications.pictures"
    main_table = "looks"
    json_names = ("measure", "level", "exact", "n_observations")

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


@dataclass(frozen=True, eq=False, repr=False)
class StreamsComparison(Comparison):
    """Independent streams, compared at any time; see `Comparison`."""

    has_joint_errors = False


def confidence_sequence(
    accumulator: Accumulator, measure: str | Measure, level: float | int = DEFAULT_LEVEL
) -> ConfidenceSequence:
    """Return limits of a measure that hold at all times at once, however often one looks.

    Ordinary intervals hold at one time that was chosen beforehand: who looks after each batch
    will see one exclude the truth. These are wider, and may be looked at any number of times.

    Parameters
    ----------
    accumulator : Accumulator
        The rows so far. It keeps the looks, and saves them.
    measure : str or Measure
        As for `dmfroc.estimate`.
    level : float
        Probability with which the limits of all times hold the true value.

    Returns
    -------
    ConfidenceSequence
        With the ``value`` and the ``interval`` now, and those of earlier calls in ``looks``.
        The limits of accuracy, of the Brier score, and of recall, specificity, precision and
        their complements of two classes are exact for rows without weights; all others are
        asymptotic.

    Raises
    ------
    TypeError, ValueError
        If nothing has been accumulated, or the measure cannot be counted.

    References
    ----------
    Robbins (1970), Statistical methods related to the law of the iterated logarithm;
    Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024), Time-uniform central limit theory
    and asymptotic confidence sequences; Waudby-Smith and Ramdas (2024), Estimating means of
    bounded random variables by betting.

    Examples
    --------
    >>> from dmfroc.counted import Accumulator
    >>> rng = np.random.default_rng(0)
    >>> accumulator = Accumulator([0, 1, 2])
    >>> for step in range(20):
    ...     y = rng.integers(3, size=64)
    ...     accumulator.update(y, rng.normal(size=(64, 3)) + 1.5 * np.eye(3)[y])
    ...     sequence = confidence_sequence(accumulator, "hand_till")
    >>> low, high = sequence.interval
    >>> round(low, 3), round(high, 3), len(sequence.looks)
    (0.841, 0.879, 20)
    """
    if not isinstance(accumulator, Accumulator):
        found = type(accumulator).__name__
        raise TypeError(f"accumulator must be an Accumulator, not a {found}")
    measure, level = get_measure(measure), check_level(level)
    current = current_of(accumulator, measure)
    looks = accumulator.looks.setdefault((measure.name, level), [])
    if not looks or looks[-1].n_observations < current.n_observations:
        ends = current.interval_at(1 - level)[:2]
        add_look(looks, Look(current.n_observations, current.value, ends))
    why = f"{measure.name} has no limits: {current.obstacle}"
    return ConfidenceSequence(
        measure=measure.name,
        title=measure.title,
        level=level,
        exact=current.is_exact,
        looks=tuple(looks),
        warnings=() if current.obstacle is None else (why,),
    )


def compare_streams(
    streams: Mapping[str, Accumulator],
    *,
    measure: str | Measure = "dmf_auc",
    test: Test = "two-sided",
    level: float | int = DEFAULT_LEVEL,
    random_state: RandomState = 0,
) -> StreamsComparison:
    """Compare independent streams. Each may stop at any time.

    Parameters
    ----------
    streams : dict of str to Accumulator
        The rows of each stream so far.
    measure : str or Measure
        As for `dmfroc.estimate`.
    test, level
        As for `dmfroc.compare`. Limits hold at all times, and p-values are adjusted by Holm's
        method.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Seed of the draws behind the probabilities of the orders.

    Returns
    -------
    StreamsComparison
        A `Comparison` with the values and the differences.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two accumulators, or one has too few rows for the measure.

    Examples
    --------
    >>> from dmfroc.counted import Accumulator
    >>> rng = np.random.default_rng(0)
    >>> streams = {"old": Accumulator([0, 1]), "new": Accumulator([0, 1])}
    >>> for shift, stream in zip((1, 2), streams.values(), strict=True):
    ...     y = rng.integers(2, size=500)
    ...     stream.update(y, rng.normal(size=500) + shift * y)
    >>> compare_streams(streams, measure="hand_till").best_set()
    ('new',)
    """
    measure, level, seed = get_measure(measure), check_level(level), seed_of(random_state)
    hypothesis = Hypothesis.of(test, measure.greater_is_better)
    hypothesis.check(level, measure.largest_difference)
    joint = evidence_of_streams(streams, level, seed).estimates(measure, hypothesis)
    fields = comparison_fields(joint, hypothesis, simultaneous=False, level=level, seed=seed)
    return StreamsComparison(measure=measure.name, title=measure.title, **fields)


def evidence_of_streams(streams: Any, level: float, seed: int = 0) -> JointEvidence:
    """Return what independent streams say of any measure."""
    if not isinstance(streams, Mapping) or len(streams) < 2:
        raise ValueError("streams must be a dict of at least two accumulators by name")
    for name, x in streams.items():
        if not isinstance(x, Accumulator):
            raise TypeError(f"streams[{name!r}] must be an Accumulator, not a {type(x).__name__}")

    def found(measure: Measure, hypothesis: Hypothesis) -> JointEstimates:
        now = {name: current_of(x, measure) for name, x in streams.items()}
        for name, x in now.items():
            if x.obstacle is not None:
                raise ValueError(
                    f"{measure.name} of {name!r} cannot be compared yet: {x.obstacle}; wait for "
                    "more rows"
                )
        intervals = {name: x.interval_at for name, x in now.items()}
        errors = {name: x.standard_error for name, x in now.items()}
        estimates = {
            name: Estimate(
                measure=measure.name,
                title=measure.title,
                value=x.value,
                standard_error=x.standard_error,
                interval=x.interval_at(1 - level)[:2],
                level=level,
                method=METHOD,
            )
            for name, x in now.items()
        }
        values = {name: (x.value, x.interval_at) for name, x in now.items()}
        contrasts = contrasts_of_intervals(values, errors)
        return joint_estimates(estimates, intervals, contrasts, errors, hypothesis, seed)

    return JointEvidence(found, {})


class CurrentEstimate(NamedTuple):
    """What a stream says of a measure now."""

    n_observations: int
    value: float
    interval_at: Callable[[float], Interval]
    """The interval holds at all times."""
    standard_error: float = math.nan
    """That of the value at one time, never 0."""
    is_exact: bool = False
    obstacle: str | None = None


def current_of(accumulator: Accumulator, measure: Measure) -> CurrentEstimate:
    """Return what all rows so far say of a measure, at any time.

    Cut points are not learned for that: it takes those that would be learned now.
    """
    totals = accumulator.totals
    if measure.name == "accuracy" and totals.right is not None:
        return current_of_share(totals.right, totals.rows, totals.rows)
    if measure.name == "brier_score" and totals.rows:
        return current_of_brier(totals)
    table, evidence = accumulator.counted_now()
    predictions = evidence.predictions
    n = predictions.n_observations
    share = share_in_table(measure.name, table) if table.any() else None
    if share is not None and not predictions.is_weighted:
        return current_of_share(*share, n)
    everything = Interval(*measure.bounds)
    not_yet = partial(CurrentEstimate, n, math.nan, lambda _: everything)
    if len(predictions.present) < 2:
        return not_yet(obstacle="rows of one class only were seen")
    [facts] = evidence.facts_of([measure])
    if not np.isfinite(facts.value):
        return not_yet(obstacle="it is not defined for these rows")
    return current_of_facts(facts, n)


def share_in_table(name: str, table: Float[np.ndarray, "k k"]) -> tuple[int, int] | None:
    """Return of how many rows a measure is the share of, from predicted by observed classes.

    None for measures that are no shares of rows.
    """
    if name == "accuracy":
        return int(np.trace(table)), int(table.sum())
    if len(table) != 2 or name not in _CELLS:
        return None
    of, predicted, observed = _CELLS[name]
    whole = table[predicted] if of == "predicted" else table[:, observed]
    return int(table[predicted, observed]), int(whole.sum())


def current_of_share(successes: int, n: int, n_observations: int) -> CurrentEstimate:
    """Return what the number of successes says of a rate, exactly."""
    value, shrunk = successes / n if n else math.nan, (successes + 0.5) / (n + 1)
    return CurrentEstimate(
        n_observations,
        value,
        partial(limits_of_share, successes, n),
        math.sqrt(shrunk * (1 - shrunk) / max(n, 1)),
        is_exact=True,
        obstacle=None if n else "no row counts for it yet",
    )


def current_of_brier(totals: Any) -> CurrentEstimate:
    """Return what all rows say of the Brier score, exactly."""
    (total, squares), n = totals.brier.tolist(), totals.rows
    if math.isnan(total):
        raise ValueError("brier_score needs probabilities: some rows have other scores, or weights")
    error = math.sqrt(max(squares - total**2 / n, 0.25) / n) / math.sqrt(n)
    limits = partial(limits_of_mean, total, squares, n)
    return CurrentEstimate(n, total / n, limits, error, is_exact=True)


def current_of_facts(facts: Facts, n_observations: int) -> CurrentEstimate:
    """Return what influences say of a value, in large samples."""

    def interval_at(error: float) -> Interval:
        return facts.interval_at(error_at_one_time(n_observations, error))

    low, high = facts.interval_at(_ONE_SIGMA)
    return CurrentEstimate(n_observations, facts.value, interval_at, (high - low) / 2)


def add_look(looks: list[Look], new: Look) -> None:
    """Add a look; of very many, every second of the older half is forgotten."""
    looks.append(new)
    if len(looks) > _MOST_LOOKS:
        half = len(looks) // 2
        looks[:half] = looks[:half:2]


def error_at_one_time(n: int, error: float) -> float:
    """Return the error of an interval for one time that serves all times.

    Its normal quantile is the boundary of a normal mixture after ``n`` rows.

    References
    ----------
    Robbins (1970); Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024), Time-uniform central
    limit theory and asymptotic confidence sequences.
    """
    time = 1 + n * _MIXING
    boundary = np.sqrt(time / (n * _MIXING) * (np.log(time) - 2 * np.log(error)))
    return float(2 * ndtr(-boundary))


def limits_of_share(successes: int, n: int, error: float) -> Interval:
    """Return limits of a rate that hold at all times at once, exactly, by Jeffreys' mixture.

    They are the rates whose bets on them have not lost, where the bets are those of Krichevsky and
    Trofimov (1981).
    """
    from scipy.optimize import brentq

    if n == 0:
        return Interval(0.0, 1.0)
    mixture = betaln(successes + _JEFFREYS, n - successes + _JEFFREYS)
    threshold = mixture - betaln(_JEFFREYS, _JEFFREYS) + np.log(error)

    def excess(rate: float) -> float:
        likelihood = xlogy(successes, rate) + xlog1py(n - successes, -rate)
        return float(likelihood - threshold)

    share = successes / n
    least, most, nearest = 1e-12, 1 - 1e-12, 1e-18  # a limit may be a millionth
    low = brentq(excess, least, share, xtol=nearest) if successes and excess(least) < 0 else 0.0
    high = brentq(excess, share, most, xtol=nearest) if successes < n and excess(most) < 0 else 1.0
    return Interval(float(low), float(high))


def limits_of_mean(total: float, squares: float, n: int, error: float) -> Interval:
    """Return limits of a mean of numbers in [0, 1] that hold at all times at once, exactly.

    The e-value against a mean of at most m is the mean over bets b of
    exp(b e - (-log(1 - b) - b) q). Here e is the sum of what exceeds m, and q that of its squares.

    References
    ----------
    Fan, Grama and Liu (2015), Exponential inequalities for martingales with applications; Howard,
    Ramdas, McAuliffe and Sekhon (2021), Time-uniform, nonparametric, nonasymptotic confidence
    sequences.
    """
    from scipy.optimize import brentq

    if n == 0:
        return Interval(0.0, 1.0)
    threshold = np.log(2 / error)

    def lower_limit(total: float, squares: float) -> float:
        def excess(mean: float) -> float:
            above, squared = total - n * mean, squares - 2 * mean * total + n * mean**2
            logs = _BETS * above + (np.log1p(-_BETS) + _BETS) * squared
            return float(np.logaddexp.reduce(logs) - np.log(len(_BETS)) - threshold)

        return float(brentq(excess, 0.0, total / n)) if excess(0.0) > 0 else 0.0

    low, misses = lower_limit(total, squares), lower_limit(n - total, n - 2 * total + squares)
    return Interval(low, 1 - misses)
