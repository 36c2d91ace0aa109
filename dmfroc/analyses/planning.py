"""How many cases a test set needs: half-widths and power from a pilot's influence variances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Float, Int
from scipy.special import chdtri, nctdtr, stdtrit

from dmfroc._kit.options import check_level, number, numbers, positive, seed_of
from dmfroc._kit.remarks import warn
from dmfroc.analyses.catalogue import get_measure, title_for
from dmfroc.inference.influences import NO_VARIATION, Moments, influences_of, moments_of
from dmfroc.inference.jackknife import SYMMETRIC_FROM
from dmfroc.inference.limits import interval, pools_classes, rare_errors
from dmfroc.inference.options import DEFAULT_LEVEL
from dmfroc.inference.sign_flips import uses_sign_flips
from dmfroc.inference.units import units_of
from dmfroc.inputs.class_shares import in_class_shares
from dmfroc.inputs.judge import encoded_judge
from dmfroc.inputs.predictions import Predictions, as_predictions
from dmfroc.inputs.rows import checked_same_observations, matched
from dmfroc.measures.measure import Measure, bind, caveats
from dmfroc.measures.statistics.forecasts import no_probabilities, probabilities_of
from dmfroc.results.result import Result
from dmfroc.results.table import Column, Table
from dmfroc.results.text import warning_lines
from dmfroc.results.writers import as_frame
from dmfroc.simulation import MultinomialPopulation, SimulatedClassifier, simulate_predictions

if TYPE_CHECKING:
    import pandas as pd


_N_SIMULATED = 20_000  # observations of a pilot from simulation settings
_LARGEST_GAP = 0.1  # relative, between mean probabilities and class shares
_FEW_DECIDE = (
    "few observations decide the difference, and compare(margin=...) then takes the limits of both "
    "values: its power is less than that of the t test that is planned. Plan with more cases"
)
_MOST_CASES = 10**9
_LEAST_SHARE = 0.01  # of each class, roughly, in the best design
_LEAST_OF_CLASS = 2

Classifiers = SimulatedClassifier | Mapping[str, SimulatedClassifier] | None
Pilot = Predictions | Mapping[str, Predictions] | MultinomialPopulation


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Result):
    """How many cases are needed, and what any other number would give.

    Attributes
    ----------
    measure, title : str
        Name of the measure, and its name in tables.
    value : float
        The measure in the pilot; of two classifiers, the difference of their values.
    aim : str
        What was asked for, in words.
    n : int
        Number of cases that is needed.
    n_interval : tuple of int
        The numbers that are needed if the pilot's variance is at the ends of its interval of the
        same level: how certain `n` is.
    class_counts : dict of label to int
        Cases of each class.
    prevalence : dict of label to float
        Their shares.
    optimal_prevalence : dict of label to float
        The shares with which fewest cases are needed, proportional to the standard deviations of
        the influences. It takes the measure to be one that does not depend on the class shares.
    n_optimal : int
        Number of cases needed with these.
    level : float
        Level of the intervals and of the tests.
    difference, margin : float or None
        What is to be shown.
    n_classifiers, n_pilot : int
        Number of classifiers of the pilot, one or two, and of its observations.
    seed : int or None
        Seed of a simulated pilot.
    warnings : tuple of str
        What limits what the pilot shows.
    """

    main_table: ClassVar[str] = "curve"
    fact_names: ClassVar[tuple[str, ...]] = (
        *("measure", "aim", "value", "n", "n_interval", "n_optimal", "level"),
    )

    measure: str
    title: str
    value: float
    aim: str
    n: int
    n_interval: tuple[int, int]
    class_counts: dict[Any, int]
    prevalence: dict[Any, float]
    optimal_prevalence: dict[Any, float]
    n_optimal: int
    level: float
    difference: float | int | None
    margin: float | int | None
    n_classifiers: int
    n_pilot: int
    seed: int | None
    warnings: tuple[str, ...]
    _design: _Design

    def half_width(self, n: int) -> float:
        """Return half the width of the interval that ``n`` cases will have."""
        return self._design.half_width(n)

    def power(self, n: int) -> float:
        """Return the probability that ``n`` cases will show the difference.

        Raises
        ------
        ValueError
            If the plan is one for a half-width.
        """
        if self.difference is None:
            raise ValueError("a plan for a half-width has no power: give a difference")
        return self._design.power(n, self.difference, self.margin)

    def curve(self, sizes: Sequence[int] | None = None) -> pd.DataFrame:
        """Return the curve: standard error, half-width and power for several numbers of cases.

        Parameters
        ----------
        sizes : sequence of int, optional
            By default 25, from a quarter to four times `n`.
        """
        return as_frame(self._curve(self._sizes() if sizes is None else sizes))

    def tables(self) -> list[Table]:
        """Return the cases of each class, and what other numbers of cases would give."""
        classes = [
            Column("label", "class", self.class_counts, "name"),
            Column("count", "cases", self.class_counts.values(), "count"),
            Column("share", "share", self.prevalence.values(), "percent"),
            Column("optimal_share", "best share", self.optimal_prevalence.values(), "percent"),
        ]
        title = "Cases of each class, and the shares with which fewest cases are needed"
        return [Table("classes", title, classes), self._curve(self._sizes())]

    def _curve(self, sizes: Sequence[int]) -> Table:
        error = self._design.standard_error
        half_width = f"half-width of the {100 * self.level:g} % interval"
        columns = [
            Column("n", "cases", sizes, "count"),
            Column("standard_error", "std. error", map(error, sizes), "error"),
            Column("half_width", half_width, map(self.half_width, sizes), "error"),
        ]
        if self.difference is not None:
            columns.append(Column("power", "power", map(self.power, sizes), "probability"))
        title = "What other numbers of cases would give"
        return Table("curve", title, columns, is_by_name=True)

    def _sizes(self) -> list[int]:
        least = self._design.least_n
        ends = max(self.n / 4, least), max(4 * self.n, least + 25)
        return np.unique(np.geomspace(*ends, 25).round().astype(int)).tolist()

    def as_text(self, *, warnings: bool = True, all_rows: bool = False) -> str:
        """Return the numbers of cases in sentences."""
        counts = ", ".join(f"{label} {count}" for label, count in self.class_counts.items())
        shares = ", ".join(f"{k} {share:.0%}" for k, share in self.optimal_prevalence.items())
        low, high = self.n_interval
        sentences = [
            f"{self.title}: {self.n} cases ({counts}) for {self.aim}",
            f"by the variance in the pilot, {low} to {high} ({100 * self.level:g} % interval)",
            f"with the best shares of the classes ({shares}), {self.n_optimal}",
        ]
        return "\n".join([*sentences, *warning_lines(self.warnings if warnings else ())])


def plan(
    pilot: Any,
    y_score: Any = None,
    *,
    measure: str | Measure = "dmf_auc",
    half_width: float | int | None = None,
    difference: float | int | None = None,
    margin: float | int | None = None,
    power: float | int | None = None,
    prevalence: Any = "pilot",
    classifier: Classifiers = None,
    judge: Any = None,
    level: float = DEFAULT_LEVEL,
    random_state: int | np.random.Generator | None = 0,
) -> Plan:
    """Say how many cases a test set needs.

    The variance of a measure is the sum over the classes of the variance of their influences, over
    the number of their cases. A pilot estimates the variances of the influences. Half-widths are
    those of the jackknife's intervals, with their scale and their t quantile; power is that of its
    test.

    Parameters
    ----------
    pilot : Predictions, dict of str to Predictions, MultinomialPopulation, or array-like
        Predictions of a pilot study; those of two classifiers on the same observations, for their
        difference; or simulation settings where there is none. Or the observed classes,
        with scores.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2, or a dict of two, optional
        Scores of one classifier, or of two by name.
    measure : str or Measure
        As for `estimate`.
    half_width : float, optional
        Half the width that the interval shall have.
    difference : float, optional
        Instead: the true difference that shall be found, of the two classifiers, or of the one
        from any fixed value; its sign does not matter. With `margin` the true difference of the
        first classifier from the second, signed so that more is better, by default 0.
    margin : float, optional
        For non-inferiority: how much worse than the second the first classifier may be; shown if
        the interval of the difference lies above ``-margin``.
    power : float, optional
        Probability with which the difference, or non-inferiority, shall be shown, by default 0.8.
    prevalence : {"pilot", "balanced"} or sequence of float
        Shares of the classes in the planned test set, in the order of the labels, those that occur
        in the pilot. A measure that depends on them is the one of a population with these.
    classifier : SimulatedClassifier, or dict of two by name, optional
        What is simulated if the pilot is a `MultinomialPopulation`, by default a classifier that
        sees all covariates.
    judge : array-like of shape (n,), optional
        Labels of a judge for the rows of the pilot. Then the plan says how many rows to verify, if
        the judge labels many more, see the page on few labels.
    level : float
        Level of the intervals, in (0, 1); tests are of level ``1 - level``, two-sided, and
        one-sided of half of that for non-inferiority.
    random_state : int, numpy.random.Generator or None
        Seed of a simulated pilot.

    Returns
    -------
    Plan
        Prints what is needed and how precise that is; gives half-width and power for any number.

    Raises
    ------
    TypeError, ValueError
        If neither or both of a half-width and a difference (or margin) are given, an option is out
        of its range, the pilots are not of the same observations, or the pilot shows no variation.

    References
    ----------
    Obuchowski and McClish (1997), Sample size determination for diagnostic accuracy studies, for
    two classes; Neyman (1934) for the best shares.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(150) % 3
    >>> pilot = Predictions.from_arrays(y, rng.normal(size=(150, 3)) + 1.5 * np.eye(3)[y])
    >>> found = plan(pilot, measure="hand_till", half_width=0.02)
    >>> found.n > 500, found.half_width(found.n) <= 0.02 < found.half_width(found.n - 3)
    (True, True)
    """
    measure = get_measure(measure)
    try:
        if isinstance(y_score, Mapping):
            pilot = {name: as_predictions(pilot, scores) for name, scores in y_score.items()}
        elif y_score is not None:
            pilot = as_predictions(pilot, y_score)
    except (TypeError, ValueError) as error:
        raise type(error)(f"pilot with scores: {error}") from error
    if power is not None and half_width is not None:
        raise TypeError(
            "power goes with difference= or margin=, not with half_width=: leave it out"
        )
    power = 0.8 if power is None else power
    aim = _Aim(half_width, difference, margin, power, check_level(level))
    seed = seed_of(random_state)
    pilots = _pilots(pilot, classifier, seed)
    first, shares = pilots[0], _shares(prevalence, pilots[0])
    remarks = [remark for one in pilots for remark in caveats([measure], one)]
    remarks += filter(None, [_other_shares_message(measure, first, shares)])
    if margin is not None and len(pilots) != 2:
        raise ValueError("margin compares two classifiers: pass a dict of the predictions of both")
    labels = [first.labels[place] for place in first.present]
    of_judge = None if judge is None else encoded_judge(judge, first)
    design = _design(measure, pilots, shares, aim.level, of_judge)
    deviations = np.sqrt(design.moments.variances)
    # A class that the pilot separates perfectly still needs cases
    deviations = np.maximum(deviations, _LEAST_SHARE * deviations.sum())
    best = replace(design, shares=deviations / deviations.sum())
    n, n_optimal = aim.smallest_size(design), aim.smallest_size(best)
    if margin is not None and design.planned(n).spread.degrees_of_freedom < SYMMETRIC_FROM:
        remarks.append(_FEW_DECIDE)
    warnings = tuple(dict.fromkeys(remarks))
    warn(warnings)
    if n_optimal > n:  # if few cases of such a class decide the interval
        best, n_optimal = design, n
    return Plan(
        measure=measure.name,
        title=title_for(measure, first),
        value=design.value,
        aim=str(aim),
        n=n,
        n_interval=(aim.smallest_size(design.inflated(0)), aim.smallest_size(design.inflated(1))),
        class_counts=dict(zip(labels, design.counts(n).tolist(), strict=True)),
        prevalence=dict(zip(labels, design.shares.tolist(), strict=True)),
        optimal_prevalence=dict(zip(labels, best.shares.tolist(), strict=True)),
        n_optimal=n_optimal,
        level=level,
        difference=aim.true_difference,
        margin=margin,
        n_classifiers=len(pilots),
        n_pilot=first.n_observations,
        seed=seed if isinstance(pilot, MultinomialPopulation) else None,
        warnings=warnings,
        _design=design,
    )


@dataclass(frozen=True)
class _Aim:
    """What the planned test set shall show: a half-width, a difference, or non-inferiority."""

    half_width: float | int | None
    difference: float | int | None
    margin: float | int | None
    power: float | int
    level: float

    def __post_init__(self) -> None:
        difference, margin = self.difference, self.margin
        if (self.half_width is None) == (difference is None and margin is None):
            raise TypeError("give either half_width=, or difference= (or margin=) with power=")
        for name, value in (("half_width", self.half_width), ("margin", margin)):
            if value is not None:
                positive(name, value)
        if difference is not None:
            number("difference", difference)
            if margin is None and difference == 0:
                raise ValueError(
                    "difference must not be 0: no number of cases shows what is not there"
                )
            if margin is not None and difference <= -margin:
                raise ValueError(
                    f"difference is {difference!r}, which is not above -margin = {-margin!r}: no "
                    "number of cases shows that the first classifier is not inferior"
                )
        if not 0 < number("power", self.power) < 1:
            raise ValueError(
                f"power must be between 0 and 1, such as 0.8, but it is {self.power!r}"
            )

    @property
    def true_difference(self) -> float | None:
        """The difference that there is; signed for non-inferiority."""
        if self.margin is not None:
            return float(self.difference or 0)
        return None if self.difference is None else abs(float(self.difference))

    def __str__(self) -> str:
        """Say what is to be shown."""
        if self.half_width is not None:
            return f"a {100 * self.level:g} % interval of half-width {self.half_width:g}"
        chance = f"power {self.power:g}, level {1 - self.level:.3g}"
        if self.margin is None:
            return f"a difference of {self.true_difference:g} ({chance})"
        return (
            f"non-inferiority by {self.margin:g} if the difference is {self.true_difference:g} "
            f"({chance})"
        )

    def is_reached(self, design: _Design, n: int) -> bool:
        """Say whether so many cases suffice."""
        if self.half_width is not None:
            return design.half_width(n) <= self.half_width
        assert self.true_difference is not None
        return design.power(n, self.true_difference, self.margin) >= self.power

    def smallest_size(self, design: _Design) -> int:
        """Return the smallest number of cases that suffices, by bisection."""
        low, high = design.least_n - 1, design.least_n
        while not self.is_reached(design, high):
            low, high = high, 2 * high
            if high > _MOST_CASES:
                raise ValueError(
                    f"more than {_MOST_CASES:,} cases would be needed: ask for less, a wider "
                    "interval or a larger difference"
                )
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.is_reached(design, middle) else (middle, high)
        return high


@dataclass(frozen=True, eq=False)
class _Design:
    """What a pilot says of a test set of any size with given class shares."""

    value: float
    bounds: tuple[float, float]
    range_of_sizes: tuple[float, float] | None  # whatever the sizes of the classes
    symmetric_on_line: bool
    moments: Moments  # of the pilot
    shares: Float[np.ndarray, " k"]
    level: float
    measure: Measure
    pilot: Predictions  # with the planned class shares
    pooled_kurtosis: Float[np.ndarray, " 1"] | None  # where all units are one stratum

    @property
    def least_n(self) -> int:
        return int(np.ceil(_LEAST_OF_CLASS / self.shares.min()))

    def counts(self, n: int) -> Int[np.ndarray, " k"]:
        """Return the class sizes of n cases, which add up to n."""
        exact = n * self.shares
        counts = np.floor(exact).astype(int)
        rest = n - int(counts.sum())
        counts[np.argsort(counts - exact, kind="stable")[:rest]] += 1
        return np.maximum(counts, _LEAST_OF_CLASS)

    def planned(self, n: int) -> Moments:
        """Return the moments of the influences of n cases."""
        pilot, counts = self.moments, self.counts(n)
        n, n_sets = int(counts.sum()), int(counts.min())
        added = pilot.variances_of_sizes / (n / pilot.sizes.sum())
        if self.pooled_kurtosis is None:
            freedom = pilot.freedom_of_sizes * (n / pilot.sizes.sum())
            return replace(
                pilot,
                sizes=counts,
                n_complete_sets=n_sets,
                variances_of_sizes=added,
                freedom_of_sizes=freedom,
            )
        squares = (pilot.variances * pilot.own / pilot.sizes / counts).sum() + added.sum()
        variances = np.array([squares * n**2 / (n - 1)])
        return Moments(np.array([n]), variances, self.pooled_kurtosis, n_sets)

    def standard_error(self, n: int) -> float:
        return self.planned(n).standard_error

    def half_width(self, n: int) -> float:
        of_value = self.range_of_sizes is not None
        evidence, planned = self.counts(n).astype(float), self.planned(n)
        ends = interval(
            self.value,
            planned,
            1 - self.level,
            self.bounds,
            self.range_of_sizes if planned.depends_on_sizes else None,
            symmetric_on_line=self.symmetric_on_line,
            rare=rare_errors(self.measure, self.pilot, evidence, self.bounds) if of_value else None,
        )
        return (ends.high - ends.low) / 2

    def power(self, n: int, difference: float, margin: float | int | None) -> float:
        """Return the probability that a t test rejects: of no difference, or of inferiority.

        Where `compare` flips signs instead, that has the power of a test whose variance is known.
        """
        planned = self.planned(n)
        scale, freedom = planned.spread
        if margin is None and uses_sign_flips(planned, planned):
            scale, freedom = planned.standard_error, np.inf
        freedom = min(freedom, 1e6)  # beyond, the t distribution is normal
        critical = stdtrit(freedom, (1 + self.level) / 2)
        if margin is not None:
            return 1 - float(nctdtr(freedom, (difference + margin) / scale, critical))
        shift = difference / scale
        return (
            1 - float(nctdtr(freedom, shift, critical)) + float(nctdtr(freedom, shift, -critical))
        )

    def inflated(self, end: int) -> _Design:
        """Return the design with the variance at the lower (0) or upper (1) end of its interval."""
        freedom = self.moments.spread.degrees_of_freedom
        tail = (1 + self.level) / 2 if end else (1 - self.level) / 2
        factor = freedom / chdtri(freedom, tail)
        return replace(self, moments=self.moments.scaled(float(np.sqrt(factor))))


def _pilots(pilot: Pilot, classifier: Classifiers, seed: int) -> list[Predictions]:
    if isinstance(pilot, MultinomialPopulation):
        pilot = simulate_predictions(pilot, _N_SIMULATED, classifier, random_state=seed)
    elif classifier is not None:
        raise TypeError("classifier= goes with a MultinomialPopulation as the pilot")
    named = dict(pilot) if isinstance(pilot, Mapping) else {"pilot": pilot}
    for one in named.values():
        if not isinstance(one, Predictions):
            raise TypeError(
                "pilot must be Predictions, a dict of two Predictions by name, or a "
                f"MultinomialPopulation, but there is a {type(one).__name__}"
            )
    if len(named) not in (1, 2):
        raise ValueError(f"pilot must have one or two classifiers, but it has {len(named)}")
    named = checked_same_observations(matched(named))
    return [as_predictions(one, needs="labels") for one in named.values()]


def _shares(prevalence: Any, pilot: Predictions) -> Float[np.ndarray, " k"]:
    n_classes = len(pilot.present)
    if isinstance(prevalence, str):
        if prevalence == "balanced":
            return np.full(n_classes, 1 / n_classes)
        if prevalence == "pilot":
            counts = pilot.class_counts[pilot.present]
            return counts / counts.sum()
    else:
        shares = numbers("prevalence", prevalence)
        if shares.shape == (n_classes,) and (shares > 0).all() and np.isfinite(shares).all():
            return (np.flip(shares) if pilot.is_turned else shares) / shares.sum()
    raise ValueError(
        f"prevalence must be 'pilot', 'balanced' or a positive share of each of the {n_classes} "
        f"classes, but it is {prevalence!r}"
    )


def _other_shares_message(
    measure: Measure, pilot: Predictions, shares: Float[np.ndarray, " k"]
) -> str | None:
    """Say that probabilities are too large or small on average, if other shares are planned."""
    ratios, weights = shares / _shares("pilot", pilot), np.zeros(pilot.n_classes)
    if measure.needs != "probabilities" or np.allclose(ratios, 1) or no_probabilities(pilot):
        return None
    weights[pilot.present] = ratios
    expected = np.average(probabilities_of(pilot), axis=0, weights=weights[pilot.true])
    if np.allclose(expected[pilot.present], shares, rtol=_LARGEST_GAP):
        return None
    factors = [f"{pilot.labels[k]} {x:.3g}" for k, x in zip(pilot.present, ratios, strict=True)]
    return (
        "the mean probabilities of the pilot do not fit the planned class shares, and "
        f"{measure.name} is that of a classifier which is not adapted to these. If it will be, "
        "adapt the pilot first: multiply the probabilities of each class by the ratio of its "
        f"shares ({', '.join(factors)}), and divide every row by its sum"
    )


def _design(
    measure: Measure,
    pilots: list[Predictions],
    shares: Float[np.ndarray, " k"],
    level: float,
    judge: Int[np.ndarray, " n"] | None = None,
) -> _Design:
    """Find the value and the influences under the class shares of the planned test set.

    With a judge of many more rows the influences are those that its labels leave unexplained.
    """
    influences_of_each, by_judge = [], []
    for pilot in pilots:
        target = np.zeros(pilot.n_classes)
        target[pilot.present] = shares
        weighted = in_class_shares(pilot.counted, target)
        [influences] = influences_of([measure], bind(measure, weighted), weighted)
        influences_of_each.append(influences)
        if judge is not None:
            judged = replace(weighted, true=judge[pilot.sample_weight > 0])
            by_judge.append(influences_of([measure], bind(measure, judged), judged)[0].influences)
    units = units_of(pilots[0].counted)
    range_of_sizes = kurtosis = None
    phi = influences_of_each[0].influences
    if len(influences_of_each) > 1:
        phi = phi - influences_of_each[1].influences
    if by_judge:
        psi = by_judge[0] if len(by_judge) == 1 else by_judge[0] - by_judge[1]
        phi = phi - psi * ((phi @ psi) / max(float(psi @ psi), NO_VARIATION**2))
    moments = moments_of(phi, units)
    if len(influences_of_each) == 1:
        value = influences_of_each[0].value
        is_pooled, on_line = pools_classes(measure, weighted), True
        if is_pooled:
            kurtosis = moments_of(phi, units.in_one_stratum).kurtoses
        has_strata = len(units.sizes) > 1 and not is_pooled
        bounds = measure.range_in(weighted, sizes_are_fixed=has_strata)
        range_of_sizes = measure.range_in(weighted)
    else:
        low, high = measure.bounds
        value = influences_of_each[0].value - influences_of_each[1].value
        bounds, on_line = (low - high, high - low), False
    if not np.isfinite(value) or moments.spread.scale <= NO_VARIATION:
        raise ValueError(
            f"{measure.name} is {value:g} in the pilot and does not vary there, as if a "
            "classifier or a judge is perfect. This says nothing about other samples: use a larger "
            "pilot"
        )
    return _Design(
        value, bounds, range_of_sizes, on_line, moments, shares, level, measure, weighted, kurtosis
    )
