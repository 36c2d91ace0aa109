"""Doubts about score columns: warnings that they may be something else than they are taken for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dmfroc.inputs.arrays import Array, Codes, Flags, Floats
from dmfroc.inputs.columns import Positive
from dmfroc.inputs.labels import Label, place_of_class
from dmfroc.inputs.messages import IN_MEMORY, Source, argument, listing

NEARLY_ALL = 0.9  # rows
_MOST = 0.5  # of them
_EXACT = 1e-6  # of a probability
ROUNDING = 0.02  # of the sum of the probabilities of a row
FEW = 4  # scores, which may all differ, or be the same twice, by chance
_MANY = 20  # rows, whose scores are hardly all above 1/2, or all largest elsewhere, by chance
_FAIR_KAPPA = 0.5  # which features and the scores of several classifiers hardly reach
_BETTER = 2.5  # standard errors above chance
_CLEARLY = 2.0  # standard errors above it, of each of several columns
_EXCHANGED = 4.0  # standard errors by which rows of exchanged classes exceed those told right
_WORSE = -3.0  # standard errors below it, of one of several columns
_OPPOSITE = -0.5  # correlation of the scores of two classes
_NEAR = 3  # rows by which a share among the others differs at most
_SEVERAL, _SMALL = 0.2, 10  # of rows, or probability; percent
_REVERSED = -2.3  # and of a single score: one in a hundred scores without information
_SPEAKS_OF_FEATURES = r"\b(x|v|feat\w*|var|variable|attr\w*|input|covariate|predictor)\b"
_SPEAKS_OF_SCORES = (
    r"prob|score|pred(?!ictor)|logit|conf|soft|poster|likelihood|decision|vote|margin|class"
    r"|output|y ?hat|\b(p|pr|pre|pp)\b"
)


class WorseThanChance(str):
    """A doubt about scores for which measures of ranks would be below chance."""


class Checked(NamedTuple):
    """Labels and scores that passed the checks, and what the user said of them."""

    true: Codes
    scores: Floats
    used: Floats  # of two columns that are no complements the difference
    predicted: Codes | None
    has_hard: bool  # labels, which the user gave
    labels: list[Label]
    names: Sequence[Hashable] | None  # of the columns
    single: int | None
    positive: Positive
    source: Source


def doubts(of: Checked) -> list[str | None]:
    """Return all that is doubtful about finished labels and scores.

    Raises
    ------
    ValueError
        If columns of a file are probably no scores of the classes.
    """
    left_out = left_out_message(of)
    found = [left_out]
    if of.single is not None:
        found += single_score_messages(of, of.single)
    elif of.has_hard:
        found.append(hard_label_message(of))
    elif len(of.labels) > 2 and of.names is None and not left_out:
        found.append(exchanged_message(of))
    if of.names is not None and of.single is None and not of.source.has_chosen_scores:
        found.append(numbered := numbered_message(of, of.names))
        if numbered and of.source.is_table_file:
            raise ValueError(numbered)
    if of.used is not of.scores:
        has_codes = isinstance(of.scores, np.ndarray) and outside_message(of.scores, of.source)
        if not has_codes:
            found.append(difference_message(of.labels, of.names, of.source))
    if len(of.labels) == 2 and not (left_out or of.positive.of_events):
        found.append(reversed_message(of))
    return found


def are_shares(columns: Any) -> bool:
    """Whether rows sum to one, or to 100, up to rounding, so that no class is lacking."""
    sums = np.sum(columns, axis=0)
    is_share = min(column.min() for column in columns) >= 0
    return bool(is_share and any((abs(sums / total - 1) <= ROUNDING).all() for total in (1, 100)))


def _words(name: Hashable) -> str:
    return re.sub(r"[\d_.-]+", " ", str(name)).casefold()


def names_features(name: Hashable) -> bool:
    """Whether the name of a column speaks of features, as x_1 and V1 do."""
    return re.search(_SPEAKS_OF_FEATURES, _words(name)) is not None


@np.errstate(over="ignore", invalid="ignore")  # of huge scores, and of those that are constant
def numbered_message(of: Checked, names: Sequence[Hashable]) -> str | None:
    """Say that columns with numbers in their names may be no scores of the classes.

    Features and the scores of several classifiers are numbered, too. They do not sum to one, and
    are hardly the largest in the rows of the class with their number. If the names speak of scores,
    only a column that is lower in its class than elsewhere shows it.
    """
    labels, true, scores, source = of.labels, of.true, of.scores, of.source
    if not all(re.fullmatch(r"-?\d+(\.0)?", str(label)) for label in labels):
        return None
    is_class = not source.is_table_file and set(map(str, names)) <= set(map(str, labels))
    if is_class or are_shares(scores.T):
        return None
    n, k = scores.shape
    chosen, sizes = scores.argmax(axis=1), np.bincount(true, minlength=k)
    by_chance = float(np.bincount(chosen, minlength=k) @ sizes) / n**2
    excess = float(np.mean(chosen == true)) - by_chance
    if excess >= _FAIR_KAPPA * (1 - by_chance):
        return None
    z = [_rank_z(scores[:, code], true == code) for code in range(k) if sizes[code]]
    is_chance = excess < _BETTER * np.sqrt(by_chance * (1 - by_chance) / n)
    if is_chance and (chosen == sizes.argmax()).mean() >= NEARLY_ALL:
        # A cautious classifier nearly always chooses the most frequent class
        is_chance = not (min(z) > 0 and sum(z) > -_WORSE * np.sqrt(len(z)))
    if names_features(names[0]):
        # Several are hardly all larger in their classes by luck, nor two the opposite of each other
        is_right = np.corrcoef(scores.T)[0, 1] < _OPPOSITE if k == 2 else min(z) > _CLEARLY
    else:
        speaks_of_scores = re.search(_SPEAKS_OF_SCORES, _words(names[0])) is not None
        is_right = speaks_of_scores or n < _MANY or not is_chance
    if min(z) >= _WORSE and is_right:
        return None
    remedy = (
        f"pass {argument('scores', names)} if they are scores, else name the scores"
        if source.is_table_file
        else "pass an array with labels= if they are scores"
    )
    return (
        f"{remedy}: columns {listing(names)} of {source.scores} may be features, or the scores of "
        "several classifiers. They match classes only by the numbers in their names. Their rows do "
        "not sum to one, the largest of a row is that of the right class in "
        f"{by_chance + excess:.0%} of the rows, as it is in {by_chance:.0%} by chance"
        + ("" if min(z) >= _WORSE else ", and some are lower in their class than in others")
    )


def same_values_message(scores: Floats, names: Sequence[Hashable], source: Source) -> str | None:
    """Say which columns are the same, as one that was copied twice is."""
    with np.errstate(over="ignore"):
        totals = np.einsum("ij->j", scores).tolist()  # in a quarter of the time of `sum`
    if len(set(totals)) == len(totals):
        return None
    for first, second in itertools.combinations(range(len(totals)), 2):
        if (
            totals[first] == totals[second]
            and np.array_equal(scores[:, first], scores[:, second])
            and len(np.unique(scores[:, first])) > FEW
        ):
            pair = listing([names[first], names[second]])
            return (
                f"check columns {pair} of {source.scores}: they hold the same values in every row"
            )
    return None


def exchanged_message(of: Checked) -> str | None:
    """Say that most rows of some classes have their largest score in each other's columns."""
    labels, k = of.labels, len(of.labels)
    if of.predicted is None or k * k > len(of.true):
        return None
    table = np.bincount(of.true * k + of.predicted, minlength=k * k).reshape(k, k)
    elsewhere, right = table.argmax(axis=1), table.diagonal()
    reached = elsewhere
    for _ in range(k.bit_length()):  # after k steps from class to class, only cycles are left
        reached = reached[reached]
    in_cycles = np.unique(reached)
    exchanged = in_cycles[elsewhere[in_cycles] != in_cycles]
    wrong = table[exchanged, elsewhere[exchanged]]
    excess, n = (wrong - right[exchanged]).sum(), (wrong + right[exchanged]).sum()
    if (2 * wrong <= table[exchanged].sum(axis=1)).any() or excess <= _EXCHANGED * np.sqrt(n):
        return None
    return WorseThanChance(
        f"pass labels= with the classes in the order of the columns of {of.source.scores} if it is "
        f"not {listing(labels)}: most rows of the classes "
        f"{listing([labels[place] for place in exchanged])} have their largest score in the column "
        "of another of them"
    )


