"""What is computed from one table of predicted against observed classes, of any size.

A function of the table takes the proportions of its cells, which sum to one, with predicted classes
in the rows and observed classes in the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dmfroc.measures import binary

Weighting = Literal["bias", "prevalence", "macro"]


def confusion_matrix(
    true: Int[Array, " n"],
    predicted: Int[Array, " n"],
    weights: Float[Array, " n"],
    n_classes: int,
) -> Float[Array, "k k"]:
    """Return the weight of each cell as a proportion; rows are predicted, columns observed."""
    cells = jnp.zeros((n_classes, n_classes)).at[predicted, true].add(weights)
    return cells / weights.sum()


@dataclass(frozen=True, eq=False)
class Table:
    """Proportions with predicted classes in the rows, and what several measures need of them."""

    proportions: Float[Array, "k k"]

    @cached_property
    def cells(self) -> binary.Cells:
        """Each class against the rest."""
        return binary.one_vs_rest(self.proportions)

    @cached_property
    def positive_class(self) -> binary.Cells:
        """Of two classes, the second against the first."""
        return binary.positive_class(self.proportions)

    @cached_property
    def error(self) -> Float[Array, ""]:
        """Proportion of wrong predictions, without the rounding of one minus accuracy."""
        return self.cells.fp.sum()

    @cached_property
    def entropy(self) -> Float[Array, ""]:
        """Joint entropy of predicted and observed class in nats."""
        return _entropy(self.proportions)

    @cached_property
    def entropy_real(self) -> Float[Array, ""]:
        """Entropy of the observed class in nats."""
        return _entropy(self.cells.prevalence)

    @cached_property
    def entropy_predicted(self) -> Float[Array, ""]:
        """Entropy of the predicted class in nats."""
        return _entropy(self.cells.bias)


TableFunction = Callable[[Table], Float[Array, "*value"]]


def _entropy(proportions: Float[Array, "*k"]) -> Float[Array, ""]:
    # An empty cell adds nothing, and neither does its infinite derivative.
    occupied = proportions > 0
    return jnp.where(occupied, -proportions * jnp.log(jnp.where(occupied, proportions, 1)), 0).sum()


# Functions of the table

_CHANCE = 1e-14  # rounding leaves an independent table with about 1e-17 instead of 0


def _mean_over_classes(
    per_class: Float[Array, " k"], table: Table, weighting: Weighting
) -> Float[Array, ""]:
    if weighting == "macro":
        return per_class.mean()
    shares = table.cells.bias if weighting == "bias" else table.cells.prevalence
    return jnp.vdot(shares, per_class)


def informedness_of(table: Table, weighting: Weighting = "bias") -> Float[Array, ""]:
    """Return the mean informedness of the classes; one that never occurs cannot be bet on: 0."""
    return _mean_over_classes(table.cells.informedness, table, weighting)


def markedness_of(table: Table, weighting: Weighting = "prevalence") -> Float[Array, ""]:
    """Return the mean markedness of the classes; one that is never predicted counts as 0."""
    return _mean_over_classes(table.cells.markedness, table, weighting)


def correlation_of(table: Table) -> Float[Array, ""]:
    """Return the geometric mean of informedness and markedness, with their sign.

    NaN if their signs differ, which takes three classes.
    """
    if len(table.proportions) == 2:  # the same number, but with a derivative also where it is 0
        return binary.correlation(table.positive_class)
    informed, marked = informedness_of(table), markedness_of(table)
    is_chance = (jnp.abs(informed) < _CHANCE) | (jnp.abs(marked) < _CHANCE)
    product = jnp.where(is_chance, 0, informed * marked)
    size = binary.root(jnp.where(product < 0, 0, product))
    return jnp.where(product < 0, jnp.nan, jnp.sign(informed) * size)


def gorodkin_correlation_of(table: Table) -> Float[Array, ""]:
    """Return the correlation of the indicators of predicted and observed class, R_K."""
    cells = table.cells
    variances = cells.variance_real.sum() * cells.variance_predicted.sum()
    return binary.coefficient(cells.covariance.sum(), binary.root(variances))


def accuracy_of(table: Table) -> Float[Array, ""]:
    """Return the proportion of right predictions."""
    return table.cells.tp.sum()


def cohen_kappa_of(table: Table) -> Float[Array, ""]:
    """Return accuracy corrected for chance with the margins of the table."""
    expected_error = jnp.vdot(table.cells.bias, table.cells.inverse_prevalence)
    return binary.corrected_for_chance(table.error, expected_error)


def scott_pi_of(table: Table) -> Float[Array, ""]:
    """Return accuracy corrected for chance with the mean of both margins."""
    cells = table.cells
    mean = cells.bias + cells.prevalence
    others = cells.inverse_bias + cells.inverse_prevalence
    return binary.corrected_for_chance(table.error, jnp.vdot(mean, others) / 4)


def s_coefficient_of(table: Table) -> Float[Array, ""]:
    """Return accuracy corrected for chance with equally likely answers."""
    n_classes = len(table.proportions)
    return 1 - table.error * n_classes / (n_classes - 1)


def _harmonic_mean(x: Float[Array, " k"]) -> Float[Array, ""]:
    is_positive = (x > 0).all()
    return jnp.where(is_positive, 1 / (1 / jnp.where(is_positive, x, 1)).mean(), 0)


def evenness_real_of(table: Table) -> Float[Array, ""]:
    """Return the harmonic mean of p (1 - p) over the proportions of the observed classes."""
    return _harmonic_mean(table.cells.variance_real)


def evenness_predicted_of(table: Table) -> Float[Array, ""]:
    """Return the harmonic mean of p (1 - p) over the proportions of the predicted classes."""
    return _harmonic_mean(table.cells.variance_predicted)


def evenness_global_of(table: Table) -> Float[Array, ""]:
    """Return the geometric mean of the evenness of observed and predicted classes."""
    return binary.root(evenness_real_of(table) * evenness_predicted_of(table))


def entropy_real_of(table: Table) -> Float[Array, ""]:
    """Return the entropy of the observed class in nats."""
    return table.entropy_real


def entropy_predicted_of(table: Table) -> Float[Array, ""]:
    """Return the entropy of the predicted class in nats."""
    return table.entropy_predicted


def entropy_real_given_predicted_of(table: Table) -> Float[Array, ""]:
    """Return what remains unknown of the class once the prediction is known, in nats."""
    return jnp.maximum(table.entropy - table.entropy_predicted, 0)


def entropy_predicted_given_real_of(table: Table) -> Float[Array, ""]:
    """Return what remains unknown of the prediction once the class is known, in nats."""
    return jnp.maximum(table.entropy - table.entropy_real, 0)


def mutual_information_of(table: Table) -> Float[Array, ""]:
    """Return what the prediction tells of the class, in nats."""
    return jnp.maximum(table.entropy_real + table.entropy_predicted - table.entropy, 0)


TABLE_FUNCTIONS: dict[str, TableFunction] = {
    "informedness": informedness_of,
    "informedness_prevalence": partial(informedness_of, weighting="prevalence"),
    "informedness_macro": partial(informedness_of, weighting="macro"),
    "markedness": markedness_of,
    "markedness_bias": partial(markedness_of, weighting="bias"),
    "markedness_macro": partial(markedness_of, weighting="macro"),
    "correlation": correlation_of,
    "gorodkin_correlation": gorodkin_correlation_of,
    "accuracy": accuracy_of,
    "cohen_kappa": cohen_kappa_of,
    "scott_pi": scott_pi_of,
    "s_coefficient": s_coefficient_of,
    "mutual_information": mutual_information_of,
    "entropy_real": entropy_real_of,
    "entropy_predicted": entropy_predicted_of,
    "entropy_real_given_predicted": entropy_real_given_predicted_of,
    "entropy_predicted_given_real": entropy_predicted_given_real_of,
    "evenness_real": evenness_real_of,
    "evenness_predicted": evenness_predicted_of,
    "evenness_global": evenness_global_of,
}
"""Every scalar of a table of any size, by name."""
