"""Measures of a two-by-two table, or of every class of a larger table against the rest.

All are elementwise functions of the four cells, so that one call serves any number of classes.
Cells are sums of non-negative numbers and never differences: a margin that is empty is exactly 0,
also after rounding, and the conventions for empty margins can be told from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import jax.numpy as jnp
from jaxtyping import Array, Float


@dataclass(frozen=True, eq=False)
class Cells:
    """The four cells of one or more two-by-two tables, as proportions that sum to one.

    What several measures have in common is computed once, which spares compiling it again.
    """

    tp: Float[Array, "*k"]
    fp: Float[Array, "*k"]
    fn: Float[Array, "*k"]
    tn: Float[Array, "*k"]

    @cached_property
    def prevalence(self) -> Float[Array, "*k"]:
        """Proportion of observed positives."""
        return self.tp + self.fn

    @cached_property
    def inverse_prevalence(self) -> Float[Array, "*k"]:
        """Proportion of observed negatives."""
        return self.fp + self.tn

    @cached_property
    def bias(self) -> Float[Array, "*k"]:
        """Proportion of predicted positives."""
        return self.tp + self.fp

    @cached_property
    def inverse_bias(self) -> Float[Array, "*k"]:
        """Proportion of predicted negatives."""
        return self.fn + self.tn

    @cached_property
    def covariance(self) -> Float[Array, "*k"]:
        """Covariance of predicted and observed class, coded 0 and 1."""
        return self.tp * self.tn - self.fp * self.fn

    @cached_property
    def variance_real(self) -> Float[Array, "*k"]:
        """Variance of the observed class."""
        return self.prevalence * self.inverse_prevalence

    @cached_property
    def variance_predicted(self) -> Float[Array, "*k"]:
        """Variance of the predicted class."""
        return self.bias * self.inverse_bias

    @cached_property
    def informedness(self) -> Float[Array, "*k"]:
        """Recall minus fallout: the regression of the prediction on the class."""
        return coefficient(self.covariance, self.variance_real)

    @cached_property
    def markedness(self) -> Float[Array, "*k"]:
        """Precision minus false omission rate: the regression of the class on the prediction."""
        return coefficient(self.covariance, self.variance_predicted)


BinaryFunction = Callable[[Cells], Float[Array, "*k"]]


def one_vs_rest(table: Float[Array, "k k"]) -> Cells:
    """Return the cells of each class against all others; rows are predicted, columns observed."""
    others = 1 - jnp.eye(len(table))
    off_diagonal = table * others
    return Cells(
        tp=jnp.diag(table),
        fp=off_diagonal.sum(axis=1),
        fn=off_diagonal.sum(axis=0),
        tn=((others @ table) * others).sum(axis=1),
    )


def positive_class(table: Float[Array, "2 2"]) -> Cells:
    """Return the cells of a two-by-two table whose second class is the positive one."""
    (tn, fn), (fp, tp) = table
    return Cells(tp, fp, fn, tn)


def ratio(numerator: Float[Array, "*k"], denominator: Float[Array, "*k"]) -> Float[Array, "*k"]:
    """Divide, with NaN for an empty denominator: a rate among nobody."""
    return _divide(numerator, denominator, jnp.nan)


def _odds(numerator: Float[Array, "*k"], denominator: Float[Array, "*k"]) -> Float[Array, "*k"]:
    """Divide, with infinity for a denominator that alone is empty and NaN for 0 / 0."""
    return _divide(numerator, denominator, jnp.where(numerator > 0, jnp.inf, jnp.nan))


def coefficient(
    numerator: Float[Array, "*k"], denominator: Float[Array, "*k"]
) -> Float[Array, "*k"]:
    """Divide, with 0 for an empty denominator: by convention, no better than chance.

    The numerator, the covariance of prediction and class, is then 0 too. Setting the missing rate
    to 0 instead would call a constant prediction worse than chance.
    """
    return _divide(numerator, denominator, 0.0)


def root(x: Float[Array, "*k"]) -> Float[Array, "*k"]:
    """Return the square root, with the derivative 0 instead of infinity at 0."""
    return jnp.where(x != 0, jnp.sqrt(jnp.where(x != 0, x, 1)), 0)


def corrected_for_chance(
    error: Float[Array, "*k"], expected_error: Float[Array, "*k"]
) -> Float[Array, "*k"]:
    """Return (accuracy - expectation) / (1 - expectation); 0 if no error can be expected."""
    is_possible = expected_error > 0
    return jnp.where(is_possible, 1 - error / jnp.where(is_possible, expected_error, 1), 0)


def _divide(
    numerator: Float[Array, "*k"],
    denominator: Float[Array, "*k"],
    otherwise: float | Float[Array, "*k"],
) -> Float[Array, "*k"]:
    # The inner `where` keeps NaN out of the derivative: measures are differentiated together, and
    # the NaN of one would become that of all.
    is_empty = denominator == 0
    return jnp.where(is_empty, otherwise, numerator / jnp.where(is_empty, 1, denominator))


# Margins


def prevalence(cells: Cells) -> Float[Array, "*k"]:
    """Proportion of observed positives."""
    return cells.prevalence


def bias(cells: Cells) -> Float[Array, "*k"]:
    """Proportion of predicted positives."""
    return cells.bias


def class_ratio(cells: Cells) -> Float[Array, "*k"]:
    """Observed negatives per positive, Powers' skew of the prevalence."""
    return cells.inverse_prevalence / cells.prevalence


