"""What a measure is: a summary of a statistic, ``f(w) = summary(statistic(w))``.

The statistic counts: it turns observation weights into a table to which every observation adds.
The summary turns the table into a value. Each is written once; NumPy computes values and
derivatives, JAX compiles the same code where many sets of weights are evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import AnyArray, IntPerRow, PerClass, PerRow
from dmfroc._kit.options import function_of, refuse
from dmfroc._kit.remarks import warn
from dmfroc.inputs.arguments import Needs, as_predictions
from dmfroc.inputs.arrays import OnDevice
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.score_doubts import labels_message
from dmfroc.measures.bound import (
    BoundMeasures,
    FunctionOfWeights,
    MeanOverFolds,
    SummariesOfCounts,
    Summary,
    number_of_weights,
)
from dmfroc.measures.statistics.confusion import label_values
from dmfroc.measures.statistics.statistic import once_per_predictions

UNIT, SIGNED, POSITIVE = (0.0, 1.0), (-1.0, 1.0), (0.0, math.inf)
"""Usual bounds of measures."""

_MOST_TOGETHER = 5  # measures of one statistic; more are split, to be worked on side by side
_LARGEST_COUNT = 1e9  # larger weights are no numbers of observations
_ROUNDING = 1e-12  # by which a value may leave its range and is put back
_NOTABLE_TIES = 1 / 8  # times the root of the number of observations


type ValueAndInfluences = tuple[float, PerRow]

type Caveat = Callable[[Predictions], str | None]

type CrossFit = Callable[[Predictions, IntPerRow, ValueAndInfluences], ValueAndInfluences | None]
"""Takes predictions, the unit of each observation, and the measure's own value and influences."""


