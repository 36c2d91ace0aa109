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

    vertices: Int[Array, "curves size"]
    length: Int[Array, " curves"]
    next: Int[Array, " curves"]


def upper_hull(points: OperatingPoints) -> OperatingPoints:
    """Keep the vertices of the hull of each curve, and repeat the last point for all others.

    The choice of the vertices has no derivative: it changes at weights where it does not matter.
    """
    tp, fp = lax.stop_gradient(points)
    # Vertices that curves of resampled weights do not share are found curve set by curve set.
    vertices = sequential_vmap(_hull_vertices)(tp, fp)
    return OperatingPoints(
        jnp.take_along_axis(points.tp, vertices, axis=1),
        jnp.take_along_axis(points.fp, vertices, axis=1),
    )


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
    sizes = jnp.full(len(blocks), _BLOCK, jnp.int32)
    found = _chain(tp, fp, curves, blocks, sizes)

    is_vertex = jnp.arange(_BLOCK) < found.length[:, None]
    is_vertex = is_vertex.reshape(n_curves, -1)
    rank = jnp.cumsum(is_vertex, axis=1, dtype=jnp.int32)
    every_curve = jnp.arange(n_curves, dtype=jnp.int32)
    left = jnp.zeros(is_vertex.shape, jnp.int32)
    left = left.at[every_curve[:, None], jnp.where(is_vertex, rank - 1, rank.shape[1])].set(
        found.vertices.reshape(n_curves, -1), mode="drop"
    )
    hull = _chain(tp, fp, every_curve, left, rank[:, -1])
    vertices = hull.vertices[:, :n_points]
    return jnp.where(jnp.arange(n_points) < hull.length[:, None], vertices, last)


def _chain(
    tp: Float[Array, "curves points"],
    fp: Float[Array, "curves points"],
    curves: Int[Array, " chains"],
    candidates: Int[Array, "chains size"],
    sizes: Int[Array, " chains"],
) -> _Chain:
    """Run Andrew's monotone chain over the first ``sizes`` candidates of each chain.

    Each step takes one point in, or drops the last one because it is not above the line from the
    one before it to the next candidate.
    """
    chains = jnp.arange(len(curves))
    nowhere = candidates.shape[1]

    def at(positions: Int[Array, " chains"]) -> tuple[Array, Array]:
        return fp[curves, positions], tp[curves, positions]

    def step(chain: _Chain) -> _Chain:
        candidate = candidates[chains, jnp.minimum(chain.next, sizes - 1)]
        middle = chain.vertices[chains, jnp.maximum(chain.length - 1, 0)]
        first = chain.vertices[chains, jnp.maximum(chain.length - 2, 0)]
        (x, y), (x_1, y_1), (x_2, y_2) = at(first), at(middle), at(candidate)
        is_above = (y_1 - y) * (x_2 - x_1) > (y_2 - y_1) * (x_1 - x)
        is_running = chain.next < sizes
        drops = is_running & (chain.length > 1) & ~is_above
        takes = is_running & ~drops
        return _Chain(
            chain.vertices.at[chains, jnp.where(takes, chain.length, nowhere)].set(
                candidate, mode="drop"
            ),
            chain.length + takes - drops,
            chain.next + takes,
        )

    zeros = jnp.zeros(len(curves), jnp.int32)
    start = _Chain(jnp.zeros(candidates.shape, jnp.int32), zeros, zeros)
    return lax.while_loop(lambda chain: (chain.next < sizes).any(), step, start)
