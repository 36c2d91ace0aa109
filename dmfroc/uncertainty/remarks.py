"""What a careful reader has to know of an estimate, in words; nothing is None."""

from __future__ import annotations

from dmfroc.measures.measure import Measure
from dmfroc.predictions import Predictions
from dmfroc.uncertainty.influences import Moments, spread
from dmfroc.uncertainty.units import Units

# Below these, intervals cover 89 to 99 % where they say 95 %.
_FEW_DEGREES_OF_FREEDOM = 8
_FEW_ERRORS = 0.25  # observations of the rarest class times distance from a perfect value
_FEW_UNITS = 10  # of one class; fewer do not show a bootstrap how a measure varies


def count(n: float | int) -> str:
    """Return a number of units, of which weights make fractions."""
    return f"{n:.1f}".removesuffix(".0")


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


def few_decide_message(measure: Measure, value: float, moments: Moments) -> str | None:
    """Say that few observations decide how wide an interval is."""
    low, high = measure.bounds
    best = high if measure.greater_is_better else low
    errors = abs(best - value) / (high - low) * moments.sizes.min()  # NaN without bounds
    if not (errors < _FEW_ERRORS or spread(moments).degrees_of_freedom < _FEW_DEGREES_OF_FREEDOM):
        return None
    return (
        "few observations decide how sure the value is, as where a classifier is near-perfect: "
        "the interval may cover a few per cent more or less than it says"
    )


def kinks_message(measure: Measure) -> str | None:
    """Say that a measure lacks the derivative that the jackknife uses."""
    if measure.is_smooth:
        return None
    return (
        f"{measure.name} has kinks, where it has no derivative, which the jackknife uses: "
        "method='bootstrap' does without"
    )


def few_units_message(units: Units) -> str | None:
    """Say that a class has too few units for a bootstrap."""
    if units.n_complete_sets >= _FEW_UNITS:
        return None
    return (
        f"the rarest class has {count(units.n_complete_sets)} independent observations, too few "
        "for a bootstrap: its intervals are too narrow; those of method='jackknife' allow for it"
    )


def undefined_draws_message(n_undefined: int, n_draws: int) -> str | None:
    """Say in how many draws a measure has no value."""
    if n_undefined == 0:
        return None
    return f"the measure is undefined in {n_undefined} of {n_draws} draws, which are left out"


def no_variation_message(value: float, measure: Measure, n_sets: float | int) -> str:
    """Say what an interval rests on where no observation makes a difference."""
    what = "perfect" if value >= measure.bounds[1] - 1e-6 else "the same for all observations"
    return (
        f"the classifier is {what} in this sample, so that its standard error is 0 and says "
        f"nothing; the interval is Clopper and Pearson's exact bound from "
        f"{count(n_sets)} independent sets of one observation per class"
    )
