"""Measures of one table of predicted against observed classes, of any size.

A function of the table takes the proportions of its cells, which sum to one, with predicted classes
in the rows and observed classes in the columns. Prevalence, entropy and evenness of the observed
classes say nothing about a classifier: they are numbers of the table, but no measures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from jaxtyping import Float

from dmfroc._kit.arrays import AnyArray, Scalar, divide
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures import binary, ranges
from dmfroc.measures.cells import Proportions, coefficient, corrected_for_chance, entropy, root
from dmfroc.measures.hard_labels import (
    TableFunction,
    as_zero,
    never_observed,
    never_predicted,
    never_recalled,
    of_classes,
    register_table_number,
)
from dmfroc.measures.measure import (
    FLAT_AT_ENDS,
    POSITIVE,
    SIGNED,
    UNBIASED,
    UNIT,
    WithOptions,
)
from dmfroc.measures.registry import FACTORIES, also_called

Weighting = Literal["bias", "prevalence", "macro"]
_CHANCE = 1e-14  # rounding leaves an independent table with about 1e-17 instead of 0


def _register_flat(
    title: str,
    bounds: tuple[float, float],
    shares: ranges.RangeOfShares,
    **attributes: Any,
) -> Callable[[TableFunction], TableFunction]:
    """Make a number a measure whose derivative vanishes at the ends of its range."""
    attributes |= {"range_of_shares": shares, "interval": FLAT_AT_ENDS}
    return register_table_number(title, bounds, **attributes)


def _mean_over_classes(
    per_class: Float[AnyArray, " k"], table: Proportions, weighting: Weighting
) -> Scalar:
    if weighting == "macro":
        return per_class.mean()
    shares = table.cells.bias if weighting == "bias" else table.cells.prevalence
    return (shares * per_class).sum()


@also_called("bookmaker, bookmaker_informedness, informedness_score")
@register_table_number(
    "Informedness",
    SIGNED,
    chance=0.0,
    caveats=(never_observed,),
    variants=({}, {"weighting": "prevalence"}, {"weighting": "macro"}),
    range_of_shares=ranges.informedness,
)
def informedness(table: Proportions, weighting: Weighting = "bias") -> Scalar:
    """Return multiclass Bookmaker informedness: how far predictions are informed, above chance.

    Parameters
    ----------
    weighting : {"bias", "prevalence", "macro"}
        How the one-against-rest informedness TPR - FPR of the classes is averaged: by how often
        each class is predicted (Powers' definition, equation 41), by how often it occurs or
        evenly. All agree for two classes.

    Returns
    -------
    Measure
        In [-1, 1]; 0 for guessing, 1 for perfect prediction. A class that never occurs cannot be
        bet on and counts as 0, with a warning. For K > 2 the least value depends on the shares of
        the classes: of even ones it is -1/(K - 1), by the bias less, -5/6 for K = 3.

    References
    ----------
    Powers (2011), Evaluation: from precision, recall and F-measure to ROC, informedness,
    markedness and correlation, equation 41 (its simplification 42 is the prevalence weighting).
    """
    return _mean_over_classes(table.cells.informedness, table, weighting)


@register_table_number(
    "Markedness",
    SIGNED,
    chance=0.0,
    caveats=(never_predicted,),
    variants=({}, {"weighting": "bias"}, {"weighting": "macro"}),
    range_of_shares=ranges.markedness,
)
def markedness(table: Proportions, weighting: Weighting = "prevalence") -> Scalar:
    """Return multiclass markedness: how far predictions can be relied on, above chance.

    Parameters
    ----------
    weighting : {"prevalence", "bias", "macro"}
        How the one-against-rest markedness, precision plus negative predictive value minus one, is
        averaged. By how often each class occurs (the dual of Powers' equation 41: the informedness
        of the transposed table), by how often it is predicted (his equation 43) or evenly. All
        agree for two classes.

    Returns
    -------
    Measure
        In [-1, 1]; 0 for guessing, 1 for perfect prediction. A class that is never predicted
        counts as 0, with a warning.

    References
    ----------
    Powers (2011), equations 41 and 43.
    """
    return _mean_over_classes(table.cells.markedness, table, weighting)


def _differ_in_sign(predictions: Predictions) -> str:
    return "informedness and markedness differ in sign"


@register_table_number(
    "Correlation",
    SIGNED,
    chance=0.0,
    caveats=(never_observed, never_predicted),
    undefined=_differ_in_sign,
)
def correlation(table: Proportions) -> Scalar:
    """Return the geometric mean of informedness and markedness, with their sign.

    Returns
    -------
    Measure
        In [-1, 1]; 0 for guessing, 1 for perfect prediction. For two classes it is Matthews's
        correlation coefficient. For more, informedness and markedness may differ in sign, and
        the value is NaN, with a warning; `gorodkin_correlation` always exists. Classes that
        never occur or are never predicted count as 0 in either, with a warning.

    References
    ----------
    Powers (2011), section 5, of informedness by bias and markedness by prevalence.
    """
    if len(table.proportions) == 2:  # the same number, but with a derivative also where it is 0
        return binary.correlation(table.positive_class)
    informed, marked = informedness(table), markedness(table)
    is_chance = (table.xp.abs(informed) < _CHANCE) | (table.xp.abs(marked) < _CHANCE)
    product = table.xp.where(is_chance, 0.0, informed * marked)
    size = root(table.xp.where(product < 0, 0.0, product), table.xp)
    return table.xp.where(product < 0, table.xp.nan, table.xp.sign(informed) * size)


@also_called(
    "mcc, matthews, matthews_corrcoef, matthews_correlation, matthews_correlation_coefficient, "
    "phi, phi_coefficient, rk"
)
@register_table_number("Gorodkin's R_K", SIGNED, chance=0.0)
def gorodkin_correlation(table: Proportions) -> Scalar:
    """Return the correlation of the indicators of predicted and observed class, R_K."""
    cells = table.cells
    variances = cells.evenness_real.sum() * cells.evenness_predicted.sum()
    return coefficient(cells.covariance.sum(), root(variances, table.xp), table.xp)


@also_called(
    "acc, accuracy_score, overall_accuracy, top_1_accuracy, micro_f1, f1_micro, micro_precision, "
    "precision_micro, micro_recall, recall_micro"
)
@register_table_number("Accuracy", UNIT, interval=UNBIASED)
def accuracy(table: Proportions) -> Scalar:
    """Return the proportion of right predictions."""
    return table.cells.tp.sum()


@also_called("f1_macro")
@register_table_number("Macro F1", UNIT, caveats=(WithOptions(as_zero, title="F1", of=binary.f1),))
def macro_f1(table: Proportions) -> Scalar:
    """Return the mean over the classes of F1, each class against the rest.

    Returns
    -------
    Measure
        In [0, 1]. A class that is neither observed nor predicted counts as 0, with a warning. It
        is scikit-learn's ``f1_score`` with ``average="macro"``.
    """
    return of_classes(table, binary.f1, "macro")


@also_called("f1_weighted")
@register_table_number("Weighted F1", UNIT)
def weighted_f1(table: Proportions) -> Scalar:
    """Return the mean over the observations of the F1 of their class.

    Returns
    -------
    Measure
        In [0, 1]. It is scikit-learn's ``f1_score`` with ``average="weighted"``.
    """
    return of_classes(table, binary.f1, "weighted")


@also_called("geometric_mean, geometric_mean_score")
@register_table_number("G-mean", UNIT, caveats=(never_recalled,))
def gmean(table: Proportions) -> Scalar:
    """Return the geometric mean of the recalls of the classes that occur.

    Returns
    -------
    Measure
        In [0, 1]; 0 if all observations of a class are missed. For two classes it is the root of
        sensitivity times specificity.

    References
    ----------
    Kubat and Matwin (1997), Addressing the curse of imbalanced training sets.
    """
    cells, xp = table.cells, table.xp
    recalls = divide(cells.tp, cells.prevalence, xp, 1.0)
    is_zero, n = (recalls == 0).any(), (cells.prevalence > 0).sum()
    return xp.where(is_zero, 0.0, xp.exp(xp.log(xp.where(is_zero, 1.0, recalls)).sum() / n))


@also_called("bacc, bal_acc, bal_accuracy, balanced_accuracy_score, uar, mean_recall")
@register_table_number("Balanced accuracy", UNIT, caveats=(never_recalled,))
def balanced_accuracy(table: Proportions) -> Scalar:
    """Return the mean recall of the classes that occur.

    Returns
    -------
    Measure
        In [0, 1]; 1 / K for guessing among K classes. For two classes it is the area under the
        ROC curve through the one point. It is scikit-learn's ``balanced_accuracy_score``.
    """
    prevalence = table.cells.prevalence
    return divide(table.cells.tp, prevalence, table.xp).sum() / (prevalence > 0).sum()


@also_called(
    "kappa, kap, cohen, cohens_kappa, cohen_kappa_score, unweighted_kappa, heidke, "
    "heidke_skill_score, hss"
)
@register_table_number("Cohen's kappa", SIGNED, chance=0.0, range_of_shares=ranges.cohen_kappa)
def cohen_kappa(table: Proportions) -> Scalar:
    """Return accuracy corrected for chance with the margins of the table."""
    expected_error = (table.cells.bias * table.cells.inverse_prevalence).sum()
    return corrected_for_chance(table.error, expected_error, table.xp)


@register_table_number("Scott's pi", SIGNED, range_of_shares=ranges.scott_pi)
def scott_pi(table: Proportions) -> Scalar:
    """Return accuracy corrected for chance with the mean of both margins."""
    cells = table.cells
    mean = cells.bias + cells.prevalence
    others = cells.inverse_bias + cells.inverse_prevalence
    return corrected_for_chance(table.error, (mean * others).sum() / 4, table.xp)


@also_called("brennan_prediger")
@register_table_number("Bennett's S", SIGNED, range_of_shares=ranges.s_coefficient)
def s_coefficient(table: Proportions) -> Scalar:
    """Return accuracy corrected for chance with equally likely answers."""
    n_classes = len(table.proportions)
    return 1 - table.error * n_classes / (n_classes - 1)


def _harmonic_mean(x: Float[AnyArray, " k"], xp: Any) -> Scalar:
    is_positive = (x > 0).all()
    return xp.where(is_positive, 1 / (1 / xp.where(is_positive, x, 1.0)).mean(), 0.0)


@register_table_number()
def evenness_real(table: Proportions) -> Scalar:
    """Return the harmonic mean of p (1 - p) over the proportions of the observed classes."""
    return _harmonic_mean(table.cells.evenness_real, table.xp)


@_register_flat("Evenness of predictions", (0.0, 0.25), ranges.evenness_predicted)
def evenness_predicted(table: Proportions) -> Scalar:
    """Return the harmonic mean of p (1 - p) over the proportions of the predicted classes."""
    return _harmonic_mean(table.cells.evenness_predicted, table.xp)


@_register_flat("Global evenness", (0.0, 0.25), ranges.evenness_global)
def evenness_global(table: Proportions) -> Scalar:
    """Return the geometric mean of the evenness of observed and predicted classes."""
    return root(evenness_real(table) * evenness_predicted(table), table.xp)


def _joint_entropy(table: Proportions) -> Scalar:
    return entropy(table.proportions, table.xp)


@register_table_number()
def entropy_real(table: Proportions) -> Scalar:
    """Return the entropy of the observed class in nats."""
    return entropy(table.cells.prevalence, table.xp)


@_register_flat("Entropy of predictions (nats)", POSITIVE, ranges.entropy_predicted)
def entropy_predicted(table: Proportions) -> Scalar:
    """Return the entropy of the predicted class in nats, at most ln K."""
    return entropy(table.cells.bias, table.xp)


@_register_flat(
    "Entropy of class given prediction (nats)",
    POSITIVE,
    ranges.entropy_real,
    greater_is_better=False,
)
def entropy_real_given_predicted(table: Proportions) -> Scalar:
    """Return what remains unknown of the class once it is predicted, in nats, at most ln K."""
    return table.xp.maximum(_joint_entropy(table) - entropy_predicted(table), 0)


@_register_flat(
    "Entropy of prediction given class (nats)",
    POSITIVE,
    ranges.entropy_predicted,
    greater_is_better=False,
)
def entropy_predicted_given_real(table: Proportions) -> Scalar:
    """Return what remains unknown of the prediction given the class, in nats, at most ln K."""
    return table.xp.maximum(_joint_entropy(table) - entropy_real(table), 0)


@also_called("mi")
@_register_flat("Mutual information (nats)", POSITIVE, ranges.entropy_real, chance=0.0)
def mutual_information(table: Proportions) -> Scalar:
    """Return what the prediction tells of the class, in nats, at most ln K."""
    information = entropy_real(table) + entropy_predicted(table) - _joint_entropy(table)
    return table.xp.maximum(information, 0)


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
    measure = FACTORIES["informedness"](weighting)
    return measure(y_true, y_pred=y_pred, labels=labels, sample_weight=sample_weight)


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
    measure = FACTORIES["cohen_kappa"]()
    return measure(y_true, y_pred=y_pred, labels=labels, sample_weight=sample_weight)
