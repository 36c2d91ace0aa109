"""Evidence of several classifiers, made from what the user hands in.

There are four kinds: the same rows in memory, independent samples in memory, verified rows with a
judge, and scans. Each gives joint estimates of any measure; nobody else asks which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dmfroc._kit.arrays import PerClass
from dmfroc._kit.remarks import collected_remarks, warn
from dmfroc.analyses.evidence import (
    JudgedEvidence,
    below_chance_message,
    check_one_horizon,
    check_with_judge,
    choose_methods,
    counted_sample,
    joint_estimates_with_judge,
)
from dmfroc.analyses.population import in_population
from dmfroc.counted.estimates import joint_estimates_of_counts, stated_counts
from dmfroc.inference.hypothesis import Hypothesis
from dmfroc.inference.method import JointEstimates, check_comparable
from dmfroc.inference.options import Options, stated
from dmfroc.inference.units import Sample, Units
from dmfroc.inputs.arguments import Needs, as_predictions
from dmfroc.inputs.class_shares import Importance
from dmfroc.inputs.judge import judged_rows
from dmfroc.inputs.messages import listing
from dmfroc.inputs.predictions import Predictions
from dmfroc.inputs.rows import checked_same_observations, matched
from dmfroc.measures.measure import Measure
from dmfroc.results.estimate import remarked
from dmfroc.results.result import Result, attributed


class JointEvidence(NamedTuple):
    """What is known of several classifiers.

    Attributes
    ----------
    estimates : callable
        Takes a measure and a hypothesis, and returns the classifiers' values and differences.
    predictions : dict of str to Predictions
        What is compared.
    units : Units or None
        The independent units if the classifiers have the same ones.
    options : Options or None
        Of rows in memory without follow-up or judge: the options with the population.
    """

    estimates: Callable[[Measure, Hypothesis], JointEstimates]
    predictions: Mapping[str, Predictions]
    units: Units | None = None
    options: Options | None = None


def joint_evidence(
    y_true: Any,
    y_score: Any,
    options: Options,
    needs: Needs,
    *,
    paired: bool,
    given: Mapping[str, Any],
) -> JointEvidence:
    """Return the evidence in what the user hands in, see `dmfroc.compare`."""
    check_one_horizon(options)
    scan = counted_sample(y_true, y_score, given, options)
    if scan is not None:
        if not paired or len(scan.classifiers) < 2:
            raise ValueError(
                "classifiers of a scan are compared on the same observations: give it the score "
                "columns of each, scan(..., scores={'a': [...], 'b': [...]}), and leave paired=True"
            )
        predictions = {name: stated_counts(scan, name, options) for name in scan.classifiers}
        return _evidence(partial(joint_estimates_of_counts, scan, options), predictions)
    if options.judge is None:
        return _in_memory(y_true, y_score, options, needs, paired=paired, given=given)
    if not paired:
        raise ValueError("judge= is for classifiers on the same rows: leave paired=True")
    check_with_judge(options)
    evidence = _judged(y_true, y_score, options, needs=needs, judge=options.judge, **given)
    predictions = {name: one.predictions for name, one in evidence.items()}
    units = next(iter(evidence.values())).sample.units
    return _evidence(partial(joint_estimates_with_judge, evidence), predictions, units)


def _evidence(
    find: Callable[[Measure, Hypothesis], JointEstimates],
    predictions: Mapping[str, Predictions],
    units: Units | None = None,
    options: Options | None = None,
) -> JointEvidence:
    """Return what is found, with the warnings of the inputs and all about the values."""

    def estimates(measure: Measure, hypothesis: Hypothesis) -> JointEstimates:
        joint = find(measure, hypothesis)
        messages = [
            None if units is None else _same_scores_message(predictions),
            below_chance_message(measure, joint.estimates.values(), predictions.values()),
            _target_message(measure),
        ]
        found = {x: remarked(e, predictions[x], *messages) for x, e in joint.estimates.items()}
        warn(attributed({name: e.caveats for name, e in found.items()}))
        return joint._replace(estimates=found)

    return JointEvidence(estimates, predictions, units, options)


def _in_memory(
    y_true: Any,
    y_score: Any,
    options: Options,
    needs: Needs,
    *,
    paired: bool,
    given: Mapping[str, Any],
) -> JointEvidence:
    given, ended = dict(given), None
    if options.follow_up is not None:
        events = options.follow_up.classes_of_events(y_true, y_score, given, paired=paired)
        y_true, y_score, ended = events
    if np.ndim(options.population) == 2:
        raise ValueError(
            "population of a comparison must be shares, which are the same for all "
            "classifiers: give the shares instead of scores"
        )
    if not paired and options.folds is not None and options.folds.fold is not None:
        raise ValueError(
            "folds cannot be given for independent samples (paired=False): pass Predictions "
            "that have folds of their own, see Predictions.in_folds"
        )
    try:
        predictions, by_chance = _predictions(y_true, y_score, needs, given)
    except (TypeError, ValueError) as error:
        if paired or y_score is None:
            raise
        remedy = "independent samples are a dict of Predictions instead of y_true"
        raise type(error)(f"{error}; {remedy}") from error
    if paired:
        predictions = checked_same_observations(matched(predictions))
    of_each = _of_each_sample(options.population, list(predictions), paired=paired)
    with_population = options
    for name, one in predictions.items():
        if paired or options.groups is None:
            one = stated(one, options)
        both = in_population(one, replace(options, population=of_each[name]), ended)
        predictions[name], with_population = both
    for name in by_chance:  # the shares of the population
        predictions[name] = _constant(predictions[name], predictions[name].counted.class_totals)
    joint = joint_of_rows(predictions, with_population, paired=paired)
    if options.follow_up is None:
        return joint
    # The rows whose class is known
    predictions = {name: one.counted for name, one in predictions.items()}
    return _of_rows(predictions, joint.units, with_population)._replace(options=None)


def joint_of_rows(
    predictions: Mapping[str, Predictions], options: Options, *, paired: bool
) -> JointEvidence:
    """Return the evidence in rows in memory; the same observations have the same units."""
    units = options.sample_of(next(iter(predictions.values()))).units if paired else None
    return _of_rows(predictions, units, options)


def _of_rows(
    predictions: Mapping[str, Predictions], units: Units | None, options: Options
) -> JointEvidence:
    find = partial(_estimates_in_memory, predictions, units, options)
    return _evidence(find, predictions, units, options)


def _estimates_in_memory(
    predictions: Mapping[str, Predictions],
    units: Units | None,
    options: Options,
    measure: Measure,
    hypothesis: Hypothesis,
) -> JointEstimates:
    """Return estimates of the same observations, which share units, or of independent samples."""
    [method] = choose_methods([measure], next(iter(predictions.values())), options)
    check_comparable(measure, predictions)
    if units is None and options.groups is not None:
        raise ValueError(
            "groups cannot be given for independent samples (paired=False): put all rows in one "
            "sample, and use compare_subgroups with by= the sample of each row"
        )
    samples = {
        name: options.sample_of(p) if units is None else Sample(p.counted, units)
        for name, p in predictions.items()
    }
    return method.joint_estimates(measure, samples, hypothesis)


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
    with collected_remarks() as told:
        rows = {
            name: judged_rows(y_true, scores, y_pred=hard, **others)
            for name, (scores, hard) in named.items()
        }
    order = list(rows if y_score is None else y_score)
    parts = {
        part: _with_baselines({x: getattr(one, part) for x, one in rows.items()}, baselines, order)
        for part in ("verified", "judge_on_verified", "judge_on_all")
    }
    _warn_of_inputs(parts["verified"], told)
    _check_names(parts["verified"], "y_score")
    parts["judge_on_all"] = checked_same_observations(parts["judge_on_all"])
    first = next(iter(rows.values()))
    evidence = {}
    for name, verified in parts["verified"].items():
        own: dict[str, Any] = {part: of_part[name] for part, of_part in parts.items()}
        verified = stated(verified, options, first.given)
        evidence[name] = JudgedEvidence(verified, options, first._replace(**own))
    return evidence


def _predictions(
    y_true: Any, y_score: Any, needs: Needs, given: Mapping[str, Any]
) -> tuple[dict[str, Predictions], list[str]]:
    """Return the predictions of each classifier, and the names of those that guess by chance."""
    others: dict[str, Any] = {"y_pred": None, **given}
    y_pred = others.pop("y_pred")
    by_name = {"y_score": y_score, "y_pred": y_pred, "y_true": y_true}
    what = next(x for x in by_name if by_name[x] is not None)
    whose = by_name[what]
    by_name[what], baselines = _without_baselines(whose)
    y_score, y_pred, y_true = by_name.values()
    with collected_remarks() as told:
        named = _named_predictions(y_true, y_score, y_pred, needs, others)
    if baselines:
        named = _with_baselines(named, baselines, list(whose))
    _warn_of_inputs(named, told)
    _check_names(named, "y_true" if y_score is None else "y_score")
    return named, [name for name, x in baselines.items() if (x or name) == "chance"]


def _warn_of_inputs(named: Mapping[str, Predictions], told: Sequence[str]) -> None:
    """Give the warnings that were collected, with the classifiers that they concern."""
    warn(attributed({name: [x for x in p.remarks if x in told] for name, p in named.items()}))


def _of_each_sample(population: Any, names: Sequence[str], *, paired: bool) -> Mapping[str, Any]:
    """Return the population of each classifier; of independent samples importance by name."""
    is_dict = isinstance(population, Mapping)
    several = population.values() if is_dict else [population]
    has_importance = any(isinstance(x, Importance) for x in several)
    by_name = is_dict and has_importance
    of_each = population if by_name else dict.fromkeys(names, population)
    if (by_name if paired else has_importance and not is_dict) or set(of_each) != set(names):
        raise ValueError(
            "population of independent samples must be a dict with the Importance of each one's "
            f"rows, by name of the classifier, {listing(names)}; of the same rows one Importance"
        )
    if by_name and any(x.target is not None for x in of_each.values()):
        raise ValueError(
            "importance estimated from features of one target makes samples dependent: give "
            "known weights of each sample, or compare classifiers on the same rows"
        )
    return of_each


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
    """Add classifiers that give the same probabilities whatever the observation.

    They are 1 for one class or, by chance, the shares of the classes.
    """
    if not named:
        raise ValueError("baselines are compared with the scores of at least one classifier")
    first = next(iter(named.values()))
    for name, baseline in baselines.items():
        named[name] = _constant(first, _shares_of_baseline(name, baseline or name, first))
    return {name: named[name] for name in order}


def _constant(predictions: Predictions, shares: PerClass) -> Predictions:
    """Return predictions that forecast the same shares of the classes in every row."""
    n = predictions.n_observations
    scores = np.tile(shares / shares.sum(), (n, 1))
    predicted = np.full(n, shares.argmax(), np.int32)
    return replace(predictions, scores=scores, predicted=predicted, single=None, remarks=())


def _shares_of_baseline(name: str, baseline: str, predictions: Predictions) -> PerClass:
    """Return the shares of the classes that a baseline forecasts."""
    known = {f"always {label}": place for place, label in enumerate(predictions.labels)}
    if len(known) == 2:
        known = {"treat none": 0, "treat all": 1} | known
    if baseline == "chance":
        return predictions.class_totals
    if baseline not in known:
        raise ValueError(
            f"{baseline!r} is no classifier with scores, and no baseline: take one of "
            f"{['chance', *known][:8]}, or give the scores of {name!r}. To treat all is of two "
            "classes"
        )
    return np.eye(predictions.n_classes)[known[baseline]]


def _named_predictions(
    y_true: Any, y_score: Any, y_pred: Any, needs: Needs, others: Mapping[str, Any]
) -> dict[str, Predictions]:
    if isinstance(y_true, Mapping) and y_score is None:
        for name, value in y_true.items():
            if not isinstance(value, Predictions):
                raise TypeError(
                    f"y_true as a dict must hold Predictions, but {name!r} is a "
                    f"{type(value).__name__}; for arrays pass y_true and a dict of scores, of "
                    "results their .predictions; of accumulators, which are streams, call "
                    "dmfroc.applications.compare_streams"
                )
        return {
            name: as_predictions(value, y_pred=y_pred, needs=needs, by_fold=True, **others)
            for name, value in y_true.items()
        }
    named = {}
    for name, (scores, hard) in _by_classifier(y_score, y_pred).items():
        try:
            named[name] = as_predictions(
                y_true, scores, needs=needs, by_fold=True, **{**others, "y_pred": hard}
            )
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}: {error}") from error
    classes = {label for p in named.values() for label in p.labels}
    # Of hard labels a class that one of them alone predicts is a class of all of them.
    if y_score is None and any(len(p.labels) < len(classes) for p in named.values()):
        others = {**others, "labels": sorted(classes)}
        return _named_predictions(y_true, None, y_pred, needs, others)
    return named


def _by_classifier(y_score: Any, y_pred: Any) -> dict[str, tuple[Any, Any]]:
    """Return the scores and the hard labels of each classifier, or None instead of one of them."""
    is_named = isinstance(y_score, Mapping) and not isinstance(y_score, Result)
    if not is_named and (y_score is not None or y_pred is None):
        raise TypeError(
            "y_score must be a dict of scores by name of the classifier, but it is a "
            f'{type(y_score).__name__}: pass {{"a": scores_a, "b": scores_b}}'
        )
    if y_pred is not None and not isinstance(y_pred, Mapping):
        raise TypeError(
            "y_pred must be a dict of hard labels by name of the classifier, but it is a "
            f'{type(y_pred).__name__}: pass {{"a": labels_a, "b": labels_b}}'
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


def _same_scores_message(named: Mapping[str, Predictions]) -> str | None:
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


def _target_message(measure: Measure) -> str | None:
    """Say that neither a greater nor a smaller value is better."""
    if np.isnan(measure.target):
        return None
    return (
        "compare brier_score or log_loss to find the better classifier: "
        f"{measure.name} is best at {measure.target:g}, so that neither a greater nor a smaller "
        "value is better, and differences show which one is greater"
    )
