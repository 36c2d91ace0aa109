"""Replicates by JAX: many sets of weights through one compiled program."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from dmfroc._kit.arrays import PerRow
from dmfroc._kit.compiled import compiled, share
from dmfroc.measures.bound import BoundMeasures, FunctionOfWeights, SummariesOfCounts

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
    bound: BoundMeasures, base: PerRow, at_once: int
) -> Callable[[Float[np.ndarray, "draws n"]], Float[np.ndarray, "draws values"]]:
    """Return what evaluates a bound measure under resampled weights."""
    tree, shared_base = as_tree(bound, bound), share(base)
    return lambda counts: np.asarray(_values(tree, share(counts), shared_base, at_once))


def _evaluate(
    bound: BoundMeasures, counts: Float[Array, "draws n"], base: Float[Array, " n"], batch_size: int
) -> Float[Array, "draws values"]:
    return lax.map(lambda count: bound(count * base), counts, batch_size=batch_size)


_values: Any = compiled(_evaluate, static_argnums=3)
