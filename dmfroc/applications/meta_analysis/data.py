"""Published counts of studies: read from a table, checked, and laid out for the models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, NamedTuple, get_args

import narwhals as nw
import numpy as np
from jaxtyping import Float

from dmfroc.extend import PerThreshold, choice, is_missing, listing, shortened

ThresholdScale = Literal["identity", "log"]
Pair = tuple[str, str]
"""Classes: of those truly in the first, positives are true ones, of those in the other false."""

_LEAST_STUDIES = 3
_FEW_STUDIES = 5
_FEW_PAIRS = 2
_FEW_WITH_SEVERAL = 3
_LARGEST_LOSS = 0.05  # share of people who may lack at some thresholds
_FROM = " from "
_GROUPS = ("cases", "non-cases")
_AT_ONCE = 8  # shapes are multiples of it, so that models are compiled for few of them
_LARGEST_COUNT = 2**53


class StudyCounts(NamedTuple):
    """Counts of studies as the models take them.

    Rates are sensitivity and false positive rate, of every pair of classes where there are several.

    Attributes
    ----------
    between
        People whom a rate counts, between successive thresholds, those above the largest first.
        Studies with few thresholds repeat their last one, with nothing in between. People of whom
        several pairs count the same are shared among these.
    cutoffs
        Thresholds, largest first, in pooled standard deviations from their mean; zero where the
        table has none.
    """

    between: Float[Any, "s r t_plus_1"]
    cutoffs: Float[Any, "s t"]


class PublishedCounts(NamedTuple):
    """Counts of one study: thresholds, largest first, positives at each, and people."""

    thresholds: PerThreshold
    positives: Float[np.ndarray, "r t"]
    sizes: Float[np.ndarray, " r"]
    differs: bool  # whether the numbers of people depend on the threshold, or on the pair
    shares: Float[np.ndarray, " r"] | float = 1.0  # of the evidence of these people


class Standardization(NamedTuple):
    """How thresholds enter the model: on which scale, and their mean and deviation there."""

    scale: ThresholdScale
    center: float
    unit: float

    def __call__(self, thresholds: Float[np.ndarray, "*t"]) -> Float[np.ndarray, "*t"]:
        """Return thresholds as the model takes them."""
        return (_on_scale(thresholds, self.scale) - self.center) / self.unit


@dataclass(frozen=True, eq=False)
class Studies:
    """Checked counts of all studies.

    Attributes
    ----------
    names : tuple of str
        Of the studies, in the order of the table.
    pairs : tuple of str
        Pairs of classes, in the order of the table; none where there are but two classes.
    counts : StudyCounts
        By study, without padding.
    positives : numpy.ndarray of shape (s, r, t)
        True and false positives at each threshold, of each pair in turn; NaN beyond the thresholds
        of the study, and for pairs that it lacks.
    sizes : numpy.ndarray of shape (s, r)
        Cases and non-cases, likewise; zero for pairs that the study lacks.
    thresholds : numpy.ndarray of shape (s, t)
        As published, largest first, NaN beyond those of the study; zero where there are none.
    standardized : Standardization
        Makes cutoffs of thresholds.
    remarks : tuple of str
        What limits what the table shows.
    """

    names: tuple[str, ...]
    pairs: tuple[str, ...]
    counts: StudyCounts
    positives: Float[np.ndarray, "s r t"]
    sizes: Float[np.ndarray, "s r"]
    thresholds: Float[np.ndarray, "s t"]
    standardized: Standardization
    remarks: tuple[str, ...]

    def without(self, study: int) -> StudyCounts:
        """Return the counts as if one study had none."""
        kept = np.arange(len(self.names)) != study
        return self.counts._replace(between=self.counts.between * kept[:, None, None])


def padded(counts: StudyCounts) -> StudyCounts:
    """Add studies without observations up to a multiple of eight."""
    missing = -len(counts.cutoffs) % _AT_ONCE
    return StudyCounts(*(np.pad(x, [(0, missing)] + [(0, 0)] * (x.ndim - 1)) for x in counts))


def read_studies(
    table: Any, columns: Mapping[str, str | None], threshold_scale: ThresholdScale = "identity"
) -> Studies:
    """Read counts from the columns of a table; `columns` gives the name of each role's."""
    choice("threshold_scale", threshold_scale, get_args(ThresholdScale))
    if threshold_scale != "identity" and columns.get("threshold") is None:
        raise ValueError(
            f"threshold_scale={threshold_scale!r} is of thresholds: name their column, threshold="
        )
    entries = _columns_of(table, columns)
    cells = np.stack([_counts(entries[x], columns[x]) for x in ("tp", "fn", "fp", "tn")], axis=1)
    names = [str(x).strip() for x in entries.get("study", range(1, len(cells) + 1))]
    thresholds = _thresholds(entries.get("threshold"), threshold_scale, len(cells))
    rows_of: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows_of.setdefault(name, []).append(row)
    for name, rows in rows_of.items():
        if len(rows) > 1 and not {"threshold", "pair"} & entries.keys():
            raise ValueError(
                f"study {name!r} has {len(rows)} rows: keep one row per study, or name the column "
                "of their thresholds, threshold=, or of their pairs of classes, pair=. If every "
                "row is a study of its own, whatever its name, pass study=None"
            )
    if len(rows_of) < _LEAST_STUDIES:
        raise ValueError(
            f"the table has {len(rows_of)} studies ({listing(list(rows_of))}): a meta-analysis "
            f"needs {_LEAST_STUDIES} studies at least"
        )
    row_pairs = [_pair_of(entry, row) for row, entry in enumerate(entries.get("pair", []))]
    pairs = tuple(dict.fromkeys(row_pairs))
    if len(pairs) == 1:
        raise ValueError(
            f"pair is {name_of(pairs[0])!r} in all rows: leave pair= out, nothing depends on it"
        )
    if pairs and len(set(pairs[0]).union(*pairs)) == 2:
        raise ValueError(
            f"{name_of(pairs[0])!r} and {name_of(pairs[1])!r} count the same people twice: keep "
            "the rows of one of them, and leave pair= out"
        )
    counted = {
        name: _counts_of_pairs({row: row_pairs[row] for row in rows}, pairs, cells, name)
        if pairs
        else _counts_of_study(thresholds[rows], cells[rows], name)
        for name, rows in rows_of.items()
    }
    has_some = [study.sizes.reshape(-1, 2).any(axis=0) for study in counted.values()]
    for n_studies, what in zip(np.sum(has_some, axis=0), _GROUPS, strict=True):
        if n_studies < _LEAST_STUDIES:
            raise ValueError(
                f"{n_studies} studies of the table have {what}: a meta-analysis needs "
                f"{_LEAST_STUDIES} of them at least"
            )
    return _lay_out(counted, threshold_scale, tuple(map(name_of, pairs)), "threshold" in entries)


