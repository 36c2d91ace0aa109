"""How many cases a test set needs: half-widths and power from a pilot's influence variances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dmfroc import Measure, Predictions
from dmfroc.applications.plan_design import Aim, Design, design_of_figures, make_design
from dmfroc.applications.published import PublishedFigures
from dmfroc.extend import (
    DEFAULT_LEVEL,
    MANY_FREEDOM,
    Column,
    DataFrame,
    PerClass,
    Result,
    Table,
    as_frame,
    as_predictions,
    caveats,
    check_level,
    checked_same_observations,
    encoded_judge,
    get_measure,
    integer,
    matched,
    no_probabilities,
    numbers,
    paragraphs,
    probabilities_of,
    row_names,
    title_for,
    warn,
)

_LARGEST_GAP = 0.1  # relative, between mean probabilities and class shares
_FEW_DECIDE = (
    "plan with more cases: few observations decide the difference, and "
    "compare(test=NonInferiority(...)) tests by its limits, with less power than the t test that "
    "is planned"
)
_LEAST_SHARE = 0.01  # of each class, roughly, in the best design


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
    warnings : tuple of str
        What limits what the pilot shows.
    targets : dict of str to int
        Of several half-widths: the cases that each measure needs. The plan is that of the largest.
    """

    drawn_by = "dmfroc.applications.pictures"
    main_table = "cases"
    json_names = ("measure", "aim", "value", "n", "n_interval", "n_optimal", "level")

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
    warnings: tuple[str, ...]
    _design: Design
    targets: dict[str, int] = field(default_factory=dict)

    def half_width(self, n: int) -> float:
        """Return half the width of the interval that ``n`` cases will have."""
        return self._design.half_width(integer("n", n, 1))

    def power(self, n: int) -> float:
        """Return the probability that ``n`` cases will show the difference.

        Raises
        ------
        ValueError
            If the plan is one for a half-width.
        """
        if self.difference is None:
            raise ValueError("a plan for a half-width has no power: give a difference")
        return self._design.power(integer("n", n, 1), self.difference, self.margin)

    def curve(self, sizes: Sequence[int] | None = None) -> DataFrame:
        """Return the curve: standard error, half-width and power for several numbers of cases.

        Parameters
        ----------
        sizes : sequence of int, optional
            By default 25, from a quarter to four times `n`.
        """
        return as_frame(self._curve(self._sizes() if sizes is None else sizes))

    def tables(self) -> list[Table]:
        """Return the cases, those of each class, and what other numbers of cases would give."""
        low, high = self.n_interval
        cases = [
            Column("measure", "measure", [self.measure], "name"),
            Column("n", "cases", [self.n], "count"),
            Column("low", f"from ({100 * self.level:g} %)", [low], "count"),
            Column("high", "to", [high], "count"),
        ]
        classes = [
            Column("label", "class", self.class_counts, "name"),
            Column("count", "cases", self.class_counts.values(), "count"),
            Column("share", "share", self.prevalence.values(), "percent"),
            Column("optimal_share", "best share", self.optimal_prevalence.values(), "percent"),
        ]
        targets = [
            Column("measure", "measure", self.targets, "name"),
            Column("n", "cases", self.targets.values(), "count"),
        ]
        of_targets = [Table("targets", "Cases of each target", targets, is_by_name=True)]
        title = "Cases of each class, and the shares with which fewest cases are needed"
        tables = [
            Table("cases", f"Cases for {self.aim}", cases, is_by_name=True),
            Table("classes", title, classes),
            self._curve(self._sizes()),
        ]
        return tables + (of_targets if self.targets else [])

    def _curve(self, sizes: Sequence[int]) -> Table:
        error, sizes = self._design.standard_error, [integer("each of sizes", n, 1) for n in sizes]
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
        ]
        if self.optimal_prevalence != self.prevalence:
            sentences.append(f"with the best shares of the classes ({shares}), {self.n_optimal}")
        if self.n_pilot == 0:
            sentences[1] = "from published figures, without a pilot"
        if self.targets:
            each = ", ".join(f"{name} {n}" for name, n in self.targets.items())
            sentences.append(f"cases by target: {each}; {self.measure} decides")
        told = [f"warning: {x}" for x in self.warnings if warnings]
        return "\n".join(paragraphs([*sentences, *told]))


