"""The multiclass ROC curve and its area as functions of arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int

from dmfroc._kit.options import is_one_of, is_traced, unmasked
from dmfroc.functional.arrays import (
    Value,
    array,
    number_of_classes,
    observations,
    run,
    run_on,
    usable,
    wide,
)
from dmfroc.functional.counts import class_totals, pair_table, rate_table
from dmfroc.measures.measure import WithOptions
from dmfroc.measures.ranking import mean_pairwise_area
from dmfroc.multiclass import curve, rank_one
from dmfroc.multiclass.center import center as rank_one_center
from dmfroc.multiclass.costs import PairWeights, weights_of_pairs
from dmfroc.multiclass.factorization import check_rank_and_link
from dmfroc.multiclass.higher_rank import (
    GRADIENT_TOLERANCE,
    Problem,
    by_descent,
    center_of_rank,
    fit_effects,
    identified,
)
from dmfroc.multiclass.links import Link, log_rates
from dmfroc.multiclass.rates import (
    DEFAULT_N_THRESHOLDS,
    DEFAULT_SHRINKAGE,
    LEAST_SHRINKAGE,
    CurveOptions,
    Preset,
    RateTable,
    ThresholdPool,
    ordered_pairs,
)

_ROUNDING = 1e-6  # of a user's rates of 32 bits


class CenterOfRates(NamedTuple):
    """The centre of pairwise rates and its curve; every field can be differentiated.

    Attributes
    ----------
    fpr, tpr : jax.Array of shape (T + 2,)
        The curve, from (0, 0) to (1, 1).
    auc : jax.Array of shape ()
        Trapezoid area under the curve, in [0, 1].
    threshold_effect : jax.Array of shape (2, T)
        Logits of the true (row 0) and false (row 1) positive rates of the curve.
    pair_effect : jax.Array of shape (q,)
        Effect of each pair; positive, with mean one.
    deviance : jax.Array of shape ()
        Weighted binomial deviance of the rates from the fit, >= 0.
    pairwise_fpr, pairwise_tpr : jax.Array of shape (q, T)
        The rates that were fitted.
    cell_weights : jax.Array of shape (q, 2, 1), or as given
        Weights of the true and false positive rates.
    converged : jax.Array of shape ()
        Whether the fit reached a stationary point. Derivatives are right only if it did.
    n_iter : jax.Array of shape ()
        Passes over rows and columns.
    """

    fpr: Float[Array, " points"]
    tpr: Float[Array, " points"]
    auc: Value
    threshold_effect: Float[Array, "2 t"]
    pair_effect: Float[Array, " q"]
    deviance: Value
    pairwise_fpr: Float[Array, "q t"]
    pairwise_tpr: Float[Array, "q t"]
    cell_weights: Float[Array, " ..."]
    converged: Bool[Array, ""]
    n_iter: Int[Array, ""]


def center(
    rates: Any,
    weights: Any = 1.0,
    shrinkage: Any = DEFAULT_SHRINKAGE,
    *,
    rank: int = 1,
    link: Link = "logit",
) -> CenterOfRates:
    """Return the centre of the true and false positive rates of pairs, and its curve.

    Parameters
    ----------
    rates : array of shape (q, 2, T)
        True (place 0) and false (place 1) positive rates of q pairs at T thresholds, in [0, 1],
        both rising with the last axis. Rates need not come from counts.
    weights : array, broadcast to (q, 2, T)
        Weights of the cells, >= 0; their mean is the unit of ``shrinkage``.
    shrinkage : number
        Strength of the prior that draws the pair effects towards one, >= 0, see
        `dmfroc.multiclass_roc`. Less than 1e-6 counts as 1e-6.
    rank, link
        As for `dmfroc.multiclass_roc`. Derivatives of another model than that of rank one with the
        logit take the cube of all effects.

    Returns
    -------
    CenterOfRates
        Differentiable with respect to all three arguments, by the implicit equation of the fit.

    Raises
    ------
    ValueError
        If a shape does not fit or a number that is not traced is out of its range.

    References
    ----------
    Wang and Carvalho (2024), Multiclass ROC, sections 3.3 to 3.5.

    Examples
    --------
    >>> fpr = np.array([0.1, 0.3, 0.6])
    >>> rates = np.array([[fpr**0.2, fpr], [fpr**0.4, fpr]])
    >>> print(f"{center(rates).auc:.3f}")
    0.759
    """
    arrays = _checked_problem(rates, weights, shrinkage, "(q, 2, T) with q, T >= 1")
    check_rank_and_link(rank, link, (len(arrays[0]), arrays[0][0].size))
    return run(WithOptions(_center, rank=rank, link=link), *arrays)


def _checked_problem(
    rates: Any, weights: Any, shrinkage: Any, shape: str
) -> tuple[Float[Any, "*cells"], Float[Any, ...], Float[Any, ""]]:
    """Return arrays of shapes that fit; check what is known of their values."""
    rates, weights = _checked("rates", rates, 1.0), _checked("weights", weights)
    of_three = rates.ndim == 3 and rates.shape[1] == 2
    if not (of_three if "2," in shape else rates.ndim == 2) or not rates.size:
        raise ValueError(f"rates must have shape {shape}, but their shape is {rates.shape}")
    try:
        fits = np.broadcast_shapes(weights.shape, rates.shape) == rates.shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"weights of shape {weights.shape} do not broadcast to the shape {rates.shape} of rates"
        )
    return rates, weights, _checked("shrinkage", shrinkage)


def _checked(name: str, x: Any, most: float = np.inf) -> Any:
    """Return an array; its values are in their range, unless it is traced."""
    x = array(name, unmasked(name, x))
    if name == "shrinkage" and x.ndim:
        raise ValueError(f"shrinkage must be one number, but its shape is {x.shape}")
    if is_traced(x):
        return x
    known = np.asarray(x)
    if not (np.isfinite(known).all() and (known >= 0).all() and (known <= most).all()):
        limits = "in [0, 1]" if most == 1 else "finite and >= 0"
        raise ValueError(f"{name} must be {limits}")
    return x


def _usable(rates: Array, weights: Array, shrinkage: Array) -> tuple[Array, Array, Array]:
    """Return numbers of 64 bits; rates are NaN if what is traced, and was not checked, is wrong."""
    rates, weights, shrinkage = map(wide, (rates, weights, shrinkage))
    is_right = (abs(rates - 0.5) <= 0.5 + _ROUNDING).all() & (shrinkage >= 0)
    is_right &= ((weights >= 0) & jnp.isfinite(weights)).all()
    return rates * jnp.where(is_right, 1.0, jnp.nan), weights, shrinkage


def _center(
    rates: Array, weights: Array, shrinkage: Array, *, rank: int, link: Link
) -> CenterOfRates:
    rates, weights, shrinkage = _usable(rates, weights, shrinkage)
    cells = weights.reshape(*(1,) * (3 - weights.ndim), *weights.shape)
    if (rank, link) == (1, "logit"):
        weight = cells / rates.shape[-1]
        solution: Any = rank_one_center(rates, weight, _positive(shrinkage), xp=jnp)
    else:
        solution = center_of_rank(rates, cells, _positive(shrinkage), rank, link)
    numbers = curve.numbers_of_fit(solution, rates, cells, jnp)
    return CenterOfRates(**numbers, cell_weights=cells)


class FactorizationOfRates(NamedTuple):
    """A factorization ``link(E[M]) = row_effects @ column_effects.T``; all can be differentiated.

    Attributes
    ----------
    row_effects : jax.Array of shape (m, rank)
        Orthogonal columns, the longest first.
    column_effects : jax.Array of shape (q, rank)
        Orthonormal columns, each with a non-negative sum.
    fitted : jax.Array of shape (m, q)
        Fitted rates.
    deviance : jax.Array of shape ()
        Weighted binomial deviance of the rates from the fit, >= 0.
    converged : jax.Array of shape ()
        Whether the gradient vanishes. Derivatives are right only if it does.
    n_iter : jax.Array of shape ()
        Iterations of L-BFGS.
    """

    row_effects: Float[Array, "m rank"]
    column_effects: Float[Array, "q rank"]
    fitted: Float[Array, "m q"]
    deviance: Value
    converged: Bool[Array, ""]
    n_iter: Int[Array, ""]


def dmf(
    rates: Any, weights: Any = 1.0, *, rank: int = 1, link: Link = "logit", shrinkage: Any = 0.0
) -> FactorizationOfRates:
    """Factorize a matrix of rates as `dmfroc.dmf` does, by a function that can be traced.

    Parameters
    ----------
    rates : array of shape (m, q)
        Rates, in [0, 1]. Missing ones may be any number there, with the weight 0.
    weights : array, broadcast to (m, q)
        Weights of the cells, >= 0. In each row and column at least ``rank`` cells need a positive
        one.
    rank : int
        Number of factors, at most min(m, q).
    link : {"logit", "probit", "cloglog"}
        Link function.
    shrinkage : number
        Adds half of this times the squared deviations of the linear predictor from its mean over
        the columns to half of the deviance; >= 0.

    Returns
    -------
    FactorizationOfRates
        Differentiable with respect to rates, weights and shrinkage by the implicit equation of the
        optimum, which takes the cube of ``rank * (m + q)`` operations.

    Raises
    ------
    ValueError
        If a shape does not fit, or an option or a number that is not traced is out of its range.

    References
    ----------
    Wang and Carvalho (2023), Deviance matrix factorization, Electronic Journal of Statistics 17.

    Examples
    --------
    >>> effects = np.outer([-2, -1, 0, 1, 2], [0.5, 1, 1.5])
    >>> fit = dmf(1 / (1 + np.exp(-effects)))
    >>> product = fit.row_effects @ fit.column_effects.T
    >>> bool(fit.converged), bool(np.allclose(product, effects, atol=1e-4))
    (True, True)
    """
    arrays = _checked_problem(rates, weights, shrinkage, "(m, q) with m, q >= 1")
    check_rank_and_link(rank, link, arrays[0].shape)
    return run(WithOptions(_factorize, rank=rank, link=link), *arrays)


def _factorize(
    rates: Array, weights: Array, shrinkage: Array, *, rank: int, link: Link
) -> FactorizationOfRates:
    rates, weights, shrinkage = _usable(rates, weights, shrinkage)
    weights = jnp.broadcast_to(weights, rates.shape)
    problem = Problem(rank_one.drawn_in(rates.T), weights.T, shrinkage)
    effects = fit_effects(problem, rank, link, by_descent)
    log_p, log_q = log_rates(effects.rows @ effects.columns.T, link, jnp)
    row_effects, column_effects = identified(effects.rows, effects.columns)
    return FactorizationOfRates(
        row_effects=row_effects,
        column_effects=column_effects,
        fitted=jnp.exp(log_p),
        deviance=rank_one.binomial_deviance(rates, log_p - log_q, weights, jnp),
        converged=effects.gradient_norm <= GRADIENT_TOLERANCE,
        n_iter=effects.n_iter,
    )


def _positive(shrinkage: Array) -> Array:
    """Return at least the least strength, with the derivative of the strength itself."""
    return shrinkage + lax.stop_gradient(jnp.maximum(LEAST_SHRINKAGE - shrinkage, 0.0))


def multiclass_roc(
    y: Any,
    scores: Any,
    weights: Any = None,
    *,
    n_classes: int,
    pair_weights: PairWeights = "equal",
    n_thresholds: int = DEFAULT_N_THRESHOLDS,
    shrinkage: Any = DEFAULT_SHRINKAGE,
    threshold_pool: ThresholdPool = "column",
    threshold_weights: Any = None,
    rank: int = 1,
    link: Link = "logit",
    preset: Preset = "default",
) -> CenterOfRates:
    """Return the multiclass ROC curve of three or more classes with the rates that it is from.

    Parameters
    ----------
    y, scores, weights, n_classes
        As for `value`.
    pair_weights, n_thresholds, shrinkage, threshold_pool, preset
        As for `dmfroc.multiclass_roc`; classes have no names here. Matrices of weights and the
        shrinkage may be traced.
    threshold_weights : array of shape (n,), optional
        The weights that place the thresholds, and that ``"prevalence"`` counts; by default
        ``weights``. They have no derivative: thresholds stay where they are when a weight changes,
        as in every standard error of this package. Give them to evaluate one set of thresholds
        under many weights, as a bootstrap does.
    rank, link
        As for `center`.

    Returns
    -------
    CenterOfRates
        Of the ordered pairs (0, 1), (0, 2), ..., (1, 0), ...

    Raises
    ------
    ValueError, TypeError
        If an option is out of its range, a shape does not fit, or there are two classes, whose
        curve has a point for each score.

    References
    ----------
    Wang and Carvalho (2024), Multiclass ROC, sections 3.2 to 3.6.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> found = multiclass_roc([0, 0, 1, 1, 2, 2, 1], scores, n_classes=3)
    >>> print(f"{found.auc:.3f}", bool(found.converged))
    0.872 True
    """
    if number_of_classes(n_classes) == 2:
        raise ValueError(
            "n_classes must be at least 3: the curve of two classes is their empirical ROC curve, "
            "see dmfroc.curves.roc_curve; dmf_auc and hand_till have its area"
        )
    options = pair_weights, n_thresholds, shrinkage, threshold_pool
    summary = WithOptions(curve_of, rank=rank, link=link)
    program, shrinkage = _table_program(n_classes, options, preset, summary)
    check_rank_and_link(rank, link, (n_classes * (n_classes - 1), 2 * n_thresholds))
    return _run(program, y, scores, weights, n_classes, pair_weights, shrinkage, threshold_weights)


def dmf_auc(
    y: Any,
    scores: Any,
    weights: Any = None,
    *,
    n_classes: int,
    pair_weights: PairWeights = "equal",
    n_thresholds: int = DEFAULT_N_THRESHOLDS,
    shrinkage: Any = DEFAULT_SHRINKAGE,
    threshold_pool: ThresholdPool = "column",
    threshold_weights: Any = None,
    preset: Preset = "default",
) -> Value:
    """Return the area under the multiclass ROC curve of Wang and Carvalho.

    Parameters
    ----------
    y, scores, weights, n_classes
        As for `value`.
    pair_weights, n_thresholds, shrinkage, threshold_pool, threshold_weights, preset
        As for `multiclass_roc`.

    Returns
    -------
    jax.Array
        A number in [0, 1]; 1/2 for guessing. For two classes the ordinary area under the ROC
        curve of the second.

    Raises
    ------
    ValueError, TypeError
        As for `multiclass_roc`, but for two classes.

    References
    ----------
    Wang and Carvalho (2024), Multiclass ROC, equation 22.

    Examples
    --------
    >>> print(f"{dmf_auc([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], n_classes=2):.2f}")
    0.75
    """
    n_classes = number_of_classes(n_classes)
    options = pair_weights, n_thresholds, shrinkage, threshold_pool
    program, shrinkage = _table_program(n_classes, options, preset, curve.area)
    if n_classes == 2:
        _checked("shrinkage", shrinkage)
        data = observations(y, scores, weights, n_classes, is_checked_later=True)
        return run_on(_area_of_two, data)
    return _run(program, y, scores, weights, n_classes, pair_weights, shrinkage, threshold_weights)


def _area_of_two(y: Array, scores: Array, weights: Array | None) -> Array:
    y, weights = usable(y, scores, weights, 2)
    # By the column of the second, and without predicted classes
    return mean_pairwise_area(pair_table(y, scores, weights, np.array([1]), 1, y), jnp)


def _table_program(
    n_classes: Any, options: tuple[Any, ...], preset: Any, summary: Any
) -> tuple[WithOptions, Any]:
    """Return the program and the shrinkage that it takes, which may be traced without a preset."""
    pair_weights, n_thresholds, shrinkage, threshold_pool = options
    kind, is_own = pair_weights if isinstance(pair_weights, str) else "equal", preset == "default"
    numbers = n_thresholds, DEFAULT_SHRINKAGE if is_own else shrinkage, threshold_pool
    checked = CurveOptions(kind, *numbers, preset=preset)
    program = WithOptions(
        _summarise_rates,
        n_classes=n_classes,
        n_thresholds=checked.n_thresholds,
        threshold_pool=checked.threshold_pool,
        times_sizes=not is_one_of(checked.pair_weights, ("equal",)),
        summary=summary,
    )
    return program, shrinkage if is_own else checked.shrinkage


def _run(
    program: WithOptions,
    y: Any,
    scores: Any,
    weights: Any,
    n_classes: int,
    pair_weights: Any,
    shrinkage: Any,
    threshold_weights: Any,
) -> Any:
    data = observations(y, scores, weights, n_classes, is_checked_later=True)
    shrinkage = _checked("shrinkage", shrinkage)
    if threshold_weights is not None:
        names = "y", "threshold_weights"
        threshold_weights = observations(y, None, threshold_weights, n_classes, names=names).weights
    matrices = None
    if not isinstance(pair_weights, str):
        is_two = isinstance(pair_weights, tuple) and len(pair_weights) == 2
        given = pair_weights if is_two else (pair_weights,)
        matrices = tuple(array("pair_weights", unmasked("pair_weights", x)) for x in given)
        for matrix in matrices:
            if matrix.shape != (n_classes, n_classes):
                raise ValueError(
                    "pair_weights must be 'equal', 'prevalence', a cost matrix or two matrices of "
                    f"shape {(n_classes, n_classes)}, but one has shape {matrix.shape}"
                )
            if not is_traced(matrix):
                _checked("pair_weights", np.where(np.eye(n_classes), 0.0, matrix))
    return run_on(program, data, threshold_weights, matrices, shrinkage)


def _summarise_rates(
    y: Array,
    scores: Array,
    weights: Array | None,
    threshold_weights: Array | None,
    matrices: tuple[Array, ...] | None,
    shrinkage: Array,
    *,
    n_classes: int,
    n_thresholds: int,
    threshold_pool: ThresholdPool,
    times_sizes: bool,
    summary: Any,
) -> Any:
    """Count the rates, and summarise them."""
    y, weights = usable(y, scores, weights, n_classes)
    base = weights
    if threshold_weights is not None:
        y, base = usable(y, None, threshold_weights, n_classes)
    base = lax.stop_gradient(base)
    tpr, *fpr = map(wide, matrices or (jnp.ones((n_classes, n_classes)),))
    size: Any = class_totals(y, base, n_classes) if times_sizes else jnp.ones(n_classes)
    by_rate = tpr * size[:, None], (fpr[0] if fpr else tpr.T) * size
    cells = weights_of_pairs(by_rate, ordered_pairs(n_classes), jnp).reshape(-1, 2, 1)
    table = rate_table(
        y, scores, weights, base, cells, _positive(wide(shrinkage)), n_thresholds, threshold_pool
    )
    return summary(table, jnp)


def program_of(options: CurveOptions, n_classes: int, summary: Any) -> WithOptions | None:
    """Return a summary as a function of arrays; None if the options go beyond those here."""
    kind = options.pair_weights
    if options.n_pairs is not None or not isinstance(kind, str) or n_classes == 2:
        return None
    given = kind, options.n_thresholds, options.shrinkage, options.threshold_pool
    return _table_program(n_classes, given, "default", summary)[0]


def curve_of(table: RateTable, xp: Any, **options: Any) -> CenterOfRates:
    """Return the curve of the rates."""
    return _center(table.rates(xp), table.cell_weights, table.shrinkage, **options)