def outside_message(scores: Floats, source: Source) -> str | None:
    """Say which rows are no probabilities if most are, as of codes for a missing value.

    A regression leaves 0 to 1 by little; and single scores that are whole numbers are ratings.
    """
    if not scores.size:
        return None
    low, high = float(scores.min()), float(scores.max())
    if low >= 0 and high <= 1:
        return None
    if low >= 0 and high <= 100 * (1 + ROUNDING) and (mixed := percent_message(scores, source)):
        return mixed
    is_single = scores.shape[1] == 1
    if is_single:
        is_share = (scores[:, 0] >= 0) & (scores[:, 0] <= 1)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            is_share = np.abs(np.einsum("ij->i", scores) - 1) <= ROUNDING
    if np.count_nonzero(is_share) < _MOST * len(scores):
        return None
    is_no_share = (scores < 0) | (scores > 1)
    is_outside = is_no_share.any(axis=1)
    codes: Array = np.unique(scores[is_no_share])
    n_inside = np.count_nonzero(is_share & ~is_outside)
    is_one_code = len(codes) == 1 and len(scores) >= _MANY
    if n_inside < (_MOST if is_one_code else NEARLY_ALL) * len(scores):
        return None
    if is_single:
        n_fractions = np.count_nonzero(scores[is_share] % 1)
        if len(scores) < _MANY or n_fractions < _MOST * n_inside or (abs(codes - 0.5) <= 1).any():
            return None
    row = int(is_outside.argmax())
    return (
        "drop the rows if these are codes for missing values: "
        f"{np.count_nonzero(is_outside)} of {len(scores)} rows of {source.scores} have scores "
        f"outside 0 to 1, first {source.row(row)} with {listing(scores[row].tolist())}, although "
        "most rows are probabilities. They count as they are"
    )


