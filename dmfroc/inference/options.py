"""The options that `evaluate`, `estimate`, `compare` and `compare_subgroups` have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from inspect import Parameter as _Parameter
from inspect import signature as signature_of
from typing import Any, Literal, TypedDict, get_args

from dmfroc._kit.habits import check_options
from dmfroc._kit.options import RandomState, check_level, choice, flag, found, number, seed_of
from dmfroc.inference.units import EstimatedWeights, Sample, Weights, sample_at_horizon, sample_of
from dmfroc.inputs.censoring import CensoringWeights
from dmfroc.inputs.class_shares import shares_in_cells
from dmfroc.inputs.columns import Direction
from dmfroc.inputs.horizon import FollowUpOptions
from dmfroc.inputs.predictions import Predictions

Method = Literal["jackknife", "bootstrap", "bayesian_bootstrap", "paper_bootstrap", "bayes"]
IntervalType = Literal["bca", "percentile", "basic", "studentized"]
Target = Literal["fits", "learner"]
TARGETS = get_args(Target)
OF_ALGORITHM = "corrected_resampling"  # the method of that target
INTERVAL_TYPES = get_args(IntervalType)
DEFAULT_LEVEL = 0.95
_FOR_ALL = ("level", "seed", "weights", "has_shares")


class IntervalOptions(TypedDict, total=False):
    """How intervals are made; `dmfroc.estimate` says what each option means.

    By default the rows are the units, the class sizes are random, the method is the measure's, the
    level is 0.95 and the random state is 0.
    """

    groups: Any
    stratify: bool | None
    method: Method | None
    level: float
    interval_type: IntervalType | None
    n_draws: int | None
    random_state: RandomState


class InputOptions(TypedDict, total=False):
    """What comes with the classes and scores of all rows, see `Predictions.from_arrays`."""

    labels: Any
    sample_weight: Any
    frequency_weight: Any
    y_pred: Any
    pos_label: Any
    direction: Direction | None


class SubgroupOptions(InputOptions, FollowUpOptions, IntervalOptions, total=False):
    """What comes with the rows, and how intervals are made, in subgroups of the rows."""

    folds: Any


class _PopulationOptions(TypedDict, total=False):
    """Folds, a judge of rows that nobody verified, and another population than the sample's."""

    folds: Any
    target: Target
    train_fraction: float | None
    judge: Any
    label_probability: Any
    label_strata: Any
    target_prevalence: Any
    importance: Any


class EvaluationOptions(
    InputOptions, _PopulationOptions, FollowUpOptions, IntervalOptions, total=False
):
    """All that `evaluate`, `estimate` and `compare` have in common.

    `dmfroc.estimate` explains each option. By default there are no labels, weights and folds, the
    target is ``"fits"`` and the share of the training sets is what the folds leave.
    """

    per_class: bool


@dataclass(frozen=True)
class Options:
    """The options as the user gave them; None is what was not given.

    Attributes
    ----------
    groups, stratify
        The independent units, see `units_of`.
    level : float
        Nominal coverage of the intervals.
    interval_type : str or None
        Kind of interval.
    n_draws : int or None
        Number of replicates.
    seed : int
        Seed of whatever is drawn.
    target : str
        What cross-validated scores are to tell: how well these fits do, or the learner.
    train_fraction : float or None
        Share of the observations in each training set, for the learner.
    method : str or None
        How standard errors and intervals are obtained.
    weights : EstimatedWeights, CensoringWeights or None
        How the weights of the rows were estimated.
    has_shares : bool
        Whether the class shares are given.
    """

    groups: Any = None
    stratify: bool | None = None
    level: float = DEFAULT_LEVEL
    interval_type: IntervalType | None = None
    n_draws: int | None = None
    seed: int = 0
    target: Target = "fits"
    train_fraction: float | None = None
    method: str | None = None
    weights: Weights | None = None
    has_shares: bool = False

    @classmethod
    def from_user(
        cls,
        function: Callable[..., Any],
        given: Mapping[str, Any],
        known: type,
        surplus: tuple[Any, ...] = (),
    ) -> tuple[Options, dict[str, Any]]:
        """Return the options of intervals that the user gave to a public function, and the others.

        ``known`` is the typed dict that its signature names; what else is in it comes with the
        rows: labels, weights, hard labels, folds. ``surplus`` are arguments without a name that the
        function has no place for.
        """
        if surplus:
            raise TypeError(
                f"{function.__name__}() has {len(surplus)} too many arguments without a name, "
                f"first {found(surplus[0])}: {vars(function)['remedy']}"
            )
        check_options(function, given)
        own = {name: given[name] for name in given if name in cls.__annotations__}
        names_of_inputs = [
            x for x in known.__annotations__ if x not in (*own, "random_state", "per_class")
        ]
        inputs = {name: given[name] for name in names_of_inputs if name in given}
        return cls(**own, seed=seed_of(given.get("random_state", 0))), inputs

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check_level(self.level))
        if self.stratify is not None:
            object.__setattr__(self, "stratify", flag("stratify", self.stratify))
        choice("target", self.target, TARGETS)
        if self.train_fraction is None:
            return
        if self.target != "learner":
            raise ValueError("train_fraction is an option of target='learner' only")
        if not 0 < number("train_fraction", self.train_fraction) < 1:
            raise ValueError(
                f"train_fraction must be between 0 and 1, but it is {self.train_fraction!r}"
            )

    @property
    def given(self) -> list[str]:
        """Names of the options that were given and that not every method and evidence uses."""
        names = [field.name for field in fields(self) if field.name not in _FOR_ALL]
        given = [name for name in names if getattr(self, name) is not None]
        return [name for name in given if (name, self.target) != ("target", "fits")]

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


def with_options[F: Callable[..., Any]](known: type, remedy: str = "") -> Callable[[F], F]:
    """Show the options of a typed dict in the signature of a function that takes them by name.

    Parameters
    ----------
    known : type
        The typed dict.
    remedy : str
        The call to make if too many arguments have no name.
    """
    defaults = {
        "random_state": 0,
        "per_class": False,
        **{x.name: x.default for x in fields(Options)},
    }

    def decorate(function: F) -> F:
        signature = signature_of(function)
        own = [x for x in signature.parameters.values() if not x.kind.name.startswith("VAR_")]
        shown = [
            _Parameter(
                name,
                _Parameter.KEYWORD_ONLY,
                default=defaults.get(name),
                annotation=kind.__forward_arg__,
            )
            for name, kind in known.__annotations__.items()
        ]
        whole = signature.replace(parameters=[*own, *shown])
        vars(function).update(__signature__=whole, remedy=remedy)
        return function

    return decorate
