"""The infinitesimal jackknife: standard errors and intervals from influences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._kit.threads import parallel
from dmfroc.inference import independent
from dmfroc.inference.bias import bias_of, bias_of_table
from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.influences import (
    NO_VARIATION,
    Influences,
    Interval,
    Moments,
    PartInfluences,
    class_sizes_of,
    influences_of,
    interval,
    interval_below,
    moments_from_means,
    moments_of,
    moments_of_sums,
    p_value_of_difference,
    probability_above,
    standard_error,
    where_few_decide,
    without_variation,
)
from dmfroc.inference.interval_method import (
    USE_BOOTSTRAP,
    Contrast,
    IntervalMethod,
    JointEstimates,
    Sample,
    check_finite,
)
from dmfroc.inference.nearest_perfect import perfect_sample
from dmfroc.inference.options import Options
from dmfroc.inference.remarks import (
    chosen_on_itself_message,
    few_clusters_message,
    few_decide,
    few_decide_message,
    kinks_message,
    less_biased_message,
    many_cells_message,
    no_variation_message,
    rare_class_message,
    small_classes_message,
)
from dmfroc.inference.units import Units
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import (
    BoundMeasures,
    Measure,
    bare_value_of,
    bind,
    caveats,
    undefined_message,
)
from dmfroc.results.estimate import Estimate

_N_JOINT_DRAWS = 100_000  # behind the probabilities of the orders
_NUMBERS_IN_JOINT_DRAWS = 1 << 20  # of many classifiers there are fewer
_NUMBERS_AT_ONCE = 1 << 20  # influences, of which powers are held
_LOST = 1e-3  # of the squares of two influences; from less the fourth powers lose six digits


@dataclass(frozen=True)
class Jackknife(IntervalMethod):
    """Influences of single observations: their squares add up to the variance."""

    name: ClassVar[str] = "jackknife"
    remedies: ClassVar[Mapping[str, str]] = {
        "interval_type": f"it has one kind of interval; {USE_BOOTSTRAP}",
        "n_draws": f"it draws nothing; {USE_BOOTSTRAP}",
    }

    @classmethod
    def from_options(cls, options: Options) -> Jackknife:
        """Return the jackknife with the level and the seed."""
        return cls(options.level, options.seed)

    def estimates(
        self, measures: Sequence[Measure], bind: Callable[[], BoundMeasures], sample: Sample
    ) -> list[Estimate]:
        """Estimate measures from their influences."""
        found = influences_of(measures, bind(), sample.predictions, allows_for_parts=True)
        return [
            self.estimate_from(measure, of_measure, sample)
            for measure, of_measure in zip(measures, found, strict=True)
        ]

    def estimate_from(self, measure: Measure, found: Influences, sample: Sample) -> Estimate:
        """Return the estimate that follows from a value and its influences."""
        return self._estimate_in_memory(measure, _knowledge_of(measure, found, sample), sample)

    def _estimate_in_memory(self, measure: Measure, known: Knowledge, sample: Sample) -> Estimate:
        predictions, units = sample

        def remarks(error: float) -> list[str | None]:
            return [
                chosen_on_itself_message(measure, known.value, known.corrected, error),
                less_biased_message(
                    measure,
                    known.value,
                    lambda other: bare_value_of(other, predictions),
                    predictions,
                    error,
                    known.bias,
                ),
            ]

        return self.estimate_of(measure, known, predictions, units, remarks)

    def estimate_of(
        self,
        measure: Measure,
        known: Knowledge,
        predictions: Predictions,
        units: Units,
        further_remarks: Callable[[float], Sequence[str | None]],
    ) -> Estimate:
        """Return the estimate that follows from what is known of a value.

        Of the units, what belongs to each stratum suffices, and of the predictions the classes and
        hard labels. The further remarks are those on a value with the given standard error.
        """
        value, moments = known.value, known.moments
        bounds = measure.range_in(predictions, sizes_are_fixed=True)
        ends, error = Interval(np.nan, np.nan), np.nan
        if np.isfinite(value):
            ends = known.interval_at(1 - self.level)
            has_error = moments.depends_on_sizes or not ends.is_degenerate
            error = standard_error(moments) if has_error else 0.0
        of_rare_class = rare_class_message(predictions)
        remarks = [
            *caveats([measure], predictions),
            undefined_message({measure.name: value}),
            kinks_message(measure),
            *further_remarks(error),
            few_clusters_message(units, predictions.n_observations),
            many_cells_message(measure, len(predictions.present), known.bias),
            of_rare_class,
        ]
        if of_rare_class is None and np.isfinite(value) and known.corrected is None:
            n_classes = len(predictions.present)
            remarks.append(small_classes_message(measure, units, n_classes, known.bias))
        if ends.is_degenerate:
            remarks.append(no_variation_message(value, bounds, moments))
        elif of_rare_class is None and few_decide(measure, value, bounds, moments):
            remarks.append(few_decide_message("a few per cent more or less than it says"))
        return Estimate(
            measure=measure.name,
            title=measure.title,
            value=value,
            standard_error=error,
            interval=(ends.low, ends.high),
            bias_corrected=known.corrected,
            level=self.level,
            method=self.name,
            class_sizes=class_sizes_of(moments, units),
            warnings=tuple(remark for remark in remarks if remark is not None),
        )

    def joint_estimates(
        self,
        measure: Measure,
        samples: Mapping[str, Sample],
        *,
        paired: bool,
        hypothesis: Hypothesis,
    ) -> JointEstimates:
        """Compare by the differences of influences, or by the intervals of independent samples."""
        found = _influences_of_samples(measure, samples)
        check_finite(measure, {name: f.value for name, f in found.items()})
        compare = self._paired if paired else self._independent
        return compare(measure, found, samples, hypothesis)

    def _paired(
        self,
        measure: Measure,
        found: Mapping[str, Influences],
        samples: Mapping[str, Sample],
        hypothesis: Hypothesis,
    ) -> JointEstimates:
        units = next(iter(samples.values())).units
        sums = np.stack([units.sums(f.influences)[units.by_stratum] for f in found.values()])
        pairs = list(itertools.combinations(samples, 2))
        moments = [
            of_difference.with_parts(_parts_of_difference(found[a], found[b]))
            for (a, b), of_difference in zip(
                pairs, _moments_of_differences(sums, units), strict=True
            )
        ]
        covariance = joint_covariance(sums, units)
        parts = [f.of_parts for f in found.values() if f.of_parts is not None]
        if parts:
            covariance += np.array([[a.products(b) for b in parts] for a in parts])
        known, estimates = self._known_estimates(measure, found, samples)
        return self.paired_estimates(
            measure,
            known,
            estimates,
            dict(zip(pairs, moments, strict=True)),
            covariance,
            hypothesis,
        )

    def paired_estimates(
        self,
        measure: Measure,
        known: Mapping[str, Knowledge],
        estimates: dict[str, Estimate],
        moments: Mapping[tuple[str, str], Moments],
        covariance: Float[np.ndarray, "m m"],
        hypothesis: Hypothesis,
    ) -> JointEstimates:
        """Compare by the moments of the differences' influences and the values' covariance."""
        contrasts = {
            (a, b): self.contrast(
                measure, known[a].value - known[b].value, of_difference, hypothesis
            )
            for (a, b), of_difference in moments.items()
        }
        draws = _joint_draws(
            np.array([x.value for x in known.values()]),
            covariance,
            min(of_difference.spread.degrees_of_freedom for of_difference in moments.values()),
            np.random.default_rng(self.seed),
        )

        def interval_of_difference(first: str, second: str, level: float) -> tuple[float, float]:
            value = contrasts[first, second].value
            return _interval_of_difference(
                measure, value, moments[first, second], level, hypothesis
            )

        return _jointly(
            measure, known, estimates, contrasts, draws, covariance, interval_of_difference
        )

    def _independent(
        self,
        measure: Measure,
        found: Mapping[str, Influences],
        samples: Mapping[str, Sample],
        hypothesis: Hypothesis,
    ) -> JointEstimates:
        sign = 1 if measure.greater_is_better else -1
        if any(f.of_parts is not None for f in found.values()):
            raise ValueError(
                f"{measure.name} counts the same sample of pairs of classes for all classifiers, "
                "which are then not independent: leave n_pairs out, or compare paired"
            )
        moments = {
            name: moments_of(found[name].influences, samples[name].units) for name in samples
        }
        of_name, tested = {}, {}
        for name, sample in samples.items():
            value, of_sample = found[name].value, (sample.predictions, sample.units.evidence)
            at = _interval_function(measure, value, moments[name], *of_sample)
            of_name[name] = value, at
            tested[name] = value, at if hypothesis.is_two_sided else independent.exact_tails(at)

        def ends_of_difference(first: str, second: str, error: float) -> tuple[float, float]:
            return independent.ends_of_difference(*tested[first], *tested[second], error)

        def interval_of_difference(first: str, second: str, level: float) -> tuple[float, float]:
            return hypothesis.opened(ends_of_difference(first, second, hypothesis.error(level)))

        contrasts = {}
        for first, second in itertools.combinations(samples, 2):
            both = (*of_name[first], *of_name[second])
            above, not_below, positive = (
                independent.probability_above(x, *both)
                for x in (hypothesis.rope, -hypothesis.rope, 0.0)
            )
            value = found[first].value - found[second].value
            contrasts[first, second] = Contrast(
                value=value,
                standard_error=standard_error(moments[first].beside(moments[second])),
                interval=interval_of_difference(first, second, self.level),
                p_value=hypothesis.p_value(value, partial(ends_of_difference, first, second)),
                two_sided_p_value=independent.p_value(0.0, *both),
                probability_better=positive if sign > 0 else 1 - positive,
                probability_equivalent=not_below - above,
            )
        generator = np.random.default_rng(self.seed)
        draws = [independent.draws_of(*x, _N_JOINT_DRAWS, generator) for x in of_name.values()]
        covariance = np.diag([m.spread.scale**2 for m in moments.values()])
        return _jointly(
            measure,
            *self._known_estimates(measure, found, samples),
            contrasts,
            np.stack(draws, axis=1),
            covariance,
            interval_of_difference,
        )

    def _known_estimates(
        self, measure: Measure, found: Mapping[str, Influences], samples: Mapping[str, Sample]
    ) -> tuple[dict[str, Knowledge], dict[str, Estimate]]:
        known = {name: _knowledge_of(measure, found[name], samples[name]) for name in samples}
        return known, {
            name: self._estimate_in_memory(measure, known[name], samples[name]) for name in samples
        }

    def contrast(
        self, measure: Measure, value: float, moments: Moments, hypothesis: Hypothesis
    ) -> Contrast:
        """Return what the moments of its influences say of a difference."""
        sign = 1 if measure.greater_is_better else -1
        width = measure.largest_difference
        above, not_below = (
            probability_above(x, value, moments, width) for x in (hypothesis.rope, -hypothesis.rope)
        )
        return Contrast(
            value=value,
            standard_error=standard_error(moments),
            interval=_interval_of_difference(measure, value, moments, self.level, hypothesis),
            p_value=p_value_of_difference(value, moments, width, hypothesis),
            two_sided_p_value=p_value_of_difference(value, moments, width),
            probability_better=probability_above(0.0, sign * value, moments, width),
            probability_equivalent=not_below - above,
        )


class Knowledge(NamedTuple):
    """A value and what is known of it: a corrected one, if any, moments and intervals.

    Its bias is what the intervals allow for, where it is notable.
    """

    value: float
    corrected: float | None
    moments: Moments
    interval_at: independent.IntervalAt
    bias: float = 0.0


def plain_knowledge(
    measure: Measure,
    value: float,
    moments: Moments,
    predictions: Predictions,
    evidence: Float[np.ndarray, " c"] | None,
) -> Knowledge:
    """Return what the moments of its influences say of a value, and what is known of its bias.

    Of the predictions only the shares of the classes matter, and that they have this evidence.
    """
    interval_at = _interval_function(measure, value, moments, predictions, evidence)
    bias = bias_of_table(measure, value, predictions, evidence, standard_error(moments))
    known = Knowledge(value, None, moments, interval_at)
    return _allowing_for(bias, known, measure, predictions)


def _allowing_for(
    bias: float, known: Knowledge, measure: Measure, predictions: Predictions
) -> Knowledge:
    """Return the same with intervals that reach further, to where the truth is."""
    if bias == 0:
        return known
    sizes_are_fixed = not known.moments.depends_on_sizes
    bounds = measure.range_in(predictions, sizes_are_fixed=sizes_are_fixed)
    return known._replace(
        interval_at=lambda error: known.interval_at(error).reaching(-bias, bounds), bias=bias
    )


def _interval_function(
    measure: Measure,
    value: float,
    moments: Moments,
    predictions: Predictions,
    evidence: Float[np.ndarray, " c"] | None,
) -> independent.IntervalAt:
    """Return what gives the intervals of a value of this evidence, as if it were not biased."""
    bounds = measure.range_in(predictions, sizes_are_fixed=True)
    of_sizes = measure.range_in(predictions)
    on_line = not measure.is_flat_at_ends
    perfect = perfect_sample(measure, predictions, evidence)

    def interval_at(error: float) -> Interval:
        return interval(
            value, moments, error, bounds, of_sizes, symmetric_on_line=on_line, perfect=perfect
        )

    return interval_at


def _knowledge_of(measure: Measure, found: Influences, sample: Sample) -> Knowledge:
    predictions, units = sample
    moments = moments_of(found.influences, units).with_parts(found.of_parts)
    judged = None
    if measure.cross_fit is not None and predictions.folds is None:
        judged = measure.cross_fit(predictions, units.of_row, (found.value, found.influences))
    if judged is None:
        known = plain_knowledge(measure, found.value, moments, predictions, units.evidence)
        if known.bias or not np.isfinite(known.value):
            return known
        bias = bias_of(measure, known.value, sample, standard_error(moments))
        return _allowing_for(bias, known, measure, predictions)
    bounds = measure.range_in(predictions, sizes_are_fixed=True)
    corrected, influences = max(judged[0], bounds[0]), judged[1]
    larger = max(moments, moments_of(influences, units), key=standard_error)
    perfect = perfect_sample(measure, predictions, units.evidence)

    def interval_at(error: float) -> Interval:
        if moments.spread.scale <= NO_VARIATION:
            return without_variation(found.value, moments.n_complete_sets, error, bounds, perfect)
        ends = interval_below(corrected, larger, error, bounds)
        ends = where_few_decide(ends, corrected, moments, error, perfect)
        # What is chosen on fewer observations is too small as the value is too large, less or more.
        halfway = interval_below((corrected + found.value) / 2, larger, error, bounds)
        return replace(ends, high=max(ends.high, halfway.high, found.value))

    return Knowledge(found.value, corrected, larger, interval_at)


def _jointly(
    measure: Measure,
    known: Mapping[str, Knowledge],
    estimates: dict[str, Estimate],
    contrasts: dict[tuple[str, str], Contrast],
    draws: Float[np.ndarray, "draws m"],
    covariance: Float[np.ndarray, "m m"],
    interval_of_difference: Callable[[str, str, float], tuple[float, float]],
) -> JointEstimates:
    def interval_of_value(name: str, level: float) -> tuple[float, float]:
        ends = known[name].interval_at(1 - level)
        return ends.low, ends.high

    return JointEstimates(
        estimates,
        contrasts,
        draws if measure.greater_is_better else -draws,
        covariance,
        interval_of_value,
        interval_of_difference,
    )


def _influences_of_samples(
    measure: Measure, samples: Mapping[str, Sample]
) -> dict[str, Influences]:
    """Return the value and the influences of each classifier, many large ones side by side."""
    found: dict[str, Influences] = {}

    def find(name: str) -> None:
        # What is sorted of many classifiers would take more memory than they do: a copy's goes.
        predictions = replace(samples[name].predictions)
        bound = bind(measure, predictions)
        [found[name]] = influences_of([measure], bound, predictions, allows_for_parts=True)

    names = list(samples)
    parallel(find, names, sum(sample.predictions.scores.size for sample in samples.values()))
    return {name: found[name] for name in names}


def _interval_of_difference(
    measure: Measure, value: float, moments: Moments, level: float, hypothesis: Hypothesis
) -> tuple[float, float]:
    bounds = (-measure.largest_difference, measure.largest_difference)
    ends = interval(value, moments, hypothesis.error(level), bounds, symmetric_on_line=False)
    if ends.is_degenerate:  # all of the error probability is that of one end
        ends = interval(value, moments, 1 - level, bounds, symmetric_on_line=False)
    return hypothesis.opened((ends.low, ends.high))


def _parts_of_difference(first: Influences, second: Influences) -> PartInfluences | None:
    if first.of_parts is None or second.of_parts is None:
        return None
    return first.of_parts.minus(second.of_parts)


def _moments_of_differences(sums: Float[np.ndarray, "m u"], units: Units) -> list[Moments]:
    """Return the moments of every two rows' difference, in the order of the combinations.

    Those of all differences follow from products of powers of the rows, (a - b)^4 = a^4 - 4 a^3 b
    + 6 a^2 b^2 - 4 a b^3 + b^4, which are m^2 sums by three products of matrices. Where hardly
    anything is left of the squares, as between copies of a classifier, the difference is formed.
    """
    first, second = np.triu_indices(len(sums), 1)
    shape = (len(first), len(units.sizes))
    squares, fourths = np.empty(shape), np.empty(shape)
    is_lost = np.zeros(len(first), bool)
    for stratum, (size, part) in enumerate(
        zip(units.sizes, units.centred_parts(sums), strict=True)
    ):
        part *= size
        of_powers = _products_of_powers(part) / size
        of_square, of_cube, of_both = (x[first, second] for x in of_powers)
        whole = np.diag(of_powers[0])[first] + np.diag(of_powers[0])[second]
        squares[:, stratum] = whole - 2 * of_square
        of_cube += of_powers[1][second, first]
        fourth = np.diag(of_powers[2])
        fourths[:, stratum] = fourth[first] + fourth[second] - 4 * of_cube + 6 * of_both
        is_lost |= squares[:, stratum] < _LOST * whole
    totals = units.totals(sums)
    found = moments_from_means(squares, fourths, totals[first] - totals[second], units)
    for place in np.flatnonzero(is_lost):
        difference = sums[first[place]] - sums[second[place]]
        [found[place]] = moments_of_sums(difference[None], units)
    return found


def _products_of_powers(x: Float[np.ndarray, "m u"]) -> Float[np.ndarray, "3 m m"]:
    """Return the sums over the units of a b, a^3 b and a^2 b^2 of every two rows a and b."""
    found = np.zeros((3, len(x), len(x)))
    at_once = max(_NUMBERS_AT_ONCE // len(x), 1)
    for start in range(0, x.shape[1], at_once):
        part = x[:, start : start + at_once]
        square = part * part
        found[0] += part @ part.T
        found[1] += (square * part) @ part.T
        found[2] += square @ square.T
    return found


def joint_covariance(sums: Float[np.ndarray, "m u"], units: Units) -> Float[np.ndarray, "m m"]:
    """Return the covariance of the values, with `Moments.spread`'s care for rare classes."""
    own = np.maximum(units.sizes - units.n_means, 0)
    squares = []
    for size, is_own, part in zip(units.sizes, own > 0, units.centred_parts(sums), strict=True):
        squares.append(size**2 * is_own * (part @ part.T))
    moments = moments_of_sums(sums, units)
    return covariance_from_products(np.stack(squares), units.totals(sums), units, moments)


