"""Several training runs (or readers) of each classifier on the same cases.

A difference on one test set between one run of each of two learners mixes three things: the
learners, the luck of the runs, and the luck of the cases. With several runs the analysis of
Obuchowski and Rockette takes them apart. Readers of images under several modalities are the same
design.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import BoolPerRow
from dmfroc._kit.options import check_level, choice, flag
from dmfroc._kit.remarks import collected_remarks, warn
from dmfroc._kit.text import in_percent
from dmfroc.analyses.catalogue import Measures, get_measure
from dmfroc.analyses.each_class import for_each_measure
from dmfroc.inference.evidence import common_sums, in_sample, joint_covariance
from dmfroc.inference.hypothesis import Hypothesis, Test, contrast_of_t
from dmfroc.inference.influences import Influences
from dmfroc.inference.method import check_comparable, check_finite
from dmfroc.inference.options import DEFAULT_LEVEL
from dmfroc.inference.simultaneous import holm_adjusted
from dmfroc.inference.tilt import PerUnit
from dmfroc.inference.units import Sample, Units, centred_in, sample_of
from dmfroc.inputs.arrays import Rows, columns_of
from dmfroc.inputs.predictions import Predictions
from dmfroc.measures.bound import BoundMeasures
from dmfroc.measures.measure import Measure, bind, caveats
from dmfroc.results.difference import Difference, OmnibusTest, p_value_of_f
from dmfroc.results.estimate import title_for
from dmfroc.results.result import Result, ResultsByName, attributed
from dmfroc.results.table import Column, Name, Table, attribute_columns


class ErrorCovariances(NamedTuple):
    """Variance and covariances of the values' errors, from the sampling of the cases.

    Attributes
    ----------
    variance : float
        Of one value.
    same_run : float
        Obuchowski and Rockette's Cov1: of different classifiers, same run; NaN if runs are not
        crossed.
    same_classifier : float
        Cov2: of the same classifier, different runs.
    different : float
        Cov3: of different classifiers and different runs.
    """

    variance: float
    same_run: float
    same_classifier: float
    different: float


HOLDS_FOR = {
    "random_runs": "new cases, new runs",
    "fixed_runs": "new cases, these runs",
    "fixed_cases": "these cases, new runs",
}
"""What the differences and tests of training runs hold for."""

_TWO_RUNS = (
    "two runs of two learners show how runs vary by one difference alone: for new cases and new "
    "runs, tests at a level of 5 % reject up to 12 % of true hypotheses. Give three runs or more"
)


@dataclass(frozen=True)
class RunsTest(OmnibusTest):
    """A test that all learners are equal, and their differences, in one sense of "equal".

    Beside what is said of every `OmnibusTest`:

    Attributes
    ----------
    differences : tuple of Difference
        Of every two learners' means over their runs, with p-values adjusted by Holm's method.
    """

    differences: tuple[Difference, ...]


@dataclass(frozen=True, eq=False, repr=False)
class RunsComparison(Result):
    """Several runs of each classifier on the same cases.

    Attributes
    ----------
    measure, title : str
        Name of the measure, and its name in tables.
    values : dict of str to numpy.ndarray of shape (runs,)
        The measure in each run of each classifier.
    random_runs : RunsTest
        For new cases and new runs: which learner is better.
    fixed_runs : RunsTest
        For new cases and these runs: which of these fitted models are better on average.
    fixed_cases : RunsTest
        For these cases and new runs.
    mean_squares : dict of str to float
        Of the classifiers, of the runs, and of their interaction (crossed) or of the runs within
        classifiers.
    covariances : ErrorCovariances
        Of the errors.
    level : float
        Nominal coverage.
    crossed : bool
        Whether run j of one classifier belongs to run j of another.
    method : str
        Where the covariances come from, ``"influences"`` or ``"leave_one_out"``.
    n_observations : int
        Number of cases.
    greater_is_better : bool
        Whether greater values of the measure are better.
    warnings : tuple of str
        What a careful reader has to know, each warning with the classifiers that it concerns.
    hypothesis : Hypothesis
        What the p-values and intervals of the differences are about.
    """

    main_table: ClassVar[str] = "differences"
    json_names: ClassVar[tuple[str, ...]] = (
        *("measure", "method", "level", "n_observations", "crossed", "mean_squares"),
        "covariances",
    )

    measure: str
    title: str
    values: dict[str, Float[np.ndarray, " runs"]]
    random_runs: RunsTest
    fixed_runs: RunsTest
    fixed_cases: RunsTest
    mean_squares: dict[str, float]
    covariances: ErrorCovariances
    level: float
    crossed: bool
    method: str
    n_observations: int
    greater_is_better: bool
    warnings: tuple[str, ...]
    hypothesis: Hypothesis

    def foot(self) -> list[str]:
        """Return what a one-sided test tests."""
        if self.hypothesis.is_two_sided:
            return []
        return [f"P-values are one-sided: {self.hypothesis.claim('A', 'B')}."]

    @property
    def tests(self) -> dict[str, RunsTest]:
        """The three tests by what they hold for."""
        return {name: getattr(self, name) for name in HOLDS_FOR}

    def tables(self) -> list[Table]:
        """Return the runs, the differences of the learners, and the tests that all are equal."""
        values = self.values.values()
        runs = [
            Column("learner", "learner", self.values, "name"),
            Column("runs", "runs", [len(v) for v in values], "count"),
            Column("mean", f"mean {self.title}", [v.mean() for v in values]),
            Column("sd", "sd of runs", [v.std(ddof=1) for v in values]),
            Column("values", "", values),
        ]
        names = {key: Name(key, title) for key, title in HOLDS_FOR.items()}
        tests = self.tests
        pairs = [(key, d) for key, test in tests.items() for d in test.differences]
        freedom = [tests[key].degrees_of_freedom[1] for key, _ in pairs]
        shown = [d for _, d in pairs]
        kind = "interval" if self.hypothesis.is_two_sided else "limit"
        differences = [
            Column("inference", "holds for", [names[key] for key, _ in pairs], "name"),
            *attribute_columns(shown, ("first", "A", "name"), ("second", "B", "name")),
            Column(
                "value",
                "A - B",
                shown,
                "estimate",
                f"{in_percent(self.level)} {kind}",
                is_signed=True,
            ),
            Column("degrees_of_freedom", "df", freedom, "freedom"),
            Column("p_value", "p-value", [d.p_value for d in shown], "p_value"),
        ]
        freedoms = [test.degrees_of_freedom for test in tests.values()]
        equal = [
            Column("inference", "all equal, for", names.values(), "name"),
            Column("statistic", "F", [test.statistic for test in tests.values()]),
            Column("df", "df", [x for x, _ in freedoms], "freedom"),
            Column("df_of_error", "df of error", [x for _, x in freedoms], "freedom"),
            Column("p_value", "p-value", [test.p_value for test in tests.values()], "p_value"),
        ]
        title = f"{self.title} in {len(next(iter(values)))} runs of each learner"
        of_means = f"Differences of the means of {self.title}, A minus B, and what they hold for"
        return [
            Table("runs", title, runs, is_by_name=True),
            Table("differences", of_means, differences),
            Table("tests", "Tests that all learners are equal", equal, is_by_name=True),
        ]


def compare_runs(
    y_true: Any,
    y_score: Any,
    *,
    measures: Measures = "dmf_auc",
    crossed: bool = True,
    covariances: Literal["influences", "leave_one_out", "delong", "unbiased"] = "influences",
    labels: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    test: Test = "two-sided",
    level: float = DEFAULT_LEVEL,
) -> RunsComparison | ResultsByName[RunsComparison]:
    """Compare learners by several training runs of each, for new cases and new runs.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Observed classes.
    y_score : dict of str to sequence of (array-like of shape (n, K), or (n,) for K = 2)
        For each classifier, the scores of every run (or reader); equally many of each. They are
        missing (NaN) for cases that a reader has not read. So readers, or modalities, may have
        cases of their own, as in nested and split-plot designs.
    measures : str or Measure, or a list of them
        What to compare, see `estimate`.
    crossed : bool
        Whether run j of one classifier belongs to run j of every other: the same training sample
        or fold, or the same reader. False if all runs are independent. True is right for
        independent runs too, with fewer degrees of freedom.
    covariances : {"influences", "leave_one_out", "delong", "unbiased"}
        Where the covariances of the errors come from: from influences, or from leaving out one case
        (or group) after the other, as most programs for studies with readers do. Of ``"hand_till"``
        with two classes also DeLong's as printed, and the covariances from all pairs of cases,
        without bias.
    labels, sample_weight
        As for `Predictions.from_arrays`.
    groups : array-like of shape (n,), optional
        Patient, document, ... of each observation, as for `estimate`.
    test : {"two-sided", "greater", "less"}, NonInferiority or Equivalence
        What the p-values test of each difference, as for `compare`. The tests that all learners
        are equal stay as they are.
    level : float
        Nominal coverage, in (0, 1).

    Returns
    -------
    RunsComparison
        For new cases and new runs, for new cases and these runs, and for these cases and new runs.
        For new runs, Obuchowski and Rockette's mean square of the runs counts as at least what the
        cases explain. Of several measures `ResultsByName`, one of each.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two classifiers, or fewer than two runs of one, or not equally many
        of each, or as for `estimate`.

    References
    ----------
    Obuchowski and Rockette (1995), Hypothesis testing of diagnostic accuracy for multiple readers
    and multiple tests; Hillis (2007), A comparison of denominator degrees of freedom methods for
    multiple observer ROC analysis; Hillis (2014), A marginal-mean ANOVA approach, for runs within
    classifiers.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 3
    >>> def runs(shift):  # each run is a little better or worse than the learner
    ...     return [
    ...         rng.normal(size=(300, 3)) + (shift + 0.1 * rng.normal()) * np.eye(3)[y]
    ...         for _ in range(5)
    ...     ]
    >>> found = compare_runs(y, {"A": runs(1.5), "B": runs(1.0)}, measures="hand_till")
    >>> [difference] = found.random_runs.differences
    >>> difference.value > 0, difference.p_value < 0.01
    (True, True)
    """
    if (of_measure := for_each_measure(compare_runs, locals())) is not None:
        return of_measure
    measure = get_measure(measures)
    check_level(level)
    crossed = flag("crossed", crossed)
    choice("covariances", covariances, ("influences", "leave_one_out", "delong", "unbiased"))
    n_runs = _n_runs(y_score)
    hypothesis = Hypothesis.of(test, measure.greater_is_better)
    hypothesis.check(level, measure.largest_difference)
    rows, values, of_rows, left = Rows(y_true), {}, [], []
    rows.order(groups, "groups")
    case = np.arange(np.size(y_true))
    if groups is not None:
        case = np.unique(np.asarray(groups), return_inverse=True)[1]
    is_read = [_is_read(scores) for runs in y_score.values() for scores in runs]
    reads_all, each_read = all(x.all() for x in is_read), iter(is_read)
    if not reads_all and covariances in ("delong", "unbiased"):
        raise ValueError(
            f"covariances={covariances!r} needs scores of all cases by all readers: use "
            "covariances='influences', which has DeLong's, or 'leave_one_out'"
        )
    remarks: dict[str, list[str]] = {name: [] for name in y_score}
    for name, runs in y_score.items():
        values[name] = np.empty(n_runs)
        for run, scores in enumerate(runs):
            what, chosen = f"run {run} of {name!r}", next(each_read)
            true, given = y_true, (scores, sample_weight, groups)
            if not reads_all:
                true = np.asarray(true)[chosen]
                given = tuple(_some(x, chosen, rows, what) for x in given)
            scores, weight, unit = given
            with collected_remarks():  # given with all others
                predictions = Predictions.from_arrays(
                    true, scores, labels=labels, sample_weight=weight
                )
            if reads_all:
                rows.check_same(predictions, what)
            remarks[name] += [*predictions.remarks, *caveats([measure], predictions)]
            sample = sample_of(predictions, unit)
            [known] = in_sample([measure], sample)
            of_run = {f"{name}, run {run}": predictions}
            check_finite(measure, dict.fromkeys(of_run, known.influences.value), of_run)
            check_comparable(measure, of_run)
            values[name][run] = known.influences.value
            of_rows.append((known.influences, sample.units))
            if covariances == "leave_one_out":
                left.append(_values_without_each(bind(measure, sample.predictions), sample))
            elif covariances != "influences":
                left.append(_wins(measure, sample.predictions, groups, covariances))
            elif not reads_all:
                left.append(_centred(known.influences, sample.units))
            if not reads_all:
                of_row = case[chosen][predictions.sample_weight > 0]
                elsewhere = values[name][run] if covariances == "leave_one_out" else 0.0
                first = np.unique(sample.units.unit_of_row, return_index=True)[1]
                of_all = np.full(case.max() + 1, elsewhere)
                of_all[of_row[first]] = left.pop()
                left.append(of_all)
    covariance = (
        _COVARIANCES[covariances](left) if left else joint_covariance(*common_sums(of_rows))
    )
    blocks = covariance.reshape(len(values), n_runs, len(values), n_runs)
    components = _mean_covariances(blocks, crossed=crossed)
    squares, freedom = _mean_squares(np.stack(list(values.values())), crossed=crossed)
    within = squares["classifiers:runs" if crossed else "runs within classifiers"]
    # Hillis: the covariances that runs have in common are no source of error, if estimated below 0.
    shared = components.same_classifier - components.different
    others = components.same_run if crossed else components.different
    by_cases = components.variance - shared - others
    fixed_error = by_cases + n_runs * shared
    # What the cases explain of the runs' variance is known: few runs may vary less by chance.
    random_error = max(within, by_cases) + n_runs * max(shared, 0.0)
    random_freedom = freedom * (random_error / within) ** 2 if within > 0 else np.inf
    warn(warnings := attributed(remarks))
    if freedom == 1:
        warnings += (_TWO_RUNS,)
    means = {name: float(of_runs.mean()) for name, of_runs in values.items()}
    tested = partial(_test, means, squares["classifiers"], n_runs, level, hypothesis)
    return RunsComparison(
        measure=measure.name,
        title=title_for(measure.title, predictions),
        values=values,
        random_runs=tested(random_error, random_freedom),
        fixed_runs=tested(fixed_error, np.inf),
        fixed_cases=tested(within, float(freedom)),
        mean_squares=squares,
        covariances=components,
        level=level,
        crossed=crossed,
        method=covariances,
        n_observations=int(np.any(is_read, axis=0).sum()),
        greater_is_better=measure.greater_is_better,
        warnings=warnings,
        hypothesis=hypothesis,
    )


def _n_runs(y_score: Any) -> int:
    if not isinstance(y_score, Mapping):
        raise TypeError(
            "y_score must be a dict of lists of scores by name of the classifier, but it is a "
            f"{type(y_score).__name__}"
        )
    if len(y_score) < 2:
        raise ValueError(
            f"y_score must have at least two classifiers, but there are {len(y_score)}"
        )
    counts = {name: len(runs) for name, runs in y_score.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(f"all classifiers must have equally many runs, but they have {counts}")
    n_runs = next(iter(counts.values()))
    if n_runs < 2:
        raise ValueError(
            f"at least two runs of each classifier are needed, but there is {n_runs or 'none'}: "
            "fewer do not show how runs vary; dmfroc.compare compares fitted models"
        )
    return n_runs


def _is_read(scores: Any) -> BoolPerRow:
    """Return which cases have scores, those of others being NaN."""
    array = np.atleast_1d(np.asarray(scores))
    lacks = np.isnan(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
    return ~lacks.reshape(len(array), -1).any(axis=1)


def _some(values: Any, chosen: BoolPerRow, rows: Rows, what: str) -> Any:
    """Return some of the rows, which must be in one order; columns of tables keep their names."""
    if values is None:
        return None
    if rows.order(values, what) is not None:
        raise ValueError(f"{what}: with missing scores give all rows in the order of y_true")
    if (columns := columns_of(values, what)) is None:
        return np.asarray(values)[chosen]
    import pandas as pd

    return pd.DataFrame({name: np.asarray(x)[chosen] for name, x in columns.items()})


def _centred(influences: Influences, units: Units) -> PerUnit:
    """Return the influence of each unit, whose sums of products are the covariance of values.

    About the mean of its stratum it has the variance of one unit more. The means themselves vary if
    the sizes of the strata are random.
    """
    centred, means = centred_in(units.stratum, units.sums(influences.influences))
    return centred + means if units.sizes_are_random else centred


def _values_without_each(bound: BoundMeasures, sample: Sample) -> PerUnit:
    weights, unit_of_row = sample.predictions.sample_weight, sample.units.unit_of_row
    units = range(len(sample.units.stratum))
    return np.array([bound.values(np.where(unit_of_row == x, 0.0, weights))[0] for x in units])


def _wins(
    measure: Measure, predictions: Predictions, groups: Any, covariances: str
) -> Float[np.ndarray, "p q"]:
    """Return for each pair of a positive and a negative case whether it is ordered rightly."""
    weights = predictions.sample_weight
    is_of_two = measure.name == "hand_till" and predictions.n_classes == 2
    if not is_of_two or groups is not None or np.ptp(weights) > 0:
        raise ValueError(
            f"covariances={covariances!r} is for measure='hand_till' with two classes, without "
            "weights and groups: use covariances='influences'"
        )
    scores = predictions.scores[:, 1]
    is_positive = predictions.true == 1
    if np.bincount(predictions.true).min() < 2:
        raise ValueError(f"covariances={covariances!r} needs two cases of each class")
    return (1 + np.sign(np.subtract.outer(scores[is_positive], scores[~is_positive]))) / 2


def _delong_covariance(wins: Sequence[Float[np.ndarray, "p q"]]) -> Float[np.ndarray, "v v"]:
    positive, negative = (np.mean(wins, axis=axis) for axis in (2, 1))
    return np.cov(positive) / positive.shape[1] + np.cov(negative) / negative.shape[1]


def _unbiased_covariance(wins: Sequence[Float[np.ndarray, "p q"]]) -> Float[np.ndarray, "v v"]:
    """Return products of areas less their means over pairs that share no case (Gallas 2006)."""
    of_pairs, (p, q) = np.stack(wins), wins[0].shape

    def products(sums: Any) -> Any:
        flat = sums.reshape(len(sums), -1)
        return flat @ flat.T

    areas = products(of_pairs.sum(axis=(1, 2)))
    shared = products(of_pairs.sum(axis=2)) + products(of_pairs.sum(axis=1)) - products(of_pairs)
    return areas / (p * q) ** 2 - (areas - shared) / (p * (p - 1) * q * (q - 1))


def _jackknife_covariance(left: Sequence[PerUnit]) -> Float[np.ndarray, "v v"]:
    n = len(left[0])
    return np.cov(left) * (n - 1) ** 2 / n


def _covariance_of_sums(sums: Sequence[PerUnit]) -> Float[np.ndarray, "v v"]:
    return np.stack(sums) @ np.transpose(sums)


_COVARIANCES = {
    "influences": _covariance_of_sums,
    "leave_one_out": _jackknife_covariance,
    "delong": _delong_covariance,
    "unbiased": _unbiased_covariance,
}


def _mean_squares(
    values: Float[np.ndarray, "t r"], *, crossed: bool
) -> tuple[dict[str, float], int]:
    """Return the mean squares by source, and the degrees of freedom of the last one."""
    t, r = values.shape
    means, of_runs, grand = values.mean(axis=1), values.mean(axis=0), values.mean()
    squares = {"classifiers": float(r * ((means - grand) ** 2).sum() / (t - 1))}
    if not crossed:
        free = t * (r - 1)
        within = ((values - means[:, None]) ** 2).sum() / free
        return squares | {"runs within classifiers": float(within)}, free
    rest, free = values - means[:, None] - of_runs + grand, (t - 1) * (r - 1)
    squares["runs"] = float(t * ((of_runs - grand) ** 2).sum() / (r - 1))
    return squares | {"classifiers:runs": float((rest**2).sum() / free)}, free


def _mean_covariances(blocks: Float[np.ndarray, "t r t r"], *, crossed: bool) -> ErrorCovariances:
    t, r = blocks.shape[:2]
    same_classifier = np.eye(t, dtype=bool)[:, None, :, None]
    same_run = np.eye(r, dtype=bool)[None, :, None, :]

    def mean(chosen: Any) -> float:
        return float(blocks[np.broadcast_to(chosen, blocks.shape)].mean())

    return ErrorCovariances(
        variance=mean(same_classifier & same_run),
        same_run=mean(~same_classifier & same_run) if crossed else np.nan,
        same_classifier=mean(same_classifier & ~same_run),
        different=mean(~same_classifier & ~same_run if crossed else ~same_classifier),
    )


def _test(
    means: Mapping[str, float],
    square: float,
    n_runs: int,
    level: float,
    hypothesis: Hypothesis,
    error: float,
    freedom: float,
) -> RunsTest:
    """Compare the means by an error mean square with its degrees of freedom."""
    error = max(error, 0.0)
    # Runs that are all the same show no difference; others that do not vary show one for certain
    without_error = np.inf if square > 0 else 0.0
    statistic = square / error if error > 0 else without_error
    scale = float(np.sqrt(2 * error / n_runs))
    contrasts = {
        (first, second): contrast_of_t(means[first] - means[second], scale, freedom)
        for first, second in itertools.combinations(means, 2)
    }
    differences = hypothesis.differences(contrasts, level)
    freedoms = float(len(means) - 1), float(freedom)
    p_value = p_value_of_f(statistic, freedoms)
    return RunsTest(float(statistic), freedoms, p_value, holm_adjusted(differences))
