"""Paired comparison of classifiers: which one is better, and how sure that is."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from dmfroc._tables import decimals, format_probability, format_table
from dmfroc.measures import get_measure
from dmfroc.measures.base import Measure, caveats, warn
from dmfroc.predictions import Predictions
from dmfroc.uncertainty.estimate import (
    Estimate,
    Method,
    check_options,
    influences,
    jackknife_estimate,
)
from dmfroc.uncertainty.jackknife import (
    class_moments,
    interval,
    probability_positive,
    spread,
    standard_error,
    two_sided_p_value,
)

if TYPE_CHECKING:
    import pandas as pd

_N_DRAWS = 100_000


@dataclass(frozen=True)
class Difference:
    """How the first classifier differs from the second.

    Attributes
    ----------
    first, second : str
        Names of the classifiers.
    value, standard_error : float
        Value of the first minus that of the second, and its standard error.
    interval : tuple of float
        Lower and upper end.
    p_value : float
        Two-sided, of no difference; 1 for identical classifiers.
    probability_better : float
        Probability that the first is truly better (where the measure is an error, smaller); 1/2
        if nothing speaks for either.
    """

    first: str
    second: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    p_value: float
    probability_better: float


@dataclass(frozen=True)
class Comparison:
    """Several classifiers on the same observations.

    Attributes
    ----------
    measure : str
        Name of the measure.
    estimates : dict of str to Estimate
        Each classifier's own value and interval.
    differences : tuple of Difference
        One for every two classifiers, in the order in which they were given.
    order_probabilities : dict of tuple of str to float
        Probability of each order of the classifiers, best first; the most probable first. Orders
        with a probability below about 1e-5 are left out.
    level : float
        Nominal coverage of all intervals, each taken alone.
    method : str
        How the uncertainty was obtained.
    n_draws, seed : int
        Draws from the joint distribution behind `order_probabilities`, and their seed.
    """

    measure: str
    estimates: dict[str, Estimate]
    differences: tuple[Difference, ...]
    order_probabilities: dict[tuple[str, ...], float]
    level: float
    method: str
    n_draws: int
    seed: int | None

    @property
    def probability_better(self) -> dict[tuple[str, str], float]:
        """Probability that the first of two classifiers is better, for every ordered pair."""
        forward = {(d.first, d.second): d.probability_better for d in self.differences}
        backward = {(b, a): 1 - probability for (a, b), probability in forward.items()}
        return forward | backward

    def to_pandas(self) -> pd.DataFrame:
        """Return the differences as a table, one row for every two classifiers."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "first": d.first,
                    "second": d.second,
                    "difference": d.value,
                    "standard_error": d.standard_error,
                    "low": d.interval[0],
                    "high": d.interval[1],
                    "p_value": d.p_value,
                    "probability_better": d.probability_better,
                }
                for d in self.differences
            ]
        )

    def __str__(self) -> str:
        percent = f"{100 * self.level:g} %"
        estimates = format_table(
            ["classifier", self.measure, f"{percent} interval"],
            [
                [
                    name,
                    f"{e.value:.{digits}f}",
                    f"{e.interval[0]:.{digits}f} to {e.interval[1]:.{digits}f}",
                ]
                for name, e in self.estimates.items()
                for digits in [decimals(e.standard_error)]
            ],
        )
        differences = format_table(
            ["A", "B", "A - B", f"{percent} interval", "p-value", "P(A > B)"],
            [
                [
                    d.first,
                    d.second,
                    f"{d.value:+.{digits}f}",
                    f"{d.interval[0]:+.{digits}f} to {d.interval[1]:+.{digits}f}",
                    f"{d.p_value:.2g}",
                    format_probability(d.probability_better),
                ]
                for d in self.differences
                for digits in [decimals(d.standard_error)]
            ],
        )
        orders = format_table(
            ["order, best first", "probability"],
            [
                [" > ".join(order), format_probability(probability)]
                for order, probability in itertools.islice(self.order_probabilities.items(), 10)
            ],
        )
        return "\n\n".join([estimates, differences, orders])


