"""Measures of a two-by-two table, or of every class of a larger table against the rest.

All are elementwise functions of the four cells, so that one call serves any number of classes.
Those that are measures of two classes take the second as the positive one.
"""

from __future__ import annotations

import numpy as np

from dmfroc.measures import ranges
from dmfroc.measures.cells import Cell, Cells, coefficient, corrected_for_chance, odds, ratio, root
from dmfroc.measures.hard_labels import (
    Average,
    register_class_measure,
    register_class_number,
    register_properties,
)
from dmfroc.measures.measure import POSITIVE, UNIT
from dmfroc.measures.registry import also_called

# Margins


register_properties("prevalence", "bias")


@register_class_number
def class_ratio(cells: Cells) -> Cell:
    """Observed negatives per positive, Powers' skew of the prevalence."""
    return odds(cells.inverse_prevalence, cells.prevalence, cells.xp)


@register_class_number
def prediction_ratio(cells: Cells) -> Cell:
    """Predicted negatives per positive, Powers' skew of the bias."""
    return odds(cells.inverse_bias, cells.bias, cells.xp)


@register_class_number
def prevalence_odds(cells: Cells) -> Cell:
    """Observed positives per negative."""
    return odds(cells.prevalence, cells.inverse_prevalence, cells.xp)


@register_class_number
def relative_drift(cells: Cells) -> Cell:
    """Predicted per observed positive."""
    return odds(cells.bias, cells.prevalence, cells.xp)


register_properties("evenness_real", "evenness_predicted")


@register_class_number
def evenness_global(cells: Cells) -> Cell:
    """Geometric mean of the two variances."""
    return root(cells.evenness_real * cells.evenness_predicted, cells.xp)


# Rates

MEANS: tuple[Average, ...] = ("macro", "weighted")


@also_called("sensitivity, tpr, true_positive_rate, hit_rate, recall_score, sens")
@register_class_measure("Recall", UNIT, averages=MEANS)
def recall(cells: Cells) -> Cell:
    """Proportion of the observed positives that are predicted so."""
    return ratio(cells.tp, cells.prevalence, cells.xp)


@also_called("tnr, true_negative_rate, selectivity, spec")
@register_class_measure("Specificity", UNIT, averages=MEANS)
def specificity(cells: Cells) -> Cell:
    """Proportion of the observed negatives that are predicted so."""
    return ratio(cells.tn, cells.inverse_prevalence, cells.xp)


@also_called("ppv, positive_predictive_value, precision_score")
@register_class_measure("Precision", UNIT, averages=MEANS)
def precision(cells: Cells) -> Cell:
    """Proportion of the predicted positives that are observed so."""
    return ratio(cells.tp, cells.bias, cells.xp)


@also_called("npv")
@register_class_measure("Negative predictive value", UNIT)
def negative_predictive_value(cells: Cells) -> Cell:
    """Proportion of the predicted negatives that are observed so."""
    return ratio(cells.tn, cells.inverse_bias, cells.xp)


@also_called("fpr, false_positive_rate, false_alarm_rate")
@register_class_measure("Fallout", UNIT, greater_is_better=False)
def fallout(cells: Cells) -> Cell:
    """Proportion of the observed negatives that are predicted positive."""
    return ratio(cells.fp, cells.inverse_prevalence, cells.xp)


@also_called("fnr, false_negative_rate")
@register_class_measure("Miss rate", UNIT, greater_is_better=False)
def miss_rate(cells: Cells) -> Cell:
    """Proportion of the observed positives that are predicted negative."""
    return ratio(cells.fn, cells.prevalence, cells.xp)


@also_called("fdr")
@register_class_measure("False discovery rate", UNIT, greater_is_better=False)
def false_discovery_rate(cells: Cells) -> Cell:
    """Proportion of the predicted positives that are observed negative."""
    return ratio(cells.fp, cells.bias, cells.xp)


@register_class_measure("False omission rate", UNIT, greater_is_better=False)
def false_omission_rate(cells: Cells) -> Cell:
    """Proportion of the predicted negatives that are observed positive."""
    return ratio(cells.fn, cells.inverse_bias, cells.xp)


@register_class_number
def accuracy(cells: Cells) -> Cell:
    """Proportion of right predictions."""
    return cells.tp + cells.tn


@also_called("plr, lr+, dlr+")
@register_class_measure("Likelihood ratio +", POSITIVE, chance=1.0)
def positive_likelihood_ratio(cells: Cells) -> Cell:
    """Recall divided by fallout; infinite if there are true but no false positives."""
    return odds(cells.tp * cells.inverse_prevalence, cells.fp * cells.prevalence, cells.xp)


@also_called("nlr, lr-, dlr-")
@register_class_measure(
    "Likelihood ratio -",
    POSITIVE,
    chance=1.0,
    greater_is_better=False,
)
def negative_likelihood_ratio(cells: Cells) -> Cell:
    """Miss rate divided by specificity; infinite if there are false but no true negatives."""
    return odds(cells.fn * cells.inverse_prevalence, cells.tn * cells.prevalence, cells.xp)


