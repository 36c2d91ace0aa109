"""Paired comparison of classifiers: which one is better, and how certain that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, Unpack

import numpy as np
from jaxtyping import Float

from dmfroc._kit.options import flag
from dmfroc._kit.remarks import warn
from dmfroc.analyses.accumulation import Accumulator
from dmfroc.analyses.catalogue import get_measure, title_for
from dmfroc.analyses.comparison_result import Comparison
from dmfroc.analyses.evidence import (
    JudgedEvidence,
    below_chance_message,
    choose_methods,
    counted_sample,
    joint_estimates_with_judge,
    take_judge,
    take_population,
)
from dmfroc.analyses.population import in_population
from dmfroc.analyses.sequences import joint_of_streams
from dmfroc.counted.estimates import jackknife_for, joint_estimates_of_counts
from dmfroc.counted.scan import Scan
from dmfroc.inference.hypothesis import Alternative, Hypothesis
from dmfroc.inference.interval_method import JointEstimates, check_comparable
from dmfroc.inference.options import EvaluationOptions, Options, with_options
from dmfroc.inference.selection import Winner, winner_of
from dmfroc.inference.simultaneous import holm_adjusted, largest_statistic, pairwise_differences
from dmfroc.inference.units import Sample, Units
from dmfroc.inputs.judge import judged_rows
from dmfroc.inputs.messages import listing
from dmfroc.inputs.predictions import Needs, Predictions, as_predictions
from dmfroc.inputs.rows import matched, of_same_observations
from dmfroc.measures.measure import Measure, caveats
from dmfroc.multiclass.measure import curve_options_of
from dmfroc.results.difference import Difference

_MOST_ORDERS = 1000
_MOST_NUMBERED = 15  # classifiers whose orders, to this power, 64 bits can number


@with_options(EvaluationOptions, 'name the classifiers, compare(y, {"a": scores_a, "b": scores_b})')
def compare(
    y_true: Any,
    y_score: Mapping[str, Any] | None = None,
    *,
    measure: str | Measure | None = None,
    paired: bool = True,
    alternative: Alternative = "two-sided",
    margin: float = 0.0,
    rope: float = 0.0,
    simultaneous: bool = False,
    **options: Unpack[EvaluationOptions],
) -> Comparison:
    """Compare any number of classifiers, on the same observations or on independent samples.

    Parameters
    ----------
    y_true : array-like of shape (n,), dict of str to Predictions, or Scan of several classifiers
        Also a dict of str to `Accumulator`, of independent streams: then limits and p-values hold
        at all times at once, and you may stop when you like.
        Observed classes; or finished predictions by name of the classifier, of the same
        observations unless ``paired=False``: in the same order, or with ``id=`` that says which
        rows belong together, see `Predictions.from_arrays`.
    y_score : dict of str to array-like or table of shape (n, K), or (n,) for K = 2
        Each classifier's scores, by its name. Or, instead of scores, the name of a baseline:
        ``"treat all"`` and ``"treat none"`` of two classes, which give the positive class the
        probability 1 and 0, or ``"always CLASS"`` of any number. None stands for the baseline of
        the classifier's own name.
    measure : str or Measure, optional
        What to compare, see `estimate`; by default the DMF-AUC, and of hard labels without scores
        the informedness.
    paired : bool
        False if every classifier has a sample of its own, independent of the others.
    alternative : {"two-sided", "greater", "less"}
        What the p-values test of each difference, the first classifier's value minus the second's
        in the order given: that it is not 0, that it is above ``-margin``, or that it is below
        ``margin``. A one-sided test comes with a one-sided limit, of the same level, instead of an
        interval. It is about the value: a better error is ``"less"``.
    margin : float
        For non-inferiority, with a one-sided test: how much worse the first classifier may be.
        ``alternative="greater", margin=0.05`` tests that its AUC is not lower by 0.05 or more.
    rope : float
        Half-width of the region of practical equivalence: differences that do not matter.
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
    pos_label, folds, target, train_fraction, groups, stratify
        As for `estimate`.
    judge, label_probability, label_strata, target_prevalence, importance
        As for `estimate`. With a judge every difference has a weight of its own, so that it is not
        exactly the difference of the values. With ``paired=False``, ``importance`` is a dict of
        weights by name of the classifier.
    method : {"jackknife", "bootstrap", "bayesian_bootstrap", "paper_bootstrap", "bayes"}, optional
        As for `estimate`. Influences of the same observations are subtracted; replicates of the
        bootstraps are the same for all classifiers. Posteriors under ``"bayes"`` are coupled:
        their ranks are as correlated as the influences of the same observations.
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
        Intervals are those of single comparisons unless ``simultaneous=True``; p-values are given
        both as they are and adjusted.

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
    >>> result = compare(y, {"good": good, "poor": poor}, measure="hand_till")
    >>> result.differences[0].p_value < 1e-6
    True
    >>> predicted = {"good": good.argmax(axis=1), "poor": poor.argmax(axis=1)}
    >>> compare(y, y_pred=predicted).best_set()
    ('good',)
    """
    if measure is None:
        has_scores = y_score is not None or options.get("y_pred") is None
        measure = "dmf_auc" if has_scores else "informedness"
    measure = get_measure(measure)
    paired, hypothesis = flag("paired", paired), Hypothesis(alternative, margin, rope)
    intervals, given = Options.from_user("compare", options, EvaluationOptions)
    hypothesis.check(intervals.level, measure.largest_difference)
    scan = counted_sample(y_true, {"y_score": y_score} | given)
    predictions: dict[str, Predictions] = {}
    units = None
    if is_of_streams(y_true):
        joint = _jointly_of_streams(y_true, measure, intervals, hypothesis, simultaneous, given)
    elif scan is not None:
        predictions = {name: counts.predictions for name, counts in scan.bound.items()}
        joint = _jointly_of_scan(scan, measure, intervals, paired, hypothesis)
    elif (judge := take_judge(given)) is not None:
        if not paired:
            raise ValueError("judge= is for classifiers on the same rows: leave paired=True")
        evidence = _judged(y_true, y_score, intervals, needs=measure.needs, **judge, **given)
        predictions = {name: one.predictions for name, one in evidence.items()}
        check_comparable(measure, predictions)
        joint = joint_estimates_with_judge(measure, evidence, hypothesis)
        units = next(iter(evidence.values())).sample.units
    else:
        population = take_population(given)
        if np.ndim(population["target_prevalence"]) == 2:
            raise ValueError(
                "target_prevalence of a comparison must be shares, which are the same for all "
                "classifiers: give the shares instead of scores"
            )
        if population["folds"] is not None and not paired:
            raise ValueError(
                "folds cannot be given for independent samples (paired=False): pass Predictions "
                "that have folds of their own, see Predictions.in_folds"
            )
        predictions = _predictions(y_true, y_score, measure.needs, paired, given)
        weights = _importance_of_each(population["importance"], predictions, paired)
        for name, one in predictions.items():
            own = population | {"importance": weights[name]}
            predictions[name], with_population = in_population(one, intervals, **own)
        intervals = with_population
        joint, units = _jointly(predictions, measure, intervals, paired, hypothesis)
    return Comparison(
        measure=measure.name,
        title=title_for(measure, *predictions.values()) if predictions else measure.title,
        predictions=predictions,
        units=units,
        curve_options=curve_options_of(measure),
        **compared(
            joint,
            hypothesis,
            greater_is_better=measure.greater_is_better,
            simultaneous=simultaneous,
            level=intervals.level,
            seed=intervals.seed,
        ),
    )


def compared(
    joint: JointEstimates,
    hypothesis: Hypothesis,
    *,
    greater_is_better: bool,
    simultaneous: bool,
    level: float,
    seed: int,
) -> dict[str, Any]:
    """Return what a `Comparison` says of values that are jointly known, as its fields."""
    value_intervals, winner = None, None
    if flag("simultaneous", simultaneous):
        differences, value_intervals, winner = _all_at_once(
            joint, greater_is_better, level, seed, hypothesis
        )
    else:
        differences = holm_adjusted(joint.differences.values())
    names = tuple(joint.estimates)
    return {
        "method": joint.estimates[names[0]].method,
        "estimates": joint.estimates,
        "differences": differences,
        "order_probabilities": _order_probabilities(differences, joint.qualities, names, seed),
        "level": level,
        "rope": hypothesis.rope,
        "n_draws": len(joint.qualities),
        "seed": seed,
        "greater_is_better": greater_is_better,
        "covariance": joint.covariance,
        "simultaneous": simultaneous,
        "value_intervals": value_intervals,
        "winner": winner,
        "alternative": hypothesis.alternative,
        "margin": hypothesis.margin,
    }


def _jointly(
    predictions: dict[str, Predictions],
    measure: Measure,
    options: Options,
    paired: bool,
    hypothesis: Hypothesis,
) -> tuple[JointEstimates, Units | None]:
    """Return estimates and differences, and the units that all classifiers share."""
    first = next(iter(predictions.values()))
    [method] = choose_methods([measure], first, options)
    check_comparable(measure, predictions)
    if (refusal := method.refusal_to_compare(paired=paired)) is not None:
        raise ValueError(refusal)
    if options.groups is not None and not paired:
        raise ValueError(
            "groups cannot be given for independent samples (paired=False): put all rows in one "
            "sample, and use compare_subgroups with by= the sample of each row"
        )
    if paired:
        warn([_same_scores_message(predictions)])
    if not method.warns_itself:
        _warn_of_caveats(measure, predictions.values())
    units = None
    if paired:  # the same observations have the same units, held once
        units = options.sample_of(first).units
        samples = {name: Sample(p.counted, units) for name, p in predictions.items()}
    else:
        samples = {name: options.sample_of(p) for name, p in predictions.items()}
    joint = method.joint_estimates(measure, samples, paired=paired, hypothesis=hypothesis)
    below_chance = below_chance_message([measure], [list(joint.estimates.values())])
    warn([below_chance, _target_message(measure)])
    return joint, units


def _jointly_of_scan(
    scan: Scan, measure: Measure, options: Options, paired: bool, hypothesis: Hypothesis
) -> JointEstimates:
    method = jackknife_for(options)
    if not paired or len(scan.classifiers) < 2:
        raise ValueError(
            "classifiers of a scan are compared on the same observations: give it the score "
            "columns of each, scan(..., scores={'a': [...], 'b': [...]}), and leave paired=True"
        )
    _warn_of_caveats(measure, [counts.predictions for counts in scan.bound.values()])
    return joint_estimates_of_counts(
        scan, measure, method, stratify=options.stratify, hypothesis=hypothesis
    )


def _judged(
    y_true: Any, y_score: Any, options: Options, *, y_pred: Any = None, **others: Any
) -> dict[str, JudgedEvidence]:
    """Return the evidence of each classifier: verified rows, and a judge of all rows."""
    if isinstance(y_true, Mapping):
        raise TypeError(
            "judge= goes with arrays: instead of a dict of Predictions pass y_true, with missing "
            "labels where nobody verified, and a dict of scores by name of the classifier"
        )
    scored, baselines = _without_baselines(y_score)
    named = _by_classifier(scored, y_pred)
    rows = {
        name: judged_rows(y_true, scores, y_pred=hard, **others)
        for name, (scores, hard) in named.items()
    }
    order = list(rows if y_score is None else y_score)
    parts = {
        part: _with_baselines({x: getattr(one, part) for x, one in rows.items()}, baselines, order)
        for part in ("verified", "judge_on_verified", "judge_on_all")
    }
    _check_names(parts["verified"], "y_score")
    parts["judge_on_all"] = of_same_observations(parts["judge_on_all"])
    first = next(iter(rows.values()))
    evidence = {}
    for name, verified in parts["verified"].items():
        own: dict[str, Any] = {part: of_part[name] for part, of_part in parts.items()}
        evidence[name] = JudgedEvidence(verified, options, first._replace(**own))
    return evidence


def is_of_streams(y_true: Any) -> bool:
    """Whether all that is to be compared are accumulators."""
    is_dict = isinstance(y_true, Mapping) and len(y_true) > 0
    return is_dict and all(isinstance(x, Accumulator) for x in y_true.values())


def _jointly_of_streams(
    streams: Mapping[str, Accumulator],
    measure: Measure,
    options: Options,
    hypothesis: Hypothesis,
    simultaneous: bool,
    given: Mapping[str, Any],
) -> JointEstimates:
    refused = [*given, *options.given]
    if refused or simultaneous:
        raise ValueError(
            f"{', '.join(refused) or 'simultaneous'} is no option of a comparison of accumulators, "
            "which have classes, weights and hard labels of their own. Its limits hold at all "
            "times, and p-values are adjusted by Holm's method: leave it out"
        )
    if len(streams) < 2:
        raise ValueError("at least two accumulators are needed, but there is one")
    seen = {name: accumulator.seen(measure) for name, accumulator in streams.items()}
    for name, stream in seen.items():
        if stream.obstacle is not None:
            raise ValueError(
                f"{measure.name} of {name!r} cannot be compared yet: {stream.obstacle}; wait for "
                "more rows"
            )
    return joint_of_streams(seen, measure, options.level, options.seed, hypothesis)


def _warn_of_caveats(measure: Measure, predictions: Iterable[Predictions]) -> None:
    warn(dict.fromkeys(remark for p in predictions for remark in caveats([measure], p)))


def _all_at_once(
    joint: JointEstimates, greater_is_better: bool, level: float, seed: int, hypothesis: Hypothesis
) -> tuple[tuple[Difference, ...], dict[str, tuple[float, float]], Winner]:
    """Return differences and intervals of the values that hold all at once, and the winner."""
    n = len(joint.estimates)
    pairs = pairwise_differences(n)
    largest_size = largest = largest_statistic(joint.covariance, pairs, seed)
    if not hypothesis.is_two_sided:
        largest = largest_statistic(joint.covariance, pairs, seed, two_sided=False)
    level_of_each = largest.level_of_each(level)
    differences = tuple(
        replace(
            difference,
            interval=hypothesis.interval(joint.intervals_of_differences[pair], level_of_each),
            adjusted_p_value=largest.adjusted(difference.p_value),
        )
        for pair, difference in joint.differences.items()
    )
    level_of_value = largest_statistic(joint.covariance, np.eye(n), seed).level_of_each(level)
    intervals = {x: at(1 - level_of_value)[:2] for x, at in joint.intervals_of_values.items()}
    winner = winner_of(
        joint, largest_size, greater_is_better=greater_is_better, level=level, seed=seed
    )
    return differences, intervals, winner


def _predictions(
    y_true: Any, y_score: Any, needs: Needs, paired: bool, given: Mapping[str, Any]
) -> dict[str, Predictions]:
    """Return the predictions of each classifier, whose rows have one order if they are paired."""
    others: dict[str, Any] = {"y_pred": None, "pos_label": None, **given}
    y_pred, pos_label = (others.pop(name) for name in ("y_pred", "pos_label"))
    whose = y_true if y_score is None else y_score
    scored, baselines = _without_baselines(whose)
    y_true, y_score = (scored, None) if y_score is None else (y_true, scored)
    named = _named_predictions(y_true, y_score, y_pred, needs, others)
    if pos_label is not None:
        named = {name: p.with_positive_class(pos_label) for name, p in named.items()}
    if baselines:
        named = _with_baselines(named, baselines, list(whose))
    _check_names(named, "y_true" if y_score is None else "y_score")
    return of_same_observations(matched(named)) if paired else named


def _importance_of_each(given: Any, named: Iterable[str], paired: bool) -> Mapping[str, Any]:
    """Return the importance of each classifier's rows, which independent samples have by name."""
    if paired or given is None:
        return dict.fromkeys(named, given)
    names = list(named)
    if not isinstance(given, Mapping) or set(given) != set(names):
        raise ValueError(
            "importance of independent samples must be a dict with the weights of each one's rows, "
            f"by name of the classifier, {listing(names)}"
        )
    if any(isinstance(weights, tuple) for weights in given.values()):
        raise ValueError(
            "importance estimated from features of one target makes samples dependent: give "
            "known weights of each sample, or compare classifiers on the same rows"
        )
    return given


