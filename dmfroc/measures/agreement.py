"""Agreement of raters beyond chance, also on an ordered scale, and of more than two."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import Scalar, divide
from dmfroc._kit.options import is_one_of, numbers
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures import table as _table  # noqa: F401  # whose measures are listed first
from dmfroc.measures.bound import SummariesOfCounts
from dmfroc.measures.cells import Proportions, corrected_for_chance
from dmfroc.measures.hard_labels import TABLE_FUNCTIONS, summarise_table
from dmfroc.measures.measure import (
    SIGNED,
    Measure,
    WithOptions,
    alphabetical_message,
    no_hard_labels,
)
from dmfroc.measures.registry import also_called, register
from dmfroc.measures.statistics.confusion import confusion_counts, label_values
from dmfroc.measures.statistics.forecasts import RowSums
from dmfroc.measures.statistics.statistic import Sums

Growth = Literal["quadratic", "linear"]
Distance = Literal["positions", "values"]
Scale = Literal["nominal", "ordinal", "interval", "ratio"]
Chance = Literal["margins", "even", "alpha"]
_GROWTHS, _DISTANCES = get_args(Growth), get_args(Distance)
_EVEN = 1e-9  # relative difference of gaps that are taken for equal

type _Costs = tuple[tuple[float, ...], ...]


def _checked(weights: Any) -> _Costs:
    matrix = numbers("weights", weights)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise ValueError(f"weights must be a square matrix, but its shape is {matrix.shape}")
    if not (np.isfinite(matrix).all() and (matrix >= 0).all() and matrix.any()):
        raise ValueError("weights must be finite costs >= 0, and some of them positive")
    if np.diag(matrix).any():
        remedy = "for weights of agreement pass 1 - weights" if np.diag(matrix).all() else "set it"
        raise ValueError(f"weights must have zeros on the diagonal, where both agree: {remedy}")
    return tuple(map(tuple, matrix.tolist()))


def _costs(
    labels: Sequence[Hashable], growth: Growth | Scale, by: Distance
) -> Float[np.ndarray, "k k"] | None:
    """Return what disagreements cost, at most 1; None if classes are to be numbers but are none."""
    places = np.array(label_values(labels) if by == "values" else range(len(labels)), float)
    if len(places) == 0:
        return None
    if growth == "nominal":
        return 1 - np.eye(len(labels))
    distances = np.abs(places[:, None] - places)
    if growth == "ratio":
        return divide(distances, places[:, None] + places, np) ** 2
    distances = distances / (np.ptp(places) or 1.0)
    return distances if growth == "linear" else distances**2


def _kappa(table: Proportions, weights: _Costs | Growth, by: Distance) -> Scalar | None:
    """Return weighted kappa; None if classes are to be numbers but are none."""
    if isinstance(weights, str):
        costs = _costs(table.labels, weights, by)
        if costs is None:
            return None
    else:
        costs = np.array(weights).T  # predicted classes are in the rows of the table
    error = (costs * table.proportions).sum()
    margins = table.cells.bias[:, None] * table.cells.prevalence
    return corrected_for_chance(error, (costs * margins).sum(), table.xp)


def _obstacle(predictions: Predictions, *, costs: _Costs | None, by: Distance) -> str | None:
    if costs is not None and len(costs) != predictions.n_classes:
        return f"has weights for {len(costs)} classes, but there are {predictions.n_classes}"
    if by == "values" and not label_values(predictions.labels):
        return "needs classes that are numbers: leave by='values' out, to count positions"
    return no_hard_labels(predictions)


def _not_numbers(predictions: Predictions) -> str | None:
    if not label_values(predictions.labels):
        return "needs classes that are numbers: take krippendorff_alpha_ordinal, which counts ranks"
    return no_hard_labels(predictions)


def _uneven_gaps(predictions: Predictions) -> str | None:
    gaps = np.diff(label_values(predictions.labels))
    if len(gaps) == 0 or np.ptp(gaps) <= _EVEN * np.abs(gaps).max():
        return None
    return (
        f"The classes {list(predictions.labels)} have uneven gaps, but weighted kappa counts each "
        "gap as 1. weighted_kappa_values counts the distances of the values."
    )


@also_called("quadratic_weighted_kappa, qwk, quadratic_kappa, kappa_quadratic")
@also_called("linear_weighted_kappa, linear_kappa, kappa_linear", of="weighted_kappa_linear")
@register({}, {"weights": "linear"}, {"by": "values"}, {"weights": "linear", "by": "values"})
def weighted_kappa(weights: Any = "quadratic", by: Distance = "positions") -> Measure:
    """Return Cohen's weighted kappa: agreement on an ordered scale, corrected for chance.

    Parameters
    ----------
    weights : {"quadratic", "linear"} or array-like of shape (K, K)
        How much a disagreement counts: the squared distance of the two classes, or the distance.
        Or a matrix of what each disagreement costs, in the order of the labels, observed classes
        in the rows, predicted in the columns, and 0 on the diagonal.
    by : {"positions", "values"}
        Whether the distance of two classes is that of their positions in the order of the labels,
        or that of their values, if they are numbers. Classes 1, 2 and 4 differ in this.

    Returns
    -------
    Measure
        In [-1, 1], or with a matrix at most 1; 0 for guessing, 1 for perfect agreement. By
        positions it is scikit-learn's ``cohen_kappa_score``. A warning says so if classes that are
        numbers have uneven gaps and positions are counted, or if text is in alphabetical order.

    Raises
    ------
    TypeError, ValueError
        If the weights are neither of the two words nor a square matrix of finite costs >= 0 with
        zeros on the diagonal. Bound to predictions of another number of classes, or by values to
        classes that are no numbers.

    References
    ----------
    Cohen (1968), Weighted kappa: nominal scale agreement with provision for scaled disagreement or
    partial credit.

    Examples
    --------
    >>> first, second = [1, 2, 4, 4, 2, 1, 4, 2, 1, 4], [1, 2, 4, 2, 2, 1, 4, 1, 2, 4]
    >>> round(weighted_kappa(by="values")(first, y_pred=second), 6)
    0.806452
    """
    costs = None if isinstance(weights, str) else _checked(weights)
    if costs is None and not is_one_of(weights, _GROWTHS):
        raise ValueError(
            f"weights must be one of {_GROWTHS} or a matrix of costs, but it is {weights!r}"
        )
    name, title = "weighted_kappa", f"Weighted kappa, {'own weights' if costs else weights}"
    if costs:
        name += "(weights=...)"
    elif weights == "linear":
        name += "_linear"
    if by == "values":
        if costs:
            raise ValueError(
                "by='values' is about distances, but weights is a matrix: leave by out"
            )
        name, title = f"{name}_values", f"{title}, by values"
    return Measure(
        name=name,
        title=title,
        statistic=confusion_counts,
        summary=WithOptions(summarise_table, function=_kappa, weights=costs or weights, by=by),
        bounds=(-math.inf, 1.0) if costs else SIGNED,
        chance=0.0,
        family="contingency",
        needs="labels",
        obstacle=WithOptions(_obstacle, costs=costs, by=by),
        in_given_order=costs is not None,
        caveats=(_uneven_gaps, alphabetical_message) if by == "positions" and not costs else (),
    )


def _bind(
    predictions: Predictions,
    *,
    chance: Chance,
    growth: Growth | Scale,
    by: Distance,
    are_counted: bool = False,
) -> SummariesOfCounts:
    """Bind of each row whether it is rated, and twice, its disagreement, and its classes.

    There are two raters, or, if they are counted, as many as the scores of all classes say. Of
    several the observed class is the most frequent one: where it is not, one of them erred.
    """
    assert predictions.predicted is not None
    k, of_class = predictions.n_classes, np.eye(predictions.n_classes)
    # On the ordinal scale costs depend on how often classes are chosen
    costs = None if growth == "ordinal" else _costs(predictions.labels, growth, by)
    ratings = of_class[predictions.true] + of_class[predictions.predicted]
    if are_counted:  # none is below 0, but for the rows that stand for what was not seen
        ratings += np.maximum(predictions.scores, 0) - 2 * of_class[predictions.predicted]
    n = ratings.sum(axis=1)
    is_pair = n >= 2
    if costs is None:
        pairs = (ratings[:, :, None] * ratings[:, None, :]).reshape(-1, k * k)
    else:
        pairs = ((ratings @ costs) * ratings).sum(axis=1, keepdims=True)
    disagreement = divide(pairs, (n * (n - 1))[:, None], np)
    rated = np.where(is_pair, n, 0.0) if chance == "alpha" else 1.0 * (n > 0)
    of_pairs = rated if chance == "alpha" else 1.0 * is_pair
    shares = divide(ratings, n[:, None], np) * rated[:, None]
    numbers = np.column_stack([rated, of_pairs, of_pairs[:, None] * disagreement, shares])
    # Krippendorff draws the two ratings that agree by chance without replacement
    n_ratings = n[is_pair & (predictions.sample_weight > 0)].sum()
    unbiased = 1 - 1 / n_ratings if chance == "alpha" else 1.0
    summary = WithOptions(_corrected, costs=costs, is_even=chance == "even", unbiased=unbiased)
    return SummariesOfCounts(RowSums(numbers), (summary,))


def _corrected(
    table: Sums,
    xp: Any,
    *,
    costs: Float[np.ndarray, "k k"] | None,
    is_even: bool,
    unbiased: float,
) -> Scalar:
    """Return agreement beyond that of chance, by even classes where raters guess, or by margins.

    Without costs they are squared distances of the middles of the classes' ranks.
    """
    rated, pairs, rest = table.values[..., 0], table.values[..., 1], table.values[..., 2:]
    k = math.isqrt(rest.shape[-1]) if costs is None else len(costs)  # of k^2 + k numbers, or 1 + k
    shares = rest[..., -k:] / rated[..., None]
    if costs is None:
        middle = xp.cumsum(shares, axis=-1) - shares / 2
        cost = (middle[..., :, None] - middle[..., None, :]) ** 2
        disagreement = (rest[..., :-k] * cost.reshape(rest[..., :-k].shape)).sum(axis=-1)
    else:
        cost, disagreement = costs, rest[..., 0]
    expected = (cost * shares[..., :, None] * shares[..., None, :]).sum(axis=(-2, -1))
    if is_even:
        spread = (shares * (1 - shares)).sum(axis=-1)
        expected = 1 - (k**2 - cost.sum()) / (k * (k - 1)) * spread
    return corrected_for_chance(unbiased * disagreement / pairs, expected, xp)


def _agreement(
    name: str, title: str, chance: Chance, growth: Growth | Scale, by: Distance = "positions"
) -> Measure:
    is_ordered = growth not in ("nominal", "ratio") and by == "positions"
    is_of_numbers = chance == "alpha" and by == "values"
    has_gaps = is_ordered and growth != "ordinal"
    return Measure(
        name=name,
        title=title,
        bind=WithOptions(_bind, chance=chance, growth=growth, by=by),
        bounds=(-math.inf, 1.0) if chance == "even" and growth != "nominal" else SIGNED,
        family="agreement",
        needs="labels",
        obstacle=_not_numbers if is_of_numbers else WithOptions(_obstacle, costs=None, by=by),
        caveats=(_uneven_gaps,) * has_gaps + (alphabetical_message,) * is_ordered,
    )


@also_called("ac1, gwet, gwets_ac1")
@register()
def gwet_ac1() -> Measure:
    """Return Gwet's AC1: agreement beyond that of raters who guess at random when in doubt.

    Returns
    -------
    Measure
        In [-1, 1]; 1 for perfect agreement. Unlike kappa it is high where both raters nearly
        always choose the same class. Of more than two raters:
        `dmfroc.applications.rater_agreement`.

    References
    ----------
    Gwet (2008), Computing inter-rater reliability and its variance in the presence of high
    agreement.

    Examples
    --------
    >>> first, second = [1, 2, 4, 4, 2, 1, 4, 2, 1, 4], [1, 2, 4, 2, 2, 1, 4, 1, 2, 4]
    >>> round(gwet_ac1()(first, y_pred=second), 6)
    0.550562
    """
    return _agreement("gwet_ac1", "Gwet's AC1", "even", "nominal")


@also_called("ac2, gwets_ac2")
@register()
def gwet_ac2(weights: Growth = "quadratic", by: Distance = "positions") -> Measure:
    """Return Gwet's AC2: AC1 on an ordered scale.

    Parameters
    ----------
    weights, by
        As for `weighted_kappa`.

    Returns
    -------
    Measure
        At most 1, for perfect agreement; below -1 where raters mostly choose the extremes, but not
        the same. Of more than two raters: `dmfroc.applications.rater_agreement`.

    Raises
    ------
    ValueError
        Bound by values to classes that are no numbers.

    References
    ----------
    Gwet (2014), Handbook of inter-rater reliability, fourth edition.

    Examples
    --------
    >>> first, second = [1, 2, 4, 4, 2, 1, 4, 2, 1, 4], [1, 2, 4, 2, 2, 1, 4, 1, 2, 4]
    >>> round(gwet_ac2(by="values")(first, y_pred=second), 6)
    0.808051
    """
    return _agreement("gwet_ac2", f"Gwet's AC2, {weights}", "even", weights, by)


@also_called("kalpha, krippendorff, krippendorffs_alpha")
@register()
def krippendorff_alpha(scale: Scale = "nominal") -> Measure:
    """Return Krippendorff's alpha: one less how much more often than by chance raters disagree.

    Parameters
    ----------
    scale : {"nominal", "ordinal", "interval", "ratio"}
        Whether any two classes differ alike, by the square of how many ratings lie between them, by
        the square of their difference, or by the square of their difference divided by their sum.
        Classes of the last two are numbers, those of the second in order.

    Returns
    -------
    Measure
        In [-1, 1]; 1 for perfect agreement. Of two raters and a large sample it is Scott's pi. Of
        more than two raters: `dmfroc.applications.rater_agreement`.

    Raises
    ------
    ValueError
        Bound to classes that are no numbers, unless the scale is nominal or ordinal.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    Examples
    --------
    >>> first, second = [1, 2, 4, 4, 2, 1, 4, 2, 1, 4], [1, 2, 4, 2, 2, 1, 4, 1, 2, 4]
    >>> round(krippendorff_alpha()(first, y_pred=second), 6)
    0.571429
    """
    by: Distance = "positions" if scale in ("nominal", "ordinal") else "values"
    return _agreement("krippendorff_alpha", "Krippendorff's alpha", "alpha", scale, by)


@also_called("fleiss")
@register()
def fleiss_kappa() -> Measure:
    """Return Fleiss' kappa, which of two raters is Scott's pi.

    Returns
    -------
    Measure
        In [-1, 1]; 1 for perfect agreement. Of more than two raters:
        `dmfroc.applications.rater_agreement`.

    References
    ----------
    Fleiss (1971), Measuring nominal scale agreement among many raters.

    Examples
    --------
    >>> first, second = [1, 2, 4, 4, 2, 1, 4, 2, 1, 4], [1, 2, 4, 2, 2, 1, 4, 1, 2, 4]
    >>> round(fleiss_kappa()(first, y_pred=second), 6)
    0.548872
    """
    return _agreement("fleiss_kappa", "Fleiss' kappa", "margins", "nominal")


def of_raters(measure: Measure) -> Measure:
    """Return a coefficient of two raters as that of several, whom the scores count."""
    if not (isinstance(measure.bind, WithOptions) and measure.bind.func is _bind):
        raise ValueError(
            f"measures has {measure.name!r}, but of several raters there are 'gwet_ac1', "
            "'gwet_ac2', 'krippendorff_alpha' and 'fleiss_kappa'"
        )
    return replace(measure, bind=WithOptions(_bind, **measure.bind.keywords, are_counted=True))


for _weights, _by in itertools.product(_GROWTHS, _DISTANCES):
    _name = weighted_kappa(_weights, _by).name
    TABLE_FUNCTIONS[_name] = partial(_kappa, weights=_weights, by=_by)