def prediction_ratio(cells: Cells) -> Float[Array, "*k"]:
    """Predicted negatives per positive, Powers' skew of the bias."""
    return cells.inverse_bias / cells.bias


def prevalence_odds(cells: Cells) -> Float[Array, "*k"]:
    """Observed positives per negative."""
    return cells.prevalence / cells.inverse_prevalence


def relative_drift(cells: Cells) -> Float[Array, "*k"]:
    """Predicted per observed positive."""
    return cells.bias / cells.prevalence


def evenness_real(cells: Cells) -> Float[Array, "*k"]:
    """Variance of the observed class."""
    return cells.variance_real


def evenness_predicted(cells: Cells) -> Float[Array, "*k"]:
    """Variance of the predicted class."""
    return cells.variance_predicted


def evenness_global(cells: Cells) -> Float[Array, "*k"]:
    """Geometric mean of the two variances."""
    return root(cells.variance_real * cells.variance_predicted)


# Rates


def recall(cells: Cells) -> Float[Array, "*k"]:
    """Proportion of the observed positives that are predicted so."""
    return ratio(cells.tp, cells.prevalence)


def specificity(cells: Cells) -> Float[Array, "*k"]:
    """Proportion of the observed negatives that are predicted so."""
    return ratio(cells.tn, cells.inverse_prevalence)


def precision(cells: Cells) -> Float[Array, "*k"]:
    """Proportion of the predicted positives that are observed so."""
    return ratio(cells.tp, cells.bias)


def negative_predictive_value(cells: Cells) -> Float[Array, "*k"]:
    """Proportion of the predicted negatives that are observed so."""
    return ratio(cells.tn, cells.inverse_bias)


def fallout(cells: Cells) -> Float[Array, "*k"]:
    """Proportion of the observed negatives that are predicted positive."""
    return ratio(cells.fp, cells.inverse_prevalence)


def miss_rate(cells: Cells) -> Float[Array, "*k"]:
    """Proportion of the observed positives that are predicted negative."""
    return ratio(cells.fn, cells.prevalence)


def accuracy(cells: Cells) -> Float[Array, "*k"]:
    """Proportion of right predictions."""
    return cells.tp + cells.tn


def positive_likelihood_ratio(cells: Cells) -> Float[Array, "*k"]:
    """Recall divided by fallout; infinite if there are true but no false positives."""
    return _odds(cells.tp * cells.inverse_prevalence, cells.fp * cells.prevalence)


def negative_likelihood_ratio(cells: Cells) -> Float[Array, "*k"]:
    """Miss rate divided by specificity; infinite if there are false but no true negatives."""
    return _odds(cells.fn * cells.inverse_prevalence, cells.tn * cells.prevalence)


def lift(cells: Cells) -> Float[Array, "*k"]:
    """Precision divided by prevalence."""
    return ratio(cells.tp, cells.bias * cells.prevalence)


def distance_to_perfect(cells: Cells) -> Float[Array, "*k"]:
    """Distance of the point in ROC space to the corner without errors."""
    return root(fallout(cells) ** 2 + miss_rate(cells) ** 2)