def _check_names(named: Mapping[Any, Any], what: str) -> None:
    """Refuse names of classifiers that are no strings, and fewer than two of them."""
    for name in named:
        if not isinstance(name, str):
            raise TypeError(
                f"{what} has the key {name!r}, of type {type(name).__name__}, but names of "
                f"classifiers must be strings: use {str(name)!r}"
            )
    if len(named) < 2:
        raise ValueError(
            f"at least two classifiers are needed, but there are {len(named)}: give the scores of "
            "each, or a file for each"
        )


def _without_baselines(given: Any) -> tuple[Any, dict[str, str | None]]:
    """Return what is given by name of the classifier, and the names of baselines among it."""
    if not isinstance(given, Mapping):
        return given, {}
    baselines = {name: x for name, x in given.items() if x is None or isinstance(x, str)}
    return {name: x for name, x in given.items() if name not in baselines}, baselines


def _with_baselines(
    named: dict[str, Predictions], baselines: Mapping[str, str | None], order: Sequence[str]
) -> dict[str, Predictions]:
    """Add classifiers that give one class the probability 1, whatever the observation."""
    if not named:
        raise ValueError("baselines are compared with the scores of at least one classifier")
    first = next(iter(named.values()))
    for name, baseline in baselines.items():
        place = _class_of_baseline(name, baseline or name, first.labels)
        predicted = np.full(first.n_observations, place, np.int32)
        scores = np.eye(first.n_classes)[predicted]
        named[name] = replace(first, scores=scores, predicted=predicted)
    return {name: named[name] for name in order}


