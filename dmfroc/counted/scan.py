"""A lazy counterpart of Predictions: what is read in passes instead of held in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from dmfroc._kit.arrays import IntPerClass
from dmfroc._kit.options import column_names, instance, integer, numbers
from dmfroc._kit.version import package_version
from dmfroc.counted.batches import (
    ONLY,
    Batch,
    BatchReader,
    Content,
    Fields,
    changed_error,
    check_rows,
    has_rows,
    items_of,
    stated_order_of_batch,
)
from dmfroc.counted.bound import BinnedValue, BoundCounts
from dmfroc.counted.checkpoint import (
    Checkpoint,
    counts_as_state,
    counts_from_state,
    rows_as_state,
    rows_from_state,
    sample_as_state,
    sample_from_state,
)
from dmfroc.counted.counts import Counts, Grid, default_n_bins, grid_from_sample, grid_from_user
from dmfroc.counted.engine import State, map_reduce
from dmfroc.counted.influence_sums import Spreads
from dmfroc.counted.passes import (
    Read,
    add_rows,
    blaming,
    count,
    draw_rows,
    labels_of_part,
    read_part,
    sum_influences,
)
from dmfroc.counted.sample import RowSample, even_sizes, rows_per_class
from dmfroc.counted.sources import FramePart, ParquetPart, SourcePart, parts_of
from dmfroc.inputs.labels import Label, factorize
from dmfroc.inputs.messages import IN_MEMORY
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import Measure
from dmfroc.measures.statistics.forecasts import no_probabilities

_NO_ROWS = "source is empty: at least one of its files or batches must have rows"


@dataclass(frozen=True, eq=False)
class Scan:
    """Predictions that are read in passes; made by `dmfroc.scan`.

    Attributes
    ----------
    labels : tuple of label, length K
        The classes, in column order; they are looked for when they are first asked for.
    classifiers : tuple of str
        Names of the classifiers; one empty name where there is one classifier only.
    """

    parts: Sequence[SourcePart]
    fields: Fields
    given_labels: list[Label] | None
    n_bins: int | None
    cuts: Mapping[str, np.ndarray]
    scheduler: str | None
    checkpoint: Checkpoint

    @property
    def classifiers(self) -> tuple[str, ...]:
        """Names of the classifiers; one empty name where there is one classifier only."""
        return self.fields.classifiers

    def __repr__(self) -> str:
        of = "" if self.classifiers == (ONLY,) else f", classifiers {', '.join(self.classifiers)}"
        return f"Scan({len(self.parts)} part{'s' * (len(self.parts) != 1)}{of})"

    # Passes

    def _run[S: State](
        self,
        task: Callable[[Iterator[Batch]], S | None],
        description: str,
        *,
        by_place: bool = False,
    ) -> tuple[Content, S]:
        reading = partial(read_part, reader=self.reader, task=task, by_place=by_place)
        read: Read[S] | None = map_reduce(reading, self.parts, self.scheduler, description)
        if read is None:
            raise changed_error("there are no rows now")
        self._check_first(read.content)
        return read.content, read.state

    def _run_again[S: State](
        self, task: Callable[[Iterator[Batch]], S | None], description: str
    ) -> tuple[Content, S]:
        content, result = self._run(task, description)
        self.content.check_same(content)
        return content, result

    @cached_property
    def _rows_by_label(self) -> dict[Label, int]:
        def find() -> dict[Label, int]:
            task = partial(labels_of_part, fields=self.fields)
            labels = map_reduce(task, self.parts, self.scheduler, "Labels")
            if labels is None:
                raise ValueError(_NO_ROWS)
            return labels.rows

        return self.checkpoint.kept("labels", find, rows_as_state, rows_from_state)

    @cached_property
    def reader(self) -> BatchReader:
        """What reads batches: it knows all labels."""
        distinct = tuple(sorted(self._rows_by_label))
        for part in self.parts:
            for raw in part.batches(self.fields):
                with blaming(part, part.first_row):
                    if has_rows(raw, self.fields):
                        is_given = self.given_labels is not None
                        stated = () if is_given else stated_order_of_batch(raw, self.fields)
                        reader = BatchReader(self.fields, distinct, self.given_labels, stated)
                        return reader.informed(raw)
        raise changed_error("there are no rows now")

    @property
    def labels(self) -> tuple[Label, ...]:
        """The classes, in column order."""
        return self.reader.classes

    @cached_property
    def _drawn(self) -> tuple[Content, RowSample]:
        find = partial(self._draw, rows_per_class(len(self.labels)), "Cut points")
        drawn = self.checkpoint.kept("sample", find, sample_as_state, sample_from_state)
        self._check_first(drawn[0])
        return drawn

    def _draw(
        self, size: int | IntPerClass, description: str, *, by_place: bool = False
    ) -> tuple[Content, RowSample]:
        """Draw a sample with so many rows of each class."""
        no_limits = np.full(len(self.labels), np.iinfo(np.uint64).max)
        task = partial(draw_rows, size=size, limits=no_limits)
        content, sample = self._run(task, description, by_place=by_place)
        content.check_weights(sample.sizes)
        return content, sample

    def _check_first(self, content: Content) -> None:
        check_rows(self.labels, self._rows_of_classes.tolist(), content.rows)

    @property
    def _rows_of_classes(self) -> IntPerClass:
        return np.array([self._rows_by_label.get(label, 0) for label in self.labels])

    @property
    def content(self) -> Content:
        """What identifies the rows, which must be the same in all passes."""
        return self._drawn[0]

    @property
    def sample(self) -> RowSample:
        """Rows drawn from all of them."""
        return self._drawn[1]

    @property
    def has_groups(self) -> bool:
        """Whether rows belong together."""
        return self.content.form.has_groups

    @cached_property
    def grids(self) -> dict[str, Grid]:
        """The cut points of each classifier's score columns."""
        k = len(self.labels)
        if self.cuts:
            scores = self.sample.batch.scores
            return {
                name: grid_from_user(cuts, k, scores[name].dtype)
                for name, cuts in self.cuts.items()
            }
        n_bins = default_n_bins(k) if self.n_bins is None else self.n_bins
        return {name: grid_from_sample(self.sample, name, n_bins) for name in self.classifiers}

    @cached_property
    def counts(self) -> Counts:
        """The counts by column, bin and class."""
        find = partial(self._run_again, partial(count, grids=self.grids), "Counts")
        content, counts = self.checkpoint.kept("counts", find, counts_as_state, counts_from_state)
        self.content.check_same(content)
        return counts

    @cached_property
    def bound(self) -> dict[str, BoundCounts]:
        """The counts of each classifier, ready for all measures."""
        bound = {}
        for name in self.classifiers:
            message = no_probabilities(self.sample.batch.predictions(name, self.labels))
            of_rows = self._row_tables, message is None
            bound[name] = BoundCounts(self.counts, self.grids[name], name, self.labels, *of_rows)
        return bound

    @cached_property
    def _row_tables(self) -> dict[tuple[str, Any], Any]:
        return {}

    def predictions(self, n: int = 1_000_000) -> Predictions | dict[str, Predictions]:
        """Return a sample of the rows in memory, for all that a scan refuses.

        It has as many rows of each class as of any other, or all rows of a class with fewer. Within
        a class every row is as likely to be drawn. Weights give the classes the shares that they
        have among all rows, and add up to the weight of all rows. The same source gives the same
        sample, whatever the number of cores.

        Standard errors and intervals are those of the rows drawn, as a warning of results states.

        Parameters
        ----------
        n : int
            How many rows to draw, at least 2; all rows if there are fewer. They are held in memory,
            once for each classifier.

        Returns
        -------
        Predictions, or dict of them
            By name of the classifier if the scan has several, as `compare` takes them.

        Raises
        ------
        ValueError
            If n is too small for a row of each class, or rows belong together in groups.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> y = rng.choice(3, size=5000, p=[0.8, 0.15, 0.05])
        >>> import dmfroc
        >>> scan = dmfroc.scan([(y, rng.normal(size=(5000, 3)) + 1.5 * np.eye(3)[y])])
        >>> scan.predictions(900)
        Predictions(900 observations, 3 classes: 0 326, 1 325, 2 249; weighted)
        """
        k, rows = len(self.labels), self._rows_of_classes
        size = even_sizes(integer("n", n, 2), rows)
        if (size[rows > 0] == 0).any():
            raise ValueError(f"n must be at least the number of classes, {k}, but it is {n}")
        content, sample = self._draw(size, "Sample", by_place=True)
        if content.form.has_groups:
            raise ValueError(
                "rows of the scan belong together in groups, which a sample of rows would divide: "
                "estimate what the scan itself has, or read all rows with Predictions.from_file"
            )
        totals = self.counts.totals if content.form.has_weights else rows.astype(float)
        samples = {
            name: sample.predictions(name, self.labels, totals, int(rows.sum()))
            for name in self.classifiers
        }
        return samples[ONLY] if self.classifiers == (ONLY,) else samples

    # Values

    def values(self, measures: Sequence[Measure], classifier: str) -> list[BinnedValue]:
        """Return the values of measures for a classifier, with their influences."""
        asked: Any = dict.fromkeys(m.statistic for m in measures if m.adds_rows)
        new = [x for x in asked if (classifier, x) not in self._row_tables]
        if new:
            task = partial(
                add_rows, statistics=new, classifiers=self.classifiers, labels=self.labels
            )
            self._row_tables.update(self._run_again(task, "Rows")[1].tables)
        return [self.bound[classifier].value(measure) for measure in measures]

    # Influences

    def spreads(
        self, values: Mapping[str, Sequence[BinnedValue]], *, stratify: bool | None
    ) -> Spreads:
        """Return how the influences on the values of each classifier vary.

        Of several classifiers, those of every two's differences follow, pair after pair.
        """
        task = partial(sum_influences, grids=self.grids, values=values, labels=self.labels)
        _, sums = self._run_again(task, "Influences")
        return Spreads(sums, self.counts.sizes, sums.powers[0], self.counts, stratify)


