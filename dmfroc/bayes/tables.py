"""Posterior of measures of hard labels, evaluated at Dirichlet draws of the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args

import arviz_base
import numpy as np
from jaxtyping import Float

from dmfroc._kit.options import check_level, choice, positive, refuse
from dmfroc._kit.threads import interruptible
from dmfroc.bayes.posterior import MOST_LIKELIHOODS, Posterior, check_size, summarize
from dmfroc.inference.remarks import few_decide_message, few_units_message
from dmfroc.inference.units import kish_sizes, units_of
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.measure import (
    Measure,
    absent_classes_message,
    sample_message,
    warn_of_absent_classes,
)
from dmfroc.measures.statistics.confusion import ConfusionMatrix, confusion_counts

_FEW_ERRORS = 5.0  # below, intervals cover 86 to 95 % where they say 95 %
_LEAST_SHARE = 1e-300
ALTERNATIVES = "use method='bayesian_bootstrap', a posterior without a model, or method='jackknife'"
Given = Literal["class_sizes", "nothing"]


def table_posterior(
    measure: Measure,
    predictions: Predictions,
    given: Given = "nothing",
    pseudo_count: float | int | None = None,
    size: tuple[int, int] = (4, 1000),
    level: float = 0.95,
    seed: int = 0,
) -> Posterior:
    """Return the posterior of a measure of hard labels, see `dmfroc.bayes.bayesian_table`.

    ``size`` is the number of chains, and of draws per chain.
    """
    predictions = (predictions.as_given if measure.in_given_order else predictions).counted
    warn_of_absent_classes(predictions)
    if measure.statistic is not confusion_counts:
        raise ValueError(
            f"{measure.name} has no posterior. There are posteriors of functions of the table of "
            "hard labels, of the areas of the pairs, of the multiclass curve, and of one-vs-rest "
            f"curves with straight lines between their points; {ALTERNATIVES}"
        )
    refuse(measure.name, measure.obstacle(predictions))
    choice("given", given, get_args(Given))
    if pseudo_count is None:
        cells_of_errors = predictions.n_classes * (predictions.n_classes - 1)
        pseudo_count = 1 / max(cells_of_errors, 1)  # one error in the whole table
    positive("pseudo_count", pseudo_count)
    level = check_level(level)
    check_size(n_chains=size[0], n_draws=size[1])
    generator = np.random.default_rng(seed)
    tables, groups = _draw_tables(predictions, given, pseudo_count, size, generator)
    assert measure.summary is not None
    labels: list[Any] = list(predictions.labels)
    matrices = (
        ConfusionMatrix(x, predictions.labels) for x in tables.reshape(-1, *tables.shape[2:])
    )
    values = np.reshape([measure.summary(matrix, np) for matrix in matrices], size)
    posterior = arviz_base.from_dict(
        {"posterior": {measure.name: values, "table": tables}, **groups},
        dims={"table": ["predicted", "class"], "observations": ["observation"]},
        coords={"predicted": labels, "class": labels},
    )
    general = absent_classes_message(predictions), sample_message(predictions)
    remarks = filter(None, [*general, *_warnings(measure, predictions)])
    return summarize(measure.name, measure.title, posterior, level, seed, remarks)


def _warnings(measure: Measure, predictions: Predictions) -> Iterator[str | None]:
    """Yield what the prior decides: the rates of small classes, and how rare unseen errors are."""
    weights = predictions.sample_weight
    share = weights @ (predictions.predicted != predictions.true) / weights.sum()
    if share * weights.sum() ** 2 / (weights @ weights) < _FEW_ERRORS:
        yield few_decide_message("ten points below")
    if not measure.interval.is_unbiased:
        yield few_units_message(
            units_of(predictions), "the posterior of a table, whose intervals are too narrow"
        )


@interruptible
def _draw_tables(
    predictions: Predictions,
    given: Given,
    pseudo_count: float | int,
    size: tuple[int, int],
    generator: np.random.Generator,
) -> tuple[Float[np.ndarray, "chain draw k k"], dict[str, dict[str, np.ndarray]]]:
    """Draw tables of proportions, predicted classes in the rows; return densities for ArviZ, too.

    The log-likelihood is that of each observation, unless these would be too many numbers.
    """
    n_classes, present = predictions.n_classes, predictions.present
    true, weights = predictions.true, predictions.sample_weight
    assert predictions.predicted is not None
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (predictions.predicted, true), weights)
    sizes = kish_sizes(true, weights, n_classes)
    counts *= sizes / np.maximum(counts.sum(axis=0), 1e-300)
    concentration = counts[:, present] + pseudo_count
    shares = np.bincount(true, weights, minlength=n_classes)[present] / weights.sum()
    columns = [generator.dirichlet(alpha, size) for alpha in concentration.T]
    within = np.maximum(np.stack(columns, axis=-1), _LEAST_SHARE)
    log_prior = (pseudo_count - 1) * np.log(within).sum(axis=(-2, -1))
    log_cells = np.log(within)
    if given == "nothing":
        n_effective = weights.sum() ** 2 / (weights @ weights)
        shares = generator.dirichlet(n_effective * shares + n_classes * pseudo_count, size)
        log_prior += (n_classes * pseudo_count - 1) * np.log(shares).sum(axis=-1)
        log_cells += np.log(shares)[..., None, :]
    tables = np.zeros((*size, n_classes, n_classes))
    tables[..., present] = np.stack(columns, axis=-1) * shares[..., None, :]
    groups = {"log_prior": {"parameters": log_prior}}
    if log_prior.size * len(true) <= MOST_LIKELIHOODS:
        place = np.searchsorted(present, true)
        power = weights * (sizes / np.bincount(true, weights, n_classes).clip(1e-300))[true]
        of_observations = power * log_cells[..., predictions.predicted, place]
        groups["log_likelihood"] = {"observations": of_observations}
    return tables, groups
