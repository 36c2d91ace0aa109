"""Values at several horizons: one interval each, bands around all, differences, means over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, cast, overload

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri

from dmfroc._kit.text import in_percent
from dmfroc.inference.evidence import FactsInMemory, joint_facts
from dmfroc.inference.hypothesis import Hypothesis, contrast_of_limits
from dmfroc.inference.influences import moments_of_sums
from dmfroc.inference.jackknife import Jackknife
from dmfroc.inference.limits import IntervalAt, Limits, Part, limits_of_sum
from dmfroc.inference.method import check_finite
from dmfroc.inference.options import Options
from dmfroc.inference.simultaneous import largest_statistic
from dmfroc.inputs.horizon import FollowUp
from dmfroc.results.difference import Difference
from dmfroc.results.estimate import Estimate, names_shown, remarked
from dmfroc.results.result import Result, ResultsByName, attributed
from dmfroc.results.table import Column, Name, Table
from dmfroc.results.text import common


@dataclass(frozen=True, eq=False, repr=False)
class HorizonCurves(Result):
    """Values at several horizons, and differences of classifiers.

    All dictionaries are by the name of the measure, or of the classifier, or, of a difference, by
    both names, such as ``"a - b"``.

    Attributes
    ----------
    horizons : numpy.ndarray of shape (h,)
        The times at which outcomes are looked at.
    points : dict of str to tuple of Estimate or Difference
        One for each horizon, with its own interval.
    simultaneous : dict of str to numpy.ndarray of shape (h, 2)
        Ends of intervals that hold at all horizons at once; those of differences for all pairs.
    critical_values : dict of str to float
        The quantile of the largest standardized error on which these intervals rest.
    covariances : dict of str to numpy.ndarray of shape (h, h)
        Of the values at the horizons, which are of the same rows: sums of products of influences.
        Standard errors are a little larger, and much where a class has a single row.
    means : dict of str to Estimate or Difference
        The mean from the first horizon to the last, by trapezoids, with its interval, such as the
        integrated Brier score.
    level : float
        Nominal coverage.
    warnings : tuple of str
        What a careful reader has to know.
    """

    main_table: ClassVar[str] = "horizons"
    json_names: ClassVar[tuple[str, ...]] = ("level",)

    horizons: Float[np.ndarray, " h"]
    points: dict[str, tuple[Estimate | Difference, ...]]
    simultaneous: dict[str, Float[np.ndarray, "h 2"]]
    critical_values: dict[str, float]
    covariances: dict[str, Float[np.ndarray, "h h"]]
    means: dict[str, Estimate | Difference]
    level: float
    warnings: tuple[str, ...] = ()

    @property
    def design(self) -> Mapping[str, Any]:
        """What of the design changes the meaning of the values, by name."""
        first: Any = next(iter(self.points.values()))
        return common([point.design for point in first])

    @property
    def titles(self) -> dict[str, Name]:
        """How people read the names: a measure's title, a classifier's name as it is."""
        return {
            name: Name(name, x.title if isinstance(x, Estimate) and x.measure == name else name)
            for name, (x, *_) in self.points.items()
        }

    @property
    def title(self) -> str:
        """The title of the measure, if all values are of one."""
        titles = {x.title for x, *_ in self.points.values() if isinstance(x, Estimate)}
        return titles.pop() if len(titles) == 1 else "value"

    @property
    def shown(self) -> HorizonCurves:
        """The curves in print: the DMF-AUC and M once if both are the AUC of two classes."""
        titles = {name: title for name, title in self.titles.values()}
        return replace(self, points={x: self.points[x] for x in names_shown(titles)})

    def tables(self) -> list[Table]:
        """Return the values and differences at all horizons, and their means over time."""
        shown, percent = self.shown, f"{in_percent(self.level)} interval"
        points, names = sum(shown.points.values(), ()), shown.titles
        ends = np.concatenate([self.simultaneous[x] for x in shown.points]).tolist()
        bands = [(*x, point.standard_error) for x, point in zip(ends, points, strict=True)]
        at = [Name(x, f"{x:g}") for x in np.asarray(self.horizons).tolist()]
        columns = [
            Column("name", "of", [names[x] for x in shown.points for _ in self.horizons], "name"),
            Column("horizon", "horizon", at * len(shown.points), "name"),
            Column("value", self.title, points, "estimate", percent, "std. error"),
            Column("simultaneous", f"simultaneous {percent}", bands, "interval"),
        ]
        named, means = zip(*((names[x], self.means[x]) for x in shown.points), strict=True)
        of_means = [
            Column("name", "of", named, "name"),
            Column("mean", "mean", means, "estimate", percent, "std. error"),
        ]
        title = f"Means over time, {self.horizons[0]:g} to {self.horizons[-1]:g}, by trapezoids"
        return [
            Table("horizons", "At each horizon", columns),
            Table("means", title, of_means, is_by_name=True),
        ]


class ByHorizon[**P, R](Protocol):
    """A function whose result is another at several horizons."""

    @overload
    def __call__(
        self, *args: Any, follow_up: FollowUp[Sequence[float]], **options: Any
    ) -> HorizonCurves: ...
    @overload
    def __call__(self, *args: P.args, **options: P.kwargs) -> R: ...


def by_horizon[**P, R](
    function: Callable[P, R | HorizonCurves | ResultsByName[Any]],
) -> ByHorizon[P, R]:
    """Return the function, with its types."""
    return cast("ByHorizon[P, R]", function)


class _Curve(NamedTuple):
    """What is known of a value, or of the difference of two, at each horizon."""

    names: tuple[str, str]
    points: tuple[Any, ...]
    sums: Float[np.ndarray, "h u"]
    hypothesis: Hypothesis
    intervals: list[IntervalAt]
    limits: list[Limits]


def over_horizons(
    facts_at: Callable[[Options], Mapping[str, FactsInMemory]],
    options: Options,
    hypothesis: Hypothesis | None = None,
) -> HorizonCurves:
    """Return curves of what has facts at each horizon, and differences if there is a hypothesis."""
    if options.method_name not in (None, Jackknife.name) or options.is_of_learner:
        raise ValueError(
            "several horizons have joint limits by method='jackknife' of these fits alone: leave "
            "method and target out, or give one horizon"
        )
    at_each = options.at_horizons
    horizons = np.array([x.follow_up.horizon for x in at_each if x.follow_up is not None])
    over_time = [facts_at(x) for x in at_each]
    first, gaps = over_time[0], np.diff(horizons)
    method = Jackknife().at(options.level, options.seed)
    shares = (np.append(gaps, 0) + np.append(0, gaps)) / (2 * gaps.sum())
    units = next(iter(first.values())).units.in_one_stratum
    values, differences = dict[str, _Curve](), dict[str, _Curve]()
    for name in first:
        facts = [at[name] for at in over_time]
        for one in facts:
            check_finite(one.measure, {name: one.value})
        values[name] = _Curve(
            (name, ""),
            tuple(remarked(method.estimate(x), x.predictions) for x in facts),
            np.stack([one.units.sums(one.influences.influences) for one in facts]),
            Hypothesis(),
            [x.interval_at for x in facts],
            [x.limits for x in facts],
        )
    if hypothesis is not None:
        joint_at = [joint_facts(x) for x in over_time]
        joint = [method.paired_estimates(x, hypothesis).contrasts for x in joint_at]
        for pair in joint[0]:
            contrasts = [x[pair] for x in joint]
            differences[" - ".join(pair)] = _Curve(
                pair,
                tuple(hypothesis.difference(pair, x, options.level) for x in contrasts),
                values[pair[0]].sums - values[pair[1]].sums,
                hypothesis,
                [x.interval_at for x in contrasts],
                [x.limits[pair] for x in joint_at],
            )
    bands, critical, covariances, means = {}, {}, {}, {}
    families = [{name: x} for name, x in values.items()]
    for family in [*families, differences] if differences else families:
        of_all = np.concatenate([x.sums for x in family.values()])
        largest = largest_statistic(of_all @ of_all.T, np.eye(len(of_all)), options.seed)
        level = largest.level_of_each(options.level)
        for name, (names, points, sums, own, intervals, limits) in family.items():
            bands[name] = np.array([own.interval(x, level) for x in intervals])
            critical[name] = float(-ndtri((1 - level) / 2))
            covariances[name] = sums @ sums.T
            value = float(shares @ [x.value for x in points])
            [moments] = moments_of_sums((shares @ sums)[None, units.by_stratum], units)
            together = np.zeros(sums.shape[1], int)
            parts = [
                Part(share, x.of_units(of_units, together))
                for share, x, of_units in zip(shares.tolist(), limits, sums, strict=True)
            ]
            joint_limits = limits_of_sum(parts, value, limits[0].bounds, together)
            contrast = contrast_of_limits(joint_limits, moments, own)
            mean = own.difference(names, contrast, options.level)
            means[name] = mean if family is differences else _mean_estimate(points, mean)
    at_each_horizon = zip(horizons, *(x.points for x in values.values()), strict=True)
    remarks = {f"horizon {t:g}": [w for e in es for w in e.warnings] for t, *es in at_each_horizon}
    return HorizonCurves(
        horizons,
        {name: x.points for name, x in (values | differences).items()},
        bands,
        critical,
        covariances,
        means,
        options.level,
        attributed(remarks),
    )


def _mean_estimate(at_each: Sequence[Estimate], mean: Difference) -> Estimate:
    """Return the mean of estimates over time, with the value, error and interval found for it."""
    return replace(
        at_each[0],
        value=mean.value,
        standard_error=mean.standard_error,
        interval=mean.interval,
        bias_corrected=None,
        warnings=tuple(dict.fromkeys(w for e in at_each for w in e.warnings)),
        design=common([e.design for e in at_each]),
    )