def percent_message(scores: Floats, source: Source) -> str | None:
    """Say which rows of scores up to 100 seem percent while all others are probabilities."""
    sums = np.einsum("ij->i", scores)
    if scores.shape[1] > 1:
        is_percent, is_share = (abs(sums / total - 1) <= ROUNDING for total in (100, 1))
    else:
        is_percent, is_share = sums > 1, sums <= 1
        percents, shares = sums[is_percent], sums[is_share]
        fewest = _SEVERAL * max(len(scores), _MANY)
        if min(len(shares), len(percents)) < fewest or np.ptp(percents) == 0:  # as of codes
            return None
        # Other positive scores have many near 0, or between both kinds; and counts are whole
        is_small = np.median(shares) < _SEVERAL or np.mean(percents < _SMALL) > _SEVERAL
        if is_small or not (shares % 1).any():
            return None
    if not (is_percent.any() and is_share.any() and (is_percent | is_share).all()):
        return None
    row = int(is_percent.argmax())
    return (
        f"divide {np.count_nonzero(is_percent)} of {len(scores)} rows of {source.scores} by 100 if "
        f"they are percent, first {source.row(row)} with {listing(scores[row].tolist())}: all "
        "others are probabilities, and ranks compare all rows"
    )


def cumulative_message(scores: Floats, names: Sequence[Hashable], source: Source) -> str | None:
    """Say that one column is always 1, or 100, and that the others of each row ascend to it."""
    if len(scores) < _MANY:
        return None
    total = 100 if np.max(scores[0]) > 1 + _EXACT else 1
    if abs(np.max(scores[0]) / total - 1) > _EXACT:
        return None
    shares: Floats = np.asarray(scores, float) / total
    if shares.min() < -_EXACT or shares.max() > 1 + _EXACT:
        return None
    order = np.argsort(shares.mean(axis=0), kind="stable")
    shares = shares[:, order]
    if np.ptp(shares[:, -1]) > _EXACT or np.diff(shares, axis=1, prepend=0).min() < -_EXACT:
        return None
    if all(len(np.unique(column)) <= FEW for column in shares.T):
        return None
    columns = [names[place] for place in order]
    return (
        "pass the probabilities of the classes, from each column subtract the one before it, in "
        f"the order {listing(columns)}: these seem to be cumulative probabilities. Column "
        f"{columns[-1]!r} of {source.scores} is {total} in every row, and the others ascend to it, "
        "so that ranks and the largest column say nothing of a class"
    )


