"""Measures bound to counts: their value, the bound on its error, and the influence of any row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from dmfroc._kit.arrays import IntPerClass, PerClass, value_and_derivatives
from dmfroc._kit.options import refuse
from dmfroc.counted.batches import Batch
from dmfroc.counted.binned import HALF, BinnedPairs, BinnedRates, PerCell, curves_of_cells
from dmfroc.counted.counts import Counts, Grid
from dmfroc.counted.thresholds import find_thresholds
from dmfroc.inputs.checks import AS_GIVEN
from dmfroc.inputs.labels import Label
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import SummariesOfCounts, Summary
from dmfroc.measures.measure import Measure, within
from dmfroc.measures.ranking import mean_pairwise_area
from dmfroc.measures.statistics.confusion import ConfusionCounts, confusion_counts
from dmfroc.measures.statistics.curves import CURVES
from dmfroc.measures.statistics.pairs import pair_counts
from dmfroc.measures.statistics.statistic import Statistic
from dmfroc.multiclass.costs import cell_weights, weight_matrices
from dmfroc.multiclass.curve import MulticlassROC, area, binary_curve, curve_of_rates
from dmfroc.multiclass.measure import curve_options_of
from dmfroc.multiclass.rates import LEAST_SHRINKAGE, CurveOptions, RateTable, ordered_pairs

_TAKE_SAMPLE = "estimate it from a sample of the rows, dmfroc.scan(...).predictions()"


type TableDerivative = tuple[Callable[[Predictions], Statistic], Any, Any]
"""A statistic that adds rows, its table, and a value's derivatives with respect to the table."""


class InfluenceTable(NamedTuple):
    """The influence of a row per unit of weight, by its bin in each column and its hard label.

    Attributes
    ----------
    columns : numpy.ndarray of int, shape (columns,)
        The score columns that take part.
    entry_of_class : numpy.ndarray of int, shape (columns, K)
        Which entry of a bin belongs to each observed class.
    scores : numpy.ndarray of shape (columns, bins, arms)
    labels : numpy.ndarray of shape (K, K), or None
        By predicted and observed class.
    rows : TableDerivative, optional
        What computes it from the row itself.
    """

    columns: Int[np.ndarray, " columns"] = np.zeros(0, int)
    entry_of_class: Int[np.ndarray, "columns k"] = np.zeros((0, 0), int)
    scores: Float[np.ndarray, "columns bins arms"] = np.zeros((0, 0, 0))
    labels: Float[np.ndarray, "k k"] | None = None
    rows: TableDerivative | None = None


def influences(
    influence_tables: Sequence[InfluenceTable],
    batch: Batch,
    classifier: str,
    grid: Grid,
    labels: Sequence[Label],
) -> Float[np.ndarray, "measures n"]:
    """Return the influences of a batch's rows on several values of one classifier."""
    values = np.zeros((len(influence_tables), len(batch.true)))
    predicted = batch.predicted[classifier]
    for column, scores in enumerate(batch.scores[classifier]):
        concerned = [
            (row, table, entry)
            for row, x in zip(values, influence_tables, strict=True)
            for place, entry, table in zip(*x[:3], strict=True)
            if place == column
        ]
        bins: Any = grid.bins(column, scores) if concerned else None
        for row, table, entry in concerned:
            place = bins * table.shape[1]
            place += entry[batch.true]
            row += table.take(place)
    for row, x in zip(values, influence_tables, strict=True):
        if x.labels is not None and predicted is not None:
            row += x.labels[predicted, batch.true]
    of_rows = [(row, *x.rows) for row, x in zip(values, influence_tables, strict=True) if x.rows]
    if of_rows:
        predictions = batch.predictions(classifier, labels)
        bound = {statistic: statistic(predictions) for _, statistic, *_ in of_rows}
        for row, statistic, table, derivatives in of_rows:
            row += bound[statistic].pull_back(predictions.sample_weight, table, derivatives)
    if batch.weights is not None:
        values *= batch.weights
    return values


class BinnedValue(NamedTuple):
    """A value of counts, the bound on its error from binning, and all influences on it."""

    value: float
    error_bound: float
    influence_table: InfluenceTable