@also_called("dor, odds_ratio")
@register_class_measure("Diagnostic odds ratio", POSITIVE, chance=1.0)
def diagnostic_odds_ratio(cells: Cells) -> Cell:
    """Odds of a positive prediction among positives, divided by those among negatives."""
    return odds(cells.tp * cells.tn, cells.fp * cells.fn, cells.xp)


@register_class_measure("Lift", POSITIVE, chance=1.0, range_of_shares=ranges.lift)
def lift(cells: Cells) -> Cell:
    """Precision divided by prevalence."""
    return ratio(cells.tp, cells.bias * cells.prevalence, cells.xp)


@register_class_measure("Distance to (0, 1)", (0.0, 2**0.5), greater_is_better=False)
def distance_to_perfect(cells: Cells) -> Cell:
    """Distance of the point in ROC space to the corner without errors."""
    return root(fallout(cells) ** 2 + miss_rate(cells) ** 2, cells.xp)


# Overlap of the predicted and the observed positives


@also_called("fbeta_score")
@register_class_measure("F-beta", UNIT, averages=MEANS)
def f_beta(cells: Cells, beta: float | int = 2.0) -> Cell:
    """Harmonic mean of precision and recall, which counts ``beta`` times as much, by default 2."""
    right = (1 + beta**2) * cells.tp
    return ratio(right, right + cells.fp + beta**2 * cells.fn, cells.xp)


@also_called("f1_score, f_score, f_measure, f_meas, f1_measure, dice")
@register_class_measure("F1", UNIT)
def f1(cells: Cells) -> Cell:
    """Harmonic mean of precision and recall."""
    return f_beta(cells, 1.0)


def gain(cells: Cells, errors: Cell) -> Cell:
    """Return the gain of a rate whose complement counts some errors per true positive.

    Products first: of counts they are exact, so that equal gains are equal numbers.
    """
    return 1 - odds(cells.prevalence * errors, cells.inverse_prevalence * cells.tp, cells.xp)


@register_class_measure("F-gain", (-np.inf, 1.0))
def f_gain(cells: Cells, beta: float | int = 1.0) -> Cell:
    """Weighted mean of precision gain and, with weight beta squared, recall gain.

    Of two classifiers with the same prevalence the one with the larger F is that with the larger
    F-gain, and unlike F it may be averaged (Flach and Kull 2015, theorem 2).
    """
    return gain(cells, (cells.fp + beta**2 * cells.fn) / (1 + beta**2))


@also_called("iou, jaccard_index, jaccard_score, critical_success_index, threat_score")
@register_class_measure("Jaccard", UNIT, averages=MEANS)
def jaccard(cells: Cells) -> Cell:
    """Proportion of true positives among all that are positive in either way."""
    return ratio(cells.tp, cells.tp + cells.fp + cells.fn, cells.xp)


@register_class_measure("Fowlkes-Mallows", UNIT)
def fowlkes_mallows(cells: Cells) -> Cell:
    """Geometric mean of precision and recall."""
    return ratio(cells.tp, root(cells.bias * cells.prevalence, cells.xp), cells.xp)


@register_class_number
def expected_true_positives(cells: Cells) -> Cell:
    """Proportion of true positives if prediction and class were independent."""
    return cells.bias * cells.prevalence


# Coefficients that are 0 under chance


@register_class_measure(
    "Weighted relative accuracy",
    (-0.25, 0.25),
    chance=0.0,
    range_of_shares=ranges.weighted_relative_accuracy,
)
def weighted_relative_accuracy(cells: Cells) -> Cell:
    """Covariance of prediction and class: the determinant of the table."""
    return cells.covariance


@register_class_number
def scaled_weighted_relative_accuracy(cells: Cells) -> Cell:
    """Weighted relative accuracy as in Powers (2011), four times that of Lavrac."""
    return 4 * cells.covariance


register_properties("informedness", "markedness")


@register_class_number
def correlation(cells: Cells) -> Cell:
    """Matthews's correlation coefficient."""
    return coefficient(cells.covariance, evenness_global(cells), cells.xp)


@register_class_measure("Single-point AUC", UNIT, chance=0.5)
def single_point_auc(cells: Cells) -> Cell:
    """Area under the ROC curve through this one point."""
    return (cells.informedness + 1) / 2


@register_class_number
def cohen_kappa(cells: Cells) -> Cell:
    """Accuracy corrected for chance with the margins of the table."""
    expected = cells.bias * cells.inverse_prevalence + cells.inverse_bias * cells.prevalence
    return corrected_for_chance(cells.fp + cells.fn, expected, cells.xp)


@register_class_number
def scott_pi(cells: Cells) -> Cell:
    """Accuracy corrected for chance with the mean of both margins."""
    positive = (cells.bias + cells.prevalence) / 2
    negative = (cells.inverse_bias + cells.inverse_prevalence) / 2
    return corrected_for_chance(cells.fp + cells.fn, 2 * positive * negative, cells.xp)


@register_class_number
def s_coefficient(cells: Cells) -> Cell:
    """Accuracy corrected for chance with two equally likely answers."""
    return 1 - 2 * (cells.fp + cells.fn)
