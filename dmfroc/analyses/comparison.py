"""Paired comparison of classifiers: which one is better, and how certain that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import Any, get_args

import numpy as np
from jaxtyping import Float

from dmfroc._kit.later import Nothing
from dmfroc._kit.options import RandomState, choice, flag
from dmfroc.analyses.catalogue import Measures, get_measure
from dmfroc.analyses.comparison_result import Comparison
from dmfroc.analyses.each_class import for_each_class, for_each_measure
from dmfroc.analyses.horizons import HorizonCurves, by_horizon, over_horizons
from dmfroc.analyses.joint_evidence import JointEvidence, joint_evidence
from dmfroc.inference.evidence import FactsInMemory, facts_of_classifiers, joint_moments
from dmfroc.inference.hypothesis import Contrast, Hypothesis, Test, contrast_of_t
from dmfroc.inference.method import IntervalMethod, JointEstimates, Method
from dmfroc.inference.options import DEFAULT_LEVEL, Options
from dmfroc.inference.selection import winner_of
from dmfroc.inference.simultaneous import holm_adjusted, largest_statistic, pairwise_differences
from dmfroc.inference.units import Sample
from dmfroc.inputs.arrays import columns_of
from dmfroc.inputs.horizon import FollowUp
from dmfroc.measures.measure import Measure
from dmfroc.multiclass.measure import curve_options_of
from dmfroc.results.difference import ContrastScale, Difference
from dmfroc.results.estimate import title_for
from dmfroc.results.result import ResultsByName

_MOST_ORDERS = 1000
_MOST_NUMBERED = 15  # classifiers whose orders, to this power, 64 bits can number


@by_horizon
def compare(
    y_true: Any,
    y_score: Mapping[str, Any] | Sequence[Any] | None = None,
    *surplus: Nothing,
    measures: Measures = None,
    paired: bool = True,
    scale: ContrastScale = "difference",
    test: Test = "two-sided",
    simultaneous: bool = False,
    labels: Any = None,
    pos_label: Any = None,
    y_pred: Any = None,
    sample_weight: Any = None,
    frequency_weight: Any = None,
    groups: Any = None,
    stratify: bool | None = None,
    folds: Any = None,
    judge: Any = None,
    follow_up: FollowUp[Any] | None = None,
    population: Any = None,
    method: Method | IntervalMethod | None = None,
    level: float = DEFAULT_LEVEL,
    random_state: RandomState = 0,
    **others: Nothing,
) -> Comparison | HorizonCurves | ResultsByName[Any]:
    """Compare any number of classifiers, on the same observations or on independent samples.

    Parameters
    ----------
    y_true : array-like of shape (n,), dict of str to Predictions, or Scan of several classifiers
        Observed classes; or finished predictions by name of the classifier, of the same
        observations unless ``paired=False``: in the same order, or with ``id=`` that says which
        rows belong together, see `Predictions.from_arrays`.
    y_score : dict of str to array-like or table of shape (n, K), or (n,) for K = 2
        Each classifier's scores, by its name, or a table with a column for each; in a list their
        names are "1", "2" and so on. Or, instead of scores, the name of a baseline. ``"chance"``
        always forecasts the shares of the classes and predicts the most frequent one.
        ``"treat all"`` and ``"treat none"`` give the positive one of two classes the probability 1
        and 0, ``"always CLASS"`` any class. None stands for the baseline of the classifier's own
        name.
    measures : str or Measure, or a list of them, optional
        What to compare, see `estimate`; by default the DMF-AUC, and of hard labels without scores
        the informedness.
    paired : bool
        False if every classifier has a sample of its own, independent of the others.
    scale : {"difference", "ratio"}
        With ``"ratio"`` each first value is divided by the second, as in relative sensitivity.
        Intervals and tests are those of the difference of logarithms. Only for the jackknife of
        the same rows, without a margin or simultaneous intervals.
    test : {"two-sided", "greater", "less"}, NonInferiority or Equivalence
        What the p-values test of each difference, the first classifier's value minus the second's
        in the order given: that it is not 0, above 0, or below 0. A one-sided test comes with a
        one-sided limit, of the same level, instead of an interval. It is about the value: a better
        error is ``"less"``. ``NonInferiority(0.05)`` tests that the first is not worse by 0.05 or
        more. ``Equivalence(0.01)`` adds the probability that the difference is less than 0.01, and
        does not matter.
    simultaneous : bool
        Whether the intervals of the differences and their adjusted p-values hold all at once
        (max-T, on the joint covariance of the values), with `Comparison.winner`, the best with an
        interval that accounts for its selection. A bootstrap needs many draws for many differences.
    labels, sample_weight, frequency_weight
        As for `Predictions.from_arrays`.
    y_pred : dict of str to array-like of shape (n,), optional
        Hard labels by name of the classifier, where they are not simply the class of the largest
        score, or where there is one score and so no such class. Without ``y_score`` they alone are
        compared.
    pos_label, groups, stratify, folds
        As for `estimate`.
    judge, follow_up, population
        As for `estimate`. With a judge every difference has a weight of its own, so that it is not
        exactly the difference of the values. With ``paired=False`` a population of `Importance` is
        a dict of them by name of the classifier.
    method : str, Bootstrap, BayesianBootstrap or PaperBootstrap, optional
        As for `estimate`. Influences of the same observations are subtracted; replicates of the
        bootstraps are the same for all classifiers. Posteriors under ``"bayes"`` are coupled:
        their ranks are as correlated as the influences of the same observations.
    level : float
        Nominal coverage of the intervals, in (0, 1).
    random_state : int, numpy.random.Generator, key of jax.random or None
        Seed of the replicates and of the draws behind the probabilities of the orders.

    Returns
    -------
    Comparison
        Intervals are those of single comparisons unless ``simultaneous=True``; p-values are given
        both as they are and adjusted. With several horizons `HorizonCurves`. Of several measures
        `ResultsByName`, a comparison of each; p-values are not adjusted for their number.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two classifiers, if they were not evaluated on the same
        observations, or as for `estimate`.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988) for M with two classes; Wang and Carvalho (2024),
    Table 1, for the probabilities of the orders; Holm (1979); Kruschke (2018) for the region of
    practical equivalence; Hothorn, Bretz and Westfall (2008) for the largest of all statistics;
    Zrnic and Fithian (2024) for the winner.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> y = rng.integers(3, size=300)
    >>> good = rng.normal(size=(300, 3)) + 2 * np.eye(3)[y]
    >>> poor = rng.normal(size=(300, 3)) + np.eye(3)[y]
    >>> result = compare(y, {"good": good, "poor": poor}, measures="hand_till")
    >>> result.differences[0].p_value < 1e-6
    True
    >>> predicted = {"good": good.argmax(axis=1), "poor": poor.argmax(axis=1)}
    >>> compare(y, y_pred=predicted).best_set()
    ('good',)
    """
    call = locals()
    remedy = 'name the classifiers, compare(y, {"a": scores_a, "b": scores_b})'
    options, given = Options.taken(compare, call, remedy)
    call |= {"random_state": options.seed}
    if (of_measure := for_each_measure(compare, call)) is not None:
        return of_measure
    if measures is None:
        measures = "informedness" if y_score is None and y_pred is not None else "dmf_auc"
    measure = get_measure(measures)
    if (of_class := for_each_class(compare, call | {"measures": measure})) is not None:
        return of_class
    paired = flag("paired", paired)
    hypothesis = Hypothesis.of(test, measure.greater_is_better)
    hypothesis.check(options.level, measure.largest_difference)
    if y_pred is not None:
        given["y_pred"] = _by_name(y_pred, y_true)
    by_name = _by_name(y_score, y_true)

    evidence_at = partial(
        joint_evidence, y_true, by_name, needs=measure.needs, paired=paired, given=given
    )

    def facts_of(at: JointEvidence) -> dict[str, FactsInMemory]:
        assert at.units is not None
        samples = {name: Sample(p.counted, at.units) for name, p in at.predictions.items()}
        return facts_of_classifiers(measure, samples)

    if choice("scale", scale, get_args(ContrastScale)) == "ratio":
        refused = {
            "paired=False": not paired,
            "a method other than 'jackknife'": options.method_name not in (None, "jackknife"),
            "NonInferiority or Equivalence": hypothesis.margin or hypothesis.rope,
            "simultaneous": simultaneous,
            "judge": options.judge is not None,
            "several horizons": options.at_horizons,
        }
        if names := [name for name, is_given in refused.items() if is_given]:
            raise ValueError(f"scale='ratio' does not go with {', '.join(names)}: leave one out")
        options = replace(options, method="jackknife")
    if options.at_horizons:
        return over_horizons(lambda one: facts_of(evidence_at(one)), options, hypothesis)
    evidence = evidence_at(options)
    predictions, joint = evidence.predictions, evidence.estimates(measure, hypothesis)
    if scale == "ratio":
        if evidence.units is None:
            raise ValueError("scale='ratio' needs rows in memory: pass arrays instead of a scan")
        joint = joint._replace(contrasts=_log_ratios(measure, facts_of(evidence)))
    return Comparison(
        measure=measure.name,
        title=title_for(measure.title, *predictions.values()),
        predictions=predictions,
        units=evidence.units,
        curve_options=curve_options_of(measure),
        scale=scale,
        **comparison_fields(
            joint,
            hypothesis,
            simultaneous=simultaneous,
            level=options.level,
            seed=options.seed,
            scale=scale,
        ),
    )


def _log_ratios(
    measure: Measure, facts: Mapping[str, FactsInMemory]
) -> dict[tuple[str, str], Contrast]:
    """Return the differences of the logarithms of every two values of the same rows."""
    logs = {}
    for name, x in facts.items():
        if not x.value > 0:
            raise ValueError(
                f"scale='ratio' needs values above 0, but {measure.name} of {name!r} is "
                f"{x.value:g}: compare differences"
            )
        influences = x.influences._replace(influences=x.influences.influences / x.value)
        moments = x.moments.scaled(1 / x.value)
        logs[name] = replace(x, value=np.log(x.value), influences=influences, moments=moments)
    return {
        (a, b): contrast_of_t(float(logs[a].value - logs[b].value), *moments.spread)
        for (a, b), moments in joint_moments(logs).differences.items()
    }


def _by_name(given: Any, y_true: Any) -> Any:
    """Return what several classifiers say by name, which in lists without names is a number.

    Columns of a table are classifiers unless they are named after the classes.
    """
    columns = columns_of(given, "y_score")
    if columns is not None:
        classes = {str(label) for label in {*np.ravel(y_true).tolist()}}
        if not {*map(str, columns)} <= classes:
            return columns
    is_list = isinstance(given, list) and len(given) > 1
    if is_list and all(isinstance(x, tuple) and len(x) == 2 for x in given):
        return dict(given)
    has_rows = isinstance(given, list | tuple) and hasattr(y_true, "__len__")
    if has_rows and all(hasattr(x, "__len__") and len(x) == len(y_true) for x in given):
        return {str(number): x for number, x in enumerate(given, start=1)}
    return given


def comparison_fields(
    joint: JointEstimates,
    hypothesis: Hypothesis,
    *,
    simultaneous: bool,
    level: float,
    seed: int,
    scale: ContrastScale = "difference",
) -> dict[str, Any]:
    """Return what a `Comparison` says of values that are jointly known, as its fields."""
    names, n = tuple(joint.estimates), len(joint.estimates)
    largest, value_intervals, winner = None, None, None
    if flag("simultaneous", simultaneous):
        pairs, covariance = pairwise_differences(n), joint.covariance
        largest = two_sided = largest_statistic(covariance, pairs, seed)
        if not hypothesis.is_two_sided:
            largest = largest_statistic(covariance, pairs, seed, two_sided=False)
    level_of_each = level if largest is None else largest.level_of_each(level)
    differences = holm_adjusted(hypothesis.differences(joint.contrasts, level_of_each))
    if largest is not None:  # intervals of differences, which need more draws, are asked for first
        differences = tuple(
            replace(d, adjusted_p_value=largest.adjusted(d.p_value)) for d in differences
        )
        of_values = largest_statistic(covariance, np.eye(n), seed).level_of_each(level)
        value_intervals = {x: at(1 - of_values)[:2] for x, at in joint.intervals_of_values.items()}
        winner = winner_of(joint, two_sided, hypothesis, level, seed)
    drawn = joint.draw()
    probabilities = _order_probabilities(differences, drawn, names, seed)
    if scale == "ratio":
        differences = tuple(
            replace(
                d, value=math.exp(d.value), interval=(math.exp(low), math.exp(high)), scale=scale
            )
            for d in differences
            for low, high in [d.interval]
        )
    return dict(
        method=joint.estimates[names[0]].method,
        estimates=joint.estimates,
        differences=differences,
        order_probabilities=probabilities,
        level=level,
        rope=hypothesis.rope,
        n_draws=len(drawn),
        seed=seed,
        greater_is_better=hypothesis.greater_is_better,
        covariance=joint.covariance,
        simultaneous=simultaneous,
        value_intervals=value_intervals,
        winner=winner,
        alternative=hypothesis.alternative,
        margin=hypothesis.margin,
    )


def _order_probabilities(
    differences: Sequence[Difference],
    draws: Float[np.ndarray, "draws m"],
    names: tuple[str, ...],
    seed: int,
) -> dict[tuple[str, ...], float]:
    """Count the orders in joint draws of the classifiers' values; of two no draws are needed."""
    if len(names) == 2:
        p = differences[0].probability_better
        orders = [(names, p), (names[::-1], 1 - p)]
        return {x: p for x, p in sorted(orders, key=itemgetter(1), reverse=True) if p > 0}
    generator = np.random.default_rng(seed)
    # Classifiers that do not differ at all are put in a random order, not in that of their names.
    jitter = generator.uniform(-1e-12, 1e-12, size=draws.shape)
    ranking = np.argsort(-(draws + jitter), axis=1).astype(np.int32)
    n = len(names)
    # One number for each order is much faster to count, as long as the numbers are integers
    codes = ranking @ n ** np.arange(n) if n <= _MOST_NUMBERED else ranking
    _, first, counts = np.unique(codes, return_index=True, return_counts=True, axis=0)
    most_common = np.lexsort((first, -counts))[:_MOST_ORDERS]
    return {
        tuple(names[index] for index in ranking[first[place]]): float(counts[place] / len(draws))
        for place in most_common
    }