def compare(
    y_true: Any,
    y_scores: Mapping[str, Any] | None = None,
    measure: str | Measure = "dmf_auc",
    *,
    method: Method = "jackknife",
    level: float = 0.95,
    labels: Any = None,
    sample_weight: Any = None,
    random_state: int | np.random.Generator | None = 0,
) -> Comparison:
    """Compare any number of classifiers on the same observations.

    Parameters
    ----------
    y_true : array-like of shape (n,), or dict of str to Predictions
        Observed classes; or finished predictions by name of the classifier, of the same
        observations in the same order.
    y_scores : dict of str to array-like or table of shape (n, K), or (n,) for K = 2
        Each classifier's scores, by its name.
    measure : str or Measure
        What to compare, see `estimate`.
    method : {"jackknife"}
        Infinitesimal jackknife: influences of the same observations are subtracted.
    level : float
        Nominal coverage of the intervals, in (0, 1).
    labels, sample_weight
        As for `Predictions.from_arrays`.
    random_state : int, numpy.random.Generator or None
        Seed of the draws behind the probabilities of the orders.

    Returns
    -------
    Comparison
        p-values and intervals are those of single comparisons.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two classifiers, if they were not evaluated on the same
        observations, if the measure has no finite value for one of them, or as for `estimate`.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988) for M with two classes; Wang and Carvalho (2024),
    Table 1, for the probabilities of the orders.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> y = rng.integers(3, size=300)
    >>> good = rng.normal(size=(300, 3)) + 2 * np.eye(3)[y]
    >>> poor = rng.normal(size=(300, 3)) + np.eye(3)[y]
    >>> result = compare(y, {"good": good, "poor": poor}, "hand_till")
    >>> result.differences[0].p_value < 1e-6
    True
    """
    measure = get_measure(measure)
    check_options(method, level)
    predictions = _same_observations(_named_predictions(y_true, y_scores, labels, sample_weight))
    shared = next(iter(predictions.values()))
    remarks = (remark for p in predictions.values() for remark in caveats([measure], p))
    warn(dict.fromkeys(remarks))
    found = {name: influences(measure, p) for name, p in predictions.items()}
    for name, of_classifier in found.items():
        if not np.isfinite(of_classifier.values):
            raise ValueError(
                f"{measure.name} is {of_classifier.values} for {name!r}, which cannot be compared: "
                "choose another measure"
            )
    low, high = measure.bounds
    sign = 1 if measure.greater_is_better else -1
    differences = []
    degrees_of_freedom = []
    for first, second in itertools.combinations(predictions, 2):
        value = float(found[first].values - found[second].values)
        influence = found[first].influences - found[second].influences
        moments = class_moments(influence, shared)
        ends = interval(value, moments, level, (low - high, high - low), symmetric_on_line=False)
        degrees_of_freedom.append(spread(moments).degrees_of_freedom)
        differences.append(
            Difference(
                first=first,
                second=second,
                value=value,
                standard_error=standard_error(moments),
                interval=(ends.low, ends.high),
                p_value=two_sided_p_value(value, moments),
                probability_better=probability_positive(sign * value, moments),
            )
        )
    return Comparison(
        measure=measure.name,
        estimates={
            name: jackknife_estimate(measure, predictions[name], found[name], level)
            for name in predictions
        },
        differences=tuple(differences),
        order_probabilities=_order_probabilities(
            tuple(predictions),
            sign * np.array([float(f.values) for f in found.values()]),
            _joint_covariance(np.stack([f.influences for f in found.values()]), shared),
            min(degrees_of_freedom),
            np.random.default_rng(random_state),
        ),
        level=level,
        method=method,
        n_draws=_N_DRAWS,
        seed=random_state if isinstance(random_state, int) else None,
    )


