"""Resampling as NumPyro models: `numpyro.infer.Predictive` draws, ArviZ receives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal

import arviz_base
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import xarray
from jax import lax
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int
from numpyro import distributions as dist
from numpyro.infer import Predictive

from dmfroc._kit.compiled import compiled, in_double_precision
from dmfroc._kit.options import RandomState, choice, integer, positive, seed_of
from dmfroc.functional.arrays import run
from dmfroc.functional.roc import center, multiclass_roc
from dmfroc.inference.compiled_replicates import as_tree
from dmfroc.inputs.arguments import as_predictions
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure, WithOptions, bind
from dmfroc.multiclass.rates import DEFAULT_SHRINKAGE, ordered_pairs

_NUMBERS_AT_ONCE = 1 << 16  # weights of the draws that are computed as one by a CPU
_SCORES_AT_ONCE = 1 << 26  # and scores of those by any other device
_SCORES_OF_OTHERS = 1 << 21  # of models without data


def bootstrap_model(
    measure: Measure,
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    y_pred: Any = None,
    kind: Literal["bootstrap", "bayesian_bootstrap"] = "bootstrap",
) -> Callable[[], None]:
    """Return a NumPyro model of the resampled weights of observations and a measure's value.

    The value is computed as in the bootstraps of `dmfroc.estimate`: sorting and thresholds come
    from the data and are the same in all draws.

    Parameters
    ----------
    measure : Measure
        Such as ``dmfroc.measures.hand_till()``, or one of your own.
    y_true, y_score, labels, sample_weight, y_pred
        As for `dmfroc.Predictions.from_arrays`; ``y_true`` may be a `dmfroc.Predictions`. The
        arrays cannot be traced.
    kind : {"bootstrap", "bayesian_bootstrap"}
        Whether as many rows are drawn from each class as it has, with replacement, or the shares
        of its rows are Dirichlet distributed.

    Returns
    -------
    callable
        A model without arguments. Its sites are the rows of each class, or numbers proportional
        to their shares, ``weights`` of shape (n,) for the n rows of positive weight, and
        ``value``.

    Raises
    ------
    ValueError, TypeError
        As for `dmfroc.Predictions.from_arrays`, if the kind is another, or if JAX cannot compute
        the measure.

    References
    ----------
    Efron (1979), Bootstrap methods; Rubin (1981), The Bayesian bootstrap.

    Examples
    --------
    >>> from dmfroc.measures import hand_till
    >>> model = bootstrap_model(hand_till(), [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    >>> tree = resample(model, n_draws=200, random_state=1)
    >>> 0.2 < float(tree["posterior"]["value"].std()) < 0.3
    True
    """
    choice("kind", kind, ("bootstrap", "bayesian_bootstrap"))
    if not isinstance(measure, Measure):
        raise TypeError(
            "measure must be a Measure, such as dmfroc.measures.hand_till(), but it is of type "
            f"{type(measure).__name__}"
        )
    predictions = as_predictions(
        y_true,
        y_score,
        labels=labels,
        sample_weight=sample_weight,
        y_pred=y_pred,
        needs=measure.needs,
    ).counted
    bound = bind(measure, predictions)
    if not bound.is_compiled:
        raise ValueError(
            f"{measure.name} has no form in JAX: take dmfroc.estimate with method={kind!r}"
        )
    return _weights_model(bound, predictions, kind)


def _weights_model(bound: BoundMeasures, predictions: Predictions, kind: str) -> Partial:
    """Return a model of weights drawn within classes: a tree, whose arrays a program takes."""
    # Not of 64 bits, whose conversion to 32 JAX keeps for both
    place_of_row = np.argsort(np.argsort(predictions.true, kind="stable")).astype(np.int32)
    sizes = tuple((int(k), int(predictions.class_counts[k])) for k in predictions.present)
    data = as_tree((place_of_row, predictions.sample_weight, bound), bound)
    return Partial(WithOptions(_draw_weights, kind=kind, sizes=sizes), *data)


def _draw_weights(
    place_of_row: Int[Array, " n"],
    base: Float[Array, " n"],
    bound: BoundMeasures,
    *,
    kind: str,
    sizes: tuple[tuple[int, int], ...],
) -> None:
    """Draw the weights of classes by place and size; their rows follow one another."""
    # Rows are counted, since NumPyro's Multinomial takes the square of the time. Dirichlet shares
    # are exponential numbers: the Gamma variates by which NumPyro draws them are slower
    are_rows, by_class = kind == "bootstrap", []
    for place, m in sizes:
        law: Any = dist.DiscreteUniform(0, m - 1) if are_rows else dist.Exponential(1.0)
        name = f"{'rows' if are_rows else 'exponential'}_{place}"
        drawn = numpyro.sample(name, law.expand([m]).to_event(1))
        counts = jnp.zeros(m, np.int32).at[drawn].add(1) if are_rows else m * drawn / drawn.sum()
        by_class.append(counts)
    # Stored, since XLA would compute them anew wherever they are used
    weights = lax.optimization_barrier(jnp.concatenate(by_class)[place_of_row].astype(float))
    numpyro.deterministic("weights", weights)
    numpyro.deterministic("value", run(_weighted_values, weights, base, bound))


def _weighted_values(
    counts: Float[Array, " n"], base: Float[Array, " n"], bound: BoundMeasures
) -> Float[Array, "*values"]:
    values = bound(counts * base)
    return values[0] if bound.n_values == 1 else values


def drawn_values(
    bound: BoundMeasures, predictions: Predictions, kind: str, n_draws: int, seed: int
) -> Float[np.ndarray, "draws values"]:
    """Return the values of bound measures under weights that are drawn as by `resample`."""
    model = _weights_model(bound, predictions, kind)
    tree = resample(model, n_draws=n_draws, random_state=seed)
    return np.asarray(tree["posterior/value"])[0].reshape(n_draws, -1)


def rates_model(
    y: Any,
    scores: Any,
    weights: Any = None,
    *,
    n_classes: int,
    kind: Literal["ordinal", "binomial"] = "ordinal",
    tempering: float | int = 1.0,
    **options: Any,
) -> Callable[[], None]:
    """Return a NumPyro model of counts drawn from the fitted rates, and of their curve.

    Parameters
    ----------
    y, scores, weights, n_classes, **options
        As for `multiclass_roc`, for three or more classes. The arrays cannot be traced.
    kind : {"ordinal", "binomial"}
        How counts are drawn. ``"ordinal"`` draws the numbers of observations between successive
        thresholds together, as the ordinal model has it, for each pair by itself.
        ``"binomial"`` is the bootstrap of Wang and Carvalho: it draws every cell by itself, and
        its spread is far too small.
    tempering : float
        Share of each class's size that is drawn for a pair. Pairs are drawn independently although
        they have observations in common. With 1, the default, the spread is therefore a little too
        small; with 1 / (K - 1), as if all were in common, it is too large.

    Returns
    -------
    callable
        A model without arguments. Its sites are ``counts``, and of the curve of the drawn rates
        ``fpr``, ``tpr`` and ``value``, its area.

    Raises
    ------
    ValueError, TypeError
        As `multiclass_roc` does, or if the kind is another.

    References
    ----------
    Wang and Carvalho (2024), Multiclass ROC, section 3.6; Tosteson and Begg (1988), A general
    regression methodology for ROC curve estimation.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 3
    >>> scores = rng.normal(size=(60, 3)) + np.eye(3)[y]
    >>> spread = {}
    >>> for kind in ("ordinal", "binomial"):
    ...     model = rates_model(y, scores, n_classes=3, kind=kind, n_thresholds=19)
    ...     spread[kind] = float(resample(model, n_draws=100)["posterior"]["value"].std())
    >>> spread["binomial"] < spread["ordinal"] / 2
    True
    """
    choice("kind", kind, ("ordinal", "binomial"))
    with in_double_precision():
        roc = multiclass_roc(y, scores, weights, n_classes=n_classes, **options)
        eta = roc.pair_effect[:, None, None] * roc.threshold_effect
        fitted = np.asarray(jax.nn.sigmoid(eta))
    counted = ordered_pairs(n_classes).reshape(-1, 2)
    sizes = np.bincount(np.asarray(y), minlength=n_classes)[counted]
    shrinkage = options.get("shrinkage", DEFAULT_SHRINKAGE)
    shares = np.diff(fitted, axis=-1, prepend=0.0, append=1.0)
    drawn_sizes = np.maximum(np.round(sizes * positive("tempering", tempering)), 1).astype(int)

    def model() -> None:
        if kind == "binomial":
            cell = dist.Binomial(sizes[..., None], fitted)
            rates = numpyro.sample("counts", cell.to_event(3)) / sizes[..., None]
        else:
            between = dist.Multinomial(drawn_sizes, shares, total_count_max=int(drawn_sizes.max()))
            counts = numpyro.sample("counts", between.to_event(2))
            rates = jnp.cumsum(counts, axis=-1)[..., :-1] / drawn_sizes[..., None]
        curve = center(rates, roc.cell_weights, shrinkage)
        numpyro.deterministic("fpr", curve.fpr)
        numpyro.deterministic("tpr", curve.tpr)
        numpyro.deterministic("value", curve.auc)

    return model


@functools.lru_cache(maxsize=32)
def _program(
    structure: Any, shapes: tuple[Any, ...], *, with_weights: bool
) -> tuple[Callable[[Array, Any], dict[str, Array]], int, list[str]]:
    """Return what draws from a model, how many draws at a time, and the names of its sites.

    Models are alike if they are trees of one structure, with leaves of the same shapes.
    """

    def sites(*leaves: Any) -> dict[str, Array]:
        model = jax.tree.unflatten(structure, leaves)
        trace = numpyro.handlers.trace(numpyro.handlers.seed(model, 0)).get_trace()
        return {name: site["value"] for name, site in trace.items()}

    # To run the model, each of its operations would be compiled
    found = jax.eval_shape(sites, *shapes)
    at_once = _SCORES_AT_ONCE // max((x.size for x in shapes), default=_SCORES_OF_OTHERS)
    if jax.default_backend() == "cpu":
        at_once = _NUMBERS_AT_ONCE // max(site.size for site in found.values())
    n_at_once = min(max(at_once, 1), 256)
    names = [name for name in found if with_weights or name in ("value", "fpr", "tpr")]

    def draw(keys: Array, leaves: Any) -> dict[str, Array]:
        model = jax.tree.unflatten(structure, leaves)
        predictive = Predictive(model, num_samples=1, return_sites=names)
        return jax.vmap(lambda key: jax.tree.map(lambda x: x[0], predictive(key)))(keys)

    return compiled(draw), n_at_once, names


_keys = compiled(jax.vmap(jax.random.fold_in, (None, 0)))


def resample(
    model: Callable[[], None],
    *,
    n_draws: int = 2000,
    random_state: RandomState = 0,
    with_weights: bool = False,
) -> xarray.DataTree:
    """Draw from a model of resampling by `numpyro.infer.Predictive`.

    Parameters
    ----------
    model : callable
        As `bootstrap_model` and `rates_model` return it.
    n_draws : int
        Number of draws.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Seed; the same seed gives the same draws, and the first of more.
    with_weights : bool
        Whether the tree has all sites, such as the weights of the observations.

    Returns
    -------
    xarray.DataTree
        Of ArviZ: the group ``posterior`` with the dimensions ``chain`` (1) and ``draw``, and
        ``observation`` where there are weights.

    Raises
    ------
    ValueError
        If an option is out of its range.

    Examples
    --------
    >>> from dmfroc.measures import hand_till
    >>> model = bootstrap_model(hand_till(), [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9])
    >>> resample(model, n_draws=100, with_weights=True)["posterior"]["weights"].shape
    (1, 100, 4)
    """
    n_draws = integer("n_draws", n_draws, 1)
    known = random_state if isinstance(random_state, jax.Array) else None
    seed = 0 if known is not None else seed_of(random_state)
    with in_double_precision():
        tree_of_model = model if isinstance(model, Partial) else Partial(model)
        leaves, structure = jax.tree.flatten(tree_of_model)  # a program must not keep the data
        shapes = jax.eval_shape(lambda *x: x, *leaves)
        draw, n_at_once, names = _program(structure, shapes, with_weights=with_weights)
        key = jax.random.key(seed) if known is None else known
        # Each draw has a key of its own, however many are computed at a time
        starts = range(0, n_draws, n_at_once)
        parts = [draw(_keys(key, first + jnp.arange(n_at_once)), leaves) for first in starts]
    draws: dict[str, Float[np.ndarray, "chain draw *shape"]] = {
        name: np.concatenate([np.asarray(part[name]) for part in parts])[None, :n_draws]
        for name in names
    }
    dims = {"weights": ["observation"]} if "weights" in names else {}
    tree: xarray.DataTree = arviz_base.from_dict({"posterior": draws}, dims=dims)
    tree["posterior"].attrs.update(seed=seed)
    return tree
