"""Rows that stand for what a sample does not show: errors of each kind, and successes.

An error of a class is one whose label is wrong: it is scored as cases of another class are, from
the worst to the best of them. A success is scored ahead of everybody. The rows have weight 0 in the
sample; limits give them the mass of one observation in all (`dmfroc.inference.limits`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from dmfroc._kit.arrays import IntPerRow, divide
from dmfroc.inputs.arrays import followed_by
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.statistic import once_per_predictions

# Of another class's weight, by its scores; a little less, so that no sum's rounding decides
_PLACES = np.array([0.1, 0.3, 0.5, 0.7, 0.9]) * (1 - 1e-9)
_MOST_PLACES = 3 * len(_PLACES)  # on either side, as of three classes
_FEW_CLASSES = 6  # up to which a class is taken for any other, else the heaviest and lightest
_MOST_CLASSES = 100  # with unseen rows
_ROUNDING = 1.1e-3  # of a sum of probabilities, see `dmfroc.measures.statistics.forecasts`
_SHARE_OF_GROSS = 0.01  # of the cost of a gross error, below which others cost nothing
_NO_COST = 1e-14  # of an influence

PerUnseen = Float[np.ndarray, " p"]
IntPerUnseen = Int[np.ndarray, " p"]
BoolPerUnseen = Bool[np.ndarray, " p"]
"""One number for each unseen unit."""


class Unseen(NamedTuple):
    """Units that were not seen.

    Attributes
    ----------
    group, kind : numpy.ndarray of int, shape (p,)
        The class of each, and the kind of its error, or success: units of one kind share a mass.
    stratum : numpy.ndarray of int, shape (p,)
        The stratum in which each would be.
    success : numpy.ndarray of int, shape (p,)
        The place of the success of the same class, its own of a success.
    is_gross : numpy.ndarray of bool, shape (p,)
        Which are errors that are scored ahead of everybody: they count if no other error costs.
    """

    group: IntPerUnseen
    kind: IntPerUnseen
    stratum: IntPerUnseen
    success: IntPerUnseen
    is_gross: BoolPerUnseen

    @property
    def errors(self) -> Int[np.ndarray, " e"]:
        """The places of errors."""
        return np.flatnonzero(self.success != np.arange(len(self.success)))

    def some(self, places: Int[np.ndarray, " e"]) -> Unseen:
        """Return some of the units, without their successes."""
        group, kind, stratum = (x[places] for x in (self.group, self.kind, self.stratum))
        return Unseen(group, kind, stratum, np.full(len(places), -1), self.is_gross[places])

    def beside(self, other: Unseen, *, stratum: int = 0) -> Unseen:
        """Return both, whose kinds and groups are apart; the other's strata begin at a number."""
        n = len(self.success)
        ends = [int(x.max(initial=-1)) + 1 for x in (self.group, self.kind)]
        shifted = (
            other.group + ends[0],
            other.kind + ends[1],
            other.stratum + stratum,
            np.where(other.success < 0, -1, other.success + n),
            other.is_gross,
        )
        return Unseen(*(np.append(a, b) for a, b in zip(self, shifted, strict=True)))

    def at_few_places(self, influences: PerUnseen, masses: PerUnseen) -> PerUnseen:
        """Return influences that differ at few places of a kind, and on either side.

        They are taken together in their order, over folds, or without them over many classes: the
        law of very small masses, each with a large influence, has no accurate saddlepoint.
        """
        group, n = self.kind * (self.stratum.max(initial=0) + 1) + self.stratum, len(_PLACES)
        costs = influences
        if np.bincount(group).max(initial=0) <= n:
            group = 3 * self.stratum + (masses > 0) * np.where(influences > 0, 2, 1)
            n, costs = _MOST_PLACES, abs(influences)  # the same for a difference turned round
        sizes, order, place = np.bincount(group), np.lexsort((costs, group)), group.copy()
        rank = np.arange(len(group)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        place[order] = n * group[order] + rank * n // np.maximum(sizes[group[order]], n)
        means = divide(np.bincount(place, masses * influences), np.bincount(place, masses), np)
        return means[place]

    def shares(self, costs: PerUnseen) -> PerUnseen:
        """Return how a mass is shared among the classes: as the squares of what an error costs.

        The errors of a class are of the kind that is dearest on average. They are gross ones if
        others cost next to nothing, as beside a threshold that these do not reach.
        """
        if not len(costs):
            return costs
        sizes = np.maximum(np.bincount(self.kind), 1)
        means = np.bincount(self.kind, np.nan_to_num(costs, posinf=0, neginf=0)) / sizes
        means[means <= _NO_COST] = 0
        group, is_gross = np.zeros((2, len(sizes)), int)
        group[self.kind], is_gross[self.kind] = self.group, self.is_gross
        of_gross = np.zeros(group.max() + 1)
        np.maximum.at(of_gross, group, means * is_gross)
        is_typical = (is_gross == 0) & (means > _SHARE_OF_GROSS * of_gross[group])
        order = np.lexsort((means, is_typical, group))
        dearest = order[np.append(group[order][1:] != group[order][:-1], True)]
        squares = np.zeros(len(sizes))
        squares[dearest] = means[dearest] ** 2
        total = squares.sum()
        return (squares / sizes / total)[self.kind] if total > 0 else np.zeros(len(costs))


_NO_PLACES = np.zeros(0, int)
NOBODY = Unseen(_NO_PLACES, _NO_PLACES, _NO_PLACES, _NO_PLACES, _NO_PLACES > 0)
"""No units at all."""


@dataclass(frozen=True, eq=False)
class UnseenRows:
    """The rows of a sample, followed by those that were not seen.

    Attributes
    ----------
    predictions : Predictions
        All rows; those that were not seen have weight 0.
    true, taken_for : numpy.ndarray of int, shape (p,)
        The class of each unseen row, and that of the cases that are scored alike.
    success : numpy.ndarray of int, shape (p,)
        The place of the success of the same class, and fold, among the unseen rows.
    is_gross : numpy.ndarray of bool, shape (p,)
        Which are errors that are scored like successes of another class.
    """

    predictions: Predictions
    true: IntPerRow
    taken_for: IntPerRow
    success: IntPerRow
    is_gross: BoolPerUnseen

    def units(self, stratum: IntPerRow) -> Unseen:
        """Return the unseen rows as units in these strata."""
        kind = (self.true.astype(int) * self.predictions.n_classes + self.taken_for) * 2
        kind = np.unique(kind + self.is_gross, return_inverse=True)[1]
        return Unseen(self.true, kind, stratum, self.success, self.is_gross)


@once_per_predictions
def unseen_rows(predictions: Predictions) -> UnseenRows:
    """Return the rows of a sample, in each of its folds, with those that stand for the unseen."""
    folds, n_classes, parts = predictions.folds, predictions.n_classes, {0: predictions}
    if folds is not None:  # scores of different folds have no common scale
        each = np.unique(folds).tolist()
        parts = {fold: predictions.rows(np.flatnonzero(folds == fold)) for fold in each}
    least = min(len(predictions.present), 2)
    of_parts = {fold: _rows(part) for fold, part in parts.items() if len(part.present) >= least}
    if n_classes < 2 or not of_parts:
        none = np.zeros(0, np.int32)
        return UnseenRows(predictions, none, none, none, none > 0)
    fold = np.repeat(list(of_parts), [len(own) for own, *_ in of_parts.values()])
    true, taken_for, scores, is_gross = map(np.concatenate, zip(*of_parts.values(), strict=True))
    true, taken_for = true.astype(np.int32), taken_for.astype(np.int32)
    right, success = np.flatnonzero(true == taken_for), np.zeros((max(parts) + 1, n_classes), int)
    success[fold[right], true[right]] = right
    predicted = predictions.predicted
    whole = replace(
        predictions,
        true=np.append(predictions.true, true),
        scores=followed_by(predictions.scores, scores),
        sample_weight=np.append(predictions.sample_weight, np.zeros(len(true))),
        predicted=None if predicted is None else np.append(predicted, taken_for),
        folds=None if folds is None else np.append(folds, fold).astype(np.int32),
        index=None,
        ids=None,
        unused=None,
        frequency=None,
    )
    return UnseenRows(whole, true, taken_for, success[fold, true], is_gross)


def _rows(
    predictions: Predictions,
) -> tuple[IntPerRow, IntPerRow, Float[np.ndarray, "p k"], BoolPerUnseen]:
    """Return the classes, those taken for, the scores of successes and errors, the gross ones.

    Where a single class was observed, cases of others are taken to be scored as its own are, with
    both scores exchanged.
    """
    scores, present = predictions.scores, predictions.present
    with np.errstate(over="ignore", invalid="ignore"):  # of huge scores
        totals = scores.sum(axis=0)
    order = np.lexsort((totals, predictions.class_totals))  # whatever the classes are called
    by_weight = order[np.isin(order, present)]
    if len(present) > _MOST_CLASSES:  # from the lightest to the heaviest
        by_weight = by_weight[np.linspace(0, len(present) - 1, _MOST_CLASSES).astype(int)]
        present = np.sort(by_weight)
    cases = {c: np.flatnonzero(predictions.true == c) for c in present.tolist()}
    typical = {c: _typical(predictions, rows, c, order) for c, rows in cases.items()}
    is_alone, pairs = len(present) == 1, []
    for c in cases:
        others = order[order != c] if is_alone else by_weight[by_weight != c]
        some = others if len(others) < _FEW_CLASSES else others[[0, -1]]
        pairs += [(c, d) for d in some.tolist()]
    of_pairs = np.array(pairs).T
    true, taken_for = np.repeat(of_pairs, len(_PLACES), axis=1)
    rows = np.concatenate([typical[c if is_alone else d] for c, d in pairs])
    errors: Float[np.ndarray, "e k"] = np.array(scores[rows, :])
    single, columns = predictions.single, [scores]
    if single is not None:
        columns = [column := scores[:, single : single + 1], 1 - column]
    low, high = _ends(*columns)
    if is_alone:
        place = np.arange(len(true))
        exchanged = errors[place, taken_for], errors[place, true]
        errors[place, true], errors[place, taken_for] = exchanged
        if single is not None:
            errors[:, single] += low + high
    is_own = np.arange(predictions.n_classes) == np.append(present, of_pairs[1])[:, None]
    ahead = np.where(is_own, high, low).astype(scores.dtype)
    unseen = np.concatenate([ahead[: len(present)], errors, ahead[len(present) :]])
    if single is not None:
        unseen[:, 1 - single] = 0 - unseen[:, single]
    return (
        np.concatenate([present, true, of_pairs[0]]),
        np.concatenate([present, taken_for, of_pairs[1]]),
        unseen,
        np.arange(len(unseen)) >= len(present) + len(true),
    )


def _ends(*columns: Float[np.ndarray, "n _"]) -> tuple[float, float]:
    """Return the scores of other classes and of the own one in a row ahead of everybody.

    Probabilities add up to 1: those of others are half of the smallest one that was given.
    """
    low = float(min(x.min() for x in columns))
    with np.errstate(over="ignore", invalid="ignore"):  # of what stands for infinities
        total = sum(x.sum(axis=1, dtype=np.float64) for x in columns)
    n_classes = sum(x.shape[1] for x in columns)
    if low >= 0 and np.abs(total - 1).max() < _ROUNDING:
        return low / 2, 1 - (n_classes - 1) * low / 2
    first = columns[0]
    return float(first.min()) - 1, float(first.max()) + 1


def _typical(
    predictions: Predictions, rows: IntPerRow, c: int, classes: Int[np.ndarray, " k"]
) -> Int[np.ndarray, " 5"]:
    """Return the rows at several shares of a class's weight, by the scores of their class.

    They do not depend on the order of rows: those that tie are ordered by the scores of all
    ``classes``, the last first.
    """
    scores, weights = predictions.scores, predictions.sample_weight[rows]
    own = scores[rows, c]
    if (weights == weights[0]).all():
        ordered, up_to = np.sort(own), np.arange(1.0, len(own) + 1)
    else:
        order = np.argsort(own, kind="stable")
        ordered, up_to = own[order], np.cumsum(weights[order])
    places = np.minimum(np.searchsorted(up_to, _PLACES * up_to[-1]), len(rows) - 1)
    chosen = []
    for share, score in zip(_PLACES, ordered[places], strict=True):
        tied = np.flatnonzero(own == score)
        if len(tied) > 1:
            below = weights[own < score].sum()
            each = scores[rows[tied], :]
            tied = tied[np.lexsort((weights[tied], *each[:, classes].T))]
            place = np.searchsorted(below + np.cumsum(weights[tied]), share * weights.sum())
            tied = tied[min(place, len(tied) - 1) :]
        chosen.append(rows[tied[0]])
    return np.array(chosen)