def _columns_of(table: Any, columns: Mapping[str, str | None]) -> dict[str, Sequence[Any]]:
    try:
        if isinstance(table, Mapping):
            import pandas as pd

            table = pd.DataFrame(dict(table))
        frame = nw.from_native(table, eager_only=True)
        names = frame.columns
    except TypeError as error:
        raise TypeError(
            "table must be a data frame or a mapping from names to columns, but it is "
            f"{type(table).__name__}"
        ) from error
    except (ValueError, nw.exceptions.DuplicateError) as error:
        raise ValueError(
            f"table must have columns of one length, each with a name of its own: {error}"
        ) from error
    wanted = {role: name for role, name in columns.items() if name is not None}
    has_several = not {"threshold", "pair"}.isdisjoint(wanted)
    for role, name in list(wanted.items()):
        is_name = isinstance(name, str)
        # As mada has TP, FN, FP and TN
        alike = [x for x in names if str(x).strip().casefold() == role]
        if is_name and name in names:
            continue
        if is_name and name == role and len(alike) == 1:
            wanted[role] = alike[0]
        elif is_name and name == role == "study" and not alike and not has_several:
            del wanted[role]
        else:
            raise ValueError(
                f"{role}={name!r} is no column of the table, which has {listing(names)}: "
                f"name the column of {role}, {role}="
            )
    if len(frame) == 0:
        raise ValueError(
            "table has no rows: give one per study, or per study and threshold or pair"
        )
    entries = {role: frame[name].to_list() for role, name in wanted.items()}
    for role in ("study", "pair"):
        for row, entry in enumerate(entries.get(role, [])):
            if is_missing(entry) or not str(entry).strip():
                raise ValueError(
                    f"column {wanted[role]!r} must name the {role} of each row, but row {row} "
                    "(counting from 0) has none: name it, or leave it out"
                )
    return entries


def _counts(column: Sequence[Any], name: str | None) -> Float[np.ndarray, " rows"]:
    for row, x in enumerate(column):
        is_number = isinstance(x, int | float | np.number) and not isinstance(x, bool)
        if not (is_number and 0 <= x <= _LARGEST_COUNT and x == int(x)):
            raise ValueError(
                f"column {name!r} must hold numbers of people, but row {row} (counting from 0) "
                f"has {x!r}: leave the row out, or correct it"
            )
    return np.array(column, dtype=float)


