"""Estimates: a measure's value with its standard error and interval."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from os import cpu_count
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from jaxtyping import Float

from dmfroc._backend import double_precision
from dmfroc._tables import decimals
from dmfroc.measures import get_measure
from dmfroc.measures.base import BoundMeasure, Measure, caveats, undefined_message, warn
from dmfroc.predictions import Predictions, as_predictions
from dmfroc.uncertainty.bootstrap import (
    INTERVAL_TYPES,
    IntervalType,
    Replicates,
    replicate_interval,
    replicate_values,
    seed_of,
)
from dmfroc.uncertainty.jackknife import (
    NO_VARIATION,
    Influences,
    Interval,
    Moments,
    influences_of,
    interval,
    moments_of,
    spread,
    standard_error,
    without_variation,
)
from dmfroc.uncertainty.level import check_level
from dmfroc.uncertainty.paper_bootstrap import CAVEAT as PAPER_CAVEAT
from dmfroc.uncertainty.paper_bootstrap import cell_replicates
from dmfroc.uncertainty.units import Units, units_of

if TYPE_CHECKING:
    import xarray

Method = Literal["jackknife", "bootstrap", "bayesian_bootstrap", "paper_bootstrap"]
METHODS = get_args(Method)
DEFAULT_N_DRAWS = 2000
# Scores beyond which measures with kinks use the derivative, which exists almost everywhere: a
# bootstrap of them would take minutes.
_MANY_SCORES = 100_000
# Below these, intervals cover 89 to 99 % where they say 95 %.
_FEW_DEGREES_OF_FREEDOM = 8
_FEW_ERRORS = 0.25  # observations of the rarest class times distance from a perfect value
_FEW_UNITS = 10  # of one class; fewer do not show a bootstrap how a measure varies
_USE_BOOTSTRAP = "use method='bootstrap', or leave it out"
# What to do instead.
_UNUSED_OPTIONS = {
    "jackknife": {
        "interval_type": f"it has one kind of interval; {_USE_BOOTSTRAP}",
        "n_draws": f"it draws nothing; {_USE_BOOTSTRAP}",
    },
    "paper_bootstrap": {
        "groups": f"its observations are independent; {_USE_BOOTSTRAP}",
        "stratify": f"it takes the class sizes as fixed; {_USE_BOOTSTRAP}",
    },
    "bayes": {
        "groups": f"its observations are independent; {_USE_BOOTSTRAP}",
        "stratify": (
            "it takes the class sizes as fixed; call bayesian_table with given='nothing', or leave "
            "it out"
        ),
        "interval_type": f"its intervals are quantiles; {_USE_BOOTSTRAP}",
        "n_draws": "call bayesian_roc or bayesian_table, which have it, or leave it out",
    },
}


@dataclass(frozen=True)
class Estimate:
    """A measure's value and how sure we are of it.

    Attributes
    ----------
    measure : str
        Name of the measure.
    value : float
        Value in the sample.
    standard_error : float
        Standard error of the value; 0 if the observations show no variation, see `warnings`.
    interval : tuple of float
        Lower and upper end, inside the range of the measure.
    level : float
        Nominal coverage of the interval.
    method : str
        How standard error and interval were obtained.
    n_draws, seed : int or None
        Number of draws and seed of methods that draw; None for the jackknife.
    warnings : tuple of str
        What a careful reader has to know about this estimate.
    draws : numpy.ndarray of shape (n_draws,) or None
        The measure's value in every draw, for methods that draw.
    """

    measure: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    level: float
    method: str
    n_draws: int | None = None
    seed: int | None = None
    warnings: tuple[str, ...] = ()
    draws: Float[np.ndarray, " draws"] | None = field(default=None, repr=False, compare=False)

    def to_datatree(self) -> xarray.DataTree:
        """Return the draws as an ArviZ tree with the dimensions chain and draw.

        Raises
        ------
        ValueError
            If the method has no draws.
        ImportError
            If ArviZ is not installed; it comes with ``dmfroc[bayes]``.
        """
        if self.draws is None:
            raise ValueError(
                f"an estimate by method={self.method!r} has no draws: use a bootstrap, or "
                "bayesian_roc, whose posterior is a tree"
            )
        import arviz

        import dmfroc

        tree = arviz.from_dict({"posterior": {self.measure: self.draws[None]}})
        tree["posterior"].attrs.update(
            method=self.method, level=self.level, seed=self.seed, dmfroc_version=dmfroc.__version__
        )
        return tree

    def __str__(self) -> str:
        digits = decimals(self.standard_error)
        low, high = self.interval
        return (
            f"{self.measure} {self.value:.{digits}f} "
            f"({100 * self.level:g} % {self.method} interval {low:.{digits}f} to {high:.{digits}f})"
        )


def estimate(
    measure: str | Measure,
    y_true: Any,
    y_score: Any = None,
    *,
    method: Method | Literal["bayes"] | None = None,
    level: float = 0.95,
    labels: Any = None,
    sample_weight: Any = None,
    y_pred: Any = None,
    groups: Any = None,
    stratify: bool = True,
    interval_type: IntervalType | None = None,
    n_draws: int = DEFAULT_N_DRAWS,
    random_state: int | np.random.Generator | None = 0,
) -> Estimate:
    """Estimate a measure with its standard error and interval.

    Parameters
    ----------
    measure : str or Measure
        A name that `dmfroc.measures.MEASURES` lists, such as ``"dmf_auc"``, ``"hand_till"`` or
        ``"informedness"``, or a measure with options such as
        ``dmf_auc(pair_weights="prevalence")``.
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores.
    method : {"jackknife", "bootstrap", "bayesian_bootstrap", "paper_bootstrap", "bayes"}, optional
        ``"jackknife"``, the default (but for measures with kinks, such as the area under the
        convex hull, the bootstrap is, up to 100,000 scores): infinitesimal jackknife; the standard
        error of M is DeLong's. The interval is symmetric on the scale where the measure's range
        has no ends (the logit for a range with two), with a t quantile (Satterthwaite, corrected
        for kurtosis and rare classes).
        ``"bootstrap"``: units drawn with replacement. ``"bayesian_bootstrap"``: Dirichlet
        weights; its interval is a credible interval. ``"paper_bootstrap"``: that of Wang and
        Carvalho, whose intervals are far too narrow; it is here to reproduce their paper, and for
        the DMF-AUC only. ``"bayes"``: posterior mean, standard deviation and quantiles, of the
        DMF-AUC by `bayesian_roc`, of measures of hard labels by `bayesian_table`, which have
        options and return the draws; of the options below only the level and the seed are its.
    level : float
        Nominal coverage, in (0, 1).
    labels, sample_weight, y_pred
        As for `Predictions.from_arrays`. A weight says how much a row counts, not how often it
        was observed.
    groups : array-like of shape (n,), optional
        Patient, document, ... of each observation, if several belong together: then groups, not
        rows, are the independent units.
    stratify : bool
        Whether to take the class sizes as fixed (groups with several classes never are).
    interval_type : {"bca", "percentile", "basic", "studentized"}, optional
        Interval of the bootstraps, by default ``"bca"``: bias-corrected and accelerated, with the
        jackknife's t quantile. ``"percentile"`` are the quantiles of the draws as they are.
    n_draws : int
        Number of replicates of the bootstraps, at least 100.
    random_state : int, numpy.random.Generator or None
        Seed of the replicates; the same seed gives the same numbers.

    Returns
    -------
    Estimate
        If the value is not finite, its error and interval are NaN, with a warning. If no
        observation makes a difference, as for a perfect classifier, the interval is the exact
        bound of Clopper and Pearson for as many sets of one observation per class as the
        smallest class allows, and a warning says so.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, or an option is out of its range
        or, other than the seed, not used by the method.

    References
    ----------
    Jaeckel (1972), The infinitesimal jackknife; DeLong, DeLong and Clarke-Pearson (1988); Efron
    (1987), Better bootstrap confidence intervals; Rubin (1981), The Bayesian bootstrap.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression().fit(X[::2, :2], y[::2])
    >>> print(estimate("hand_till", y[1::2], model.predict_proba(X[1::2, :2])))
    hand_till 0.9315 (95 % jackknife interval 0.8752 to 0.9634)
    """
    measure = get_measure(measure)
    predictions = as_predictions(
        y_true, y_score, labels=labels, sample_weight=sample_weight, y_pred=y_pred
    )
    if method == "bayes":
        refuse_unused_options(method, groups, stratify, interval_type, n_draws)
        from dmfroc.uncertainty.bayes.dispatch import posterior_of  # an optional dependency

        return posterior_of(measure, predictions, level, seed_of(random_state)).to_estimate()
    settings = Settings(method, level, interval_type, n_draws, seed_of(random_state))
    chosen = settings.method_for(measure, predictions)
    refuse_unused_options(chosen, groups, stratify, interval_type, n_draws)
    units = units_of(predictions, groups, stratify=stratify)
    [found] = estimates_of([measure], predictions, units, settings)
    warn_of([measure], predictions, [found])
    return found


def refuse_unused_options(
    method: str, groups: Any, stratify: bool, interval_type: IntervalType | None, n_draws: int
) -> None:
    """Refuse options that were given and that the method does not use."""
    is_given = {
        "groups": groups is not None,
        "stratify": stratify is not True,
        "interval_type": interval_type is not None,
        "n_draws": n_draws != DEFAULT_N_DRAWS,
    }
    for name, remedy in _UNUSED_OPTIONS.get(method, {}).items():
        if is_given[name]:
            raise ValueError(f"{name} is no option of method={method!r}: {remedy}")


@dataclass(frozen=True)
class Settings:
    """How uncertainty is to be obtained: the options of `estimate`, checked."""

    method: str | None = None
    level: float = 0.95
    interval_type: IntervalType | None = None
    n_draws: int = DEFAULT_N_DRAWS
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method is not None and self.method not in METHODS:
            raise ValueError(f"method must be one of {METHODS}, but it is {self.method!r}")
        check_level(self.level)
        if self.interval_type is not None and self.interval_type not in INTERVAL_TYPES:
            raise ValueError(
                f"interval_type must be one of {INTERVAL_TYPES}, but it is {self.interval_type!r}"
            )
        if self.interval_type == "studentized" and self.method == "bayesian_bootstrap":
            raise ValueError(
                "the Bayesian bootstrap has no studentized interval: use 'percentile', or "
                "method='bootstrap'"
            )
        if self.method == "paper_bootstrap" and self.interval_type not in (None, "percentile"):
            raise ValueError("the paper's bootstrap has the interval_type 'percentile' only")
        if not (isinstance(self.n_draws, int | np.integer) and self.n_draws >= 100):
            raise ValueError(f"n_draws must be an integer >= 100, but it is {self.n_draws!r}")

    def method_for(self, measure: Measure, predictions: Predictions) -> str:
        """Return the method that was asked for, or the default of the measure."""
        if self.method is not None:
            return self.method
        use_derivative = measure.is_smooth or predictions.scores.size > _MANY_SCORES
        return "jackknife" if use_derivative else "bootstrap"

    @property
    def interval_type_of_draws(self) -> IntervalType:
        """The interval type that was asked for, or the default of the bootstrap."""
        return self.interval_type or ("percentile" if self.method == "paper_bootstrap" else "bca")


def estimates_of(
    measures: Sequence[Measure], predictions: Predictions, units: Units, settings: Settings
) -> list[Estimate]:
    """Estimate several measures."""
    groups: dict[Any, list[int]] = {}
    for position, measure in enumerate(measures):
        groups.setdefault(measure.bind_together or position, []).append(position)

    def estimate_group(positions: list[int]) -> list[Estimate]:
        return _estimates_of_group([measures[p] for p in positions], predictions, units, settings)

    if len(groups) == 1:
        return estimate_group(list(range(len(measures))))
    # Side by side, on all cores: NumPy and XLA's compiler leave the interpreter to others.
    with ThreadPoolExecutor(cpu_count()) as executor:
        of_groups = executor.map(estimate_group, groups.values())
        found = {
            position: of_measure
            for positions, of_group in zip(groups.values(), of_groups, strict=True)
            for position, of_measure in zip(positions, of_group, strict=True)
        }
    return [found[position] for position in range(len(measures))]


def warn_of(
    measures: Sequence[Measure], predictions: Predictions, estimates: Sequence[Estimate]
) -> None:
    """Warn of what has to be known of the values, each remark once."""
    values = {estimate.measure: estimate.value for estimate in estimates}
    warn([*caveats(measures, predictions), undefined_message(values)])


@double_precision
def _estimates_of_group(
    measures: Sequence[Measure], predictions: Predictions, units: Units, settings: Settings
) -> list[Estimate]:
    """Estimate measures that are bound together, or one that is bound by itself."""
    bind_together = measures[0].bind_together
    if bind_together is None or settings.interval_type == "studentized":
        return [_estimate_of(measure, predictions, units, settings) for measure in measures]
    bound = bind_together(measures, predictions)
    together = influences_of(bound, predictions)
    found = [Influences(*of_measure) for of_measure in zip(*together, strict=True)]
    if settings.method_for(measures[0], predictions) == "jackknife":
        return [
            jackknife_estimate(measure, predictions, units, of_measure, settings)
            for measure, of_measure in zip(measures, found, strict=True)
        ]
    replicates = replicates_of(measures[0], bound, predictions, units, settings)
    return [
        bootstrap_estimate(measure, predictions, units, of_measure, Replicates(values), settings)
        for measure, of_measure, values in zip(measures, found, replicates.values.T, strict=True)
    ]


def _estimate_of(
    measure: Measure, predictions: Predictions, units: Units, settings: Settings
) -> Estimate:
    bound = measure.bind(predictions)
    found = influences_of(bound, predictions)
    if settings.method_for(measure, predictions) == "jackknife":
        return jackknife_estimate(measure, predictions, units, found, settings)
    replicates = replicates_of(measure, bound, predictions, units, settings)
    return bootstrap_estimate(measure, predictions, units, found, replicates, settings)


def jackknife_estimate(
    measure: Measure,
    predictions: Predictions,
    units: Units,
    found: Influences,
    settings: Settings,
) -> Estimate:
    """Return the estimate that follows from a measure's influences."""
    value = float(found.values)
    moments = moments_of(found.influences, units)
    if np.isfinite(value):
        ends = interval(value, moments, settings.level, measure.bounds)
        error = 0.0 if ends.is_degenerate else standard_error(moments)
    else:
        ends, error = Interval(np.nan, np.nan), np.nan
    remarks = [
        *caveats([measure], predictions),
        undefined_message({measure.name: value}),
        _kinks_message(measure),
    ]
    if ends.is_degenerate:
        remarks += [_rare_class_message(predictions), _no_variation_message(value, measure, units)]
    else:
        remarks.append(
            _rare_class_message(predictions) or _few_decide_message(measure, value, moments)
        )
    return Estimate(
        measure=measure.name,
        value=value,
        standard_error=error,
        interval=(ends.low, ends.high),
        level=settings.level,
        method="jackknife",
        warnings=tuple(remark for remark in remarks if remark is not None),
    )