@dataclass(frozen=True, eq=False)
class BoundCounts:
    """The counts of one classifier, ready for all measures.

    Attributes
    ----------
    row_tables : mapping, optional
        By classifier and statistic of measures that add rows: the table of all rows. None if rows
        cannot be read again.
    are_probabilities : bool
        Whether the scores are probabilities.
    """

    counts: Counts
    grid: Grid
    classifier: str
    labels: tuple[Label, ...]
    row_tables: Mapping[Any, Any] | None = None
    are_probabilities: bool = False

    @cached_property
    def predictions(self) -> Predictions:
        """One row for each cell of the table of hard labels, weighted by what is in it.

        Measures are asked what they say of it before they are bound.
        """
        counts, k = self.counts, len(self.labels)
        confusion = counts.confusion[self.classifier]
        has_labels = bool(confusion.any())
        # The sum of (w - 1)^2: weights may have a mean of 1
        has_weights = bool((counts.squares - 2 * counts.totals + counts.sizes > 0).any())
        table = confusion if has_labels else np.diag(counts.totals)
        predicted, true = np.nonzero(table)
        scores = self.are_probabilities * (1 + np.eye(k)) / (k + 1)
        return Predictions(
            self.labels,
            true.astype(np.int32),
            scores[true],
            table[predicted, true],
            predicted.astype(np.int32) if has_labels else None,
            sizes=counts.sizes,
            design={"weights": AS_GIVEN} if has_weights else {},
        )

    @cached_property
    def present(self) -> Int[np.ndarray, " c"]:
        """The classes that occur."""
        return np.flatnonzero(self.counts.sizes)

    @property
    def place_of_class(self) -> IntPerClass:
        """The place of each class among those that occur."""
        return np.cumsum(self.counts.sizes > 0) - 1

    @cached_property
    def cells(self) -> Float[np.ndarray, "c bins c"]:
        """The cells of classes that occur."""
        cells = self.counts.cells[self.classifier]
        if len(self.present) == len(cells):
            return cells
        return np.ascontiguousarray(cells[self.present][:, :, self.present])

    @cached_property
    def is_atom(self) -> Bool[np.ndarray, "c bins"]:
        """Which bins hold equal scores, in the columns of classes that occur."""
        return self.grid.is_atom()[self.present]

    def value(self, measure: Measure) -> BinnedValue:
        """Return a measure's value, its error bound, and what finds its influences.

        Raises
        ------
        ValueError
            If the measure is not defined for the sample, or cannot be computed from counts.
        """
        refuse(measure.name, self.refusal(measure) or measure.obstacle(self.predictions))
        options = curve_options_of(measure)
        if options is not None:
            if len(self.labels) == 2:
                weight_matrices(options.pair_weights, self.predictions)  # refuses what is none
                columns = np.array([len(self.present) - 1])
                return self._value_of_pairs(measure, mean_pairwise_area, columns)
            return self._value_of_rates(measure, options)
        assert measure.summary is not None
        if measure.adds_rows:
            return self._value_of_rows(measure, measure.summary)
        if measure.statistic is confusion_counts:
            return self._value_of_hard_labels(measure, measure.summary)
        if measure.statistic in CURVES:
            return self._value_of_curves(measure, measure.summary)
        return self._value_of_pairs(measure, measure.summary, np.arange(len(self.present)))

    def refusal(self, measure: Measure) -> str | None:
        """Say why a measure cannot be computed from counts of bins, or of rows, if that is so."""
        options = curve_options_of(measure)
        if options is not None:
            if options.rank > 1:
                return f"has rank 1 here: leave rank out, or {_TAKE_SAMPLE}"
            is_sample = options.n_pairs is not None
            all_pairs = f"takes all pairs of classes here: leave n_pairs out, or {_TAKE_SAMPLE}"
            return all_pairs if is_sample else None
        if measure.bind is not None:
            return (
                "is a function of all observations at once, not a summary of counts: "
                f"{_TAKE_SAMPLE}"
            )
        if measure.adds_rows and self.row_tables is not None:
            return None
        if measure.statistic not in (pair_counts, *CURVES, confusion_counts):
            return (
                "needs more of each row than in which bin of each column its scores are, such as a "
                "probability or the scores of several columns together, which counts do not show: "
                f"{_TAKE_SAMPLE}"
            )
        return None

    def totals_by_class(self, value: BinnedValue) -> PerClass:
        """Return the sums of all rows' influences on a value."""
        cells, total = self.counts.cells[self.classifier], np.zeros(len(self.labels))
        *of_scores, of_labels, _ = value.influence_table
        for column, entry, of_bins in zip(*of_scores, strict=True):
            total += (cells[column] * of_bins[:, entry]).sum(axis=0)
        if of_labels is not None:
            total += (self.counts.confusion[self.classifier] * of_labels).sum(axis=0)
        return total

    # Rows, each by itself

    def _value_of_rows(self, measure: Measure, summary: Summary) -> BinnedValue:
        assert self.row_tables is not None
        assert measure.statistic is not None
        table = self.row_tables[self.classifier, measure.statistic]
        value, derivatives = value_and_derivatives(summary, table)
        of_rows = measure.statistic, table, derivatives
        return BinnedValue(self._within(value, measure), 0.0, InfluenceTable(rows=of_rows))

    # Hard labels

    def _value_of_hard_labels(self, measure: Measure, summary: Summary) -> BinnedValue:
        table = self.counts.confusion[self.classifier]
        k = len(table)
        statistic = ConfusionCounts(np.arange(k * k), tuple(self.labels))
        value, off, gradient = self._bracketed(measure, summary, table.ravel(), statistic)
        return BinnedValue(value, off, InfluenceTable(labels=gradient.reshape(k, k)))

    # Pairs of classes

    def _value_of_pairs(
        self, measure: Measure, summary: Summary, columns: Int[np.ndarray, " columns"]
    ) -> BinnedValue:
        confusion, k = self.counts.confusion[self.classifier], len(self.labels)
        weights = np.concatenate([self.cells.ravel(), confusion.ravel()])
        is_present = self.counts.sizes > 0

        def statistic(ties_open: float) -> BinnedPairs:
            ties = np.where(self.is_atom[columns], HALF, ties_open)
            return BinnedPairs(self.cells.shape, columns, is_present, ties)

        by_ties = map(statistic, (HALF, 0.0, 1.0))
        value, off, gradient = self._bracketed(measure, summary, weights, *by_ties)
        of_cells, of_labels = np.split(gradient, [self.cells.size])
        return BinnedValue(value, off, self.influence_table(of_cells, of_labels.reshape(k, k)))

    def influence_table(
        self, of_cells: PerCell, of_labels: Float[np.ndarray, "k k"] | None = None
    ) -> InfluenceTable:
        """Return the influence of a row from the gradient by the cells of classes that occur."""
        entries = np.tile(self.place_of_class, (len(self.present), 1))
        return InfluenceTable(self.present, entries, of_cells.reshape(self.cells.shape), of_labels)

    # One class against the rest

    def _value_of_curves(self, measure: Measure, summary: Summary) -> BinnedValue:
        places = np.array([len(self.present) - 1])
        if len(self.labels) > 2:
            places = np.arange(len(self.present))
        own = self.cells[places, :, places]
        cells = np.stack([own, self.cells[places].sum(axis=2) - own], axis=-1)
        weights, columns = cells.ravel(), self.present[places]
        of_columns = self.is_atom[places], self.counts.sizes[columns]
        by_ties = (curves_of_cells(*of_columns, first) for first in (None, False, True))
        value, off, gradient = self._bracketed(measure, summary, weights, *by_ties)
        is_negative = (np.arange(len(self.labels)) != columns[:, None]).astype(int)
        table = InfluenceTable(columns, is_negative, gradient.reshape(cells.shape))
        return BinnedValue(value, off, table)

    # The multiclass ROC curve

    def _value_of_rates(self, measure: Measure, options: CurveOptions) -> BinnedValue:
        weights, by_places = self.cells.ravel(), self.rates(options)
        value, off, gradient = self._bracketed(measure, area, weights, *by_places)
        return BinnedValue(value, off, self.influence_table(gradient))

    def rates(self, options: CurveOptions) -> list[BinnedRates]:
        """Return what counts above the thresholds of all pairs, and above extreme ones if any."""
        extent = self.counts.extent[self.classifier][:, self.present]
        cuts, counted = self.grid.cuts[self.present], ordered_pairs(len(self.present))
        weights = cell_weights(options.pair_weights, self.predictions, counted)
        given = weights.reshape(-1, 2, 1), np.array(max(float(options.shrinkage), LEAST_SHRINKAGE))
        found = find_thresholds(self.cells, cuts, self.is_atom, extent, options)
        return [BinnedRates(self.cells.shape, counted, places, *given) for places in found]

    def curve(self, options: CurveOptions) -> MulticlassROC:
        """Return the multiclass ROC curve."""
        if len(self.labels) == 2:
            tp, fp = (self.cells[1, ::-1, place].cumsum() for place in (1, 0))
            changes = np.diff(tp + fp, prepend=0.0) > 0
            return binary_curve(tp[changes], fp[changes], self.labels)
        table: RateTable = self.rates(options)[0].count(self.cells.ravel(), np)
        return curve_of_rates(table, [self.labels[place] for place in self.present])

    def _bracketed(
        self,
        measure: Measure,
        summary: Summary,
        weights: PerCell,
        middle: Statistic,
        *ends: Statistic,
    ) -> tuple[float, float, PerCell]:
        """Return the value, how far off it may be, and its gradient by the weights.

        ``ends`` count what is open against the value and for it, if anything is.
        """
        [found], [gradient] = SummariesOfCounts(middle, (summary,)).values_and_gradients(weights)
        value = self._within(found, measure)
        low, high = [
            self._within(SummariesOfCounts(end, (summary,)).values(weights)[0], measure)
            for end in ends
        ] or (value, value)
        return value, max(high - value, value - low, 0.0), gradient

    def _within(self, value: Any, measure: Measure) -> float:
        return float(within(value, measure.range_in(self.predictions)))
