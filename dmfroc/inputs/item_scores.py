"""Scores of items by model, as users hand them in: arrays and tables, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import comb

from dmfroc._kit.arrays import IntPerRow, PerRow
from dmfroc._kit.options import integer, number
from dmfroc.inputs.arrays import (
    Rows,
    as_array,
    as_floats,
    check_ids,
    columns_of,
    counts_rows,
    row_index,
)
from dmfroc.inputs.judge import Judge, probabilities
from dmfroc.inputs.messages import IN_MEMORY
from dmfroc.inputs.rows import order_of_ids
from dmfroc.inputs.subgroups import unit_of_rows

FEWEST_ITEMS = 2


@dataclass(frozen=True, eq=False)
class ScoredItems:
    """The scores of models on the same items; NaN where nobody verified.

    Attributes
    ----------
    scores : dict of str to numpy.ndarray of shape (n,)
        Mean over the repeats of each item, by name of the model.
    judge : dict of str to numpy.ndarray of shape (n,), or None
        Scores of all items by a judge.
    probability : numpy.ndarray of shape (n,)
        With which each item was drawn to be verified, up to a factor.
    unit : numpy.ndarray of int, shape (n,)
        The independent unit of each item.
    bounds : tuple of float
        The range of the scores.
    n_repeats : int
        Largest number of scores that a model has of an item.
    index : pandas.Index or None
        Index of the rows.
    attempts : dict of str to numpy.ndarray of shape (n, repeats)
        The scores themselves.
    """

    scores: dict[str, PerRow]
    judge: dict[str, PerRow] | None
    probability: PerRow
    unit: IntPerRow
    bounds: tuple[float, float]
    n_repeats: int = 1
    index: Any = None
    attempts: dict[str, Float[np.ndarray, "n r"]] = field(default_factory=dict)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.unit)

    def of_best(self, k: int, *, worst: bool = False) -> ScoredItems:
        """Return the expected best, or worst, of k attempts at each item, drawn from those made."""
        k = integer("k", k, 1)
        if self.judge is not None:
            raise ValueError("attempts are compared by their own scores: leave judge= out")
        scores = {}
        for name, x in self.attempts.items():
            m = x.shape[1]
            if k > m:
                raise ValueError(f"k is {k}, but {name!r} has {m} attempts at each item: give more")
            # The best of k is the i-th smallest of m with this probability
            weights = comb(np.arange(m), k - 1) / comb(m, k)
            means = np.sort(x, axis=1) @ (weights[::-1] if worst else weights)
            scores[name] = np.clip(means, *self.bounds)  # but for rounding
        return replace(self, scores=scores)

    def rows(self, chosen: Any) -> ScoredItems:
        """Return some of the items."""
        judge = self.judge and {name: x[chosen] for name, x in self.judge.items()}
        scores = {name: x[chosen] for name, x in self.scores.items()}
        return replace(
            self,
            scores=scores,
            judge=judge,
            attempts={name: x[chosen] for name, x in self.attempts.items()},
            probability=self.probability[chosen],
            unit=np.unique(self.unit[chosen], return_inverse=True)[1],
        )


def scored_items(
    scores: Any, of_items: Judge | None, groups: Any, bounds: Any, id: Any
) -> ScoredItems:
    """Check what the user handed in."""
    judge, probability = None, None
    if of_items is not None:
        judge, probability = of_items.labels, of_items.probability
        if of_items.strata is not None:
            raise ValueError("judge of items has no strata: give the probability of each item")
    rows, of_models = Rows(what="scores"), _named(scores)
    read = {name: _matrix(values, f"scores[{name!r}]", rows) for name, values in of_models.items()}
    n_items = {len(x) for x in read.values()}
    if len(n_items) > 1:
        sizes = ", ".join(f"{name!r} {len(x)}" for name, x in read.items())
        raise ValueError(f"the models have scores of different numbers of items: {sizes}")
    [n] = n_items
    if judge is None:
        for name, x in read.items():
            _check_complete(
                x,
                f"scores[{name!r}]",
                ": leave these items out for all models, or give a judge's scores of all items as "
                "judge=",
            )
        named, of_judge = {}, None
    else:
        by_name = isinstance(judge, Mapping) or columns_of(judge, "judge") is not None
        if not by_name and len(read) > 1:
            raise TypeError("judge must be a dict with the judge's scores of each model")
        named = _named(judge) if by_name else {next(iter(read)): judge}
        if set(named) != set(read):
            raise ValueError(
                f"judge has scores of {list(named)}, but scores has the models {list(read)}: use "
                "the same names"
            )
        of_judge = {name: _matrix(named[name], f"judge[{name!r}]", rows) for name in read}
        for name, x in of_judge.items():
            if len(x) != n:
                raise ValueError(f"judge[{name!r}] has {len(x)} items, but scores has {n}")
            _check_complete(x, f"judge[{name!r}]", ": a judge must score all items")
    if id is None:
        _check_one_table({"scores": of_models, "judge": named})
    else:
        places = _places(id, read)
        read = {name: x[places[name]] for name, x in read.items()}
        of_judge = of_judge and {name: x[places[name]] for name, x in of_judge.items()}
    given = ScoredItems(
        # An item that lacks one of its repeats has no mean
        {name: x.mean(axis=1) for name, x in read.items()},
        of_judge and {name: x.mean(axis=1) for name, x in of_judge.items()},
        probabilities(probability, n, rows),
        unit_of_rows(groups, n, rows),
        _bounds(bounds, [*read.values(), *(of_judge or {}).values()]),
        max(x.shape[1] for x in read.values()),
        rows.index,
        read,
    )
    check_scored(given, "scores")
    return given


def _named(scores: Any) -> dict[str, Any]:
    scores = columns_of(scores, "scores") or scores
    if not isinstance(scores, Mapping):
        raise TypeError(
            "scores must be a dict of scores by name of the model, or a table with a column for "
            f"each, but it is a {type(scores).__name__}"
        )
    if not scores:
        raise ValueError("scores has no model: give the scores of at least one")
    for name in scores:
        if not isinstance(name, str):
            raise TypeError(f"scores has the key {name!r}, but names of models must be strings")
    return dict(scores)


def _check_one_table(scores: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse columns of different tables whose indexes do not name the items."""
    of_all = {f"{what}[{name!r}]": x for what, of in scores.items() for name, x in of.items()}
    indexes = {what: row_index(x) for what, x in of_all.items()}
    counting = {what: x for what, x in indexes.items() if x is not None and counts_rows(x)}
    first = next(iter(counting), "")
    for what, index in counting.items():
        if not index.is_(counting[first]):
            raise ValueError(
                f"{first} and {what} are of different tables, whose indexes only count the items: "
                "match these by id=, a dict of ids by name of the model. If they match by "
                "position, pass them with .to_numpy()"
            )