def replicates_of(
    measure: Measure,
    bound: BoundMeasure,
    predictions: Predictions,
    units: Units,
    settings: Settings,
) -> Replicates:
    """Return the values of a bound measure in the replicates of a bootstrap."""
    if settings.method == "paper_bootstrap":
        return Replicates(
            cell_replicates(measure, bound, predictions, settings.n_draws, settings.seed)
        )
    return replicate_values(
        bound,
        predictions,
        units,
        bayesian=settings.method_for(measure, predictions) == "bayesian_bootstrap",
        n_draws=settings.n_draws,
        seed=settings.seed,
        standard_errors=settings.interval_type == "studentized",
    )


def bootstrap_estimate(
    measure: Measure,
    predictions: Predictions,
    units: Units,
    found: Influences,
    replicates: Replicates,
    settings: Settings,
) -> Estimate:
    """Return the estimate that follows from a measure's replicates."""
    value, method = float(found.values), settings.method_for(measure, predictions)
    is_defined = np.isfinite(replicates.values)
    errors = replicates.standard_errors
    replicates = Replicates(
        replicates.values[is_defined], None if errors is None else errors[is_defined]
    )
    error = float(np.std(replicates.values, ddof=1)) if is_defined.sum() > 1 else np.nan
    remarks = [
        *caveats([measure], predictions),
        PAPER_CAVEAT if method == "paper_bootstrap" else None,
        undefined_message({measure.name: value}),
        _few_units_message(units),
        _undefined_draws_message(int((~is_defined).sum()), settings.n_draws),
    ]
    if not np.isfinite([value, error]).all():
        error = low = high = np.nan
    elif error <= NO_VARIATION * max(abs(value), 1):
        ends = without_variation(value, units.n_complete_sets, settings.level, measure.bounds)
        error, low, high = 0.0, ends.low, ends.high
        remarks.append(_no_variation_message(value, measure, units))
    else:
        low, high = replicate_interval(
            value,
            replicates,
            units.sums(found.influences),
            moments_of(found.influences, units),
            settings.level,
            measure.bounds,
            settings.interval_type_of_draws,
            bayesian=method == "bayesian_bootstrap",
        )
    return Estimate(
        measure=measure.name,
        value=value,
        standard_error=error,
        interval=(low, high),
        level=settings.level,
        method=method,
        n_draws=settings.n_draws,
        seed=settings.seed,
        warnings=tuple(remark for remark in remarks if remark is not None),
        draws=replicates.values,
    )