def covariance_from_products(
    products: Float[np.ndarray, "s m m"],
    totals: Float[np.ndarray, "m d"],
    units: Units,
    moments: Sequence[Moments],
) -> Float[np.ndarray, "m m"]:
    """Return the covariance of values from what is known of their influences by stratum.

    These are the sums of their products about the mean, scaled to single units, and their totals.
    Correlations come from products to which all classes lend alike. Each variance is that of the
    value by itself, of which these are the ``moments``: its classes may lend by their sizes, which
    no covariance could do.
    """
    sizes = units.sizes
    own = np.maximum(sizes - units.n_means, 0)
    pooled = products.sum(axis=0) / max(own.sum(), 1)
    covariance: Float[np.ndarray, "m m"] = (
        (products + pooled) / ((own + 1) * sizes)[:, None, None]
    ).sum(axis=0)
    if units.sizes_are_random:
        covariance += (totals / units.drawn[1]) @ totals.T
    alike = np.sqrt(covariance.diagonal())
    factor = np.array([m.spread.scale for m in moments]) / np.where(alike > 0, alike, 1.0)
    return covariance * np.outer(factor, factor)


def _joint_draws(
    values: Float[np.ndarray, " m"],
    covariance: Float[np.ndarray, "m m"],
    degrees_of_freedom: float,
    generator: np.random.Generator,
) -> Float[np.ndarray, "draws m"]:
    """Draw from the joint t distribution of the classifiers' values."""
    n_draws = min(_N_JOINT_DRAWS, _NUMBERS_IN_JOINT_DRAWS // len(values))
    noise = generator.multivariate_normal(
        np.zeros(len(values)), covariance, size=n_draws, method="eigh"
    )
    if np.isfinite(degrees_of_freedom):
        chi_squared = generator.chisquare(degrees_of_freedom, size=(n_draws, 1))
        noise /= np.sqrt(chi_squared / degrees_of_freedom)
    return values + noise
