"""The Bayesian bootstrap (Rubin 1981): Dirichlet weights of the units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dmfroc.inference.interval_method import Sample
from dmfroc.inference.replicates import Replicates, replicate_values
from dmfroc.inference.resampling import Resampling
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure


@dataclass(frozen=True)
class BayesianBootstrap(Resampling):
    """Replicates under Dirichlet weights; its intervals are credible intervals."""

    name: ClassVar[str] = "bayesian_bootstrap"
    remedies: ClassVar[Mapping[str, str]] = {}
    is_bayesian: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.interval_type == "studentized":
            raise ValueError(
                "the Bayesian bootstrap has no studentized interval: use 'percentile', or "
                "method='bootstrap'"
            )

    def replicates(self, measure: Measure, bound: BoundMeasures, sample: Sample) -> Replicates:
        """Return the values under Dirichlet weights."""
        return replicate_values(bound, *sample, bayesian=True, n_draws=self.n_draws, seed=self.seed)
