"""The table of predicted against observed classes, and its two-by-two tables, as proportions.

Cells are sums of non-negative numbers and never differences: a margin that is empty is exactly 0,
also after rounding, and the conventions for empty margins can be told from it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jaxtyping import Float

from dmfroc._kit.arrays import AnyArray, Scalar, divide

type Cell = Float[AnyArray, "*k"]


@dataclass(frozen=True, eq=False)
class Cells:
    """The four cells of one or more two-by-two tables, as proportions that sum to one.

    What several measures have in common is computed once.
    """

    tp: Cell
    fp: Cell
    fn: Cell
    tn: Cell
    xp: Any  # the namespace that computes: NumPy's, JAX's or autograd's

    @cached_property
    def prevalence(self) -> Cell:
        """Proportion of observed positives."""
        return self.tp + self.fn

    @cached_property
    def inverse_prevalence(self) -> Cell:
        """Proportion of observed negatives."""
        return self.fp + self.tn

    @cached_property
    def bias(self) -> Cell:
        """Proportion of predicted positives."""
        return self.tp + self.fp

    @cached_property
    def inverse_bias(self) -> Cell:
        """Proportion of predicted negatives."""
        return self.fn + self.tn

    @cached_property
    def covariance(self) -> Cell:
        """Covariance of predicted and observed class, coded 0 and 1."""
        return self.tp * self.tn - self.fp * self.fn

    @cached_property
    def evenness_real(self) -> Cell:
        """Evenness of the observed class: its variance."""
        return self.prevalence * self.inverse_prevalence

    @cached_property
    def evenness_predicted(self) -> Cell:
        """Evenness of the predicted class: its variance."""
        return self.bias * self.inverse_bias

    @cached_property
    def informedness(self) -> Cell:
        """Recall minus fallout: the regression of the prediction on the class."""
        return coefficient(self.covariance, self.evenness_real, self.xp)

    @cached_property
    def markedness(self) -> Cell:
        """Precision minus false omission rate: the regression of the class on the prediction."""
        return coefficient(self.covariance, self.evenness_predicted, self.xp)


def one_vs_rest(table: Float[AnyArray, "k k"], xp: Any) -> Cells:
    """Return the cells of each class against all others; rows are predicted, columns observed."""
    others = 1 - xp.eye(len(table))
    off_diagonal = table * others
    return Cells(
        tp=xp.diag(table),
        fp=off_diagonal.sum(axis=1),
        fn=off_diagonal.sum(axis=0),
        tn=((others @ table) * others).sum(axis=1),
        xp=xp,
    )


def ratio(numerator: Cell, denominator: Cell, xp: Any) -> Cell:
    """Divide, with NaN for an empty denominator: a rate among nobody."""
    return divide(numerator, denominator, xp, xp.nan)


def odds(numerator: Cell, denominator: Cell, xp: Any) -> Cell:
    """Divide, with infinity for a denominator that alone is empty and NaN for 0 / 0."""
    return divide(numerator, denominator, xp, xp.where(numerator > 0, xp.inf, xp.nan))


def coefficient(numerator: Cell, denominator: Cell, xp: Any) -> Cell:
    """Divide, with 0 for an empty denominator: by convention, no better than chance.

    The numerator, the covariance of prediction and class, is then 0 too. Setting the missing rate
    to 0 instead would call a constant prediction worse than chance.
    """
    return divide(numerator, denominator, xp)


def root(x: Cell, xp: Any) -> Cell:
    """Return the square root, with the derivative 0 instead of infinity at 0."""
    return xp.where(x != 0, xp.sqrt(xp.where(x != 0, x, 1.0)), 0.0)


def corrected_for_chance(error: Cell, expected_error: Cell, xp: Any) -> Cell:
    """Return (accuracy - expectation) / (1 - expectation); 0 if no error can be expected."""
    return 1 - divide(error, expected_error, xp, 1.0)


@dataclass(frozen=True, eq=False)
class Proportions:
    """Proportions with predicted classes in the rows, and what several measures need of them."""

    proportions: Float[AnyArray, "k k"]
    xp: Any  # the namespace that computes: NumPy's, JAX's or autograd's
    labels: tuple[Hashable, ...]

    @cached_property
    def cells(self) -> Cells:
        """Each class against the rest."""
        return one_vs_rest(self.proportions, self.xp)

    @cached_property
    def positive_class(self) -> Cells:
        """Of two classes, the second against the first."""
        table = self.proportions
        return Cells(table[1, 1], table[1, 0], table[0, 1], table[0, 0], self.xp)

    @cached_property
    def error(self) -> Scalar:
        """Proportion of wrong predictions, without the rounding of one minus accuracy."""
        return self.cells.fp.sum()


def entropy(proportions: Cell, xp: Any) -> Scalar:
    """Return the entropy in nats."""
    # An empty cell adds nothing, and neither does its infinite derivative.
    occupied = proportions > 0
    logs = xp.log(xp.where(occupied, proportions, 1.0))
    return xp.where(occupied, -proportions * logs, 0.0).sum()
