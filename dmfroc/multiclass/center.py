"""The centre of a matrix of rates: its rank-one logit model, exact, fast and differentiable.

This is the case of deviance matrix factorization on which the multiclass ROC curve rests; the
general one is in `dmfroc.multiclass.factorization`. Both take matrices and weights, no classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import AnyArray, Scalar
from dmfroc._kit.global_state import undisturbed
from dmfroc.multiclass.by_products import Products
from dmfroc.multiclass.rank_one import (
    CellWeights,
    CellwiseRates,
    Center,
    ColumnEffect,
    RowEffect,
    drawn_in,
    first_guess,
)

_MAX_SWEEPS = 1000
FEW_CELLS = 1 << 17  # to fit which takes a twentieth of the time of compiling the fit

Problem = CellwiseRates | Products
"""A matrix of rates whose centre is looked for, by NumPy, with its derivative."""


def problem_of_counts(
    counts: Float[np.ndarray, "*draws q halves t"],
    sizes: Float[np.ndarray, "*draws q halves"],
    weights: Float[np.ndarray, "q halves 1"],
    shrinkage: float,
) -> Problem:
    """Return the problem of the rates ``counts / sizes``; its prior must be positive."""
    if weights.size * counts.shape[-1] <= FEW_CELLS:
        # In the order of one draw, so that its sums have the digits that they have alone
        rates = np.divide(counts, sizes[..., None], order="C")
        return CellwiseRates(drawn_in(rates), weights, shrinkage)
    return Products(counts, sizes, weights[..., 0], shrinkage)


@np.errstate(under="ignore")
def fit_problem(problem: Problem) -> Center:
    """Fit from where there is no better start."""
    return Center(*map(np.asarray, problem.fit(problem.first_guess(), _MAX_SWEEPS)))


def center(
    rates: Float[AnyArray, " q *row"],
    weights: CellWeights,
    shrinkage: float | int | Scalar,
    start: tuple[RowEffect, ColumnEffect] | None = None,
    max_sweeps: int = _MAX_SWEEPS,
    xp: Any = np,
) -> Center:
    """Fit the rank-one logit model by alternating safeguarded Newton steps.

    Minimises ``sum w [log(1 + e^eta) - M eta] + shrinkage * sum_g (v_g - log v_g)`` with
    ``eta = lambda_t v_g``. The second sum is a Gamma prior with mean one on the column effects:
    it keeps them positive, sets their mean to one, and stops a column that separates perfectly
    from running away. The objective is convex in lambda and in v. The length of every step
    follows from a bound on the third derivative, so that no step can increase the objective. Near
    the optimum steps are lengthened, which takes fewer of them.

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
        Row and column effects to start from; by default the logits of the weighted row means, and
        with a prior the column effects that go with these.
    max_sweeps
        Passes after which to give up; then ``gradient_norm`` tells how far the fit is.
    xp
        The array namespace to compute by.

    Returns
    -------
    Center
        Differentiable with respect to ``rates`` by the implicit function theorem, at the cost of
        one linear system with as many unknowns as a column has rows.
    """
    rates, arguments = drawn_in(rates), (weights, xp.asarray(shrinkage, float))
    if xp is np:
        problem = CellwiseRates(rates, *arguments)
        return problem.fit(start or problem.first_guess(), max_sweeps)
    with undisturbed():
        from jax import lax

        from dmfroc.multiclass.compiled_center import solve
    if start is None:
        start = lax.stop_gradient(first_guess(rates, *arguments, xp))
    return solve(rates, *arguments, start, max_sweeps)
