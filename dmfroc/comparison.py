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
from dmfroc.catalogue import get_measure
from dmfroc.measures.measure import Measure, caveats, warn
from dmfroc.methods import MethodOfOneMeasure, choose_methods
from dmfroc.predictions import Needs, Predictions, as_predictions
from dmfroc.scanning.estimates import check_alone, jackknife_for, joint_estimates_of_counts
from dmfroc.scanning.scan import Scan
from dmfroc.uncertainty.estimate import Estimate
from dmfroc.uncertainty.interval_method import Contrast, IntervalMethod, JointEstimates
from dmfroc.uncertainty.options import DEFAULT_LEVEL, IntervalType, Options
from dmfroc.uncertainty.seed import seed_of

if TYPE_CHECKING:
    import pandas as pd


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
    measure, title : str
        Name of the measure, and its name in tables.
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
    title: str
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
            ["classifier", self.title, f"{percent} interval"],
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
        return "\n\n".join([estimates, differences, orders, *self._binning()])

    def _binning(self) -> list[str]:
        worst = max(e.error_bound for e in self.estimates.values())
        return [f"binning error of each value at most {worst:.1e}"] if worst else []


def compare(
    y_true: Any,
    y_scores: Mapping[str, Any] | None = None,
    measure: str | Measure = "dmf_auc",
    *,
    paired: bool = True,
    rope: float = 0.0,
    labels: Any = None,
    sample_weight: Any = None,
    y_pred: Mapping[str, Any] | None = None,
    groups: Any = None,
    stratify: bool | None = None,
    method: MethodOfOneMeasure | None = None,
    level: float = DEFAULT_LEVEL,
    interval_type: IntervalType | None = None,
    n_draws: int | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> Comparison:
    """Compare any number of classifiers, on the same observations or on independent samples.

    Parameters
    ----------
    y_true : array-like of shape (n,), dict of str to Predictions, or Scan of several classifiers
        Observed classes; or finished predictions by name of the classifier, of the same
        observations in the same order unless ``paired=False``.
    y_scores : dict of str to array-like or table of shape (n, K), or (n,) for K = 2
        Each classifier's scores, by its name.
    measure : str or Measure
        What to compare, see `estimate`.
    paired : bool
        False if every classifier has a sample of its own, independent of the others.
    rope : float
        Half-width of the region of practical equivalence: differences that do not matter.
    labels, sample_weight
        As for `Predictions.from_arrays`.
    y_pred : dict of str to array-like of shape (n,), optional
        Hard labels by name of the classifier, where they are not simply the class of the largest
        score, or where there is one score and so no such class.
    groups, stratify
        As for `estimate`.
    method : {"jackknife", "bootstrap", "bayesian_bootstrap", "paper_bootstrap", "bayes"}, optional
        As for `estimate`. Influences of the same observations are subtracted; replicates of the
        bootstraps are the same for all classifiers. ``"bayes"`` is for independent samples.
    level : float
        Nominal coverage of the intervals, in (0, 1).
    interval_type, n_draws
        As for `estimate`. Differences have no scale of their own: ``"studentized"`` is not
        offered for them.
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
    options = Options(groups, stratify, level, interval_type, n_draws, seed_of(random_state))
    if isinstance(y_true, Scan):
        check_alone(y_scores=y_scores, labels=labels, sample_weight=sample_weight, y_pred=y_pred)
        chosen, joint = _of_scan(y_true, measure, method, options, paired, rope)
    else:
        predictions = _named_predictions(
            y_true, y_scores, labels, sample_weight, y_pred, measure.needs
        )
        chosen, joint = _of_predictions(predictions, measure, method, options, paired, rope)
    return Comparison(
        measure=measure.name,
        title=measure.title,
        estimates=joint.estimates,
        differences=_differences(joint.contrasts),
        order_probabilities=_order_probabilities(
            tuple(joint.estimates), joint.qualities, np.random.default_rng(options.seed)
        ),
        level=level,
        rope=rope,
        method=chosen.name,
        n_draws=len(joint.qualities),
        seed=options.seed,
    )


def _of_predictions(
    predictions: Mapping[str, Predictions],
    measure: Measure,
    method: MethodOfOneMeasure | None,
    options: Options,
    paired: bool,
    rope: float,
) -> tuple[IntervalMethod, JointEstimates]:
    first = next(iter(predictions.values()))
    [chosen] = choose_methods(method, [measure], first, options)
    _check_options(chosen, paired, options.groups, rope)
    if paired:
        _check_same_observations(dict(predictions))
    if not chosen.warns_itself:
        remarks = (remark for p in predictions.values() for remark in caveats([measure], p))
        warn(dict.fromkeys(remarks))
    samples = {name: options.sample_of(p) for name, p in predictions.items()}
    return chosen, chosen.joint_estimates(measure, samples, paired=paired, rope=rope)


def _of_scan(
    sample: Scan,
    measure: Measure,
    method: MethodOfOneMeasure | None,
    options: Options,
    paired: bool,
    rope: float,
) -> tuple[IntervalMethod, JointEstimates]:
    chosen = jackknife_for(sample, [measure], method, options)
    _check_options(chosen, paired, None, rope)
    if not paired or len(sample.classifiers) < 2:
        raise ValueError(
            "classifiers of a scan are compared on the same observations: give it the score "
            "columns of each, scan(..., scores={'a': [...], 'b': [...]}), and leave paired=True"
        )
    bound = sample.bound.values()
    remarks = (remark for x in bound for remark in caveats([measure], x.predictions))
    warn(dict.fromkeys(remarks))
    stratify = options.stratify is not False
    return chosen, joint_estimates_of_counts(sample, measure, chosen, stratify=stratify, rope=rope)


def _check_options(method: IntervalMethod, paired: bool, groups: Any, rope: float) -> None:
    if (refusal := method.refusal_to_compare(paired=paired)) is not None:
        raise ValueError(refusal)
    if not rope >= 0:
        raise ValueError(f"rope must be >= 0, but it is {rope!r}")
    if groups is not None and not paired:
        raise ValueError("groups cannot be given for independent samples (paired=False)")


def _differences(contrasts: Mapping[tuple[str, str], Contrast]) -> tuple[Difference, ...]:
    """Name the differences, and adjust their p-values by Holm's method."""
    p_values = np.array([contrast.p_value for contrast in contrasts.values()])
    order = np.argsort(p_values, kind="stable")
    multiplied = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(multiplied), 1)
    return tuple(
        Difference(first, second, **contrast._asdict(), adjusted_p_value=float(p_value))
        for ((first, second), contrast), p_value in zip(contrasts.items(), adjusted, strict=True)
    )