# Overlap of the predicted and the observed positives


def f_score(cells: Cells, beta: float = 1.0) -> Float[Array, "*k"]:
    """Weighted harmonic mean of precision and recall, from counts; NaN only for 0 / 0."""
    right = (1 + beta**2) * cells.tp
    return ratio(right, right + cells.fp + beta**2 * cells.fn)


def jaccard(cells: Cells) -> Float[Array, "*k"]:
    """Proportion of true positives among all that are positive in either way."""
    return ratio(cells.tp, cells.tp + cells.fp + cells.fn)


def fowlkes_mallows(cells: Cells) -> Float[Array, "*k"]:
    """Geometric mean of precision and recall."""
    return ratio(cells.tp, root(cells.bias * cells.prevalence))


def expected_true_positives(cells: Cells) -> Float[Array, "*k"]:
    """Proportion of true positives if prediction and class were independent."""
    return cells.bias * cells.prevalence


# Coefficients that are 0 under chance


def weighted_relative_accuracy(cells: Cells) -> Float[Array, "*k"]:
    """Covariance of prediction and class: the determinant of the table."""
    return cells.covariance


def scaled_weighted_relative_accuracy(cells: Cells) -> Float[Array, "*k"]:
    """Weighted relative accuracy as in Powers (2011), four times that of Lavrac."""
    return 4 * cells.covariance


def informedness(cells: Cells) -> Float[Array, "*k"]:
    """Youden's J: recall minus fallout."""
    return cells.informedness


def markedness(cells: Cells) -> Float[Array, "*k"]:
    """Precision minus false omission rate."""
    return cells.markedness


def correlation(cells: Cells) -> Float[Array, "*k"]:
    """Matthews's correlation coefficient."""
    return coefficient(cells.covariance, evenness_global(cells))


def balanced_accuracy(cells: Cells) -> Float[Array, "*k"]:
    """Area under the ROC curve through this one point."""
    return (cells.informedness + 1) / 2


def cohen_kappa(cells: Cells) -> Float[Array, "*k"]:
    """Accuracy corrected for chance with the margins of the table."""
    expected = cells.bias * cells.inverse_prevalence + cells.inverse_bias * cells.prevalence
    return corrected_for_chance(cells.fp + cells.fn, expected)


def scott_pi(cells: Cells) -> Float[Array, "*k"]:
    """Accuracy corrected for chance with the mean of both margins."""
    positive = (cells.bias + cells.prevalence) / 2
    negative = (cells.inverse_bias + cells.inverse_prevalence) / 2
    return corrected_for_chance(cells.fp + cells.fn, 2 * positive * negative)


def s_coefficient(cells: Cells) -> Float[Array, "*k"]:
    """Accuracy corrected for chance with two equally likely answers."""
    return 1 - 2 * (cells.fp + cells.fn)


ONE_VS_REST: dict[str, BinaryFunction] = {
    "prevalence": prevalence,
    "bias": bias,
    "recall": recall,
    "precision": precision,
    "specificity": specificity,
    "negative_predictive_value": negative_predictive_value,
    "fallout": fallout,
    "miss_rate": miss_rate,
    "accuracy": accuracy,
    "f1": f_score,
    "jaccard": jaccard,
    "fowlkes_mallows": fowlkes_mallows,
    "informedness": informedness,
    "markedness": markedness,
    "correlation": correlation,
    "cohen_kappa": cohen_kappa,
    "scott_pi": scott_pi,
    "s_coefficient": s_coefficient,
    "balanced_accuracy": balanced_accuracy,
    "weighted_relative_accuracy": weighted_relative_accuracy,
    "scaled_weighted_relative_accuracy": scaled_weighted_relative_accuracy,
    "positive_likelihood_ratio": positive_likelihood_ratio,
    "negative_likelihood_ratio": negative_likelihood_ratio,
    "lift": lift,
    "distance_to_perfect": distance_to_perfect,
    "expected_true_positives": expected_true_positives,
    "class_ratio": class_ratio,
    "prediction_ratio": prediction_ratio,
    "prevalence_odds": prevalence_odds,
    "relative_drift": relative_drift,
    "evenness_real": evenness_real,
    "evenness_predicted": evenness_predicted,
    "evenness_global": evenness_global,
}
"""Every measure of one class against the rest, by name."""
