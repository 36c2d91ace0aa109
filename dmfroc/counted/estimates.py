"""Estimates and comparisons from counts and the spread of influences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
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
    facts_of,
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
from dmfroc.measures.measure import Measure, bind_in_groups
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
    values = {name: sample.values([measure], name)[0] for name in names}
    check_finite(measure, {name: x.value for name, x in values.items()})
    spreads = sample.spreads({name: [x] for name, x in values.items()}, stratify=options.stratify)
    moments = dict(zip(names, spreads.moments, strict=False))  # those of differences follow
    of_rows = {name: _facts_of_all_rows(sample, name, options, [measure]) for name in names}
    rows = {name: known for name, found in of_rows.items() for known in found}
    facts = {}
    for place, name in enumerate(names):
        known = rows.get(name) or _unseen([values[name]], sample, name, spreads.units)[0]
        facts[name] = _facts(measure, values[name], sample, name, spreads, place, known)
    pairs = list(combinations(names, 2))
    differences = dict(zip(pairs, spreads.moments[len(names) :], strict=True))
    limits = {}
    for place, (a, b) in enumerate(pairs, len(names)):
        value, width = facts[a].value - facts[b].value, measure.largest_difference
        if rows:
            limits[a, b] = replace(paired_limits(rows[a], rows[b]), value=value)
            continue
        paired = limits_of_difference(facts[a].limits, facts[b].limits, value, width, 1.0)
        influences, masses, stratum = spreads.atoms(place)
        limits[a, b] = replace(paired, influences=influences, masses=masses, stratum=stratum)
    covariance = covariance_from_products(
        _products(moments, differences),
        spreads.totals_of_strata[: len(names)],
        spreads.units,
        list(moments.values()),
    )
    return method.paired_estimates(JointFacts(facts, differences, limits, covariance), hypothesis)


def _products(
    moments: Mapping[str, Moments], differences: Mapping[tuple[str, str], Moments]
) -> Float[np.ndarray, "s m m"]:
    """Return the sums of products of influences, from the variances of their differences."""
    squares, of_pairs = (
        np.stack([m.own * m.variances for m in x.values()], axis=1) for x in (moments, differences)
    )
    products = (squares[:, :, None] + squares[:, None]) / 2
    first, second = np.triu_indices(len(moments), 1)
    products[:, first, second] -= of_pairs / 2
    products[:, second, first] = products[:, first, second]
    return products


def _facts(
    measure: Measure,
    value: BinnedValue,
    counted: Counted,
    classifier: str,
    spreads: Spreads,
    place: int,
    known: Facts | tuple[Unseen, PerUnseen],
) -> Facts:
    """Return what counts in bins say of a measure.

    Its limits are those of all rows if ``known`` has what these say. Else they are linear, beside
    the unseen units.
    """
    bound, moments = counted.bound[classifier], spreads.moments[place]
    predictions, units = bound.predictions, spreads.units
    said = declared(measure, predictions)
    if isinstance(known, Facts):
        limits = known.limits
        if known.cross_fitted is None:
            limits = replace(limits, value=value.value)
        return replace(
            known,
            value=value.value,
            limits=limits,
            caveats=said.caveats,
            error_bound=value.error_bound,
            can_redraw=False,
        )
    influences, masses, stratum = spreads.atoms(place)
    unseen, of_unseen = known
    return Facts(
        measure=measure,
        predictions=predictions,
        units=units,
        value=value.value,
        moments=moments,
        limits=Limits(
            value=value.value,
            influences=influences,
            stratum=stratum,
            bounds=said.bounds,
            masses=masses,
            unseen=unseen,
            of_unseen=of_unseen,
        ),
        bias=bias_of(measure, value.value, moments.standard_error, Sample(predictions, units)),
        caveats=said.caveats,
        error_bound=value.error_bound,
        can_redraw=False,
    )


def _facts_of_all_rows(
    counted: Counted, classifier: str, options: Options, measures: Sequence[Measure]
) -> list[FactsInMemory]:
    """Return what all rows say, if they are so few that they were drawn with the cut points."""
    drawn, bound = counted.sample, counted.bound[classifier]
    if counted.has_groups or (drawn.sizes < bound.counts.sizes).any():
        return []
    each = drawn.batch.some(np.repeat(np.arange(len(drawn.count)), drawn.count))
    labels: Any = bound.labels
    rows = sample_of(each.predictions(classifier, labels), stratify=options.stratify)
    found: dict[int, FactsInMemory] = {}
    for places, _ in bind_in_groups(measures, rows.predictions):
        found.update(zip(places, facts_of([measures[i] for i in places], rows), strict=True))
    return [found[place] for place in range(len(measures))]


def _unseen(
    values: Sequence[BinnedValue], counted: Counted, classifier: str, units: Units
) -> list[tuple[Unseen, PerUnseen]]:
    """Return units that the sample does not show, like drawn rows, and their influences."""
    bound = counted.bound[classifier]
    labels: Any = bound.labels
    rows = unseen_rows(counted.sample.batch.predictions(classifier, labels))
    n, whole = len(rows.true), rows.predictions
    predicted = None if whole.predicted is None else whole.predicted[-n:]
    scores = np.ascontiguousarray(np.asarray(whole.scores)[-n:].T)
    own = {classifier: scores}, {classifier: predicted}
    batch = Batch(np.zeros(n, np.uint64), rows.true, *own, None, None)
    tables = [value.influence_table for value in values]
    found = influences(tables, batch, classifier, bound.grid, labels)
    place = _places(bound)[rows.true]
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
        name = self.classifier
        values = self.counted.values(measures, name)
        spreads = self.counted.spreads({name: values}, stratify=self.options.stratify)
        rows = _facts_of_all_rows(self.counted, name, self.options, measures)
        known: Sequence[Any] = rows or _unseen(values, self.counted, name, spreads.units)
        return [
            _facts(measure, value, self.counted, name, spreads, place, of_measure)
            for place, (measure, value, of_measure) in enumerate(
                zip(measures, values, known, strict=True)
            )
        ]

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
    statistic = bound.rates(options)[1]
    if len(bound.present) == 2:  # they have one curve
        statistic = replace(statistic, cell_weights=np.ones((1, 2, 1)))
    weights = bound.cells.ravel()
    table = statistic.count(weights, np)
    values, pull_back = value_and_pull_back(rates_at_thresholds(1), table)
    rows = _rows_alike(drawn, bound.counts.sizes)
    batch = drawn.batch
    true = batch.true[rows]
    cells = _cells_of_rows(bound, batch, rows)
    n_drawn = np.bincount(true, minlength=len(bound.counts.sizes))
    factor = batch.unit_weights[rows] * np.sqrt(bound.counts.sizes / np.maximum(n_drawn, 1))[true]
    influences = np.empty((*values.shape, len(rows)))

    def find(place: tuple[int, ...]) -> None:
        d_values = np.zeros_like(values)
        d_values[place] = 1
        of_cells = statistic.pull_back(weights, table, pull_back(d_values))
        influences[place] = of_cells.take(cells).sum(axis=0) * factor

    parallel_map(find, list(np.ndindex(values.shape)), "Band")
    shares = class_shares(statistic.counted, statistic.cell_weights, len(bound.present))
    stratum = np.zeros(len(true), int) if len(strata.sizes) == 1 else _places(bound)[true]
    units = replace(
        strata, unit_of_row=np.arange(len(true)), stratum=stratum, sizes=np.bincount(stratum)
    )
    return CurveRates(values, influences, shares, units)


def _rows_alike(drawn: RowSample, sizes: IntPerClass) -> Int[np.ndarray, " m"]:
    """Return places of the distinct rows such that each that is returned stands for as many."""
    chosen = []
    for k in np.flatnonzero(sizes):
        rows = np.flatnonzero(drawn.batch.true == k)
        up_to = np.cumsum(drawn.count[rows])
        n = min(int(up_to[-1]), _ROWS_OF_CLASS)
        chosen.append(rows[up_to.searchsorted((np.arange(n) + 0.5) * up_to[-1] / n, "right")])
    return np.concatenate(chosen)


def _cells_of_rows(
    bound: BoundCounts, batch: Batch, rows: Int[np.ndarray, " m"]
) -> Int[np.ndarray, "c m"]:
    """Return in which of all cells, by column, bin and class, the scores of some rows are."""
    _, n_bins, n_classes = bound.cells.shape
    scores = batch.scores[bound.classifier]
    return np.stack(
        [
            (place * n_bins + bound.grid.bins(column, scores[column][rows])) * n_classes
            + _places(bound)[batch.true[rows]]
            for place, column in enumerate(bound.present.tolist())
        ]
    )


def _places(bound: BoundCounts) -> IntPerClass:
    """Return the place of each class among those that occur."""
    return np.cumsum(bound.counts.sizes > 0) - 1
