"""The bootstrap, which draws units, and the Bayesian one, which weights them (Rubin 1981)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dmfroc.inference.replicates import Replicates, replicate_values
from dmfroc.inference.resampling import Resampling
from dmfroc.inference.units import Sample
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure


@dataclass(frozen=True)
class Bootstrap(Resampling):
    """Replicates under multinomial weights; it uses every option."""

    name: ClassVar[str] = "bootstrap"
    remedies: ClassVar[Mapping[str, str]] = {}

    def replicates(self, measure: Measure, bound: BoundMeasures, sample: Sample) -> Replicates:
        """Return the values under resampled units, with standard errors for studentizing."""
        return replicate_values(
            bound,
            *sample,
            bayesian=self.is_bayesian,
            n_draws=self.n_draws,
            seed=self.seed,
            standard_errors=self.interval_type == "studentized",
        )


@dataclass(frozen=True)
class BayesianBootstrap(Bootstrap):
    """Replicates under Dirichlet weights; its intervals are credible intervals."""

    name: ClassVar[str] = "bayesian_bootstrap"
    is_bayesian: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.interval_type == "studentized":
            raise ValueError(
                "the Bayesian bootstrap has no studentized interval: use 'percentile', or "
                "method='bootstrap'"
            )
