"""The rank-one fit of many columns by two products per sweep with the matrix of rates.

The rates enter the derivatives of the objective linearly: by their products with the column
effects, and with the row effects. The rates themselves are never stored: the sizes of classes, by
which counts are divided, are taken into the factors. All else is a sum over cells of functions that
are smooth in the logarithm of the column effect, and is interpolated at a few dozen Chebyshev
nodes, without losing a digit. For sigmoid(lambda v) has no singularity in log v within pi/2 of the
real line.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.polynomial.chebyshev import chebvander

from dmfroc._kit.threads import one_blas_thread, parallel_map, tasks_of
from dmfroc.multiclass.rank_one import (
    INNERMOST_RATE,
    Adjoint,
    Center,
    ColumnEffect,
    Derivatives,
    RowEffect,
    alternate_with,
    guessed_columns,
    in_scale,
    logit,
    prior_derivatives,
    sigmoid,
    stepped_columns,
)

PerHalf = Float[np.ndarray, "q halves"]
"""One number for each half of each column."""

_AT_ONCE = 1 << 10  # columns; what is made of them fits a processor's cache
_TASKS_PER_CORE = 4
_ACCURACY = 1e-16
_MOST_NODES = 128


class _Nodes(NamedTuple):
    """Chebyshev nodes of the second kind in the logarithm of the column effects."""

    middle: float
    half: float  # of the range of the logarithms
    effects: Float[np.ndarray, " m"]
    coefficients: Float[np.ndarray, "m m"]  # of Chebyshev polynomials, from values at the nodes

    def basis(self, column_effect: ColumnEffect) -> Float[np.ndarray, "b m"]:
        """Return what interpolates at these column effects, from values at the nodes."""
        x = (np.log(column_effect) - self.middle) / self.half
        return chebvander(x, len(self.effects) - 1) @ self.coefficients

    def interpolate(
        self, at_nodes: Float[np.ndarray, "halves m"], column_effect: ColumnEffect
    ) -> PerHalf:
        """Return the values at column effects from those at the nodes."""
        return _joined(lambda b: self.basis(column_effect[b]) @ at_nodes.T, len(column_effect))


def _joined(function: Callable[[slice], np.ndarray], n_columns: int) -> np.ndarray:
    """Return what a function makes of all columns, from blocks of them."""
    parts = parallel_map(lambda blocks: [function(b) for b in blocks], _tasks(n_columns))
    return np.concatenate(list(itertools.chain.from_iterable(parts)))


def _summed(function: Callable[[slice], np.ndarray], n_columns: int) -> np.ndarray:
    """Return the sum of what a function makes of blocks of columns."""
    parts: Any = parallel_map(lambda blocks: sum(map(function, blocks)), _tasks(n_columns))
    return np.sum(parts, axis=0)


def _tasks(n_columns: int) -> list[list[slice]]:
    """Divide blocks of columns among the cores."""
    blocks = [slice(first, first + _AT_ONCE) for first in range(0, n_columns, _AT_ONCE)]
    return tasks_of(blocks, _TASKS_PER_CORE)


def _nodes_for(column_effect: ColumnEffect) -> _Nodes:
    """Return as many nodes as make the error of interpolation that of rounding."""
    low, high = math.log(column_effect.min()), math.log(column_effect.max())
    half = max((high - low) / 2, 1e-3)
    ratio = math.pi / 2 / half
    rate = math.log(ratio + math.sqrt(1 + ratio**2))  # of the geometric convergence
    needed = 4 - math.log(_ACCURACY) / rate  # NaN if a class has no rows: so is the fit then
    n_nodes = math.ceil(min(max(8, needed), _MOST_NODES))
    x = np.cos(np.linspace(math.pi, 0, n_nodes))
    middle = (low + high) / 2
    coefficients = np.linalg.inv(chebvander(x, n_nodes - 1))
    return _Nodes(middle, half, np.exp(middle + half * x), coefficients)


@dataclass(frozen=True, eq=False)
class Products:
    """Rates ``counts / sizes`` whose weights depend on the column and on the half alone."""

    counts: Float[np.ndarray, "q halves t"]
    sizes: PerHalf
    weights: PerHalf
    shrinkage: float

    def first_guess(self) -> tuple[RowEffect, ColumnEffect]:
        """Return the logits of the weighted row means, and column effects that go with them."""
        means = self._weighted_sums(self.weights) / self.weights.sum(axis=0)[:, None]
        row_effect = logit(means, np)

        def columns(block: slice) -> ColumnEffect:
            weights = self.weights[block]
            sums = (weights * self._block_times(block, self.counts[block], row_effect)).sum(axis=1)
            return guessed_columns(row_effect, weights[..., None], sums, self.shrinkage, np)

        column_effect = _joined(columns, len(self.counts))
        return in_scale(row_effect, column_effect, self.shrinkage, np)

    def fit(self, start: tuple[Any, Any], max_sweeps: int) -> Center:
        """Fit the model."""
        column_weight = self.shrinkage + self.counts.shape[2] * self.weights.sum(axis=1)
        row_weight = self.weights.sum(axis=0)[:, None]
        sums = [self._weighted_sums(self.weights * start[1][:, None])]  # after the last step

        def over_columns(row_effect: Any, column_effect: Any) -> Derivatives:
            return self._over_columns(row_effect, column_effect, sums.pop())

        def step_columns(*effects_and_relaxation: Any) -> tuple[Derivatives, Any]:
            derivatives, stepped, stepped_sums = self._step_columns(*effects_and_relaxation)
            sums.append(stepped_sums / stepped.mean())  # by which a sweep divides the effects
            return derivatives, stepped

        totals = row_weight, column_weight
        with one_blas_thread():
            return alternate_with(
                over_columns, step_columns, totals, self.shrinkage, start, max_sweeps, np
            )

    # A rate is drawn in from 0 and 1: a constant, and a multiple of counts / sizes

    def _block_sums(
        self,
        block: slice,
        counts: Float[np.ndarray, "b halves t"],
        factors: Float[np.ndarray, "b halves"],
    ) -> RowEffect:
        """Return the sums over a block's columns of factors times rates."""
        scaled = factors * (1 - 2 * INNERMOST_RATE) / self.sizes[block]
        sums = np.stack([x @ counts[:, h] for h, x in enumerate(scaled.T)])
        return sums + INNERMOST_RATE * factors.sum(axis=0)[:, None]

    def _block_times(
        self,
        block: slice,
        counts: Float[np.ndarray, "b halves t"],
        rows: Float[np.ndarray, "halves t *sets"],
    ) -> Float[np.ndarray, "b halves *sets"]:
        """Return the sums over the halves of a block's columns of rates times ``rows``."""
        sums = np.stack([counts[:, h] @ x for h, x in enumerate(rows)], axis=1)
        slopes = (1 - 2 * INNERMOST_RATE) / self.sizes[block]
        sums *= slopes.reshape(slopes.shape + (1,) * (sums.ndim - 2))
        return sums + INNERMOST_RATE * rows.sum(axis=1)

    def _weighted_sums(self, factors: PerHalf) -> RowEffect:
        return _summed(
            lambda block: self._block_sums(block, self.counts[block], factors[block]), len(factors)
        )

    def times(
        self, rows: Float[np.ndarray, "halves t *sets"]
    ) -> Float[np.ndarray, "q halves *sets"]:
        """Return the sums over each half of the rates times numbers of the rows."""
        return _joined(
            lambda block: self._block_times(block, self.counts[block], rows), len(self.counts)
        )

    def fitted_times(self, solution: Center, rows: RowEffect) -> PerHalf:
        """Return the same of the fitted rates."""
        nodes = _nodes_for(solution.column_effect)
        fitted = sigmoid(solution.row_effect[..., None] * nodes.effects, np)
        at_nodes = (rows[..., None] * fitted).sum(axis=1)
        return nodes.interpolate(at_nodes, solution.column_effect)

    def _over_columns(
        self, row_effect: RowEffect, column_effect: ColumnEffect, sums: RowEffect | float
    ) -> Derivatives:
        """Return the derivatives of the objective with respect to the row effects.

        ``sums`` are those over columns of weights, column effects and rates.
        """
        nodes = _nodes_for(column_effect)
        at_nodes = _summed(
            lambda block: self.weights[block].T @ nodes.basis(column_effect[block]),
            len(column_effect),
        )
        fitted = sigmoid(row_effect[..., None] * nodes.effects, np)
        at_nodes = at_nodes[:, None] * nodes.effects
        return Derivatives(
            (fitted * at_nodes).sum(axis=-1) - sums,
            (fitted * (1 - fitted) * (at_nodes * nodes.effects)).sum(axis=-1),
        )

    def _over_rows(
        self, row_effect: RowEffect, column_effect: ColumnEffect
    ) -> Callable[[slice, Any], Derivatives]:
        """Return what finds the derivatives with respect to the column effects of a block.

        It takes the block's rates times the row effects; the curvature does not depend on them.
        """
        nodes = _nodes_for(column_effect)
        fitted = sigmoid(row_effect[..., None] * nodes.effects, np)
        first = (row_effect[..., None] * fitted).sum(axis=1)
        second = (row_effect[..., None] ** 2 * fitted * (1 - fitted)).sum(axis=1)

        def in_block(block: slice, products: Any) -> Derivatives:
            weights, basis = self.weights[block], nodes.basis(column_effect[block])
            gradient = weights * (basis @ first.T - products)
            curvature = weights * (basis @ second.T)
            prior = prior_derivatives(self.shrinkage, column_effect[block], np)
            return Derivatives(
                gradient.sum(axis=1) + prior.gradient, curvature.sum(axis=1) + prior.curvature
            )

        return in_block

    def _step_columns(
        self, row_effect: RowEffect, column_effect: ColumnEffect, relaxation: Any
    ) -> tuple[Derivatives, ColumnEffect, RowEffect]:
        """Return derivatives, column effects after a step, and the sums over columns with these.

        All in one go through the counts, which takes as long as reading them does.
        """
        block_derivatives = self._over_rows(row_effect, column_effect)

        def step(blocks: list[slice]) -> tuple[np.ndarray, np.ndarray]:
            stepped_blocks, total = [], np.zeros_like(row_effect)
            for block in blocks:
                counts = self.counts[block]
                products = self._block_times(block, counts, row_effect)
                derivatives = block_derivatives(block, products)
                stepped = stepped_columns(
                    derivatives, row_effect, column_effect[block], self.shrinkage, relaxation, np
                )
                stepped_blocks.append(np.stack([*derivatives, stepped]))
                total += self._block_sums(block, counts, self.weights[block] * stepped[:, None])
            return np.concatenate(stepped_blocks, axis=1), total

        parts = parallel_map(step, _tasks(len(column_effect)))
        gradient, curvature, stepped = np.concatenate([part for part, _ in parts], axis=1)
        return Derivatives(gradient, curvature), stepped, np.sum([x for _, x in parts], axis=0)

    def adjoint(self, solution: Center) -> Adjoint:
        """Differentiate the optimality conditions."""
        row_effect, column_effect = solution.row_effect, solution.column_effect
        n_rows = row_effect.size
        coupling = _Coupling.of(self, solution)
        with one_blas_thread():
            block_derivatives = self._over_rows(row_effect, column_effect)
            column_curvature = _joined(
                lambda block: block_derivatives(block, 0).curvature, len(column_effect)
            )
            # Curvature has nothing to do with the rates
            row_curvature = self._over_columns(row_effect, column_effect, 0.0).curvature
            eliminated = coupling.square(column_curvature)
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


