"""The rank-one fit of many columns by two products per sweep with the matrix of rates.

The rates enter the derivatives of the objective linearly: by their products with the column
effects, and with the row effects. All else is a sum over cells of functions that are smooth in the
logarithm of the column effect, and is interpolated at a few dozen Chebyshev nodes, without losing a
digit: sigmoid(lambda v) has no singularity in log v within pi/2 of the real line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._threads import one_blas_thread, parallel_map
from dmfroc.multiclass.rank_one import (
    Adjoint,
    Center,
    Derivatives,
    alternate_with,
    prior_derivatives,
    sigmoid,
)

_AT_ONCE = 1 << 12  # columns, whose rates fit a processor's cache
_ACCURACY = 1e-16
_MOST_NODES = 128


class _Nodes(NamedTuple):
    """Chebyshev nodes of the second kind in the logarithm of the column effects."""

    logarithms: Float[np.ndarray, " m"]
    signs: Float[np.ndarray, " m"]  # weights of the barycentric formula

    @property
    def effects(self) -> Float[np.ndarray, " m"]:
        found: Float[np.ndarray, " m"] = np.exp(self.logarithms)
        return found

    def basis(self, column_effect: Float[np.ndarray, " b"]) -> Float[np.ndarray, "b m"]:
        """Return what interpolates at these column effects, from values at the nodes."""
        distance = np.log(column_effect)[:, None] - self.logarithms
        is_node = distance == 0
        found = self.signs / np.where(is_node, 1, distance)
        at_node = is_node.any(axis=1)
        found[at_node] = is_node[at_node]
        found /= found.sum(axis=1, keepdims=True)
        return found


def _nodes_between(lowest: float, highest: float) -> _Nodes:
    """Return as many nodes as make the error of interpolation that of rounding."""
    low, high = math.log(lowest), math.log(highest)
    half = max((high - low) / 2, 1e-3)
    ratio = math.pi / 2 / half
    rate = math.log(ratio + math.sqrt(1 + ratio**2))  # of the geometric convergence
    n_nodes = min(max(math.ceil(-math.log(_ACCURACY) / rate) + 4, 8), _MOST_NODES)
    angles = np.linspace(0, math.pi, n_nodes)
    signs = np.where(np.arange(n_nodes) % 2, -1.0, 1.0)
    signs[[0, -1]] /= 2
    return _Nodes((low + high) / 2 - half * np.cos(angles), signs)


@dataclass(frozen=True, eq=False)
class Products:
    """Rates whose weights depend on the column and on the half, not on the threshold."""

    rates: Float[np.ndarray, "q halves t"]
    weights: Float[np.ndarray, "q halves"]
    shrinkage: float

    @classmethod
    def of(cls, rates: Any, weights: Any, shrinkage: Any) -> Products | None:
        """Return the products if they apply: three axes, even weights, a prior."""
        if rates.ndim != 3 or weights.shape[2] != 1 or not shrinkage > 0:
            return None
        even = np.broadcast_to(weights, (*rates.shape[:2], 1))[..., 0]
        return cls(rates, np.ascontiguousarray(even), float(shrinkage))

    def fit(self, start: tuple[Any, Any], max_sweeps: int) -> Center:
        """Fit the model."""
        column_weight = self.shrinkage + self.rates.shape[2] * self.weights.sum(axis=1)
        row_weight = self.weights.sum(axis=0)[:, None]
        with one_blas_thread():
            return alternate_with(
                self._over_columns,
                self._over_rows,
                (row_weight, column_weight),
                self.shrinkage,
                start,
                max_sweeps,
                np,
            )

    def _blocks(self, function: Callable[[slice], Any]) -> list[Any]:
        starts = range(0, len(self.rates), _AT_ONCE)
        return parallel_map(function, [slice(first, first + _AT_ONCE) for first in starts])

    def _over_columns(
        self, row_effect: Float[np.ndarray, "halves t"], column_effect: Float[np.ndarray, " q"]
    ) -> Derivatives:
        """Return the derivatives of the objective with respect to the row effects."""
        nodes = _nodes_between(column_effect.min(), column_effect.max())

        def of_block(block: slice) -> tuple[np.ndarray, np.ndarray]:
            weights, rates = self.weights[block], self.rates[block]
            at_nodes = weights.T @ nodes.basis(column_effect[block])
            weighted = weights * column_effect[block, None]
            products = [of_half @ rates[:, h] for h, of_half in enumerate(weighted.T)]
            return at_nodes, np.stack(products)

        found = self._blocks(of_block)
        at_nodes, products = (np.sum([x[i] for x in found], axis=0) for i in (0, 1))
        fitted = sigmoid(row_effect[..., None] * nodes.effects, np)
        at_nodes = at_nodes[:, None] * nodes.effects
        return Derivatives(
            (fitted * at_nodes).sum(axis=-1) - products,
            (fitted * (1 - fitted) * (at_nodes * nodes.effects)).sum(axis=-1),
        )

    def _over_rows(
        self, row_effect: Float[np.ndarray, "halves t"], column_effect: Float[np.ndarray, " q"]
    ) -> Derivatives:
        """Return the derivatives of the objective with respect to the column effects."""
        nodes = _nodes_between(column_effect.min(), column_effect.max())
        fitted = sigmoid(row_effect[..., None] * nodes.effects, np)
        first = (row_effect[..., None] * fitted).sum(axis=1)
        second = (row_effect[..., None] ** 2 * fitted * (1 - fitted)).sum(axis=1)

        def of_block(block: slice) -> np.ndarray:
            weights, rates = self.weights[block], self.rates[block]
            basis = nodes.basis(column_effect[block])
            products = np.stack([rates[:, h] @ x for h, x in enumerate(row_effect)], axis=1)
            gradient = (weights * (basis @ first.T - products)).sum(axis=1)
            return np.stack([gradient, (weights * (basis @ second.T)).sum(axis=1)])

        gradient, curvature = np.concatenate(self._blocks(of_block), axis=1)
        prior = prior_derivatives(self.shrinkage, column_effect, np)
        return Derivatives(gradient + prior.gradient, curvature + prior.curvature)

    def adjoint(self, solution: Center) -> Adjoint:
        """Differentiate the optimality conditions."""
        row_effect, column_effect = solution.row_effect, solution.column_effect
        n_rows, (q, halves) = row_effect.size, self.weights.shape
        nodes = _nodes_between(column_effect.min(), column_effect.max())
        with one_blas_thread():
            column_curvature = self._over_rows(row_effect, column_effect).curvature
            row_curvature = self._over_columns(row_effect, column_effect).curvature
            eta = row_effect[..., None] * nodes.effects
            fitted = sigmoid(eta, np)
            smooth = (fitted + eta * fitted * (1 - fitted)).reshape(n_rows, -1).T
            coupling = np.empty((q, n_rows))

            def of_block(block: slice) -> np.ndarray:
                some = coupling[block]
                np.matmul(nodes.basis(column_effect[block]), smooth, out=some)
                some -= self.rates[block].reshape(len(some), n_rows)
                by_half = some.reshape(len(some), halves, -1)
                by_half *= self.weights[block][..., None]
                return some.T @ (some / column_curvature[block, None])

            eliminated = np.sum(self._blocks(of_block), axis=0)
        scale = 1 / np.sqrt(row_curvature.ravel())
        system = np.eye(n_rows) - scale[:, None] * eliminated * scale
        return Adjoint(
            self.weights[..., None],
            row_effect,
            column_effect,
            coupling,
            column_curvature,
            scale,
            system,
        )
