"""Thresholds of all pairs of classes from counts: where they fall, and where they may."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from dmfroc._kit.threads import parallel
from dmfroc.counted.counts import Grid
from dmfroc.multiclass.rates import CurveOptions, reference_classes
from dmfroc.multiclass.thresholds import grid_levels


class Place(NamedTuple):
    """Of a pair's thresholds: the bin of the column of class i, and its share that is above."""

    bins: Int[np.ndarray, "*pairs t"]
    shares: Float[np.ndarray, "*pairs t"]


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Where the thresholds of all pairs are, and the extremes that the counts leave open.

    Attributes
    ----------
    likeliest, most, least : Place, of arrays of shape (c, c - 1, t)
        Scores within a bin being spread evenly; such that most, and least, is above them.
    are_open : bool
        Whether a threshold may be in a bin whose scores differ.
    """

    likeliest: Place
    most: Place
    least: Place
    are_open: bool


def of_both(first: Place, second: Place) -> Place:
    """Return the places for the first and the second class of each pair, side by side."""
    return Place(*(np.stack(x, axis=2) for x in zip(first, second, strict=True)))


PerEdge = Float[np.ndarray, " edges"]


class _Column(NamedTuple):
    """A column's bins, as two classes of a pool fill them."""

    edges: Shaped[np.ndarray, " bins_plus_1"]
    mass: Float[np.ndarray, " bins"]
    is_atom: Bool[np.ndarray, " bins"]


class _AtEdges(NamedTuple):
    """What of a column lies above the edges of all columns of a pool."""

    bins: Int[np.ndarray, " edges"]
    share: PerEdge  # of the bin that lies above the edge
    share_end: PerEdge  # and above the next edge
    likely: PerEdge
    most: PerEdge
    least: PerEdge


def find_thresholds(
    cells: Float[np.ndarray, "c bins c"],
    grid: Grid,
    extent: Shaped[np.ndarray, "2 c"],
    options: CurveOptions,
) -> Thresholds:
    """Find the quantiles of each pair's pool of scores; all arguments are of classes that occur."""
    n_classes, n_bins, _ = cells.shape
    numerators, denominator = grid_levels(options.n_thresholds)
    levels = numerators / denominator
    totals = cells[0].sum(axis=0)
    factor = np.ones(n_classes) if options.threshold_pool == "pooled" else 1 / totals
    is_common = options.threshold_pool != "column"
    edges = _edges(grid, extent)
    is_atom = grid.is_atom()
    shape = n_classes, n_classes - 1, len(levels)
    likeliest, most, least = (Place(np.empty(shape, np.int64), np.empty(shape)) for _ in range(3))
    are_open = np.zeros(n_classes, bool)
    reference = reference_classes(n_classes)

    def of_first(i: int) -> None:
        for j in reference[i][i * is_common :]:
            pair = [i, int(j)]
            pooled = pair if is_common else pair[:1]
            columns = [
                _Column(edges[k], cells[k][:, pair] @ factor[pair], is_atom[k]) for k in pooled
            ]
            # Position of the other class among the reference classes of each of the two
            places, is_open = _places(columns, levels)
            are_open[i] |= is_open
            for k, of_column in zip(pooled, places, strict=True):
                [other] = set(pair) - {k}
                position = other - (other > k)
                for target, source in zip((likeliest, most, least), of_column, strict=True):
                    target.bins[k, position], target.shares[k, position] = source

    parallel(of_first, range(n_classes), n_classes**2 * n_bins)
    return Thresholds(likeliest, most, least, bool(are_open.any()))


@np.errstate(over="ignore", under="ignore")  # what follows 0 or the largest number
def _edges(
    grid: Grid, extent: Shaped[np.ndarray, "2 c"]
) -> list[Shaped[np.ndarray, " bins_plus_1"]]:
    """Return the ends of all bins of each column; those at its ends reach as far as its scores."""
    low, high = extent
    end = np.nextafter(high, np.inf)
    return [
        np.concatenate([low[k : k + 1], np.clip(cuts, low[k], end[k]), end[k : k + 1]])
        for k, cuts in enumerate(grid.cuts)
    ]


