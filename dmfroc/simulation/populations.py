"""Simulated classifiers of known quality: multinomial-logit data as in papers on ROC analysis.

A `MultinomialPopulation` has fixed coefficients; `MultinomialPopulation.sample` draws covariates
and classes from it, and a `SimulatedClassifier` scores them, seeing all covariates or only the
first few. `simulate_predictions` does both at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypedDict, Unpack, get_args, overload

import numpy as np
from jaxtyping import Float, Int
from scipy.special import softmax
from scipy.stats.qmc import MultivariateNormalQMC

from dmfroc._kit.options import (
    RandomState,
    choice,
    generator_of,
    instance,
    integer,
    nonnegative,
    numbers,
    positive,
    proportion,
)
from dmfroc.inputs.predictions import Predictions

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


@dataclass(frozen=True)
class SimulatedClassifier:
    """A classifier that uses some of the covariates, and may distort its scores.

    Attributes
    ----------
    n_available : int or None
        It uses the first `n_available` covariates; None for all. With 0 it has no information: all
        its scores are equal or, with `noise`, random.
    temperature : float
        The log-scores are divided by it: 1 for calibrated scores, below 1 for overconfident,
        above 1 for underconfident ones.
    noise : float
        Standard deviation of normal noise on the log-scores, >= 0.
    levels : int or None
        Scores are rounded to multiples of ``1 / levels``, which makes ties; None for no rounding.
        Rounded scores need not sum to one.
    """

    n_available: int | None = None
    temperature: float = 1.0
    noise: float = 0.0
    levels: int | None = None

    def __post_init__(self) -> None:
        if self.n_available is not None:
            integer("n_available", self.n_available, 0)
        positive("temperature", self.temperature)
        nonnegative("noise", self.noise)
        if self.levels is not None:
            integer("levels", self.levels, 1)


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
        self,
        covariates: Float[np.ndarray, "n p"],
        classifier: SimulatedClassifier | None = None,
        *,
        noise: Float[np.ndarray, "n k"] | None = None,
    ) -> Float[np.ndarray, "n k"]:
        """Return the class probabilities that a classifier assigns.

        These are the true probabilities given the covariates it sees, as a perfectly fitted model
        would have them: the mean over those it does not see, by quasi-Monte Carlo integration.
        Then noise is added to their logarithms, which are divided by the temperature, and the
        scores that result are rounded.

        Parameters
        ----------
        covariates : numpy.ndarray of shape (n, p)
            All covariates, hidden or not.
        classifier : SimulatedClassifier, optional
            By default one that sees all of them.
        noise : numpy.ndarray of shape (n, K), optional
            Standard normal numbers, needed if the classifier is noisy.

        Returns
        -------
        numpy.ndarray of shape (n, K)
            In [0, 1].
        """
        classifier = classifier or SimulatedClassifier()
        n_available = classifier.n_available
        n_available = self.n_covariates if n_available is None else n_available
        if n_available > self.n_covariates:
            raise ValueError(
                f"n_available is {n_available}, but the population has {self.n_covariates} "
                "covariates"
            )
        seen = covariates[:, :n_available] @ self.coefficients[:n_available]
        log_scores = np.log(self._mean_over_hidden(seen, n_available))
        if classifier.noise > 0:
            if noise is None:
                raise ValueError("noise is missing: the classifier is noisy")
            log_scores += classifier.noise * noise
        scores = softmax(log_scores / classifier.temperature, axis=1)
        levels = classifier.levels
        return scores if levels is None else np.round(scores * levels) / levels

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


class SampleOptions(TypedDict, total=False):
    """Options of `simulate_predictions`, for type checkers."""

    prevalence: Prevalence | None
    skew: int | float | None
    min_class_size: int
    noise_correlation: float
    random_state: RandomState


@overload
def simulate_predictions(
    population: MultinomialPopulation,
    n_observations: int,
    classifiers: SimulatedClassifier | None = None,
    **options: Unpack[SampleOptions],
) -> Predictions: ...


@overload
def simulate_predictions(
    population: MultinomialPopulation,
    n_observations: int,
    classifiers: Mapping[str, SimulatedClassifier],
    **options: Unpack[SampleOptions],
) -> dict[str, Predictions]: ...


def simulate_predictions(
    population: MultinomialPopulation,
    n_observations: int,
    classifiers: SimulatedClassifier | Mapping[str, SimulatedClassifier] | None = None,
    *,
    prevalence: Prevalence | None = None,
    skew: int | float | None = None,
    min_class_size: int = 0,
    noise_correlation: float = 0.0,
    random_state: RandomState = None,
) -> Predictions | dict[str, Predictions]:
    """Draw one sample and score it with one or several simulated classifiers.

    Parameters
    ----------
    population : MultinomialPopulation
        Where the observations come from.
    n_observations : int
        Sample size n.
    classifiers : SimulatedClassifier or mapping of str to SimulatedClassifier, optional
        By default one classifier that sees all covariates. Several classifiers score the same
        observations, and so are correlated: through what both see, and through their noise.
    prevalence, skew, min_class_size
        As in `MultinomialPopulation.sample`.
    noise_correlation : float
        Correlation in [0, 1] of the noise of any two of several classifiers: 1 if all bear the
        same noise.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Source of randomness; the same seed gives the same predictions.

    Returns
    -------
    Predictions or dict of str to Predictions
        With the classes 0 .. K-1 as labels, and a column for each of them, even if one is missing
        from a skewed sample.

    Raises
    ------
    ValueError
        As in `MultinomialPopulation.sample`, or if a classifier sees more covariates than there
        are, or if fewer than two classes occur in the sample.

    Examples
    --------
    >>> population = MultinomialPopulation.random(n_classes=4)
    >>> predictions = simulate_predictions(population, 300, prevalence="balanced", random_state=1)
    >>> predictions
    Predictions(300 observations, 4 classes: 0 75, 1 75, 2 75, 3 75)

    Two classifiers on the same observations:

    >>> pair = simulate_predictions(
    ...     population,
    ...     300,
    ...     {"all": SimulatedClassifier(), "half": SimulatedClassifier(n_available=5)},
    ...     random_state=1,
    ... )
    >>> (pair["all"].true == pair["half"].true).all()
    np.True_
    """
    proportion("noise_correlation", noise_correlation, "[0, 1]")
    generator = generator_of(random_state)
    instance("population", population, MultinomialPopulation)
    several = classifiers if isinstance(classifiers, Mapping) else {"": classifiers}
    for classifier in several.values():
        if classifier is not None:
            instance("each of classifiers", classifier, SimulatedClassifier)
    sample = population.sample(
        n_observations,
        prevalence=prevalence,
        skew=skew,
        min_class_size=min_class_size,
        random_state=generator,
    )
    shape = (n_observations, population.n_classes)
    shared_noise = generator.normal(size=shape)
    own_share, shared_share = np.sqrt(1 - noise_correlation), np.sqrt(noise_correlation)
    predictions = {}
    for name, classifier in several.items():
        noise = own_share * generator.normal(size=shape) + shared_share * shared_noise
        predictions[name] = Predictions.from_arrays(
            sample.classes,
            population.scores(sample.covariates, classifier, noise=noise),
            labels=range(population.n_classes),
        )
    return predictions if isinstance(classifiers, Mapping) else predictions[""]