def _thresholds(
    column: Sequence[Any] | None, scale: ThresholdScale, n_rows: int
) -> Float[np.ndarray, " rows"]:
    if column is None:
        return np.zeros(n_rows)
    for row, x in enumerate(column):
        check_threshold(x, scale, f"row {row} (counting from 0) has")
    thresholds = np.array(column, dtype=float)
    if len(set(thresholds)) == 1:
        raise ValueError(
            f"threshold is {thresholds[0]:g} in all rows: leave threshold= out, nothing depends on "
            "it"
        )
    return thresholds


def check_threshold(threshold: Any, scale: ThresholdScale, where: str = "it is") -> None:
    """Refuse a threshold that has no place on the scale."""
    is_number = isinstance(threshold, int | float | np.number | Decimal)
    if isinstance(threshold, bool) or not (is_number and np.isfinite(float(threshold))):
        must_be = "a finite number"
    elif scale == "log" and threshold <= 0:
        must_be = "positive for threshold_scale='log'"
    else:
        return
    raise ValueError(f"threshold must be {must_be}, but {where} {threshold!r}: correct it")


def _pair_of(entry: Any, row: int) -> Pair:
    parts = entry.split(_FROM) if isinstance(entry, str) else entry
    is_pair = isinstance(parts, tuple | list) and len(parts) == 2
    names = [str(x).strip() for x in parts if not is_missing(x)] if is_pair else []
    if len(names) != 2 or not all(names) or any(_FROM in name for name in names):
        raise ValueError(
            "pair must name (true, reference) classes, as a tuple or as 'true from reference', "
            f"but row {row} (counting from 0) has {entry!r}: correct it"
        )
    true, reference = names
    if true == reference:
        raise ValueError(
            f"pair must name two classes, but row {row} (counting from 0) pairs {true!r} with "
            "itself: correct it"
        )
    return true, reference


def name_of(pair: tuple[Any, ...]) -> str:
    """Return a pair as tables print it; the opposite of reading one."""
    return _FROM.join(map(str, pair))


def _counts_of_pairs(
    row_pairs: Mapping[int, Pair],
    pairs: Sequence[Pair],
    cells: Float[np.ndarray, "rows 4"],
    name: str,
) -> PublishedCounts:
    """Return the counts of a study for each pair of classes.

    The members of a class are the same people in its pairs with all other classes, as true class
    and as reference class. Each of these pairs has an equal share of their evidence.
    """
    positives, sizes = np.full((2 * len(pairs), 1), np.nan), np.zeros(2 * len(pairs))
    for row, pair in row_pairs.items():
        place = 2 * pairs.index(pair) + np.arange(2)
        if sizes[place].any():
            raise ValueError(f"study {name!r} has several rows of {name_of(pair)}: keep one")
        one = _counts_of_study(np.zeros(1), cells[[row]], f"{name}, {name_of(pair)}")
        positives[place], sizes[place] = one.positives, one.sizes
    halves = [(side, label) for pair in pairs for side, label in enumerate(pair)]
    counted = [(half, size) for half, size in zip(halves, sizes, strict=True) if size]
    n_pairs_of = Counter(half for half, _ in counted)
    shares = np.array([1 / max(n_pairs_of[half], 1) for half in halves])
    sizes_of = {(label, size) for (_, label), size in counted}
    differs = len(sizes_of) > len({label for label, _ in sizes_of})
    return PublishedCounts(np.zeros(1), positives, sizes, differs, shares)


def _counts_of_study(
    thresholds: PerThreshold, cells: Float[np.ndarray, "t 4"], name: str
) -> PublishedCounts:
    """Return the counts of a study, largest threshold first, if they can be of one sample."""
    order = np.argsort(-thresholds)
    thresholds = thresholds[order]
    for value in thresholds[1:][np.diff(thresholds) == 0]:
        raise ValueError(f"study {name!r} has several rows of threshold {value:g}: keep one")
    if not cells.sum(axis=1).all():
        raise ValueError(f"study {name!r} has no observations: leave it out")
    cases, others = cells[order, :2], cells[order, 2:]
    samples = map(_one_sample, (cases, others), _GROUPS, (name, name))
    positives, sizes = zip(*samples, strict=True)
    differs = any(np.ptp(half.sum(axis=1)) > 0 for half in (cases, others))
    return PublishedCounts(thresholds, np.stack(positives), np.array(sizes), differs)


