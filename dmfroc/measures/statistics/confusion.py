"""The table of predicted against observed classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import AnyArray, sum_at
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.statistic import Statistic


class ConfusionMatrix(NamedTuple):
    """Weights of the cells; rows are predicted, columns observed classes."""

    cells: Float[AnyArray, "k k"]


@dataclass(frozen=True, eq=False)
class ConfusionCounts(Statistic):
    """Adds each observation to its cell."""

    cell: Int[AnyArray, " n"]
    n_classes: int

    def count(self, weights: Float[AnyArray, " n"], xp: Any) -> ConfusionMatrix:
        cells = sum_at(self.cell, weights, self.n_classes**2, xp)
        return ConfusionMatrix(cells.reshape(self.n_classes, self.n_classes))

    def pull_back(
        self,
        weights: Float[np.ndarray, " n"],
        table: ConfusionMatrix,
        derivatives: ConfusionMatrix,
    ) -> Float[np.ndarray, " n"]:
        return derivatives.cells.ravel()[self.cell]


def confusion_counts(predictions: Predictions) -> ConfusionCounts:
    """Bind the table to predictions with hard labels."""
    assert predictions.predicted is not None
    n_classes = predictions.n_classes
    return ConfusionCounts(predictions.predicted * n_classes + predictions.true, n_classes)