def _class_of_baseline(name: str, baseline: str, labels: Sequence[Any]) -> int:
    """Return the place of the class for which a baseline always decides."""
    if baseline in ("treat all", "treat none"):
        if len(labels) > 2:
            raise ValueError(
                f"the baseline {baseline!r} of {name!r} is one of two classes, and there are "
                f"{len(labels)}: take 'always {labels[0]}' and so on"
            )
        return int(baseline == "treat all")
    always = [f"always {label}" for label in labels]
    if baseline not in always:
        known = ["treat all", "treat none"] * (len(labels) == 2) + always[:5]
        raise ValueError(
            f"{baseline!r}, which {name!r} has instead of scores, is no baseline: take one of "
            f"{known}, or give the scores"
        )
    return always.index(baseline)


def _target_message(measure: Measure) -> str | None:
    """Say that neither a greater nor a smaller value is better."""
    if np.isnan(measure.target):
        return None
    return (
        f"{measure.name} is best at {measure.target:g}, so that neither a greater nor a smaller "
        "value is better: differences show which one is greater. To find the better classifier "
        "compare brier_score or log_loss."
    )


def _named_predictions(
    y_true: Any, y_score: Any, y_pred: Any, needs: Needs, others: Mapping[str, Any]
) -> dict[str, Predictions]:
    if isinstance(y_true, Mapping) and y_score is None:
        for name, value in y_true.items():
            if not isinstance(value, Predictions):
                raise TypeError(
                    f"y_true as a dict must hold Predictions, but {name!r} is a "
                    f"{type(value).__name__}; for arrays pass y_true and a dict of scores"
                )
        return {
            name: as_predictions(value, y_pred=y_pred, needs=needs, by_fold=True, **others)
            for name, value in y_true.items()
        }
    named = _by_classifier(y_score, y_pred)
    if y_score is None:
        return _of_hard_labels(y_true, y_pred, needs, others)
    return {
        name: Predictions.from_arrays(y_true, scores, y_pred=hard, **others)
        for name, (scores, hard) in named.items()
    }


