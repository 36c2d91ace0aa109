"""Measures of probabilities: whether they come true, and how much they tell.

The Brier score is half the squared distance of the forecast from what is observed, as a point that
is 1 for the observed class and 0 for all others. With bins it is reliability less resolution plus
uncertainty, the last being the score of always forecasting how often the classes occur.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import Scalar, divide
from dmfroc._kit.options import flag, integer
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures import ranges
from dmfroc.measures.bound import Summary
from dmfroc.measures.measure import (
    FLAT_AT_ENDS,
    POSITIVE,
    SIGNED,
    UNBIASED,
    UNIT,
    IntervalProperties,
    Measure,
    WithOptions,
)
from dmfroc.measures.registry import also_called, family, register
from dmfroc.measures.statistics.forecasts import (
    LEAST_PROBABILITY,
    MOST_BINS,
    Bins,
    bins_with_variances,
    class_bins,
    for_pairs,
    impossible_message,
    mean_of_rows,
    no_probabilities,
    probability_losses,
    squared_gaps,
    top_bins,
    top_ranks,
)
from dmfroc.measures.statistics.statistic import Sums

DEFAULT_N_BINS = 10
_ROUNDING = 1e-9
_BINS = (-2, -1)  # the axes of curves and bins

_OfBins = Float[np.ndarray, "curves bins"]


def _uncertainty(class_weights: Any, total: Any) -> Any:
    """Return the Brier score of always forecasting how often the classes occur."""
    # Not the total less each class, which would lose light classes beside a heavy one
    others = class_weights @ (1 - np.eye(class_weights.shape[-1]))
    return (class_weights * others).sum(-1) / (2 * total**2)


def _skill(table: Sums, xp: Any) -> Any:
    uncertainty = _uncertainty(table.values[..., 2:-1], table.values[..., -1])
    return 1 - mean_of_rows(table, xp) / uncertainty


def _skill_of_logarithms(table: Sums, xp: Any) -> Any:
    sizes, total = table.values[..., 2:-1], table.values[..., -1:]
    shares = xp.where(sizes > 0, sizes / total, 1.0)
    return 1 + table.values[..., 1] / (sizes * xp.log(shares)).sum(-1)


def _reliability(table: Bins, xp: Any) -> Any:
    gaps = (table.forecast - table.outcome) ** 2
    return divide(gaps, table.weight, xp).sum(_BINS) / (2 * _total(table))


def _reliability_of_pairs(table: Bins, xp: Any) -> Any:
    return (table.weight * squared_gaps(table, xp)).sum(_BINS) / (2 * _total(table))


def _resolution(table: Bins, xp: Any) -> Any:
    total = _total(table)
    uncertainty = _uncertainty(table.outcome.sum(-1), total)
    return uncertainty - table.squared.sum(_BINS) / (2 * total) + _reliability(table, xp)


def _expected_error(table: Bins, xp: Any) -> Scalar:
    return xp.abs(table.forecast - table.outcome).sum(_BINS) / table.weight.sum(_BINS)


def _total(table: Bins) -> Any:
    """Return the weight of all rows; each row is in a bin of every curve."""
    return table.weight[..., 0, :].sum(-1)


def _infinite_loss(predictions: Predictions) -> str | None:
    impossible = impossible_message(predictions, LEAST_PROBABILITY)
    if impossible is None:
        return None
    counted = -math.log(LEAST_PROBABILITY)
    return f"{impossible}: each counts as {counted:.2f} in the log loss, which is infinite"


def _fewer_than(k: int, predictions: Predictions) -> str | None:
    if (obstacle := no_probabilities(predictions)) is not None or k <= predictions.n_classes:
        return obstacle
    return f"is of k={k} probabilities, and there are {predictions.n_classes}: take a smaller k"


def _no_ranks(k: int, predictions: Predictions) -> str | None:
    if predictions.single is not None and predictions.n_classes > k:
        return "compares the scores of the classes: pass those of both, not a single one"
    if predictions.n_classes > k:
        return None
    return (
        f"is 1 for everyone where {k} of {predictions.n_classes} classes may be named: take a "
        "smaller k"
    )


forecasts = family(
    "probabilities",
    bounds=UNIT,
    needs="probabilities",
    obstacle=no_probabilities,
    greater_is_better=False,
    adds_rows=True,
    in_given_order=True,
    caveats=(),
)


_SKILL = {"bounds": (-math.inf, 1.0), "chance": 0.0, "greater_is_better": True}
_MAY_BE_INFINITE: Any = {"caveats": (_infinite_loss,), "infinite": _infinite_loss}


def _in_bins(
    title: str, bins: Callable[..., Any], n_bins: int, summary: Summary, **attributes: Any
) -> Measure:
    statistic = WithOptions(bins, n_bins=integer("n_bins", n_bins, 1, MOST_BINS))
    return forecasts(title, statistic, summary, **attributes)


@also_called("brier")
@register()
def brier_score() -> Measure:
    """Return the Brier score: half the mean squared distance of the forecast from the outcome.

    Returns
    -------
    Measure
        In [0, 1]; 0 for certain and right forecasts. It is proper: no other forecast than the
        true probabilities is better on average. For two classes it is scikit-learn's
        ``brier_score_loss``, for more half of it: that with ``scale_by_half=True``.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities.

    References
    ----------
    Brier (1950), Verification of forecasts expressed in terms of probability.

    Examples
    --------
    >>> round(brier_score()([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3]), 4)
    0.075
    """
    return forecasts("Brier score", probability_losses, mean_of_rows, interval=UNBIASED)


@also_called("scaled_brier_score, scaled_brier, d2_brier_score")
@register()
def brier_skill_score() -> Measure:
    """Return the share by which the Brier score is below that of forecasting the class sizes.

    Returns
    -------
    Measure
        In (-inf, 1]; 0 for always forecasting how often the classes occur, 1 for certain and
        right forecasts. For two classes it is scikit-learn's ``d2_brier_score``.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities.

    References
    ----------
    Murphy (1973), Hedging and skill scores for probability forecasts.

    Examples
    --------
    >>> round(brier_skill_score()([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3]), 4)
    0.7
    """
    return forecasts("Brier skill score", probability_losses, _skill, **_SKILL)


@also_called("cross_entropy, nll, negative_log_likelihood, logarithmic_loss, mn_log_loss")
@register()
def log_loss() -> Measure:
    """Return the mean of minus the logarithm of the probability of the observed class, in nats.

    Returns
    -------
    Measure
        In [0, inf); 0 for certain and right forecasts. Proper, as the Brier score is. A
        probability of 0 counts as 2e-16, so that one such forecast of what then happens adds 36
        divided by the number of observations. A warning states their number, and classifiers with
        such forecasts are not compared. It is scikit-learn's ``log_loss``.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities.

    References
    ----------
    Good (1952), Rational decisions.

    Examples
    --------
    >>> round(log_loss()([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3]), 4)
    0.299
    """
    return forecasts(
        "Log loss",
        probability_losses,
        WithOptions(mean_of_rows, place=1),
        bounds=POSITIVE,
        interval=UNBIASED,
        **_MAY_BE_INFINITE,
    )


@also_called("d2_log_loss_score, mcfadden_r2, mcfaddens_r2")
@register()
def d2_log_loss() -> Measure:
    """Return the share by which the log loss is below that of forecasting the class sizes.

    Returns
    -------
    Measure
        In (-inf, 1]; 0 for always forecasting how often the classes occur, 1 for certain and
        right forecasts. It is scikit-learn's ``d2_log_loss_score``, and McFadden's R squared on
        data that did not fit the model. Zero probabilities count as in `log_loss`.

    Raises
    ------
    ValueError
        Bound to scores that are no probabilities.

    References
    ----------
    McFadden (1974), Conditional logit analysis of qualitative choice behavior.

    Examples
    --------
    >>> round(d2_log_loss()([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3]), 4)
    0.5686
    """
    summary, given = _skill_of_logarithms, _SKILL | _MAY_BE_INFINITE
    return forecasts("D2 log loss", probability_losses, summary, **given)


@register()
def brier_reliability(n_bins: int = DEFAULT_N_BINS) -> Measure:
    """Return the part of the Brier score that recalibration would save.

    Parameters
    ----------
    n_bins : int
        Number of bins of equal width into which the probabilities of each class are put.

    Returns
    -------
    Measure
        In [0, 1]; 0 for calibrated forecasts on average of all bins. In a sample it is larger than
        in the population. Each bin of a class adds about p (1 - p) / (2 n), p being how often the
        class occurs in it and n the size of the sample.
        ``brier_score = brier_reliability - brier_resolution + uncertainty``, with the uncertainty
        half the sum of p (1 - p) over the classes.

    Raises
    ------
    ValueError
        If ``n_bins`` is not a positive integer. Bound to scores that are no probabilities.

    References
    ----------
    Murphy (1973), A new vector partition of the probability score; Bröcker (2012), Estimating
    reliability and resolution of probability forecasts, on the bias.

    Examples
    --------
    >>> round(brier_reliability(n_bins=2)([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3]), 4)
    0.065
    """
    title, pairs = "Brier reliability", WithOptions(for_pairs, bins=class_bins)
    interval = IntervalProperties(debiased=_in_bins(title, pairs, n_bins, _reliability_of_pairs))
    return _in_bins(title, class_bins, n_bins, _reliability, interval=interval)


@register()
def brier_resolution(n_bins: int = DEFAULT_N_BINS) -> Measure:
    """Return how much the forecasts improve on forecasting the class sizes, once calibrated.

    Parameters
    ----------
    n_bins : int
        As for `brier_reliability`.

    Returns
    -------
    Measure
        In [-1, 1]; 0 for forecasts that tell nothing, but more in a sample, by as much as
        `brier_reliability`. What forecasts tell within a bin counts too, as Stephenson, Coelho and
        Jolliffe have it, so that the three parts add up exactly.

    Raises
    ------
    ValueError
        If ``n_bins`` is not a positive integer. Bound to scores that are no probabilities.

    References
    ----------
    Murphy (1973), A new vector partition of the probability score; Stephenson, Coelho and
    Jolliffe (2008), Two extra components in the Brier score decomposition.

    Examples
    --------
    >>> round(brier_resolution(n_bins=2)([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3]), 4)
    0.24
    """
    attributes = {"bounds": SIGNED, "chance": 0.0, "greater_is_better": True}
    attributes["range_of_shares"] = ranges.brier_resolution
    return _in_bins("Brier resolution", class_bins, n_bins, _resolution, **attributes)


@dataclass(frozen=True)
class _CorrectedError:
    """An error of bins whose derivatives are chosen for its standard error, not those of its value.

    ``slopes`` are the derivatives by the gaps of the bins, and by their weights.
    """

    value: Callable[[Bins, Any], Any]
    slopes: Callable[[Bins], tuple[_OfBins, _OfBins]]

    def __call__(self, table: Bins, xp: Any) -> Any:
        return self.value(table, xp)

    def value_and_pull_back(self, table: Bins) -> tuple[Any, Callable[[Any], Bins]]:
        of_gap, of_weight = self.slopes(table)

        def pull_back(d_value: Any) -> Bins:
            d_gap = of_gap * d_value
            return Bins(of_weight * d_value, -d_gap, d_gap, *np.zeros((2, *d_gap.shape)))

        return self(table, np), pull_back


def _debiased_gaps(table: Bins) -> tuple[_OfBins, _OfBins]:
    """Return the gaps less what chance adds to them under calibration, and their slopes.

    Slopes are scaled so that standard errors are those of the debiased gaps: of a gap without sign
    the derivative vanishes where its error is largest.
    """
    from scipy.special import ndtr

    error, gap = np.sqrt(np.maximum(table.squared, 0)), table.outcome - table.forecast
    x = np.abs(gap) / np.where(error > 0, error, 1)
    bell = np.exp(-(x**2) / 2)
    debiased = error * (x * (2 * ndtr(x) - 1) - 2 * bell / math.sqrt(2 * math.pi))
    # The variance of a debiased gap in squared errors, as a mean over samples. The formula is
    # fitted to integrals over gaps from 0 to 6, with errors of 0.1 at most.
    variance = np.maximum(1 + (2.59 * x**2 - 1.59) * bell, 0.2)
    is_certain = error == 0
    return (
        np.where(is_certain, np.abs(gap), debiased),
        np.sign(gap) * np.where(is_certain, 1.0, np.sqrt(variance)),
    )


def _debiased_error(table: Bins, xp: Any) -> Any:
    return np.maximum(_debiased_gaps(table)[0].sum(_BINS) / table.weight.sum(_BINS), 0.0)


def _slopes_of_debiased_error(table: Bins) -> tuple[_OfBins, _OfBins]:
    total, (_, slopes) = table.weight.sum(), _debiased_gaps(table)
    # Centred in each bin, so that only the gap's own error counts
    weight = np.where(table.weight > 0, table.weight, 1)
    return slopes / total, -(table.outcome - table.forecast) * slopes / weight / total


@also_called("ece")
@register()
def expected_calibration_error(
    n_bins: int = DEFAULT_N_BINS,
    of: Literal["top_label", "classes"] = "top_label",
    debiased: bool = False,
) -> Measure:
    """Return the mean absolute gap between what is forecast and how often it comes true, in bins.

    Parameters
    ----------
    n_bins : int
        Number of bins of equal width.
    of : {"top_label", "classes"}
        Whether the probability of the predicted class is judged, of two classes that of the more
        likely one; or that of every class, as the mean over the classes. Reports and
        `calibration_curve` have that of one class; of two classes it is ``"classes"``.
    debiased : bool
        Whether to take away from the gap of each bin what chance adds to it where forecasts are
        calibrated. A gap of x standard errors s then counts as s (x (2 Phi(x) - 1) - 2 phi(x)),
        which is 0 on average under calibration, and ``|x| s`` for clear gaps; a total below 0 is 0.
        It is too small, by half a standard error of the bin at most, where gaps are about as large
        as their errors.

    Returns
    -------
    Measure
        In [0, 1]; 0 for calibrated forecasts, but more in a sample. A bin with a share s of n
        observations, with a share p that comes true, adds about ``sqrt(2 s p (1 - p) / (pi n))``
        where it is calibrated. So the error grows with the number of bins, and only those of equal
        sample sizes can be compared, unless they are debiased. It has kinks where a bin is
        calibrated; the bootstrap's draws are biased once more.

    Raises
    ------
    ValueError
        If an option is out of its range. Bound to scores that are no probabilities.

    References
    ----------
    Naeini, Cooper and Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian
    binning; Bröcker (2012) and Kumar, Liang and Ma (2019), Verified uncertainty calibration, on
    the bias.

    Examples
    --------
    >>> round(expected_calibration_error(n_bins=2)([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3]), 4)
    0.25
    """
    title, bins = ("Top-label ECE", top_bins) if of == "top_label" else ("ECE", class_bins)
    without_bias = _in_bins(
        title,
        WithOptions(bins_with_variances, bins=bins),
        n_bins,
        _CorrectedError(_debiased_error, _slopes_of_debiased_error),
        # Calibrated forecasts are at the end of the range
        interval=FLAT_AT_ENDS,
    )
    if flag("debiased", debiased):
        return without_bias
    interval = IntervalProperties(debiased=without_bias)
    return _in_bins(title, bins, n_bins, _expected_error, is_smooth=False, interval=interval)


def _squared_gap(table: Bins, xp: Any) -> Any:
    return 2 * _reliability(table, xp)


def _squared_error(table: Bins, xp: Any) -> Any:
    mean = (table.weight * squared_gaps(table, xp)).sum(_BINS) / _total(table)
    return xp.maximum(mean, 0.0)


def _slopes_of_squared_error(table: Bins) -> tuple[_OfBins, _OfBins]:
    """Return slopes scaled so that the sum of the squared influences estimates the variance.

    For calibrated forecasts all of the error is of second order, and that sum would be twice as
    large.
    """
    total, squares = _total(table), squared_gaps(table, np)
    n = divide(table.weight**2, table.squared_weight, np)
    gap = divide(table.outcome - table.forecast, table.weight, np)
    gap = np.where(gap == 0, _ROUNDING, gap)
    variance = divide(table.squared, table.squared_weight, np) - gap**2
    first = 4 * gap**2 * table.squared_weight * np.maximum(variance, _ROUNDING)
    # Of calibrated forecasts with variance s in a bin the error has the variance 2 s^2. The
    # squares of the influences here are 4 s^2; those of the bins' means are added below.
    share = divide(table.forecast, table.weight, np)
    second = 2 * (share * (1 - share) * divide(table.squared_weight, table.weight, np)) ** 2
    whole = (first * np.where(n > 1, n / np.maximum(n - 1, _ROUNDING), 0.0)).sum()
    least = second[n > 1].sum()
    slope = gap * np.sqrt(max(whole - least, least) / first.sum())
    centred = squares - (table.weight * squares).sum(axis=1, keepdims=True) / total
    return 2 * slope / total, (centred - 2 * gap * slope) / total


@register()
def squared_calibration_error(n_bins: int = DEFAULT_N_BINS, k: int = 1) -> Measure:
    """Return the mean squared gap between the k largest probabilities and what comes true, in bins.

    Parameters
    ----------
    n_bins : int
        Number of bins of equal width for each of the k probabilities.
    k : int
        How many of the largest probabilities of a row are judged together: it is the squared
        distance of a vector, and rows share a bin if all k probabilities do.

    Returns
    -------
    Measure
        In [0, 1], or [0, 2] for more than one probability; 0 for calibrated forecasts. It has no
        bias: it is a mean over pairs of different rows of a bin, in which bins of one row do not
        count. A total below 0 is 0. Gaps within a bin cancel. The interval also holds for
        calibrated forecasts, where the error of the value is of second order. The bootstrap does
        not account for the bias of its draws.

    Raises
    ------
    ValueError
        If an option is out of its range. Bound to scores that are no probabilities, or to fewer
        than k classes.

    References
    ----------
    Sun, Chaudhari, Barnett and Dobriban (2024), A confidence interval for the l2 expected
    calibration error; Lee, Huang, Hassani and Dobriban (2023), T-Cal: an optimal test for the
    calibration of predictive models.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(2000)
    >>> y = (rng.random(2000) < (p + 0.5) / 2).astype(int)  # gaps of (p - 0.5) / 2
    >>> round(squared_calibration_error()(y, p), 3)
    0.022
    """
    k = integer("k", k, 1)
    if (n_joint := integer("n_bins", n_bins, 1, MOST_BINS) ** k) > MOST_BINS:
        raise ValueError(
            f"n_bins={n_bins} for k={k} probabilities are {n_joint:,} bins, and at most "
            f"{MOST_BINS:,} are possible: take fewer"
        )
    make = partial(
        forecasts,
        "Squared calibration error",
        WithOptions(for_pairs, bins=WithOptions(top_bins, k=k), n_bins=n_bins),
        bounds=(0.0, float(min(k, 2))),
        obstacle=WithOptions(_fewer_than, k),
    )
    of_pairs = _CorrectedError(_squared_error, _slopes_of_squared_error)
    return make(of_pairs, interval=replace(FLAT_AT_ENDS, plain=make(_squared_gap)))


@register()
def top_k_accuracy(k: int = 2) -> Measure:
    """Return how often the observed class is among those of the k largest scores.

    Parameters
    ----------
    k : int
        How many classes may be named.

    Returns
    -------
    Measure
        In [0, 1]; k / K for guessing among K classes. Where scores tie at the k-th place, the
        chance counts that a random order puts the observed class among the first k. Without such
        ties it is scikit-learn's ``top_k_accuracy_score``.

    Raises
    ------
    ValueError
        If ``k`` is not a positive integer. Bound to no more than k classes.

    Examples
    --------
    >>> scores = [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]
    >>> round(top_k_accuracy()([0, 1, 2], scores), 4)
    0.6667
    """
    if not (isinstance(k, int) and k >= 1):
        raise ValueError(f"k must be a positive integer, but it is {k!r}")
    return forecasts(
        f"Top-{k} accuracy",
        WithOptions(top_ranks, k=k),
        mean_of_rows,
        family="ranking",
        needs="scores",
        obstacle=WithOptions(_no_ranks, k),
        greater_is_better=True,
        interval=UNBIASED,
    )
