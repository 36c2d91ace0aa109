"""What of the options changes the meaning of values, beside what predictions state themselves."""

from __future__ import annotations

from typing import Any

from dmfroc.inference.options import Options
from dmfroc.inference.units import group_names
from dmfroc.inputs.predictions import Predictions

_EXTENDED = ", extended to the limits of the jackknife if these are wider"


def stated(
    predictions: Predictions, options: Options, whole: Predictions | None = None, **facts: Any
) -> Predictions:
    """Return predictions whose design has the facts of the options, and more.

    ``whole`` are all rows that have a group.
    """
    if predictions.direction == "<=":
        facts["direction"] = "<="
    if options.groups is not None:
        names = group_names(options.groups, whole or predictions)
        facts["independent_units"] = len(set(names.tolist()))
    if options.stratify is not None:
        facts["class_sizes"] = "fixed" if options.stratify else "random, in one stratum"
    if options.is_of_learner:
        of_learner = {x: getattr(options.folds, x) for x in ("target", "train_fraction")}
        facts |= {name: x for name, x in of_learner.items() if x is not None}
    if (interval := getattr(options.method, "interval", "bca")) != "bca":
        is_plain = getattr(options.method, "is_plain", True)  # as are those of a user's own method
        facts["interval_type"] = interval if is_plain else interval + _EXTENDED
    return predictions.reweighted(predictions.sample_weight, **facts) if facts else predictions
