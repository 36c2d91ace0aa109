"""Another population than the sample's: other class frequencies, or weights of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.options import number, numbers
from dmfroc._kit.remarks import warn
from dmfroc.inference.options import Options
from dmfroc.inputs.messages import listing
from dmfroc.inputs.predictions import Predictions

_ROUNDING = 1e-6
_FEW = 30  # effective rows
_SMALL_SHARE = 0.1  # of the rows


def in_population(
    predictions: Predictions, options: Options, target_prevalence: Any, importance: Any
) -> tuple[Predictions, Options]:
    """Return predictions with the weights of a population, and how its intervals are made.

    With given class shares the class sizes are fixed: a class counts by its share, however many
    rows it has.
    """
    if importance is not None:
        weights = _importance(importance, predictions.n_observations)
        predictions = predictions.reweighted(predictions.sample_weight * weights)
        warn([few_rows_message(predictions.sample_weight)])
    if target_prevalence is None:
        return predictions, options
    if options.stratify is False:
        raise ValueError("target_prevalence fixes the class shares: leave stratify=False out")
    shares = _shares(target_prevalence, predictions)
    totals = np.bincount(
        predictions.true, predictions.sample_weight, minlength=predictions.n_classes
    )
    factor = np.divide(shares * totals.sum(), totals, out=np.zeros(len(totals)), where=totals > 0)
    weights = predictions.sample_weight * factor[predictions.true]
    return predictions.reweighted(weights), replace(options, stratify=True)


def few_rows_message(weights: Float[np.ndarray, " n"]) -> str | None:
    """Say so if few rows carry most of the weight (Kish's effective sample size)."""
    n = int((weights > 0).sum())
    effective = weights.sum() ** 2 / (weights @ weights)
    if effective >= max(_SMALL_SHARE * n, min(_FEW, n / 2)):
        return None
    return (
        f"few rows carry the weight: {n:,} rows count as {effective:.0f} of equal weight. The "
        "value rests on these; intervals may be too short"
    )


def _importance(given: Any, n: int) -> Float[np.ndarray, " n"]:
    found = numbers("importance", given)
    if found.shape != (n,):
        raise ValueError(f"importance must have shape ({n},), but it has {found.shape}")
    is_wrong = ~((found >= 0) & np.isfinite(found))
    if is_wrong.any() or not found.any():
        row = int(is_wrong.argmax())
        raise ValueError(
            "importance must be finite, not negative, and not 0 everywhere, but row "
            f"{row} (counting from 0) has {found[row]:g}"
        )
    return found / found.mean()


def _shares(given: Any, predictions: Predictions) -> Float[np.ndarray, " k"]:
    """Return the share of each class."""
    labels, k = predictions.labels, predictions.n_classes
    if isinstance(given, Mapping):
        unknown = [label for label in given if label not in labels]
        if unknown:
            raise ValueError(
                f"target_prevalence names {listing(unknown)}, but the classes are {listing(labels)}"
            )
        lacking = [labels[c] for c in predictions.present if labels[c] not in given]
        if len(lacking) == 1 and len(given) == k - 1:
            given = {**given, lacking[0]: 1 - sum(given.values())}
        elif lacking:
            raise ValueError(f"target_prevalence lacks the share of {listing(lacking)}")
        shares = np.array([number("target_prevalence", given.get(x, 0.0)) for x in labels])
    elif isinstance(given, Real) and k == 2:
        positive = number("target_prevalence", given)
        shares = np.array([1 - positive, positive])
    else:
        shares = numbers("target_prevalence", given)
    if shares.shape != (k,) or not (np.isfinite(shares) & (shares >= 0)).all():
        raise ValueError(
            f"target_prevalence must give a share of each of the {k} classes, such as "
            f"{{{labels[0]!r}: 0.99, ...}}, but it is {given!r}"
        )
    if abs(shares.sum() - 1) > _ROUNDING:
        raise ValueError(f"the shares of target_prevalence must add up to 1, not {shares.sum():g}")
    absent = [labels[c] for c in np.flatnonzero((shares > 0) & (predictions.class_counts == 0))]
    if absent:
        raise ValueError(
            f"target_prevalence gives {listing(absent)} a share, but no row has that class: "
            "nothing is known of it"
        )
    if np.count_nonzero(shares) < 2:
        raise ValueError("target_prevalence must give two classes or more a share")
    return shares / shares.sum()
