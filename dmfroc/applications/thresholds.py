"""A threshold chosen on a sample: how well it is known, and how much its value is overstated."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float
from scipy.special import bdtrik

from dmfroc import FollowUp, Measure, Predictions
from dmfroc.curves import Maximum
from dmfroc.extend import (
    BoolPerRow,
    Column,
    Direction,
    IntPerRow,
    Options,
    PerRow,
    RandomState,
    Result,
    Sample,
    Table,
    Units,
    check_level,
    choice,
    class_shares,
    digits,
    ends_text,
    facts_in,
    get_measure,
    in_class_shares,
    integer,
    kish_sizes,
    place_of_class,
    positive,
    predictions_at,
    printable,
    proportion,
    seed_of,
)
from dmfroc.measures import expected_utility
from dmfroc.results import ResultsByName

Criterion = Literal["youden", "f1", "accuracy", "cost", "specificity", "sensitivity"]

_FEWEST_DRAWS = 100
_FEW = 200  # observations; with fewer, intervals of a value that was maximised cover less
_RATE_OF_MAXIMUM = 1 / 3  # the error of the place of a maximum falls with the cube root of n
_SHARE_DRAWN = 0.9  # the power of n that is drawn for the place of a maximum: m = n^0.9
_MAXIMIZED: dict[Criterion, str] = {
    "youden": "Youden's J",
    "f1": "F1",
    "accuracy": "accuracy",
    "cost": "minus the mean cost",
    "specificity": "sensitivity",
    "sensitivity": "specificity",
}
_MEASURES = {"youden": "informedness", "specificity": "recall", "sensitivity": "specificity"}

PerDecision = Float[np.ndarray, "2 m"]
"""True and false positives at each threshold, or a threshold and what it is worth."""


class ValueWithInterval(NamedTuple):
    """A number with its interval.

    Attributes
    ----------
    value : float
        The number.
    interval : tuple of float
        Lower and upper end.
    """

    value: float
    interval: tuple[float, float]


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdChoice(Result):
    """A threshold that is best in a sample, and what it is worth.

    Attributes
    ----------
    by : str
        The criterion.
    label : hashable
        The positive class.
    direction : {">=", "<="}
        Whether an observation is predicted positive if its score is at least the threshold, or if
        it is at most the threshold.
    threshold : ValueWithInterval
        The threshold, the last score that is predicted positive. Its interval is by a bootstrap of
        m = n^0.9 out of n observations if it maximises a criterion. For a given specificity or
        sensitivity it lies between two scores of that class, by binomial limits (Woodruff 1952).
        They are infinite if the class has too few observations.
    value : ValueWithInterval
        Value of the criterion at the threshold in the sample. Its interval is for new observations
        at this very threshold, not at the best one, and lies about `corrected`.
    optimism : float
        By how much the value in a sample exceeds that of the same threshold for new observations,
        on average.
    corrected : float
        The value less the optimism.
    in_bag, out_of_bag : float
        Mean value of a drawn sample at its own threshold, and of the observations that were not
        drawn at this threshold.
    curve : numpy.ndarray of shape (2, m)
        All thresholds, those of the fewest positive predictions first, and the criterion at each;
        NaN where ``at_least`` is not met.
    level : float
        Nominal coverage of the intervals.
    n_draws, seed : int
        Number of bootstrap samples, and their seed.
    warnings : tuple of str
        What a careful reader has to know.
    at_least : float or None
        The least specificity or sensitivity, if that is the criterion.
    design : dict of str to object
        What of the design changes the meaning of the values.
    rates : dict of str to ValueWithInterval
        Sensitivity and specificity in the sample, with intervals for new observations at this very
        threshold.
    n_observations : int
        How many rows it was chosen on.
    """

    drawn_by = "dmfroc.applications.pictures"
    main_table = "choice"
    json_names = (
        "by",
        "direction",
        "level",
        "n_observations",
        "n_draws",
        "seed",
    )

    by: Criterion
    label: Hashable
    threshold: ValueWithInterval
    value: ValueWithInterval
    optimism: float
    corrected: float
    in_bag: float
    out_of_bag: float
    curve: PerDecision
    level: float
    n_draws: int
    seed: int
    warnings: tuple[str, ...] = ()
    at_least: float | None = None
    direction: Direction = ">="
    design: Mapping[str, Any] = field(default_factory=dict)
    rates: Mapping[str, ValueWithInterval] = field(default_factory=dict)
    n_observations: int = 0

    @property
    def maximized(self) -> str:
        """What is largest at the threshold: of a given specificity or sensitivity, the other."""
        of_rate = "" if self.at_least is None else f" at {self.by} {self.at_least:g}"
        return _MAXIMIZED[self.by] + of_rate

    def tables(self) -> list[Table]:
        """Return the threshold, its value, sensitivity and specificity with their intervals."""
        rows = {"threshold": self.threshold, self.maximized: self.value, **self.rates}
        corrected: list[float | None] = [self.threshold.value, self.corrected]
        columns = [
            Column("quantity", "quantity", rows, "name"),
            Column("value", "in this sample", [x.value for x in rows.values()]),
            Column("low", f"low ({100 * self.level:g} %)", [x.interval[0] for x in rows.values()]),
            Column("high", "high", [x.interval[1] for x in rows.values()]),
            Column("corrected", "for new data", corrected + [None] * len(self.rates)),
        ]
        return [Table("choice", "Chosen threshold", columns, is_by_name=True)]

    def head(self) -> list[str]:
        """Return which scores are predicted positive."""
        label = printable(self.label)
        return [f"Class {label} is predicted if the score is at {self.side} the threshold."]

    def foot(self) -> list[str]:
        """Say which interval is of what, and what an infinite end of the threshold is."""
        told = "An infinite end is beyond all scores: the data do not limit the threshold there."
        return [
            f"Intervals of {self.maximized}, sensitivity and specificity are for new cases at this "
            "threshold. Only the first accounts for the choice of the threshold on these cases.",
            *[told] * bool(np.isinf(self.threshold.interval).any()),
        ]

    def verdict_text(self) -> list[str]:
        """Say what to predict, and how well that will do."""
        return [
            f"Predict {self.label} at a score of at {self.side} "
            f"{digits(self.threshold.value)}. "
            f"For new observations, {self.maximized} is then {digits(self.corrected)} "
            f"({100 * self.level:g} % interval {ends_text(self.value.interval)}).",
            *(
                f"In this sample, {name} is {digits(x.value)} at this threshold "
                f"({100 * self.level:g} % interval {ends_text(x.interval)})."
                for name, x in self.rates.items()
            ),
        ]

    def question_text(self) -> str:
        """Return the heading of a report without a title."""
        return f"At which score to predict {self.label}"

    @property
    def side(self) -> str:
        """Whether scores at least, or at most, as large as the threshold are predicted positive."""
        return "least" if self.direction == ">=" else "most"

    def of_small_scores(self) -> ThresholdChoice:
        """Return the choice for the given scores if they were negated before."""
        (threshold, (low, high)), curve = self.threshold, self.curve * [[-1], [1]]
        turned = ValueWithInterval(-threshold, (-high, -low))
        return replace(self, threshold=turned, curve=curve, direction="<=")


def choose_threshold(
    y_true: Any,
    y_score: Any = None,
    *,
    by: Criterion = "youden",
    at_least: float | None = None,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    population: Any = None,
    labels: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    direction: Direction | None = None,
    level: float = 0.95,
    n_draws: int = 1000,
    random_state: RandomState = 0,
    follow_up: FollowUp[float] | None = None,
) -> ThresholdChoice | ResultsByName[ThresholdChoice]:
    """Choose a threshold, with intervals of the threshold and of its value for new observations.

    Parameters
    ----------
    y_true : Predictions or array-like of shape (n,)
        Observed classes.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2
        Scores; larger ones speak for the class.
    by : {"youden", "f1", "accuracy", "cost", "specificity", "sensitivity"}
        What the threshold is best at: sensitivity + specificity - 1, F1, accuracy, or minus the
        mean cost of a decision. ``"specificity"`` takes the largest sensitivity among thresholds
        with a specificity of ``at_least``, ``"sensitivity"`` the other way round; the value is that
        of the other rate.
    at_least : float, optional
        For ``"specificity"`` and ``"sensitivity"``: the rate that is asked for, in (0, 1), by
        default 0.95.
    cost_fp, cost_fn : float, optional
        For ``"cost"``: costs of a false positive and of a false negative, by default 1.
    population : dict of label to float, or float, optional
        Share of each class where the threshold will be used, if it is not that of the sample, as
        for `dmfroc.estimate`: one number is the share of the positive class. Rates do not depend on
        it; F1, accuracy and costs do.
    labels, sample_weight
        As for `Predictions.from_arrays`. Weights may be those of another population.
    pos_label : hashable, optional
        The positive class; by default the second of two, or each class against the rest.
    direction : {">=", "<="}, optional
        Of a one-dimensional score: ``"<="`` if small values speak for the class. The threshold is
        then the largest score that is predicted positive.
    level : float
        Nominal coverage of the intervals.
    n_draws : int
        Number of bootstrap samples, at least 100.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Their seed.
    follow_up : FollowUp, optional
        As for `dmfroc.estimate`, with one horizon.

    Returns
    -------
    ThresholdChoice or ResultsByName
        Of more than two classes without ``pos_label`` one for each class. Of several best
        thresholds it is that of the fewest positive predictions; a warning says if predicting
        nobody positive is better still. ``plot()`` draws the criterion at all thresholds.

    Raises
    ------
    TypeError, ValueError
        If an input is not what `Predictions.from_arrays` accepts, or an option is out of its range.

    References
    ----------
    Thiele and Hirschfeld (2021), cutpointr: improved estimation and validation of optimal cutpoints
    in R; Efron and Tibshirani (1993), An introduction to the bootstrap, section 17.6, on the
    optimism; Bickel and Sakov (2008), On the choice of m in the m out of n bootstrap.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=300)
    >>> choice = choose_threshold(y, rng.normal(size=300) + 1.5 * y)
    >>> bool(choice.corrected < choice.value.value)
    True
    >>> low, high = choice.threshold.interval
    >>> bool(low < 0.75 < high)
    True
    """
    choice("by", by, get_args(Criterion))
    for name, value in (("at_least", at_least), ("cost_fp", cost_fp), ("cost_fn", cost_fn)):
        allowed = ("specificity", "sensitivity") if name == "at_least" else ("cost",)
        if value is not None and by not in allowed:
            raise ValueError(
                f"{name} is no option of by={by!r}: use by={allowed[0]!r}, or leave it"
            )
    at_least = proportion("at_least", 0.95 if at_least is None else at_least, "(0, 1)")
    costs = (
        positive("cost_fp", 1.0 if cost_fp is None else cost_fp),
        positive("cost_fn", 1.0 if cost_fn is None else cost_fn),
    )
    level, n_draws = check_level(level), integer("n_draws", n_draws, _FEWEST_DRAWS)
    seed = seed_of(random_state)
    given = {"labels": labels, "sample_weight": sample_weight}
    given |= {"pos_label": pos_label, "direction": direction, "against_rest": True}
    predictions, censoring = predictions_at(y_true, y_score, follow_up, given)
    shares = None
    if population is not None:
        shares = class_shares(population, predictions)
        predictions = in_class_shares(predictions, shares)
    whole, predictions = predictions, predictions.counted
    known = predictions.labels
    classes = [pos_label] if pos_label is not None else [known[1]]
    if pos_label is None and len(known) > 2:
        classes = [known[k] for k in predictions.present]
    choices: dict[Hashable, ThresholdChoice] = {}
    for label in classes:
        place = place_of_class(label, known)
        is_positive = predictions.true == place
        if is_positive.all() or not is_positive.any():
            raise ValueError(f"class {label!r} needs observations of its own and of the rest")
        scores = predictions.scores[:, place].astype(np.float64)
        of_label = (whole.true == place).astype(np.int32)
        two_classes = replace(whole, labels=(False, True), true=of_label)
        units = Options(weights=censoring).sample_of(two_classes).units
        distinct, bins = np.unique(-scores, return_inverse=True)
        sample = _Sample(-distinct, bins, is_positive, predictions.sample_weight, units)
        share = None if shares is None else float(shares[place])
        aim = _Aim(by, at_least, costs, share)
        found = _choice(sample, aim, label, level, n_draws, seed)
        found = found if predictions.direction != "<=" else found.of_small_scores()
        warnings = (*predictions.remarks, *found.warnings)
        choices[label] = replace(found, warnings=warnings, design={**whole.design, **aim.design})
    return choices[classes[0]] if len(classes) == 1 else ResultsByName(choices)


class _Sample(NamedTuple):
    """Observations by falling score; the bins of equal scores are the thresholds."""

    thresholds: Float[np.ndarray, " m"]
    bins: IntPerRow
    is_positive: BoolPerRow
    weights: PerRow
    units: Units

    def counts(self, weights: PerRow) -> PerDecision:
        """Return true and false positives at each threshold."""
        both = np.bincount(
            2 * self.bins + ~self.is_positive, weights, minlength=2 * len(self.thresholds)
        )
        return both.reshape(-1, 2).T.cumsum(axis=1)


@dataclass(frozen=True)
class _Aim:
    """What is maximised, with the options of the criterion."""

    by: Criterion
    at_least: float
    costs: tuple[float, float]
    share: float | None  # of the positives, in every sample that is drawn

    @property
    def is_of_rate(self) -> bool:
        return self.by in ("specificity", "sensitivity")

    @property
    def design(self) -> dict[str, float]:
        if self.by == "cost":
            return dict(zip(("cost_fp", "cost_fn"), self.costs, strict=True))
        return {"at_least": self.at_least} if self.is_of_rate else {}

    @property
    def measure(self) -> Measure:
        if self.by != "cost":
            return get_measure(_MEASURES.get(self.by, self.by))
        cost_fp, cost_fn = self.costs
        return expected_utility([[0.0, cost_fp], [cost_fn, 0.0]])

    def values(self, counts: PerDecision) -> Float[np.ndarray, " m"]:
        """Return the criterion at each threshold; minus infinity where it is not allowed."""
        tp, fp = counts
        positives, negatives = tp[-1], fp[-1]
        if positives == 0 or negatives == 0:
            return np.full(len(tp), np.nan)
        if self.share is not None:
            tp, fp = tp * (self.share / positives), fp * ((1 - self.share) / negatives)
            positives, negatives = self.share, 1 - self.share
        sensitivity, specificity = tp / positives, 1 - fp / negatives
        match self.by:
            case "youden":
                return sensitivity + specificity - 1
            case "f1":
                return 2 * tp / (tp + fp + positives)
            case "specificity":
                return np.where(specificity >= self.at_least - 1e-12, sensitivity, -np.inf)
            case "sensitivity":
                return np.where(sensitivity >= self.at_least - 1e-12, specificity, -np.inf)
        cost_fp, cost_fn = self.costs if self.by == "cost" else (1.0, 1.0)
        loss = (cost_fp * fp + cost_fn * (positives - tp)) / (positives + negatives)
        return 1 - loss if self.by == "accuracy" else -loss

    def value_at(self, counts: PerDecision, place: int) -> float:
        """Return the value of a threshold on other observations, also where it is not allowed."""
        return float(replace(self, at_least=-1.0).values(counts)[place])


def _choice(
    sample: _Sample, aim: _Aim, label: Hashable, level: float, n_draws: int, seed: int
) -> ThresholdChoice:
    by, whole = aim.by, sample.counts(sample.weights)
    [of_nobody], values = np.split(aim.values(np.insert(whole, 0, 0.0, axis=1)), [1])
    places = np.arange(len(values))
    value, ties = Maximum.of(values, places)
    best = int(ties[0])
    if not np.isfinite(value):
        raise ValueError(f"no threshold has the {by} that at_least asks for: take a smaller one")
    threshold = float(sample.thresholds[best])
    generator, n = np.random.default_rng(seed), len(sample.units.stratum)
    m = int(np.ceil(n**_SHARE_DRAWN))

    def drawn_rows(size: int) -> PerRow:
        times = np.bincount(generator.integers(n, size=size), minlength=n)
        return sample.units.drawn_weights(times * 1.0)

    drawn = np.full((n_draws, 4), np.nan)  # threshold of m, in-bag, out-of-bag, optimism
    for row in drawn:
        times = drawn_rows(n)
        of_draw = aim.values(sample.counts(sample.weights * times))
        if not np.isfinite(of_draw).any():
            continue
        row[1], ties = Maximum.of(of_draw, places)
        place = int(ties[0])
        row[2] = aim.value_at(sample.counts(sample.weights * (times == 0)), place)
        row[3] = row[1] - aim.value_at(whole, place)
        if not aim.is_of_rate:
            of_fewer = aim.values(sample.counts(sample.weights * drawn_rows(m)))
            if np.isfinite(of_fewer).any():
                row[0] = Maximum.of(of_fewer, sample.thresholds).thresholds[0]
    in_bag, out_of_bag, optimism = np.nanmean(drawn[:, 1:], axis=0).tolist()
    few = (
        f"There are {n} observations, fewer than {_FEW}: the interval of the value may cover up to "
        "five points less than its level."
    )
    nobody = (
        f"Predict no row as {printable(label)}, or improve the scores: {_MAXIMIZED[by]} is then "
        f"{digits(of_nobody)}, and {digits(value)} at the best threshold."
    )
    is_nobody_best = 0 not in Maximum.of(np.array([value, of_nobody]), np.arange(2)).thresholds
    tails = [(1 - level) / 2, (1 + level) / 2]
    if aim.is_of_rate:
        low, high = _limits_of_quantile(sample, by, aim.at_least, 1 - level)
        limits = min(low, threshold), max(high, threshold)  # the best of some that are as good
    else:
        shift = np.nanquantile(drawn[:, 0] - threshold, tails) * (m / n) ** _RATE_OF_MAXIMUM
        low, high = (threshold + shift).tolist()
        limits = low, high
    # Drawn errors of a chosen value are too small in small samples; those at a fixed threshold are
    # too small in large ones. The interval extends as far as either.
    by_choice = value - np.nanquantile(drawn[:, 3], tails)[::-1]
    at_fixed = _at_fixed(sample, best, aim.measure, 1 - level).interval
    rates = {
        name: _at_fixed(sample, best, get_measure(rate), 1 - level)
        for name, rate in (("sensitivity", "recall"), ("specificity", "specificity"))
    }
    ends = [min(by_choice[0], at_fixed[0] - optimism), max(by_choice[1], at_fixed[1] - optimism)]
    bounds = (-np.inf, 0.0) if by == "cost" else (-1.0 if by == "youden" else 0.0, 1.0)
    low, high = np.clip(ends, *bounds)
    return ThresholdChoice(
        by,
        label,
        ValueWithInterval(threshold, limits),
        ValueWithInterval(value, (float(low), float(high))),
        optimism,
        value - optimism,
        in_bag,
        out_of_bag,
        np.stack([sample.thresholds, np.where(np.isfinite(values), values, np.nan)]),
        level,
        n_draws,
        seed,
        (nobody,) * is_nobody_best + (few,) * (n < _FEW),
        aim.at_least if aim.is_of_rate else None,
        rates=rates,
        n_observations=len(sample.bins),
    )


def _at_fixed(sample: _Sample, place: int, measure: Measure, error: float) -> ValueWithInterval:
    """Return a measure of the decisions at a fixed threshold with its interval."""
    decided = (sample.bins <= place).astype(np.int32)
    true = sample.is_positive.astype(np.int32)
    decisions = Predictions((False, True), true, np.eye(2)[decided], sample.weights, decided)
    facts = facts_in(Sample(decisions, sample.units), measure)
    low, high = facts.interval_at(error)
    return ValueWithInterval(facts.value, (low, high))


def _limits_of_quantile(
    sample: _Sample, by: Criterion, at_least: float, error: float
) -> tuple[float, float]:
    """Return the limits of the threshold that has a specificity, or a sensitivity.

    The number of the class's scores that are at least the true threshold is binomial.
    """
    is_of_class = sample.is_positive if by == "sensitivity" else ~sample.is_positive
    share = at_least if by == "sensitivity" else 1 - at_least
    weights = sample.weights * is_of_class
    [n] = kish_sizes(np.zeros(len(weights), int), weights)
    least, most = np.nan_to_num(np.ceil(bdtrik(np.array([error / 2, 1 - error / 2]), n, share)))
    above = np.bincount(sample.bins, weights).cumsum() * (n / weights.sum())
    falling = np.concatenate([[np.inf], sample.thresholds, [-np.inf]])
    low, high = np.searchsorted(above, np.array([most + 1, least]) - 1e-9)
    return float(falling[1 + low]), float(falling[1 + high if least > 0 else 0])
