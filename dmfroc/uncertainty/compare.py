"""Paired comparison of classifiers: which one is better, and how sure that is."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float

from dmfroc._backend import double_precision
from dmfroc._tables import decimals, format_probability, format_table
from dmfroc.measures import get_measure
from dmfroc.measures.base import Measure, caveats, warn
from dmfroc.predictions import Predictions, as_predictions
from dmfroc.uncertainty.bootstrap import (
    IntervalType,
    Replicates,
    replicate_interval,
    seed_of,
)
from dmfroc.uncertainty.estimate import (
    DEFAULT_N_DRAWS,
    Estimate,
    Method,
    Settings,
    bootstrap_estimate,
    jackknife_estimate,
    refuse_unused_options,
    replicates_of,
)
from dmfroc.uncertainty.jackknife import (
    Influences,
    Moments,
    influences_of,
    interval,
    moments_of,
    probability_above,
    spread,
    standard_error,
    two_sided_p_value,
)
from dmfroc.uncertainty.units import Units, units_of

if TYPE_CHECKING:
    import pandas as pd

_N_DRAWS = 100_000


@dataclass(frozen=True)
class Difference:
    """How much better the first classifier is than the second.

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
    adjusted_p_value : float
        The same, adjusted by Holm's method for all differences of the comparison.
    probability_better : float
        Probability that the first is truly better (where the measure is an error, smaller); 1/2
        if nothing speaks for either.
    probability_equivalent : float
        Probability that the two differ by no more than the region of practical equivalence.
    """

    first: str
    second: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    p_value: float
    adjusted_p_value: float
    probability_better: float
    probability_equivalent: float


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
    rope : float
        Half-width of the region of practical equivalence.
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
    rope: float
    method: str
    n_draws: int
    seed: int

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
                    "adjusted_p_value": d.adjusted_p_value,
                    "probability_better": d.probability_better,
                    "probability_equivalent": d.probability_equivalent,
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
        several, has_rope = len(self.differences) > 1, self.rope > 0
        header = ["A", "B", "A - B", f"{percent} interval", "p-value"]
        header += (
            ["adjusted"] * several + ["P(A > B)"] + [f"P(|A - B| <= {self.rope:g})"] * has_rope
        )
        differences = format_table(
            header,
            [
                [
                    d.first,
                    d.second,
                    f"{d.value:+.{digits}f}",
                    f"{d.interval[0]:+.{digits}f} to {d.interval[1]:+.{digits}f}",
                    f"{d.p_value:.2g}",
                    *[f"{d.adjusted_p_value:.2g}"] * several,
                    format_probability(d.probability_better),
                    *[format_probability(d.probability_equivalent)] * has_rope,
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
    method: Method | Literal["bayes"] | None = None,
    level: float = 0.95,
    labels: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    stratify: bool = True,
    paired: bool = True,
    rope: float = 0.0,
    interval_type: IntervalType | None = None,
    n_draws: int = DEFAULT_N_DRAWS,
    random_state: int | np.random.Generator | None = 0,
) -> Comparison:
    """Compare any number of classifiers, on the same observations or on independent samples.

    Parameters
    ----------
    y_true : array-like of shape (n,), or dict of str to Predictions
        Observed classes; or finished predictions by name of the classifier, of the same
        observations in the same order unless ``paired=False``.
    y_scores : dict of str to array-like or table of shape (n, K), or (n,) for K = 2
        Each classifier's scores, by its name.
    measure : str or Measure
        What to compare, see `estimate`.
    method : {"jackknife", "bootstrap", "bayesian_bootstrap", "paper_bootstrap", "bayes"}, optional
        As for `estimate`. Influences of the same observations are subtracted; replicates of the
        bootstraps are the same for all classifiers. ``"bayes"`` is for independent samples.
    level : float
        Nominal coverage of the intervals, in (0, 1).
    labels, sample_weight
        As for `Predictions.from_arrays`.
    groups, stratify, interval_type, n_draws
        As for `estimate`. Differences have no scale of their own: ``"studentized"`` is not
        offered for them.
    paired : bool
        False if every classifier has a sample of its own, independent of the others.
    rope : float
        Half-width of the region of practical equivalence: differences that do not matter.
    random_state : int, numpy.random.Generator or None
        Seed of the replicates and of the draws behind the probabilities of the orders.

    Returns
    -------
    Comparison
        Intervals are those of single comparisons; p-values are given both ways.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two classifiers, if they were not evaluated on the same
        observations, or as for `estimate`.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988) for M with two classes; Wang and Carvalho (2024),
    Table 1, for the probabilities of the orders; Holm (1979); Kruschke (2018) for the region of
    practical equivalence.

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
    by_posterior = method == "bayes"
    settings = Settings(
        None if by_posterior else method,
        level,
        interval_type,
        n_draws,
        seed_of(random_state),
    )
    predictions = _named_predictions(y_true, y_scores, labels, sample_weight)
    chosen = method or settings.method_for(measure, next(iter(predictions.values())))
    refuse_unused_options(chosen, groups, stratify, interval_type, n_draws)
    _check_options(settings, paired, groups, rope, by_posterior)
    if paired:
        _check_same_observations(predictions)
    remarks = (remark for p in predictions.values() for remark in caveats([measure], p))
    warn(dict.fromkeys(remarks))
    if by_posterior:
        return _compare_by_posterior(measure, predictions, settings, rope)
    units = {name: units_of(p, groups, stratify=stratify) for name, p in predictions.items()}
    if chosen == "jackknife":
        return _compare_by_jackknife(measure, predictions, units, settings, paired, rope)
    return _compare_by_bootstrap(measure, predictions, units, settings, paired, rope)


