"""Counts of batches that come one after the other, as in a training loop, and their evaluation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._kit.files import checked_path
from dmfroc._kit.options import integer, numbers
from dmfroc.analyses.catalogue import Measures
from dmfroc.analyses.evaluation import Evaluation, evaluation_of
from dmfroc.counted.batches import ONLY, Batch, BatchReader, Content, Fields, has_rows
from dmfroc.counted.bound import BinnedValue, BoundCounts
from dmfroc.counted.checkpoint import (
    counts_as_state,
    counts_from_state,
    sample_as_state,
    sample_from_state,
)
from dmfroc.counted.counts import Counts, Grid, default_n_bins, grid_from_sample, grid_from_user
from dmfroc.counted.estimates import CountedEvidence
from dmfroc.counted.influence_sums import Spreads
from dmfroc.counted.passes import sum_influences
from dmfroc.counted.sample import RowSample, rows_per_class
from dmfroc.counted.storage import read, write
from dmfroc.inference.options import DEFAULT_LEVEL, Options
from dmfroc.inputs.checks import one_class_message
from dmfroc.inputs.labels import Label, factorize
from dmfroc.inputs.messages import IN_MEMORY
from dmfroc.measures.measure import Measure
from dmfroc.measures.statistics.forecasts import as_probabilities, loss_numbers, wrong_probabilities
from dmfroc.multiclass.costs import PairWeights

_ROWS_TO_LEARN_FROM = 100_000


class Look(NamedTuple):
    """What a stream showed at one time.

    Attributes
    ----------
    n_observations : int
        Rows so far.
    value : float
        Value of the measure in all of them; NaN while it is not defined.
    interval : tuple of float
        Limits that hold at all times at once.
    """

    n_observations: int
    value: float
    interval: tuple[float, float]


class RunningTotals(NamedTuple):
    """How many rows there were and how many were right, and Brier scores.

    These have their sum and that of their squares, NaN if a row has a weight or no probabilities.
    """

    rows: int = 0
    right: int | None = 0
    brier: Float[np.ndarray, " 2"] = np.zeros(2)

    @classmethod
    def of(cls, batch: Batch) -> RunningTotals:
        """Return those of a batch."""
        predicted, brier = batch.predicted[ONLY], np.full(2, np.nan)
        p = as_probabilities(batch.scores[ONLY].T, batch.single(ONLY))
        if batch.weights is None and wrong_probabilities(p) is None:
            losses = loss_numbers(p, batch.true, np)[:, 0]
            brier = np.array([losses.sum(), losses @ losses])
        right = 0 if predicted is None else int((predicted == batch.true).sum())
        return cls(len(batch.true), right, brier)

    def plus(self, other: RunningTotals) -> RunningTotals:
        """Return those of both."""
        right = (self.right or 0) + (other.right or 0)
        return RunningTotals(self.rows + other.rows, right, self.brier + other.brier)


type Looks = dict[tuple[str, float], list[Look]]  # by measure and level


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
    hand_till 0.8610 (95 % jackknife interval 0.8483 to 0.8727)
    """

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
        self.labels: tuple[Label, ...] = tuple(factor.distinct[code] for code in factor.codes)
        self._reader = BatchReader(
            Fields(), tuple(factor.distinct), list(self.labels), are_of_earlier_pass=False
        )
        default = default_n_bins(len(self.labels))
        self._n_bins = default if n_bins is None else integer("n_bins", n_bins, 2)
        self._learn_from = integer("learn_from", learn_from, 1)
        self._cuts = cuts
        if isinstance(cuts, Accumulator):
            self._cuts = cuts.cuts
        elif cuts is not None:
            self._cuts = numbers("cuts", cuts)
            self._own_grid(float)  # to complain now
        self._content: Content | None = None
        self._is_whole = True
        self._grid: Grid | None = None
        self._counts: Counts | None = None
        self._waiting: list[Batch] = []  # for cut points
        self._sample: RowSample | None = None
        self._pending: list[RowSample] = []
        self._totals = RunningTotals()
        self.looks: Looks = {}  # at streams that are watched, by applications

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
            If an input is not what `Predictions.from_arrays` accepts, or the batch has weights,
            hard labels or scores of a type that those before did not have, or lacks theirs.
            Nothing of the batch is counted then.
        """
        raw = {"y_true": y_true, "y_score": y_score}
        raw |= {"sample_weight": sample_weight, "y_pred": y_pred}
        if not has_rows(raw, Fields()):
            return
        batch, content = self._reader.read(raw, "this batch")
        content = content if self._content is None else self._content.merged(content)
        grid = self._grid or self._own_grid(batch.scores[ONLY].dtype)
        k = len(self.labels)
        none = np.full(k, np.iinfo(np.uint64).max)
        limits = none if self._sample is None else self._sample.limits()
        drawn = RowSample.from_batch(batch, rows_per_class(k), limits)
        self._add(content, grid, [batch], [drawn], RunningTotals.of(batch))

    def _add(
        self,
        content: Content,
        grid: Grid | None,
        batches: list[Batch],
        drawn: list[RowSample],
        totals: RunningTotals,
        counted: Counts | None = None,
    ) -> None:
        """Add batches, or all that another accumulator has seen; the grid is None if none has."""
        self._check_whole()
        self._is_whole = False
        self._content = replace(content, where="the batches before")
        self._waiting += batches
        if grid is not None:
            counts = self._count(grid)
            self._counts = counts.merged(counted) if counted else counts
        self._pending += drawn
        if sum(len(sample.count) for sample in self._pending) > rows_per_class(len(self.labels)):
            self._drawn()
        self._totals = self._totals.plus(totals)
        if self._grid is None and self.n_observations >= self._learn_from:
            self._learned()
        self._is_whole = True

    def _own_grid(self, dtype: Any) -> Grid | None:
        if self._cuts is None:
            return None
        return grid_from_user(self._cuts, len(self.labels), dtype)

    def _check_whole(self) -> None:
        if not self._is_whole:
            raise ValueError(
                "an update was interrupted, and part of its batch may have been counted: start "
                "again from what was saved"
            )

    @property
    def sample(self) -> RowSample:
        """Rows drawn from all of them so far."""
        return self._drawn()

    def _drawn(self) -> RowSample:
        drawn = self._sample
        for sample in self._pending:
            drawn = sample if drawn is None else drawn.merged(sample)
        if drawn is None:
            raise ValueError("nothing has been accumulated: call update first")
        self._sample, self._pending = drawn, []
        return drawn

    def _learned(self) -> Grid:
        """Return the cut points, which are learned now if they have not been before."""
        if self._grid is None:
            self._count(grid_from_sample(self.sample, ONLY, self._n_bins))
        assert self._grid is not None
        return self._grid

    def _count(self, grid: Grid) -> Counts:
        """Count the batches that wait in the bins of a grid."""
        counts = Counts.empty({ONLY: grid}) if self._counts is None else self._counts
        for batch in self._waiting:
            counts.add(batch, {ONLY: grid})
        self._grid, self._counts, self._waiting = grid, counts, []
        return counts

    def merge(self, other: Accumulator) -> Accumulator:
        """Add all that another accumulator has seen, which stays as it is.

        Returns
        -------
        Accumulator
            This one.

        Raises
        ------
        TypeError, ValueError
            If the classes differ, both have cut points already and these differ, only one has
            weights or hard labels, or the types of the scores differ. Nothing is added then.
        """
        if not isinstance(other, Accumulator):
            raise TypeError(f"other must be an Accumulator, but it is a {type(other).__name__}")
        if other is self:
            raise ValueError("other is this accumulator itself: its rows would count twice")
        if other.labels != self.labels:
            raise ValueError(
                f"the classes differ: {list(self.labels)} and {list(other.labels)}; give both "
                "the same labels"
            )
        other._check_whole()
        if other._content is None:
            return self
        content = replace(other._content, where="the other accumulator")
        if self._content is not None:
            content = replace(self._content, where="this one").merged(content)
        dtype = np.dtype(content.form.scores[0])
        grid, of_other = (x._grid or x._own_grid(dtype) for x in (self, other))
        if grid is None:
            grid = of_other
        elif of_other is not None and not np.array_equal(grid.cuts, of_other.cuts):
            raise ValueError(
                "the cut points differ, so that the counts cannot be added: give one of the "
                "accumulators those of the other, Accumulator(labels, cuts=other)"
            )
        drawn = [] if other._sample is None else [other._sample]
        drawn += other._pending
        self._add(content, grid, other._waiting, drawn, other._totals, other._counts)
        return self

    def compute(
        self,
        measures: Measures = None,
        *,
        pair_weights: PairWeights = "equal",
        level: float = DEFAULT_LEVEL,
        stratify: bool | None = None,
    ) -> Evaluation:
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
        options = Options(stratify=stratify, level=level)
        _, counts, content = self._prepare()
        content.check_weights(counts.sizes)
        observed = np.flatnonzero(counts.sizes)
        if len(observed) < 2:
            raise ValueError(one_class_message("y_true", self.labels[observed[0]]))
        return evaluation_of(CountedEvidence(self, options), measures, pair_weights)

    @property
    def totals(self) -> RunningTotals:
        """How many rows there were and how many were right, and Brier scores.

        ``right`` is None without classes of the rows, and for rows with weights.
        """
        self._check_whole()
        form = self._content and self._content.form
        if not form or form.has_weights or not form.has_classes_of_rows[0]:
            return self._totals._replace(right=None)
        return self._totals

    def counted_now(self) -> tuple[np.ndarray, CountedEvidence]:
        """Return the table of predicted by observed classes, and what the counts say of measures.

        Cut points are not learned for that: it takes those that would be learned now.
        """
        if self._waiting:
            self._waiting = [Batch.joined(*self._waiting)]
        now = copy(self)
        _, counts, content = now._prepare()
        content.check_weights(counts.sizes)
        return counts.confusion[ONLY], CountedEvidence(now, Options())

    def _prepare(self) -> tuple[Grid, Counts, Content]:
        """Return all that has been seen, once it has cut points."""
        self._check_whole()
        if self._content is not None and not len(self.sample.count):
            self._content.check_weights(np.zeros(len(self.labels), int))
        grid = self._learned()
        assert self._counts is not None
        assert self._content is not None
        return grid, self._counts, self._content

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
        grid, counts, _ = self._prepare()
        return {ONLY: BoundCounts(counts, grid, ONLY, self.labels)}

    def values(self, measures: Sequence[Measure], classifier: str) -> list[BinnedValue]:
        """Return the values of measures."""
        bound = self.bound[classifier]
        return [bound.value(measure) for measure in measures]

    def spreads(
        self, values: Mapping[str, Sequence[BinnedValue]], *, stratify: bool | None
    ) -> Spreads:
        """Return how the influences of the sampled rows vary."""
        (grid, counts, _), sample = self._prepare(), self.sample
        sums = sum_influences(iter([sample.batch]), {ONLY: grid}, values, self.labels, sample.count)
        assert sums is not None
        totals = np.stack(list(map(self.bound[ONLY].totals_by_class, values[ONLY])))
        return Spreads(sums, sample.sizes, totals, counts, stratify)

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
        grid, counts, content = self._prepare()
        header, arrays = sample_as_state((content, self.sample))
        header |= {"labels": list(self.labels)}
        header |= {"looks": list(self.looks.items()), "right": self._totals.right}
        arrays |= counts_as_state((content, counts))[1] | {"cuts": grid.cuts}
        if np.isfinite(self._totals.brier).all():
            arrays |= {"brier": self._totals.brier}
        write(checked_path("path", path), header, arrays, "path")

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
            If it is another kind of file, damaged, or of a version that this dmfroc does not read.
        """
        path = checked_path("path", path)
        header, arrays = read(path)
        if "labels" not in header or "cuts" not in arrays:
            raise ValueError(f"{path}: this is no accumulator that dmfroc has saved")
        accumulator = cls(header["labels"])
        _, accumulator._sample = sample_from_state(header, arrays)
        accumulator._content, accumulator._counts = counts_from_state(header, arrays)
        accumulator._grid = Grid(arrays["cuts"])
        brier = arrays.get("brier", np.full(2, np.nan))
        accumulator._totals = RunningTotals(accumulator.n_observations, header["right"], brier)
        accumulator.looks = {
            (name, level): [Look(n, value, (low, high)) for n, value, (low, high) in looks]
            for (name, level), looks in header["looks"]
        }
        return accumulator