def _places(id: Any, scores: Mapping[str, PerRow]) -> dict[str, IntPerRow]:
    """Return where each model has the items, in the order of the first one's."""
    if not isinstance(id, Mapping) or set(id) != set(scores):
        raise TypeError(f"id must be a dict with the ids of the items of each of {list(scores)}")
    first = next(iter(scores))
    ids = {name: check_ids(id[name], len(x), IN_MEMORY) for name, x in scores.items()}
    return {name: order_of_ids(first, ids[first], name, x) for name, x in ids.items()}


def _matrix(values: Any, what: str, rows: Rows) -> Float[np.ndarray, "n r"]:
    """Return scores by item and repeat; missing ones are NaN."""
    array = as_floats(as_array(values, what), what).astype(np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"{what} must have shape (n,) or (n, repeats), not {array.shape}")
    if np.isinf(array).any():
        row = int(np.isinf(array).any(axis=1).argmax())
        raise ValueError(f"{what} is infinite in row {row} (counting from 0)")
    return rows.arranged(array, values, what)


def _check_complete(x: Float[np.ndarray, "n r"], what: str, remedy: str) -> None:
    is_missing = np.isnan(x).any(axis=1)
    if is_missing.any():
        raise ValueError(
            f"{what} is missing in {int(is_missing.sum())} of {len(x)} items, first in row "
            f"{int(is_missing.argmax())} (counting from 0){remedy}"
        )


def check_scored(given: ScoredItems, what: str) -> None:
    """Refuse a model with scores of too few items."""
    for name, x in given.scores.items():
        n = len(np.unique(given.unit[~np.isnan(x)]))
        if n < FEWEST_ITEMS:
            raise ValueError(
                f"{what} has {n} independent items with a score of {name!r}: at least "
                f"{FEWEST_ITEMS} are needed to see how scores vary"
            )


def _bounds(given: Any, scores: list[Float[np.ndarray, "n r"]]) -> tuple[float, float]:
    least = min(float(np.nanmin(x, initial=np.inf)) for x in scores)
    most = max(float(np.nanmax(x, initial=-np.inf)) for x in scores)
    if given is None:
        if least < 0 or most > 1:
            raise ValueError(
                f"scores are from {least:g} to {most:g}, outside of [0, 1]: give the smallest and "
                "largest possible score, bounds=(1, 5), or bounds=(-np.inf, np.inf)"
            )
        return 0.0, 1.0
    try:
        low, high = (number("each of bounds", end) for end in given)
    except (TypeError, ValueError) as error:
        raise type(error)(f"bounds must be two numbers, such as (1, 5), not {given!r}") from error
    if not low <= least <= most <= high or not low < high:
        raise ValueError(
            f"bounds are {given!r}, but scores are from {least:g} to {most:g}: give the smallest "
            "and the largest possible score"
        )
    return low, high