def _check_options(
    settings: Settings, paired: bool, groups: Any, rope: float, by_posterior: bool
) -> None:
    if by_posterior and paired:
        raise ValueError(
            "a posterior knows its own classifier only, not how the errors of several on the same "
            "observations go together: use method='bayesian_bootstrap', or paired=False for "
            "independent samples"
        )
    if not rope >= 0:
        raise ValueError(f"rope must be >= 0, but it is {rope!r}")
    if settings.interval_type == "studentized":
        raise ValueError("differences have no studentized interval: use 'bca' or 'percentile'")
    if groups is not None and not paired:
        raise ValueError("groups cannot be given for independent samples (paired=False)")


@double_precision
def _compare_by_jackknife(
    measure: Measure,
    predictions: dict[str, Predictions],
    units: dict[str, Units],
    settings: Settings,
    paired: bool,
    rope: float,
) -> Comparison:
    found = {name: influences_of(measure.bind(p), p) for name, p in predictions.items()}
    _check_finite(measure, found)
    moments = {name: moments_of(found[name].influences, units[name]) for name in predictions}

    def moments_of_difference(first: str, second: str) -> Moments:
        if not paired:
            return moments[first].beside(moments[second])
        return moments_of(found[first].influences - found[second].influences, units[first])

    low, high = measure.bounds
    sign = 1 if measure.greater_is_better else -1
    differences, degrees_of_freedom = [], []
    for first, second in itertools.combinations(predictions, 2):
        value = float(found[first].values - found[second].values)
        of_difference = moments_of_difference(first, second)
        bounds = low - high, high - low
        ends = interval(value, of_difference, settings.level, bounds, symmetric_on_line=False)
        degrees_of_freedom.append(spread(of_difference).degrees_of_freedom)
        above, not_below = (probability_above(x, value, of_difference) for x in (rope, -rope))
        differences.append(
            Difference(
                first=first,
                second=second,
                value=value,
                standard_error=standard_error(of_difference),
                interval=(ends.low, ends.high),
                p_value=two_sided_p_value(value, of_difference),
                adjusted_p_value=np.nan,
                probability_better=probability_above(0.0, sign * value, of_difference),
                probability_equivalent=not_below - above,
            )
        )
    if paired:
        influences = np.stack([f.influences for f in found.values()])
        covariance = _joint_covariance(influences, next(iter(units.values())))
    else:
        covariance = np.diag([spread(m).scale ** 2 for m in moments.values()])
    return Comparison(
        measure=measure.name,
        estimates={
            name: jackknife_estimate(measure, predictions[name], units[name], found[name], settings)
            for name in predictions
        },
        differences=_with_adjusted_p_values(differences),
        order_probabilities=_order_probabilities(
            tuple(predictions),
            _draws_of_values(
                sign * np.array([float(f.values) for f in found.values()]),
                covariance,
                min(degrees_of_freedom),
                np.random.default_rng(settings.seed),
            ),
            np.random.default_rng(settings.seed),
        ),
        level=settings.level,
        rope=rope,
        method="jackknife",
        n_draws=_N_DRAWS,
        seed=settings.seed,
    )


