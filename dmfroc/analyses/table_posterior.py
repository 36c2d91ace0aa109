"""The posterior of measures of hard labels, by their names."""

from __future__ import annotations

from typing import Any

from dmfroc._kit.options import RandomState, seed_of
from dmfroc.analyses.catalogue import get_measure
from dmfroc.bayes.posterior import Posterior
from dmfroc.bayes.tables import Given, table_posterior
from dmfroc.inputs.arguments import as_predictions
from dmfroc.measures.measure import Measure


def bayesian_table(
    measure: str | Measure,
    y_true: Any,
    y_score: Any = None,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    y_pred: Any = None,
    given: Given = "nothing",
    pseudo_count: float | int | None = None,
    n_chains: int = 4,
    n_draws: int = 1000,
    level: float = 0.95,
    random_state: RandomState = 0,
) -> Posterior:
    """Return the posterior of a measure of hard labels.

    What is predicted for the members of a class is multinomial, with a Dirichlet prior that is
    conjugate. So the posterior of the table of predicted against observed classes is drawn exactly,
    without Markov chains, and each draw is passed through the measure.

    Parameters
    ----------
    measure : str or Measure
        A measure of hard labels, such as ``"informedness"``.
    y_true, y_score, labels, sample_weight, y_pred
        As for `Predictions.from_arrays`. Weighted classes count for as many observations as
        Kish's effective size says.
    given : {"nothing", "class_sizes"}
        Whether the class proportions are unknown, as for the jackknife, so that all cells of the
        table share one Dirichlet distribution, or those of the sample, if you chose them.
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
    random_state : int, numpy.random.Generator, key of jax.random or None
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
    >>> from dmfroc import Predictions
    >>> predictions = Predictions.from_labels(list("aaabbbccc"), list("aaabbaccc"))
    >>> bayesian_table("informedness", predictions)
    Posterior(informedness: 0.7356, 95 % interval 0.3415 to 0.9567, 4000 draws)
    """
    measure = get_measure(measure)
    predictions = as_predictions(
        y_true,
        y_score,
        labels=labels,
        sample_weight=sample_weight,
        y_pred=y_pred,
        needs=measure.needs,
    )
    seed = seed_of(random_state)
    return table_posterior(
        measure, predictions, given, pseudo_count, (n_chains, n_draws), level, seed
    )
