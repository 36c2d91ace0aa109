"""What was found, in sentences that need no statistics."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.text import class_name, in_percent
from dmfroc.analyses.catalogue import MEASURES
from dmfroc.analyses.comparison_result import Comparison
from dmfroc.analyses.evaluation import Evaluation
from dmfroc.inference.options import OF_ALGORITHM
from dmfroc.inputs.messages import shortened
from dmfroc.inputs.predictions import Predictions
from dmfroc.reports.numbers import ByClassifier
from dmfroc.results.difference import Difference
from dmfroc.results.estimate import Estimate
from dmfroc.results.table import rounded
from dmfroc.results.text import equals_p_value, facts, format_interval, format_probability

_FEW = 10  # observations of a class, below which the hardest pair says their number
_MOST_UNDECIDED = 6
MOST_NAMED = 4  # classifiers with names in titles, bands, matrices; more are sorted
_AREAS = ("dmf_auc", "hand_till", "auc")
_HARD = 0.8  # A(i|j) below which a pair is worth naming


def digits(x: float, standard_error: float = math.nan) -> str:
    """Return a number with three decimals, or with as many as tell it from its bound."""
    if not math.isfinite(x):
        return "undefined"
    return rounded(x, standard_error, fewer=1).replace("-", "\N{MINUS SIGN}")


def value_text(estimate: Estimate | Difference) -> str:
    """Return a value, with as many decimals as its standard error asks for."""
    return digits(estimate.value, estimate.standard_error)


def interval_text(estimate: Estimate | Difference) -> str:
    """Return an interval, with as many decimals as its standard error asks for."""
    return ends_text(estimate.interval, estimate.standard_error)


def ends_text(interval: tuple[float, float], standard_error: float = math.nan) -> str:
    """Return an interval, or the one limit of an interval that is open on a side."""
    return format_interval(interval, lambda end: digits(end, standard_error))


def with_interval(estimate: Estimate | Difference, kind: str) -> str:
    """Return a value, and in parentheses its interval of some kind."""
    return f"{value_text(estimate)} ({kind} {interval_text(estimate)})"


def which_is_better(names: Sequence[str], kind: str) -> str:
    """Return the question that a comparison answers."""
    if len(names) > MOST_NAMED:
        return f"Which of {len(names)} {kind} is best?"
    return f"Which is better: {', '.join(names[:-1])} or {names[-1]}?"


def against_chance(estimate: Estimate, meaning: str = "", beside: str = "") -> str:
    """Say whether a value is better than that of guessing, and what it means for cases.

    A value that the meaning is about may stand ``beside``.
    """
    interval = f"{in_percent(estimate.level)} interval {interval_text(estimate)}"
    number = f"{estimate.title} {value_text(estimate)}"
    value = f"{number} ({interval})"
    measure = MEASURES.get(estimate.measure)
    if measure is None or not math.isfinite(measure.chance + estimate.value):
        return f"{value[0].upper()}{value[1:]}."
    sign = 1 if measure.greater_is_better else -1
    low, high = sorted(sign * (end - measure.chance) for end in estimate.interval)
    claim = (
        "The classifier is better than guessing"
        if low > 0
        else "The classifier is worse than guessing"
        if high < 0
        else "The data do not show that the classifier is better than guessing"
    )
    if not meaning and estimate.measure == "informedness" and estimate.value > 0:
        meaning = f"as if it knew {_of_100(estimate.value)} of 100 cases and guessed the others"
    if meaning:
        return f"{claim}: {meaning} ({beside}{number}, {interval})."
    return f"{claim}: {value}, where guessing has {measure.chance:g}."


def in_pairs(values: Mapping[str, float], predictions: Predictions) -> str:
    """Say in how many of 100 pairs of cases scores are right, by the areas of classifiers by name.

    A single one needs no name.
    """
    named = [_of_100(x) + f" ({name})" * (len(values) > 1) for name, x in values.items()]
    pairs = f"in {joined(named)} of 100 pairs of"
    if predictions.n_classes > 2:
        return f"{pairs} cases of different classes, the scores tell which is which; guessing: 50"
    negative, positive = map(class_name, predictions.labels)
    larger = "smaller" if predictions.direction == "<=" else "larger"
    return (
        f"{pairs} a case of {positive} (positive) and one of {negative}, that of {positive} has "
        f"the {larger} score; guessing: 50"
    )


def _of_100(share: float) -> str:
    """Return a share of 100 as a whole number, unless that would be all or none."""
    return f"{100 * share:.3g}" if 0 < min(share, 1 - share) < 0.005 else f"{100 * share:.0f}"


def evaluation_verdict(evaluation: Evaluation) -> list[str]:
    """Say whether one classifier is better than guessing, and by how much."""
    first, area = evaluation.shown[0], evaluation.estimates.get("hand_till")
    pairs = beside = ""
    if first.measure in _AREAS and area is not None and math.isfinite(area.value):
        pairs = in_pairs({"": area.value}, evaluation.predictions)
        if first is not area and evaluation.predictions.n_classes > 2:
            beside = f"{area.title} {value_text(area)}; "
    return [
        against_chance(first, pairs, beside),
        *_about_folds([evaluation.sample.predictions], first.method),
    ]


def hardest(named: ByClassifier, predictions: Predictions) -> list[str]:
    """Say of one classifier which pair is hardest, and how often its decisions are right."""
    sentences, has_pairs = [], predictions.n_classes > 2 and predictions.has_scores
    n = dict(zip(map(class_name, predictions.labels), predictions.class_counts, strict=True))
    for numbers in named.values():
        both = (numbers.areas + numbers.areas.T) / 2
        once = np.where(np.tri(len(both), k=-1) > 0, both, np.nan)
        for i, j, _ in worst_pairs(once, predictions.labels, has_pairs):
            of = {(a, b): numbers.areas[[*n].index(a), [*n].index(b)] for a, b in ((i, j), (j, i))}
            ((i, j), area), (_, back) = sorted(of.items(), key=lambda item: item[1])
            few = f" (n = {n[i]} and {n[j]})" if min(n[i], n[j]) < _FEW else ""
            sentences.append(
                f"The hardest pair is {i} against {j}{few}: in {_of_100(area)} of 100 such pairs "
                f"of cases, that of {i} has the larger score for {i} (A(i|j) {digits(area)}). By "
                f"scores for {j}, that of {j} in {_of_100(back)} of 100 (A(j|i) {digits(back)})."
            )
        if numbers.confusion is not None:
            right = share_of_right(numbers.confusion)
            most = numbers.confusion.sum(axis=1).max() / numbers.confusion.sum()
            sentences.append(
                f"Decisions are right in {100 * right:.1f} % of cases; always deciding for the "
                f"most frequent class would be in {100 * most:.1f} %. Whether that is good enough "
                "depends on what each error costs: see the confusion matrix."
            )
    return sentences


def share_of_right(confusion: Float[np.ndarray, "k k"]) -> float:
    """Return the share of the observations whose class was predicted."""
    return float(np.trace(confusion) / confusion.sum())


def comparison_verdict(
    comparison: Comparison, beside: Mapping[str, Mapping[str, Estimate]] = MappingProxyType({})
) -> list[str]:
    """Say who is better, and what the data do not show; beside, other measures by classifier."""
    if not all(math.isfinite(e.value) for e in comparison.estimates.values()):
        return [f"No classifier can be called better: {comparison.title} is undefined for some."]
    if not comparison.hypothesis.is_two_sided:
        return _one_sided_verdict(comparison)
    ordered = [d.better_first() for d in comparison.differences]
    decided = [d for d in ordered if d.adjusted_p_value < 1 - comparison.level]
    firsts = [d.first for d in ordered]
    best_first = sorted(comparison.estimates, key=firsts.count, reverse=True)
    values = {name: value_text(comparison.estimates[name]) for name in best_first}
    wins = {(d.first, d.second) for d in decided}
    best_set = comparison.best_set() if len(values) > 2 else ()
    sentence, tied = lead(_title(comparison), values, wins, best_set)
    undecided = [d for d in ordered if d not in decided and {d.first, d.second} <= set(tied)]
    sentences = [] if len(ordered) == 1 else [sentence]
    # Of many, the first sentence has all values
    most = _MOST_UNDECIDED if len(values) <= MOST_NAMED else 1
    if len(tied) == 1:
        sentences += [_sentence(comparison, d) for d in decided if d.first == tied[0]][:most]
    pairs = _pairs_of(comparison, best_first, beside)
    unknown = [_undecided(comparison, d) for d in undecided[:most]]
    sentences += pairs + unknown if len(ordered) > 1 else unknown + pairs
    if (more := len(undecided) - most) > 0:
        sentences.append(f"The table has {more} more differences that the data do not decide.")
    return sentences + _about_the_best(comparison, tied)


def _pairs_of(
    comparison: Comparison, names: Sequence[str], beside: Mapping[str, Mapping[str, Estimate]]
) -> list[str]:
    """Say what areas mean for pairs of cases, if they are about pairs, and classifiers are few."""
    predictions = next(iter(comparison.predictions.values()), None)
    if predictions is None or comparison.measure not in _AREAS or len(names) > MOST_NAMED:
        return []
    areas, by = comparison.estimates, ""
    if comparison.measure == _AREAS[0] and predictions.n_classes > 2:
        areas, by = (
            {x: e["hand_till"] for x, e in beside.items() if "hand_till" in e},
            " (Hand-Till M)",
        )
    if not areas:
        return []
    pairs = in_pairs({x: areas[x].value for x in names}, predictions)
    return [f"{pairs[0].upper()}{pairs[1:]}{by}."]


def _title(comparison: Comparison) -> str:
    return comparison.title + " (less is better)" * (not comparison.greater_is_better)


def p_text(p_value: float) -> str:
    """Return a p-value for a sentence, with as few digits as a reader needs."""
    return "p < 0.001" if p_value < 0.001 else equals_p_value(p_value)


def adjusted_for(n: int, level: float | None = None) -> str:
    """Say how n p-values are adjusted, and intervals that hold at once at a level."""
    if level is None:
        return f"P-values are Holm-adjusted for {n} comparisons; intervals are not adjusted."
    return (
        f"Intervals and p-values are adjusted for all {n} comparisons: with probability "
        f"{level:g} all intervals of differences hold at once."
    )


def footnote(comparison: Comparison) -> str:
    """Say how differences are adjusted, by which rule the verdict goes, and how others differ."""
    n, notes = len(comparison.differences), comparison.where_rules_differ()
    if n > 1:
        notes.insert(0, adjusted_for(n, comparison.level if comparison.simultaneous else None))
        if comparison.hypothesis.is_two_sided:
            notes.append(
                'The verdict goes by "may be best", one one-sided test against all others. Ranks '
                "and tiers are stricter, as they are about all pairs at once: the best rank of one "
                "that is excluded as the best can be 1."
            )
    return " ".join(notes)


def lead(
    title: str,
    values: Mapping[str, str],
    wins: Collection[tuple[str, str]],
    best_set: Sequence[str] = (),
) -> tuple[str, list[str]]:
    """Say who is best, who cannot be told apart from the best, and who is worse than all of these.

    ``values`` begin with the best; ``wins`` are the decided pairs, the better one first. Tied are
    those in ``best_set`` if there is one. Return the sentence, and those who are tied.
    """
    best, *others = values
    tied = [best]
    tied += [x for x in others if (x in best_set if best_set else (best, x) not in wins)]
    worse = [x for x in others if all((name, x) in wins for name in tied)]
    rest = [x for x in others if x not in (*tied, *worse)]
    if rest and best_set:  # one rule for all
        worse, rest = [], [x for x in others if x not in tied]
    is_long = len(values) > MOST_NAMED
    named = {x: f"{x} ({value})" if is_long else x for x, value in values.items()}
    of_worse, of_rest = (
        f"{len(part)} others" if len(part) > MOST_NAMED else joined([named[x] for x in part])
        for part in (worse, rest)
    )
    more = [f"{len(tied) - MOST_NAMED} more"] * (len(tied) > MOST_NAMED)
    of_tied = joined([named[x] for x in tied[:MOST_NAMED]] + more)
    if len(tied) == 1:
        whom = of_worse if is_long or rest or len(values) == 2 else "all others"
        claim = f"{of_tied} is {f'better than {whom}' if worse else 'best'}"
    else:
        most, every = ("better", "both") if len(tied) == 2 else ("best", "all")
        claim = f"The data do not show which of {of_tied} is {most}"
        if worse:
            claim += f"; {every} are better than {of_worse}"
    if rest:
        claim += f"; {of_rest} {'is' if len(rest) == 1 else 'are'} excluded as the best"
    if is_long:
        hides = max(map(len, (tied, worse, rest))) > MOST_NAMED
        all_values = " The table has all values." * hides
        return f"By {title}: {claim.replace('The data', 'the data')}.{all_values}", tied
    against = f" against {joined([values[x] for x in (*worse, *rest)])}" if worse or rest else ""
    return f"{claim}: {title} {joined([values[x] for x in tied])}{against}.", tied


def _one_sided_verdict(comparison: Comparison) -> list[str]:
    """Say which pairs show the alternative, in the order in which they were given."""
    significance = 1 - comparison.level
    adjusted = ", adjusted" if len(comparison.differences) > 1 else ""
    sentences = []
    for d in comparison.differences[:_MOST_UNDECIDED]:
        claim = comparison.hypothesis.claim(d.first, d.second)
        values = (value_text(comparison.estimates[name]) for name in (d.first, d.second))
        is_shown = d.adjusted_p_value < significance
        sentences.append(
            f"{claim if is_shown else f'The data do not show that {claim}'}: "
            f"{comparison.title} {' against '.join(values)}, {d.scale} "
            f"{value_text(d)} ({comparison.kind_of_interval}: "
            f"{interval_text(d.as_read())}; one-sided {p_text(d.adjusted_p_value)}{adjusted})."
        )
    if (more := len(comparison.differences) - _MOST_UNDECIDED) > 0:
        sentences.append(f"The table has {more} more differences.")
    return sentences + _about_the_best(comparison)


def _about_the_best(comparison: Comparison, tied: Sequence[str] = ()) -> list[str]:
    """Say how good the best is, adjusted for its selection, and who else may be, if not tied.

    What folds mean for these values comes last.
    """
    percent = in_percent(comparison.level)
    sentences = []
    if (winner := comparison.winner) is not None:
        error = comparison.estimates[winner.name].standard_error
        low, high = (digits(end, error) for end in winner.interval)
        sentences.append(
            f"{winner.name} was selected as the best of {len(comparison.estimates)} in this "
            f"sample, so that its {comparison.title} is biased upwards. Adjusted for that, it is "
            f"between {low} and {high} ({percent} interval)."
        )
    best = comparison.best_set()
    if len(comparison.estimates) > 2 and set(best) != set(tied):
        sentences.append(f"{percent} confidence set for the best classifier: {enumerated(best)}.")
    return sentences + _about_folds(comparison.predictions.values(), comparison.method)


def _about_folds(several: Iterable[Predictions], method: str) -> list[str]:
    """Say what values and intervals of a cross-validation are about; all have the same folds."""
    folds = next((x.folds for x in several), None)
    if folds is None:
        return []
    about = (
        "the learner, trained on other samples of that size"
        if method == OF_ALGORITHM
        else "the models that were fitted, not for the learner on other training samples"
    )
    n_folds = int(folds.max()) + 1
    return [f"Cross-validated: values are means over {n_folds} folds; intervals are for {about}."]


def watch_out(named: ByClassifier, predictions: Predictions) -> list[str]:
    """Say what to watch out for: absent classes, and pairs that are hardly told apart."""
    remarks = []
    if predictions.absent_labels:
        names = enumerated(list(map(class_name, predictions.absent_labels)))
        remarks.append(f"Never observed: {names}. Their pairs are left out.")
    is_of_pairs = predictions.has_scores and predictions.n_classes > 2
    for name, numbers in named.items():
        pairs = worst_pairs(numbers.areas, predictions.labels, 3 * is_of_pairs)
        hard = [f"{i} from {j} ({digits(a)})" for i, j, a in pairs if a < _HARD]
        if hard:
            remarks.append(f"{name}: hardest to tell apart, by A(i|j): {enumerated(hard)}.")
    return remarks


def worst_pairs(
    areas: Float[np.ndarray, "k k"], labels: Sequence[Hashable], most: int
) -> list[tuple[str, str, float]]:
    """Return the pairs of classes, by name, with the smallest areas, smallest first."""
    names, n = list(map(class_name, labels)), len(labels)
    flat = areas.ravel()
    order = flat.argsort()[:most]  # NaN comes last
    return [
        (names[index // n], names[index % n], float(flat[index]))
        for index in order.tolist()
        if math.isfinite(flat[index])
    ]


def joined(names: Sequence[str]) -> str:
    """Return names with commas, and "and" before the last one."""
    *others, last = names or [""]
    return f"{', '.join(others)} and {last}" if others else last


enumerated = partial(shortened, limit=8)


def _sentence(comparison: Comparison, d: Difference) -> str:
    return (
        f"{d.first} is better than {d.second}: {_values(comparison, d)}, {d.scale} "
        f"{with_interval(d, comparison.kind_of_interval)}."
    )


def _values(comparison: Comparison, d: Difference) -> str:
    values = (comparison.estimates[name].value for name in (d.first, d.second))
    a, b = (digits(value, d.standard_error) for value in values)
    return f"{_title(comparison)} {a} against {b}"


def _undecided(comparison: Comparison, d: Difference) -> str:
    equivalent = (
        f"; with probability {format_probability(d.probability_equivalent)} they differ by no more "
        f"than {comparison.rope:g}"
        if comparison.rope > 0
        else ""
    )
    size = known = ""
    is_alone = len(comparison.differences) == 1
    if is_alone or comparison.simultaneous:  # else the interval is not adjusted, but the claim is
        known = f" ({comparison.kind_of_interval} {interval_text(d)})"
    if is_alone:  # a probability is not adjusted for the number of differences
        size = f"{_values(comparison, d)}, "
        better = format_probability(d.probability_better)
        equivalent = f", probability that {d.first} is better {better}{equivalent}"
    return (
        f"The data do not show whether {d.first} or {d.second} is better: {size}{d.scale} "
        f"{value_text(d)}{known}{equivalent}."
    )


def known_first(design: Mapping[str, Any]) -> list[str]:
    """Say what of the design a reader has to know before all numbers."""
    text = facts(design)
    sentences = []
    if horizon := design.get("horizon"):
        of = facts(horizon)
        unit = of.get("Time", "in the unit of the times")
        sentences.append(
            f"Outcomes at {of['At']} ({unit}): of {of['Rows']} rows {of['Known']} are known and "
            f"{of['Censored']} were censored before; the known ones are weighted for these."
        )
    if judge := design.get("judge"):
        sentences.append(
            f"A judge has labelled all {judge['rows']:,} rows; {judge['verified']:,} of them have "
            "a verified label, and values are about these labels."
        )
    if "importance" in design:
        sentences.append("Rows count by how much more frequent such rows are in the population.")
    if "class_shares" in design:
        sentences.append(f"Values are for given shares of the classes: {text['Class shares']}.")
    if "independent_units" in design:
        sentences.append(f"Rows belong to {text['Independent units']} independent groups.")
    return sentences
