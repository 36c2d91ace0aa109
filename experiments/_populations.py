"""Simulated classifiers of known quality: multinomial-logit data as in papers on ROC analysis.

A `MultinomialPopulation` has fixed coefficients; `MultinomialPopulation.sample` draws covariates
and classes from it, and `simulate_predictions` scores them besides by what all covariates, or only
the first few, tell of the classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float, Int
from scipy.special import softmax
from scipy.stats.qmc import MultivariateNormalQMC

from dmfroc import Predictions
from dmfroc.extend import RandomState, choice, generator_of, integer, nonnegative, numbers, positive

LabelRule = Literal["sampled", "argmax"]
Prevalence = Literal["balanced"] | Sequence[float] | Float[np.ndarray, " k"]

_ROWS_PER_DRAW = 1 << 16
_MAX_DRAWS = 1000  # of rows, for a class that hardly ever occurs
_ROWS_AT_ONCE = 1 << 13
_HIDDEN_POINTS = 256
# The most probable class jumps from point to point; its probability should not.
_SMOOTHING = 0.15
_LEAST_SMOOTHING = 1e-6  # nothing hidden and nothing left to chance: scores of 0 and 1
_LEAST_LOG_ODDS = -300.0  # twice that is still no zero


class MultinomialSample(NamedTuple):
    """Covariates of shape (n, p), standard normal in the population, and classes 0 .. K-1."""

    covariates: Float[np.ndarray, "n p"]
    classes: Int[np.ndarray, " n"]


@dataclass(frozen=True, eq=False)
class MultinomialPopulation:
    """A multinomial logit model with independent standard normal covariates.

    Attributes
    ----------
    coefficients : numpy.ndarray of shape (p, K)
        The logit of class k is the inner product of the covariates with column k.
    label_rule : {"sampled", "argmax"}
        Whether a class is drawn with the probabilities of the model, or is the most probable
        class. With ``"argmax"`` a classifier that sees all covariates is perfect.

    References
    ----------
    Wang and Carvalho (2024), Multiclass ROC, section 5.1, equations 27 and 28.

    Examples
    --------
    >>> population = MultinomialPopulation.random(n_classes=3, random_state=1)
    >>> covariates, classes = population.sample(1000, random_state=2)
    >>> covariates.shape, classes.shape
    ((1000, 10), (1000,))
    """

    coefficients: Float[np.ndarray, "p k"]
    label_rule: LabelRule = "sampled"

    def __post_init__(self) -> None:
        if self.coefficients.ndim != 2 or self.coefficients.shape[1] < 2:
            raise ValueError(
                "coefficients must have one row per covariate and one column per class, at least "
                f"two, but their shape is {self.coefficients.shape}"
            )
        choice("label_rule", self.label_rule, get_args(LabelRule))

    @classmethod
    def random(
        cls,
        n_classes: int,
        n_covariates: int = 10,
        *,
        strength: float = 1.0,
        label_rule: LabelRule = "sampled",
        random_state: RandomState = 0,
    ) -> MultinomialPopulation:
        """Draw the coefficients from the normal distribution.

        Parameters
        ----------
        n_classes, n_covariates : int
            K >= 2 and p >= 1.
        strength : float
            Standard deviation of the coefficients: 0 for classes that nothing predicts.
        label_rule : {"sampled", "argmax"}
            As in the class.
        random_state : int, numpy.random.Generator, key of jax.random or None
            Seed of the coefficients. Keep it fixed over the replications of a study, so that
            all samples come from one population.

        Returns
        -------
        MultinomialPopulation
            With coefficients of shape (p, K).

        Raises
        ------
        TypeError, ValueError
            If an option is out of its range.
        """
        generator = generator_of(random_state)
        n_classes = integer("n_classes", n_classes, 2)
        n_covariates = integer("n_covariates", n_covariates, 1)
        strength = nonnegative("strength", strength)
        coefficients = strength * generator.normal(size=(n_covariates, n_classes))
        return cls(coefficients, label_rule)

    @property
    def n_covariates(self) -> int:
        """Number of covariates, p."""
        return len(self.coefficients)

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        return self.coefficients.shape[1]

    def sample(
        self,
        n_observations: int,
        *,
        prevalence: Prevalence | None = None,
        skew: int | float | None = None,
        min_class_size: int = 0,
        random_state: RandomState = None,
    ) -> MultinomialSample:
        """Draw independent observations, from the population or with other class frequencies.

        Parameters
        ----------
        n_observations : int
            Sample size n.
        prevalence : "balanced" or array-like of shape (K,), optional
            Class sizes are multinomial with these probabilities, or as equal as n allows. Given
            its class an observation is distributed as in the population: nothing is drawn twice.
            By default classes are as frequent as they are in the population.
        skew : float, optional
            Draw the prevalence from a symmetric Dirichlet distribution with this concentration:
            large values give balanced classes, 1 any prevalence with equal probability, small
            values one or two dominant classes.
        min_class_size : int
            Least size of each class when `prevalence` or `skew` is given; what smaller classes
            lack is taken from the largest.
        random_state : int, numpy.random.Generator, key of jax.random or None
            Source of randomness; the same seed gives the same sample.

        Returns
        -------
        MultinomialSample
            Covariates and classes, in random order.

        Raises
        ------
        ValueError
            If an option is out of its range, both `prevalence` and `skew` are given, or a class
            is so rare in the population that it cannot be drawn.
        """
        generator = generator_of(random_state)
        n_observations = integer("n_observations", n_observations, 1)
        min_class_size = integer("min_class_size", min_class_size, 0)
        if prevalence is None and skew is None:
            if min_class_size:
                raise ValueError("min_class_size needs prevalence or skew")
            return self._draw(n_observations, generator)
        sizes = self._class_sizes(n_observations, prevalence, skew, generator)
        if min_class_size * self.n_classes > n_observations:
            raise ValueError(
                f"min_class_size {min_class_size} is too large for {n_observations} observations "
                f"of {self.n_classes} classes"
            )
        while sizes.min() < min_class_size:  # at the cost of the largest
            sizes[sizes.argmax()] -= 1
            sizes[sizes.argmin()] += 1
        return self._draw_classes(sizes, generator)

    def scores(
        self, covariates: Float[np.ndarray, "n p"], n_available: int | None = None
    ) -> Float[np.ndarray, "n k"]:
        """Return the probabilities of the classes given the first `n_available` covariates, or all.

        They are those of a perfectly fitted model: the mean over the covariates that it does not
        see, by quasi-Monte Carlo integration.
        """
        n_available = self.n_covariates if n_available is None else n_available
        if n_available > self.n_covariates:
            raise ValueError(
                f"n_available is {n_available}, but the population has {self.n_covariates} "
                "covariates"
            )
        seen = covariates[:, :n_available] @ self.coefficients[:n_available]
        return softmax(np.log(self._mean_over_hidden(seen, n_available)), axis=1)

    def _mean_over_hidden(
        self, seen: Float[np.ndarray, "n k"], n_available: int
    ) -> Float[np.ndarray, "n k"]:
        """Return the class probabilities given the logits of the covariates that are seen.

        The logits of the hidden covariates are evaluated at evenly spread points. Up to a factor
        the probability of class k is ``exp(seen_k) * exp(hidden_k)``, so that normalising for every
        point and averaging are two matrix products.
        """
        hidden = self.coefficients[n_available:]
        logits = np.zeros((1, self.n_classes))
        if len(hidden) > 0:
            # The differences between the logits have rank K - 1 or less, for any number of rows.
            contrasts = hidden - hidden.mean(axis=1, keepdims=True)
            _, singular_values, directions = np.linalg.svd(contrasts, full_matrices=False)
            rank = min(len(hidden), self.n_classes - 1)
            points = MultivariateNormalQMC(np.zeros(rank), rng=0).random(_HIDDEN_POINTS)
            logits = (points * singular_values[:rank]) @ directions[:rank]
        scale = 1.0
        if self.label_rule == "argmax":
            spread = float(np.sqrt(2 * logits.var(axis=0).mean()))
            scale = max(_SMOOTHING * spread, _LEAST_SMOOTHING)
        odds_hidden = _odds(logits / scale)
        probabilities = np.empty_like(seen)
        for first in range(0, len(seen), _ROWS_AT_ONCE):
            rows = slice(first, first + _ROWS_AT_ONCE)
            odds = _odds(seen[rows] / scale)
            probabilities[rows] = odds * ((1 / (odds @ odds_hidden.T)) @ odds_hidden)
        return probabilities / len(logits)

    def _draw(self, n: int, generator: np.random.Generator) -> MultinomialSample:
        covariates = generator.normal(size=(n, self.n_covariates))
        logits = covariates @ self.coefficients
        if self.label_rule == "sampled":
            logits += generator.gumbel(size=logits.shape)  # its maximum is multinomial
        return MultinomialSample(covariates, logits.argmax(axis=1))

    def _class_sizes(
        self,
        n: int,
        prevalence: Prevalence | None,
        skew: int | float | None,
        generator: np.random.Generator,
    ) -> Int[np.ndarray, " k"]:
        k = self.n_classes
        if skew is not None:
            if prevalence is not None:
                raise ValueError("give either prevalence or skew, not both")
            shares = generator.dirichlet(np.full(k, positive("skew", skew)))
            return generator.multinomial(n, shares)
        if isinstance(prevalence, str):
            if prevalence != "balanced":
                raise ValueError(
                    f"prevalence must be 'balanced' or {k} numbers, but it is {prevalence!r}"
                )
            return n // k + (generator.permutation(k) < n % k)
        shares = numbers("prevalence", prevalence)
        if shares.shape != (k,) or not (np.isfinite(shares).all() and (shares >= 0).all()):
            raise ValueError(
                f"prevalence must hold {k} finite numbers >= 0, one per class, but it is "
                f"{prevalence!r}"
            )
        if shares.sum() == 0:
            raise ValueError("prevalence is 0 for every class")
        return generator.multinomial(n, shares / shares.sum())

    def _draw_classes(
        self, sizes: Int[np.ndarray, " k"], generator: np.random.Generator
    ) -> MultinomialSample:
        """Draw from the population until each class has its size; keep the first of each."""
        covariates = np.empty((sizes.sum(), self.n_covariates))
        classes = np.repeat(np.arange(self.n_classes), sizes)
        first_free, stops = np.cumsum(sizes) - sizes, np.cumsum(sizes)
        n_rows = min(int(2 * sizes.max() * self.n_classes), _ROWS_PER_DRAW)
        for _ in range(_MAX_DRAWS):
            drawn = self._draw(n_rows, generator)
            for k in np.flatnonzero(first_free < stops):
                rows = drawn.covariates[drawn.classes == k][: stops[k] - first_free[k]]
                covariates[first_free[k] : first_free[k] + len(rows)] = rows
                first_free[k] += len(rows)
            if (first_free == stops).all():
                order = generator.permutation(len(classes))
                return MultinomialSample(covariates[order], classes[order])
        missing = int(np.argmax(stops - first_free))
        raise ValueError(
            f"class {missing} hardly ever occurs in this population: {_MAX_DRAWS * n_rows:,} rows "
            f"held too few of it for a sample of {sizes[missing]}; ask for fewer, or use a "
            "population with a smaller strength"
        )


def _odds(logits: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
    """Return the odds against the largest class of each row; none is zero."""
    relative = logits - logits.max(axis=1, keepdims=True)
    return np.exp(np.maximum(relative, _LEAST_LOG_ODDS))


def simulate_predictions(
    population: MultinomialPopulation,
    n_observations: int,
    n_available: int | None = None,
    **options: Any,
) -> Predictions:
    """Draw a sample and score it by what the first `n_available` covariates tell of the classes.

    The options are those of `MultinomialPopulation.sample`. Labels are 0 .. K-1, with a column for
    each of them, even if one is missing from a skewed sample.
    """
    covariates, classes = population.sample(n_observations, **options)
    scores = population.scores(covariates, n_available)
    return Predictions.from_arrays(classes, scores, labels=range(population.n_classes))