class WithOptions(partial[Any]):
    """A function with options filled in; equal to any other of the same function and options."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WithOptions) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Hashable, ...]:
        return self.func, self.args, tuple(self.keywords.items())


def nothing(predictions: Predictions) -> None:
    """Return no message about any predictions: the default of caveats and obstacles."""


def no_hard_labels(predictions: Predictions) -> str | None:
    """Return why predictions without hard labels do not do; None for others."""
    if predictions.predicted is not None:
        return None
    return (
        "needs hard labels, and a one-dimensional y_score has no threshold of its own: pass "
        "y_pred, or the scores of both classes"
    )


def absent_classes_message(predictions: Predictions) -> str | None:
    """Say which classes have a column but no observation."""
    return classes_message(
        predictions.absent_labels,
        "class has a column but no observation and every pair with it is left out",
        "classes have columns but no observation and every pair with it is left out",
    )


def alphabetical_message(predictions: Predictions) -> str | None:
    """Say that measures of ordered classes take text in alphabetical order."""
    labels = predictions.labels
    is_text = all(isinstance(label, str) for label in labels) and not label_values(labels)
    if not is_text or len(labels) < 3 or list(labels) != sorted(map(str, labels)):
        return None
    return (
        "give labels= in the order of the classes if it is not alphabetical: measures of ordered "
        f"classes take {list(labels)}"
    )


def counts_message(predictions: Predictions) -> str | None:
    """Say that weights which are whole numbers may be counts, which errors do not account for."""
    weight = predictions.sample_weight
    is_count = 2 <= weight.max() <= _LARGEST_COUNT and not (weight % 1).any()
    if not is_count or not predictions.is_weighted or "drawn_from" in predictions.design:
        return None
    return (
        "pass the weights, which are whole numbers, as frequency_weight= instead if a row of "
        "weight 3 stands for 3 observations. With sample_weight= every row is one observation, "
        "whatever its weight, and standard errors are those of so few"
    )


def sample_message(predictions: Predictions) -> str | None:
    """Say that the observations are a sample of the rows of a scan."""
    if not (n_rows := predictions.design.get("drawn_from")):
        return None
    return (
        f"computed from {predictions.n_observations:,} rows that were drawn from "
        f"{n_rows:,}: standard errors and intervals are those of the rows drawn"
    )


@once_per_predictions
def ties_message(predictions: Predictions) -> str | None:
    """Say in how many rows several classes have the largest score, if these are not few."""
    scores, predicted = predictions.scores, predictions.predicted
    if predicted is None or not (predictions.has_scores and predictions.has_all_scores):
        return None
    if isinstance(scores, OnDevice):
        has_tie = scores.has_tie
    else:
        is_as_chosen = scores == np.take_along_axis(scores, predicted[:, None], axis=1)
        if np.count_nonzero(is_as_chosen) == len(scores):
            return None
        has_tie = is_as_chosen.sum(axis=1) > 1
    is_single = len(predictions.labels) == 2 and (scores[:, 0] == -scores[:, 1]).all()
    if is_single or has_tie.all():  # a score without a threshold, or a constant classifier
        return None
    rows = np.flatnonzero(has_tie & (predictions.sample_weight > 0))
    # So many can change a share by a quarter of its standard error, which is at most 1 / (2 sqrt n)
    if len(rows) < max(_NOTABLE_TIES * math.sqrt(predictions.n_observations), 2):
        return None
    if (scores.argmax(axis=1)[rows] != predicted[rows]).any():  # the user has chosen the labels
        return None
    return (
        f"pass y_pred= if you know better: {len(rows)} rows tie for the largest score. Their hard "
        "label is the first of the tied classes, so that measures of hard labels depend on the "
        "order of the classes"
    )


def classes_message(labels: Sequence[Hashable], one: str, several: str) -> str | None:
    """Say something of one or several classes and name them; nothing of none."""
    if not labels:
        return None
    names = ", ".join(repr(label) for label in labels[:5]) + (", ..." if len(labels) > 5 else "")
    return f"{len(labels)} {one if len(labels) == 1 else several}: {names}"


@dataclass(frozen=True, kw_only=True)
class IntervalProperties:
    """What an interval depends on beside the values of a measure.

    Attributes
    ----------
    is_unbiased : bool
        Whether the mean over samples is the value in the population, as that of a mean over pairs
        of observations is.
    chooses : bool
        Whether the value is the best over thresholds. Its bias may be as large as its error in
        samples of any size: halves always show it.
    cross_fit : callable, optional
        For a measure that fits a calibration. Takes predictions, the independent unit of each
        observation, and the value with the influences on it. Returns the same two with fits to
        other observations than judge them, or None. The interval is about that value.
    is_of_weights : bool
        Whether the value depends on the weights alone, not on how many rows have them.
    caveat : callable
        Says of predictions what limits the interval, or returns None.
    is_flat_at_ends : bool
        Whether the derivative vanishes at the ends of the range, as that of an entropy does: then
        values reach them, and pooled values have no scale without ends.
    debiased : Measure, optional
        The same value without the bias of independent rows, where a formula has that.
    plain : Measure, optional
        The same value before it was corrected for its bias, by a number of rows that other weights
        do not change: the limits are of this one, less the correction in the sample.
    """

    is_unbiased: bool = False
    chooses: bool = False
    cross_fit: CrossFit | None = None
    is_of_weights: bool = True
    caveat: Caveat = nothing
    is_flat_at_ends: bool = False
    debiased: Measure | None = None
    plain: Measure | None = None


FLAT_AT_ENDS = IntervalProperties(is_flat_at_ends=True)
UNBIASED = IntervalProperties(is_unbiased=True)
"""Of means over observations, or over cases drawn from each class."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Measure:
    """A performance measure: of a classifier's predictions, or once bound, of their weights.

    A measure is given by a statistic and a summary, or by ``bind``, which needs nothing but JAX:

    >>> import jax.numpy as jnp
    >>> def bind(predictions):
    ...     is_right = predictions.predicted == predictions.true
    ...     return lambda weights: jnp.sum(weights * is_right) / jnp.sum(weights)
    >>> share_right = Measure(name="share_right", bind=bind, bounds=(0, 1), needs="labels")
    >>> share_right([0, 0, 1, 1], [[0.8, 0.2], [0.4, 0.6], [0.3, 0.7], [0.1, 0.9]])
    0.75

    Attributes
    ----------
    name : str
        The name by which results, `dmfroc.estimate` and the command line know it; with options
        other than the default ones, these are part of it.
    title : str
        The name in tables and legends; by default the name.
    bind : callable, optional
        Takes `Predictions` and returns a function of a weight vector, shape (n,), non-negative,
        in the order of the observations. Written with `jax.numpy` it is compiled; any other, such
        as a metric of scikit-learn, is called as often as there are observations or replicates.
        Whatever does not depend on the weights, such as sorting, is done once.
    statistic, summary : callable, optional
        Instead of ``bind``: binds a `Statistic` to predictions, and turns its table into a
        number. Measures with the same statistic are counted together.
    bounds : tuple of float
        The smallest and the largest value, infinite where there is none. Intervals end there.
    range_of_shares : callable, optional
        Where the range depends on the number of classes or on their shares: takes the shares of
        the K classes, and whether these are fixed, and returns the bounds.
    chance : float
        The value of a classifier that knows nothing; NaN if it depends on the sample.
    family : str
        The heading under which tables list it.
    needs : {"scores", "labels", "probabilities"}
        What it is computed from: any real scores, hard labels, or scores that are probabilities.
    greater_is_better : bool
        False for errors, distances and costs.
    target : float
        The best value of measures that are best neither where they are greatest nor where they are
        smallest, such as 1 for a calibration slope; NaN for all others.
    is_smooth : bool
        Whether the derivative with respect to the weights exists, on which the jackknife rests;
        maxima and hulls have kinks, and get their intervals from the bootstrap, or by
        ``interval.chooses`` or ``interval.cross_fit``.
    obstacle : callable
        Says, to complete a sentence that begins with the name, what keeps the measure from being
        defined for given predictions; None where nothing does. By default nothing ever does, but
        with ``needs="labels"`` that there are none.
    caveats : tuple of callable
        Each says what a reader has to consider with a value from these predictions, or returns
        None. By default: which classes are left out because they never occur.
    infinite : callable
        Says why the value would be infinite if no floor kept it finite, or returns None. Such
        classifiers are not compared.
    undefined : callable
        Says of predictions for which the value is not finite why it is not, or returns None.
    interval : IntervalProperties
        How its interval is formed. By default it is smooth inside its range, and what else matters
        is found by trying it on samples with few errors.
    of_sample : callable, optional
        For a measure with a number of observations among its options: takes predictions, and
        returns the measure with that number as a share of them. It has the range of the values.
    adds_rows : bool
        Whether each row adds to the table of ``statistic`` by itself, whatever the other rows are.
        `dmfroc.scan` then finds the value without bins.
    in_given_order : bool
        Whether the order of the classes matters, as if costs are an option. The predictions then
        have the classes in the order of the labels, whichever class ``pos_label=`` chooses.
    is_dmf_auc : bool
        Whether it is the area under the multiclass ROC curve, as `dmfroc.measures.dmf_auc` makes
        it; its options are then those of the curve.
    options : dict
        The options with which it was made, by name; filled in by the functions of
        `dmfroc.measures`.
    """

    name: str
    title: str = ""
    bind: Callable[[Predictions], Any] | None = None
    statistic: Callable[[Predictions], Any] | None = None
    summary: Summary | None = None
    bounds: tuple[float | int, float | int] = (-math.inf, math.inf)
    range_of_shares: Callable[[PerClass, bool], tuple[float, float]] | None = None
    # Not compared: from Python 3.13 on, one NaN does not equal the same one in a data class
    chance: float | int = field(default=math.nan, compare=False)
    family: str = "user-defined"
    needs: Needs = "scores"
    greater_is_better: bool = True
    target: float = field(default=math.nan, compare=False)
    is_smooth: bool = True
    obstacle: Caveat = nothing
    caveats: tuple[Caveat, ...] = (absent_classes_message,)
    infinite: Caveat = nothing
    undefined: Caveat = nothing
    interval: IntervalProperties = field(default=IntervalProperties(), compare=False)
    of_sample: Callable[[Predictions], Measure] | None = field(default=None, compare=False)
    adds_rows: bool = False
    in_given_order: bool = False
    is_dmf_auc: bool = False
    options: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if not (isinstance(self.name, str) and self.name):
            raise ValueError(f"name must be a non-empty string, but it is {self.name!r}")
        if (self.bind is None) == (self.statistic is None or self.summary is None):
            raise TypeError(
                f"the measure {self.name!r} needs either bind=, or statistic= and summary="
            )
        if self.bind is not None:
            function_of("bind", self.bind, "of Predictions", None)
        low, high = self.bounds
        if not low < high:
            raise ValueError(f"bounds must be a smaller and a larger value, not {self.bounds!r}")
        object.__setattr__(self, "bounds", (float(low), float(high)))
        if not self.title:
            object.__setattr__(self, "title", self.name)
        if self.needs == "labels" and self.obstacle is nothing:
            object.__setattr__(self, "obstacle", no_hard_labels)

    @property
    def default_method(self) -> str:
        """The interval method by default."""
        own = self.interval
        return "jackknife" if self.is_smooth or own.chooses or own.cross_fit else "bootstrap"

    @property
    def needs_all_classes(self) -> bool:
        """Whether it is another measure without a class, which neither losses nor shares are."""
        return not (self.adds_rows or (self.needs == "labels" and not self.caveats))

    @property
    def largest_difference(self) -> float:
        """The largest difference that two values can have."""
        return self.bounds[1] - self.bounds[0]

    @property
    def is_ratio(self) -> bool:
        """Whether it is from 0 to infinity, and no mean: then its logarithm is nearly linear."""
        is_other = self.interval.is_flat_at_ends or self.interval.is_unbiased
        return self.bounds == (0, math.inf) and not is_other

    @property
    def range_on_line(self) -> tuple[float | int, float | int]:
        """The bounds if their ends are infinitely far away for pooled values, else all numbers."""
        return (-math.inf, math.inf) if self.interval.is_flat_at_ends else self.bounds

    def applies_to(self, predictions: Predictions) -> bool:
        """Whether the measure is defined for these predictions."""
        return self.obstacle(predictions) is None

    def in_sample(self, predictions: Predictions) -> Measure:
        """Return the measure with shares of these predictions instead of numbers of them."""
        if self.of_sample is None or predictions.folds is not None:
            return self
        refuse(self.name, self.obstacle(predictions))
        return self.of_sample(predictions)

    def range_in(
        self, predictions: Predictions, *, sizes_are_fixed: bool = False
    ) -> tuple[float | int, float | int]:
        """Return the bounds for the classes of these predictions, or for these very shares."""
        of_shares = self.in_sample(predictions).range_of_shares
        if of_shares is None:
            return self.bounds
        weights = predictions.class_totals
        low, high = of_shares(weights / weights.sum(), sizes_are_fixed)
        # Beside a class that has all weight but for rounding, the range is a point or undefined
        return (low, high) if low < high else self.bounds

    def __repr__(self) -> str:
        """Return the name, and the options that are not in it."""
        options = {k: " ".join(f"{x!r}".split()) for k, x in self.options.items() if x is not None}
        others = [f"{k}={x}" for k, x in options.items() if f"{k}={x}" not in self.name]
        return f"Measure({', '.join([repr(self.name), *others])})"

    def __call__(
        self,
        y_true: Any,
        y_score: Any = None,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        y_pred: Any = None,
    ) -> float:
        """Return the value for a classifier's predictions.

        Parameters
        ----------
        y_true, y_score, labels, sample_weight, y_pred
            As for `Predictions.from_arrays`; hard-label measures also take ``y_pred`` alone.

        Returns
        -------
        float
            NaN, with a warning, where it is not defined.
        """
        return value_of(
            self,
            as_predictions(
                y_true,
                y_score,
                labels=labels,
                sample_weight=sample_weight,
                y_pred=y_pred,
                needs=self.needs,
                by_fold=True,
            ),
        )