def labels_message(predictions: Any) -> str | None:
    """Say that scores may be predicted labels: two whole numbers, one once in every row."""
    if not (predictions.has_scores and predictions.has_all_scores) or len(predictions.true) < _MANY:
        return None
    scores, is_single = predictions.scores, predictions.predicted is None
    columns = [predictions.single or 0] if is_single else slice(None)
    if len(np.unique(scores[:_MANY, columns])) > 2:  # which spares most the look at all
        return None
    values = np.unique(scores := np.asarray(scores[:, columns]))
    if len(values) != 2 or (values % 1).any() or (scores == scores[0]).all():  # a baseline
        return None
    if not (is_single or ((scores == values[1]).sum(axis=1) == 1).all()):
        return None
    low, high = values.tolist()
    each = "" if is_single else f", with {high:g} once in every row"
    return (
        "pass the scores as y_pred= if they are predicted labels, for measures of hard labels: "
        f"all are {low:g} or {high:g}{each}"
    )


def hard_label_message(of: Checked) -> str | None:
    """Say how often the hard label is not that of the largest score."""
    chosen = of.scores[np.arange(len(of.scores)), of.predicted]
    share = float(np.mean(chosen < of.scores.max(axis=1)))
    if not share:
        return None
    what = of.source.predicted
    return (
        f"check that {what} and {of.source.scores} are of the same classifier: {what} is not the "
        f"class of the largest score in {share:.1%} of the rows. Measures of hard labels take it, "
        "all others the scores"
    )


def single_score_messages(of: Checked, single: int) -> list[str]:
    """Say that a score seems to be that of the predicted class, or which hard labels it belies."""
    score, source = of.scores[:, single], of.source
    share = 0.0 if of.predicted is None else _wrong_side(score, of.predicted == single)
    remarks = []
    if share:
        remarks.append(
            f"check that {source.scores} and {source.predicted} are of the same classifier: the "
            f"best threshold on the scores differs in {share:.1%} of the rows"
        )
    is_of_prediction = 0.5 <= score.min() < score.max() <= 1
    if is_of_prediction and (share or (of.predicted is None and len(score) >= _MANY)):
        remarks.append(
            f"subtract {source.scores} from 1 in the rows with the prediction "
            f"{of.labels[1 - single]!r} if it is the probability of whichever class is predicted: "
            f"all of it is between 1/2 and 1. Measures take it for that of class "
            f"{of.labels[single]!r}"
        )
    return remarks


def threshold_message(score: Floats, hard: Any, true: Any, threshold: float) -> str | None:
    """Say that a threshold seems to be on another scale than the score: a probability or not.

    Then nearly all rows are on one side of it, although both classes are there.
    """
    are_shares = np.mean((score >= 0) & (score <= 1)) >= _MOST
    rarer, fewer = (min(x.mean(), 1 - x.mean()) for x in (true, hard))
    if not threshold or are_shares == (0 < threshold <= 1) or fewer >= (1 - NEARLY_ALL) * rarer:
        return None
    what = "the threshold" if are_shares else "the scores"
    return (
        f"divide {what} by 100 if percent, or give the threshold on the scale of the scores: "
        f"threshold={threshold:g} has {np.bincount(hard).max()} of {len(hard)} rows on one side, "
        f"and the scores are {score.min():g} to {score.max():g}"
    )


def are_complements(scores: Any, xp: Any = np) -> Any:
    """Whether two columns rank the rows exactly the other way round, or sum to a constant."""
    first, second = scores[:, 0] / 2, scores[:, 1] / 2  # halves, whose sums do not overflow
    has_one_sum = xp.ptp(first + second) <= ROUNDING * xp.ptp(second)
    if xp is np and has_one_sum:
        return True
    order = xp.argsort(second - first)
    falls, rises = -xp.diff(first[order]), xp.diff(second[order])
    return has_one_sum | ((falls >= 0).all() & ((falls > 0) == (rises > 0)).all())


@np.errstate(over="ignore")
def difference(scores: Any, xp: Any = np) -> Any:
    """Return as scores of two classes how much that of the second exceeds the other, and back."""
    most = np.finfo(scores.dtype).max
    excess = xp.clip(scores[:, 1] - scores[:, 0], -most, most)
    return xp.stack([0 - excess, excess], axis=1)


