"""The options that `evaluate`, `estimate` and `compare` have in common."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from dmfroc._kit.options import flag, is_one_of, number
from dmfroc.inference.level import check_level
from dmfroc.inference.units import Sample, sample_of
from dmfroc.inputs.predictions import Predictions

IntervalType = Literal["bca", "percentile", "basic", "studentized"]
Target = Literal["fits", "learner"]
TARGETS = get_args(Target)
OF_ALGORITHM = "corrected_resampling"  # the method of that target
INTERVAL_TYPES = get_args(IntervalType)
DEFAULT_LEVEL = 0.95
_FOR_ALL_METHODS = ("level", "seed", "target", "train_fraction")


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
    """

    groups: Any = None
    stratify: bool | None = None
    level: float = DEFAULT_LEVEL
    interval_type: IntervalType | None = None
    n_draws: int | None = None
    seed: int = 0
    target: Target = "fits"
    train_fraction: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check_level(self.level))
        if self.stratify is not None:
            object.__setattr__(self, "stratify", flag("stratify", self.stratify))
        if not is_one_of(self.target, TARGETS):
            raise ValueError(f"target must be one of {TARGETS}, but it is {self.target!r}")
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
        """Names of the options that were given and that not every method uses."""
        names = [field.name for field in fields(self) if field.name not in _FOR_ALL_METHODS]
        return [name for name in names if getattr(self, name) is not None]

    def sample_of(self, predictions: Predictions) -> Sample:
        """Return the observations that count, with their independent units."""
        return sample_of(predictions, self.groups, stratify=self.stratify)
