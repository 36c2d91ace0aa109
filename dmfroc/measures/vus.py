"""Volumes under the ROC surface of three classes: how often a triple is put in order.

A triple is one observation of each class. The nominal volume asks whether the assignment of its
members to the classes with the largest sum of scores is the right one. That is so exactly if some
offsets of the three scores classify all three members correctly (the sums are those of an
assignment problem, and offsets are its dual prices), so that the volume is what remains of the
accuracy when thresholds are free. The ordinal volume asks whether a single score increases from
class to class.

For two fixed members of a triple the nominal condition bounds two coordinates of the third:
members of the third class below both bounds are counted from a table of cumulative weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.tree_util import Partial
from jaxtyping import Array, Float, Int

from dmfroc._backend import share
from dmfroc.measures._blocks import count_below, run_ends
from dmfroc.measures.base import BoundMeasure, Measure, value_of
from dmfroc.predictions import Predictions, as_predictions

_LARGEST_TABLE = 2**27  # entries: one GiB
_PAIRS_PER_STEP = 2**21


def has_three_classes(predictions: Predictions) -> bool:
    """Say whether there are three classes, all with observations."""
    return predictions.n_classes == len(predictions.present) == 3


def _require_three_classes(predictions: Predictions) -> None:
    if not has_three_classes(predictions):
        raise ValueError(
            "a volume under the ROC surface is that of three classes with observations, but "
            f"there are {predictions.n_classes} classes, {len(predictions.present)} of them with "
            "observations; pick three classes, or use auc_mu or hand_till"
        )


class OrdinalTriples(NamedTuple):
    """The members of the middle class among those of the lower and of the upper one."""

    rows: tuple[Int[Array, " lower"], Int[Array, " middle"], Int[Array, " upper"]]
    lower: tuple[Int[Array, " middle"], Int[Array, " middle"]]  # run of ties in the lower class
    upper: tuple[Int[Array, " middle"], Int[Array, " middle"]]


def _bind_ordinal(predictions: Predictions) -> BoundMeasure:
    _require_three_classes(predictions)
    scores = predictions.scores[:, 2].astype(float) - predictions.scores[:, 0].astype(float)
    rows = [np.flatnonzero(predictions.true == k).astype(np.int32) for k in range(3)]
    rows = [of_class[np.argsort(scores[of_class])] for of_class in rows]
    low, middle, high = (scores[of_class] for of_class in rows)

    def runs(values: Float[np.ndarray, " m"]) -> tuple[Array, Array]:
        left, right = (np.searchsorted(values, middle, side) for side in ("left", "right"))
        return share(left.astype(np.int32)), share(right.astype(np.int32))

    triples = OrdinalTriples(
        (share(rows[0]), share(rows[1]), share(rows[2])), runs(low), runs(high)
    )
    return Partial(_ordinal_volume, triples)


def _ordinal_volume(triples: OrdinalTriples, weights: Float[Array, " n"]) -> Float[Array, ""]:
    low, middle, high = (weights[rows] for rows in triples.rows)

    def up_to(
        runs: tuple[Int[Array, " middle"], Int[Array, " middle"]], ordered: Float[Array, " m"]
    ) -> tuple[Float[Array, " middle"], Float[Array, " middle"]]:
        cumulative = jnp.pad(jnp.cumsum(ordered), (1, 0))
        below = cumulative[runs[0]]
        return below, cumulative[runs[1]] - below

    below, tied_below = up_to(triples.lower, low)
    not_above, tied_above = up_to(triples.upper, high)
    above = high.sum() - not_above - tied_above
    # Members that tie are in order for one of their two, or six, permutations.
    ordered = (below + tied_below / 2) * (above + tied_above / 2) - tied_below * tied_above / 12
    volume = jnp.vdot(middle, ordered) / (low.sum() * middle.sum() * high.sum())
    return jnp.clip(volume, 0, 1)  # rounding exceeds 1


class NominalTriples(NamedTuple):
    """The smallest class c as a grid, and what the pairs of the classes a and b ask of it.

    ``to_b`` of a member of class a is by how much its score for a exceeds that for b, and so on.
    """

    rows: tuple[Int[Array, " a"], Int[Array, " b"], Int[Array, " c"]]
    a_to_b: Float[Array, " a"]
    a_to_c: Float[Array, " a"]
    b_to_a: Float[Array, " b"]
    b_to_c: Float[Array, " b"]
    from_a: Float[Array, " c"]  # sorted: by how much the score for a exceeds that for c
    from_b: Float[Array, " c"]
    ends_from_a: Int[Array, " c"]  # of runs of equal ones
    ends_from_b: Int[Array, " c"]
    rank_from_a: Int[Array, " c"]
    rank_from_b: Int[Array, " c"]


def _bind_nominal(predictions: Predictions) -> BoundMeasure:
    _require_three_classes(predictions)
    # The smallest class makes the table, whose size is quadratic.
    a, b, c = np.argsort(predictions.class_counts, kind="stable")[::-1]
    entries = int(predictions.class_counts[c]) ** 2
    if entries > _LARGEST_TABLE:
        raise ValueError(
            f"vus needs a table of the square of the smallest class, {entries:,} entries, and at "
            f"most {_LARGEST_TABLE:,} are allowed: take a sample of the observations"
        )
    scores = predictions.scores.astype(float)
    rows = [np.flatnonzero(predictions.true == k).astype(np.int32) for k in (a, b, c)]
    of_a, of_b, of_c = (scores[of_class] for of_class in rows)
    from_a, from_b = of_c[:, a] - of_c[:, c], of_c[:, b] - of_c[:, c]

    def rank(x: Float[np.ndarray, " c"]) -> Int[Array, " c"]:
        return share(np.argsort(np.argsort(x, kind="stable"), kind="stable").astype(np.int32))

    triples = NominalTriples(
        rows=(share(rows[0]), share(rows[1]), share(rows[2])),
        a_to_b=share(of_a[:, a] - of_a[:, b]),
        a_to_c=share(of_a[:, a] - of_a[:, c]),
        b_to_a=share(of_b[:, b] - of_b[:, a]),
        b_to_c=share(of_b[:, b] - of_b[:, c]),
        from_a=share(np.sort(from_a)),
        from_b=share(np.sort(from_b)),
        ends_from_a=share(run_ends(np.sort(from_a), np.array([0]))),
        ends_from_b=share(run_ends(np.sort(from_b), np.array([0]))),
        rank_from_a=rank(from_a),
        rank_from_b=rank(from_b),
    )
    return Partial(_nominal_volume, triples)


def _nominal_volume(triples: NominalTriples, weights: Float[Array, " n"]) -> Float[Array, ""]:
    of_a, of_b, of_c = (weights[rows] for rows in triples.rows)
    n_c = len(of_c)
    table = jnp.zeros((n_c + 1, n_c + 1))
    table = table.at[triples.rank_from_a + 1, triples.rank_from_b + 1].set(of_c)
    table = table.cumsum(axis=0).cumsum(axis=1)

    def won_by(member: tuple[Float[Array, ""], Float[Array, ""]]) -> Float[Array, ""]:
        """Return the weight of the triples with one member of class b that are put in order."""
        to_a, to_c = member
        # A member of c is put right if what draws it to a, and to b, does not exceed the cheaper
        # of two exchanges: with the member it would replace, or around the circle.
        direct_a, around_a = triples.a_to_c, triples.a_to_b + to_c
        direct_b, around_b = to_c, triples.a_to_c + to_a
        at_most_a, at_most_b = jnp.minimum(direct_a, around_a), jnp.minimum(direct_b, around_b)
        below_a, through_a = _run(triples.from_a, triples.ends_from_a, at_most_a)
        below_b, through_b = _run(triples.from_b, triples.ends_from_b, at_most_b)
        inside = table[below_a, below_b]
        edge_a = table[through_a, below_b] - inside
        edge_b = table[below_a, through_b] - inside
        corner = table[through_a, through_b] - inside - edge_a - edge_b
        # Assignments as good as the right one share the credit.
        best = 1.0 + (triples.a_to_b + to_a == 0)
        ties_a = 1.0 + (direct_a == around_a)
        ties_b = 1.0 + (direct_b == around_b)
        credit = inside / best + edge_a / (best + ties_a) + edge_b / (best + ties_b)
        credit += corner / (best + ties_a + ties_b)
        return jnp.vdot(of_a, jnp.where(triples.a_to_b + to_a >= 0, credit, 0))

    batch = max(1, _PAIRS_PER_STEP // len(of_a))
    won = lax.map(won_by, (triples.b_to_a, triples.b_to_c), batch_size=batch)
    volume = jnp.vdot(of_b, won) / (of_a.sum() * of_b.sum() * of_c.sum())
    return jnp.clip(volume, 0, 1)  # rounding exceeds 1


def _run(
    values: Float[Array, " c"], ends: Int[Array, " c"], queries: Float[Array, " a"]
) -> tuple[Int[Array, " a"], Int[Array, " a"]]:
    """Return how many of the sorted values are below each query, and how many are not above."""
    n = len(values)
    below = count_below(values, jnp.array(0), jnp.array(n), queries, n.bit_length())
    is_tied = (below < n) & (values.at[below].get(mode="clip") == queries)
    return below, jnp.where(is_tied, ends.at[below].get(mode="clip"), below)


VUS = Measure(
    name="vus",
    title="VUS",
    bind=_bind_nominal,
    bounds=(0.0, 1.0),
    chance=1 / 6,
    family="ranking",
    applies_to=lambda predictions: (
        has_three_classes(predictions)
        and int(predictions.class_counts.min()) ** 2 <= _LARGEST_TABLE
    ),
)
ORDINAL_VUS = Measure(
    name="ordinal_vus",
    title="Ordinal VUS",
    bind=_bind_ordinal,
    bounds=(0.0, 1.0),
    chance=1 / 6,
    family="ranking",
    applies_to=has_three_classes,
)
VOLUMES = (VUS, ORDINAL_VUS)


def vus_score(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return the volume under the ROC surface of three unordered classes.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes, three of them.
    y_score : array-like or table of shape (n, 3)
        Scores; any real numbers, but sums of scores of different classes must have a meaning, as
        those of probabilities, or of log-probabilities, do.
    labels : array-like of shape (3,), optional
        The classes in column order.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.

    Returns
    -------
    float
        The probability that, of the six assignments of three random observations, one of each
        class, to the classes, the one with the largest sum of scores is right: equivalently,
        that some offsets of the three scores make all three the largest where they should be. In
        [0, 1]; 1/6 for guessing. It does not depend on how frequent the classes are. If m
        assignments share the largest sum and the right one is among them, the triple counts 1/m;
        sums are those of floating-point numbers, so that 0.1 + 0.2 and 0.3 differ.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, if there are not three classes
        with observations, or if the smallest of them has more than 11,585.

    Notes
    -----
    The exact number over all triples takes a time of the product of the sizes of the two largest
    classes and the space of the square of the smallest.

    References
    ----------
    Mossman (1999), Three-way ROCs; Dreiseitl, Ohno-Machado and Binder (2000), Comparing
    three-class diagnostic tests by three-way ROC analysis.

    Examples
    --------
    >>> scores = [[0.7, 0.2, 0.1], [0.4, 0.4, 0.2], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2],
    ...           [0.3, 0.3, 0.4], [0.1, 0.3, 0.6], [0.3, 0.2, 0.5]]
    >>> round(vus_score([0, 0, 1, 1, 2, 2, 1], scores), 12)
    0.541666666667
    """
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(VUS, predictions)