def _places(
    columns: list[_Column], levels: Float[np.ndarray, " t"]
) -> tuple[list[tuple[Place, Place, Place]], bool]:
    """Return the places of the thresholds in both columns, and whether any is open."""
    edges = np.unique(np.concatenate([column.edges for column in columns]))
    at_edges = [_at_edges(column, edges) for column in columns]
    likely, most, least = (sum(getattr(x, name) for x in at_edges) for name in _AtEdges._fields[3:])
    target = levels * likely[0]
    at = _last_not_below(likely, target)
    drop = likely[at] - likely[at + 1]
    fraction = np.clip((likely[at] - target) / np.where(drop > 0, drop, 1), 0, 1)
    # The threshold is surely at or above the first edge, and below the second.
    first, second = _last_not_below(least, target), _last_not_below(most, target) + 1
    both = list(zip(columns, at_edges, strict=True))
    is_open = np.sum([_open_between(*x, first, second) for x in both], axis=0) > 0
    places = []
    for column, x in both:
        share = x.share[at] + fraction * (x.share_end[at] - x.share[at])
        place = Place(x.bins[at], share)
        # All of a bin that the first edge cuts may be above; none of the one the second cuts.
        n_bins = len(column.mass)
        before = np.minimum(column.edges.searchsorted(edges[second], "left"), n_bins) - 1
        highest = Place(
            np.where(is_open, x.bins[first], place.bins),
            np.where(is_open, np.where(x.share[first] > 0, 1.0, 0.0), share),
        )
        lowest = Place(
            np.where(is_open, np.maximum(before, 0), place.bins),
            np.where(is_open, np.where(before < 0, 1.0, 0.0), share),
        )
        places.append((place, highest, lowest))
    return places, bool(is_open.any())


def _at_edges(column: _Column, edges: Shaped[np.ndarray, " edges"]) -> _AtEdges:
    n_bins = len(column.mass)
    bins = np.clip(column.edges.searchsorted(edges, "right") - 1, 0, n_bins - 1)
    left, right = column.edges[bins].astype(float), column.edges[bins + 1].astype(float)
    width = np.where(right > left, right - left, 1)

    def share_above(x: Shaped[np.ndarray, " edges"]) -> PerEdge:
        return np.clip(np.where(right > left, (right - x) / width, 0.0), 0, 1)

    share, share_end = share_above(edges), share_above(np.append(edges[1:], edges[-1]))
    above = np.append(column.mass[::-1].cumsum()[::-1], 0.0)  # from each bin on
    is_cut = (share > 0) & (share < 1)
    likely = above[bins + 1] + share * column.mass[bins]
    most = np.where(is_cut, above[bins], likely)
    least = np.where(is_cut, above[bins + 1], likely)
    return _AtEdges(bins, share, share_end, likely, most, least)


def _last_not_below(sums: PerEdge, targets: Float[np.ndarray, " t"]) -> Int[np.ndarray, " t"]:
    """Return the last edge above which not less than each target is; never the very last edge."""
    last = len(sums) - sums[::-1].searchsorted(targets, "left") - 1
    return np.clip(last, 0, len(sums) - 2)


def _open_between(
    column: _Column, x: _AtEdges, first: Int[np.ndarray, " t"], second: Int[np.ndarray, " t"]
) -> Float[np.ndarray, " t"]:
    """Return the mass of bins of different scores that the two edges touch."""
    up_to = np.append(0.0, np.cumsum(np.where(column.is_atom, 0.0, column.mass)))
    last = x.bins[second] + (x.share[second] < 1)  # the bin of the second edge only if it cuts it
    return np.maximum(up_to[np.maximum(last, x.bins[first] + 1)] - up_to[x.bins[first]], 0)