def difference_message(
    labels: Sequence[Label], names: Sequence[Hashable] | None, source: Source
) -> str:
    """Say that the difference of two columns is taken."""
    columns = "" if names is None else f" {listing(names)}"
    return (
        f"compare the two columns{columns} of {source.scores}, or pass one at a time, if they are "
        "the scores of two classifiers: they do not rank the rows exactly the other way round. The "
        f"score is that of class {labels[1]!r} less that of {labels[0]!r}, as of logits"
    )


def left_out_message(of: Checked) -> str | None:
    """Say that scores follow the shares of the classes among all other rows, and nothing else."""
    columns = range(len(of.labels)) if of.single is None else [of.single]
    is_seen = len(of.true) >= _MANY
    if not any(is_seen and _is_of_others(of.scores[:, c], of.true == c) for c in columns):
        return None
    return WorseThanChance(
        "cross-validate with five or ten folds, and name these by folds=. "
        f"{of.source.scores} of a class is near its share in all rows, and lower in its own, as of "
        "a model without information that is fitted to all rows but the one that it scores "
        "(leave-one-out). Do not turn such scores: they come from as many fits as there are rows, "
        "and areas and curves say nothing of them"
    )


def _is_of_others(score: Array, is_inside: Flags) -> bool:
    """Whether a score is the share of a class among the other rows, its logarithm or log-odds."""
    n, share = len(score), float(is_inside.mean())
    if not 0 < share < 1:
        return False
    other, near = 1 - share, _NEAR / n
    logs = (np.log(share), near / share), (np.log(share / other), near / (share * other))
    is_share = any(
        abs(score[0] - x) <= error and (abs(score - x) <= error).all()
        for x, error in ((share, near), *logs)
    )
    return is_share and _rank_z(score, is_inside) < _WORSE


def reversed_message(of: Checked) -> str | None:
    """Say that the score of one of two classes, by default the second, is larger in the other."""
    labels, single, positive, source = of.labels, of.single, of.positive, of.source
    place = 1 if single is None else single
    score, is_of_class = of.used[:, place], of.true == place
    if not is_of_class.any() or is_of_class.all():
        return None
    if np.median(score[is_of_class]) > np.median(score[~is_of_class]):
        return None
    if _rank_z(score, is_of_class) >= _REVERSED:
        return None
    own, other = labels if single == 0 else labels[::-1]
    remedy = "check labels= and the order of the score columns"
    if single is not None:
        chosen = labels[1 if positive.label is None else place_of_class(positive.label, labels)]
        direction, size = ("<=", "smaller") if chosen == own else (">=", "larger")
        where = ", if need be to Predictions.from_arrays," if source is IN_MEMORY else ""
        remedy = f"pass direction={direction!r}{where} if {size} scores mean class {chosen!r}"
        if chosen == own and positive.direction is None:
            turned = f"labels={[own, other]}" if positive.label is None else f"pos_label={other!r}"
            remedy += f", or {turned} if larger scores mean class {other!r}"
    return WorseThanChance(
        f"{remedy}: {source.scores} of class {own!r} is larger in class {other!r}, so that "
        "thresholds and curves do worse than chance. Where each row is left out by itself, scores "
        "of a classifier that has learned nothing do so, too"
    )


def _rank_z(score: Array, is_inside: Flags) -> float:
    """Return by how many standard errors a score is larger inside a class, by ranks."""
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    n, n_inside = len(score), int(is_inside.sum())
    variance = n_inside * (n - n_inside) / max(n - 1, 1) * ranks.var()
    excess = ranks[is_inside].sum() - n_inside * (n + 1) / 2
    return float(excess / np.sqrt(variance)) if variance else 0.0


def _wrong_side(score: Array, is_above: Flags) -> float:
    """Share of rows on the wrong side of the best threshold."""
    order = np.argsort(score)
    is_last = np.append(np.diff(score[order]) > 0, True)  # of equal scores
    # Each row that a threshold passes is one more error, or one less
    more = np.cumsum(np.where(is_above[order], 1, -1))[is_last]
    return float((np.sum(~is_above) + more.min(initial=0)) / len(score))
