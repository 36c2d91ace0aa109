"""Ranks of classifiers with simultaneous intervals, and the tiers that the data do order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float

from dmfroc._kit.arrays import Covariance
from dmfroc._kit.text import in_percent
from dmfroc.inference.simultaneous import LargestStatistic, square_root
from dmfroc.results.estimate import Estimate
from dmfroc.results.result import Result
from dmfroc.results.table import Column, Table

_MOST_NUMBERS, _DRAWS, _FEWEST_DRAWS = 1 << 26, 50_000, 10_000
_NO_VARIANCE = 1e-14


@dataclass(frozen=True, eq=False, repr=False)
class Ranks(Result):
    """The rank of each classifier with an interval; all intervals hold at once.

    Attributes
    ----------
    title : str
        What is ranked.
    estimates : dict of str to Estimate
        The values, best first.
    intervals : dict of str to tuple of int
        The best and the worst rank that the data do not exclude.
    tiers : tuple of tuple of str
        The most groups such that the data show each member of a group to be better than each
        member of the next ones.
    level : float
        Probability with which all true ranks are in their intervals, and all tiers in order.
    left_out : dict of str to tuple of float and int
        Of several tasks: what changes without each task, the share of pairs of classifiers whose
        order is another, and the most places by which a rank moves.
    warnings : tuple of str
        What limits the values.
    """

    main_table: ClassVar[str] = "ranks"
    json_names: ClassVar[tuple[str, ...]] = ("level", "tiers")

    title: str
    estimates: dict[str, Estimate]
    intervals: dict[str, tuple[int, int]]
    tiers: tuple[tuple[str, ...], ...]
    level: float
    left_out: dict[str, tuple[float, int]]
    warnings: tuple[str, ...]

    def question_text(self) -> str:
        """Return the heading of a report without a title."""
        return f"In which order are {len(self.estimates)} classifiers?"

    def verdict_text(self) -> list[str]:
        """Return the tiers in a sentence, and what they are."""
        tiers = "; ".join(", ".join(tier) for tier in self.tiers)
        claim = "each of a tier is better than all of the next"
        if len(self.tiers) == 1:
            claim = "the data do not divide these into tiers"
        return [f"By {self.title}, {claim}: {tiers}.", *self.foot()]

    def foot(self) -> list[str]:
        """Say how to read ranks and tiers."""
        nowhere = ", which is nowhere here" * (len(self.tiers) == 1)
        return [
            f"Best to worst rank is a {in_percent(self.level)} interval, all at once. A new tier "
            f"begins where the data show all above to be better than all below{nowhere}. All "
            'pairs are tested at once here: "may be best" of a comparison can exclude more.'
        ]

    def tables(self) -> list[Table]:
        """Return the ranks, and what changes without each task."""
        percent, of = in_percent(self.level), self.estimates.values()
        tiers = [place for place, tier in enumerate(self.tiers, start=1) for _ in tier]
        best, worst = zip(*self.intervals.values(), strict=True)
        own = f"{in_percent(next(iter(of)).level)} interval"
        columns = [
            Column("name", "name", self.estimates, "name"),
            Column("value", self.title, of, "estimate", own),
            Column("rank", "rank", range(1, len(best) + 1), "count"),
            Column("best_rank", "best rank", best, "count"),
            Column("worst_rank", "worst rank", worst, "count"),
            Column("tier", "tier", tiers, "count"),
        ]
        title = f"Ranks; from the best to the worst rank is a {percent} interval, all at once"
        tables = [Table("ranks", title, columns, is_by_name=True, n_printed=len(best))]
        if self.left_out:
            flips, moves = zip(*self.left_out.values(), strict=True)
            tasks = [
                Column("task", "without the task", self.left_out, "name"),
                Column("flipped", "pairs that flip", flips, "percent"),
                Column("largest_move", "largest move of a rank", moves, "count"),
            ]
            tables.append(Table("left_out", "The order without each task", tasks, is_by_name=True))
        return tables


def ranks_of(
    estimates: dict[str, Estimate],
    qualities: Float[np.ndarray, " m"],
    covariance: Covariance,
    p_values: Float[np.ndarray, "m m"],
    *,
    seed: int,
    has_joint_errors: bool,
    **attributes: Any,
) -> Ranks:
    """Return the ranks of several values; the greatest quality is the best.

    A pair is in order if its two-sided p-value is below the level at which all intervals of pairs
    that are not in order yet hold at once (max-T, step by step). Without joint errors, as of
    streams that may stop at any time, the level is Bonferroni's.

    References
    ----------
    Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for ranks with applications to mobility
    across neighbourhoods and academic achievement across countries; Romano and Wolf (2005).
    """
    m, error = len(qualities), 1 - attributes["level"]
    order = np.argsort(-qualities, kind="stable")
    covariance, p_values = covariance[np.ix_(order, order)], p_values[np.ix_(order, order)]
    above = np.triu(np.ones((m, m), bool), 1)
    ordered = above & (p_values <= error / above.sum())
    if has_joint_errors:
        ordered = _ordered_by_steps(covariance, p_values, ordered, attributes["level"], seed)
    # No place may lie between two tiers whose members are not all in order
    is_open = (above & ~ordered)[:, ::-1]
    last_open = np.where(is_open.any(axis=1), m - 1 - is_open.argmax(axis=1), np.arange(m))
    cuts = np.flatnonzero(np.maximum.accumulate(last_open)[:-1] == np.arange(m - 1)) + 1
    names = np.array(list(estimates), object)[order]
    best, worst = 1 + ordered.sum(axis=0), m - ordered.sum(axis=1)
    return Ranks(
        estimates={name: estimates[name] for name in names},
        intervals=dict(zip(names, zip(best.tolist(), worst.tolist(), strict=True), strict=True)),
        tiers=tuple(tuple(part.tolist()) for part in np.split(names, cuts)),
        left_out={},
        **attributes,
    )


def _ordered_by_steps(
    covariance: Covariance,
    p_values: Float[np.ndarray, "m m"],
    ordered: Bool[np.ndarray, "m m"],
    level: float,
    seed: int,
) -> Bool[np.ndarray, "m m"]:
    """Return which pairs are in order, beside those that are so by Bonferroni's level."""
    m, variances = len(covariance), np.diag(covariance)
    squares = variances[:, None] + variances - 2 * covariance
    varies = squares > _NO_VARIANCE * (variances[:, None] + variances)
    varies &= np.triu(np.ones((m, m), bool), 1)
    n_draws = int(np.clip(_MOST_NUMBERS // m**2, _FEWEST_DRAWS, _DRAWS))
    draws = np.random.default_rng(seed).standard_normal((n_draws, m), np.float32)
    draws @= square_root(covariance).astype(np.float32)
    scale = 1 / np.sqrt(np.where(varies, squares, 1), dtype=np.float32)
    while (open_pairs := varies & ~ordered).any():
        largest = np.zeros(n_draws, np.float32)
        for first in np.flatnonzero(open_pairs.any(axis=1)):
            others = np.flatnonzero(open_pairs[first])
            parts = np.abs(draws[:, others] - draws[:, [first]]) * scale[first, others]
            np.maximum(largest, parts.max(axis=1), out=largest)
        joint = LargestStatistic(np.sort(largest), int(open_pairs.sum()))
        new = open_pairs & (p_values <= 1 - joint.level_of_each(level))
        if not new.any():
            break
        ordered = ordered | new
    return ordered