def bind_in_groups(
    measures: Sequence[Measure], predictions: Predictions
) -> list[tuple[list[int], Callable[[], BoundMeasures]]]:
    """Return which measures share a statistic, and what binds those of each group.

    Each group has the positions of its measures and a function, so that several can be bound side
    by side. What it returns has one value for each position, in their order.
    """
    groups: dict[Any, list[int]] = {}
    for position, measure in enumerate(measures):
        kind = measure.statistic, measure.is_smooth, measure.in_given_order
        key = position if measure.statistic is None else kind
        groups.setdefault(key, []).append(position)
    parts = [
        positions[first : first + _MOST_TOGETHER]
        for positions in groups.values()
        for first in range(0, len(positions), _MOST_TOGETHER)
    ]
    # Cross-fitted measures, those with kinks, and fitted curves take the longest: they go first.
    parts.sort(key=lambda p: (measures[p[0]].is_smooth, measures[p[0]].family != "calibration"))
    return [
        (positions, partial(bind_together, [measures[p] for p in positions], predictions))
        for positions in parts
    ]


def bind(measure: Measure, predictions: Predictions) -> BoundMeasures:
    """Bind one measure to predictions."""
    return bind_together([measure], predictions)


def bind_together(measures: Sequence[Measure], predictions: Predictions) -> BoundMeasures:
    """Bind measures that share a statistic."""
    if predictions.folds is not None:
        return _bind_in_folds(measures, predictions, predictions.folds)
    first = measures[0]
    if first.in_given_order:
        predictions = predictions.as_given
    for measure in measures:
        refuse(measure.name, measure.obstacle(predictions))
    if isinstance(predictions.scores, OnDevice):
        on_device: BoundMeasures | None = predictions.scores.room.bind(measures, predictions)
        if on_device is not None:
            return on_device
    if first.bind is not None:
        bound = first.bind(predictions)
        if isinstance(bound, SummariesOfCounts):
            return bound
        from dmfroc._kit.compiled import is_traceable

        function = number_of_weights(bound, first.name)
        return FunctionOfWeights(function, is_traceable(function, len(predictions.true)))
    assert first.statistic is not None
    summaries = tuple(m.summary for m in measures if m.summary is not None)
    statistic = first.statistic(predictions)
    return SummariesOfCounts(statistic, summaries, statistic.is_compiled and first.is_smooth)


