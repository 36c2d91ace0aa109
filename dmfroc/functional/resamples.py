"""Resampling as NumPyro models: `numpyro.infer.Predictive` draws, ArviZ receives."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Literal

import arviz
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import xarray
from jaxtyping import Float
from numpyro import distributions as dist
from numpyro.infer import Predictive

from dmfroc._kit.compiled import compiled, in_double_precision
from dmfroc._kit.options import choice, integer, positive
from dmfroc.functional.arrays import observations
from dmfroc.functional.roc import center, multiclass_roc
from dmfroc.multiclass.rates import ordered_pairs

_NUMBERS_AT_ONCE = 1 << 19  # weights of the draws that are computed as one


def bootstrap_model(
    function: Callable[..., Any],
    y: Any,
    scores: Any,
    weights: Any = None,
    *,
    n_classes: int,
    kind: Literal["bootstrap", "bayesian_bootstrap"] = "bootstrap",
    **options: Any,
) -> Callable[[], None]:
    """Return a NumPyro model of the resampled weights of observations and a measure's value.

    Parameters
    ----------
    function, y, scores, weights, n_classes, **options
        As for `estimate`. The arrays cannot be traced.
    kind : {"bootstrap", "bayesian_bootstrap"}
        Whether as many rows are drawn from each class as it has, with replacement, or the shares
        of its rows are Dirichlet distributed.

    Returns
    -------
    callable
        A model without arguments. Its sites are the rows of each class, or numbers proportional
        to their shares, ``weights`` of shape (n,), and ``value``. Thresholds of pairs stay where
        the data place them.

    Raises
    ------
    ValueError, TypeError
        As the function does, or if the kind is another.

    References
    ----------
    Efron (1979), Bootstrap methods; Rubin (1981), The Bayesian bootstrap.

    Examples
    --------
    >>> from dmfroc.functional import hand_till
    >>> model = bootstrap_model(hand_till, [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], n_classes=2)
    >>> tree = resample(model, n_draws=200, random_state=1)
    >>> 0.2 < float(tree["posterior"]["value"].std()) < 0.3
    True
    """
    choice("kind", kind, ("bootstrap", "bayesian_bootstrap"))
    data = observations(y, scores, weights, n_classes)
    y, base = np.asarray(data.y), np.asarray(data.weights, float)
    if "threshold_weights" in inspect.signature(function).parameters and n_classes > 2:
        options = {"threshold_weights": base, **options}
    rows_by_class = [np.flatnonzero(y == place) for place in range(n_classes)]

    def model() -> None:
        counts = jnp.zeros(len(y))
        for place, rows in enumerate(rows_by_class):
            m = len(rows)
            if kind == "bootstrap":
                # A multinomial vector of counts; NumPyro's Multinomial takes the square of the time
                drawn = numpyro.sample(
                    f"rows_{place}", dist.DiscreteUniform(0, m - 1).expand([m]).to_event(1)
                )
                class_counts = jnp.zeros(m).at[drawn].add(1.0)
            else:
                # Flat Dirichlet shares; Gamma variates, by which NumPyro draws them, are slower
                drawn = numpyro.sample(
                    f"exponential_{place}", dist.Exponential(1.0).expand([m]).to_event(1)
                )
                class_counts = m * drawn / drawn.sum()
            counts = counts.at[rows].set(class_counts)
        numpyro.deterministic("weights", counts)
        value = function(data.y, data.scores, counts * base, n_classes=n_classes, **options)
        numpyro.deterministic("value", value)

    return model


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
    shrinkage = options.get("shrinkage", 1.0)
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
def _batch(model: Callable[[], None], size: int, names: tuple[str, ...]) -> Callable[[Any], Any]:
    predictive = Predictive(model, num_samples=size, return_sites=list(names), parallel=True)
    return compiled(lambda key: predictive(key))


def resample(
    model: Callable[[], None],
    *,
    n_draws: int = 2000,
    random_state: int = 0,
    with_weights: bool = False,
) -> xarray.DataTree:
    """Draw from a model of resampling by `numpyro.infer.Predictive`.

    Parameters
    ----------
    model : callable
        As `bootstrap_model` and `rates_model` return it.
    n_draws : int
        Number of draws.
    random_state : int
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
    >>> from dmfroc.functional import hand_till
    >>> model = bootstrap_model(hand_till, [0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], n_classes=2)
    >>> resample(model, n_draws=100, with_weights=True)["posterior"]["weights"].shape
    (1, 100, 4)
    """
    n_draws = integer("n_draws", n_draws, 1)
    seed = integer("random_state", random_state, 0, most=1 << 63)
    with in_double_precision():
        sites = numpyro.handlers.trace(numpyro.handlers.seed(model, 0)).get_trace()
        largest = max(np.size(site["value"]) for site in sites.values())
        size = min(max(_NUMBERS_AT_ONCE // largest, 1), 256)
        names = ["value", *(n for n in ("fpr", "tpr") if n in sites)]
        names = list(sites) if with_weights else names
        keys = jax.random.split(jax.random.key(seed), -(-n_draws // size))
        draw = _batch(model, size, tuple(names))
        parts = [draw(key) for key in keys]
    draws: dict[str, Float[np.ndarray, "chain draw *shape"]] = {
        name: np.concatenate([np.asarray(part[name]) for part in parts])[None, :n_draws]
        for name in names
    }
    dims = {"weights": ["observation"]} if with_weights and "weights" in sites else {}
    tree: xarray.DataTree = arviz.from_dict({"posterior": draws}, dims=dims)
    tree["posterior"].attrs.update(seed=seed)
    return tree