def _one_sample(
    cells: Float[np.ndarray, "t 2"], what: str, name: str
) -> tuple[PerThreshold, float]:
    """Return positives at each threshold, and people; the same people at all thresholds.

    A few who lack at some thresholds are left out by keeping the rates.
    """
    total = cells.sum(axis=1)
    least, most = total.min(), total.max()
    if most - least > max(_LARGEST_LOSS * most, 1):
        raise ValueError(
            f"study {name!r} has {least:.0f} to {most:.0f} {what}, depending on the threshold: "
            "all thresholds of a study must be those of the same people"
        )
    positive = cells[:, 0] * (total.mean() / np.maximum(total, 1))
    if (np.diff(positive) < -(most - least) - 1e-9).any():
        raise ValueError(
            f"study {name!r} has fewer positive {what} at a smaller threshold: a test is positive "
            "at or above its threshold; where small values are positive, give minus the threshold"
        )
    return np.maximum.accumulate(positive), float(total.mean())


def _lay_out(
    counted: Mapping[str, PublishedCounts],
    scale: ThresholdScale,
    pairs: tuple[str, ...],
    have_thresholds: bool,
) -> Studies:
    sizes = np.stack([study.sizes for study in counted.values()])
    most = max(len(study.thresholds) for study in counted.values())
    thresholds = np.full((len(counted), most), np.nan)
    positives = np.full((*sizes.shape, most), np.nan)
    for row, study in enumerate(counted.values()):
        thresholds[row, : len(study.thresholds)] = study.thresholds
        positives[row, :, : len(study.thresholds)] = study.positives
    on_scale = _on_scale(thresholds, scale)
    standardized = Standardization(
        scale, float(np.nanmean(on_scale)), float(np.nanstd(on_scale)) or 1.0
    )
    filled = np.where(sizes[..., None] > 0, _repeat_last(positives), 0.0)
    between = np.diff(np.concatenate([filled, sizes[..., None]], axis=2), axis=2, prepend=0.0)
    shares = np.stack([study.shares * np.ones(sizes.shape[1]) for study in counted.values()])
    return Studies(
        names=tuple(counted),
        pairs=pairs,
        counts=StudyCounts(between * shares[..., None], standardized(_repeat_last(thresholds))),
        positives=positives,
        sizes=sizes,
        thresholds=thresholds,
        standardized=standardized,
        remarks=_remarks(counted, sizes, len(pairs), have_thresholds),
    )


def _remarks(
    counted: Mapping[str, PublishedCounts],
    sizes: Float[np.ndarray, "s r"],
    n_pairs: int,
    have_thresholds: bool,
) -> tuple[str, ...]:
    remarks, n_studies = [], len(counted)
    uneven = shortened([f"study {name!r}" for name, study in counted.items() if study.differs])
    if uneven and have_thresholds:
        remarks.append(
            f"{uneven}: not all people have results at all thresholds; the rates were taken for "
            "those of their mean number"
        )
    elif uneven:
        remarks.append(
            f"{uneven}: a class has not as many people in each of its pairs; they were taken for "
            "the same, so that each pair has an equal share of its own"
        )
    n_with_several = sum(len(study.thresholds) > 1 for study in counted.values())
    if have_thresholds and n_with_several < _FEW_WITH_SEVERAL:
        remarks.append(
            f"{n_with_several} of {n_studies} studies have several thresholds: how rates depend on "
            "the threshold is mostly what the prior says, and chains may not find it; consider "
            "one row per study, without threshold="
        )
    n_with = sizes.reshape(n_studies, -1, 2).any(axis=1).sum(axis=0)
    few = {f"{n} studies with {x}": n for n, x in zip(n_with, _GROUPS, strict=True)}
    if n_studies < _FEW_STUDIES:
        few = {f"{n_studies} studies": n_studies}
    remarks += [
        f"there are only {what}: how much studies differ is mostly what the prior says, "
        "priors=SummaryPriors(spread_scale=...)"
        for what, n in few.items()
        if n < _FEW_STUDIES
    ]
    if n_pairs == _FEW_PAIRS:
        remarks.append(
            f"there are only {n_pairs} pairs: how much pairs differ is mostly what the prior says, "
            "priors=SummaryPriors(pair_scale=...)"
        )
    return tuple(remarks)


def _repeat_last(x: Float[np.ndarray, "*u t"]) -> Float[np.ndarray, "*u t"]:
    """Return x with its last number in place of the NaN that follow."""
    n_known = np.isfinite(x).sum(axis=-1, keepdims=True)
    index = np.minimum(np.arange(x.shape[-1]), n_known - 1)
    return np.take_along_axis(x, index, axis=-1)


def _on_scale(thresholds: Float[np.ndarray, "*t"], scale: ThresholdScale) -> Any:
    return np.log(thresholds) if scale == "log" else thresholds