def _rare_class_message(predictions: Predictions) -> str | None:
    sizes = predictions.class_counts
    single = [label for label, size in zip(predictions.labels, sizes, strict=True) if size == 1]
    if not single:
        return None
    if len(single) == len(predictions.present):
        return "every class has a single observation, so that nothing shows how the value varies"
    return (
        f"class {single[0]!r} has a single observation, which shows no variation: "
        "the variance within the other classes stands in for its own"
    )


def _few_decide_message(measure: Measure, value: float, moments: Moments) -> str | None:
    low, high = measure.bounds
    best = high if measure.greater_is_better else low
    errors = abs(best - value) / (high - low) * moments.sizes.min()  # NaN without bounds
    if not (errors < _FEW_ERRORS or spread(moments).degrees_of_freedom < _FEW_DEGREES_OF_FREEDOM):
        return None
    return (
        "few observations decide how sure the value is, as where a classifier is near-perfect: "
        "the interval may cover a few per cent more or less than it says"
    )


def _kinks_message(measure: Measure) -> str | None:
    if measure.is_smooth:
        return None
    return (
        f"{measure.name} has kinks, where it has no derivative, which the jackknife uses: "
        "method='bootstrap' does without"
    )


def _few_units_message(units: Units) -> str | None:
    if units.n_complete_sets >= _FEW_UNITS:
        return None
    return (
        f"the rarest class has {units.n_complete_sets} independent observations, too few for a "
        "bootstrap: its intervals are too narrow; those of method='jackknife' allow for it"
    )


def _undefined_draws_message(n_undefined: int, n_draws: int) -> str | None:
    if n_undefined == 0:
        return None
    return f"the measure is undefined in {n_undefined} of {n_draws} draws, which are left out"


def _no_variation_message(value: float, measure: Measure, units: Units) -> str:
    what = "perfect" if value >= measure.bounds[1] - 1e-6 else "the same for all observations"
    return (
        f"the classifier is {what} in this sample, so that its standard error is 0 and says "
        f"nothing; the interval is Clopper and Pearson's exact bound from {units.n_complete_sets} "
        "independent sets of one observation per class"
    )
