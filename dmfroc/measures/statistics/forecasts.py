"""Probabilities of the classes: sums of what rows say, and bins of forecasts and outcomes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from dmfroc._kit.arrays import AnyArray, BoolPerRow, PerRow, Scores, divide, sum_at
from dmfroc._kit.threads import parallel
from dmfroc.inputs.messages import IN_MEMORY, Source
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.statistics.layout import row_slices
from dmfroc.measures.statistics.statistic import Statistic, Sums, once_per_predictions

LEAST_PROBABILITY = float(np.finfo(np.float64).eps)  # as which 0 counts in the log loss
_ROUNDED = 0.005  # by which each probability of a row may be off: two digits
_ALONE = 1e-9  # of the pairs of rows in a bin, as rounding leaves of one row
_SUM_TOLERANCE = 1e-3  # by which probabilities of a row, rounded as in a file, may miss one


PerCurve = Float[np.ndarray, "n curves"]
"""One number for each row and curve."""

OfBins = Float[AnyArray, "*draws curves bins"]


@dataclass(frozen=True, eq=False)
class RowSums(Statistic):
    """Adds up the numbers of each row."""

    numbers: Float[AnyArray, "n m"]

    is_batched: ClassVar[bool] = True

    def count(self, weights: Float[AnyArray, "*draws n"], xp: Any) -> Sums:
        return Sums(weights @ self.numbers)

    def pull_back(self, weights: PerRow, table: Sums, derivatives: Sums) -> PerRow:
        return self.numbers @ derivatives.values


def row_means(scores: PerRow) -> RowSums:
    """Bind a score of each row, whose mean is `mean_of_rows`."""
    return RowSums(np.column_stack([scores, np.ones(len(scores))]))


def mean_of_rows(table: Sums, xp: Any, place: int = 0) -> Any:
    """Return the mean of one of the numbers of the rows, whose last one is 1."""
    return table.values[..., place] / table.values[..., -1]


class Bins(NamedTuple):
    """Of each curve and bin: the weight, what was forecast and came true, and squared errors.

    Or, instead of squared errors, variances. The last are the products with the own weights of the
    sample.
    """

    weight: OfBins
    forecast: OfBins
    outcome: OfBins
    squared: OfBins
    squared_weight: OfBins


@dataclass(frozen=True, eq=False)
class BinnedForecasts(Statistic):
    """Forecast probabilities of several events, in bins of equal width.

    The bins of the second event have the numbers after those of the first.
    """

    bins: Int[np.ndarray, "n curves"]
    forecast: PerCurve
    outcome: PerCurve
    squared: PerCurve
    sample_weight: PerRow
    n_bins: int

    is_batched: ClassVar[bool] = True

    def count(self, weights: Float[AnyArray, "*draws n"], xp: Any) -> Bins:
        n_curves = self.bins.shape[1]
        if weights.ndim > 1:
            tables = (self._matrix @ weights.T).reshape(5, n_curves, self.n_bins, -1)
            return Bins(*np.moveaxis(tables, -1, 1))

        def sums(some: slice) -> list[Float[AnyArray, " cells"]]:
            bins = self.bins[some]
            weighted = xp.broadcast_to(weights[some, None], bins.shape)
            each = weighted, *(weighted * x[some] for x in self._numbers)
            return [sum_at(bins, x, n_curves * self.n_bins, xp) for x in each]

        slices = row_slices(self.bins) if xp is np else [slice(None)]
        parts: Any = zip(*parallel(sums, slices, self.bins.size), strict=True)
        return Bins(*(sum(part).reshape(n_curves, self.n_bins) for part in parts))

    @property
    def _numbers(self) -> tuple[Float[np.ndarray, "n _"], ...]:
        """What a weight is multiplied by, for all numbers of the table but the first."""
        return self.forecast, self.outcome, self.squared, self.sample_weight[:, None]

    @cached_property
    def _matrix(self) -> Any:
        """Turns the weights of the rows into all numbers of the table, one after the other."""
        from scipy.sparse import csr_array

        n, n_curves = self.bins.shape
        each = np.stack(np.broadcast_arrays(1.0, *self._numbers))
        cells = self.bins + n_curves * self.n_bins * np.arange(5)[:, None, None]
        rows = np.broadcast_to(np.arange(n)[:, None], each.shape)
        shape = 5 * n_curves * self.n_bins, n
        return csr_array((each.ravel(), (cells.ravel(), rows.ravel())), shape)

    def pull_back(self, weights: PerRow, table: Bins, derivatives: Bins) -> PerRow:
        gradient = np.empty(len(weights))

        def fill(some: slice) -> None:
            of_weight, *others = (d.ravel().take(self.bins[some]) for d in derivatives)
            for d, x in zip(others, self._numbers, strict=True):
                of_weight += d * x[some]
            gradient[some] = of_weight.sum(axis=1)

        parallel(fill, row_slices(self.bins), self.bins.size)
        return gradient


MOST_BINS = 10**6


def bin_numbers(probabilities: Float[np.ndarray, "*n"], n_bins: int) -> Int[np.ndarray, "*n"]:
    """Return the bins of equal width, closed on their right; the first includes 0.

    Edges are rounded to the type of the probabilities: .7 in single precision is not below .7.
    """
    edges = np.linspace(0, 1, n_bins + 1)[1:-1]
    return np.searchsorted(edges.astype(probabilities.dtype), probabilities)


def probabilities_of(predictions: Predictions) -> Scores:
    """Return the scores; of a one-dimensional one, which is that of one class, both."""
    return as_probabilities(predictions.scores, predictions.single)


def as_probabilities(given: Scores, single: int | None) -> Scores:
    """Return scores in double precision, those of both classes if there is one."""
    scores = given.astype(np.float64)
    if single is not None:
        scores[:, 1 - single] = 1 - scores[:, single]
    return scores


def scores_of_class(predictions: Predictions, place: int) -> PerRow:
    """Return the scores of a class, which thresholds are compared with.

    If there is a probability of the other class alone, they are 1 minus it.
    """
    if predictions.single not in (None, place) and no_probabilities(predictions) is None:
        return probabilities_of(predictions)[:, place]
    return predictions.scores[:, place]


@once_per_predictions
def no_probabilities(predictions: Predictions) -> str | None:
    """Say so unless the scores are probabilities of the classes."""
    return wrong_probabilities(probabilities_of(predictions), source_of(predictions))


def source_of(predictions: Predictions) -> Source:
    """Return how messages count the rows."""
    return Source(is_table_file=predictions.unused is not None)


def is_no_distribution(probabilities: Float[AnyArray, "n k"]) -> Bool[AnyArray, " n"]:
    """Return which rows are not numbers in [0, 1] that sum to one."""
    is_inside = ((probabilities >= 0) & (probabilities <= 1)).all(axis=1)
    return ~is_inside | (abs(probabilities.clip(0, 1).sum(axis=1) - 1) > _SUM_TOLERANCE)


def wrong_probabilities(probabilities: Scores, source: Source = IN_MEMORY) -> str | None:
    """Say, to complete a sentence, which row holds no probabilities, if one does."""
    is_wrong = is_no_distribution(probabilities)
    if not is_wrong.any():
        return None
    row = int(np.argmax(is_wrong))
    example = probabilities[row]
    is_inside = ((example >= 0) & (example <= 1)).all()
    what = f"sums to {example.sum():.6g}" if is_inside else "has a score outside [0, 1]"
    if len(example) == 2 and example[0] == -example[1]:
        what += ", as the difference of two columns has that do not sum to one"
    return probabilities_message(f"{source.row(row)} {what}", probabilities)


def probabilities_message(example: str, found: Scores) -> str:
    """Return the end of a sentence that says what was found instead of probabilities."""
    off, remedy = _ROUNDED * found.shape[1], ""
    if found.min() >= 0 and found.max() <= 1 and np.abs(found.sum(axis=1) - 1).max() <= off:
        remedy = "divide each row by its sum, if these are rounded; else "
    return (
        f"needs probabilities, rows of numbers in [0, 1] that sum to one, but {example}: {remedy}"
        f"{remedy_of_percent(found)}calibrate the scores first (logits: take their softmax), or "
        "take a measure of their ranks"
    )


def remedy_of_percent(scores: Scores) -> str:
    """Return what to do with scores that may be percent, before all else, or nothing."""
    # Of one score, the other column is 1 less it, and negative
    least = scores.min(axis=0).max() if scores.shape[1] == 2 else scores.min()
    is_percent = least >= 0 and 1 < scores.max() <= 100
    return "divide the scores by 100 if they are percent, else " if is_percent else ""


def impossible_message(predictions: Predictions, most: float = 0.0) -> str | None:
    """Say how many rows give the observed class the probability 0, or at most ``most``."""
    if not predictions.has_all_scores or no_probabilities(predictions) is not None:
        return None
    observed = np.take_along_axis(probabilities_of(predictions), predictions.true[:, None], axis=1)
    is_impossible = (observed[:, 0] <= most) & (predictions.sample_weight > 0)
    n, row = np.count_nonzero(is_impossible), int(is_impossible.argmax())
    rows, give = ("row", "gives") if n == 1 else ("rows", "give")
    what = f"{n} {rows} {give} the observed class the probability 0"
    return f"{what}, first {source_of(predictions).row(row)}" if n else None


def indicators(predictions: Predictions) -> Scores:
    """Return 1 in the column of the observed class, and 0 elsewhere."""
    return np.eye(predictions.n_classes)[predictions.true]


def no_single_class(pos_label: Hashable, predictions: Predictions) -> str | None:
    """Say so unless there are probabilities, and one class to which they belong."""
    if (obstacle := no_probabilities(predictions)) is not None:
        return obstacle
    labels = predictions.labels
    if pos_label is None and len(labels) > 2:
        return (
            f"is a measure of one class against the rest, and there are {len(labels)} classes: "
            f"name the class, such as pos_label={labels[-1]!r}"
        )
    if pos_label is not None and not predictions.has_class(pos_label):
        return f"has pos_label={pos_label!r}, which is none of the classes {list(labels)}"
    if is_positive(predictions, pos_label).all() or not is_positive(predictions, pos_label).any():
        return "needs observations both of the class and of the rest"
    return None


def _place(predictions: Predictions, pos_label: Hashable) -> int:
    return 1 if pos_label is None else predictions.labels.index(pos_label)


def is_positive(predictions: Predictions, pos_label: Hashable) -> BoolPerRow:
    """Return which observations are of a class, by default of the second of two."""
    return predictions.true == _place(predictions, pos_label)


def single_class(predictions: Predictions, pos_label: Hashable) -> tuple[PerRow, PerRow]:
    """Return the outcome of a class, 0 or 1, and its probability."""
    probability = probabilities_of(predictions)[:, _place(predictions, pos_label)]
    return is_positive(predictions, pos_label).astype(np.float64), probability


def probability_losses(predictions: Predictions) -> RowSums:
    """Bind half the squared error and the logarithmic loss of each row, and its class."""
    return RowSums(loss_numbers(probabilities_of(predictions), predictions.true, np))


def loss_numbers(
    probabilities: Float[AnyArray, "n k"], true: Int[AnyArray, " n"], xp: Any
) -> Float[AnyArray, "n k_plus_3"]:
    """Return half the squared error and the logarithmic loss of each row, its class, and 1."""
    outcomes = xp.eye(probabilities.shape[1])[true]
    squared = ((probabilities - outcomes) ** 2).sum(axis=1) / 2
    observed = xp.take_along_axis(probabilities, true[:, None], axis=1)[:, 0]
    logarithmic = -xp.log(xp.maximum(observed, LEAST_PROBABILITY))
    return xp.column_stack([squared, logarithmic, outcomes, xp.ones(len(true))])


def top_ranks(predictions: Predictions, k: int) -> RowSums:
    """Bind whether the observed class is among the k of the largest scores; ties share."""
    scores = predictions.scores
    own: np.ndarray = np.take_along_axis(scores, predictions.true[:, None], axis=1)
    n_above, n_level = (scores > own).sum(axis=1), (scores == own).sum(axis=1)
    return row_means(np.clip((k - n_above) / n_level, 0, 1))


@once_per_predictions
def class_bins(predictions: Predictions, n_bins: int) -> BinnedForecasts:
    """Bind the probability of every class, and whether it is observed."""
    return _binned(predictions, probabilities_of(predictions), indicators(predictions), n_bins)


def _binned(
    predictions: Predictions,
    forecast: PerCurve,
    outcome: PerCurve,
    n_bins: int,
) -> BinnedForecasts:
    bins = bin_numbers(forecast.astype(predictions.scores.dtype), n_bins)
    bins += n_bins * np.arange(forecast.shape[1])
    squared, weights = (forecast - outcome) ** 2, predictions.sample_weight
    return BinnedForecasts(bins, forecast, outcome, squared, weights, n_bins)


def top_bins(predictions: Predictions, n_bins: int, k: int = 1) -> BinnedForecasts:
    """Bind the k largest probabilities of each row, and whether the class of each is observed.

    There is a bin for each combination of their bins.
    """
    probabilities = probabilities_of(predictions)
    if k == 1:
        top = probabilities.argmax(axis=1)[:, None]
    else:
        top = np.argsort(-probabilities, axis=1, kind="stable")[:, :k]
    forecast = np.take_along_axis(probabilities, top, axis=1)
    outcome = (top == predictions.true[:, None]).astype(np.float64)
    binned, n_joint = _binned(predictions, forecast, outcome, n_bins), n_bins**k
    each = binned.bins - n_bins * np.arange(k)
    bins = (each @ n_bins ** np.arange(k))[:, None] + n_joint * np.arange(k)
    return replace(binned, bins=bins, n_bins=n_joint)


def for_pairs(
    predictions: Predictions, bins: Callable[[Predictions, int], BinnedForecasts], n_bins: int
) -> BinnedForecasts:
    """Bind bins with squared errors times the row's own weight, to leave them out of squares."""
    binned = bins(predictions, n_bins)
    return replace(binned, squared=binned.squared * binned.sample_weight[:, None])


def bins_with_variances(
    predictions: Predictions, bins: Callable[[Predictions, int], BinnedForecasts], n_bins: int
) -> BinnedForecasts:
    """Bind bins that have, instead of squared errors, the variance of the sum of the outcomes."""
    binned = bins(predictions, n_bins)
    variances = binned.forecast * (1 - binned.forecast) * predictions.sample_weight[:, None]
    return replace(binned, squared=variances)


def squared_gaps(table: Bins, xp: Any) -> Any:
    """Return the products of two gaps of each bin, as a mean over all pairs of its rows.

    So the mean squared gap lacks what the variance of the outcomes adds to it.
    """
    pairs = table.weight**2 - table.squared_weight
    pairs = xp.where(pairs > _ALONE * table.weight**2, pairs, 0.0)  # 0 if a row is alone
    return divide((table.outcome - table.forecast) ** 2 - table.squared, pairs, xp)
