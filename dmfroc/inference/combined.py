"""Values that are put together from several, each with the influence of every row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int

from dmfroc.inference.evidence import FactsInMemory
from dmfroc.inference.influences import Influences, Moments, moments_of
from dmfroc.inference.jackknife import Jackknife
from dmfroc.inference.units import Units
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import Measure
from dmfroc.results.estimate import Estimate
from dmfroc.results.judge import JudgedLabels


@dataclass(frozen=True, eq=False)
class CombinedFacts(FactsInMemory):
    """What is known of a value that is put together: by its influences alone.

    Attributes
    ----------
    remarks : tuple of str
        What a careful reader has to consider.
    judge : JudgedLabels or None
        What a judge has added.
    """

    remarks: tuple[str, ...] = ()
    judge: JudgedLabels | None = None

    @property
    def cross_fitted(self) -> tuple[float, Moments] | None:
        """Nothing: no threshold is chosen."""
        return None

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The range of the measure, whatever the class sizes."""
        return self.measure.range_in(self.predictions)

    @cached_property
    def rare(self) -> None:
        """Nothing: what a sample without errors consists of is not known."""
        return None

    @property
    def possible_biases(self) -> tuple[()]:
        """Nothing: the bias is not known."""
        return ()


def combined(
    measure: Measure,
    predictions: Predictions,
    units: Units,
    influences: Influences,
    remarks: tuple[str, ...] = (),
    judge: JudgedLabels | None = None,
) -> CombinedFacts:
    """Return what is known of a value with these influences."""
    inside = float(np.clip(influences.value, *measure.bounds))
    moments = moments_of(influences.influences, units).with_parts(influences.of_parts)
    found = influences._replace(value=inside)
    return CombinedFacts(
        measure, predictions, units, inside, moments, found, remarks=remarks, judge=judge
    )


@dataclass(frozen=True)
class CombinedJackknife(Jackknife):
    """The jackknife of values that are put together."""

    def estimate(self, facts: CombinedFacts) -> Estimate:  # type: ignore[override]
        """Return the estimate that follows from the influences."""
        ends = facts.interval_at(1 - self.level)
        return Estimate(
            measure=facts.measure.name,
            title=facts.measure.title,
            value=facts.value,
            standard_error=facts.moments.standard_error,
            interval=ends[:2],
            level=self.level,
            method=self.name,
            class_sizes="random",
            warnings=facts.remarks,
            judge=facts.judge,
        )


def units_of_rows(of_row: Int[np.ndarray, " n"]) -> Units:
    """Return units in one stratum: their classes differ from label to label."""
    n = int(of_row.max()) + 1
    return Units(of_row, np.zeros(n, int), np.array([n]), n)
