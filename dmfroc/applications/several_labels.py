"""Rows with several labels: each label by itself, their mean, and all of them pooled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from dmfroc import Measure
from dmfroc.extend import (
    DEFAULT_LEVEL,
    NO_VARIATION,
    Column,
    Difference,
    FactsInMemory,
    Hypothesis,
    Influences,
    IntPerRow,
    Jackknife,
    JointEstimates,
    Limits,
    Moments,
    Part,
    PartOf,
    PerRow,
    RandomState,
    Rows,
    Sample,
    Source,
    Table,
    Test,
    Units,
    as_array,
    as_floats,
    as_predictions,
    by_label,
    check_level,
    choice,
    chosen_names,
    collected_remarks,
    combined,
    comparison_fields,
    differences_by,
    facts_in,
    get_measure,
    holm_adjusted,
    joint_combined,
    joint_facts,
    limits_of_sum,
    listed,
    listing,
    match_columns,
    moments_of,
    parallel_map,
    remedy_for_several,
    seed_of,
    unit_of_rows,
    units_of,
    warn,
)
from dmfroc.results import Comparison, Estimate

Entries = tuple[Int[np.ndarray, " e"], Int[np.ndarray, " e"]]
"""Rows and columns."""

Labels = Sequence[tuple[int, Units]]
"""Places of labels, and the units of their entries."""

EstimatesOfParts = dict[str, dict[str, Estimate]]
DifferencesOfParts = dict[str, tuple[Difference, ...]]
"""By label and classifier, or by label of the classifiers."""

ONE = "classifier"
"""The name of a classifier that is alone."""

PerLabel = Float[np.ndarray, "n l"]
"""One number for each row and label."""


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows with several labels, each 0 or 1, and the scores of classifiers.

    Attributes
    ----------
    true : numpy.ndarray of shape (n, L)
        NaN where a label is not known.
    scores, predicted : dict of str to numpy.ndarray of shape (n, L)
        By name of the classifier.
    names : tuple of str
        Of the labels.
    unit : numpy.ndarray of int, shape (n,)
        The independent unit of each row.
    weight : numpy.ndarray of shape (n,)
        How much each row counts.
    """

    true: PerLabel
    scores: dict[str, PerLabel]
    predicted: dict[str, PerLabel]
    names: tuple[str, ...]
    unit: IntPerRow
    weight: PerRow

    @property
    def classifiers(self) -> list[str]:
        """Names of the classifiers."""
        return list(self.scores or self.predicted)

    @cached_property
    def n_units(self) -> int:
        """Number of independent units."""
        return int(self.unit.max()) + 1

    def sums_of_labels(
        self, labels: Labels, influences: Sequence[Influences]
    ) -> tuple[Float[np.ndarray, "l u"], list[Moments]]:
        """Return the influences of each unit on labels, and the moments of those of each label.

        They have the variance of the moments.
        """
        sums, moments = np.zeros((len(labels), self.n_units)), []
        for row, (place, units), x in zip(sums, labels, influences, strict=True):
            row += np.bincount(self.unit[self.entries(place)[0]], x.influences, self.n_units)
            moments.append(moments_of(x.influences, units))
            plain = float(np.sqrt(row @ row))
            row *= moments[-1].standard_error / plain if plain > NO_VARIATION else 1.0
        return sums, moments

    def entries(self, place: int) -> Entries:
        """Return the entries of a label that are known."""
        rows = np.flatnonzero(~np.isnan(self.true[:, place]))
        return rows, np.full(len(rows), place)

    def facts(self, measure: Measure, name: str, entries: Entries) -> FactsInMemory:
        """Return what entries say of a measure, as predictions of two classes."""
        predicted, row = self.predicted.get(name), entries[0]
        scores = self.scores[name][entries] if self.scores else None
        with collected_remarks():
            predictions = as_predictions(
                self.true[entries].astype(int),
                scores,
                y_pred=None if predicted is None else predicted[entries].astype(int),
                labels=[0, 1],
                sample_weight=self.weight[row],
                needs="labels" if scores is None else "scores",
            )
            unit = self.unit[row]
            groups = unit if np.bincount(unit).max() > 1 else None
            facts = facts_in(Sample(predictions, units_of(predictions, groups)), measure)
        if not np.isfinite(facts.value):
            raise ValueError("it is not defined there")
        return replace(facts, can_redraw=False)


