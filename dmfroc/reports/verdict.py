"""What was found, in sentences that need no statistics."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from dmfroc.inference.options import OF_ALGORITHM
from dmfroc.results.text import decimals, equals_p_value, format_interval, format_probability

if TYPE_CHECKING:
    from dmfroc.analyses.comparison_result import Comparison
    from dmfroc.analyses.evaluation import Evaluation
    from dmfroc.inputs.predictions import Predictions
    from dmfroc.reports.numbers import Numbers
    from dmfroc.results.difference import Difference
    from dmfroc.results.estimate import Estimate

_RARE = 20  # observations: below this many, no method can promise much of a class
_MOST_UNDECIDED = 6
_HARD = 0.8  # A(i|j) below which a pair is worth naming


def number(x: float, standard_error: float = math.nan) -> str:
    """Return a number with three decimals, or with as many as tell it from its bound."""
    if not math.isfinite(x):
        return "undefined"
    return f"{x:.{max(decimals(standard_error) - 1, 3)}f}".replace("-", "\N{MINUS SIGN}")


@runtime_checkable
class _WithInterval(Protocol):
    @property
    def value(self) -> float: ...
    @property
    def standard_error(self) -> float: ...
    @property
    def interval(self) -> tuple[float, float]: ...


def interval_text(estimate: _WithInterval) -> str:
    """Return an interval, with as many decimals as its standard error asks for."""
    return ends_text(estimate.interval, estimate.standard_error)


def ends_text(interval: tuple[float, float], standard_error: float = math.nan) -> str:
    """Return an interval, or the one limit of an interval that is open on a side."""
    return format_interval(interval, lambda end: number(end, standard_error))


def evaluation_verdict(evaluation: Evaluation) -> list[str]:
    """Say how good one classifier is."""
    first = next(iter(evaluation.estimates.values()))
    predictions = evaluation.sample.predictions
    over_folds = "" if predictions.folds is None else " and folds"
    percent = f"{100 * first.level:g} %"
    sentences = [
        f"{first.title} is {number(first.value, first.standard_error)} "
        f"({percent} interval {interval_text(first)})."
    ]
    area = evaluation.estimates.get("hand_till")
    if area is not None and math.isfinite(area.value):
        low, high = (f"{100 * end:.1f}" for end in area.interval)
        sentences.append(
            "Of two random observations of different classes, the scores put the one that belongs "
            f"to a class above the one that does not in {100 * area.value:.1f} % of cases, "
            f"averaged over all pairs of classes{over_folds} ({percent} interval {low} to {high} "
            "%); guessing would reach 50 %."
        )
    return sentences + _of_folds(predictions, first.method)


def comparison_verdict(comparison: Comparison) -> list[str]:
    """Say who is better, and what could not be decided."""
    if not all(math.isfinite(e.value) for e in comparison.estimates.values()):
        return [f"No classifier can be called better: {comparison.title} is undefined for some."]
    if not comparison.hypothesis.is_two_sided:
        return _one_sided_verdict(comparison)
    ordered = [_better_first(d) for d in comparison.differences]
    best = _best(comparison, ordered)
    significance = 1 - comparison.level
    against_best = [d for d in ordered if best in (d.first, d.second)]
    decided = [d for d in against_best if d.adjusted_p_value < significance]
    undecided = [d for d in ordered if not d.adjusted_p_value < significance]
    sentences = [_sentence(comparison, d) for d in decided]
    if len(decided) == len(against_best) > 1:
        values = {name: _value(e) for name, e in comparison.estimates.items()}
        others = ", ".join(f"{d.second} ({values[d.second]})" for d in decided)
        title = comparison.title
        sentences.insert(
            0, f"{best} is better than all others: {title} {values[best]} against {others}."
        )
    elif len(ordered) == 1 and not decided:
        sentences.append(_higher(comparison, ordered[0]))
    elif not decided:
        sentences.append(
            f"{best} has the best {comparison.title}, "
            f"{_value(comparison.estimates[best])}, but it is not certain to be the best."
        )
    sentences += [_undecided(comparison, d) for d in undecided[:_MOST_UNDECIDED]]
    if (more := len(undecided) - _MOST_UNDECIDED) > 0:
        sentences.append(f"{more} more of the {len(ordered)} differences could not be decided.")
    sentences += _of_the_best(comparison)
    return sentences + _of_all_differences(comparison)


def _one_sided_verdict(comparison: Comparison) -> list[str]:
    """Say of which pairs the alternative was shown, in the order in which they were given."""
    significance = 1 - comparison.level
    several = len(comparison.differences) > 1
    adjusted = ", adjusted" if several else ""
    sentences = []
    for d in comparison.differences[:_MOST_UNDECIDED]:
        claim = comparison.hypothesis.claim(
            d.first, d.second, greater_is_better=comparison.greater_is_better
        )
        values = (_value(comparison.estimates[name]) for name in (d.first, d.second))
        is_shown = d.adjusted_p_value < significance
        sentences.append(
            f"{claim if is_shown else f'That {claim} was not shown'}: "
            f"{comparison.title} {' against '.join(values)}, difference "
            f"{number(d.value, d.standard_error)} ({comparison.kind_of_interval}: "
            f"{interval_text(d)}; one-sided {equals_p_value(d.adjusted_p_value)}{adjusted})."
        )
    if (more := len(comparison.differences) - _MOST_UNDECIDED) > 0:
        sentences.append(f"The table has {more} more differences.")
    return sentences + _of_the_best(comparison) + _of_all_differences(comparison)


def _of_all_differences(comparison: Comparison) -> list[str]:
    """Say whether decisions and intervals allow for several comparisons, and for folds."""
    sentences = []
    if (n := len(comparison.differences)) > 1:
        sentences.append(
            f"Intervals and decisions allow for all {n} comparisons: with probability "
            f"{comparison.level:g} all intervals of differences hold at once."
            if comparison.simultaneous
            else f"Decisions allow for {n} comparisons (Holm); intervals are each for itself."
        )
    first = next(iter(comparison.predictions.values()), None)
    return sentences + ([] if first is None else _of_folds(first, comparison.method))


def _of_the_best(comparison: Comparison) -> list[str]:
    """Say how good the best one is, its selection allowed for, and who else may be the best."""
    percent = f"{100 * comparison.level:g} %"
    sentences = []
    if (winner := comparison.winner) is not None:
        error = comparison.estimates[winner.name].standard_error
        low, high = (number(end, error) for end in winner.interval)
        sentences.append(
            f"{winner.name} was picked as the best of {len(comparison.estimates)} in this sample, "
            f"which makes it look better than it is: allowing for that, its {comparison.title} is "
            f"between {low} and {high} ({percent} interval)."
        )
    best = comparison.best_set()
    if len(comparison.estimates) > 2 and len(best) > 1:
        sentences.append(
            f"The best one may be any of {len(best)}: {listed(best)}; the others are excluded "
            f"({percent} confidence set)."
            if len(best) < len(comparison.estimates)
            else f"None is excluded as the best ({percent} confidence set)."
        )
    return sentences


def _of_folds(predictions: Predictions, method: str) -> list[str]:
    """Say what values and intervals of a cross-validation are about."""
    if predictions.folds is None:
        return []
    about = (
        "the learner, trained on other samples of that size"
        if method == OF_ALGORITHM
        else "the models that were fitted, not for the learner on other training samples"
    )
    n_folds = int(predictions.folds.max()) + 1
    return [f"Cross-validated: values are means over {n_folds} folds; intervals are for {about}."]


def watch_out(named: Mapping[str, Numbers], predictions: Predictions) -> list[str]:
    """Say what to watch out for: rare classes, and pairs that are hardly told apart."""
    counts = dict(zip(predictions.labels, predictions.class_counts.tolist(), strict=True))
    rare = [f"{label} ({n})" for label, n in counts.items() if 0 < n < _RARE]
    remarks = []
    if rare:
        remarks.append(
            f"Few observations of {listed(rare)}: what is said of them is uncertain, and intervals "
            "rest on little."
        )
    if predictions.absent_labels:
        names = listed([str(label) for label in predictions.absent_labels])
        remarks.append(f"Never observed: {names}. Nothing is known about them.")
    for name, numbers in named.items():
        pairs = worst_pairs(numbers, predictions.labels, 3)
        hard = [f"{i} from {j} ({number(a)})" for i, j, a in pairs if a < _HARD]
        if hard:
            of = "" if len(named) == 1 else f"{name}: "
            remarks.append(f"{of}hardest to tell apart, by A(i|j): {listed(hard)}.")
    return remarks


def worst_pairs(
    numbers: Numbers, labels: Sequence[Hashable], most: int
) -> list[tuple[Hashable, Hashable, float]]:
    """Return the pairs of classes with the smallest A(i|j), smallest first."""
    n = len(labels)
    flat = numbers.areas.ravel()
    order = flat.argsort()[:most]  # NaN comes last
    return [
        (labels[index // n], labels[index % n], float(flat[index]))
        for index in order.tolist()
        if math.isfinite(flat[index])
    ]


def listed(items: Sequence[str], most: int = 8) -> str:
    """Return names with commas, and how many more there are."""
    more = len(items) - most
    return ", ".join(items[:most]) + (f" and {more} more" if more > 0 else "")


def _value(estimate: Estimate) -> str:
    return number(estimate.value, estimate.standard_error)


def _better_first(difference: Difference) -> Difference:
    """Turn a difference around, if the second classifier is more likely to be the better one."""
    if difference.probability_better >= 0.5:
        return difference
    return turned_around(difference)


def turned_around(difference: Difference) -> Difference:
    """Subtract the other way round."""
    low, high = difference.interval
    return replace(
        difference,
        first=difference.second,
        second=difference.first,
        value=-difference.value,
        interval=(-high, -low),
        probability_better=1 - difference.probability_better,
    )


def _best(comparison: Comparison, ordered: Sequence[Difference]) -> str:
    wins = dict.fromkeys(comparison.estimates, 0)
    for difference in ordered:
        wins[difference.first] += 1
    return max(wins, key=lambda name: wins[name])


def _sentence(comparison: Comparison, d: Difference) -> str:
    values = (comparison.estimates[name].value for name in (d.first, d.second))
    a, b = (number(value, d.standard_error) for value in values)
    return (
        f"{d.first} is better than {d.second}: {comparison.title} {a} against {b}, difference "
        f"{number(d.value, d.standard_error)} ({comparison.kind_of_interval} {interval_text(d)})."
    )


def _higher(comparison: Comparison, d: Difference) -> str:
    """Say which of two has the better value, which may be by chance."""
    values = [_value(comparison.estimates[name]) for name in (d.first, d.second)]
    if d.value == 0:
        return f"{d.first} and {d.second} have the same {comparison.title}, {values[0]}."
    return (
        f"{d.first} has the better {comparison.title}, {values[0]} against {values[1]}, but that "
        "may be by chance."
    )


def _undecided(comparison: Comparison, d: Difference) -> str:
    equivalent = (
        f"; with probability {format_probability(d.probability_equivalent)} they differ by no more "
        f"than {comparison.rope:g}"
        if comparison.rope > 0
        else ""
    )
    return (
        f"Which of {d.first} and {d.second} is better could not be decided: difference "
        f"{number(d.value, d.standard_error)} ({comparison.kind_of_interval} {interval_text(d)}), "
        f"probability that {d.first} is better "
        f"{format_probability(d.probability_better)}{equivalent}."
    )
