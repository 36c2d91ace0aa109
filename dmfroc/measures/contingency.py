"""Measures of hard labels: functions of the table of predicted against observed classes.

Bound to predictions, a function of the table is a function of the weights. All of them share the
one table, and are counted, differentiated and compiled together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int

from dmfroc._backend import share
from dmfroc.measures import binary
from dmfroc.measures._gradient import value_and_jacobian
from dmfroc.measures.base import (
    BoundMeasure,
    Measure,
    classes_message,
    has_hard_labels,
    value_of,
)
from dmfroc.measures.table import (
    TABLE_FUNCTIONS,
    Table,
    TableFunction,
    Weighting,
    confusion_matrix,
)
from dmfroc.predictions import Predictions

# Conventions for empty margins


def never_observed_message(labels: Sequence[Hashable]) -> str | None:
    """Say by which convention classes that never occur enter informedness."""
    return classes_message(
        labels,
        "class never occurs and its informedness counts as 0",
        "classes never occur and their informedness counts as 0",
    )


def never_predicted_message(labels: Sequence[Hashable]) -> str | None:
    """Say by which convention classes that are never predicted enter markedness."""
    return classes_message(
        labels,
        "class is never predicted and its markedness counts as 0",
        "classes are never predicted and their markedness counts as 0",
    )


def _never_observed(predictions: Predictions) -> str | None:
    return never_observed_message(predictions.absent_labels)


def _never_predicted(predictions: Predictions) -> str | None:
    predicted = _hard_labels("markedness", predictions)
    weights = np.bincount(predicted, predictions.sample_weight, minlength=predictions.n_classes)
    return never_predicted_message([predictions.labels[k] for k in np.flatnonzero(weights == 0)])


# The same as functions of the weights. JAX compiles anew for a function that it does not know:
# those below are equal if what they consist of is.


@dataclass(frozen=True)
class _OfPositiveClass:
    function: binary.BinaryFunction

    def __call__(self, table: Table) -> Float[Array, ""]:
        return self.function(table.positive_class)


@dataclass(frozen=True)
class _SideBySide:
    functions: tuple[TableFunction, ...]

    def __call__(self, table: Table) -> Float[Array, " m"]:
        return jnp.stack([function(table) for function in self.functions])


@dataclass(frozen=True)
class _OfLabels:
    function: TableFunction
    n_classes: int

    def __call__(
        self, true: Int[Array, " n"], predicted: Int[Array, " n"], weights: Float[Array, " n"]
    ) -> Float[Array, "*value"]:
        return self.function(Table(confusion_matrix(true, predicted, weights, self.n_classes)))

    def value_and_gradient(
        self,
        true: Int[np.ndarray, " n"],
        predicted: Int[np.ndarray, " n"],
        weights: Float[np.ndarray, " n"],
    ) -> tuple[Float[np.ndarray, "*value"], Float[np.ndarray, "*value n"]]:
        """Count the table; what JAX compiles serves any number of observations."""
        cell, total = predicted * self.n_classes + true, weights.sum()
        proportions = np.bincount(cell, weights, self.n_classes**2) / total
        values, of_cells = (
            np.asarray(found) for found in _of_proportions(self.function, proportions)
        )
        of_total = of_cells @ proportions
        return values, (of_cells[..., cell] - of_total[..., None]) / total


@partial(jax.jit, static_argnums=0)
def _of_proportions(
    function: TableFunction, proportions: Float[Array, " cells"]
) -> tuple[Float[Array, "*value"], Float[Array, "*value cells"]]:
    n_classes = math.isqrt(len(proportions))
    return value_and_jacobian(
        lambda cells: function(Table(cells.reshape(n_classes, n_classes))), proportions
    )


# Where both have a function of that name they agree for two classes.
_FUNCTIONS: dict[str, TableFunction] = {
    name: _OfPositiveClass(function) for name, function in binary.ONE_VS_REST.items()
} | TABLE_FUNCTIONS


def bind_together(measures: Sequence[Measure], predictions: Predictions) -> BoundMeasure:
    """Bind measures of the table as one function, which counts the table once."""
    functions = tuple(_FUNCTIONS[measure.name] for measure in measures)
    return _bind(_SideBySide(functions), measures, predictions)


def _bind(
    function: TableFunction, measures: Sequence[Measure], predictions: Predictions
) -> BoundMeasure:
    predicted = _hard_labels(measures[0].name, predictions)
    for measure in measures:
        if not measure.applies_to(predictions):
            raise ValueError(
                f"{measure.name} is a measure of two classes, and there are "
                f"{predictions.n_classes}: ContingencyTable.per_class gives it for each class "
                "against the rest"
            )
    of_labels = _OfLabels(function, predictions.n_classes)
    return Partial(of_labels, share(predictions.true), share(predicted))


def _hard_labels(name: str, predictions: Predictions) -> Int[np.ndarray, " n"]:
    if predictions.predicted is None:
        raise ValueError(
            f"{name} needs hard labels, and a one-dimensional y_score has no threshold "
            "of its own: pass y_pred, or the scores of both classes"
        )
    return predictions.predicted


def has_two_classes(predictions: Predictions) -> bool:
    """Say whether there are hard labels of two classes, so that the second is positive."""
    return has_hard_labels(predictions) and predictions.n_classes == 2


def _measure(
    name: str,
    title: str,
    bounds: tuple[float, float],
    chance: float,
    *,
    greater_is_better: bool = True,
    applies_to: Callable[[Predictions], bool] = has_hard_labels,
    caveats: tuple[Callable[[Predictions], str | None], ...] = (),
) -> Measure:
    def bind(predictions: Predictions) -> BoundMeasure:
        return _bind(_FUNCTIONS[name], [measure], predictions)

    measure = Measure(
        name=name,
        title=title,
        bind=bind,
        bounds=bounds,
        chance=chance,
        family="contingency",
        needs="labels",
        greater_is_better=greater_is_better,
        applies_to=applies_to,
        caveats=caveats,
        bind_together=bind_together,
    )
    return measure


_SIGNED = (-1.0, 1.0)
_UNIT = (0.0, 1.0)
_POSITIVE = (0.0, np.inf)
_EVENNESS = (0.0, 0.25)
_UNKNOWN = np.nan  # depends on the sample
_TWO: dict[str, Any] = {"applies_to": has_two_classes}
_ERROR: dict[str, Any] = {"greater_is_better": False}
_BETS: dict[str, Any] = {"caveats": (_never_observed,)}
_MARKS: dict[str, Any] = {"caveats": (_never_predicted,)}

# Prevalence, entropy and evenness of the observed classes say nothing about a classifier: they are
# in the table (`TABLE_FUNCTIONS`), but no measures.
CONTINGENCY = (
    _measure("informedness", "Informedness", _SIGNED, 0.0, **_BETS),
    _measure("informedness_prevalence", "Informedness (prevalence)", _SIGNED, 0.0, **_BETS),
    _measure("informedness_macro", "Informedness (macro)", _SIGNED, 0.0, **_BETS),
    _measure("markedness", "Markedness", _SIGNED, 0.0, **_MARKS),
    _measure("markedness_bias", "Markedness (bias)", _SIGNED, 0.0, **_MARKS),
    _measure("markedness_macro", "Markedness (macro)", _SIGNED, 0.0, **_MARKS),
    _measure(
        "correlation", "Correlation", _SIGNED, 0.0, caveats=(_never_observed, _never_predicted)
    ),
    _measure("gorodkin_correlation", "Gorodkin's R_K", _SIGNED, 0.0),
    _measure("accuracy", "Accuracy", _UNIT, _UNKNOWN),
    _measure("cohen_kappa", "Cohen's kappa", _SIGNED, 0.0),
    _measure("scott_pi", "Scott's pi", _SIGNED, _UNKNOWN),
    _measure("s_coefficient", "Bennett's S", _SIGNED, _UNKNOWN),
    _measure("mutual_information", "Mutual information (nats)", _POSITIVE, 0.0),
    _measure("entropy_predicted", "Entropy of predictions (nats)", _POSITIVE, _UNKNOWN),
    _measure(
        "entropy_real_given_predicted",
        "Entropy of class given prediction (nats)",
        _POSITIVE,
        _UNKNOWN,
        **_ERROR,
    ),
    _measure(
        "entropy_predicted_given_real",
        "Entropy of prediction given class (nats)",
        _POSITIVE,
        _UNKNOWN,
        **_ERROR,
    ),
    _measure("evenness_predicted", "Evenness of predictions", _EVENNESS, _UNKNOWN),
    _measure("evenness_global", "Global evenness", _EVENNESS, _UNKNOWN),
    _measure("recall", "Recall", _UNIT, _UNKNOWN, **_TWO),
    _measure("precision", "Precision", _UNIT, _UNKNOWN, **_TWO),
    _measure("specificity", "Specificity", _UNIT, _UNKNOWN, **_TWO),
    _measure("negative_predictive_value", "Negative predictive value", _UNIT, _UNKNOWN, **_TWO),
    _measure("fallout", "Fallout", _UNIT, _UNKNOWN, **_TWO, **_ERROR),
    _measure("miss_rate", "Miss rate", _UNIT, _UNKNOWN, **_TWO, **_ERROR),
    _measure("f1", "F1", _UNIT, _UNKNOWN, **_TWO),
    _measure("jaccard", "Jaccard", _UNIT, _UNKNOWN, **_TWO),
    _measure("fowlkes_mallows", "Fowlkes-Mallows", _UNIT, _UNKNOWN, **_TWO),
    _measure("balanced_accuracy", "Balanced accuracy", _UNIT, 0.5, **_TWO),
    _measure(
        "weighted_relative_accuracy", "Weighted relative accuracy", (-0.25, 0.25), 0.0, **_TWO
    ),
    _measure("positive_likelihood_ratio", "Likelihood ratio +", _POSITIVE, 1.0, **_TWO),
    _measure("negative_likelihood_ratio", "Likelihood ratio -", _POSITIVE, 1.0, **_TWO, **_ERROR),
    _measure("lift", "Lift", _POSITIVE, 1.0, **_TWO),
    _measure(
        "distance_to_perfect", "Distance to (0, 1)", (0.0, 2**0.5), _UNKNOWN, **_TWO, **_ERROR
    ),
)
"""The measures of hard labels; those of two classes take the second label as the positive one."""

_BY_NAME = {measure.name: measure for measure in CONTINGENCY}
_INFORMEDNESS = {
    "bias": "informedness",
    "prevalence": "informedness_prevalence",
    "macro": "informedness_macro",
}
_MARKEDNESS = {
    "prevalence": "markedness",
    "bias": "markedness_bias",
    "macro": "markedness_macro",
}


def informedness(weighting: Weighting = "bias") -> Measure:
    """Return multiclass Bookmaker informedness as a measure.

    Parameters
    ----------
    weighting
        How the one-against-rest informedness TPR - FPR of the classes is averaged: by how often
        each class is predicted (``"bias"``: Powers' definition, eq. 41), by how often it occurs
        (``"prevalence"``) or evenly (``"macro"``). All agree for two classes.

    Returns
    -------
    Measure
        In [-1, 1]; 0 for guessing.
    """
    return _weighted(_INFORMEDNESS, weighting)


def markedness(weighting: Weighting = "prevalence") -> Measure:
    """Return multiclass markedness as a measure.

    Parameters
    ----------
    weighting
        How the one-against-rest markedness, precision plus negative predictive value minus one,
        is averaged: by how often each class occurs (``"prevalence"``, the dual of Powers' eq.
        41), by how often it is predicted (``"bias"``, his eq. 43) or evenly (``"macro"``). All
        agree for two classes.

    Returns
    -------
    Measure
        In [-1, 1]; 0 for guessing.
    """
    return _weighted(_MARKEDNESS, weighting)


def _weighted(names: dict[str, str], weighting: Weighting) -> Measure:
    if weighting not in names:
        raise ValueError(
            f"weighting must be 'bias', 'prevalence' or 'macro', but it is {weighting!r}"
        )
    return _BY_NAME[names[weighting]]


def _score(measure: Measure, y_true: Any, y_pred: Any, labels: Any, sample_weight: Any) -> float:
    predictions = Predictions.from_labels(
        y_true, y_pred, labels=labels, sample_weight=sample_weight
    )
    return value_of(measure, predictions)


def informedness_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    weighting: Weighting = "bias",
) -> float:
    """Return multiclass Bookmaker informedness: the probability of an informed decision.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Observed classes.
    y_pred : array-like of shape (n,)
        Predicted classes.
    labels : array-like of shape (K,), optional
        All classes; by default those that occur in either.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.
    weighting : {"bias", "prevalence", "macro"}
        How the classes are averaged, see `informedness`.

    Returns
    -------
    float
        In [-1, 1]; 0 for guessing, 1 for perfect prediction. A class that never occurs counts
        as 0, with a warning.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_labels` accepts.

    References
    ----------
    Powers (2011), Evaluation: from precision, recall and F-measure to ROC, informedness,
    markedness and correlation, equation 41 (its simplification 42 is the prevalence weighting).

    Examples
    --------
    >>> round(informedness_score(["a", "a", "b", "c"], ["a", "b", "b", "c"]), 4)
    0.7083
    """
    return _score(informedness(weighting), y_true, y_pred, labels, sample_weight)


def markedness_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    weighting: Weighting = "prevalence",
) -> float:
    """Return multiclass markedness: how far predictions can be relied on, above chance.

    Parameters
    ----------
    y_true, y_pred, labels, sample_weight
        As for `informedness_score`.
    weighting : {"prevalence", "bias", "macro"}
        How the classes are averaged, see `markedness`.

    Returns
    -------
    float
        In [-1, 1]; 0 for guessing, 1 for perfect prediction. A class that is never predicted
        counts as 0, with a warning.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_labels` accepts.

    References
    ----------
    Powers (2011), equation 43 for the bias weighting. The prevalence weighting is the dual of
    his equation 41: it is the informedness of the transposed table.

    Examples
    --------
    >>> round(markedness_score(["a", "a", "b", "c"], ["a", "b", "b", "c"]), 4)
    0.7083
    """
    return _score(markedness(weighting), y_true, y_pred, labels, sample_weight)


def correlation_score(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return the geometric mean of informedness and markedness, with their sign.

    Parameters
    ----------
    y_true, y_pred, labels, sample_weight
        As for `informedness_score`.

    Returns
    -------
    float
        In [-1, 1]; 0 for guessing, 1 for perfect prediction. For two classes it is Matthews's
        correlation coefficient. For more, informedness and markedness may differ in sign, and
        the value is NaN, with a warning; `gorodkin_correlation_score` always exists. Classes
        that never occur or are never predicted count as 0 in either, with a warning.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_labels` accepts.

    References
    ----------
    Powers (2011), section 5, of informedness by bias and markedness by prevalence.

    Examples
    --------
    >>> round(correlation_score([0, 0, 1, 1, 1], [0, 1, 1, 1, 1]), 4)
    0.6124
    """
    return _score(_BY_NAME["correlation"], y_true, y_pred, labels, sample_weight)


def gorodkin_correlation_score(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return Gorodkin's R_K, the correlation of predicted and observed class.

    Parameters
    ----------
    y_true, y_pred, labels, sample_weight
        As for `informedness_score`.

    Returns
    -------
    float
        In [-1, 1]; 0 for guessing and for predictions of one class only, 1 for perfect
        prediction. For two classes it is Matthews's correlation coefficient; for more it is what
        scikit-learn calls so.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_labels` accepts.

    References
    ----------
    Gorodkin (2004), Comparing two K-category assignments by a K-category correlation coefficient.

    Examples
    --------
    >>> round(gorodkin_correlation_score(["a", "a", "b", "c"], ["a", "b", "b", "c"]), 4)
    0.7
    """
    return _score(_BY_NAME["gorodkin_correlation"], y_true, y_pred, labels, sample_weight)


def cohen_kappa_score(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return Cohen's kappa: accuracy corrected for chance agreement.

    Parameters
    ----------
    y_true, y_pred, labels, sample_weight
        As for `informedness_score`.

    Returns
    -------
    float
        In [-1, 1]; 0 for guessing and for predictions of one class only, 1 for perfect
        prediction.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_labels` accepts.

    References
    ----------
    Cohen (1960), A coefficient of agreement for nominal scales.

    Examples
    --------
    >>> round(cohen_kappa_score(["a", "a", "b", "c"], ["a", "b", "b", "c"]), 4)
    0.6364
    """
    return _score(_BY_NAME["cohen_kappa"], y_true, y_pred, labels, sample_weight)