@dataclass(frozen=True, eq=False, repr=False)
class MultilabelComparison(Comparison):
    """A measure of one or several classifiers that give each row several labels.

    ``estimates`` and ``differences`` are those of the mean over the labels, or with
    ``average="micro"`` of all entries pooled. Beside what is said of every `Comparison`:

    Attributes
    ----------
    average : {"macro", "weighted", "micro"}
        How labels are put together.
    rows : LabelledRows
        What was compared.
    by_label : dict of str to dict of str to Estimate
        By name of the label and of the classifier.
    label_differences : dict of str to tuple of Difference
        By name of the label; p-values are adjusted by Holm's method within the label.
    label_covariances : dict of str to numpy.ndarray of shape (l, l)
        By classifier: of the values of the labels in ``by_label``, which have rows in common.
    left_out : dict of str to str
        Labels without a value, and why.
    """

    drawn_by = "dmfroc.applications.pictures"
    main_table = "estimates"
    json_names = ("average", "left_out", *Comparison.json_names)

    average: str = field(kw_only=True)
    rows: LabelledRows = field(kw_only=True, repr=False)
    by_label: EstimatesOfParts = field(kw_only=True)
    label_differences: DifferencesOfParts = field(kw_only=True)
    label_covariances: dict[str, Float[np.ndarray, "l l"]] = field(kw_only=True, repr=False)
    left_out: dict[str, str] = field(kw_only=True)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a careful reader has to know."""
        remarks = [remark for e in self.estimates.values() for remark in e.warnings]
        if self.left_out:
            names = listing(list(self.left_out))
            reason = next(iter(self.left_out.values()))
            remarks.append(f"left out of the mean: {names} ({reason})")
        return tuple(dict.fromkeys(remarks))

    def tables(self) -> list[Table]:
        """Return the classifiers, their differences, and each label."""
        averages, differences, orders = super().tables()
        title = f"{self.title}, {self.average} average"
        tables = [replace(averages, title=title)]
        if self.differences:
            tables += [differences, orders]
        interval = f"{100 * self.level:g} % interval"
        cells = [
            (label, name, estimate)
            for label, of_label in self.by_label.items()
            for name, estimate in of_label.items()
        ]
        labels, names, estimates = zip(*cells, strict=True)
        columns = [
            Column("label", "label", labels, "name"),
            Column("classifier", "classifier" if len(self.estimates) > 1 else "", names, "name"),
            Column("value", self.title, estimates, "estimate", interval, "std. error"),
        ]
        tables.append(Table("labels", f"{self.title} of each label", columns))
        return tables + differences_by(
            "label",
            "label_differences",
            self.label_differences,
            "Differences in each label, A minus B",
            self.kind_of_interval,
        )


def multilabel(
    y_true: Any,
    y_score: Any = None,
    *,
    measure: str | Measure | None = None,
    y_pred: Any = None,
    average: str = "macro",
    labels: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    test: Test = "two-sided",
    simultaneous: bool = False,
    level: float | int = DEFAULT_LEVEL,
    random_state: RandomState = 0,
) -> MultilabelComparison:
    """Evaluate or compare classifiers that give each row any number of labels.

    Parameters
    ----------
    y_true : array-like or table of shape (n, L)
        1 where a row has the label, 0 where it has not, missing where that is not known. Columns
        of tables with names are matched by name, as in `Predictions.from_arrays`, all others by
        position.
    y_score : array-like or table of shape (n, L), or dict of str to such
        Scores of the labels, of one classifier or of several by name.
    measure : str or Measure, optional
        Any measure of two classes, see `estimate`; by default ``"hand_till"``, which is the area
        under the ROC curve, and without scores ``"f1"``.
    y_pred : array-like or table of shape (n, L), or dict of str to such, optional
        Predicted labels, 0 or 1, for measures of hard labels.
    average : {"macro", "weighted", "micro"}
        The mean over the labels that have a value, each by itself or by its number of positive
        rows, or the value of all entries pooled.
    labels : list of str, optional
        Names of the labels, in the order of columns without names. By default those of the columns
        of y_true, else of the first other table, else their numbers.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, above 0.
    groups : array-like of shape (n,), optional
        Rows that belong together, such as documents of one author.
    test, simultaneous, level
        As for `compare`.
    random_state : int, numpy.random.Generator, key of jax.random or None
        Seed of the draws behind the probabilities of the orders.

    Returns
    -------
    MultilabelComparison
        A `Comparison` of the averages, with each label in ``by_label``.

    Raises
    ------
    TypeError, ValueError
        If entries of y_true are neither 0, 1 nor missing, shapes or names of columns differ, or no
        label has a value.

    Notes
    -----
    Labels of the same rows are not independent: the influences of a row on all labels are added up
    before they are squared. Missing entries are taken to be missing at random.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> topic = rng.normal(size=(400, 1))
    >>> y = (topic + rng.normal(size=(400, 3)) > 0.5).astype(int)
    >>> scores = y + rng.normal(size=(400, 3))
    >>> found = multilabel(y, scores, labels=["art", "law", "war"])
    >>> macro = found.estimates["classifier"]
    >>> mean = np.mean([e["classifier"].value for e in found.by_label.values()])
    >>> bool(abs(macro.value - mean) < 1e-12)
    True
    """
    if measure is None:
        measure = "f1" if y_score is None else "hand_till"
    measure = get_measure(measure)
    if measure.name == "hand_till":  # of two classes
        measure = replace(measure, title="AUC")
    level, seed = check_level(level), seed_of(random_state)
    hypothesis = Hypothesis.of(test, measure.greater_is_better)
    hypothesis.check(level, measure.largest_difference)
    average = choice("average", average, ("macro", "weighted", "micro"))
    rows = _labelled_rows(y_true, y_score, y_pred, labels, sample_weight, groups)
    if measure.needs == "labels" and not rows.predicted:
        raise ValueError(
            f"{measure.name} needs predicted labels: pass y_pred, such as y_pred=y_score >= 0.5"
        )
    facts, left_out = _facts_of_labels(rows, measure)
    method = Jackknife().at(level, seed)
    if average == "micro":
        pooled = joint_facts(_pooled(rows, measure, left_out))
        joint = method.paired_estimates(pooled, hypothesis)
    else:
        joint = _mean(rows, facts, method, hypothesis, by_support=average == "weighted")
    n, n_labels = rows.true.shape
    design = {"rows": n, "labels": n_labels, "average": average}
    if n_missing := int(np.isnan(rows.true).sum()):
        design["missing_entries"] = n_missing
    if groups is not None:
        design["independent_units"] = rows.n_units
    estimates = {name: replace(e, design=design) for name, e in joint.estimates.items()}
    joint = joint._replace(estimates=estimates)
    by_label, differences = _each_label(facts, method, hypothesis)
    comparison = MultilabelComparison(
        measure=measure.name,
        title=measure.title,
        average=average,
        rows=rows,
        by_label=by_label,
        label_differences=differences,
        label_covariances=_covariances(rows, facts),
        left_out=left_out,
        **comparison_fields(joint, hypothesis, simultaneous=simultaneous, level=level, seed=seed),
    )
    of_precision = {x for e in estimates.values() for x in e.warnings if x not in e.caveats}
    warn(x for x in comparison.warnings if x not in of_precision)
    return comparison


FactsOfLabels = dict[str, dict[str, FactsInMemory]]
"""What is known of labels, by their name and that of the classifier."""


def _facts_of_labels(rows: LabelledRows, measure: Measure) -> tuple[FactsOfLabels, dict[str, str]]:
    tasks = [(place, name) for place in range(len(rows.names)) for name in rows.classifiers]

    def find(task: tuple[int, str]) -> FactsInMemory | str:
        place, name = task
        try:
            return rows.facts(measure, name, rows.entries(place))
        except ValueError as error:
            return str(error)

    facts: FactsOfLabels = {}
    left_out: dict[str, str] = {}
    for (place, name), outcome in zip(tasks, parallel_map(find, tasks), strict=True):
        if isinstance(outcome, str):
            left_out[rows.names[place]] = outcome
        else:
            facts.setdefault(rows.names[place], {})[name] = outcome
    facts = {label: of_label for label, of_label in facts.items() if label not in left_out}
    if not facts:
        raise ValueError(f"no label has a value: {next(iter(left_out.values()))}")
    return facts, left_out


def _pooled(
    rows: LabelledRows, measure: Measure, left_out: Mapping[str, str]
) -> dict[str, FactsInMemory]:
    """Return what is known of each classifier by the entries of all labels."""
    known = ~np.isnan(rows.true)
    known[:, [rows.names.index(label) for label in left_out]] = False
    row, column = np.nonzero(known)
    return {name: rows.facts(measure, name, (row, column)) for name in rows.classifiers}


def _with_units(rows: LabelledRows, facts: FactsOfLabels) -> Labels:
    """Return the places of the labels, and their units in the strata of most care."""
    units = [[x.units for x in of_label.values()] for of_label in facts.values()]
    places = map(rows.names.index, facts)
    return list(zip(places, (max(x, key=lambda y: len(y.sizes)) for x in units), strict=True))


def _mean(
    rows: LabelledRows,
    facts: FactsOfLabels,
    method: Jackknife,
    hypothesis: Hypothesis,
    *,
    by_support: bool,
) -> JointEstimates:
    """Return what is known of the classifiers' means over the labels.

    Labels count as their units' shares, a matter of chance unless they are all the same.
    """
    labels, n = _with_units(rows, facts), rows.n_units
    n_sets, stratum = min(units.n_complete_sets for _, units in labels), np.zeros(n, int)
    units = Units(np.arange(n), stratum, np.array([n]), np.array([n_sets]))
    shares = np.ones((len(labels), n))
    if by_support:  # the positive rows of each label in each unit, by their weights
        positive = np.nan_to_num(rows.true) * rows.weight[:, None]
        shares = np.stack([np.bincount(rows.unit, positive[:, x], n) for x, _ in labels])
    shares = shares / shares.sum()
    of_labels = shares.sum(axis=1)

    def gather(influences: Sequence[Influences]) -> tuple[Influences, Moments]:
        sums, moments = rows.sums_of_labels(labels, influences)
        values = np.array([x.value for x in influences])
        # The sums have an unbiased variance already, which the moments below make once more
        sums *= of_labels[:, None] * np.sqrt(1 - 1 / n)
        whole = float(of_labels @ values)
        of_units = sums.sum(axis=0) + (values - whole) @ shares
        freedoms = np.array([x.spread.degrees_of_freedom for x in moments])
        freedom = freedom_of_mean(sums @ sums.T, freedoms)
        moments_of_mean = replace(moments_of(of_units, units), most_freedom=freedom)
        return Influences(whole, of_units), moments_of_mean

    def of_mean(name: str) -> FactsInMemory:
        known = [of_label[name] for of_label in facts.values()]
        terms = [PartOf(x, share) for x, share in zip(known, of_labels.tolist(), strict=True)]

        def limits_of(whole: Influences, bounds: tuple[float, float]) -> Limits:
            parts = [
                Part(t.coefficient, t.facts.limits, np.unique(rows.unit[rows.entries(place)[0]]))
                for t, (place, _) in zip(terms, labels, strict=True)
            ]
            limits = limits_of_sum(parts, whole.value, bounds, stratum)
            if not by_support:
                return limits
            beyond = np.array([x.value for x in known]) - whole.value
            return replace(limits, influences=limits.influences + beyond @ shares, function=None)

        return combined(terms, units, gather, limits_of)

    means = {name: of_mean(name) for name in rows.classifiers}
    return method.paired_estimates(joint_combined(means, lambda _: gather), hypothesis)


def _covariances(rows: LabelledRows, facts: FactsOfLabels) -> dict[str, Float[np.ndarray, "l l"]]:
    """Return the covariance of the labels' values by classifier."""
    labels, covariances = _with_units(rows, facts), {}
    for name in rows.classifiers:
        sums, _ = rows.sums_of_labels(labels, [x[name].influences for x in facts.values()])
        covariances[name] = sums @ sums.T
    return covariances


