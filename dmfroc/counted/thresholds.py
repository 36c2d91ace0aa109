"""Thresholds of all pairs of classes from counts: where they fall, and where they may."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from dmfroc._kit.threads import parallel
from dmfroc.multiclass.rates import CurveOptions, reference_classes
from dmfroc.multiclass.thresholds import grid_levels

type Places = Float[np.ndarray, "*pairs t"]
"""Of a pair's thresholds in the column of class i: how many bins lie below each.

The share of a bin that is below is a fraction of it.
"""

PerEdge = Float[np.ndarray, " edges"]


class _Column(NamedTuple):
    """A column's bins, as two classes of a pool fill them."""

    edges: Shaped[np.ndarray, " bins_plus_1"]
    mass: Float[np.ndarray, " bins"]
    is_atom: Bool[np.ndarray, " bins"]

    def at(self, edges: PerEdge) -> tuple[list[Any], list[PerEdge]]:
        """Return how many bins lie below edges of all columns of a pool, and the mass above.

        Three times: with the bins that an edge cuts above it, in part, and below.
        """
        above = np.append(self.mass[::-1].cumsum()[::-1], 0.0)  # from each bin on
        whole = np.maximum(self.edges.searchsorted(edges, "right") - 1, 0)
        touched = np.minimum(whole + (self.edges[whole] < edges), len(self.mass))
        place = np.interp(edges, self.edges, np.arange(len(above)))
        likely = np.interp(edges, self.edges, above)
        return [whole, place, touched], [above[whole], likely, above[touched]]


@np.errstate(over="ignore", under="ignore")  # what follows 0 or the largest number
def find_thresholds(
    cells: Float[np.ndarray, "c bins c"],
    cuts: Shaped[np.ndarray, "c cuts"],
    is_atom: Bool[np.ndarray, "c bins"],
    extent: Shaped[np.ndarray, "2 c"],
    options: CurveOptions,
) -> list[Float[np.ndarray, "c c_minus_1 _ t"]]:
    """Find the quantiles of each pair's pool of scores; all arguments are of classes that occur.

    The scores within a bin are spread evenly. If a threshold may be in a bin whose scores differ,
    there are two extremes besides, with a place for each of the two classes. The least of the first
    class and the most of the second is above in one of them, and the other way round in the other.
    """
    n_classes, n_bins, _ = cells.shape
    numerators, denominator = grid_levels(options.n_thresholds)
    levels = numerators / denominator
    totals = cells[0].sum(axis=0)
    factor = np.ones(n_classes) if options.threshold_pool == "pooled" else 1 / totals
    is_common = options.threshold_pool != "column"
    low, high = extent[..., None]
    end = np.nextafter(high, np.inf)  # bins at the ends of a column reach as far as its scores
    edges = np.concatenate([low, np.clip(cuts, low, end), end], axis=1)
    found = np.empty((3, n_classes, n_classes - 1, len(levels)))
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
                found[:, k, other - (other > k)] = of_column

    parallel(of_first, range(n_classes), n_classes**2 * n_bins)
    likeliest, most, least = found
    of_classes = [likeliest], [least, most], [most, least]
    return [np.stack(x, axis=2) for x in of_classes[: 1 + 2 * bool(are_open.any())]]


def _places(
    columns: list[_Column], levels: Float[np.ndarray, " t"]
) -> tuple[list[tuple[Places, Places, Places]], bool]:
    """Return the places of the thresholds in both columns, and whether any is open."""
    edges = np.unique(np.concatenate([column.edges for column in columns]))
    below, above = zip(*(column.at(edges) for column in columns), strict=True)
    most, likely, least = np.sum(above, axis=0)
    target = levels * likely[0]
    at = _last_not_below(likely, target)
    drop = likely[at] - likely[at + 1]
    fraction = np.clip((likely[at] - target) / np.where(drop > 0, drop, 1), 0, 1)
    # The threshold is surely at or above the first edge, and below the second.
    first, second = _last_not_below(least, target), _last_not_below(most, target) + 1
    open_mass: Any = 0.0
    places = []
    for column, (whole, place, touched) in zip(columns, below, strict=True):
        up_to = np.append(0.0, np.cumsum(np.where(column.is_atom, 0.0, column.mass)))
        start = np.minimum(whole[first], len(column.mass) - 1)
        between = up_to[np.maximum(touched[second], start + 1)] - up_to[start]
        open_mass = open_mass + np.maximum(between, 0)  # of bins of different scores
        # All columns have an edge at the end of each bin, beyond which bins are empty
        end = np.minimum(place[at + 1], whole[at] + 1)
        likeliest = place[at] + fraction * (end - place[at])
        places.append((likeliest, whole[first], touched[second]))
    is_open = open_mass > 0
    found = [(place, *(np.where(is_open, x, place) for x in ends)) for place, *ends in places]
    return found, bool(is_open.any())


def _last_not_below(sums: PerEdge, targets: Float[np.ndarray, " t"]) -> Int[np.ndarray, " t"]:
    """Return the last edge above which not less than each target is; never the very last edge."""
    last = len(sums) - sums[::-1].searchsorted(targets, "left") - 1
    return np.clip(last, 0, len(sums) - 2)
