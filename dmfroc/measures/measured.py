"""What measures find in a sample, and say of it: all that inference takes from them, at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dmfroc._kit.arrays import PerRow
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure, caveats, within


class Declared(NamedTuple):
    """What a measure says of a sample, whatever its value there.

    Attributes
    ----------
    bounds, bounds_of_sizes : tuple of float
        Its range with classes of any sizes, and with these.
    caveats : tuple of str
        What has to be known of its value.
    """

    bounds: tuple[float, float]
    bounds_of_sizes: tuple[float, float]
    caveats: tuple[str, ...]


def declared(measure: Measure, predictions: Predictions) -> Declared:
    """Return what a measure says of a sample."""
    return Declared(
        measure.range_in(predictions),
        measure.range_in(predictions, sizes_are_fixed=True),
        tuple(caveats([measure], predictions)),
    )


class Measured(NamedTuple):
    """What a measure finds in a sample, and says of it.

    Attributes
    ----------
    value : float
        The value, inside of its range.
    derivatives : numpy.ndarray of shape (n,)
        With respect to the weights of the observations.
    parts : tuple of numpy.ndarray and int, optional
        Derivatives with respect to the weights of parts drawn at random, and of how many.
    declared : Declared
        What the measure says of the sample.
    """

    value: float
    derivatives: PerRow
    parts: tuple[PerRow, int] | None
    declared: Declared


def measured(
    measures: Sequence[Measure],
    bound: BoundMeasures,
    predictions: Predictions,
    weights: PerRow | None = None,
) -> list[Measured]:
    """Return what each of the measures that are bound finds, and says.

    ``weights`` are of the rows to which they are bound, if these are more than the predictions.
    """
    if weights is None:
        weights = predictions.sample_weight
    sampled, found = bound.sampled_parts(weights), []
    values, gradients = bound.values_and_gradients(weights)
    for place, measure in enumerate(measures):
        said = declared(measure, predictions)
        parts = None if sampled is None else (sampled[0][place], sampled[1])
        value = float(within(values[place], said.bounds))
        found.append(Measured(value, gradients[place], parts, said))
    return found