@double_precision
def _compare_by_bootstrap(
    measure: Measure,
    predictions: dict[str, Predictions],
    units: dict[str, Units],
    settings: Settings,
    paired: bool,
    rope: float,
) -> Comparison:
    found: dict[str, Influences] = {}
    replicates: dict[str, Replicates] = {}
    for place, (name, of_one) in enumerate(predictions.items()):
        bound = measure.bind(of_one)
        found[name] = influences_of(bound, of_one)
        own = settings if paired else replace(settings, seed=settings.seed + place)
        replicates[name] = replicates_of(measure, bound, of_one, units[name], own)
    _check_finite(measure, found)
    low, high = measure.bounds

    def ends_of(
        first: str, second: str, value: float, draws: Float[np.ndarray, " draws"]
    ) -> tuple[float, float]:
        of_first, of_second = found[first].influences, found[second].influences
        if paired:
            influence = units[first].sums(of_first - of_second)
            moments = moments_of(of_first - of_second, units[first])
        else:
            influence = np.concatenate(
                [units[first].sums(of_first), -units[second].sums(of_second)]
            )
            moments = moments_of(of_first, units[first]).beside(
                moments_of(of_second, units[second])
            )
        return replicate_interval(
            value,
            Replicates(draws),
            influence,
            moments,
            settings.level,
            (low - high, high - low),
            settings.interval_type_of_draws,
            bayesian=settings.method == "bayesian_bootstrap",
        )

    estimates = {
        name: bootstrap_estimate(
            measure, predictions[name], units[name], found[name], replicates[name], settings
        )
        for name in predictions
    }
    draws = {name: r.values for name, r in replicates.items()}
    return _comparison_of_draws(measure, estimates, draws, ends_of, settings, rope)


def _compare_by_posterior(
    measure: Measure,
    predictions: dict[str, Predictions],
    settings: Settings,
    rope: float,
) -> Comparison:
    from dmfroc.uncertainty.bayes.dispatch import posterior_of  # an optional dependency

    estimates = {
        name: posterior_of(measure, of_one, settings.level, settings.seed + place).to_estimate()
        for place, (name, of_one) in enumerate(predictions.items())
    }
    shortest = min(len(e.draws) for e in estimates.values() if e.draws is not None)
    draws = {name: e.draws[:shortest] for name, e in estimates.items() if e.draws is not None}

    def ends_of(
        first: str, second: str, value: float, draws: Float[np.ndarray, " draws"]
    ) -> tuple[float, float]:
        low, high = np.quantile(draws, [(1 - settings.level) / 2, (1 + settings.level) / 2])
        return float(low), float(high)

    return _comparison_of_draws(measure, estimates, draws, ends_of, settings, rope)


def _comparison_of_draws(
    measure: Measure,
    estimates: dict[str, Estimate],
    draws: dict[str, Float[np.ndarray, " draws"]],
    ends_of: Callable[[str, str, float, Float[np.ndarray, " draws"]], tuple[float, float]],
    settings: Settings,
    rope: float,
) -> Comparison:
    sign = 1 if measure.greater_is_better else -1
    differences = []
    for first, second in itertools.combinations(estimates, 2):
        value = estimates[first].value - estimates[second].value
        of_difference = draws[first] - draws[second]
        better = _share_above(sign * of_difference)
        n_draws = len(of_difference)
        p_value = min(1.0, 2 * (min(better, 1 - better) * n_draws + 1) / (n_draws + 1))
        differences.append(
            Difference(
                first=first,
                second=second,
                value=value,
                standard_error=float(of_difference.std(ddof=1)),
                interval=ends_of(first, second, value, of_difference),
                p_value=p_value,
                adjusted_p_value=np.nan,
                probability_better=better,
                probability_equivalent=float(np.mean(np.abs(of_difference) <= rope)),
            )
        )
    return Comparison(
        measure=measure.name,
        estimates=estimates,
        differences=_with_adjusted_p_values(differences),
        order_probabilities=_order_probabilities(
            tuple(estimates),
            sign * np.stack(list(draws.values()), axis=1),
            np.random.default_rng(settings.seed),
        ),
        level=settings.level,
        rope=rope,
        method=next(iter(estimates.values())).method,
        n_draws=len(next(iter(draws.values()))),
        seed=settings.seed,
    )