def _each_label(
    facts: FactsOfLabels, method: Jackknife, hypothesis: Hypothesis
) -> tuple[EstimatesOfParts, DifferencesOfParts]:
    estimates: EstimatesOfParts = {}
    differences: DifferencesOfParts = {}
    with collected_remarks():
        for label, of_label in facts.items():
            joint = method.paired_estimates(joint_facts(of_label), hypothesis)
            estimates[label] = joint.estimates
            if joint.contrasts:
                unadjusted = hypothesis.differences(joint.contrasts, method.level)
                differences[label] = holm_adjusted(unadjusted)
    return estimates, differences


def _labelled_rows(
    y_true: Any, y_score: Any, y_pred: Any, labels: Any, sample_weight: Any, groups: Any
) -> LabelledRows:
    rows, of_scores, of_hard = Rows(), _by_classifier(y_score), _by_classifier(y_pred)
    tables = (y_true, *of_scores.values(), *of_hard.values())
    chosen = [chosen_names(table, "y_score") for table in tables]
    names = chosen[0] if labels is None else list(map(str, listed("labels", labels)))
    true = _matrix(y_true, "y_true", names, rows)
    if names is None:
        numbers = [str(place) for place in range(true.shape[1])]
        names = next(filter(None, chosen), numbers)
        # Columns p_1, p_0 are those of the labels 1 and 0
        names = numbers if match_columns(names, numbers, Source(scores="y_score")) else names
    if len(names) != true.shape[1] or len(set(names)) < len(names):
        raise ValueError(
            f"labels must name each of the {true.shape[1]} columns of y_true once, not {names}"
        )
    is_wrong = (true != 0) & (true != 1) & ~np.isnan(true)
    if is_wrong.any():
        row, place = np.argwhere(is_wrong)[0]
        raise ValueError(
            f"y_true must hold 0, 1 or missing values, but row {row}, label {place} (counting from "
            f"0) has {true[row, place]:g}"
        )
    if y_score is None and y_pred is None:
        raise TypeError("give y_score, or y_pred for measures of hard labels")
    read = partial(_matrix, labels=names, rows=rows)
    scores = _named(of_scores, "y_score", true, read)
    predicted = _named(of_hard, "y_pred", true, read)
    if scores and predicted and set(scores) != set(predicted):
        raise ValueError(
            f"y_pred has the classifiers {list(predicted)}, but y_score has {list(scores)}: use "
            "the same names"
        )
    for name, x in predicted.items():
        if not ((x == 0) | (x == 1)).all():
            raise ValueError(f"y_pred of {name!r} must hold 0 and 1 only")
    weight = np.ones(len(true))
    if sample_weight is not None:
        given = as_floats(as_array(sample_weight, "sample_weight"), "sample_weight")
        if given.shape != (len(true),) or not ((given > 0) & (given < np.inf)).all():
            raise ValueError(f"sample_weight must be {len(true)} finite numbers above 0")
        weight = rows.arranged(given.astype(np.float64), sample_weight, "sample_weight")
    unit = unit_of_rows(groups, len(true), rows)
    return LabelledRows(true, scores, predicted, tuple(names), unit, weight)