def _bind_in_folds(
    measures: Sequence[Measure], predictions: Predictions, folds: IntPerRow
) -> MeanOverFolds:
    if predictions.lacking_folds is not None and any(m.needs_all_classes for m in measures):
        raise ValueError(predictions.lacking_folds)
    rows = tuple(np.flatnonzero(folds == fold) for fold in np.unique(folds))
    whole = replace(predictions, folds=None)
    return MeanOverFolds(
        rows, tuple(bind_together(measures, whole.rows(fold_rows)) for fold_rows in rows)
    )


def within(
    values: Float[AnyArray, "*shape"], bounds: tuple[float | int, float | int]
) -> Float[AnyArray, "*shape"]:
    """Put values that exceed their range by rounding back into it."""
    inside = np.clip(values, *bounds)
    with np.errstate(invalid="ignore"):  # which `numpy.isclose` does too, in several times as long
        is_close = np.abs(values - inside) <= _ROUNDING + _ROUNDING * np.abs(inside)
    return np.where(is_close, inside, values)


def bare_value_of(measure: Measure, predictions: Predictions) -> float:
    """Return the value of ``measure`` as it is computed, without warnings."""
    [value] = bind(measure, predictions).values(predictions.sample_weight)
    return float(value)


def value_of(measure: Measure, predictions: Predictions) -> float:
    """Return the value of ``measure`` under the observations' own weights."""
    counted = predictions.counted
    value = float(within(np.asarray(bare_value_of(measure, counted)), measure.range_in(counted)))
    of_scores = [labels_message] if measure.needs == "scores" else []
    remarks = _messages([*measure.caveats, *of_scores], predictions)
    warn([*remarks, undefined_message({measure: value}, predictions)])
    return value