def plan(
    pilot: Any = None,
    y_score: Any = None,
    *,
    measure: str | Measure = "dmf_auc",
    half_width: float | int | Mapping[str, float] | None = None,
    difference: float | int | None = None,
    margin: float | int | None = None,
    power: float | int | None = None,
    prevalence: Any = "pilot",
    folds: Any = None,
    groups: Any = None,
    judge: Any = None,
    level: float = DEFAULT_LEVEL,
) -> Plan:
    """Say how many cases a test set needs.

    The variance of a measure is the sum over the classes of the variance of their influences, over
    the number of their cases. A pilot estimates the variances of the influences. Half-widths are
    those of the jackknife's intervals with as many cases; power is that of its test.

    Parameters
    ----------
    pilot : Predictions, dict of str to Predictions, PublishedFigures, or array-like
        Predictions of a pilot study, or those of two classifiers on the same observations for
        their difference. Without a pilot: `PublishedFigures` with a prevalence, an AUC and risks.
        Or the observed classes, with scores.
    y_score : array-like or table of shape (n, K), or (n,) for K = 2, or a dict of two, optional
        Scores of one classifier, or of two by name.
    measure : str or Measure
        As for `estimate`.
    half_width : float or dict of str to float, optional
        Half the width that the interval shall have; of several measures by name. Then the plan is
        that of the measure that needs most cases.
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
    folds : array-like of shape (n,), optional
        The fold of each row of a cross-validated pilot, whose scores are compared within folds.
    groups : array-like of shape (n,), optional
        To which patient, document, ... each row of the pilot belongs. The planned cases come in
        groups of the same sizes; the class shares are those of the pilot.
    judge : array-like of shape (n,), optional
        Labels of a judge for the rows of the pilot. Then the plan says how many rows to verify, if
        the judge labels many more, see the page on few labels.
    level : float
        Level of the intervals, in (0, 1); tests are of level ``1 - level``, two-sided, and
        one-sided of half of that for non-inferiority.

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
    if isinstance(half_width, Mapping):
        options: dict[str, Any] = {"prevalence": prevalence, "level": level}
        options |= {"judge": judge, "groups": groups, "folds": folds}
        if unknown := [x for x in half_width if not isinstance(x, str)]:
            raise TypeError(f"half_width must be by name of the measure, but has {unknown[0]!r}")
        try:
            for name in half_width:
                get_measure(name)
        except ValueError as error:
            raise ValueError(f"half_width: {error}") from error
        plans = {
            name: plan(pilot, y_score, measure=name, half_width=width, **options)
            for name, width in half_width.items()
        }
        if not plans or (difference, margin, power) != (None, None, None):
            raise TypeError("half_width of several measures needs one at least, and nothing else")
        decisive = max(plans.values(), key=lambda x: x.n)
        warnings = tuple(dict.fromkeys(w for x in plans.values() for w in x.warnings))
        targets = {name: x.n for name, x in plans.items()}
        return replace(decisive, targets=targets, warnings=warnings)
    measure = get_measure(measure)
    try:
        if y_score is not None:
            named = y_score if isinstance(y_score, Mapping) else {"pilot": y_score}
            pilot = {name: as_predictions(pilot, x, by_fold=True) for name, x in named.items()}
    except (TypeError, ValueError) as error:
        raise type(error)(f"pilot with scores: {error}") from error
    if power is not None and half_width is not None:
        raise TypeError(
            "power goes with difference= or margin=, not with half_width=: leave it out"
        )
    power = 0.8 if power is None else power
    aim = Aim(half_width, difference, margin, power, check_level(level))
    for name, value in (("half_width", half_width), ("difference", difference), ("margin", margin)):
        if value is not None and abs(value) > measure.largest_difference:
            low, high = measure.bounds
            raise ValueError(
                f"{name}={value!r} is more than {measure.name} can differ, whose range is {low:g} "
                f"to {high:g}: do you mean {name}={value / 100:g}?"
            )
    figures = pilot if isinstance(pilot, PublishedFigures) else None
    prevalence_is_other = not isinstance(prevalence, str) or prevalence != "pilot"
    if figures is not None:
        if prevalence_is_other or not (judge is None and groups is None and folds is None):
            raise TypeError(
                "prevalence, judge, groups and folds are for a pilot: PublishedFigures has its own"
            )
        pilot = figures.population(measure.name, measure.needs)
    pilots = _pilots(pilot)
    if folds is not None and judge is not None:
        raise TypeError("folds cannot be given together with judge=: leave one out")
    if folds is not None:
        pilots = [one.in_folds(folds) for one in pilots]
    first, shares = pilots[0], _shares(prevalence, pilots[0])
    of_inputs = [remark for one in pilots for remark in one.remarks]  # given where they were read
    remarks = [remark for one in pilots for remark in caveats([measure], one)]
    remarks += filter(None, [_other_shares_message(measure, first, shares)])
    n_classifiers = 2 if figures and figures.correlation is not None else len(pilots)
    if margin is not None and n_classifiers != 2:
        raise ValueError("margin compares two classifiers: pass a dict of the predictions of both")
    labels = [first.labels[place] for place in first.present]
    if groups is not None:
        if prevalence_is_other:
            raise TypeError("groups= plans for the class shares of a pilot: leave prevalence= out")
        rows, counts = first.given_rows, first.sample_weight > 0
        groups = row_names(groups, "groups", first.n_given, rows, "a group")[counts]
        first = replace(first, index=rows.index)
    of_judge = None if judge is None else encoded_judge(judge, first)
    design = make_design(measure, pilots, shares, aim.level, of_judge, groups)
    if figures is not None:
        remarks = [*filter(None, [figures.message])]
        design = design_of_figures(design, figures, first)
    best = design
    if groups is None:
        deviations = np.sqrt(design.moments.variances)
        # A class that the pilot separates perfectly still needs cases
        deviations = np.maximum(deviations, _LEAST_SHARE * deviations.sum())
        best = replace(design, shares=deviations / deviations.sum())
    n, n_optimal = aim.smallest_size(design), aim.smallest_size(best)
    if margin is not None and design.planned(n).spread.degrees_of_freedom < MANY_FREEDOM:
        remarks.append(_FEW_DECIDE)
    warn(dict.fromkeys(remarks))
    warnings = tuple(dict.fromkeys([*of_inputs, *remarks]))
    if n_optimal > n:  # if few cases of such a class decide the interval
        best, n_optimal = design, n
    return Plan(
        measure=measure.name,
        title=title_for(measure.title, first),
        value=design.value,
        aim=aim.in_words(n_classifiers),
        n=n,
        n_interval=(aim.smallest_size(design.inflated(0)), aim.smallest_size(design.inflated(1))),
        class_counts=dict(zip(labels, design.counts(n).tolist(), strict=True)),
        prevalence=dict(zip(labels, design.shares.tolist(), strict=True)),
        optimal_prevalence=dict(zip(labels, best.shares.tolist(), strict=True)),
        n_optimal=n_optimal,
        level=level,
        difference=aim.true_difference,
        margin=margin,
        n_classifiers=n_classifiers,
        n_pilot=0 if figures else first.n_observations,
        warnings=warnings,
        _design=design,
    )


def _pilots(pilot: Predictions | Mapping[str, Predictions]) -> list[Predictions]:
    named = dict(pilot) if isinstance(pilot, Mapping) else {"pilot": pilot}
    for one in named.values():
        if not isinstance(one, Predictions):
            raise TypeError(
                "pilot must be Predictions, a dict of two Predictions by name, or "
                f"PublishedFigures, but there is a {type(one).__name__}; of a result of evaluate "
                "or compare pass its .predictions"
            )
    if len(named) not in (1, 2):
        raise ValueError(f"pilot must have one or two classifiers, but it has {len(named)}")
    named = checked_same_observations(matched(named))
    return [as_predictions(one, needs="labels", by_fold=True) for one in named.values()]


def _shares(prevalence: Any, pilot: Predictions) -> PerClass:
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


def _other_shares_message(measure: Measure, pilot: Predictions, shares: PerClass) -> str | None:
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
        "adapt the pilot first if the classifier will be adapted to the planned class shares: "
        "multiply the probabilities of each class by the ratio of its shares "
        f"({', '.join(factors)}), and divide every row by its sum. The mean probabilities of the "
        f"pilot do not fit these shares, and {measure.name} is that of a classifier as it is"
    )
