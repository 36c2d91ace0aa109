"""Warnings about an estimate, in words; None if there is nothing to say."""

from __future__ import annotations

import math

import numpy as np

from dmfroc.inference.bias import excess_of_folds
from dmfroc.inference.evidence import Facts
from dmfroc.inference.units import Units
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import Measure, undefined_message

_PERFECT = 1e-6  # the centre of the rates is fitted, and no better than that at its end
_FEW_CLUSTERS = 20
_FEW_IN_FOLDS = 75  # of a class; of 100 in three classes, and more, intervals hold
_FEW_IN_FOLD = 20  # of a class in each fold; of fewer, values at rare classes can be too large
# Standard errors, from which on halves show only a part of a bias
_LARGE_BIAS = 1.0
_FAR = 2.0  # standard errors, by which one unseen error moves a value
_FEW_UNITS = 10  # of one class; fewer do not show a bootstrap how a measure varies


def count(n: float | int) -> str:
    """Return a number of units, which may be a fraction because of weights."""
    return f"{n:.1f}".removesuffix(".0")


def warnings_of(facts: Facts) -> tuple[str, ...]:
    """Return what limits an estimate and its interval by the jackknife, each warning once."""
    measure, value, parts = facts.measure, facts.value, facts.parts or (facts,)
    samples = [part.predictions for part in parts]
    of_rare_class = [rare_class_message(sample) for sample in samples]
    remarks = [
        *facts.remarks,
        *facts.caveats,
        None if math.isfinite(value) else undefined_message({measure: value}, *samples),
        *(kinks_message(measure, can_redraw=part.can_redraw) for part in parts),
        chosen_on_itself_message(facts),
        *(few_clusters_message(x.units, len(x.predictions.true)) for x in parts),
        *of_rare_class,
        *(measure.interval.caveat(sample) for sample in samples),
        *(small_folds_message(sample) for sample in samples),
        *(folds_differ_message(part) for part in parts),
    ]
    if not any(of_rare_class) and math.isfinite(value):
        remarks += [bias_message(facts), no_variation_message(facts), unseen_message(facts)]
    return tuple(dict.fromkeys(filter(None, remarks)))


def rare_class_message(predictions: Predictions) -> str | None:
    """Say that a class has a single observation."""
    sizes = predictions.class_counts
    single = [label for label, size in zip(predictions.labels, sizes, strict=True) if size == 1]
    if not single:
        return None
    if len(single) == len(predictions.present):
        return "every class has a single observation, so that nothing shows how the value varies"
    return (
        f"class {single[0]!r} has a single observation, which shows no variation: "
        "the variance within the other classes stands in for its own"
    )


def kinks_message(measure: Measure, *, can_redraw: bool = False) -> str | None:
    """Say that a measure lacks the derivative that the jackknife uses."""
    if measure.default_method == "jackknife":
        return None
    kinks = f"{measure.name} has kinks, where it has no derivative, which the jackknife uses"
    return (
        f"use method='bootstrap': {kinks}"
        if can_redraw
        else f"the interval may be too short: {kinks}"
    )


def chosen_on_itself_message(facts: Facts) -> str | None:
    """Say that a measure is too good because it chooses thresholds, if its interval is so, too."""
    own, too_large = facts.measure.interval, _too_large(facts.measure)
    if facts.cross_fitted is not None or not (own.cross_fit or own.chooses):
        return None
    if not facts.has_all_scores:
        return (
            f"{too_large}; counts of scores in bins do not show how it does on others, so that the "
            "interval covers less than it says unless every class has many observations"
        )
    if own.chooses:
        return None
    return (
        f"{too_large}, and a class has too few to choose them on others: the interval covers far "
        "less than it says"
    )


def _too_large(measure: Measure) -> str:
    return (
        f"{measure.name} chooses its thresholds on the observations that it judges, which makes it "
        "too large"
    )


def not_resampled_message(measure: Measure) -> str | None:
    """Say that no replicate shows by how much a measure is too good."""
    if measure.interval.cross_fit is None:
        return None
    return (
        f"use method='jackknife', which has thresholds chosen by others: {_too_large(measure)}, "
        "and replicates of it even more so, and the interval covers far less than it says"
    )


def few_clusters_message(units: Units, n_observations: int) -> str | None:
    """Say that an interval rests on few groups."""
    n_groups = int(units.sizes.sum())
    if n_groups == n_observations or n_groups >= _FEW_CLUSTERS:
        return None
    return (
        f"collect more groups of observations: {n_groups} are few to see how the value varies, and "
        "the interval may cover 10 points less than it says"
    )


def small_folds_message(predictions: Predictions) -> str | None:
    """Say that a class is so small that the fits of the folds depend on each other."""
    fewest = predictions.class_counts[predictions.present].min()
    if predictions.folds is None or fewest >= _FEW_IN_FOLDS:
        return None
    return (
        "report that 95 % intervals may cover 88 to 96 %: fits of folds share rows, and the rarest "
        f"class has {count(float(fewest))} observations in all"
    )


