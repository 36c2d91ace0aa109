"""Estimates and comparisons from counts and the spread of influences."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dmfroc.measures.measure import Measure
from dmfroc.scanning.bound import BoundCounts, Valued, has_exact_value
from dmfroc.scanning.influence_sums import Spreads
from dmfroc.uncertainty.estimate import Estimate
from dmfroc.uncertainty.influences import Moments
from dmfroc.uncertainty.interval_method import JointEstimates, check_finite
from dmfroc.uncertainty.jackknife import Jackknife, pooled_covariance
from dmfroc.uncertainty.options import Options


@runtime_checkable
class Counted(Protocol):
    """A sample whose scores are counted: a scan, or what an accumulator has seen."""

    @property
    def exact(self) -> bool:
        """Whether values are those of all scores."""

    @property
    def classifiers(self) -> tuple[str, ...]:
        """Names of the classifiers."""

    @property
    def bound(self) -> Mapping[str, BoundCounts]:
        """The counts of each classifier."""

    def value(self, measure: Measure, classifier: str) -> Valued:
        """Return a measure's value for a classifier."""

    def spreads(self, values: Mapping[str, Sequence[Valued]], *, stratify: bool) -> Spreads:
        """Return how the influences vary."""


def jackknife_for(
    sample: Counted, measures: Sequence[Measure], method: Any, options: Options
) -> Jackknife:
    """Return the one method that counts allow.

    Raises
    ------
    ValueError
        If another method is asked for, or an option that it does not use.
    """
    if method not in (None, Jackknife.name):
        raise ValueError(
            f"method={method!r} needs all scores in memory: of a scan there is method='jackknife'"
        )
    if options.groups is not None:
        raise ValueError("groups must be given to the scan, as the name of a column or in batches")
    for option in options.given:
        if option in Jackknife.remedies:
            raise ValueError(
                f"{option} is no option of method='jackknife', the only one of a scan: leave it out"
            )
    if sample.exact:
        inexact = [measure.name for measure in measures if not has_exact_value(measure)]
        if inexact:
            raise ValueError(
                f"{', '.join(inexact)}: exact=True is for measures of pairs of classes, of hard "
                "labels and of the multiclass ROC curve; leave it out, and the error of binning is "
                "bounded"
            )
    return Jackknife.from_options(options)


def check_alone(**others: Any) -> None:
    """Refuse what a scan has already."""
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise TypeError(
            f"{', '.join(given)} cannot be given together with a scan, which has its own: name the "
            "columns in dmfroc.scan"
        )


def only_classifier(sample: Counted) -> str:
    """Return the name of the one classifier.

    Raises
    ------
    ValueError
        If there are several.
    """
    if len(sample.classifiers) > 1:
        raise ValueError(
            f"the scan has {len(sample.classifiers)} classifiers, {list(sample.classifiers)}: use "
            "compare, or scan the score columns of one"
        )
    return sample.classifiers[0]


def estimates_of_counts(
    sample: Counted,
    classifier: str,
    measures: Sequence[Measure],
    method: Jackknife,
    *,
    stratify: bool,
) -> list[Estimate]:
    """Estimate measures of one classifier."""
    values = [sample.value(measure, classifier) for measure in measures]
    spreads = sample.spreads({classifier: values}, stratify=stratify)
    return [
        _estimate(sample, classifier, measure, value, spreads.moments(place), method)
        for place, (measure, value) in enumerate(zip(measures, values, strict=True))
    ]


def joint_estimates_of_counts(
    sample: Counted, measure: Measure, method: Jackknife, *, stratify: bool, rope: float
) -> JointEstimates:
    """Estimate a measure of several classifiers, and their differences."""
    names = sample.classifiers
    values = {name: sample.value(measure, name) for name in names}
    check_finite(measure, {name: x.value for name, x in values.items()})
    spreads = sample.spreads({name: [x] for name, x in values.items()}, stratify=stratify)
    moments = {name: spreads.moments(place) for place, name in enumerate(names)}
    differences = {
        pair: spreads.moments(len(names) + place)
        for place, pair in enumerate(combinations(names, 2))
    }
    return method.joint_estimates_of(
        measure,
        {name: x.value for name, x in values.items()},
        {
            name: _estimate(sample, name, measure, x, moments[name], method)
            for name, x in values.items()
        },
        differences,
        _covariance(names, moments, differences),
        rope,
    )


def _covariance(
    names: Sequence[Hashable],
    moments: Mapping[Any, Moments],
    differences: Mapping[tuple[Any, Any], Moments],
) -> np.ndarray:
    """Return the covariance of the values, from the variances of their differences."""
    sizes = next(iter(moments.values())).sizes
    sums = np.empty((len(sizes), len(names), len(names)))
    squares = {name: (m.sizes - 1) * m.variances for name, m in moments.items()}
    for i, a in enumerate(names):
        sums[:, i, i] = squares[a]
    place = {name: i for i, name in enumerate(names)}
    for (a, b), m in differences.items():
        product = (squares[a] + squares[b] - (m.sizes - 1) * m.variances) / 2
        sums[:, place[a], place[b]] = sums[:, place[b], place[a]] = product
    return pooled_covariance(sums, sizes)


def _estimate(
    sample: Counted,
    classifier: str,
    measure: Measure,
    found: Valued,
    moments: Moments,
    method: Jackknife,
) -> Estimate:
    predictions = sample.bound[classifier].predictions
    estimate = method.estimate(measure, found.value, moments, predictions)
    return replace(estimate, error_bound=found.error_bound)
