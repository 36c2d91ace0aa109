"""Counts by column, bin and class: what every measure of a scan is computed from."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int, Shaped

from dmfroc._kit.memory import check_memory
from dmfroc.counted.batches import Batch
from dmfroc.counted.cuts import Grid
from dmfroc.inputs.predictions import Predictions


@dataclass(frozen=True, eq=False)
class Counts:
    """Sums over observations; those of two parts are added.

    Attributes
    ----------
    sizes : numpy.ndarray of int, shape (K,)
        Observations of each class.
    totals, squares : numpy.ndarray of shape (K,)
        Sums of their weights, and of the squares.
    cells : dict of numpy.ndarray of shape (K, bins, K)
        By classifier: weights by score column, bin and class.
    confusion : dict of numpy.ndarray of shape (K, K)
        Weights by predicted and observed class; zeros where there are no hard labels.
    extent : dict of numpy.ndarray of shape (2, K)
        Smallest and largest score of each column.
    """

    sizes: Int[np.ndarray, " k"]
    totals: Float[np.ndarray, " k"]
    squares: Float[np.ndarray, " k"]
    cells: dict[str, Float[np.ndarray, "k bins k"]]
    confusion: dict[str, Float[np.ndarray, "k k"]]
    extent: dict[str, Shaped[np.ndarray, "2 k"]]

    @classmethod
    def empty(cls, grids: dict[str, Grid]) -> Counts:
        """Return the counts of nothing."""
        [k] = {len(grid.cuts) for grid in grids.values()}
        n_bins = sum(grid.n_bins for grid in grids.values())
        check_memory(
            8 * k * k * n_bins, f"the table of {k} classes and {n_bins} bins", "choose fewer n_bins"
        )
        ends = np.array([np.inf, -np.inf])[:, None]
        return cls(
            np.zeros(k, np.int64),
            np.zeros(k),
            np.zeros(k),
            {name: np.zeros((k, grid.n_bins, k)) for name, grid in grids.items()},
            {name: np.zeros((k, k)) for name in grids},
            {name: np.tile(ends, (1, k)).astype(grid.cuts.dtype) for name, grid in grids.items()},
        )

    def add(self, batch: Batch, grids: dict[str, Grid]) -> None:
        """Count a batch, in place."""
        if not len(batch.true):
            return
        k = len(self.sizes)
        self.sizes[:] += np.bincount(batch.true, minlength=k)
        weights = batch.weights
        for sums, power in ((self.totals, 1), (self.squares, 2)):
            sums += np.bincount(batch.true, None if weights is None else weights**power, k)
        for name, grid in grids.items():
            scores, predicted = batch.scores[name], batch.predicted[name]
            for column in range(k):
                place = grid.bins(column, scores[column])
                place *= np.int32(k)
                place += batch.true
                _count(self.cells[name][column], place, weights)
            if predicted is not None:
                _count(self.confusion[name], predicted * k + batch.true, weights)
            low, high = self.extent[name]
            np.minimum(low, scores.min(axis=1), out=low)
            np.maximum(high, scores.max(axis=1), out=high)

    def check(self) -> None:
        """Refuse sums that are not those of the same observations.

        Raises
        ------
        ValueError
            If one is negative, or contradicts another.
        """
        tables = [*self.cells.values(), *self.confusion.values()]
        sums = [self.sizes, self.totals, self.squares, *tables]
        of_columns = [x for cells in self.cells.values() for x in cells.sum(axis=1)]
        of_labels = [x.sum(axis=0) for x in self.confusion.values() if x.any()]
        is_sound = (
            all((x >= 0).all() for x in sums)
            and all(np.allclose(x, self.totals, rtol=1e-6, atol=0) for x in of_columns + of_labels)
            and np.array_equal(self.sizes > 0, self.totals > 0)
            and (self.totals**2 <= 1.000001 * self.sizes * self.squares).all()
            and all((low <= high).all() for low, high in self.extent.values())
        )
        if not is_sound:
            raise ValueError("its sums are not those of the same rows")

    def merged(self, other: Counts) -> Counts:
        """Return the counts of both."""
        return Counts(
            self.sizes + other.sizes,
            self.totals + other.totals,
            self.squares + other.squares,
            {name: x + other.cells[name] for name, x in self.cells.items()},
            {name: x + other.confusion[name] for name, x in self.confusion.items()},
            {
                name: np.stack([np.minimum(x[0], y[0]), np.maximum(x[1], y[1])])
                for name, x in self.extent.items()
                for y in [other.extent[name]]
            },
        )

    def effective_sizes(self) -> Float[np.ndarray, " c"]:
        """Return Kish's effective number of observations of each class that occurs."""
        occurs = self.sizes > 0
        return self.totals[occurs] ** 2 / self.squares[occurs]

    def in_small(
        self, classifier: str, labels: tuple[Hashable, ...], typical_probability: float | None
    ) -> CountedPredictions:
        """Return predictions of one row for each cell of the table, weighted by what is in it.

        Probabilities are those of a row that gives this one to each class but the observed one.
        """
        confusion = self.confusion[classifier]
        has_labels = bool(confusion.any())
        table = confusion if has_labels else np.diag(self.totals)
        predicted, true = np.nonzero(table)
        k, p = len(labels), typical_probability
        scores = np.zeros((k, k)) if p is None else np.where(np.eye(k) > 0, 1 - (k - 1) * p, p)
        return CountedPredictions(
            labels,
            true.astype(np.int32),
            scores[true],
            table[predicted, true],
            predicted.astype(np.int32) if has_labels else None,
            sizes=self.sizes,
            # The sum of (w - 1)^2: weights may have a mean of 1
            has_weights=bool((self.squares - 2 * self.totals + self.sizes > 0).any()),
        )


def _count(
    cells: Float[np.ndarray, "a b"],
    place: Int[np.ndarray, " n"],
    weights: Float[np.ndarray, " n"] | None,
) -> None:
    """Add the weights to the cells at these places of the flattened table."""
    flat = cells.reshape(-1)
    if 8 * len(place) < flat.size:
        np.add.at(flat, place, 1.0 if weights is None else weights)
    else:
        flat += np.bincount(place, weights, flat.size)


@dataclass(frozen=True, eq=False, repr=False)
class CountedPredictions(Predictions):
    """What of a sample that is too large to hold can be said without its scores.

    Its rows stand for cells of the table of predicted against observed classes. It answers what
    measures ask of predictions before they are bound: classes, their sizes, hard labels.
    """

    sizes: Int[np.ndarray, " k"] = field(kw_only=True)
    has_weights: bool = field(kw_only=True)

    @property
    def has_all_scores(self) -> bool:
        return False

    @property
    def n_observations(self) -> int:
        return int(self.sizes.sum())

    @property
    def class_counts(self) -> Int[np.ndarray, " k"]:
        return self.sizes

    @property
    def is_weighted(self) -> bool:
        return self.has_weights
