"""Measures bound to predictions: functions of the weights, with their derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.arrays import (
    AnyArray,
    AnyPerRow,
    PerRow,
    value_and_derivatives,
    value_and_pull_back,
)
from dmfroc._kit.options import function_of
from dmfroc._kit.threads import check_stopped, parallel
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.statistic import Statistic, once_per_predictions

_STEP = 1e-4  # of a weight, for derivatives by differences

Summary = Callable[[Any, Any], Any]
"""Turns a table into a number, by the array namespace that is its second argument."""

WeightSets = Float[np.ndarray, "*draws n"]
"""One or several sets of weights of the observations."""

ValueSets = Float[np.ndarray, "*draws values"]
"""The values of measures under one or several sets of weights."""

ValuesAndGradients = tuple[Float[np.ndarray, " values"], Float[np.ndarray, "values n"]]
"""The values of measures, and their derivatives with respect to the weights."""


type SampledParts = tuple[Float[np.ndarray, "values u"], int]
"""Derivatives of values with respect to weights of parts, and from how many those were drawn.

The parts, such as pairs of classes, were drawn without replacement, all with one probability.
"""


class BoundMeasures(ABC):
    """One or several measures of the same predictions: a function of observation weights."""

    @property
    @abstractmethod
    def n_values(self) -> int:
        """Number of measures."""

    @property
    def is_compiled(self) -> bool:
        """Whether JAX has all that the measures need."""
        return True

    @property
    def is_of_user(self) -> bool:
        """Whether it is a function that may expect the very rows of its user."""
        return False

    @abstractmethod
    def __call__(self, weights: AnyPerRow) -> Float[AnyArray, " values"]:
        """Return the values by JAX, which can compile and differentiate it."""

    @abstractmethod
    def values_and_gradients(self, weights: PerRow) -> ValuesAndGradients:
        """Return the values and their derivatives with respect to the weights."""

    def values(self, weights: WeightSets) -> ValueSets:
        """Return the values, of one or of several sets of weights, without JAX."""
        if weights.ndim > 1:
            return np.stack([self.values(draw) for draw in weights])
        return self.values_and_gradients(weights)[0]

    def only(self, *places: int) -> BoundMeasures:
        """Return some of the measures by themselves."""
        return self

    def values_of_each(self, draws: WeightSets) -> ValueSets:
        """Return the values of sets of weights that several measures ask for."""
        return np.stack([self.values(weights) for weights in draws])

    def sampled_parts(self, weights: PerRow) -> SampledParts | None:
        """Return what is known of the sampling of parts; None where all of them are counted."""
        return None

    def drawn(
        self, predictions: Predictions, kind: str, n_draws: int, seed: int
    ) -> ValueSets | None:
        """Return replicates under weights drawn within classes on a device; None by the host."""
        return None


@dataclass(frozen=True, eq=False)
class SummariesOfCounts(BoundMeasures):
    """Measures that share a statistic: it is counted once for all of them."""

    statistic: Statistic
    summaries: tuple[Summary, ...]
    is_compiled: bool = True

    @property
    def n_values(self) -> int:
        return len(self.summaries)

    def only(self, *places: int) -> BoundMeasures:
        return replace(self, summaries=tuple(self.summaries[x] for x in places))

    def __call__(self, weights: AnyPerRow) -> Float[AnyArray, " values"]:
        import jax.numpy as jnp

        table = self.statistic.count(weights, jnp)
        return jnp.stack([summary(table, jnp) for summary in self.summaries])

    def values(self, weights: WeightSets) -> ValueSets:
        """Return the values by NumPy, of one or of several sets of weights."""
        if weights.ndim > 1 and not self.statistic.is_batched:
            return super().values(weights)
        values = np.zeros((*weights.shape[:-1], self.n_values))
        for part in self.statistic.parts():
            check_stopped()
            table = part.count(weights, np)
            values += np.stack([summary(table, np) for summary in self.summaries], axis=-1)
        return values

    def values_of_each(self, draws: WeightSets) -> ValueSets:
        # Where weights lack a class that a measure needs, its value is NaN.
        with np.errstate(divide="ignore", invalid="ignore"):
            values = [
                [sum(summary(x, np) for x in parts) for summary in self.summaries]
                for parts in _tables(self.statistic, draws)
            ]
        return np.array(values)

    def values_and_gradients(self, weights: PerRow) -> ValuesAndGradients:
        values, gradients = np.zeros(self.n_values), np.zeros((self.n_values, len(weights)))
        for part in self.statistic.parts():
            table = part.count(weights, np)
            for position, summary in enumerate(self.summaries):
                value, derivatives = value_and_derivatives(summary, table)
                values[position] += value
                gradients[position] += part.pull_back(weights, table, derivatives)
        return values, gradients


@once_per_predictions
def _tables(statistic: Statistic, draws: WeightSets) -> list[list[Any]]:
    return [[part.count(weights, np) for part in statistic.parts()] for weights in draws]


def values_and_influences(
    statistic: Statistic, summary: Summary, weights: PerRow
) -> tuple[Float[np.ndarray, "*values"], Float[np.ndarray, "*values n"]]:
    """Return the numbers of a summary that has several, and all influences on each."""
    table = statistic.count(weights, np)
    values, pull_back = value_and_pull_back(summary, table)
    influences = np.empty((*values.shape, len(weights)))

    def find(index: int) -> None:
        place = np.unravel_index(index, values.shape)
        d_values = np.zeros_like(values)
        d_values[place] = 1
        influences[place] = weights * statistic.pull_back(weights, table, pull_back(d_values))

    parallel(find, range(values.size), influences.size)
    return values, influences


@dataclass(frozen=True, eq=False)
class MeanOverFolds(BoundMeasures):
    """Measures of cross-validated predictions: the mean of what each is inside every fold."""

    rows: tuple[Int[np.ndarray, " _"], ...]
    bound: tuple[BoundMeasures, ...]

    @property
    def n_values(self) -> int:
        return self.bound[0].n_values

    def only(self, *places: int) -> BoundMeasures:
        return replace(self, bound=tuple(x.only(*places) for x in self.bound))

    @property
    def is_compiled(self) -> bool:
        return all(of_fold.is_compiled for of_fold in self.bound)

    @property
    def is_of_user(self) -> bool:
        return self.bound[0].is_of_user

    def __call__(self, weights: AnyPerRow) -> Float[AnyArray, " values"]:
        return sum(b(weights[rows]) for rows, b in self._by_fold) / len(self.rows)

    def values_and_gradients(self, weights: PerRow) -> ValuesAndGradients:
        gradients, by_fold = np.zeros((self.n_values, len(weights))), []
        for rows, bound in self._by_fold:
            values, gradients[:, rows] = bound.values_and_gradients(weights[rows])
            by_fold.append(values)
        return np.mean(by_fold, axis=0), gradients / len(self.rows)

    def values(self, weights: WeightSets) -> ValueSets:
        return self.fold_values(weights).mean(axis=0)

    def fold_values(self, weights: WeightSets) -> Float[np.ndarray, "folds *draws values"]:
        """Return the values in each fold."""
        return np.stack([b.values(weights[..., rows]) for rows, b in self._by_fold])

    @property
    def _by_fold(self) -> Iterable[tuple[Int[np.ndarray, " _"], BoundMeasures]]:
        return zip(self.rows, self.bound, strict=True)

    def sampled_parts(self, weights: PerRow) -> SampledParts | None:
        """Return the means over the folds, in which the same parts are drawn."""
        parts_by_fold = [bound.sampled_parts(weights[rows]) for rows, bound in self._by_fold]
        drawn = [parts for parts in parts_by_fold if parts is not None]
        if not drawn:
            return None
        return np.mean([derivatives for derivatives, _ in drawn], axis=0), drawn[0][1]


@dataclass(frozen=True, eq=False)
class FunctionOfWeights(BoundMeasures):
    """A user's measure: any function of the weights.

    JAX compiles and differentiates it if it can trace it. What it cannot, such as a function of
    scikit-learn, is called with NumPy's arrays and differentiated by differences, one observation
    at a time.
    """

    function: Callable[[AnyPerRow], Any]
    is_compiled: bool = True

    @property
    def n_values(self) -> int:
        return 1

    @property
    def is_of_user(self) -> bool:
        return True

    def __call__(self, weights: AnyPerRow) -> Float[AnyArray, " 1"]:
        import jax.numpy as jnp

        return jnp.reshape(self.function(weights), (1,))

    def values(self, weights: WeightSets) -> ValueSets:
        """Return the value, of one or of several sets of weights."""
        if weights.ndim > 1 or self.is_compiled:
            return super().values(weights)
        from dmfroc._kit.compiled import in_double_precision

        with in_double_precision():  # it may call JAX all the same
            return np.reshape(np.asarray(self.function(weights), np.float64), (1,))

    def values_and_gradients(self, weights: PerRow) -> ValuesAndGradients:
        if not self.is_compiled:
            return self.values(weights), self._differences(weights)[None]
        from dmfroc._kit.compiled import value_and_gradient

        value, gradient = value_and_gradient(self.function, weights)
        return np.reshape(value, (1,)), gradient[None]

    def _differences(self, weights: PerRow) -> PerRow:
        """Return the derivatives by central differences, of rows without weight 0."""
        steps, derivatives = _STEP * weights, np.zeros(len(weights))
        for row in np.flatnonzero(steps):
            moved = np.tile(weights, (2, 1))
            moved[:, row] += [-steps[row], steps[row]]
            low, high = self.values(moved)[:, 0]
            derivatives[row] = (high - low) / (moved[1, row] - moved[0, row])
        return derivatives


def number_of_weights(function: Any, name: str) -> Callable[[AnyPerRow], Any]:
    """Return a user's function of the weights, which names the measure if it is none."""
    what = f"bind= of the measure {name!r} must return a function of the weights, which returns "
    returned = f"what bind= of the measure {name!r} returns"
    function_of(returned, function, "of the weights, which returns a number", None)

    def number(weights: AnyPerRow) -> Any:
        if isinstance(weights, np.ndarray):
            xp: Any = np
        else:
            import jax.numpy as xp
        value = function(weights)
        try:
            array = xp.asarray(value)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{what}a number, but that returns a {type(value).__name__}") from error
        if array.dtype.kind not in "biufc":
            raise TypeError(f"{what}a number, but that returns a {type(value).__name__}")
        if array.size != 1 or array.dtype.kind not in "iuf":
            raise TypeError(
                f"{what}a real number, but that returns {array.dtype} values of shape {array.shape}"
            )
        return xp.reshape(array, ()).astype(float)

    return number
