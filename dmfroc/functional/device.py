"""Measures of scores that lie on a device: counted, fitted and resampled there.

What comes back are values, and one influence for each row and measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from dmfroc._kit.arrays import PerRow
from dmfroc._kit.compiled import compiled, in_double_precision
from dmfroc.functional.arrays import run
from dmfroc.functional.measures import summarise
from dmfroc.functional.resamples import drawn_values
from dmfroc.functional.roc import curve_of, program_of
from dmfroc.inputs.arrays import OnDevice
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import BoundMeasures, Summary, ValuesAndGradients
from dmfroc.measures.measure import Measure, WithOptions
from dmfroc.measures.statistics.curves import CURVES
from dmfroc.measures.statistics.pairs import pair_counts
from dmfroc.measures.statistics.projections import projected_pair_counts
from dmfroc.multiclass.curve import MulticlassROC, area, curve_of_numbers
from dmfroc.multiclass.links import Link
from dmfroc.multiclass.measure import curve_options_of
from dmfroc.multiclass.rates import CurveOptions, ordered_pairs


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["y", "scores", "beside"],
    meta_fields=["function", "summaries"],
)
@dataclass(frozen=True, eq=False)
class MeasuresOnDevice(BoundMeasures):
    """Measures of the same statistic, as a function of arrays on the device."""

    y: Any
    scores: Any
    beside: Any  # further arrays
    function: WithOptions  # of classes, scores, weights and what is beside them
    summaries: tuple[Summary, ...]

    @property
    def n_values(self) -> int:
        """Number of measures."""
        return len(self.summaries)

    def only(self, *places: int) -> MeasuresOnDevice:
        """Return some of the measures by themselves."""
        return replace(self, summaries=tuple(self.summaries[x] for x in places))

    def __call__(self, weights: Float[Any, " n"]) -> Float[Array, " values"]:
        """Return the values, by arrays that may be traced."""
        summary = WithOptions(_together, summaries=self.summaries)
        found = self.function(self.y, self.scores, weights, *self.beside, summary=summary)
        return jnp.reshape(found, (-1,))

    def values(self, weights: PerRow) -> Float[np.ndarray, " values"]:
        """Return the values."""
        return np.asarray(_values(self, weights))

    def values_and_gradients(self, weights: PerRow) -> ValuesAndGradients:
        """Return the values and their derivatives with respect to the weights."""
        values, gradients = _values_and_gradients(self, weights)
        return np.asarray(values), np.asarray(gradients)

    def drawn(
        self, predictions: Predictions, kind: str, n_draws: int, seed: int
    ) -> Float[np.ndarray, "draws values"]:
        """Return the values under weights that are drawn on the device."""
        return drawn_values(self, predictions, kind, n_draws, seed)


def _differentiated(bound: MeasuresOnDevice, weights: Float[Array, " n"]) -> tuple[Array, Array]:
    values, pull_back = jax.vjp(bound, weights)
    return values, lax.map(lambda d: pull_back(d)[0], jnp.eye(bound.n_values))


_values: Any = compiled(MeasuresOnDevice.__call__)
_values_and_gradients: Any = compiled(_differentiated)


def _together(table: Any, xp: Any, summaries: tuple[Summary, ...]) -> Any:
    """Return the numbers of several summaries of a table."""
    return xp.stack([summary(table, xp) for summary in summaries])


def bind(measures: Sequence[Measure], predictions: Predictions) -> MeasuresOnDevice | None:
    """Bind measures that share a statistic; None if this needs the scores in the host's memory."""
    first, n_classes = measures[0], predictions.n_classes
    statistic, scores = first.statistic, predictions.scores
    beside: tuple[Any, ...]
    summaries: Any
    is_projected = isinstance(statistic, partial) and statistic.func is projected_pair_counts
    is_whole = len(predictions.present) == n_classes and first.is_smooth
    if not (is_whole and isinstance(scores, OnDevice)):
        return None
    with in_double_precision():
        if first.is_dmf_auc:
            options = curve_options_of(first)
            if options is None or options.rank > 1:
                return None
            function, summaries = program_of(options, n_classes, area), (area,)
            if function is None:
                return None
            beside = _beside(options, predictions)
        elif statistic in (*CURVES, pair_counts) or is_projected:
            function = WithOptions(summarise, statistic=statistic, n_classes=n_classes)
            summaries = tuple(m.summary for m in measures)
            hard = predictions.predicted
            beside = (None if hard is None else jnp.asarray(hard),)
        else:
            return None
        y = jnp.asarray(predictions.true)
    return MeasuresOnDevice(y, scores.values, beside, function, summaries)


def _beside(options: CurveOptions, predictions: Predictions) -> tuple[Any, ...]:
    return jnp.asarray(predictions.sample_weight), None, jnp.asarray(options.shrinkage)


def curve(predictions: Predictions, options: CurveOptions, link: Link) -> MulticlassROC | None:
    """Fit the curve; None if this needs the scores in the host's memory."""
    n_classes, scores = predictions.n_classes, predictions.scores
    summary = WithOptions(curve_of, rank=options.rank, link=link)
    program = program_of(options, n_classes, summary)
    most = min(n_classes * (n_classes - 1), 2 * options.n_thresholds)
    if program is None or len(predictions.present) < n_classes or options.rank > most:
        return None
    assert isinstance(scores, OnDevice)
    with in_double_precision():
        y, weights = jnp.asarray(predictions.true), jnp.asarray(predictions.sample_weight)
        found = run(program, y, scores.values, weights, *_beside(options, predictions))
    numbers = {name: x for name, x in found._asdict().items() if name != "cell_weights"}
    return curve_of_numbers(numbers, ordered_pairs(n_classes), predictions.labels)
