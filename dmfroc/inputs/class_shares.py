"""Another population than the sample's: shares of its classes, and scores without labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import IntPerRow, PerRow
from dmfroc._kit.options import number, numbers
from dmfroc._kit.remarks import warn
from dmfroc.inputs.columns import Direction, Positive
from dmfroc.inputs.messages import IN_MEMORY, Source, listing
from dmfroc.inputs.of_rows import OfRows
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.scores import class_scores

_ROUNDING = 1e-6

type Cells = tuple[IntPerRow, PerRow]


@dataclass(frozen=True, eq=False, repr=False)
class Importance(OfRows):
    """A population by how much more often a row like each of the sample occurs in it.

    Attributes
    ----------
    weights : array-like of shape (n,) or (n, p)
        How much more often, up to a factor; or, with ``target``, features of the rows.
    target : array-like of shape (m, p), optional
        The same features of rows of the population: the ratio is estimated by logistic regression,
        with its error.

    Examples
    --------
    >>> Importance([1, 2, 1])
    Importance(weights=(3,))
    """

    per_row: ClassVar[tuple[str, ...]] = ("weights",)

    weights: Any
    target: Any = None


def shares_in_cells(predictions: Predictions) -> Cells:
    """Return a number of each row's class and fold, and the row's share in their weight."""
    fold, weights = 0 if predictions.folds is None else predictions.folds, predictions.sample_weight
    cell = predictions.n_classes * fold + predictions.true
    return cell, weights / np.maximum(np.bincount(cell, weights)[cell], 1e-300)


def in_class_shares(
    predictions: Predictions, shares: Float[np.ndarray, " k"], **facts: Any
) -> Predictions:
    """Return predictions in which each class has its share of the weight, in every fold."""
    if predictions.lacking_folds is not None:  # where the others cannot stand for a class
        raise ValueError(predictions.lacking_folds)
    cell, own = shares_in_cells(predictions)
    fold = cell // len(shares)
    of_fold = np.bincount(fold, predictions.sample_weight)[fold]
    of_classes = dict(zip(map(str, predictions.labels), shares.tolist(), strict=True))
    weights = own * shares[predictions.true] * of_fold
    return predictions.reweighted(weights, class_shares=of_classes, **facts)


def class_shares(given: Any, predictions: Predictions) -> Float[np.ndarray, " k"]:
    """Check the share of each class in a target population."""
    labels, k = predictions.labels, predictions.n_classes
    if isinstance(given, Mapping):
        unknown = [label for label in given if label not in labels]
        if unknown:
            raise ValueError(
                f"population names {listing(unknown)}, but the classes are {listing(labels)}"
            )
        lacking = [labels[c] for c in predictions.present if labels[c] not in given]
        if len(lacking) == 1 and len(given) == k - 1:
            given = {**given, lacking[0]: 1 - sum(given.values())}
        elif lacking:
            raise ValueError(f"population lacks the share of {listing(lacking)}")
        shares = np.array([number("population", given.get(x, 0.0)) for x in labels])
    elif isinstance(given, Real) and k == 2:
        positive = number("population", given)
        shares = np.array([1 - positive, positive])
    else:
        shares = numbers("population", given)
        shares = np.flip(shares) if predictions.is_turned else shares
    if shares.shape != (k,) or not (np.isfinite(shares) & (shares >= 0)).all():
        raise ValueError(
            f"population must give a share of each of the {k} classes, such as "
            f"{{{labels[0]!r}: 0.99, ...}}, but it is {given!r}"
        )
    if abs(shares.sum() - 1) > _ROUNDING:
        raise ValueError(f"the shares of population must add up to 1, not {shares.sum():g}")
    absent = [labels[c] for c in np.flatnonzero((shares > 0) & (predictions.class_counts == 0))]
    if absent:
        raise ValueError(
            f"population gives {listing(absent)} a share, but no row has that class: "
            "nothing is known of it"
        )
    if np.count_nonzero(shares) < 2:
        raise ValueError("population must give two classes or more a share")
    return shares / shares.sum()


def unlabelled(
    y_score: Any,
    labels: Sequence[Any],
    direction: Direction | None,
    source: Source = IN_MEMORY,
    *,
    is_turned: bool = False,
) -> Predictions:
    """Return predictions of the classes ``labels`` with scores, and one class everywhere.

    If the classes are turned, see `Predictions`, columns without names are in the order before.
    """
    order, n = list(labels[::-1] if is_turned else labels), len(y_score)
    positive = Positive(labels[1], direction)
    found = class_scores(y_score, n, order, order, source, positive=positive)
    warn(found.remarks)
    rows = np.zeros(n, np.int32), found.scores, np.ones(n)
    predictions = Predictions(tuple(order), *rows, None, single=found.single)
    return predictions.with_positive_class(labels[1]) if is_turned else predictions