def scan(
    source: Any,
    *,
    label: str | None = None,
    scores: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None = None,
    labels: Any = None,
    predicted: str | Mapping[str, str] | None = None,
    sample_weight: str | None = None,
    groups: str | None = None,
    n_bins: int | None = None,
    cuts: Any = None,
    scheduler: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Scan:
    """Read predictions in passes instead of into memory.

    `evaluate`, `estimate` and `compare` take the result where they take `Predictions`. Nothing is
    read before that. Scores are counted in bins; every value comes with a guaranteed bound on the
    error that this makes, and with the jackknife's standard error from all rows. `Scan.predictions`
    draws a sample of the rows for all other functions, methods and measures.

    Parameters
    ----------
    source : path, sequence of paths, dataset, Dask DataFrame, or batches
        Parquet: a file, a directory, a pattern such as ``"scores/*.parquet"``, a list of files or
        a dataset of pyarrow. A Dask DataFrame. Or batches: a list, or a function that returns a
        new iterator whenever it is called, of ``(labels, scores)`` or of dicts with ``y_true``,
        ``y_score`` and, if need be, ``sample_weight``, ``y_pred`` and ``groups``.
    label : str, optional
        Name of the column of observed classes; batches have none.
    scores : str, sequence of str, or dict of them, optional
        Names of the score columns, as for `Predictions.from_file`; a dict has those of several
        classifiers, to be compared. Batches have such a dict of arrays as their scores.
    labels : array-like of shape (K,), optional
        The classes in column order, as for `Predictions.from_file`.
    predicted : str, or dict of str, optional
        Name of the column of hard labels; of several classifiers, by their names.
    sample_weight, groups : str, optional
        Names of the columns of weights, and of what belongs together (patients, documents).
    n_bins : int, optional
        Bins of each score column, at least 2; by default 65,536, and fewer from 23 classes on,
        such that a table by column, bin and class takes at most 256 MB.
    cuts : array-like of shape (K, bins - 1) or (bins - 1,), or dict of them, optional
        Cut points of the score columns, to be used instead of quantiles of a sample.
    scheduler : str, optional
        Address of a Dask scheduler; by default the cores of this machine do the work.
    checkpoint : path, optional
        A directory for what each pass has found: a run that was interrupted, or is repeated for
        other measures, goes on from there. It is for one source, the same columns and bins, and one
        version of dmfroc: anything else is refused, files that were written again too.

    Returns
    -------
    Scan

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError, ValueError
        If the source is of another kind or an option out of its range. What is wrong with the
        data, in the words of `Predictions.from_file`, is said when they are read. So it is if
        batches differ in what they have (weights, hard labels, groups, types), or if the data
        change between two passes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> batches = []
    >>> for _ in range(5):
    ...     y = rng.integers(3, size=1000)
    ...     batches.append((y, rng.normal(size=(1000, 3)) + 1.5 * np.eye(3)[y]))
    >>> import dmfroc
    >>> print(dmfroc.estimate("hand_till", dmfroc.scan(batches, n_bins=1024)))
    hand_till 0.8542 (95 % jackknife interval 0.8478 to 0.8604; binning error at most 2.4e-04)
    """
    if n_bins is not None:
        n_bins = integer("n_bins", n_bins, 2)
    if n_bins is not None and cuts is not None:
        raise TypeError("n_bins and cuts cannot both be given: cuts decide how many bins there are")
    if not (scheduler is None or (isinstance(scheduler, str) and scheduler)):
        raise TypeError(f"scheduler must be the address of a Dask scheduler, not {scheduler!r}")
    parts = parts_of(source)
    is_table = isinstance(parts[0], ParquetPart | FramePart)
    if is_table and label is None:
        raise TypeError("label is missing: name the column of observed classes")
    columns: dict[str, Any] = {"label": label, "scores": scores, "predicted": predicted}
    columns |= {"sample_weight": sample_weight, "groups": groups}
    given = [name for name, value in columns.items() if value is not None]
    if not is_table and given:
        raise TypeError(f"{', '.join(given)} name columns of tables, and batches have none")
    fields = _fields(**columns)
    if not is_table:
        names = _classifiers_of(parts[0])
        nowhere = (None,) * len(names)
        fields = Fields(names, scores=nowhere, predicted=nowhere)
    if labels is not None:
        factor = factorize(labels, "labels", IN_MEMORY)
        labels = [factor.distinct[code] for code in factor.codes]
    cuts = _checked_cuts(cuts, fields.classifiers)
    key = {
        "version of dmfroc": package_version(),
        "source": [part.identity for part in parts],
        "columns": fields,
        "labels": labels,
        "n_bins or cuts": [n_bins, {name: x.tolist() for name, x in cuts.items()}],
    }
    return Scan(parts, fields, labels, n_bins, cuts, scheduler, Checkpoint.at(checkpoint, key))


def _checked_cuts(cuts: Any, classifiers: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the cuts of each classifier, none at all if there are none."""
    if cuts is None:
        return {}
    if not isinstance(cuts, Mapping):
        cuts = dict.fromkeys(classifiers, cuts)
    elif set(cuts) != set(classifiers) or classifiers == (ONLY,):
        wanted = "an array" if classifiers == (ONLY,) else f"an array, or a dict of {classifiers}"
        raise ValueError(f"cuts must be {wanted}, but it is a dict of {list(cuts)}")
    return {name: numbers("cuts", cuts[name]) for name in classifiers}


def _fields(
    scores: Any, predicted: Any, label: str | None, sample_weight: str | None, groups: str | None
) -> Fields:
    def names(value: Any) -> str | tuple[str, ...] | None:
        is_name = value is None or isinstance(value, str)
        return value if is_name else tuple(column_names("scores", value))

    if not isinstance(scores, Mapping):
        scores, hard = {ONLY: scores}, {ONLY: predicted}
    elif len(scores) < 2:
        raise ValueError("scores as a dict must name the columns of two classifiers or more")
    else:
        hard = {} if predicted is None else predicted
    if not isinstance(hard, Mapping) or set(hard) - set(scores):
        raise TypeError("predicted must be a dict with names of classifiers, as scores is")
    columns = [("label", label), ("sample_weight", sample_weight), ("groups", groups)]
    for argument, column in [*columns, *(("predicted", column) for column in hard.values())]:
        if column is not None:
            instance(argument, column, str)
    return Fields(
        tuple(map(str, scores)),
        label,
        tuple(map(names, scores.values())),
        tuple(map(hard.get, scores)),
        sample_weight,
        groups,
    )


def _classifiers_of(part: SourcePart) -> tuple[str, ...]:
    """Return the names of the classifiers of batches."""
    for raw in part.batches(Fields()):
        y_score = items_of(raw)[1]
        return tuple(map(str, y_score)) if isinstance(y_score, Mapping) else (ONLY,)
    raise ValueError(_NO_ROWS)