def _by_classifier(y_score: Any, y_pred: Any) -> dict[str, tuple[Any, Any]]:
    """Return the scores and the hard labels of each classifier, or None instead of one of them."""
    if not isinstance(y_score, Mapping) and (y_score is not None or y_pred is None):
        raise TypeError(
            "y_score must be a dict of scores by name of the classifier, but it is a "
            f"{type(y_score).__name__}"
        )
    if y_pred is not None and not isinstance(y_pred, Mapping):
        raise TypeError(
            "y_pred must be a dict of hard labels by name of the classifier, but it is a "
            f"{type(y_pred).__name__}"
        )
    hard = y_pred or {}
    if y_score is None:
        return {name: (None, x) for name, x in hard.items()}
    unknown = [name for name in hard if name not in y_score]
    if unknown:
        raise ValueError(
            f"y_pred has hard labels of {unknown[0]!r}, but y_score has the classifiers "
            f"{list(y_score)}: use the same names"
        )
    return {name: (scores, hard.get(name)) for name, scores in y_score.items()}


def _of_hard_labels(
    y_true: Any, y_pred: Any, needs: Needs, others: Mapping[str, Any]
) -> dict[str, Predictions]:
    """Return the predictions of classifiers without scores, all with the same classes."""
    named = {
        name: as_predictions(y_true, y_pred=hard, needs=needs, **others)
        for name, hard in y_pred.items()
    }
    classes = {label for p in named.values() for label in p.labels}
    # A class that one of them alone predicts is a class of all of them.
    if any(len(p.labels) < len(classes) for p in named.values()):
        return _of_hard_labels(y_true, y_pred, needs, {**others, "labels": sorted(classes)})
    return named


def _same_scores_message(named: dict[str, Predictions]) -> str | None:
    """Say which classifiers have the same scores in every row, as a file named twice has."""
    first: dict[bytes, str] = {}
    twins = []
    for name, predictions in named.items():
        earlier = first.setdefault(predictions.scores.tobytes(), name)
        if earlier != name:
            twins.append(f"{earlier!r} and {name!r}")
    if not twins:
        return None
    return f"the same scores in every row, so that there is no difference: {', '.join(twins)}"


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
