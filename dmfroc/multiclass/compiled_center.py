"""The rank-one fit by JAX: differentiable by it, and compiled for many cells."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dmfroc.multiclass.rank_one import (
    Center,
    adjoint,
    alternate,
    outer,
    prior_derivatives,
    sigmoid,
)


@partial(jax.custom_vjp, nondiff_argnums=(4,))
def solve(
    rates: Float[Array, " q *row"],
    weights: Float[Array, " #q *#row"],
    shrinkage: Float[Array, ""],
    start: tuple[Float[Array, "*row"], Float[Array, " q"]],
    max_sweeps: int,
) -> Center:
    """Fit the model; differentiable with respect to the rates, the weights and the shrinkage."""
    return alternate(rates, weights, shrinkage, start, max_sweeps, jnp)


_Residuals = tuple[Any, ...]  # rates, weights, shrinkage, start, solution


def _solve_forward(
    rates: Array, weights: Array, shrinkage: Array, start: tuple[Array, Array], max_sweeps: int
) -> tuple[Center, _Residuals]:
    solution = solve(rates, weights, shrinkage, start, max_sweeps)
    return solution, (rates, weights, shrinkage, start, solution)


def _solve_backward(
    max_sweeps: int, residuals: _Residuals, cotangent: Center
) -> tuple[Array, Array, Array, tuple[Array, Array]]:
    del max_sweeps
    rates, weights, shrinkage, start, solution = residuals
    pulled = adjoint(rates, weights, shrinkage, solution, jnp).pull_back(cotangent, jnp)
    unweighted = pulled._replace(weights=jnp.ones_like(weights)).columns()
    eta = outer(solution.row_effect, solution.column_effect)
    of_cells = (rates - sigmoid(eta, jnp)) * unweighted
    repeated = [axis for axis, size in enumerate(weights.shape) if size < rates.shape[axis]]
    slope = prior_derivatives(jnp.asarray(1.0), solution.column_effect, jnp).gradient
    return (
        weights * unweighted,
        of_cells.sum(axis=repeated, keepdims=True),
        -(pulled.column_adjoint * slope).sum(),
        jax.tree.map(jnp.zeros_like, start),  # the optimum is the same from any start
    )


solve.defvjp(_solve_forward, _solve_backward)