def ordinal_vus_score(
    y_true: Any, y_score: Any = None, *, labels: Any = None, sample_weight: Any = None
) -> float:
    """Return the volume under the ROC surface of three ordered classes.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes, three of them.
    y_score : array-like of shape (n,), or array-like or table of shape (n, 3)
        One score that grows with the class; of three columns, the difference of the third and
        the first, which for probabilities orders like the expected class.
    labels : array-like of shape (3,), optional
        The classes from the lowest to the highest; by default sorted.
    sample_weight : array-like of shape (n,), optional
        Weights of the observations.

    Returns
    -------
    float
        The probability that three random observations, one of each class, have scores in the
        order of their classes. In [0, 1]; 1/6 for guessing. It does not depend on how frequent
        the classes are. A triple with two equal scores next to each other counts 1/2, one with
        three 1/6, if it is otherwise in order.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, or if there are not three
        classes with observations.

    References
    ----------
    Mossman (1999), Three-way ROCs; Nakas and Yiannoutsos (2004), Ordered multiple-class ROC
    analysis with continuous measurements, equation 4.

    Examples
    --------
    >>> ordinal_vus_score([0, 0, 1, 1, 2, 2], [0.1, 0.4, 0.3, 0.6, 0.8, 0.9])
    0.75
    """
    if y_score is not None and np.ndim(y_score) == 1:
        zeros = np.zeros(len(y_score))
        y_score = np.column_stack([zeros, zeros, np.asarray(y_score)])
    predictions = as_predictions(y_true, y_score, labels=labels, sample_weight=sample_weight)
    return value_of(ORDINAL_VUS, predictions)