def _named_predictions(
    y_true: Any, y_scores: Mapping[str, Any] | None, labels: Any, sample_weight: Any
) -> dict[str, Predictions]:
    if isinstance(y_true, Mapping) and y_scores is None:
        named = dict(y_true)
        for name, value in named.items():
            if not isinstance(value, Predictions):
                raise TypeError(
                    f"y_true as a dict must hold Predictions, but {name!r} is a "
                    f"{type(value).__name__}; for arrays pass y_true and a dict of scores"
                )
    elif isinstance(y_scores, Mapping):
        named = {
            name: Predictions.from_arrays(
                y_true, scores, labels=labels, sample_weight=sample_weight
            )
            for name, scores in y_scores.items()
        }
    else:
        raise TypeError(
            "y_scores must be a dict of scores by name of the classifier, but it is a "
            f"{type(y_scores).__name__}"
        )
    if len(named) < 2:
        raise ValueError(f"at least two classifiers are needed, but there are {len(named)}")
    return named


def _same_observations(named: dict[str, Predictions]) -> dict[str, Predictions]:
    """Refuse classifiers whose classes, observed labels or weights differ."""
    (first_name, first), *others = named.items()
    for name, other in others:
        if other.labels != first.labels:
            raise ValueError(
                f"{first_name!r} has the classes {list(first.labels)} and {name!r} has "
                f"{list(other.labels)}: give both the same labels="
            )
        if len(other.true) != len(first.true):
            raise ValueError(
                f"{first_name!r} has {len(first.true)} observations and {name!r} has "
                f"{len(other.true)}: a paired comparison needs the same observations"
            )
        for what, a, b in (
            ("observed classes", first.true, other.true),
            ("weights", first.sample_weight, other.sample_weight),
        ):
            if not np.array_equal(a, b):
                row = int(np.flatnonzero(a != b)[0])
                raise ValueError(
                    f"the {what} of {first_name!r} and {name!r} differ, first in row {row} "
                    "(counting from 0): a paired comparison needs the same observations in the "
                    "same order"
                )
    return named


def _joint_covariance(
    influences: Float[np.ndarray, "m n"], predictions: Predictions
) -> Float[np.ndarray, "m m"]:
    """Return the covariance of the classifiers' values, with `spread`'s care for rare classes."""
    sizes = predictions.class_counts
    scaled = influences * sizes[predictions.true]
    squares = []
    for present in predictions.present:
        of_class = scaled[:, predictions.true == present]
        centred = of_class - of_class.mean(axis=1, keepdims=True)
        squares.append(centred @ centred.T)
    sums, sizes = np.stack(squares), sizes[predictions.present]
    pooled = sums.sum(axis=0) / np.maximum((sizes - 1).sum(), 1)
    return ((sums + pooled) / sizes[:, None, None] ** 2).sum(axis=0)


def _order_probabilities(
    names: tuple[str, ...],
    values: Float[np.ndarray, " m"],
    covariance: Float[np.ndarray, "m m"],
    degrees_of_freedom: float,
    generator: np.random.Generator,
) -> dict[tuple[str, ...], float]:
    """Count the orders in draws from the joint t distribution of the classifiers' values."""
    noise = generator.multivariate_normal(
        np.zeros(len(values)), covariance, size=_N_DRAWS, method="eigh"
    )
    if np.isfinite(degrees_of_freedom):
        mixing = generator.chisquare(degrees_of_freedom, size=(_N_DRAWS, 1)) / degrees_of_freedom
        noise /= np.sqrt(mixing)
    # Classifiers that do not differ at all are put in a random order, not in that of their names.
    jitter = generator.uniform(-1e-12, 1e-12, size=noise.shape)
    ranking = np.argsort(-(values + noise + jitter), axis=1)
    counts = Counter(map(tuple, ranking.tolist()))
    return {
        tuple(names[index] for index in order): count / _N_DRAWS
        for order, count in counts.most_common()
    }
