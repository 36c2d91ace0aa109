"""Net benefit: what the decisions gain that follow from probabilities and a threshold, or costs.

Whoever treats from a probability t on takes a missed case to be (1 - t) / t times as bad as a
needless treatment. Counted in treated cases, each needless treatment then costs t / (1 - t).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import PerRow
from dmfroc._kit.options import number, numbers, proportion
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import FLAT_AT_ENDS, UNBIASED, Measure, WithOptions
from dmfroc.measures.registry import family, register
from dmfroc.measures.statistics.forecasts import (
    RowSums,
    mean_of_rows,
    no_probabilities,
    no_single_class,
    probabilities_of,
    row_means,
    single_class,
)
from dmfroc.measures.statistics.statistic import Sums

type Costs = tuple[tuple[float, ...], ...]

_DEFAULT_THRESHOLD = 0.5
_STEP = 1e-100  # whose square rounding leaves out


def treatments(predictions: Predictions, threshold: float, pos_label: Hashable) -> RowSums:
    """Bind who is treated, and who should be: of each class, all and the treated."""
    outcome, probability = single_class(predictions, pos_label)
    as_given: PerRow = probability.astype(predictions.scores.dtype)  # .7 in float32 is below .7
    treated = as_given >= threshold
    return RowSums(
        np.column_stack([treated * outcome, treated * (1 - outcome), outcome, 1 - outcome])
    )


def net_benefits(sums: Any, odds: Any, prevalence: float | None) -> tuple[Any, Any, Any]:
    """Return the net benefit of the treated, that of treating all, and the prevalence."""
    tp, fp, positives, negatives = (sums[..., place] for place in range(4))
    total = positives + negatives
    if prevalence is None:
        return (tp - odds * fp) / total, (positives - odds * negatives) / total, positives / total
    rest = 1 - prevalence
    benefit = prevalence * tp / positives - rest * odds * fp / negatives
    return benefit, prevalence - rest * odds, prevalence


def _net_benefit(table: Sums, xp: Any, odds: float, prevalence: float | None) -> Any:
    return net_benefits(table.values, odds, prevalence)[0]


def _standardized(table: Sums, xp: Any, odds: float, prevalence: float | None) -> Any:
    benefit, _, share = net_benefits(table.values, odds, prevalence)
    return benefit / share


def _avoided(table: Sums, xp: Any, odds: float, prevalence: float | None) -> Any:
    benefit, benefit_of_all, _ = net_benefits(table.values, odds, prevalence)
    return (benefit - benefit_of_all) / odds


class _Quotient(WithOptions):
    """A summary that adds, multiplies and divides sums: its derivatives are by imaginary steps.

    They are exact, and take a tenth of the time of autograd.
    """

    def value_and_pull_back(self, table: Sums) -> tuple[Any, Callable[[Any], Sums]]:
        """Return the value, and what turns derivatives of it into those of the sums."""
        moved = self(Sums(table.values + 1j * _STEP * np.eye(len(table.values))), np)
        return self(table, np), lambda d_value: Sums(d_value * moved.imag / _STEP)


def checked_threshold(threshold: Any) -> float:
    """Return a threshold between 0 and 1."""
    if not 0 < number("threshold", threshold) < 1:
        raise ValueError(
            f"threshold must be a probability between 0 and 1, such as 0.1, but it is {threshold!r}"
        )
    return float(threshold)


def checked_prevalence(prevalence: Any) -> float | None:
    """Return a prevalence between 0 and 1, or None for that of the sample."""
    return None if prevalence is None else proportion("prevalence", prevalence, "(0, 1)")


_OF_MEANS = replace(FLAT_AT_ENDS, is_unbiased=True)
_decisions = family("decisions", needs="probabilities", adds_rows=True, caveats=())


def _at_threshold(
    title: str,
    summary: Any,
    threshold: Any,
    prevalence: Any,
    pos_label: Hashable,
    **attributes: Any,
) -> Measure:
    t, share = checked_threshold(threshold), checked_prevalence(prevalence)
    return _decisions(
        title,
        WithOptions(treatments, threshold=t, pos_label=pos_label),
        _Quotient(summary, odds=t / (1 - t), prevalence=share),
        obstacle=WithOptions(no_single_class, pos_label),
        **{"interval": _OF_MEANS, **attributes},
    )


@register()
def net_benefit(
    threshold: float = _DEFAULT_THRESHOLD, prevalence: float | None = None, pos_label: Any = None
) -> Measure:
    r"""Return the net benefit of treating whoever has a probability of at least a threshold.

    Parameters
    ----------
    threshold : float
        From which probability t on a case is treated, between 0 and 1.
    prevalence : float, optional
        Share of positives where the classifier will be used. By default it is that of the sample,
        which a case-control study does not show.
    pos_label : hashable, optional
        The class to treat. By default the second of two; with more classes it must be named.

    Returns
    -------
    Measure
        True positives less false positives times t / (1 - t), per observation. Between
        -t / (1 - t) and the prevalence. 0 for treating nobody; p - (1 - p) t / (1 - t) for treating
        everybody, p being the prevalence. `compare` takes both as classifiers, ``"treat none"`` and
        ``"treat all"``.

    Raises
    ------
    ValueError
        If the threshold or the prevalence is not between 0 and 1. Bound to scores that are no
        probabilities, or to more than two classes without ``pos_label``.

    References
    ----------
    Vickers and Elkin (2006), Decision curve analysis: a novel method for evaluating prediction
    models.

    Examples
    --------
    >>> round(net_benefit(0.25)([0, 0, 1, 1, 0], [0.1, 0.3, 0.2, 0.8, 0.4]), 4)
    0.0667
    """
    t = checked_threshold(threshold)
    options, bounds = (t, prevalence, pos_label), (-t / (1 - t), 1.0)
    return _at_threshold("Net benefit", _net_benefit, *options, bounds=bounds)


@register()
def standardized_net_benefit(
    threshold: float = _DEFAULT_THRESHOLD, prevalence: float | None = None, pos_label: Any = None
) -> Measure:
    """Return the net benefit as a share of what a perfect classifier would have.

    Parameters
    ----------
    threshold, prevalence, pos_label
        As for `net_benefit`.

    Returns
    -------
    Measure
        The net benefit divided by the prevalence. At most 1; 0 for treating nobody.

    Raises
    ------
    ValueError
        As for `net_benefit`.

    References
    ----------
    Kerr, Brown, Zhu and Janes (2016), Assessing the clinical impact of risk prediction models with
    decision curves.

    Examples
    --------
    >>> round(standardized_net_benefit(0.25)([0, 0, 1, 1, 0], [0.1, 0.3, 0.2, 0.8, 0.4]), 4)
    0.1667
    """
    title, options = "Standardized net benefit", (threshold, prevalence, pos_label)
    return _at_threshold(
        title, _standardized, *options, bounds=(-math.inf, 1.0), interval=FLAT_AT_ENDS
    )


@register()
def interventions_avoided(
    threshold: float = _DEFAULT_THRESHOLD, prevalence: float | None = None, pos_label: Any = None
) -> Measure:
    """Return the net share of observations spared a treatment, compared with treating everybody.

    Parameters
    ----------
    threshold, prevalence, pos_label
        As for `net_benefit`.

    Returns
    -------
    Measure
        True negatives less false negatives times (1 - t) / t, per observation: the net benefit
        beyond that of treating everybody, divided by t / (1 - t). At most 1; 0 for treating
        everybody. Multiply it by 100 for the number per 100 observations.

    Raises
    ------
    ValueError
        As for `net_benefit`.

    References
    ----------
    Vickers, Cronin, Elkin and Gonen (2008), Extensions to decision curve analysis.

    Examples
    --------
    >>> round(interventions_avoided(0.25)([0, 0, 1, 1, 0], [0.1, 0.3, 0.2, 0.8, 0.4]), 4)
    -0.4
    """
    t = checked_threshold(threshold)
    options, bounds = (t, prevalence, pos_label), (-(1 - t) / t, 1.0)
    return _at_threshold("Interventions avoided", _avoided, *options, bounds=bounds)


# Any number of classes


def decided_costs(predictions: Predictions, costs: Float[np.ndarray, "k d"]) -> PerRow:
    """Return the cost of each decision, the one of least expected cost by the probabilities."""
    return costs[predictions.true, (probabilities_of(predictions) @ costs).argmin(axis=1)]


def _bind_decisions(predictions: Predictions, costs: Costs | None) -> RowSums:
    matrix = 1 - np.eye(predictions.n_classes) if costs is None else np.array(costs)
    return row_means(-decided_costs(predictions, matrix))


def _no_decisions(costs: Costs | None, predictions: Predictions) -> str | None:
    if costs is not None and len(costs) != predictions.n_classes:
        return (
            f"has a cost_matrix of {len(costs)} rows, one for each observed class, but there are "
            f"{predictions.n_classes} classes"
        )
    return no_probabilities(predictions)


def checked_costs(cost_matrix: Any) -> Costs:
    """Return costs as tuples, observed classes in the rows, decisions in the columns."""
    matrix = numbers("cost_matrix", cost_matrix)
    if matrix.ndim != 2 or matrix.shape[1] < 2:
        raise ValueError(
            "cost_matrix must have a row for each observed class and a column for each decision, "
            f"but its shape is {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise ValueError("cost_matrix must be finite, but it holds NaN or infinity")
    return tuple(map(tuple, matrix.tolist()))


@register()
def expected_utility(cost_matrix: Any = None) -> Measure:
    """Return the expected utility of the decisions of least expected cost by the probabilities.

    Parameters
    ----------
    cost_matrix : array-like of shape (K, d), optional
        Cost of each decision (column) where each class is observed (row), the classes in the order
        of the labels; utilities are passed with their sign changed. There may be more or fewer
        decisions than classes. By default every error costs 1.

    Returns
    -------
    Measure
        Minus the mean cost of a decision, in the range of minus the costs; by default minus the
        error rate. For two classes with the costs ``[[0, t / (1 - t)], [1, 0]]`` it is the net
        benefit at the threshold t less the prevalence. A classifier that knows nothing has at most
        the utility of the best constant decision.

    Raises
    ------
    ValueError
        If the costs are no matrix of finite numbers. Bound to scores that are no probabilities, or
        to another number of classes.

    References
    ----------
    Pauker and Kassirer (1980), The threshold approach to clinical decision making.

    Examples
    --------
    >>> costs = [[0, 1, 1], [2, 0, 1], [5, 5, 0]]
    >>> scores = [[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.8, 0.15, 0.05], [0.1, 0.2, 0.7]]
    >>> expected_utility(costs)([0, 1, 2, 2], scores)
    -1.5
    """
    costs = None if cost_matrix is None else checked_costs(cost_matrix)
    low, high = (0.0, 1.0) if costs is None else (np.min(costs), np.max(costs))
    if not low < high:
        raise ValueError("cost_matrix must hold different costs, but all are the same")
    statistic, bounds = WithOptions(_bind_decisions, costs=costs), (-float(high), -float(low))
    obstacle = WithOptions(_no_decisions, costs)
    given = {"bounds": bounds, "obstacle": obstacle, "in_given_order": True, "interval": UNBIASED}
    return _decisions("Expected utility", statistic, mean_of_rows, **given)
