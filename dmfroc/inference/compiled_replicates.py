"""Replicates by JAX: many sets of weights through one compiled program."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float, Int

from dmfroc._kit.arrays import PerDraw, PerRow
from dmfroc._kit.compiled import compiled, share
from dmfroc.inference.units import Units
from dmfroc.measures.bound import BoundMeasures, FunctionOfWeights, SummariesOfCounts

ValuesAndErrors = tuple[Float[np.ndarray, "draws values"], PerDraw | None]

_SCORES_AT_ONCE = 1 << 19  # of the replicates that are computed as one by a CPU
_SCORES_AT_ONCE_WITH_ERRORS = 1 << 16

jax.tree_util.register_dataclass(
    SummariesOfCounts, data_fields=["statistic"], meta_fields=["summaries", "is_compiled"]
)
jax.tree_util.register_dataclass(
    FunctionOfWeights, data_fields=[], meta_fields=["function", "is_compiled"]
)
_known: set[type] = set()


def as_tree[T](tree: T, bound: BoundMeasures) -> T:
    """Hand the arrays in a tree, with a bound measure, to JAX.

    Other fields of the measure are part of the program.
    """
    if isinstance(bound, SummariesOfCounts):
        kind: Any = type(bound.statistic)
        if kind not in _known:
            # What is None here may be an array in others of this kind
            fields = {x.name: getattr(bound.statistic, x.name) for x in dataclasses.fields(kind)}
            is_data = {name: isinstance(x, np.ndarray | None) for name, x in fields.items()}
            jax.tree_util.register_dataclass(
                kind,
                data_fields=[name for name in fields if is_data[name]],
                meta_fields=[name for name in fields if not is_data[name]],
            )
            _known.add(kind)
    found: T = jax.tree.map(share, tree)
    return found


def replicates_of(
    bound: BoundMeasures, base: PerRow, n_scores: int, units: Units | None
) -> Callable[[Float[np.ndarray, "draws n"]], ValuesAndErrors]:
    """Return what evaluates a bound measure under resampled weights.

    With ``units`` also the infinitesimal jackknife's standard error in each replicate.
    """
    tree, shared_base = as_tree(bound, bound), share(base)
    if isinstance(bound, SummariesOfCounts):
        n_scores = max(n_scores, bound.statistic.n_numbers)
    if units is None:
        batch_size = max(_SCORES_AT_ONCE // n_scores, 1)

        def evaluate(counts: Float[np.ndarray, "draws n"]) -> ValuesAndErrors:
            return np.asarray(_values(tree, share(counts), shared_base, batch_size)), None

        return evaluate
    arrays = share(units.unit_of_row), share(units.stratum), share(units.sizes)
    batch_size = max(_SCORES_AT_ONCE_WITH_ERRORS // n_scores, 1)

    def evaluate_with_errors(counts: Float[np.ndarray, "draws n"]) -> ValuesAndErrors:
        computed = _values_and_errors(tree, share(counts), shared_base, *arrays, batch_size)
        values, errors = map(np.asarray, computed)
        return values, errors

    return evaluate_with_errors


def _evaluate(
    bound: BoundMeasures, counts: Float[Array, "draws n"], base: Float[Array, " n"], batch_size: int
) -> Float[Array, "draws values"]:
    return lax.map(lambda count: bound(count * base), counts, batch_size=batch_size)


_values: Any = compiled(_evaluate, static_argnums=3)


def _evaluate_with_errors(
    bound: BoundMeasures,
    counts: Float[Array, "draws n"],
    base: Float[Array, " n"],
    unit_of_row: Int[Array, " n"],
    stratum: Int[Array, " u"],
    sizes: Int[Array, " s"],
    batch_size: int,
) -> tuple[Float[Array, "draws 1"], Float[Array, " draws"]]:
    """Return each replicate's value and infinitesimal jackknife standard error."""

    def replicate(count: Float[Array, " n"]) -> tuple[Array, Array]:
        value, gradient = jax.value_and_grad(lambda weights: bound(weights)[0])(count * base)
        influence = jnp.zeros(len(stratum)).at[unit_of_row].add(gradient * base)
        count_of_unit = jnp.zeros(len(stratum)).at[unit_of_row].max(count)
        squares = jnp.zeros(len(sizes)).at[stratum].add(count_of_unit * influence**2)
        return value[None], jnp.sqrt((squares * sizes / jnp.maximum(sizes - 1, 1)).sum())

    return lax.map(replicate, counts, batch_size=batch_size)


_values_and_errors: Any = compiled(_evaluate_with_errors, static_argnums=6)