@dataclass(frozen=True, eq=False)
class _Coupling:
    """The mixed second derivatives of the objective, as a matrix of shape (q, rows).

    They are smooth in the column effect but for the rates. Products with vectors are products with
    the counts; the matrix itself is made block by block, for its square.
    """

    __array_ufunc__ = None  # leaves the product of an array and this to __rmatmul__

    cells: Products
    column_effect: ColumnEffect
    nodes: _Nodes
    smooth: Float[np.ndarray, "halves t m"]

    @classmethod
    def of(cls, cells: Products, solution: Center) -> _Coupling:
        nodes = _nodes_for(solution.column_effect)
        eta = solution.row_effect[..., None] * nodes.effects
        fitted = sigmoid(eta, np)
        smooth = fitted + eta * fitted * (1 - fitted)
        return cls(cells, solution.column_effect, nodes, smooth)

    def __matmul__(self, x: RowEffect) -> ColumnEffect:
        rows = x.reshape(self.smooth.shape[:2])
        at_nodes = (rows[..., None] * self.smooth).sum(axis=1)
        smooth = self.nodes.interpolate(at_nodes, self.column_effect)
        return (self.cells.weights * (smooth - self.cells.times(rows))).sum(axis=1)

    def __rmatmul__(self, y: ColumnEffect) -> RowEffect:
        factors = self.cells.weights * y[:, None]

        def in_block(block: slice) -> np.ndarray:
            return factors[block].T @ self.nodes.basis(self.column_effect[block])

        at_nodes = _summed(in_block, len(y))
        smooth = (self.smooth * at_nodes[:, None]).sum(axis=-1)
        return (smooth - self.cells._weighted_sums(factors)).ravel()

    def square(self, divisors: ColumnEffect) -> Float[np.ndarray, "rows rows"]:
        """Return the matrix's transpose times the matrix, each row divided by a number."""
        halves, n_thresholds, _ = self.smooth.shape
        smooth = self.smooth.reshape(halves * n_thresholds, -1).T
        cells = self.cells

        def in_block(block: slice) -> np.ndarray:
            weights = cells.weights[block] / np.sqrt(divisors[block])[:, None]
            some = self.nodes.basis(self.column_effect[block]) @ smooth
            by_half = some.reshape(len(some), halves, n_thresholds)
            slopes = (1 - 2 * INNERMOST_RATE) / cells.sizes[block]
            by_half -= cells.counts[block] * slopes[..., None]
            by_half -= INNERMOST_RATE
            by_half *= weights[..., None]
            return some.T @ some

        return _summed(in_block, len(divisors))
