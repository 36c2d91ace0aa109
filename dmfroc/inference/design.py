"""What of the options changes the meaning of values, beside what predictions state themselves."""

from __future__ import annotations

from typing import Any

from dmfroc._kit.options import is_one_of
from dmfroc.inference.options import Options
from dmfroc.inference.units import group_names
from dmfroc.inputs.predictions import Predictions

_SHOWN = ("target", "train_fraction", "interval_type")


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
    given = {x: getattr(options, x) for x in options.given if x in _SHOWN}
    facts |= {name: x for name, x in given.items() if not is_one_of(x, ["bca"])}
    return predictions.reweighted(predictions.sample_weight, **facts) if facts else predictions
