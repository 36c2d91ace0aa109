"""Validated predictions: the one input that every measure starts from.

Classes, scores, weights and hard labels are checked here, once. Score columns are matched to
classes by name wherever names exist, and rows by the index of pandas objects, if several have one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dmfroc._kit.files import checked_path
from dmfroc._kit.options import column_names, instance
from dmfroc._kit.remarks import collected_remarks, warn
from dmfroc._kit.text import printable
from dmfroc.inputs.arrays import Floats, Rows, read_only
from dmfroc.inputs.checks import Finished, Inputs, check_hard_labels, check_scores
from dmfroc.inputs.columns import Direction, Positive
from dmfroc.inputs.delimited import checked_format
from dmfroc.inputs.files import read
from dmfroc.inputs.labels import is_among, place_of_class
from dmfroc.inputs.messages import shortened
from dmfroc.inputs.subgroups import crossed, lacking_folds
from dmfroc.inputs.tables import Names


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """Class scores of one classifier with the classes that were observed, checked and immutable.

    Build one with `from_arrays`, `from_labels` or `from_file`: the constructor itself trusts its
    arguments. All arrays are read-only copies.

    Attributes
    ----------
    labels : tuple of int, str or bool, length K
        The classes, in column order.
    true : numpy.ndarray of int32, shape (n,)
        The observed class of each observation, as a position in `labels`.
    scores : numpy.ndarray of float32 or float64, shape (n, K)
        Finite scores, larger for a more likely class; rows need not sum to one. A single score s
        of two classes is in the column of the class that its large values speak for; the other
        column is -s.
    sample_weight : numpy.ndarray of float64, shape (n,)
        Weights >= 0, positive in total within each observed class; ones where none were given.
    predicted : numpy.ndarray of int32, shape (n,), or None
        Hard labels as positions in `labels`: the given ones, else the column of the largest score
        (the first of equals). None for a one-dimensional score without given hard labels, because
        it has no threshold of its own.
    folds : numpy.ndarray of int32, shape (n,), or None
        Of cross-validated predictions: the fold of each observation, see `in_folds`.
    index : pandas.Index, or None
        The index that names the given rows, if an input had one. Further inputs for the same rows,
        such as groups, are matched by it.
    frequency : numpy.ndarray of int64, or None
        How often each given row was observed. Further inputs are repeated likewise.
    ids : numpy.ndarray of shape (n,), or None
        Names of the rows, by which those of several classifiers are matched.
    unused : pyarrow.Table or None
        Columns of the file that had no use; they tell whether rows are in another order.
    has_scores : bool
        False if there are hard labels alone, whose scores are one-hot.
    single : int or None
        Of a one-dimensional score: the position in `labels` of the class that its large values
        speak for; None for a column per class.
    is_turned : bool
        Whether `with_positive_class` has reversed the order of the classes.
    file : str or None
        The file that it was read from, as `from_file` was given it.
    remarks : tuple of str
        The warnings of the checks, which are those of every result of the predictions, too.
    lacking_folds : str or None
        Why a measure that needs all classes has no value in some folds.
    doubtful_positive : str or None
        Why the second of two classes may not be the positive one, if nobody has named it.
    design : dict of str to object
        What else changes the meaning of values, by name, such as weights, folds or a horizon.
    sizes : numpy.ndarray of int64, shape (K,), or None
        Observations of each class if rows stand for cells of a table, as those of a scan.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"low": [0.7, 0.4, 0.1], "high": [0.3, 0.6, 0.9]})
    >>> predictions = Predictions.from_arrays(["low", "high", "high"], scores)
    >>> predictions
    Predictions(3 observations, 2 classes: high 2, low 1 (positive))
    >>> predictions.scores[0]  # in the order of the labels, not of the table
    array([0.3, 0.7])
    """

    labels: tuple[Hashable, ...]
    true: NDArray[np.int32]
    scores: Floats
    sample_weight: NDArray[np.float64]
    predicted: NDArray[np.int32] | None
    folds: NDArray[np.int32] | None = None
    index: Any = None
    ids: NDArray[Any] | None = None
    unused: Any = None
    has_scores: bool = True
    single: int | None = None
    is_turned: bool = False
    frequency: NDArray[np.int64] | None = None
    file: str | None = None
    remarks: tuple[str, ...] = ()
    lacking_folds: str | None = None
    doubtful_positive: str | None = None
    design: Mapping[str, Any] = field(default_factory=dict)
    sizes: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        # Views are read-only, and the arrays of whoever made them stay as they are
        self.__dict__.update(
            {x: read_only(v.view()) for x, v in vars(self).items() if isinstance(v, np.ndarray)}
        )

    @classmethod
    def from_arrays(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        y_pred: Any = None,
        frequency_weight: Any = None,
        id: Any = None,
        pos_label: Any = None,
        direction: Direction | None = None,
    ) -> Predictions:
        """Check labels and scores held in memory.

        Lists, NumPy and JAX arrays, whatever converts to a NumPy array, and the columns and tables
        of pandas, polars and pyarrow are accepted.

        Rows are matched by index if several inputs have one, those of pandas and xarray. An index
        of 0, 1, ..., n - 1 in order only counts the rows: such inputs are matched by position.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Observed classes: all int, all str or all bool. Whole floats count as int, categorical
            columns as the categories they hold.
        y_score : array-like or table of shape (n, K), or (n,) or (n, 1) for K = 2
            Any real scores. The columns of a table are matched to classes by name: the name is
            the class, or the class after a prefix that all columns share, as in ``score_setosa``.
            Columns without names are taken in the order of `labels`, and so are those of a table
            with the default names 0, 1, ... of pandas or ``column_0``, ``column_1``, ... of
            polars. A single column is the score of the positive class, and so must not bear the
            name of the other. Scores of 32 bits or fewer become float32, others float64.
        labels : array-like of shape (K,), optional
            The classes in column order. Default: in the order that ordered categories of `y_true`
            or `y_pred` state (pandas, Enum of polars), else sorted. They are taken from the column
            names if there are names, else from `y_true`. Text that is all numbers is sorted as
            numbers. Needed if a column without a name belongs to a class that `y_true` lacks, or if
            labels of columns without names, such as ``"2"`` and ``"10"``, have two orders.
        sample_weight : array-like of shape (n,), optional
            Finite weights >= 0; the largest at most 1e50 times the smallest positive one. Only
            their ratios matter: extreme ones are scaled by a power of two.
        y_pred : array-like of shape (n,), optional
            Hard labels, where they are not simply the class of the largest score.
        frequency_weight : array-like of shape (n,), optional
            How often each row was observed, whole numbers >= 0: the result, with standard errors,
            is that of so many copies. Further arguments, such as groups, have one entry per row.
        id : array-like of shape (n,), optional
            Names of the rows, all different, by which those of several classifiers are matched.
        pos_label : hashable, optional
            The positive one of two classes, by default the second of the labels, or one of more
            classes, which is judged against the rest, see `with_positive_class`. As in
            scikit-learn, a single column is the score of this class, whichever it is: `labels`
            states an order, and not whose score it is.
        direction : {">=", "<="}, optional
            Of a single column: whether large values speak for the positive class, the default, or
            small ones. Thresholds stay those of the given values: a row is predicted positive if
            its score is at least, or at most, the threshold. Values between 0 and 1 that are
            small for the positive class are taken for the probability of the other class.

        Returns
        -------
        Predictions
            A column whose class never occurs in `y_true` is kept, see `absent_labels`.

        Raises
        ------
        TypeError
            If labels are of mixed or unsupported kinds, or scores or weights are not real numbers.
        ValueError
            If an input is empty, of the wrong shape or length, or holds values without a meaning.
            If fewer than two classes occur, or classes and columns do not correspond one to one.

        Examples
        --------
        >>> Predictions.from_arrays([0, 2, 2], [[3, 1, 0], [0, 1, 2], [1, 1, 1]], labels=[0, 1, 2])
        Predictions(3 observations, 3 classes: 0 1, 2 2; absent: 1)
        """
        inputs = Inputs(y_true, y_score, labels, sample_weight, y_pred, frequency_weight, id)
        inputs = inputs._replace(positive=Positive(pos_label, direction))
        return cls._checked(check_scores, inputs)._with_positive(pos_label)

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        frequency_weight: Any = None,
        id: Any = None,
    ) -> Predictions:
        """Check observed and hard labels of a classifier without scores.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,)
            Observed and predicted classes, as in `from_arrays` and of the same kind.
        labels : array-like of shape (K,), optional
            All classes in order. Default: those that occur, as ordered categories state, or sorted.
        sample_weight, frequency_weight, id : array-like of shape (n,), optional
            As in `from_arrays`.

        Returns
        -------
        Predictions
            Its scores are one-hot, 1 for the predicted class. A class that never occurs in `y_true`
            is kept. All may be of one class: only measures of hard labels take that.

        Raises
        ------
        TypeError, ValueError
            As in `from_arrays`, or if a label is not in `labels`.

        Examples
        --------
        >>> predictions = Predictions.from_labels(["a", "b", "b"], ["a", "b", "c"])
        >>> predictions
        Predictions(3 observations, 3 classes: a 1, b 2; absent: c)
        >>> predictions.scores
        array([[1., 0., 0.],
               [0., 1., 0.],
               [0., 0., 1.]])
        """
        inputs = Inputs(y_true, None, labels, sample_weight, y_pred, frequency_weight, id)
        return cls._checked(check_hard_labels, inputs)

    @classmethod
    def _checked(cls, check: Callable[[Inputs], Finished], inputs: Inputs) -> Predictions:
        """Check the inputs, and give the warnings."""
        fields, remarks = check(inputs)
        warn(remarks)
        return cls(**fields, remarks=remarks)

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        label: str,
        scores: str | Sequence[str] | None = None,
        labels: Any = None,
        sample_weight: str | None = None,
        y_pred: str | None = None,
        frequency_weight: str | None = None,
        id: str | None = None,
        other_columns: Sequence[str] = (),
        truth: str | os.PathLike[str] | None = None,
        drop_label: Any = None,
        where: Mapping[str, Any] | None = None,
        drop_missing: bool | Sequence[str] = False,
        pos_label: Any = None,
        direction: Direction | None = None,
        separator: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
    ) -> Predictions:
        r"""Read and check the predictions in a file.

        Parameters
        ----------
        path : str or path-like
            ``.csv``, ``.tsv``, ``.tab`` or ``.txt``, JSON (``.jsonl``, ``.ndjson``, ``.json``; all
            also with ``.gz``), ``.parquet``, ``.feather`` or ``.arrow``, with one row per
            observation and score columns named as in `from_arrays`. Or ``.npz`` with an array of
            labels, an array of scores and, optionally, an array ``labels`` of the classes in column
            order.
        label : str
            Name of the column (``.npz``: array) of observed classes.
        scores : str or sequence of str, optional
            Names of the score columns, or patterns such as ``"prob_*"``; default: all columns not
            named by another argument. Columns that match no class are then ignored with a warning,
            unless they may be those of classes without observations, which is an error. If no name
            matches, columns and `labels` belong together in the order given. Without scores but
            `y_pred`, hard labels are judged. For ``.npz`` the name of the score array, by default
            ``y_score``. A single score column belongs to the class it is named after: if that is
            not the positive one, small values speak for the positive class. If it names none, it
            belongs to `pos_label`, by default the second of `labels`, or the larger of 0 and 1.
        labels : array-like of shape (K,), optional
            The classes in column order, as in `from_arrays`. Where the file's labels are numbers
            or booleans, text stands for the label it spells.
        sample_weight, y_pred, frequency_weight, id : str, optional
            Names of the columns (``.npz``: arrays) of weights, hard labels, counts and row names.
        other_columns : sequence of str
            Names of columns with another use, such as folds or subgroups: they are no scores.
        truth : str or path-like, optional
            Another file, with the labels, or with a column of 0 and 1 for each class, such as
            `label`. Its rows are matched by the column that `id` names.
        drop_label : label or array-like of labels, optional
            Labels of rows to be left out, such as -100; ``""`` for a missing one. Then an ``.npz``
            file may have labels of shape (n, m) with scores of shape (n, m, K).
        where : dict, optional
            By column, the value or list of values of the rows to be kept: ``{"split": "test"}``.
        drop_missing : bool or sequence of str
            Whether to leave out rows without a label or a score, or a value in further columns.
        pos_label, direction
            As in `from_arrays`; text stands for the label it spells, as for `labels`.
        separator, decimal, encoding : str, optional
            Of a file of text: what separates cells (one character, or ``"tab"``), the decimal mark
            (``"."`` or ``","``), and the encoding. By default they are detected, or refused.

        Returns
        -------
        Predictions
            As from `from_arrays`.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        TypeError, ValueError
            As in `from_arrays`, with the path, columns and data rows, counted from 1. Also
            ValueError if the file cannot be read, is of an unsupported kind, or lacks a column.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "scores.csv")
        ...     _ = path.write_text("species,p_a,p_b\na,0.9,0.1\nb,0.3,0.7\n")
        ...     Predictions.from_file(path, label="species")
        Predictions(2 observations, 2 classes: a 1, b 1 (positive))
        """
        file = checked_path("path", path)
        try:
            given = {"label": label, "sample_weight": sample_weight, "y_pred": y_pred}
            given |= {"frequency_weight": frequency_weight, "id": id}
            columns = {
                argument: instance(argument, column, str)
                for argument, column in given.items()
                if column is not None or argument == "label"
            }
            if scores is not None and not isinstance(scores, str):
                scores = column_names("scores", scores, least=0)
            if not isinstance(drop_missing, bool):
                drop_missing = column_names("drop_missing", drop_missing, least=0)
            others = tuple(column_names("other_columns", other_columns, least=0))
            text = checked_format(separator, decimal, encoding)
            kept = drop_label, instance("where", {} if where is None else where, dict), drop_missing
            names = Names(columns, scores, labels, others, text, truth, *kept)
            with collected_remarks() as remarks:
                fields, found = read(file, names, Positive(pos_label, direction))
            predictions = cls(**fields, file=str(file))._with_positive(pos_label)
        except (TypeError, ValueError, MemoryError) as error:
            kind = next((x for x in (TypeError, MemoryError) if isinstance(error, x)), ValueError)
            raise kind(f"{file}: {error}") from error
        return predictions.warned(*remarks, *found)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what was pickled or copied; its arrays are read-only as those of the original."""
        self.__dict__.update(state)
        self.__post_init__()

    @cached_property
    def n_observations(self) -> int:
        """Number of observations, n."""
        return len(self.true) if self.sizes is None else int(self.sizes.sum())

    @property
    def n_given(self) -> int:
        """Number of rows that were given; with ``frequency_weight`` not that of observations."""
        return self.n_observations if self.frequency is None else len(self.frequency)

    @property
    def given_rows(self) -> Rows:
        """The rows that were given, by which further inputs are arranged."""
        return Rows(self, frequency=self.frequency)

    def has_class(self, label: Any) -> bool:
        """Whether this is one of the labels; it may be anything."""
        return is_among(self.labels, label)

    @property
    def direction(self) -> Direction | None:
        """Whether large or small values of a single score speak for the positive class."""
        return None if self.single is None else ">=" if self.single == 1 else "<="

    @property
    def has_all_scores(self) -> bool:
        """Whether all scores are held here, and not counted in bins."""
        return self.sizes is None

    @cached_property
    def n_classes(self) -> int:
        """Number of classes with a score column, K, observed or not."""
        return len(self.labels)

    @cached_property
    def class_counts(self) -> NDArray[np.int64]:
        """Observations of each class, shape (K,), regardless of their weights."""
        if self.sizes is not None:
            return self.sizes
        return read_only(np.bincount(self.true, minlength=self.n_classes).astype(np.int64))

    @cached_property
    def class_totals(self) -> NDArray[np.float64]:
        """Total weight of each class, shape (K,)."""
        return read_only(np.bincount(self.true, self.sample_weight, self.n_classes))

    @cached_property
    def counted(self) -> Predictions:
        """The predictions without the rows of weight zero, which count for nothing."""
        counts = self.sample_weight > 0
        return self if counts.all() and self.frequency is None else self.rows(counts)

    def rows(self, chosen: NDArray[Any]) -> Predictions:
        """Return the predictions of some of the observations, unchecked: a class may lack."""
        names = ("true", "scores", "sample_weight", "predicted", "folds", "ids")
        some = {x: array[chosen] for x in names if (array := getattr(self, x)) is not None}
        index = None if self.index is None or self.frequency is not None else self.index[chosen]
        return replace(self, **some, index=index, unused=None, frequency=None)

    def in_folds(self, folds: Any) -> Predictions:
        """Return the predictions as those of a cross-validation.

        A measure's value is then its mean over the folds: the scores of different folds come from
        different fits, and are never compared. Measures that need all classes are refused if a
        fold lacks one.

        Parameters
        ----------
        folds : array-like of shape (n,), or of shape (n, 2), or table or list of two columns
            Name of the fold in which each observation was held out; with repeated
            cross-validation, in long format, of the repeat and the fold.

        Raises
        ------
        ValueError
            If `folds` has another length, missing values or one fold only.

        Examples
        --------
        >>> import dmfroc
        >>> predictions = Predictions.from_arrays([0, 1, 0, 1], [0.2, 0.9, 0.4, 0.3])
        >>> dmfroc.estimate("hand_till", predictions, folds=[1, 1, 2, 2]).value  # mean of 1 and 0
        0.5
        """
        rows = self.given_rows
        names, group = crossed(folds, self.n_given, rows, "folds", "a fold")
        lacking = lacking_folds(names, group, self.true, self.labels, self.sample_weight)
        codes = group.astype(np.int32)
        if self.folds is not None and not np.array_equal(codes, self.folds):
            raise ValueError("folds are others than those of the predictions: leave one out")
        design = {**self.design, "folds": len(names)}
        return replace(self, folds=codes, index=rows.index, lacking_folds=lacking, design=design)

    def with_positive_class(self, pos_label: Hashable) -> Predictions:
        """Return predictions of two classes whose second, the positive one, is the given class.

        Of more than two classes, it is that class against the rest: by its column of scores and,
        where there are hard labels, by whether they name it.

        Options in the order of the labels, such as costs and shares, keep the order that the labels
        had before. A one-dimensional score keeps its meaning, too: a probability p of one class is
        the probability 1 - p of the other.

        Parameters
        ----------
        pos_label : hashable
            One of the classes.

        Raises
        ------
        ValueError
            If it is none of the classes.

        Examples
        --------
        >>> Predictions.from_labels(["ill", "well"], ["ill", "ill"]).with_positive_class("ill")
        Predictions(2 observations, 2 classes: well 1, ill 1 (positive))
        """
        labels = self.labels
        place = place_of_class(pos_label, labels)
        design = {**self.design, "positive_class": labels[place]}
        named = replace(self, design=design, doubtful_positive=None)
        if len(labels) == 2 and place == 1:
            return named
        is_positive = (np.arange(len(labels)) == place).astype(np.int32)
        hard = None if self.predicted is None else is_positive[self.predicted]
        named = replace(named, true=is_positive[self.true], predicted=hard)
        if len(labels) > 2:
            own: Any = np.asarray(self.scores)[:, place]
            classes, scores = (f"not {labels[place]}", labels[place]), np.column_stack([-own, own])
            return replace(named, labels=classes, scores=scores, single=1)
        return replace(
            named,
            labels=labels[::-1],
            scores=self.scores[:, ::-1].copy(order="C"),
            single=None if self.single is None else 1 - self.single,
            is_turned=not self.is_turned,
        )

    def warned(self, *messages: str | None) -> Predictions:
        """Give warnings, and return the predictions with them."""
        told = tuple(x for x in messages if x is not None)
        warn(told)
        return replace(self, remarks=(*self.remarks, *told)) if told else self

    def _with_positive(self, pos_label: Any) -> Predictions:
        return self if pos_label is None else self.with_positive_class(pos_label)

    @cached_property
    def as_given(self) -> Predictions:
        """The predictions with the classes in the order of ``labels=``, or in sorted order."""
        given = self.with_positive_class(self.labels[0]) if self.is_turned else self
        return replace(given, design=self.design)

    def reweighted(self, sample_weight: NDArray[np.float64], **facts: Any) -> Predictions:
        """Return the same predictions with other weights, unchecked, and facts of the design."""
        return replace(self, sample_weight=sample_weight, design={**self.design, **facts})

    @cached_property
    def present(self) -> NDArray[np.int64]:
        """Positions in `labels` of the classes with observations, ascending."""
        return read_only(np.flatnonzero(self.class_counts).astype(np.int64))

    @cached_property
    def absent_labels(self) -> tuple[Hashable, ...]:
        """Classes with a score column but no observation."""
        return tuple(self.labels[code] for code in np.flatnonzero(self.class_counts == 0))

    @cached_property
    def is_weighted(self) -> bool:
        """Whether any weight differs from one."""
        if self.sizes is not None:
            return "weights" in self.design
        return bool(np.any(self.sample_weight != 1))

    def __repr__(self) -> str:
        counts = [
            f"{printable(self.labels[code])} {self.class_counts[code]}" for code in self.present
        ]
        if self.n_classes == 2 and 1 in self.present:
            of_score = "" if self.single in (None, 1) else ", the class of small scores"
            counts[-1] += f" (positive{of_score})"
        absent = [printable(label) for label in self.absent_labels]
        return (
            f"Predictions({self.n_observations} observations, {self.n_classes} classes: "
            + shortened(counts)
            + (f"; absent: {shortened(absent)}" if absent else "")
            + ("; weighted)" if self.is_weighted else ")")
        )