def folds_differ_message(facts: Facts) -> str | None:
    """Say that the mean over small folds is not the value of all rows, as of an average precision.

    The interval accounts for that in measures of hard labels, which have a common scale.
    """
    measure, predictions = facts.measure, facts.predictions
    if predictions.folds is None or measure.needs == "labels" or measure.interval.is_unbiased:
        return None
    n_folds = len(np.unique(predictions.folds))
    if predictions.class_counts[predictions.present].min() >= _FEW_IN_FOLD * n_folds:
        return None
    excess = excess_of_folds(measure, facts.value, predictions)
    if not abs(excess) > facts.moments.standard_error:
        return None
    return (
        f"{measure.name} is {facts.value:.4f} as the mean of the folds, and "
        f"{facts.value - excess:.4f} for all rows at once: the folds have too few rows for "
        "it, or the scores of their fits have no common scale"
    )


def bias_message(facts: Facts) -> str | None:
    """Say that a value may be biased, unless its interval accounts for that."""
    measure, known, n_sets = facts.measure, facts.bias, facts.units.n_complete_sets
    bias = known.of_value
    how_far = f"too {'large' if bias > 0 else 'small'} by about {abs(bias):.2g}"
    if measure.interval.cross_fit:
        return None
    if known.of_few_rows and abs(bias) > facts.moments.standard_error / 2:
        return (
            f"at these class shares {measure.name} depends on few rows: it is {how_far}, and the "
            "interval may hold in 80 % of samples, or in fewer at shares below .01"
        )
    few = (
        "group classes, or give more observations of each: with "
        f"{len(facts.predictions.present)} classes and {count(n_sets)} independent observations of "
        "the rarest,"
    )
    if known.of_many_classes and abs(bias) > _LARGE_BIAS * facts.moments.standard_error:
        return (
            f"{few} halves of the sample show that {measure.name} is {how_far} or more, so that "
            "the interval may miss it"
        )
    if bias or not known.of_many_classes:
        return None
    if facts.has_all_scores and known.has_halves:
        return None
    return (
        f"{few} the value may be biased by as much as its standard error, and the interval cover "
        "less than it says"
    )


def few_units_message(
    units: Units, what: str = "a bootstrap, whose draws by themselves give too narrow intervals"
) -> str | None:
    """Say that a class has too few units for a method."""
    if units.n_complete_sets >= _FEW_UNITS:
        return None
    return (
        "use method='jackknife', whose intervals account for few observations: the rarest class "
        f"has {count(units.n_complete_sets)} independent ones, too few for {what}"
    )


def undefined_draws_message(n_undefined: int, n_draws: int) -> str | None:
    """Say in how many draws a measure has no value."""
    if n_undefined == 0:
        return None
    return f"the measure is undefined in {n_undefined} of {n_draws} draws, which are left out"


def no_variation_message(facts: Facts) -> str | None:
    """Say what an interval rests on if no observation makes a difference within its class."""
    measure, moments = facts.measure, facts.moments
    if moments.varies_within_strata or facts.limits.bounds[0] == facts.limits.bounds[1]:
        return None
    low, high = facts.limits.bounds
    best = high if measure.greater_is_better else low
    is_perfect = abs(facts.value - best) <= _PERFECT
    if moments.depends_on_sizes and not is_perfect:
        return None
    state = (
        f"check the predictions: {measure.name} is {facts.value:.4g} whichever observations of a "
        "class weigh more"
    )
    if is_perfect:
        state = f"{measure.name} is perfect in this sample"
    error = "that of the class sizes alone" if moments.depends_on_sizes else "0"
    return (
        f"{state}, so that its standard error is {error} and says nothing; the interval rests on "
        "one observation that the sample does not show"
    )


def unseen_message(facts: Facts) -> str | None:
    """Say that an error of a kind that the sample does not show would move the value far.

    Values that are nearly perfect are known for it.
    """
    measure, error, of = facts.measure, facts.moments.standard_error, facts.limits.unseen
    if not facts.moments.varies_within_strata:
        return None
    best, sign = facts.limits.bounds[measure.greater_is_better], 1 - 2 * measure.greater_is_better
    errors = of.errors[~of.is_gross[of.errors]]
    costs, kinds = sign * facts.limits.of_unseen[errors], of.kind[errors]
    dearest = max((costs[kinds == kind].mean() for kind in np.unique(kinds)), default=0.0)
    if not _FAR * error < dearest < 2 * abs(best - facts.value):
        return None
    return (
        f"cite the interval of {measure.name}, not its standard error: the interval accounts for "
        "errors that the sample does not show, and one would move the value by more than "
        f"{_FAR:g} standard errors. It does so where a class that counts a lot has few rows, or "
        "where most classes are told apart without an error, and others hardly"
    )


def few_decide_message(how_far: str) -> str:
    """Say that few observations determine an interval, and how far that may lower its coverage."""
    return (
        "only a few observations determine this interval, as is typical of near-perfect "
        f"classifiers: its actual coverage may be {how_far} the nominal level"
    )
