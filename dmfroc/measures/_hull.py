"""The upper convex hull of ROC curves, in a number of steps that is known in advance."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import lax
from jax.custom_batching import sequential_vmap
from jaxtyping import Array, Float, Int

from dmfroc.measures._areas import OperatingPoints

_BLOCK = 128


class _Chain(NamedTuple):
    """The hull of the points seen so far: the first ``length`` entries of ``vertices``."""

    vertices: Int[Array, "chains size"]
    length: Int[Array, " chains"]
    next: Int[Array, " chains"]


def hull_vertices(points: OperatingPoints) -> Int[Array, "curves points"]:
    """Return the positions of the vertices of each curve, in order, then that of the last point."""
    # Vertices that curves of resampled weights do not share are found curve set by curve set.
    vertices: Array = sequential_vmap(_hull_vertices)(*points)
    return vertices


def _hull_vertices(
    tp: Float[Array, "curves points"], fp: Float[Array, "curves points"]
) -> Int[Array, "curves points"]:
    """Return the positions of the vertices, in order, filled up with the last point.

    A point that is not a vertex of its block is none of the curve. So all blocks of all curves
    go first, side by side, and the few points that are left follow one by one.
    """
    n_curves, n_points = tp.shape
    last = n_points - 1
    n_blocks = -(-n_points // _BLOCK)
    positions = jnp.minimum(jnp.arange(n_blocks * _BLOCK, dtype=jnp.int32), last)
    blocks = jnp.tile(positions.reshape(n_blocks, _BLOCK), (n_curves, 1))
    curves = jnp.repeat(jnp.arange(n_curves, dtype=jnp.int32), n_blocks)
    of_blocks = _chain(tp, fp, curves, blocks, jnp.full((len(blocks), 1), _BLOCK, jnp.int32))
    hull = _chain(
        tp,
        fp,
        jnp.arange(n_curves, dtype=jnp.int32),
        of_blocks.vertices.reshape(n_curves, -1),
        of_blocks.length.reshape(n_curves, -1),
    )
    vertices = hull.vertices[:, :n_points]
    return jnp.where(jnp.arange(n_points) < hull.length[:, None], vertices, last)


def _chain(
    tp: Float[Array, "curves points"],
    fp: Float[Array, "curves points"],
    curves: Int[Array, " chains"],
    candidates: Int[Array, "chains size"],
    lengths: Int[Array, "chains blocks"],
) -> _Chain:
    """Run Andrew's monotone chain over the candidates of each chain.

    These come in blocks, of which the first ``lengths`` candidates count, at least one of each.
    Each step takes one point in, or drops the last one because it is not above the line from the
    one before it to the next candidate.
    """
    chains = jnp.arange(len(curves))
    points = jnp.stack([fp, tp], axis=-1)
    nowhere = candidates.shape[1]

    def at(positions: Int[Array, " chains"]) -> tuple[Array, Array]:
        found = points.at[curves, positions].get(mode="promise_in_bounds")  # in one step
        return found[:, 0], found[:, 1]

    def step(chain: _Chain) -> _Chain:
        candidate = candidates[chains, jnp.minimum(chain.next, nowhere - 1)]
        middle = chain.vertices[chains, jnp.maximum(chain.length - 1, 0)]
        first = chain.vertices[chains, jnp.maximum(chain.length - 2, 0)]
        (x, y), (x_1, y_1), (x_2, y_2) = at(first), at(middle), at(candidate)
        is_above = (y_1 - y) * (x_2 - x_1) > (y_2 - y_1) * (x_1 - x)
        is_running = chain.next < nowhere
        drops = is_running & (chain.length > 1) & ~is_above
        takes = is_running & ~drops
        block = chain.next // _BLOCK
        is_last = chain.next % _BLOCK + 1 >= lengths.at[chains, block].get(mode="clip")
        following = jnp.where(is_last, (block + 1) * _BLOCK, chain.next + 1)
        return _Chain(
            chain.vertices.at[chains, jnp.where(takes, chain.length, nowhere)].set(
                candidate, mode="drop"
            ),
            chain.length + takes - drops,
            jnp.where(takes, following, chain.next),
        )

    zeros = jnp.zeros(len(curves), jnp.int32)
    start = _Chain(jnp.zeros(candidates.shape, jnp.int32), zeros, zeros)
    return lax.while_loop(lambda chain: (chain.next < nowhere).any(), step, start)
