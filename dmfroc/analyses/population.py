"""Another population than the sample's: other class frequencies, or weights of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dmfroc._kit.arrays import IntPerRow, PerClass, PerRow
from dmfroc._kit.options import numbers
from dmfroc.inference.censoring import at_horizon
from dmfroc.inference.options import Options
from dmfroc.inference.units import EstimatedWeights, Weights, kish_sizes
from dmfroc.inputs.arrays import Rows, columns_of
from dmfroc.inputs.checks import real_weights
from dmfroc.inputs.class_shares import Importance, class_shares, in_class_shares, unlabelled
from dmfroc.inputs.messages import Source, listing
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.row_doubts import pooled_message
from dmfroc.inputs.subgroups import unit_of_rows
from dmfroc.measures.statistics.forecasts import no_probabilities, probabilities_of
from dmfroc.measures.statistics.recalibration import BinaryFit

_OF_TARGET = Source(scores="population")
_FEW = 30  # effective rows
_SMALL_SHARE = 0.1  # of the rows
_LARGE_ERROR = 0.2  # of a share
_LEAST_OF_TARGET = 2  # rows, whose variance is needed
_MOST_CONDITION = 1e4  # of the mean scores of the classes


def in_population(
    predictions: Predictions, options: Options, ended: Any = None
) -> tuple[Predictions, Options]:
    """Return predictions in folds, with the weights of a population, and how intervals are made.

    With given class shares the class sizes are fixed: in every fold a class counts by its share,
    however many rows it has. What is estimated from rows of the target adds to the error of every
    value. So does the chance to stay uncensored until a horizon, see `FollowUp.at` for ``ended``.
    """
    estimated: Weights | None = None
    facts: dict[str, Any] = {}
    population, folds = options.population, None if options.folds is None else options.folds.fold
    is_importance = isinstance(population, Importance)
    if options.follow_up is not None:
        if is_importance or np.ndim(population) == 2:
            raise ValueError(
                "follow_up and a population of Importance, or of scores, estimate other weights: "
                "leave one out"
            )
        predictions, estimated = at_horizon(options.follow_up, predictions, ended)
    if is_importance:
        rows, origin = predictions.given_rows, "as given"
        if population.target is None:
            weights = real_weights(
                population.weights, predictions.n_given, Source(weight="importance"), rows
            )
            if not weights.any():
                raise ValueError("importance is zero in every row: some observations must count")
            weights /= weights.mean()
        else:
            weights, estimated = _estimated_importance(population, predictions, rows)
            origin = f"estimated from {len(population.target):,} rows of the target"
        weights = predictions.sample_weight * weights
        predictions = replace(predictions.reweighted(weights, importance=origin), index=rows.index)
    if predictions.is_weighted:
        # Weights of a design make the class shares, too; others may weigh whole classes
        is_of_design = is_importance or options.follow_up is not None
        strata = np.zeros_like(predictions.true) if is_of_design else predictions.true
        predictions = predictions.warned(few_rows_message(predictions.sample_weight, strata))
    if folds is not None:
        predictions = predictions.in_folds(folds)
        if options.groups is not None and predictions.folds is not None:
            group = unit_of_rows(options.groups, predictions.n_given, predictions.given_rows)
            predictions = predictions.warned(pooled_message("groups", group, predictions.folds))
    if population is None or is_importance:
        return predictions, with_estimated(options, estimated)
    if options.stratify is False:
        raise ValueError("population fixes the class shares: leave stratify=False out")
    if np.ndim(population) == 2:
        shares, estimated, doubt = _estimated_shares(population, predictions)
        predictions = predictions.warned(doubt)
        facts["target_rows"] = len(population)
        options = replace(options, stratify=True if options.groups is None else None)
    else:
        shares = class_shares(population, predictions)
        options = replace(options, has_shares=True)
    return in_class_shares(predictions, shares, **facts), with_estimated(options, estimated)


def with_estimated(options: Options, weights: Weights | None) -> Options:
    """Return the options with estimated weights, and refuse those that take weights as known."""
    if weights is not None and options.is_of_learner:
        raise ValueError(
            "target='learner' does not account for the error of an estimated population: leave "
            "target out for the jackknife of these fits, or pass known weights or shares"
        )
    if weights is not None and options.method_name not in (None, *weights.methods):
        raise ValueError(
            f"the error of estimated weights is known to method={listing(weights.methods)} alone: "
            f"leave method={options.method_name!r} out, or pass known weights or shares"
        )
    return options if weights is None else replace(options, weights=weights)


def _estimated_shares(
    given: Any, predictions: Predictions
) -> tuple[PerClass, EstimatedWeights, str | None]:
    """Return the class shares that explain the scores of rows without labels, and a warning.

    Within each class scores are taken to be as in the sample (label shift): the mean scores of the
    target are the means of the classes, mixed by the shares (Lipton, Wang and Smola 2018).
    """
    if len(given) < _LEAST_OF_TARGET:
        raise ValueError(
            "population with two dimensions has scores of rows of the target, and needs "
            f"two rows or more, but it has {len(given)}. Class shares have one dimension, such as "
            "[0.8, 0.2]"
        )
    labels, weights = predictions.labels, predictions.sample_weight
    k, n_target = len(labels), len(given)
    others = unlabelled(
        given, labels, predictions.direction, _OF_TARGET, is_turned=predictions.is_turned
    )
    samples = (predictions, others)
    if not predictions.has_scores and not np.isin(others.scores, (0, 1)).all():
        raise ValueError(
            "population has scores of the target, but of the sample there are hard labels "
            "alone: give the scores of both, or columns of 0 and 1 for the target's hard labels"
        )
    if any(no_probabilities(sample) is not None for sample in samples):
        said, of_target = (np.eye(k)[sample.scores.argmax(axis=1)] for sample in samples)
    else:
        said, of_target = map(probabilities_of, samples)
    totals = predictions.class_totals
    if not totals.all():
        absent = [labels[c] for c in np.flatnonzero(totals == 0)]
        raise ValueError(
            f"the shares of a target need rows of all classes, but {listing(absent)} has none"
        )
    means = np.stack([np.bincount(predictions.true, weights * x, k) / totals for x in said.T])
    if np.linalg.cond(means) > _MOST_CONDITION:
        raise ValueError(
            "the scores do not tell the classes apart, so that the shares of a target cannot be "
            "estimated from them: give the shares"
        )
    inverse, observed = np.linalg.inv(means), of_target.mean(axis=0)
    shares = inverse @ observed
    true, weight_in_class = predictions.true, weights / totals[predictions.true]
    influences = -(weight_in_class * shares[true])[:, None] * ((said - means.T[true]) @ inverse.T)
    of_others = (of_target - observed) @ inverse.T / n_target
    errors = np.sqrt((influences**2).sum(axis=0) + (of_others**2).sum(axis=0))
    # At 0 a class would have no weight, and most measures no value
    shares = np.maximum(shares, errors / 2)
    shares /= shares.sum()
    message = None
    if (errors > _LARGE_ERROR * shares).any():
        rows = zip(labels, shares, errors, strict=True)
        text = ", ".join(f"{label} {share:.3g} ({error:.2g})" for label, share, error in rows)
        message = (
            f"the class shares in the target, with their standard errors, are {text}: they are "
            "uncertain, and intervals of what depends on them may cover a few points less than "
            "they state. Take more rows"
        )
    # The class weights divide by the shares
    influences -= np.diag(shares)[true] * weight_in_class[:, None]
    estimated = EstimatedWeights(np.diag(1 / shares)[true], influences, of_others)
    return shares, estimated, message


def _estimated_importance(
    given: Importance, predictions: Predictions, rows: Rows
) -> tuple[PerRow, EstimatedWeights]:
    """Return how much more often rows like these occur in the target, by their features.

    The logarithm of the ratio is that of the odds in a logistic regression which tells rows of the
    target from those of the sample (Bickel, Brückner and Scheffer 2009).
    """
    source = given.weights
    both = [numbers("importance", x) for x in _with_the_same_columns(source, given.target)]
    n = predictions.n_given
    shapes = [x.shape for x in both]
    if any(x.ndim != 2 for x in both) or len(both[0]) != n or shapes[0][1] != shapes[1][1]:
        raise ValueError(
            f"importance must be weights of shape ({n},), or the features of the rows, of shape "
            f"({n}, p), and those of rows of the target, (m, p), but their shapes are {shapes[0]} "
            f"and {shapes[1]}"
        )
    if len(both[1]) < _LEAST_OF_TARGET:
        raise ValueError(
            f"importance needs features of two rows of the target or more, but it has "
            f"{len(both[1])}. Known weights are one array of shape ({n},)"
        )
    if not all(np.isfinite(x).all() for x in both):
        raise ValueError("importance must have finite features")
    both[0], n = rows.arranged(both[0], source, "importance"), predictions.n_observations
    spread = both[0].std(axis=0)
    features = np.concatenate(both) / np.where(spread > 0, spread, 1)
    weights = np.append(predictions.sample_weight, np.ones(len(both[1])))
    is_target = np.arange(len(features)) >= n
    fit = BinaryFit(is_target.astype(float), np.vstack([np.ones(len(features)), features.T]))
    coefficients = fit.fitted(weights)
    chance = fit.predicted(coefficients)
    if not chance[is_target].min() < chance[~is_target].max():  # true for NaN too
        raise ValueError(
            "importance: the features tell rows of the target from those of the sample without "
            "error, or are redundant. No ratio can be estimated: leave features out"
        )
    influences = weights[:, None] * np.stack(
        [fit.pull_back(weights, chance, unit) for unit in np.eye(len(coefficients))[1:]], axis=1
    )
    logs = features[:n] @ coefficients[1:]
    ratio = np.exp(logs - logs.max())
    weighting = EstimatedWeights(features[:n], influences[:n], influences[n:])
    return ratio / ratio.mean(), weighting


def _with_the_same_columns(source: Any, target: Any) -> tuple[Any, Any]:
    """Return the features of both, those of two tables in the order of the first's names."""
    one, other = (columns_of(x, "importance") for x in (source, target))
    if one is None or other is None:
        return source, target
    if set(one) != set(other):
        raise ValueError(
            f"importance has features of other names in the sample, {listing([*one])}, than in the "
            f"target, {listing([*other])}: name them alike, or pass arrays"
        )
    return np.column_stack([*one.values()]), np.column_stack([other[name] for name in one])


def few_rows_message(weights: PerRow, strata: IntPerRow) -> str | None:
    """Say so if few rows carry most of the weight of their strata (Kish's effective sizes)."""
    n, effective = int((weights > 0).sum()), kish_sizes(strata, weights).sum()
    if effective >= max(_SMALL_SHARE * n, min(_FEW, n / 2)):
        return None
    return (
        f"check the weights, which few rows carry: {n:,} rows count as {effective:.0f} of equal "
        "weight. The value rests on these; intervals may be too short"
    )
