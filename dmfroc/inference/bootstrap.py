"""The bootstrap: units drawn with replacement."""

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
class Bootstrap(Resampling):
    """Replicates under multinomial weights; it uses every option."""

    name: ClassVar[str] = "bootstrap"
    remedies: ClassVar[Mapping[str, str]] = {}

    def replicates(self, measure: Measure, bound: BoundMeasures, sample: Sample) -> Replicates:
        """Return the values under resampled units, with standard errors for studentizing."""
        return replicate_values(
            bound,
            *sample,
            bayesian=False,
            n_draws=self.n_draws,
            seed=self.seed,
            standard_errors=self.interval_type == "studentized",
        )