def caveats(measures: Sequence[Measure], *samples: Predictions) -> list[str]:
    """Return what has to be known of estimates of the measures in any of the samples, once each."""
    of_needs = {"labels": ties_message, "scores": labels_message, "probabilities": nothing}
    of_measures = [x for measure in measures for x in (*measure.caveats, of_needs[measure.needs])]
    of_all = (counts_message, sample_message, partial(_positive_message, measures))
    return _messages([*of_measures, *of_all], *samples)


def _positive_message(measures: Sequence[Measure], predictions: Predictions) -> str | None:
    """Say that the positive class is doubtful if the other one gives another value."""
    if predictions.doubtful_positive is None:
        return None
    both = (predictions, predictions.with_positive_class(predictions.labels[0]))
    first, second = ([bare_value_of(measure, x) for measure in measures] for x in both)
    return None if np.allclose(first, second, equal_nan=True) else predictions.doubtful_positive


def _messages(caveats: Iterable[Caveat], *samples: Predictions) -> list[str]:
    messages = (caveat(sample) for caveat in dict.fromkeys(caveats) for sample in samples)
    return list(dict.fromkeys(message for message in messages if message is not None))


def undefined_message(values: Mapping[Measure, float], *samples: Predictions) -> str | None:
    """Say which measures have no finite value, and why, as far as the samples show it."""
    undefined = {measure: x for measure, x in values.items() if not math.isfinite(x)}
    reasons = _messages((measure.undefined for measure in undefined), *samples)
    return undefined_values_message({measure.name: x for measure, x in undefined.items()}, reasons)


def undefined_values_message(
    values: Mapping[str, float], reasons: Sequence[str] = ()
) -> str | None:
    """Say which numbers are not finite."""
    undefined = [f"{name} is {x}" for name, x in values.items() if not math.isfinite(x)]
    if not undefined:
        return None
    because = f", since {' and '.join(reasons)}" if reasons else ""
    return f"no finite value in this sample: {', '.join(undefined)}{because}"


def warn_of_absent_classes(predictions: Predictions) -> None:
    """Warn of classes without observations, whose pairs are left out."""
    warn([absent_classes_message(predictions)])