def _check_finite(measure: Measure, found: Mapping[str, Influences]) -> None:
    for name, of_classifier in found.items():
        if not np.isfinite(of_classifier.values):
            raise ValueError(
                f"{measure.name} is {of_classifier.values} for {name!r}, which cannot be compared: "
                "choose another measure"
            )


def _share_above(draws: Float[np.ndarray, " draws"]) -> float:
    """Return the share of positive draws; those at zero count by half."""
    return float(np.mean(draws > 0) + np.mean(draws == 0) / 2)


def _with_adjusted_p_values(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """Adjust the p-values by Holm's method."""
    p_values = np.array([d.p_value for d in differences])
    order = np.argsort(p_values, kind="stable")
    multiplied = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(multiplied), 1)
    return tuple(
        replace(d, adjusted_p_value=float(p)) for d, p in zip(differences, adjusted, strict=True)
    )


def _named_predictions(
    y_true: Any, y_scores: Mapping[str, Any] | None, labels: Any, sample_weight: Any
) -> dict[str, Predictions]:
    if isinstance(y_true, Mapping) and y_scores is None:
        named = {}
        for name, value in y_true.items():
            if not isinstance(value, Predictions):
                raise TypeError(
                    f"y_true as a dict must hold Predictions, but {name!r} is a "
                    f"{type(value).__name__}; for arrays pass y_true and a dict of scores"
                )
            named[name] = as_predictions(value, labels=labels, sample_weight=sample_weight)
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


def _check_same_observations(named: dict[str, Predictions]) -> None:
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


def _joint_covariance(
    influences: Float[np.ndarray, "m n"], units: Units
) -> Float[np.ndarray, "m m"]:
    """Return the covariance of the classifiers' values, with `spread`'s care for rare classes."""
    sizes = units.sizes
    scaled = np.stack([units.sums(influence) for influence in influences]) * sizes[units.stratum]
    squares = []
    for stratum in range(len(sizes)):
        of_stratum = scaled[:, units.stratum == stratum]
        centred = of_stratum - of_stratum.mean(axis=1, keepdims=True)
        squares.append(centred @ centred.T)
    sums = np.stack(squares)
    pooled = sums.sum(axis=0) / np.maximum((sizes - 1).sum(), 1)
    return ((sums + pooled) / sizes[:, None, None] ** 2).sum(axis=0)


def _draws_of_values(
    values: Float[np.ndarray, " m"],
    covariance: Float[np.ndarray, "m m"],
    degrees_of_freedom: float,
    generator: np.random.Generator,
) -> Float[np.ndarray, "draws m"]:
    """Draw from the joint t distribution of the classifiers' values."""
    noise = generator.multivariate_normal(
        np.zeros(len(values)), covariance, size=_N_DRAWS, method="eigh"
    )
    if np.isfinite(degrees_of_freedom):
        mixing = generator.chisquare(degrees_of_freedom, size=(_N_DRAWS, 1)) / degrees_of_freedom
        noise /= np.sqrt(mixing)
    return values + noise


def _order_probabilities(
    names: tuple[str, ...],
    draws: Float[np.ndarray, "draws m"],
    generator: np.random.Generator,
) -> dict[tuple[str, ...], float]:
    """Count the orders in joint draws of the classifiers' values."""
    # Classifiers that do not differ at all are put in a random order, not in that of their names.
    jitter = generator.uniform(-1e-12, 1e-12, size=draws.shape)
    ranking = np.argsort(-(draws + jitter), axis=1)
    counts = Counter(map(tuple, ranking.tolist()))
    return {
        tuple(names[index] for index in order): count / len(draws)
        for order, count in counts.most_common()
    }
