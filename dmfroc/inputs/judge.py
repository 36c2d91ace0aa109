"""Labels that are missing for most rows, and those of a judge for all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dmfroc._kit.arrays import BoolPerRow, IntPerRow, PerRow
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.arrays import (
    Array,
    Codes,
    Rows,
    as_array,
    as_scalar,
    check_length,
    is_missing,
    row_names,
    whole_as_int,
)
from dmfroc.inputs.checks import real_weights
from dmfroc.inputs.labels import encode, factorize
from dmfroc.inputs.messages import IN_MEMORY, Source, listing
from dmfroc.inputs.of_rows import OfRows
from dmfroc.inputs.predictions import Predictions

_FEWEST_VERIFIED = 2


@dataclass(frozen=True, eq=False, repr=False)
class Judge(OfRows):
    """A judge's labels of all rows, and how rows were drawn to be verified.

    Attributes
    ----------
    labels : array-like of shape (n,)
        Labels of all rows, by another model or a cheap test.
    probability : array-like of shape (n,), optional
        The probability with which each row was drawn; by default the same for all.
    strata : array-like of shape (n,), optional
        The stratum of each row, if so many rows of each stratum were drawn. The probabilities are
        the shares of verified rows, and what differs between the strata adds no error of the draw.

    Examples
    --------
    >>> Judge(["a", "b", "a"], strata=[1, 1, 2])
    Judge(labels=(3,), strata=(3,))
    """

    per_row: ClassVar[tuple[str, ...]] = ("labels", "probability", "strata")

    labels: Any
    probability: Any = None
    strata: Any = None

    def __post_init__(self) -> None:
        if self.probability is not None and self.strata is not None:
            raise ValueError("strata has the probabilities already: leave probability out")

    @property
    def is_drawn_unlike(self) -> bool:
        """Whether rows were drawn with probabilities, or within strata, that the user gave."""
        return self.probability is not None or self.strata is not None


class JudgedRows(NamedTuple):
    """Rows that a judge has labelled; some of them are verified.

    Attributes
    ----------
    verified : Predictions
        The verified rows with their labels, weighted by one over the probability of being drawn.
    judge_on_verified, judge_on_all : Predictions
        The same rows, and all rows, with the judge's labels.
    is_verified : numpy.ndarray of bool, shape (n,)
        Which rows are verified.
    stratum : numpy.ndarray of int, shape (n,)
        The stratum of each row, within which rows were drawn alike.
    given : Predictions
        All rows that the user gave, also those of weight 0, which count for nothing.
    """

    verified: Predictions
    judge_on_verified: Predictions
    judge_on_all: Predictions
    is_verified: BoolPerRow
    stratum: IntPerRow
    given: Predictions


def judged_rows(y_true: Any, y_score: Any, judge: Judge, **others: Any) -> JudgedRows:
    """Check labels, some of them missing, and the judge's, see `as_predictions`.

    Raises
    ------
    TypeError, ValueError
        If the judge's labels are missing in some row, too few rows are verified, of a stratum
        none, probabilities are not above 0 and at most 1, or as for `as_predictions`.
    """
    true, said, is_verified, rows = verified_labels(y_true, judge.labels)
    # Labels of others say nothing of the scores: warnings are about those that are verified
    filled = np.where(is_verified, true, np.resize(true[is_verified], len(true)))
    if others.get("labels") is None:
        others["labels"] = sorted(set(filled.tolist()) | set(said.tolist()))
    one = others.pop("pos_label", None) if len(others["labels"]) > 2 else None
    given = as_predictions(rows.indexed(filled), y_score, **others)
    n, rows = len(true), given.given_rows
    is_verified = rows.arranged(is_verified, None, "y_true")
    drawn, stratum = probabilities(judge.probability, n, rows), np.zeros(len(is_verified), int)
    if judge.strata is not None:
        names = row_names(judge.strata, "strata", n, rows, "a stratum")
        strata, stratum = np.unique(names, return_inverse=True)
        shares = np.bincount(stratum, is_verified) / np.bincount(stratum)
        if not shares.all():
            raise ValueError(
                f"strata: no row of {listing(strata[shares == 0].tolist())} is verified, so that "
                "nothing is known of it. Verify rows there, or merge strata"
            )
        drawn = shares[stratum]
    weights, given = given.sample_weight / drawn, replace(given, index=rows.index)
    by_judge = replace(given, true=encoded_judge(judge.labels, given))
    counts = given.sample_weight > 0
    chosen = counts & is_verified
    n_rows, n_verified = int(counts.sum()), int(chosen.sum())
    facts = {"rows": n_rows, "verified": n_verified, "others": n_rows - n_verified}
    drawn_as = "as given" if judge.is_drawn_unlike else "alike"
    given = replace(given, design={**given.design, "judge": {**facts, "drawn": drawn_as}})
    if one is not None:  # against the rest, also where the judge says so
        given, by_judge = (p.with_positive_class(one) for p in (given, by_judge))
    verified, on_verified = (p.rows(chosen).reweighted(weights[chosen]) for p in (given, by_judge))
    return JudgedRows(
        verified, on_verified, by_judge.rows(counts), is_verified[counts], stratum[counts], given
    )


def verified_labels(y_true: Any, judge: Any) -> tuple[Array, Array, BoolPerRow, Rows]:
    """Return labels, some of them missing, the judge's, and which rows are verified."""
    if isinstance(y_true, Predictions):
        raise TypeError(
            "judge= goes with arrays: pass y_true with missing labels where nobody verified"
        )
    true, said = labels_of(y_true, "y_true"), labels_of(judge, "judge")
    rows = Rows(y_true)
    said = rows.arranged(said, judge, "judge")
    check_length("judge", len(said), len(true), IN_MEMORY)
    lacking = np.array([is_missing(x) for x in said.tolist()])
    if lacking.any():
        raise ValueError(
            f"judge has a missing label at {IN_MEMORY.row(int(lacking.argmax()))}: a judge must "
            "label all rows"
        )
    is_verified = np.array([not is_missing(x) for x in true.tolist()])
    if is_verified.sum() < _FEWEST_VERIFIED:
        raise ValueError(
            f"y_true has {int(is_verified.sum())} verified labels: at least {_FEWEST_VERIFIED} are "
            "needed, and some hundred are of use"
        )
    return true, said, is_verified, rows


