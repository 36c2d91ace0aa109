"""Estimates and comparisons from counts and the spread of influences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, count
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import Covariance, IntPerClass, value_and_pull_back
from dmfroc._kit.threads import parallel_map
from dmfroc.counted.batches import Batch
from dmfroc.counted.bound import BinnedValue, BoundCounts, influences
from dmfroc.counted.influence_sums import Spreads, strata_of
from dmfroc.counted.sample import RowSample
from dmfroc.inference.bias import bias_of
from dmfroc.inference.evidence import (
    Facts,
    FactsInMemory,
    JointFacts,
    covariance_from_products,
    facts_in,
    paired_limits,
)
from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.influences import Moments
from dmfroc.inference.jackknife import Jackknife
from dmfroc.inference.limits import Limits, limits_of_difference
from dmfroc.inference.method import IntervalMethod, JointEstimates, check_finite
from dmfroc.inference.options import Options, stated
from dmfroc.inference.units import Sample, Units, sample_of
from dmfroc.inference.unseen import PerUnseen, Unseen, unseen_rows
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import Measure
from dmfroc.measures.measured import declared
from dmfroc.multiclass.band import BandKind, CurveBand, CurveRates, band_from_rates, class_shares
from dmfroc.multiclass.curve import MulticlassROC, rates_at_thresholds
from dmfroc.multiclass.rates import CurveOptions
from dmfroc.results.estimate import Estimate

_ROWS_OF_CLASS = 1 << 13  # whose spread is known to one per cent


@runtime_checkable
class Counted(Protocol):
    """A sample whose scores are counted: a scan, or what an accumulator has seen."""

    @property
    def classifiers(self) -> tuple[str, ...]:
        """Names of the classifiers."""

    @property
    def bound(self) -> Mapping[str, BoundCounts]:
        """The counts of each classifier."""

    @property
    def has_groups(self) -> bool:
        """Whether rows belong together."""

    @property
    def sample(self) -> RowSample:
        """Rows drawn from all of them."""

    def values(self, measures: Sequence[Measure], classifier: str) -> list[BinnedValue]:
        """Return the values of measures for a classifier."""

    def spreads(
        self, values: Mapping[str, Sequence[BinnedValue]], *, stratify: bool | None
    ) -> Spreads:
        """Return how the influences vary."""


def jackknife_for(options: Options) -> Jackknife:
    """Return the one method that counts allow.

    Raises
    ------
    ValueError
        If another method is asked for, or groups, which a scan has itself.
    """
    if options.method_name not in (None, Jackknife.name):
        raise ValueError(
            f"method={options.method_name!r} needs all scores in memory: of a scan there is "
            "method='jackknife', so leave it out, or pass a sample of the rows, scan.predictions()"
        )
    if options.groups is not None:
        raise ValueError("groups must be given to the scan, as the name of a column or in batches")
    return Jackknife().at(options.level, options.seed)


def stated_counts(sample: Counted, classifier: str, options: Options) -> Predictions:
    """Return the classes, how often they occur, and hard labels, with facts about the design."""
    facts: dict[str, Any] = {"independent_units": "groups of rows"} if sample.has_groups else {}
    return stated(sample.bound[classifier].predictions, options, **facts)


def joint_estimates_of_counts(
    sample: Counted, options: Options, measure: Measure, hypothesis: Hypothesis
) -> JointEstimates:
    """Estimate a measure of several classifiers, and their differences."""
    names, method = sample.classifiers, jackknife_for(options)
    values = {name: sample.values([measure], name) for name in names}
    check_finite(measure, {name: x.value for name, [x] in values.items()})
    of_each, spreads = _facts_of_counts(sample, options, [measure], values)
    facts = {name: x for name, [x] in of_each.items()}
    pairs, moments = list(combinations(names, 2)), spreads.moments[: len(names)]
    of_pairs = spreads.moments[len(names) :]
    limits = {}
    for place, (a, b) in enumerate(pairs, len(names)):
        first, second = facts[a], facts[b]
        if isinstance(first, FactsInMemory) and isinstance(second, FactsInMemory):
            limits[a, b] = paired_limits(first, second)
            continue
        value, width = first.value - second.value, measure.largest_difference
        paired = limits_of_difference(first.limits, second.limits, value, width, 1.0)
        influences, masses, stratum = spreads.atoms(place)
        limits[a, b] = replace(paired, influences=influences, masses=masses, stratum=stratum)
    products, totals = _products(moments, of_pairs), spreads.totals_of_strata[: len(names)]
    covariance = covariance_from_products(products, totals, spreads.units, moments)
    differences = dict(zip(pairs, of_pairs, strict=True))
    return method.paired_estimates(JointFacts(facts, differences, limits, covariance), hypothesis)


def _products(
    moments: Sequence[Moments], of_pairs: Sequence[Moments]
) -> Float[np.ndarray, "s m m"]:
    """Return the sums of products of influences, from the variances of their differences."""
    squares, of_differences = (
        np.stack([x.own * x.variances for x in several], axis=1) for several in (moments, of_pairs)
    )
    products = (squares[:, :, None] + squares[:, None]) / 2
    first, second = np.triu_indices(len(moments), 1)
    products[:, first, second] -= of_differences / 2
    products[:, second, first] = products[:, first, second]
    return products


def _facts_of_counts(
    counted: Counted,
    options: Options,
    measures: Sequence[Measure],
    values: Mapping[str, Sequence[BinnedValue]],
) -> tuple[dict[str, list[Facts]], Spreads]:
    """Return what counts in bins say of measures, by classifier, and how their influences vary."""
    spreads = counted.spreads(values, stratify=options.stratify)
    facts, places = {}, count()
    for name, of_one in values.items():
        of_rows: Sequence[Any] = _facts_of_all_rows(counted, name, options, measures)
        known = of_rows or _unseen(of_one, counted, name, spreads.units)
        predictions = counted.bound[name].predictions
        facts[name] = [
            _facts(measure, value, predictions, spreads, next(places), of_measure)
            for measure, value, of_measure in zip(measures, of_one, known, strict=True)
        ]
    return facts, spreads


def _facts(
    measure: Measure,
    value: BinnedValue,
    predictions: Predictions,
    spreads: Spreads,
    place: int,
    known: FactsInMemory | tuple[Unseen, PerUnseen],
) -> Facts:
    """Return what counts in bins say of a measure.

    Its limits are those of all rows if ``known`` has what these say. Else they are linear, beside
    the unseen units.
    """
    said = declared(measure, predictions)
    of_counts: dict[str, Any] = {"value": value.value, "error_bound": value.error_bound}
    of_counts |= {"caveats": said.caveats, "can_redraw": False}
    if isinstance(known, FactsInMemory):
        if known.cross_fitted is None:
            of_counts["limits"] = replace(known.limits, value=value.value)
        return replace(known, **of_counts)
    influences, masses, stratum = spreads.atoms(place)
    units, moments = spreads.units, spreads.moments[place]
    limits = Limits(
        value=value.value,
        influences=influences,
        stratum=stratum,
        bounds=said.bounds,
        masses=masses,
        unseen=known[0],
        of_unseen=known[1],
    )
    return Facts(
        measure=measure,
        predictions=predictions,
        units=units,
        moments=moments,
        limits=limits,
        bias=bias_of(measure, value.value, moments.standard_error, Sample(predictions, units)),
        **of_counts,
    )


def _facts_of_all_rows(
    counted: Counted, classifier: str, options: Options, measures: Sequence[Measure]
) -> list[FactsInMemory]:
    """Return what all rows say, if they are so few that they were drawn with the cut points."""
    drawn, bound = counted.sample, counted.bound[classifier]
    if counted.has_groups or (drawn.sizes < bound.counts.sizes).any():
        return []
    each = drawn.batch.some(np.repeat(np.arange(len(drawn.count)), drawn.count))
    rows = sample_of(each.predictions(classifier, bound.labels), stratify=options.stratify)
    return [facts_in(rows, measure) for measure in measures]


def _unseen(
    values: Sequence[BinnedValue], counted: Counted, classifier: str, units: Units
) -> list[tuple[Unseen, PerUnseen]]:
    """Return units that the sample does not show, like drawn rows, and their influences."""
    bound = counted.bound[classifier]
    rows = unseen_rows(counted.sample.batch.predictions(classifier, bound.labels))
    n = len(rows.true)
    some = rows.predictions.rows(np.arange(-n, 0))
    scores: Any = np.ascontiguousarray(some.scores.T)
    own = {classifier: scores}, {classifier: some.predicted}
    batch = Batch(np.zeros(n, np.uint64), some.true, *own, None, None)
    tables = [value.influence_table for value in values]
    found = influences(tables, batch, classifier, bound.grid, bound.labels)
    place = bound.place_of_class[rows.true]
    size = (bound.counts.totals[bound.present] / units.effective_sizes)[place]
    unseen = rows.units(place if units.has_fixed_sizes else np.zeros(n, int))
    return [(unseen, of_value * size) for of_value in found]


@dataclass(frozen=True, eq=False)
class CountedEvidence:
    """What the counts of one classifier say; its members are those of `Evidence`."""

    agreement: ClassVar[None] = None

    counted: Counted
    options: Options

    @property
    def classifier(self) -> str:
        """The name of the one classifier.

        Raises
        ------
        ValueError
            If there are several.
        """
        names = self.counted.classifiers
        if len(names) > 1:
            raise ValueError(
                f"the scan has {len(names)} classifiers, {list(names)}: use compare, or scan the "
                "score columns of one"
            )
        return names[0]

    @property
    def bound(self) -> BoundCounts:
        """The counts, ready for all measures."""
        return self.counted.bound[self.classifier]

    @cached_property
    def predictions(self) -> Predictions:
        """The classes, how often they occur, and hard labels."""
        return stated_counts(self.counted, self.classifier, self.options)

    @cached_property
    def sample(self) -> Sample:
        """The predictions, and how many units each stratum has."""
        units = strata_of(self.bound.counts, stratify=self.options.stratify)
        return Sample(self.predictions, units)

    def possible(self, measures: list[Measure]) -> list[Measure]:
        """Return the measures that counts give."""
        return [measure for measure in measures if self.bound.refusal(measure) is None]

    def methods(self, measures: Sequence[Measure]) -> list[IntervalMethod]:
        """Return the jackknife for each measure."""
        return [jackknife_for(self.options)] * len(measures)

    def estimates(
        self, measures: Sequence[Measure], methods: Sequence[IntervalMethod]
    ) -> list[Estimate]:
        """Estimate measures."""
        jackknife = jackknife_for(self.options)
        return [jackknife.estimate(facts) for facts in self.facts_of(measures)]

    def facts_of(self, measures: Sequence[Measure]) -> list[Facts]:
        """Return what the counts say of measures."""
        values = {self.classifier: self.counted.values(measures, self.classifier)}
        return _facts_of_counts(self.counted, self.options, measures, values)[0][self.classifier]

    def curve(self, options: CurveOptions) -> MulticlassROC:
        """Return the multiclass ROC curve."""
        return self.bound.curve(options)

    def area(self, options: CurveOptions, level: float) -> Estimate | None:
        """Return nothing: one more pass would be needed."""
        return None

    def covariance(self, measures: Sequence[Measure]) -> Covariance:
        """Return NaN: one more pass would be needed."""
        return np.full((len(measures),) * 2, np.nan)

    def band(
        self, curve: MulticlassROC, options: CurveOptions, level: float, kind: BandKind
    ) -> CurveBand:
        """Return the band of a curve.

        Its width is that of the influences of up to 8,192 rows of each class, drawn when the cut
        points were, which stand for all.
        """
        if self.counted.has_groups:
            raise ValueError(
                "a band needs all scores of the groups in memory: draw none (plot_band=False)"
            )
        rates = rates_of_counts(self.bound, options, self.counted.sample, self.sample.units)
        return band_from_rates(curve, rates, level, kind)


def rates_of_counts(
    bound: BoundCounts, options: CurveOptions, drawn: RowSample, strata: Units
) -> CurveRates:
    """Return the rates at the thresholds of all pairs, with the influences of drawn rows on them.

    The strata are those of all rows. A row stands for several: the square of its influence counts
    as often as the class has rows for each one drawn.
    """
    statistic = bound.rates(options)[0]
    if len(bound.present) == 2:  # they have one curve, that of the second column
        statistic = replace(
            statistic,
            counted=statistic.counted[1:],
            places=statistic.places[1:],
            cell_weights=np.ones((1, 2, 1)),
        )
    weights = bound.cells.ravel()
    table = statistic.count(weights, np)
    values, pull_back = value_and_pull_back(rates_at_thresholds(1), table)
    batch = drawn.batch.some(_rows_alike(drawn, bound.counts.sizes))
    n_drawn = np.bincount(batch.true, minlength=len(bound.counts.sizes))
    times = np.sqrt(bound.counts.sizes / np.maximum(n_drawn, 1))[batch.true]
    factor, (_, n_bins, n_classes) = batch.unit_weights * times, bound.cells.shape
    columns, scores = bound.present.tolist(), batch.scores[bound.classifier]
    bins = np.stack([bound.grid.bins(column, scores[column]) for column in columns])
    row = np.arange(len(columns))[:, None] * n_bins + bins  # of all cells, by column and bin
    cells = row * n_classes + bound.place_of_class[batch.true]
    of_rows = np.empty((*values.shape, len(batch.true)))

    def find(place: tuple[int, ...]) -> None:
        d_values = np.zeros_like(values)
        d_values[place] = 1
        of_cells = statistic.pull_back(weights, table, pull_back(d_values))
        of_rows[place] = of_cells.take(cells).sum(axis=0) * factor

    parallel_map(find, list(np.ndindex(values.shape)), "Band")
    shares = class_shares(statistic.counted, statistic.cell_weights, len(bound.present))
    stratum = bound.place_of_class[batch.true] * (len(strata.sizes) > 1)
    unit_of_row = np.arange(len(stratum))
    units = replace(strata, unit_of_row=unit_of_row, stratum=stratum, sizes=np.bincount(stratum))
    return CurveRates(values, of_rows, shares, units)


def _rows_alike(drawn: RowSample, sizes: IntPerClass) -> Int[np.ndarray, " m"]:
    """Return places of the distinct rows such that each that is returned stands for as many."""
    chosen = []
    for k in np.flatnonzero(sizes):
        rows = np.flatnonzero(drawn.batch.true == k)
        up_to = np.cumsum(drawn.count[rows])
        n = min(int(up_to[-1]), _ROWS_OF_CLASS)
        chosen.append(rows[up_to.searchsorted((np.arange(n) + 0.5) * up_to[-1] / n, "right")])
    return np.concatenate(chosen)
