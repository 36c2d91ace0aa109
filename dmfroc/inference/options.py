"""What the public functions have in common: options of the design and of intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dmfroc._kit.habits import check_options
from dmfroc._kit.options import check_level, flag, found, seed_of
from dmfroc.inference.censoring import CensoringWeights
from dmfroc.inference.units import (
    EstimatedWeights,
    Sample,
    Weights,
    group_names,
    sample_at_horizon,
    sample_of,
)
from dmfroc.inputs.class_shares import shares_in_cells
from dmfroc.inputs.horizon import FollowUp
from dmfroc.inputs.judge import Judge
from dmfroc.inputs.of_rows import Folds
from dmfroc.inputs.predictions import Predictions

DEFAULT_LEVEL = 0.95
OF_ALGORITHM = "corrected_resampling"  # the method of folds whose target is the learner
_EXTENDED = ", extended to the limits of the jackknife if these are wider"
_OF_ROWS = ("labels", "pos_label", "y_pred", "sample_weight", "frequency_weight")
_OF_DESIGN = ("groups", "stratify", "folds", "judge", "follow_up", "population", "method")


@dataclass(frozen=True)
class Options:
    """The options as the user gave them, see `dmfroc.estimate`; None is what was not given.

    Attributes
    ----------
    groups, stratify
        The independent units, see `units_of`.
    folds : Folds or None
        Of cross-validated scores.
    judge : Judge or None
        Labels of all rows where few are verified.
    follow_up : FollowUp or None
        How long rows were followed.
    population : shares of classes, scores of rows, Importance, or None
        The population that is asked about; for independent samples importance by name.
    method : str, IntervalMethod or None
        How standard errors and intervals are obtained.
    level : float
        Nominal coverage of the intervals.
    seed : int
        Seed of whatever is drawn.
    weights : EstimatedWeights, CensoringWeights or None
        How the weights of the rows were estimated.
    has_shares : bool
        Whether the class shares are given.
    """

    groups: Any = None
    stratify: bool | None = None
    folds: Any = None
    judge: Any = None
    follow_up: FollowUp[Any] | None = None
    population: Any = None
    method: Any = None
    level: float = DEFAULT_LEVEL
    seed: Any = 0
    weights: Weights | None = None
    has_shares: bool = False

    @classmethod
    def taken(
        cls, function: Callable[..., Any], call: dict[str, Any], remedy: str = ""
    ) -> tuple[Options, dict[str, Any]]:
        """Return the options, and what comes with the rows, of all arguments of a function.

        What a function has no parameter for was not given. ``remedy`` is the call to make if there
        are arguments that it does not know.
        """
        if surplus := call.get("surplus"):
            raise TypeError(
                f"{function.__name__}() has {len(surplus)} too many arguments without a name, "
                f"first {found(surplus[0])}: {remedy}"
            )
        check_options(function, call.get("others", {}), remedy)
        own = {name: call[name] for name in (*_OF_DESIGN, "level") if name in call}
        options = cls(**own, seed=call.get("random_state"))
        return options, {name: call.get(name) for name in _OF_ROWS}

    def __post_init__(self) -> None:
        vars(self).update(
            level=check_level(self.level),
            stratify=None if self.stratify is None else flag("stratify", self.stratify),
            folds=Folds.of(self.folds),
            judge=Judge.of(self.judge),
            follow_up=FollowUp.of(self.follow_up),
            seed=seed_of(self.seed),
        )

    @property
    def given(self) -> list[str]:
        """Names of the options of the design that were given."""
        return [name for name in _OF_DESIGN if getattr(self, name) is not None]

    @property
    def method_name(self) -> Any:
        """The name of the method, if it was given."""
        return getattr(self.method, "name", self.method)

    @property
    def is_of_learner(self) -> bool:
        """Whether cross-validated scores are to tell how well the learner does."""
        return self.folds is not None and self.folds.target == "learner"

    @property
    def at_horizons(self) -> list[Options]:
        """The same options at each horizon, if there are several."""
        follow_up: Any = self.follow_up
        if follow_up is None or np.ndim(follow_up.horizon) == 0:
            return []
        return [replace(self, follow_up=replace(follow_up, horizon=t)) for t in follow_up.horizon]

    def sample_of(self, whole: Predictions) -> Sample:
        """Return the observations that count, with their independent units."""
        weights, of_units = self.weights, {"groups": self.groups, "stratify": self.stratify}
        if isinstance(weights, CensoringWeights):
            predictions, units = sample_at_horizon(whole, weights, **of_units)
        else:
            predictions, units = sample_of(whole, **of_units)
        if self.has_shares:
            units = replace(units, shares=shares_in_cells(predictions))
            if not isinstance(weights, CensoringWeights):  # whose sizes move other weights
                units = replace(units, sizes_are_random=False)
        if isinstance(weights, EstimatedWeights):
            counted = whole.sample_weight > 0
            slopes, influences = weights.slopes[counted], weights.influences_of_rows[counted]
            weights = replace(weights, slopes=slopes, influences_of_rows=influences)
            units = replace(units, weights=weights)
        return Sample(predictions, units)


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
