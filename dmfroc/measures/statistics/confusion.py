"""The table of predicted against observed classes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import AnyArray, AnyPerRow, PerRow, sum_at
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.statistic import Statistic


class ConfusionMatrix(NamedTuple):
    """Weights of the cells; rows are predicted, columns observed classes.

    ``labels`` are the classes.
    """

    cells: Float[AnyArray, "k k"]
    labels: tuple[Hashable, ...]


@dataclass(frozen=True, eq=False)
class ConfusionCounts(Statistic):
    """Adds each observation to its cell."""

    cell: Int[AnyArray, " n"]
    labels: tuple[Hashable, ...]

    def count(self, weights: AnyPerRow, xp: Any) -> ConfusionMatrix:
        k = len(self.labels)
        return ConfusionMatrix(sum_at(self.cell, weights, k**2, xp).reshape(k, k), self.labels)

    def pull_back(
        self, weights: PerRow, table: ConfusionMatrix, derivatives: ConfusionMatrix
    ) -> PerRow:
        return derivatives.cells.ravel()[self.cell]


def confusion_counts(predictions: Predictions) -> ConfusionCounts:
    """Bind the table to predictions with hard labels."""
    assert predictions.predicted is not None
    cell = predictions.predicted * predictions.n_classes + predictions.true
    return ConfusionCounts(cell, predictions.labels)


def label_values(labels: Sequence[Hashable]) -> tuple[float, ...]:
    """Return the classes as numbers, also those written as text; empty if one is no number."""
    try:
        values = tuple(float(label) for label in labels)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ()
    return values if np.isfinite(values).all() else ()