def encoded_judge(judge: Any, predictions: Predictions) -> Codes:
    """Return the judge's labels of rows that are all verified, as codes of their classes."""
    said = factorize(labels_of(judge, "judge"), "judge", IN_MEMORY)
    check_length("judge", len(said.codes), predictions.n_given, IN_MEMORY)
    codes = encode(said, predictions.labels, "judge", IN_MEMORY, has_scores=False)
    return predictions.given_rows.arranged(codes, judge, "judge")


def labels_of(values: Any, what: str) -> Array:
    """Return labels; beside missing ones whole numbers were floats, and are integers again."""
    array = as_array(values, what)
    if array.ndim != 1:
        raise ValueError(f"{what} must have shape (n,) when labels are judged, not {array.shape}")
    items = [whole_as_int(as_scalar(x)) for x in array.tolist()]
    return np.fromiter(items, object, len(items))


def probabilities(given: Any, n: int, rows: Rows, what: str = "probability") -> PerRow:
    """Check and arrange probabilities of the rows, such as to be drawn; by default they are 1."""
    given = np.ones(n) if given is None else given
    chances = real_weights(given, n, Source(weight=what), Rows())
    if (wrong := np.flatnonzero((chances == 0) | (chances > 1))).size:
        which = f"row {wrong[0]} has {chances[wrong[0]]}"
        raise ValueError(f"{what} must be above 0 and at most 1, but {which}")
    return rows.arranged(chances, given, what)
