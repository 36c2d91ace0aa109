"""The table of predicted against observed classes, and everything that is computed from it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import PerClass
from dmfroc._kit.habits import names_alike
from dmfroc._kit.later import DataFrame
from dmfroc._kit.options import choice, nonnegative, numbers, proportion, refuse
from dmfroc._kit.options import positive as check_positive

# The functions of tables register themselves.
from dmfroc._kit.remarks import warn
from dmfroc.inputs.messages import listing
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures import agreement as _agreement  # noqa: F401
from dmfroc.measures import binary
from dmfroc.measures.cells import one_vs_rest
from dmfroc.measures.hard_labels import (
    never_observed_message,
    never_predicted_message,
    table_values,
)
from dmfroc.measures.measure import classes_message, no_hard_labels, undefined_values_message
from dmfroc.measures.statistics.confusion import confusion_counts
from dmfroc.results.result import Result
from dmfroc.results.table import Column, Table
from dmfroc.results.writers import as_text

Rows = Literal["predicted", "true"]


def _rows_of(table: Any) -> Rows:
    """Return which classes are in the rows of a table, by the names of its index and columns."""
    rows, columns = (str(x.name).casefold() for x in (table.index, table.columns))
    true, predicted = names_alike("y_true"), names_alike("y_pred")
    is_true = rows in true or columns in predicted
    if is_true == (rows in predicted or columns in true):
        raise ValueError(
            f"the names of rows and columns, {table.index.name!r} and {table.columns.name!r}, do "
            "not say which are predicted: call ContingencyTable.from_matrix(table, rows='true') if "
            "the rows are the observed classes, else rows='predicted'"
        )
    return "true" if is_true else "predicted"


@dataclass(frozen=True, eq=False, repr=False)
class ContingencyTable(Result):
    """How often each class was predicted where each class was observed.

    Build one with `from_matrix`, `from_cells`, `from_rates`, `from_labels` or `from_predictions`:
    the constructor itself hardly checks its arguments.

    Attributes
    ----------
    counts : numpy.ndarray of float64, shape (K, K)
        Rows are predicted classes and columns observed classes, as in Powers (2011). The tables of
        scikit-learn and most others are the transpose, ``counts.T``. Weighted data give sums of
        weights.
    labels : tuple of int, str or bool, length K
        The classes. Of two, the second is the positive one.

    Examples
    --------
    >>> table = ContingencyTable.from_matrix(
    ...     [[50, 10, 5], [3, 20, 2], [2, 5, 3]], rows="predicted"
    ... )
    >>> measures = table.measures()
    >>> round(measures["informedness"], 4), round(measures["markedness"], 4)
    (0.5201, 0.5767)
    >>> table.per_class()["recall"].round(4).to_list()
    [0.9091, 0.5714, 0.3]
    """

    main_table = "counts"
    json_names = ("total",)

    counts: Float[np.ndarray, "k k"]
    labels: tuple[Hashable, ...] = ()

    def __post_init__(self) -> None:
        if np.ndim(self.counts) != 2:
            raise TypeError("counts must be a matrix: of classes call ContingencyTable.from_labels")
        if len(self.labels) == 0:  # of a crosstab they are its own
            vars(self).update(vars(type(self).from_matrix(self.counts)))

    @classmethod
    def from_matrix(
        cls, matrix: Any, *, rows: Rows | None = None, labels: Any = None
    ) -> ContingencyTable:
        """Check a matrix of counts.

        Parameters
        ----------
        matrix : array-like of shape (K, K)
            Counts or weights, finite and >= 0. A data frame, such as a crosstab, has the classes as
            its index and columns; one of both may lack classes, which never occur there.
        rows : {"predicted", "true"}, optional
            Which classes are in the rows: ``"true"`` for the confusion matrix of scikit-learn. By
            default the names of the index and the columns of a data frame say so.
        labels : sequence of length K, optional
            The classes; by default those of the data frame, else 0 to K - 1.

        Returns
        -------
        ContingencyTable
            With predicted classes in its rows, whatever `rows` was.

        Raises
        ------
        TypeError, ValueError
            If the matrix is not square, holds anything but finite numbers >= 0 or nothing but
            zeros, or if `rows` or `labels` do not fit.

        Examples
        --------
        >>> from sklearn.metrics import confusion_matrix
        >>> y_true, y_pred = ["a", "b", "b"], ["b", "b", "b"]
        >>> ContingencyTable.from_matrix(
        ...     confusion_matrix(y_true, y_pred), rows="true", labels=["a", "b"]
        ... )
        ContingencyTable(3 in 2 classes; rows are predicted, columns true)
        predicted   a   b
        ─────────────────
        a           0   0
        b           1   2
        """
        if hasattr(matrix, "index") and hasattr(matrix, "columns"):
            index, columns = list(matrix.index), list(matrix.columns)
            classes = max(index, columns, key=len)
            if not {*index, *columns} <= {*classes} or len({*classes}) < len(classes):
                raise ValueError(
                    f"matrix has the classes {index} in its rows and {columns} in its columns: "
                    "both must be of the same classes, each once"
                )
            rows = _rows_of(matrix) if rows is None else rows
            matrix = matrix.reindex(index=classes, columns=classes, fill_value=0)
            labels = classes if labels is None else labels
            whole = matrix.to_numpy()
            if classes[-1] == "All" and whole[-1, -1] == whole[:-1, :-1].sum():
                raise ValueError("matrix has sums in its last row and column: leave margins out")
        if rows is None:
            raise ValueError(
                "rows='true' or rows='predicted' has to say which classes are in the rows of "
                "matrix: ContingencyTable.from_matrix(matrix, rows='true') for the confusion "
                "matrix of scikit-learn"
            )
        choice("rows", rows, get_args(Rows))
        counts = numbers("matrix", matrix)
        if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or len(counts) < 2:
            raise ValueError(
                f"matrix has shape {counts.shape}, but must have a row and a column for each of "
                "two or more classes"
            )
        unusable = np.argwhere(~(np.isfinite(counts) & (counts >= 0)))
        if len(unusable):
            row, column = unusable[0]
            raise ValueError(
                f"matrix has {counts[row, column]} in row {row}, column {column} (counting from "
                "0): counts must be finite and >= 0"
            )
        if not counts.any():
            raise ValueError("matrix is zero in every cell: some observations must count")
        try:
            names = tuple(range(len(counts)) if labels is None else labels)
            n_distinct = len(set(names))
        except TypeError as error:
            raise TypeError(f"labels must be a list of classes: {error}") from None
        if not len(names) == len(counts) == n_distinct:
            raise ValueError(
                f"labels must name each of the {len(counts)} classes once, not {listing(names)}"
            )
        return cls(counts if rows == "predicted" else counts.T.copy(), names)

    @classmethod
    def from_cells(cls, *, tp: Any, fp: Any, fn: Any, tn: Any) -> ContingencyTable:
        """Check the four cells of a two-by-two table; its classes are 0 and, positive, 1.

        Parameters
        ----------
        tp, fp, fn, tn : float
            True positives, false positives, false negatives and true negatives, >= 0.

        Returns
        -------
        ContingencyTable
            Of the classes 0 and 1.

        Raises
        ------
        ValueError
            If a cell is negative or not finite, or all are 0.

        Examples
        --------
        >>> table = ContingencyTable.from_cells(tp=30, fp=12, fn=30, tn=28)
        >>> round(table.measures()["informedness"], 12)
        0.2
        """
        for name, cell in {"tp": tp, "fp": fp, "fn": fn, "tn": tn}.items():
            nonnegative(name, cell)
        return cls.from_matrix([[tn, fn], [fp, tp]], rows="predicted")

    @classmethod
    def from_rates(cls, *, tpr: Any, fpr: Any, skew: Any = 1.0) -> ContingencyTable:
        """Return the proportions that a point of ROC space has under a given skew.

        All measures of this table are the skew and cost forms of Powers (2011), equations 10 to
        13: accuracy is (TPR + c (1 - FPR)) / (1 + c), and so on.

        Parameters
        ----------
        tpr, fpr : float
            True and false positive rate, in [0, 1].
        skew : float
            c > 0: negatives per positive, times the value of a negative over that of a positive
            where errors differ in cost; 1 makes all measures insensitive to skew.

        Returns
        -------
        ContingencyTable
            Of the classes 0 and 1; its cells sum to one, so that tests of it mean nothing.

        Raises
        ------
        ValueError
            If a rate is outside [0, 1] or the skew is not positive and finite.

        Examples
        --------
        >>> measures = ContingencyTable.from_rates(tpr=0.5, fpr=0.3, skew=2 / 3).measures()
        >>> round(measures["accuracy"], 12), round(measures["f1"], 12)
        (0.58, 0.588235294118)
        """
        tpr, fpr = proportion("tpr", tpr, "[0, 1]"), proportion("fpr", fpr, "[0, 1]")
        skew = check_positive("skew", skew)
        positive, negative = 1 / (1 + skew), skew / (1 + skew)
        return cls.from_cells(
            tp=tpr * positive, fp=fpr * negative, fn=(1 - tpr) * positive, tn=(1 - fpr) * negative
        )

    @classmethod
    def from_labels(
        cls, y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None
    ) -> ContingencyTable:
        """Count observed and predicted classes.

        Parameters
        ----------
        y_true, y_pred, labels, sample_weight
            As for `Predictions.from_labels`.

        Returns
        -------
        ContingencyTable
            Of all the labels, also of those that never occur or are never predicted. All
            observations may be of one class.

        Raises
        ------
        TypeError, ValueError
            If an input is not what `Predictions.from_labels` accepts.

        Examples
        --------
        >>> ContingencyTable.from_labels(["a", "b", "b"], ["a", "b", "a"])
        ContingencyTable(3 in 2 classes; rows are predicted, columns true)
        predicted   a   b
        ─────────────────
        a           1   1
        b           0   1
        """
        return cls.from_predictions(
            Predictions.from_labels(y_true, y_pred, labels=labels, sample_weight=sample_weight)
        )

    @classmethod
    def from_predictions(cls, predictions: Predictions) -> ContingencyTable:
        """Count the observed and the predicted classes of finished predictions.

        Parameters
        ----------
        predictions : Predictions
            With hard labels, given or from the largest score.

        Returns
        -------
        ContingencyTable
            Of the labels of the predictions.

        Raises
        ------
        ValueError
            If the predictions have no hard labels.

        Examples
        --------
        >>> predictions = Predictions.from_arrays([0, 1, 1], [[0.6, 0.4], [0.1, 0.9], [0.7, 0.3]])
        >>> ContingencyTable.from_predictions(predictions).counts
        array([[1., 1.],
               [0., 1.]])
        """
        refuse("a table", no_hard_labels(predictions))
        counts = confusion_counts(predictions).count(predictions.sample_weight, np)
        return cls(counts.cells, predictions.labels)

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return len(self.labels)

    @property
    def total(self) -> float:
        """Number of observations, or the sum of their weights."""
        return float(self.counts.sum())

    def __repr__(self) -> str:
        head = f"{self.total:g} in {self.n_classes} classes; rows are predicted, columns true"
        return f"{type(self).__name__}({head})\n{as_text(self._counted)}"

    __str__ = __repr__

    @property
    def warnings(self) -> tuple[str, ...]:
        """The conventions behind measures of classes that do not occur or are not predicted."""
        return tuple(filter(None, self._conventions()))

    @property
    def _counted(self) -> Table:
        kind: Literal["count", "number"] = "number" if (self.counts % 1).any() else "count"
        counts = [Column("predicted", "predicted", self.labels, "name")]
        for label, x in zip(map(str, self.labels), self.counts.T, strict=True):
            counts.append(Column(label, label, x.tolist(), kind))
        return Table("counts", "Counts", counts)

    def tables(self) -> list[Table]:
        """Return the counts, the measures, and those of each class against the rest."""
        names, of_classes = list(map(str, self.labels)), self.class_values
        values = [
            Column("measure", "measure", self.values, "name"),
            Column("value", "value", self.values.values()),
        ]
        by_class = np.stack(list(of_classes.values()), axis=1).tolist()
        classes = [Column("measure", "measure", of_classes, "name")]
        classes += [Column(k, k, x) for k, x in zip(names, by_class, strict=True)]
        return [
            self._counted,
            Table("measures", "Measures", values, is_by_name=True),
            Table("classes", "Measures of each class against the rest", classes, is_by_name=True),
        ]

    def to_pandas(self, table: str | None = None) -> DataFrame:
        """Return the counts, predicted classes in the rows, or another of the tables."""
        import pandas as pd

        if table is not None:
            return super().to_pandas(table)
        return pd.DataFrame(
            self.counts,
            index=pd.Index(self.labels, name="predicted"),
            columns=pd.Index(self.labels, name="true"),
        )

    def one_vs_rest(self, label: Hashable) -> ContingencyTable:
        """Return the two-by-two table of one class, positive, against all others.

        Parameters
        ----------
        label : int, str or bool
            One of the labels.

        Returns
        -------
        ContingencyTable
            Of the classes False and True.

        Raises
        ------
        ValueError
            If there is no such label.

        Examples
        --------
        >>> table = ContingencyTable.from_matrix(
        ...     [[50, 10, 5], [3, 20, 2], [2, 5, 3]], rows="predicted"
        ... )
        >>> table.one_vs_rest(2).counts
        array([[83.,  7.],
               [ 7.,  3.]])
        """
        if label not in self.labels:
            raise ValueError(f"label must be one of {list(self.labels)}, but it is {label!r}")
        own = np.arange(self.n_classes) == self.labels.index(label)
        membership = np.stack([~own, own]).astype(float)
        return type(self)(membership @ self.counts @ membership.T, (False, True))

    def with_prevalence(self, prevalence: Any) -> ContingencyTable:
        """Return the table that the same recalls and fallouts give under another class balance.

        Parameters
        ----------
        prevalence : sequence of float, length K
            Proportions or relative costs of the classes, > 0 for classes that occur; ones for
            measures that do not depend on the skew.

        Returns
        -------
        ContingencyTable
            With the same total; tests of it mean nothing.

        Raises
        ------
        ValueError
            If there is not one positive number per class, or a class without observations is to
            have a prevalence.

        Examples
        --------
        >>> table = ContingencyTable.from_cells(tp=30, fp=12, fn=30, tn=28)
        >>> round(table.with_prevalence([1, 1]).measures()["accuracy"], 12)
        0.6
        """
        wanted = numbers("prevalence", prevalence)
        if wanted.shape != (self.n_classes,) or not (np.isfinite(wanted) & (wanted >= 0)).all():
            raise ValueError(
                f"prevalence must hold a finite number >= 0 for each of {self.n_classes} classes, "
                f"but it is {prevalence!r}"
            )
        observed = self.counts.sum(axis=0)
        if (wanted[observed == 0] > 0).any() or not (wanted[observed > 0] > 0).all():
            raise ValueError(
                "prevalence must be positive for the classes that occur and 0 for those that never "
                f"do, but it is {prevalence!r}"
            )
        factors = wanted / np.where(observed > 0, observed, 1)
        return type(self)(self.counts * factors * (self.total / wanted.sum()), self.labels)

    @cached_property
    def values(self) -> dict[str, float]:
        """What `measures` returns, without its warnings."""
        return self._evaluated[0]

    @cached_property
    def class_values(self) -> dict[str, PerClass]:
        """The columns of `per_class`, without its warnings."""
        return self._evaluated[1]

    @cached_property
    def _evaluated(self) -> tuple[dict[str, float], dict[str, PerClass]]:
        return table_values(self.counts, self.labels)

    def measures(self) -> dict[str, float]:
        """Return every measure of the table by name; see the page on contingency measures.

        Returns
        -------
        dict of str to float
            For two classes also those that ask which class is positive: it is the second. Rates
            of nobody are NaN and likelihood ratios without false positives infinite, with a
            warning. Coefficients corrected for chance are 0 where a margin is empty, as for any
            other prediction that does not depend on the class, with a warning.

        Examples
        --------
        >>> table = ContingencyTable.from_cells(tp=30, fp=12, fn=30, tn=28)
        >>> {name: round(x, 3) for name, x in table.measures().items() if name[0] == "m"}
        {'markedness': 0.197, 'markedness_bias': 0.197, 'markedness_macro': 0.197,
         'macro_f1': 0.58, 'mutual_information': 0.02, 'miss_rate': 0.5}
        """
        warn([*self._conventions(), undefined_values_message(self.values)])
        return dict(self.values)

    def per_class(self) -> DataFrame:
        """Return every measure of each class against the rest.

        Returns
        -------
        pandas.DataFrame
            One row per class, one column per measure; what is not finite is so with a warning,
            as in `measures`.

        Examples
        --------
        >>> table = ContingencyTable.from_matrix([[4, 1], [1, 2]], rows="true", labels=["a", "b"])
        >>> round(float(table.per_class().loc["b", "precision"]), 3)
        0.667
        """
        import pandas as pd

        values = pd.DataFrame(self.class_values, index=pd.Index(self.labels, name="class"))
        undefined = ~np.isfinite(values.to_numpy()).all(axis=1)
        remark = classes_message(
            [label for label, is_so in zip(self.labels, undefined, strict=True) if is_so],
            "class has measures without a finite value",
            "classes have measures without a finite value",
        )
        warn([*self._conventions(), remark])
        return values

    def f_score(self, beta: Any = 1.0) -> PerClass:
        """Return the F measure of each class: recall counts beta times as much as precision.

        Parameters
        ----------
        beta : float
            Positive and finite.

        Returns
        -------
        numpy.ndarray of shape (K,)
            In [0, 1]; NaN for a class that neither occurs nor is predicted, with a warning.

        Raises
        ------
        ValueError
            If beta is not positive and finite.

        References
        ----------
        van Rijsbergen (1979), Information retrieval.

        Examples
        --------
        >>> ContingencyTable.from_cells(tp=30, fp=12, fn=30, tn=28).f_score(2).round(4)
        array([0.6422, 0.5319])
        """
        cells = one_vs_rest(self.counts / self.total, np)
        scores = binary.f_beta(cells, check_positive("beta", beta))
        names = (f"F of class {label!r}" for label in self.labels)
        warn([undefined_values_message(dict(zip(names, scores.tolist(), strict=True)))])
        return scores

    def _conventions(self) -> list[str | None]:
        return [
            never_observed_message(self._labels_where(self.counts.sum(axis=0) == 0)),
            never_predicted_message(self._labels_where(self.counts.sum(axis=1) == 0)),
        ]

    def _labels_where(self, is_so: Any) -> list[Hashable]:
        return [self.labels[k] for k in np.flatnonzero(is_so)]


def contingency_measures(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None
) -> dict[str, float]:
    """Return every measure of hard labels by name.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Observed classes.
    y_pred : array-like of shape (n,)
        Predicted classes.
    labels : array-like of shape (K,), optional
        All classes; by default those that occur in either. Of two, the second is positive.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.

    Returns
    -------
    dict of str to float
        As from `ContingencyTable.measures`.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_labels` accepts.

    Examples
    --------
    >>> measures = contingency_measures(["a", "a", "b", "c"], ["a", "b", "b", "c"])
    >>> round(measures["accuracy"], 4), round(measures["cohen_kappa"], 4)
    (0.75, 0.6364)
    """
    table = ContingencyTable.from_labels(y_true, y_pred, labels=labels, sample_weight=sample_weight)
    return table.measures()
