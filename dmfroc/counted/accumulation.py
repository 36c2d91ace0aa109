"""Counts of batches that come one after the other, as in a training loop, and their evaluation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dmfroc.analyses.evaluation import CountedEvaluation, evaluate_counted
from dmfroc.counted.batches import ONLY, Batch, BatchReader, Fields
from dmfroc.counted.bound import BoundCounts, Valued, totals_by_class
from dmfroc.counted.checkpoint import (
    counts_as_arrays,
    counts_from,
    sample_as_arrays,
    sample_from,
)
from dmfroc.counted.counts import Counts
from dmfroc.counted.cuts import Grid, default_n_bins, grid_from_sample, grid_from_user
from dmfroc.counted.influence_sums import Spreads
from dmfroc.counted.passes import SumInfluences
from dmfroc.counted.sample import RowSample, rows_per_class
from dmfroc.counted.storage import read, write
from dmfroc.inference.options import DEFAULT_LEVEL, Options
from dmfroc.inputs.labels import Label, factorize
from dmfroc.inputs.messages import IN_MEMORY
from dmfroc.measures.measure import Measure
from dmfroc.multiclass.costs import PairWeights

_ROWS_TO_LEARN_FROM = 100_000


class Accumulator:
    """Evaluates a classifier batch by batch; what it has seen can be merged, saved and loaded.

    It counts scores in bins, as `dmfroc.scan` does, and keeps a sample of the rows, of each class
    up to 32,768, from which the standard errors are found. Neither depends on the order of the
    rows, or on how they are divided into batches.

    Parameters
    ----------
    labels : array-like of shape (K,)
        All classes, in the order of the score columns.
    cuts : array-like of shape (bins - 1,) or (K, bins - 1), or Accumulator, optional
        Cut points of the score columns, for all of them or one row for each, or the accumulator
        whose cut points to use. Accumulators that are to be merged must have the same. By default
        they are learned from the first rows.
    n_bins : int, optional
        How many bins to learn, at least 2; by default as for `dmfroc.scan`.
    learn_from : int
        Number of rows from which cut points are learned; until then batches are kept.

    Attributes
    ----------
    labels : tuple of label
        The classes.

    Raises
    ------
    TypeError, ValueError
        If labels or cuts are not usable, or both cuts and n_bins are given.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> accumulator = Accumulator([0, 1, 2])
    >>> for step in range(20):
    ...     y = rng.integers(3, size=64)
    ...     accumulator.update(y, rng.normal(size=(64, 3)) + 1.5 * np.eye(3)[y])
    >>> accumulator.n_observations
    1280
    >>> print(accumulator.compute(["hand_till"]).estimates["hand_till"])
    hand_till 0.8610 (95 % jackknife interval 0.8485 to 0.8725)
    """

    exact = False

    def __init__(
        self,
        labels: Any,
        *,
        cuts: Any = None,
        n_bins: int | None = None,
        learn_from: int = _ROWS_TO_LEARN_FROM,
    ) -> None:
        factor = factorize(labels, "labels", IN_MEMORY)
        if len(factor.distinct) < len(factor.codes) or len(factor.distinct) < 2:
            raise ValueError(f"labels must name two classes or more, each once, not {labels!r}")
        if n_bins is not None and cuts is not None:
            raise TypeError("n_bins and cuts cannot both be given: cuts decide how many there are")
        if not (n_bins is None or (isinstance(n_bins, int | np.integer) and n_bins >= 2)):
            raise ValueError(f"n_bins must be an integer >= 2, but it is {n_bins!r}")
        if not (isinstance(learn_from, int | np.integer) and learn_from >= 1):
            raise ValueError(f"learn_from must be a positive integer, but it is {learn_from!r}")
        self.labels: tuple[Label, ...] = tuple(factor.distinct[code] for code in factor.codes)
        self._reader = BatchReader(Fields(), tuple(factor.distinct), list(self.labels))
        self._n_bins = default_n_bins(len(self.labels)) if n_bins is None else n_bins
        self._learn_from = learn_from
        self._cuts = cuts
        if isinstance(cuts, Accumulator):
            self._cuts = cuts._learned().cuts
        elif cuts is not None:
            grid_from_user(cuts, len(self.labels), float)  # to complain now
        self._grid: Grid | None = None
        self._counts: Counts | None = None
        self._waiting: list[Batch] = []  # for cut points
        self._sample: RowSample | None = None
        self._pending: list[RowSample] = []

    def __repr__(self) -> str:
        return f"Accumulator({self.n_observations} observations, {len(self.labels)} classes)"

    @property
    def n_observations(self) -> int:
        """Number of observations so far, but for those of weight zero."""
        counted = 0 if self._counts is None else int(self._counts.sizes.sum())
        return counted + sum(len(batch.true) for batch in self._waiting)

    @property
    def cuts(self) -> np.ndarray:
        """The cut points, shape (K, bins - 1), infinite where a column has fewer."""
        return self._learned().cuts

    def update(
        self, y_true: Any, y_score: Any, *, sample_weight: Any = None, y_pred: Any = None
    ) -> None:
        """Add a batch.

        Parameters
        ----------
        y_true, y_score, sample_weight, y_pred
            As for `Predictions.from_arrays`; the scores of all batches must have one type. A batch
            may lack classes.

        Raises
        ------
        TypeError, ValueError
            If an input is not what `Predictions.from_arrays` accepts, or the scores are of
            another type than before.
        """
        raw = {"y_true": y_true, "y_score": y_score}
        raw |= {"sample_weight": sample_weight, "y_pred": y_pred}
        self._add(self._reader.read(raw))

    def _add(self, batch: Batch) -> None:
        if self._grid is None and self._cuts is not None:
            self._fix(grid_from_user(self._cuts, len(self.labels), batch.scores[ONLY].dtype))
        if self._grid is not None:
            assert self._counts is not None
            self._counts.add(batch, {ONLY: self._grid})
        else:
            self._waiting.append(batch)
        self._draw(batch)
        if self._grid is None and self.n_observations >= self._learn_from:
            self._learned()

    def _draw(self, batch: Batch) -> None:
        k = len(self.labels)
        size = rows_per_class(k)
        none = np.full(k, np.iinfo(np.uint64).max)
        limits = none if self._sample is None else self._sample.limits()
        self._pending.append(RowSample.of_batch(batch, k, size, limits))
        if sum(len(sample.true) for sample in self._pending) > size:
            self._drawn()

    @property
    def sample(self) -> RowSample:
        """Rows drawn from all of them so far."""
        return self._drawn()

    def _drawn(self) -> RowSample:
        for sample in self._pending:
            self._sample = sample if self._sample is None else self._sample.merged(sample)
        self._pending = []
        if self._sample is None:
            raise ValueError("nothing has been accumulated: call update first")
        return self._sample

    def _fix(self, grid: Grid) -> None:
        self._grid, self._counts = grid, Counts.empty({ONLY: grid})
        for batch in self._waiting:
            self._counts.add(batch, {ONLY: grid})
        self._waiting = []

    def _learned(self) -> Grid:
        """Return the cut points, which are learned now if they have not been before."""
        if self._grid is None:
            self._fix(grid_from_sample(self.sample, ONLY, self._n_bins))
        assert self._grid is not None
        return self._grid

    def merge(self, other: Accumulator) -> Accumulator:
        """Add all that another accumulator has seen, which stays as it is.

        Returns
        -------
        Accumulator
            This one.

        Raises
        ------
        ValueError
            If the classes differ, or both have cut points already and these differ.
        """
        if other.labels != self.labels:
            raise ValueError(
                f"the classes differ: {list(self.labels)} and {list(other.labels)}; give both "
                "the same labels"
            )
        if self._grid is not None and other._grid is not None:
            if not np.array_equal(self._grid.cuts, other._grid.cuts):
                raise ValueError(
                    "the cut points differ, so that the counts cannot be added: give one of the "
                    "accumulators those of the other, Accumulator(labels, cuts=other)"
                )
        elif other._grid is not None:
            self._fix(other._grid)
        if self._grid is not None and other._waiting:
            assert self._counts is not None
            for batch in other._waiting:
                self._counts.add(batch, {ONLY: self._grid})
        elif self._grid is None:
            self._waiting = self._waiting + other._waiting
        if other._counts is not None:
            assert self._counts is not None
            self._counts = self._counts.merged(other._counts)
        self._pending += [*([] if other._sample is None else [other._sample]), *other._pending]
        return self

    def compute(
        self,
        measures: Sequence[str | Measure] | Literal["all"] | None = None,
        *,
        pair_weights: PairWeights = "equal",
        level: float = DEFAULT_LEVEL,
        stratify: bool | None = None,
    ) -> CountedEvaluation:
        """Evaluate all that has been seen.

        Parameters
        ----------
        measures, pair_weights, level, stratify
            As for `evaluate`; the method is the jackknife.

        Returns
        -------
        Evaluation
            Every value with the bound of its error by binning.

        Raises
        ------
        ValueError
            If nothing has been accumulated, or as for `evaluate` of a scan.
        """
        options = Options(None, stratify, level)
        self._learned()
        return evaluate_counted(self, measures, pair_weights, None, options)

    # What the evaluation asks for

    @property
    def classifiers(self) -> tuple[str, ...]:
        """The one classifier, which has no name."""
        return (ONLY,)

    @property
    def has_groups(self) -> bool:
        """Whether rows belong together: here they never do."""
        return False

    @property
    def bound(self) -> Mapping[str, BoundCounts]:
        """The counts, ready for all measures."""
        assert self._counts is not None
        return {ONLY: BoundCounts(self._counts, self._learned(), ONLY, self.labels)}

    def value(self, measure: Measure, classifier: str) -> Valued:
        """Return a measure's value."""
        return self.bound[classifier].value(measure)

    def spreads(self, values: Mapping[str, Sequence[Valued]], *, stratify: bool | None) -> Spreads:
        """Return how the influences of the sampled rows vary."""
        assert self._counts is not None
        sample, k = self.sample, len(self.labels)
        look_ups = {name: [x.look_up for x in of_one] for name, of_one in values.items()}
        n_values = len(look_ups[ONLY])
        grids = {ONLY: self._learned()}
        task = SumInfluences(self._reader, grids, look_ups, np.eye(n_values), k)
        sums = task.of_batch(sample.as_batch(), sample.count)
        drawn = np.bincount(sample.true, sample.count, k).astype(int)
        return Spreads(sums, drawn, totals_by_class(self.bound, look_ups), self._counts, stratify)

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save what has been seen, to be loaded and merged another day.

        Parameters
        ----------
        path : path
            A file, by convention ``.npz``; it holds arrays and JSON, nothing that is executed.

        Raises
        ------
        ValueError
            If nothing has been accumulated, or the file cannot be written. A link stays a link,
            an existing file keeps its mode, and devices and pipes are not replaced.
        """
        grid = self._learned()
        assert self._counts is not None
        header, arrays = sample_as_arrays(self.sample)
        arrays |= counts_as_arrays(self._counts)[1] | {"cuts": grid.cuts}
        write(Path(path), header | {"labels": list(self.labels)}, arrays, "path")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Accumulator:
        """Return what was saved.

        Parameters
        ----------
        path : path
            A file that `save` has written.

        Returns
        -------
        Accumulator
            To which batches can be added.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If it is another kind of file, or of a version that this dmfroc does not read.
        """
        header, arrays = read(Path(path))
        if "labels" not in header or "cuts" not in arrays:
            raise ValueError(f"{path}: this is no accumulator that dmfroc has saved")
        found = cls(header["labels"])
        found._grid = Grid(arrays["cuts"])
        found._counts = counts_from(header, arrays)
        found._sample = sample_from(header, arrays)
        return found