def _by_classifier(values: Any) -> Mapping[str, Any]:
    if values is None or isinstance(values, Mapping):
        return values or {}
    return {ONE: values}


def _named(
    named: Mapping[Any, Any], what: str, true: PerLabel, read: Callable[..., Any]
) -> dict[str, PerLabel]:
    matrices = {}
    for name, x in named.items():
        if not isinstance(name, str):
            raise TypeError(f"{what} has the key {name!r}, but names must be strings")
        where = what if name == ONE else f"{what}[{name!r}]"
        matrices[name] = read(x, where)
        if matrices[name].shape != true.shape:
            raise ValueError(
                f"{where} has shape {matrices[name].shape}, but y_true has {true.shape}: both must "
                "have a row for each observation and a column for each label"
            )
        is_missing = np.isnan(matrices[name]) & ~np.isnan(true)
        if is_missing.any():
            row, place = np.argwhere(is_missing)[0]
            raise ValueError(f"{where} is missing in row {row}, label {place} (counting from 0)")
    return matrices


def _matrix(values: Any, what: str, labels: list[str] | None, rows: Rows) -> PerLabel:
    # Columns are read one at a time
    array = as_floats(by_label(values, labels, what), what).astype(np.float64, order="F")
    if array.ndim != 2 or not array.size:
        remedy = remedy_for_several(array.shape) if array.ndim == 3 else ""
        raise ValueError(
            f"{what} must have shape (n, L), a column for each label, not {array.shape}{remedy}"
        )
    return rows.arranged(array, values, what)


def freedom_of_mean(
    covariance: Float[np.ndarray, "m m"], freedoms: Float[np.ndarray, " m"]
) -> float:
    """Return the degrees of freedom of the variance of a mean of values with this covariance.

    That is Satterthwaite's approximation where variances are estimated with these degrees of
    freedom. Variances of values with correlation r have the correlation r squared.
    """
    errors = np.sqrt(covariance.diagonal())
    correlation = covariance / np.maximum(np.outer(errors, errors), NO_VARIATION**2)
    of_each = covariance.sum(axis=1) / np.sqrt(freedoms)
    square = float(of_each @ correlation**2 @ of_each)
    return float(covariance.sum() ** 2 / square) if square > 0 else np.inf
