"""The centre of a matrix of rates: its rank-one logit model, exact, fast and differentiable.

This is the case of deviance matrix factorization on which the multiclass ROC curve rests; the
general one is in `dmfroc.factorization`. Both know matrices and weights, nothing about classes.
"""

from __future__ import annotations

import functools
from typing import Any

import autograd.numpy as differentiated_numpy
import numpy as np
from autograd.extend import defvjp, primitive
from jaxtyping import Float

from dmfroc._arrays import AnyArray
from dmfroc._autodiff import constant
from dmfroc._global_state import undisturbed
from dmfroc._threads import one_blas_thread
from dmfroc.multiclass.by_products import Products
from dmfroc.multiclass.rank_one import Adjoint, Center, adjoint, alternate, drawn_in, first_guess

_MAX_SWEEPS = 1000
_FEW_CELLS = 1 << 17  # to fit which takes a twentieth of the time of compiling the fit


def center(
    rates: Float[AnyArray, " q *row"],
    weights: Float[AnyArray, " #q *#row"],
    shrinkage: float | int | Float[AnyArray, ""],
    start: tuple[Float[AnyArray, "*row"], Float[AnyArray, " q"]] | None = None,
    max_sweeps: int = _MAX_SWEEPS,
    xp: Any = np,
) -> Center:
    """Fit the rank-one logit model by alternating safeguarded Newton steps.

    Minimises ``sum w [log(1 + e^eta) - M eta] + shrinkage * sum_g (v_g - log v_g)`` with
    ``eta = lambda_t v_g``. The second sum is a Gamma prior with mean one on the column effects:
    it keeps them positive, sets their mean to one, and stops a column that separates perfectly
    from running away. The objective is convex in lambda and in v. The length of every step
    follows from a bound on the third derivative, so that no step can increase the objective.

    Parameters
    ----------
    rates
        The q columns first; within a column, any shape. In [0, 1].
    weights
        Cell weights, broadcast against ``rates``; non-negative.
    shrinkage
        Strength of the prior, in the unit of the weights; with 0 the column effects may have any
        sign and their scale is left at that of the start.
    start
        Row and column effects to start from; by default the logits of the weighted row means.
    max_sweeps
        Passes after which to give up; then ``gradient_norm`` tells how far the fit is.
    xp
        The array namespace to compute by. By NumPy, many cells are fitted by products with the
        rates, see `dmfroc.multiclass.by_products`; where weights vary along the rows or there is
        no prior, by JAX all the same, which compiles the fit for each shape.

    Returns
    -------
    Center
        Differentiable with respect to ``rates`` by the implicit function theorem, at the cost of
        one linear system with as many unknowns as a column has rows.
    """
    rates = drawn_in(rates)
    if start is None:
        start = first_guess(constant(rates, xp), weights, np if xp is differentiated_numpy else xp)
    arguments = weights, xp.asarray(shrinkage, float), start, max_sweeps
    if xp is np:
        return _solve(rates, *arguments)
    if xp is not differentiated_numpy:
        with undisturbed():
            from dmfroc.multiclass.compiled_center import solve

        return solve(rates, *arguments)
    flat, n_rows = _flat_solution(rates, *arguments), start[0].size
    row_effect, column_effect = flat[:n_rows].reshape(start[0].shape), flat[n_rows:-2]
    return Center(row_effect, column_effect, *constant(flat, xp)[-2:])


def _solve(
    rates: Float[np.ndarray, " q *row"],
    weights: Float[np.ndarray, " #q *#row"],
    shrinkage: float | int | Float[AnyArray, ""],
    start: tuple[Float[np.ndarray, "*row"], Float[np.ndarray, " q"]],
    max_sweeps: int,
) -> Center:
    """Fit arrays of NumPy."""
    if rates.size <= _FEW_CELLS:
        with one_blas_thread():
            return alternate(rates, weights, shrinkage, start, max_sweeps, np)
    products = Products.of(rates, weights, shrinkage)
    if products is not None:
        return products.fit(start, max_sweeps)
    with undisturbed():
        from dmfroc.multiclass.compiled_center import solve_many_cells

    return solve_many_cells(rates, weights, shrinkage, start, max_sweeps)


# The solution as one vector, which autograd can differentiate


@primitive  # type: ignore[untyped-decorator]
def _flat_solution(
    rates: Any, weights: Any, shrinkage: Any, start: tuple[Any, Any], max_sweeps: int
) -> Float[np.ndarray, " effects_plus_2"]:
    solution = _solve(rates, weights, shrinkage, start, max_sweeps)
    row_effect, column_effect, *outcome = map(np.asarray, solution)
    return np.concatenate([row_effect.ravel(), column_effect, np.array(outcome, float)])


def _pull_back_flat(
    flat: Any, rates: Any, weights: Any, shrinkage: Any, start: tuple[Any, Any], max_sweeps: int
) -> Any:
    shape, n_rows = start[0].shape, start[0].size

    def effects(x: Float[np.ndarray, " effects_plus_2"]) -> Center:
        return Center(x[:n_rows].reshape(shape), x[n_rows:-2], x[-2], x[-1])

    @functools.cache  # for all derivatives that are asked for
    def prepared() -> Adjoint:
        arguments = rates, weights, shrinkage, effects(flat)
        if rates.size <= _FEW_CELLS:
            return adjoint(*arguments, np)
        products = Products.of(rates, weights, shrinkage)
        if products is not None:
            return products.adjoint(arguments[-1])
        with undisturbed():
            from dmfroc.multiclass.compiled_center import adjoint_of_many_cells

        return adjoint_of_many_cells(*arguments)

    def pull(d_flat: Float[np.ndarray, " effects_plus_2"]) -> Float[np.ndarray, " q *row"]:
        with one_blas_thread():
            return prepared().pull_back(effects(d_flat), np)

    return pull


defvjp(_flat_solution, _pull_back_flat, argnums=(0,))