def _named_predictions(
    y_true: Any,
    y_scores: Mapping[str, Any] | None,
    labels: Any,
    sample_weight: Any,
    y_pred: Mapping[str, Any] | None,
    needs: Needs,
) -> dict[str, Predictions]:
    if isinstance(y_true, Mapping) and y_scores is None:
        named = {}
        for name, value in y_true.items():
            if not isinstance(value, Predictions):
                raise TypeError(
                    f"y_true as a dict must hold Predictions, but {name!r} is a "
                    f"{type(value).__name__}; for arrays pass y_true and a dict of scores"
                )
            named[name] = as_predictions(
                value, labels=labels, sample_weight=sample_weight, y_pred=y_pred, needs=needs
            )
    elif isinstance(y_scores, Mapping):
        hard_labels = _named_hard_labels(y_pred, y_scores)
        named = {
            name: Predictions.from_arrays(
                y_true,
                scores,
                labels=labels,
                sample_weight=sample_weight,
                y_pred=hard_labels.get(name),
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


def _named_hard_labels(
    y_pred: Mapping[str, Any] | None, y_scores: Mapping[str, Any]
) -> Mapping[str, Any]:
    if y_pred is None:
        return {}
    if not isinstance(y_pred, Mapping):
        raise TypeError(
            "y_pred must be a dict of hard labels by name of the classifier, but it is a "
            f"{type(y_pred).__name__}"
        )
    for name in y_pred:
        if name not in y_scores:
            raise ValueError(
                f"y_pred has hard labels of {name!r}, but y_scores has the classifiers "
                f"{list(y_scores)}: use the same names"
            )
    return y_pred


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
