"""Posterior of measures of hard labels: Dirichlet draws of the table, pushed through them."""

from __future__ import annotations

from typing import Any, Literal, get_args

import arviz
import numpy as np
from jaxtyping import Float, Int

from dmfroc._kit.options import is_one_of, positive
from dmfroc._kit.threads import interruptible
from dmfroc.analyses.catalogue import get_measure
from dmfroc.bayes.options import check_size, effective_sizes
from dmfroc.bayes.posterior import Posterior, summarize
from dmfroc.inference.level import check_level
from dmfroc.inference.seed import seed_of
from dmfroc.inputs.predictions import Predictions, as_predictions
from dmfroc.measures.measure import Measure, absent_classes_message, warn_of_absent_classes
from dmfroc.measures.statistics.confusion import ConfusionMatrix, confusion_counts

ALTERNATIVES = "use method='bayesian_bootstrap', a posterior without a model, or method='jackknife'"
Given = Literal["class_sizes", "nothing"]


def bayesian_table(
    measure: str | Measure,
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    y_pred: Any = None,
    given: Given = "class_sizes",
    pseudo_count: float | int | None = None,
    n_chains: int = 4,
    n_draws: int = 1000,
    level: float = 0.95,
    random_state: int | np.random.Generator = 0,
) -> Posterior:
    """Return the posterior of a measure of hard labels.

    What is predicted for the members of a class is multinomial, with a Dirichlet prior that is
    conjugate: the posterior of the table of predicted against observed classes is drawn exactly,
    without Markov chains, and each draw is passed through the measure.

    Parameters
    ----------
    measure : str or Measure
        A measure of hard labels, such as ``"informedness"``.
    y_true, y_score, labels, sample_weight, y_pred
        As for `Predictions.from_arrays`. Weighted classes count for as many observations as
        Kish's effective size says.
    given : {"class_sizes", "nothing"}
        Whether the class proportions are those of the sample, as for the jackknife, or unknown
        too: then all cells of the table share one Dirichlet distribution.
    pseudo_count : float, optional
        Prior observations per cell. By default 1/(K (K - 1)), one error in the whole table, which
        for two classes is Jeffreys' 1/2. What it adds to the errors adds up over the classes: with
        one observation per class the posterior of a near-perfect classifier of many classes is far
        below what is true. With 1 the prior is uniform, and strong where classes are many and
        small.
    n_chains, n_draws : int
        Draws come in chains, as those of a sampler do, but are independent.
    level : float
        Posterior probability of the interval, in (0, 1).
    random_state : int or numpy.random.Generator
        Seed of the draws.

    Returns
    -------
    Posterior
        With the variables ``table`` (chain, draw, predicted, class; proportions that sum to one)
        and the measure's name. Classes without observations have no draws but zeros.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, an option is out of its range,
        or the measure is not one of hard labels.

    References
    ----------
    Berger, Bernardo and Sun (2015), Overall objective priors; Goutte and Gaussier (2005), A
    probabilistic interpretation of precision, recall and F-score.

    Examples
    --------
    >>> predictions = Predictions.from_labels(list("aaabbbccc"), list("aaabbaccc"))
    >>> bayesian_table("informedness", predictions)
    Posterior(informedness: 0.7401, 95 % interval 0.4033 to 0.9523, 4000 draws)
    """
    measure = get_measure(measure)
    predictions = as_predictions(
        y_true,
        y_score,
        labels=labels,
        sample_weight=sample_weight,
        y_pred=y_pred,
        needs=measure.needs,
    ).counted
    warn_of_absent_classes(predictions)
    predicted = _hard_labels(measure, predictions)
    _check(given, pseudo_count)
    level = check_level(level)
    check_size(n_chains=n_chains, n_draws=n_draws)
    seed = seed_of(random_state)
    tables = _draw_tables(
        predictions,
        predicted,
        given,
        _one_error(predictions.n_classes) if pseudo_count is None else pseudo_count,
        (n_chains, n_draws),
        np.random.default_rng(seed),
    )
    labels = list(predictions.labels)
    posterior = arviz.from_dict(
        {"posterior": {measure.name: _values(measure, tables), "table": tables}},
        dims={"table": ["predicted", "class"]},
        coords={"predicted": labels, "class": labels},
    )
    absent = absent_classes_message(predictions)
    remarks = [] if absent is None else [absent]
    return summarize(measure.name, measure.title, measure.name, posterior, level, seed, remarks)


def _one_error(n_classes: int) -> float:
    """Return the pseudo-count of which the cells off the diagonal have one together."""
    return 1 / max(n_classes * (n_classes - 1), 1)


def _hard_labels(measure: Measure, predictions: Predictions) -> Int[np.ndarray, " n"]:
    if measure.statistic is not confusion_counts:
        raise ValueError(
            f"{measure.name} has no posterior: it is no function of the table of hard labels, of "
            "the areas of the pairs, of the multiclass curve, or of straight lines between the "
            f"points of the curves of one class against the rest; {ALTERNATIVES}"
        )
    obstacle = measure.obstacle(predictions)
    if obstacle is not None:
        raise ValueError(f"{measure.name} {obstacle}")
    assert predictions.predicted is not None
    return predictions.predicted


def _check(given: str, pseudo_count: float | int | None) -> None:
    if not is_one_of(given, get_args(Given)):
        raise ValueError(f"given must be one of {get_args(Given)}, but it is {given!r}")
    if pseudo_count is not None:
        positive("pseudo_count", pseudo_count)


@interruptible
def _draw_tables(
    predictions: Predictions,
    predicted: Int[np.ndarray, " n"],
    given: Given,
    pseudo_count: float | int,
    size: tuple[int, int],
    generator: np.random.Generator,
) -> Float[np.ndarray, "chain draw k k"]:
    """Draw tables of proportions, predicted classes in the rows."""
    n_classes, present = predictions.n_classes, predictions.present
    true, weights = predictions.true, predictions.sample_weight
    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (predicted, true), weights)
    counts *= effective_sizes(predictions) / np.maximum(counts.sum(axis=0), 1e-300)
    concentration = counts[:, present] + pseudo_count
    tables = np.zeros((*size, n_classes, n_classes))
    if given == "nothing":
        cells = generator.dirichlet(concentration.ravel(), size)
        tables[..., present] = cells.reshape(*size, *concentration.shape)
    else:
        proportions = np.bincount(true, weights, minlength=n_classes) / weights.sum()
        for column, alpha in zip(present, concentration.T, strict=True):
            tables[..., column] = proportions[column] * generator.dirichlet(alpha, size)
    return tables


def _values(
    measure: Measure, tables: Float[np.ndarray, "chain draw k k"]
) -> Float[np.ndarray, "chain draw"]:
    """Pass tables through the measure's summary."""
    assert measure.summary is not None
    matrices = map(ConfusionMatrix, tables.reshape(-1, *tables.shape[2:]))
    values = np.array([measure.summary(matrix, np) for matrix in matrices])
    return values.reshape(tables.shape[:2])
