"""What a new model changes: IDI as the difference of a slope, and NRI of the changes of risk."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dmfroc._kit.arrays import PerRow
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import SIGNED, Measure, WithOptions
from dmfroc.measures.probabilities import forecasts
from dmfroc.measures.registry import also_called, register
from dmfroc.measures.statistics.forecasts import RowSums, no_single_class, single_class
from dmfroc.measures.statistics.statistic import Sums


def _by_class(outcome: PerRow, numbers: PerRow) -> RowSums:
    rest = 1 - outcome
    return RowSums(np.column_stack([outcome * numbers, outcome, rest * numbers, rest]))


def _risks(predictions: Predictions) -> RowSums:
    return _by_class(*single_class(predictions, None))


def _directions(predictions: Predictions) -> RowSums:
    return _by_class(1.0 * (predictions.true == 1), 1.0 * np.sign(predictions.scores[:, 1]))


def _difference_of_means(table: Sums, xp: Any) -> Any:
    ill, n_ill, well, n_well = (table.values[..., place] for place in range(4))
    return ill / n_ill - well / n_well


_improvement = partial(
    forecasts,
    summary=_difference_of_means,
    chance=0.0,
    greater_is_better=True,
    in_given_order=False,
    adds_rows=False,
)


@also_called("tjur, tjur_r2, tjurs_r2, coefficient_of_discrimination, yates_slope")
@register()
def discrimination_slope() -> Measure:
    """Return the mean probability of the positive class among its cases less that among others.

    Returns
    -------
    Measure
        In [-1, 1]; 0 for guessing. The difference of two models is the integrated discrimination
        improvement, IDI. It is not proper: a model with more extreme probabilities than the true
        ones has a larger slope.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities, or to more than two classes.

    References
    ----------
    Yates (1982), External correspondence: decompositions of the mean probability score; Pencina et
    al. (2008), Evaluating the added predictive ability of a new marker, on the IDI.

    Examples
    --------
    >>> round(discrimination_slope()([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3]), 4)
    0.5
    """
    obstacle = WithOptions(no_single_class, None)
    return _improvement("Discrimination slope", _risks, bounds=SIGNED, obstacle=obstacle)


def _no_change(predictions: Predictions) -> str | None:
    given = predictions.single
    if given is None or (predictions.scores[:, given] >= 0).all():
        return (
            "is of changes of risk, and no score is negative: pass one score for each row, the new "
            "risk minus the old one"
        )
    has_both = len(predictions.present) == 2
    return None if has_both else "needs observations both of the class and of the rest"


@also_called("nri, net_reclassification_improvement")
@register()
def net_reclassification() -> Measure:
    """Return the net reclassification index, NRI, of changes of risk, which are the scores.

    Returns
    -------
    Measure
        In [-2, 2]; 0 for changes that say nothing. Among the positives, how many risks rose less
        how many fell, and among the others how many fell less how many rose, as shares. It is the
        category-free NRI if a score is the new risk minus the old one, and the categorical one if
        it is the number of the new category minus that of the old one. It is not proper: a marker
        that says nothing can raise it if the new risks are not calibrated.

    Raises
    ------
    ValueError
        Bound to scores of both classes, or without a negative one.

    References
    ----------
    Pencina, D'Agostino and Steyerberg (2011), Extensions of net reclassification improvement
    calculations to measure usefulness of new biomarkers; Hilden and Gerds (2014), A note on the
    evaluation of novel biomarkers: do not rely on IDI and NRI.

    Examples
    --------
    >>> y, old, new = np.array([[0, 1, 1, 0], [0.2, 0.5, 0.6, 0.3], [0.1, 0.8, 0.5, 0.4]])
    >>> net_reclassification()(y, new - old)
    0.0
    >>> categories = [np.digitize(risk, [0.15, 0.55]) for risk in (old, new)]
    >>> net_reclassification()(y, categories[1] - categories[0])
    0.5
    """
    attributes: Any = {"needs": "scores", "obstacle": _no_change, "bounds": (-2.0, 2.0)}
    return _improvement("Net reclassification index", _directions, **attributes)
