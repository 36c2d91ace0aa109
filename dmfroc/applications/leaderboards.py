"""Models on several tasks: their means over the tasks, and how ranks depend on the tasks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from dmfroc.extend import (
    Contrast,
    Hypothesis,
    Interval,
    comparison_fields,
    instance,
    joint_normal_estimates,
)
from dmfroc.results import Comparison, Estimate, Ranks

METHOD = "mean over tasks"


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Comparison):
    """Models on several tasks: a `Comparison` of their means over the tasks.

    Attributes
    ----------
    tasks : dict of str to Comparison
        What was found in each task.
    """

    tasks: dict[str, Comparison] = field(kw_only=True, repr=False)

    def ranks(self, level: float | None = None) -> Ranks:
        """Return the ranks by the means, and what changes without each task; see `Comparison`."""
        values = np.array([[x[name].value for name in self] for x in self.tasks.values()])
        values *= 1 if self.greater_is_better else -1
        mean, (first, second) = values.mean(axis=0), np.triu_indices(values.shape[1], 1)
        left_out = {}
        for place, task in enumerate(self.tasks):
            rest = np.delete(values, place, axis=0).mean(axis=0)
            flips = (mean[first] - mean[second]) * (rest[first] - rest[second]) < 0
            places, moved = ((-x).argsort(kind="stable").argsort() for x in (mean, rest))
            left_out[task] = float(flips.mean()), int(np.abs(places - moved).max())
        return replace(super().ranks(level), left_out=left_out)


def leaderboard(tasks: Mapping[str, Comparison]) -> Leaderboard:
    """Rank models by their mean over several tasks, each with rows of its own.

    Parameters
    ----------
    tasks : dict of str to Comparison
        What `compare` or `items` found in each task, for the same models at the same level. Tasks
        are independent of each other, and are taken as fixed: the intervals say how certain the
        mean over these tasks is, not over others.

    Returns
    -------
    Leaderboard
        A `Comparison` whose ``ranks()`` also say what changes without each task.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two tasks, or if they differ in models, level or direction, or are
        one-sided, simultaneous or ratios.

    References
    ----------
    Zou and Donner (2008) for intervals of sums from those of their parts.

    Examples
    --------
    >>> import numpy as np
    >>> from dmfroc.applications import items
    >>> rng = np.random.default_rng(0)
    >>> tasks = {}
    >>> for task, ease in {"law": 0.1, "maths": -0.2, "history": 0.0}.items():
    ...     skill = {"small": 0.4, "medium": 0.6, "large": 0.7}
    ...     tasks[task] = items({x: rng.random(200) < p + ease for x, p in skill.items()})
    >>> leaderboard(tasks).ranks().intervals
    {'large': (1, 1), 'medium': (2, 2), 'small': (3, 3)}
    """
    if not isinstance(tasks, Mapping) or len(tasks) < 2:
        raise ValueError(
            "tasks must be a dict of two comparisons or more, by name of the task; of one task "
            "call items(scores).ranks() or compare(y_true, y_score).ranks()"
        )
    tasks = dict(tasks)
    first = instance("each of tasks", next(iter(tasks.values())), Comparison)
    names = list(first.estimates)
    for task, x in tasks.items():
        alike = list(instance("each of tasks", x, Comparison)) == names
        alike &= (x.level, x.greater_is_better) == (first.level, first.greater_is_better)
        if not alike or x.simultaneous or x.alternative != "two-sided" or x.scale != "difference":
            raise ValueError(
                f"tasks[{task!r}] must have the same models in the same order, level and direction "
                "as the first, and two-sided differences that are not simultaneous"
            )
    values = _means([list(x.estimates.values()) for x in tasks.values()], first.level)
    pairs = _means([list(x.differences) for x in tasks.values()], first.level)
    measures = {x.measure for x in tasks.values()}
    is_one = len(measures) == 1
    title = f"{first.title}, {METHOD}" if is_one else METHOD.capitalize()
    estimates = {
        name: Estimate(
            measure=first.measure if is_one else METHOD,
            title=title,
            value=mean.value,
            standard_error=mean.standard_error,
            interval=mean.interval_at(1 - first.level)[:2],
            level=first.level,
            method=METHOD,
        )
        for name, mean in zip(names, values, strict=True)
    }
    hypothesis = Hypothesis(greater_is_better=first.greater_is_better)
    joint = joint_normal_estimates(
        estimates,
        {(d.first, d.second): x for d, x in zip(first.differences, pairs, strict=True)},
        np.sum([x.covariance for x in tasks.values()], axis=0) / len(tasks) ** 2,
        {name: mean.interval_at for name, mean in zip(names, values, strict=True)},
        hypothesis,
        first.seed,
    )
    found = comparison_fields(
        joint, hypothesis, simultaneous=False, level=first.level, seed=first.seed
    )
    return Leaderboard(
        measure=first.measure if is_one else METHOD, title=title, tasks=tasks, **found
    )


def _means(of_tasks: list[list[Any]], level: float) -> list[Contrast]:
    """Return the mean of each value over the tasks, which are independent."""
    shares, means = [1 / len(of_tasks)] * len(of_tasks), []
    for of_value in zip(*of_tasks, strict=True):
        values = [x.value for x in of_value]
        mean = float(np.multiply(shares, values).sum())
        error = math.hypot(*(x.standard_error for x in of_value)) / len(of_tasks)
        # Distances of independent values add up as their squares (Zou and Donner 2008)
        below = math.hypot(*(x.value - x.interval[0] for x in of_value)) / len(of_tasks)
        above = math.hypot(*(x.interval[1] - x.value for x in of_value)) / len(of_tasks)
        means.append(_contrast_of_sides(mean, error, below, above, level))
    return means


def _contrast_of_sides(
    value: float, error: float, below: float, above: float, level: float
) -> Contrast:
    """Return what is known of a value whose interval reaches so far, normal on either side."""
    reach = float(ndtri((1 - level) / 2))

    def interval_at(error: float) -> Interval:
        times = float(ndtri(error / 2)) / reach
        return Interval(value - times * below, value + times * above)

    def tail(threshold: float) -> float:
        side = below if threshold < value else above
        if side == 0:
            return float(value == threshold) / 2
        return float(ndtr(reach * abs(value - threshold) / side))

    return Contrast(value, error, interval_at, tail)
