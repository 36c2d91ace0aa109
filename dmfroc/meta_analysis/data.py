"""Published counts of studies: read from a table, checked, and laid out for the models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import narwhals as nw
import numpy as np
from jaxtyping import Float, Int

from dmfroc._inputs.messages import listing, shortened

ThresholdScale = Literal["identity", "log"]
Pair = tuple[Hashable, Hashable]

_LEAST_STUDIES = 3
_FEW_STUDIES = 5
_LARGEST_LOSS = 0.05  # share of people who may lack at some thresholds
_AT_ONCE = 8  # shapes are multiples of it, so that models are compiled for few of them
_LARGEST_COUNT = 2**53


class CountsOfUnits(NamedTuple):
    """What a model sees of units: studies, or the pairs of classes within studies.

    Attributes
    ----------
    between
        Cases and non-cases between successive thresholds, those above the largest first. Units
        with few thresholds repeat their last one, with nothing in between.
    cutoffs
        Thresholds, largest first, in pooled standard deviations from their mean.
    study, pair
        Of each unit, as an index.
    """

    between: Float[Any, "u 2 t_plus_1"]
    cutoffs: Float[Any, "u t"]
    study: Int[Any, " u"]
    pair: Int[Any, " u"]


class UnitCounts(NamedTuple):
    """What one unit counted: thresholds, largest first, positives at each, and people."""

    thresholds: Float[np.ndarray, " t"]
    positives: Float[np.ndarray, "2 t"]
    sizes: Float[np.ndarray, " 2"]
    differs: bool  # whether the numbers of people depend on the threshold


@dataclass(frozen=True, eq=False)
class Studies:
    """Checked counts of all studies.

    Attributes
    ----------
    names : tuple of str
        Of the studies, in the order of the table.
    pairs : tuple of tuple
        The (true, reference) pairs of classes; one, without names, for two classes.
    counts : CountsOfUnits
        By unit, without padding.
    true_positives, false_positives : numpy.ndarray of shape (u, t)
        At each threshold, NaN beyond those of the unit.
    sizes : numpy.ndarray of shape (u, 2)
        Cases and non-cases.
    thresholds : numpy.ndarray of shape (u, t)
        As published, largest first, NaN beyond those of the unit.
    scale : {"identity", "log"}
        On which thresholds enter the model.
    center, unit : float
        Mean and standard deviation of the thresholds on that scale.
    remarks : tuple of str
        What a careful reader has to know of the table.
    """

    names: tuple[str, ...]
    pairs: tuple[Pair, ...]
    counts: CountsOfUnits
    true_positives: Float[np.ndarray, "u t"]
    false_positives: Float[np.ndarray, "u t"]
    sizes: Float[np.ndarray, "u 2"]
    thresholds: Float[np.ndarray, "u t"]
    scale: ThresholdScale
    center: float
    unit: float
    remarks: tuple[str, ...]

    @property
    def has_pairs(self) -> bool:
        """Whether there are several pairs of classes."""
        return len(self.pairs) > 1

    @property
    def unit_names(self) -> list[str]:
        """Study, and pair where there are several, of each unit."""
        study, pair = self.counts.study, self.counts.pair
        if not self.has_pairs:
            return [self.names[s] for s in study]
        return [
            f"{self.names[s]}, {pair_name(self.pairs[p])}" for s, p in zip(study, pair, strict=True)
        ]

    def standardized(self, thresholds: Float[np.ndarray, "*t"]) -> Float[np.ndarray, "*t"]:
        """Return thresholds on the scale of the model."""
        return (_on_scale(thresholds, self.scale) - self.center) / self.unit

    def without(self, study: int) -> CountsOfUnits:
        """Return the counts as if one study had none."""
        kept = self.counts.study != study
        return self.counts._replace(between=self.counts.between * kept[:, None, None])


def pair_name(pair: Pair) -> str:
    """Return what a pair of classes is called."""
    return f"{pair[0]} from {pair[1]}"


def padded(counts: CountsOfUnits) -> CountsOfUnits:
    """Add units without observations up to a multiple of eight, of a study of their own."""
    n_units = len(counts.study)
    missing = n_padded(n_units) - n_units
    widths = [[(0, missing)] + [(0, 0)] * (np.ndim(field) - 1) for field in counts]
    return CountsOfUnits(
        *(np.pad(field, width) for field, width in zip(counts, widths, strict=True))
    )


def n_padded(n: int) -> int:
    """Return the next multiple of eight."""
    return -(-n // _AT_ONCE) * _AT_ONCE


def check_scale(threshold_scale: str) -> None:
    """Refuse a scale of thresholds that is none of those known."""
    if threshold_scale not in get_args(ThresholdScale):
        raise ValueError(
            f"threshold_scale must be one of {get_args(ThresholdScale)}, but it is "
            f"{threshold_scale!r}"
        )


def read_studies(
    table: Any,
    columns: Mapping[str, str | None],
    threshold_scale: ThresholdScale,
) -> Studies:
    """Read counts from the columns of a table; `columns` gives the name of each role's."""
    check_scale(threshold_scale)
    found = _columns_of(table, columns)
    cells = np.stack([_counts(found[role], columns[role]) for role in ("tp", "fn", "fp", "tn")], 1)
    n_rows = len(cells)
    study = [str(x) for x in found.get("study", range(1, n_rows + 1))]
    pair = [_pair_of(x, row) for row, x in enumerate(found["pair"])] if "pair" in found else None
    threshold = _thresholds(found.get("threshold"), threshold_scale, n_rows)
    units: dict[tuple[str, Pair | None], list[int]] = {}
    for row in range(n_rows):
        units.setdefault((study[row], pair[row] if pair else None), []).append(row)
    if "threshold" not in found:
        _refuse_repeats(units)
    names = tuple(dict.fromkeys(study))
    if len(names) < _LEAST_STUDIES:
        raise ValueError(
            f"study has {len(names)} distinct values ({listing(names)}): a meta-analysis needs "
            f"{_LEAST_STUDIES} studies at least"
        )
    counted = [
        _counts_of_unit(threshold[rows], cells[rows], _unit_name(key))
        for key, rows in units.items()
    ]
    return _lay_out(list(units), counted, names, threshold_scale)


def _columns_of(table: Any, columns: Mapping[str, str | None]) -> dict[str, Sequence[Any]]:
    if isinstance(table, Mapping):
        import pandas as pd

        table = pd.DataFrame(dict(table))
    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError as error:
        raise TypeError(
            "table must be a data frame or a mapping from names to columns, but it is "
            f"{type(table).__name__}"
        ) from error
    wanted = {role: name for role, name in columns.items() if name is not None}
    for role, name in wanted.items():
        if name not in frame.columns:
            raise ValueError(
                f"{role}={name!r} is no column of the table, which has {listing(frame.columns)}: "
                f"name the column of {role}, {role}="
            )
    if len(frame) == 0:
        raise ValueError("table has no rows: give one row per study, or per study and threshold")
    return {role: frame[name].to_list() for role, name in wanted.items()}


def _counts(column: Sequence[Any], name: str | None) -> Float[np.ndarray, " rows"]:
    for row, x in enumerate(column):
        is_number = isinstance(x, int | float | np.number) and not isinstance(x, bool)
        if not (is_number and 0 <= x <= _LARGEST_COUNT and x == int(x)):
            raise ValueError(
                f"column {name!r} must hold numbers of people, but row {row} (counting from 0) "
                f"has {x!r}: leave the row out, or correct it"
            )
    return np.array(column, dtype=float)


def _pair_of(entry: Any, row: int) -> Pair:
    if isinstance(entry, str) and entry.count(" from ") == 1:
        true, reference = entry.split(" from ")
    elif isinstance(entry, tuple | list) and len(entry) == 2:
        true, reference = entry
    else:
        raise ValueError(
            f"pair must name (true, reference) classes, as a tuple or as 'true from reference', "
            f"but row {row} (counting from 0) has {entry!r}"
        )
    if true == reference:
        raise ValueError(f"row {row} (counting from 0) pairs class {true!r} with itself")
    return true, reference


def _thresholds(
    column: Sequence[Any] | None, scale: ThresholdScale, n_rows: int
) -> Float[np.ndarray, " rows"]:
    if column is None:
        return np.zeros(n_rows)
    found = np.array(column, dtype=float)
    allowed = np.isfinite(found) & ((found > 0) | (scale == "identity"))
    if not allowed.all():
        row = int(np.argmin(allowed))
        kind = "positive and finite for threshold_scale='log'" if scale == "log" else "finite"
        raise ValueError(
            f"threshold must be {kind}, but row {row} (counting from 0) has {found[row]}"
        )
    if len(set(found)) == 1:
        raise ValueError(
            f"threshold is {found[0]:g} in all rows: leave threshold= out, nothing depends on it"
        )
    return found


def _refuse_repeats(units: Mapping[tuple[str, Pair | None], list[int]]) -> None:
    for key, rows in units.items():
        if len(rows) > 1:
            raise ValueError(
                f"{_unit_name(key)} has {len(rows)} rows: name the column of its thresholds, "
                "threshold=, or of its pairs of classes, pair=, or keep one row"
            )


def _unit_name(key: tuple[str, Pair | None]) -> str:
    name, pair = key
    return f"study {name!r}" + ("" if pair is None else f", {pair_name(pair)},")


def _counts_of_unit(
    threshold: Float[np.ndarray, " t"], cells: Float[np.ndarray, "t 4"], name: str
) -> UnitCounts:
    """Return what a unit counted, largest threshold first, if it can be of one sample."""
    order = np.argsort(-threshold)
    threshold = threshold[order]
    for value in threshold[1:][np.diff(threshold) == 0]:
        raise ValueError(f"{name} has several rows of threshold {value:g}: keep one of them")
    if not cells.sum(axis=1).all():
        raise ValueError(f"{name} has no observations in a row: leave it out")
    cases, others = cells[order, :2], cells[order, 2:]
    halves = [_one_sample(*half, name) for half in ((cases, "cases"), (others, "non-cases"))]
    positives, sizes = zip(*halves, strict=True)
    differs = any(np.ptp(half.sum(axis=1)) > 0 for half in (cases, others))
    return UnitCounts(threshold, np.stack(positives), np.array(sizes), differs)


def _one_sample(
    cells: Float[np.ndarray, "t 2"], what: str, name: str
) -> tuple[Float[np.ndarray, " t"], float]:
    """Return positives at each threshold, and people; the same people at all thresholds.

    A few who lack at some thresholds are left out by keeping the rates.
    """
    total = cells.sum(axis=1)
    least, most = total.min(), total.max()
    if most - least > _LARGEST_LOSS * most:
        raise ValueError(
            f"{name} has {least:.0f} to {most:.0f} {what}, depending on the threshold: all "
            "thresholds of a study must be those of the same people"
        )
    positive = cells[:, 0] / np.maximum(total, 1) * total.mean()
    if (np.diff(positive) < -(most - least) - 1e-9).any():
        raise ValueError(
            f"{name} has fewer positive {what} at a smaller threshold: a test is positive at "
            "or above its threshold; where small values are positive, give minus the threshold"
        )
    return np.maximum.accumulate(positive), float(total.mean())


def _lay_out(
    keys: list[tuple[str, Pair | None]],
    counted: list[UnitCounts],
    names: tuple[str, ...],
    scale: ThresholdScale,
) -> Studies:
    pairs = tuple(dict.fromkeys(pair for _, pair in keys if pair is not None)) or ((1, 0),)
    most = max(len(unit.thresholds) for unit in counted)
    cutoffs = np.full((len(counted), most), np.nan)
    positive = np.full((len(counted), 2, most), np.nan)
    for row, unit in enumerate(counted):
        cutoffs[row, : len(unit.thresholds)] = unit.thresholds
        positive[row, :, : len(unit.thresholds)] = unit.positives
    sizes = np.stack([unit.sizes for unit in counted])
    on_scale = _on_scale(cutoffs, scale)
    center, unit_of_scale = float(np.nanmean(on_scale)), float(np.nanstd(on_scale)) or 1.0
    filled = _repeat_last(positive)
    between = np.diff(np.concatenate([filled, sizes[..., None]], axis=2), axis=2, prepend=0.0)
    study = np.array([names.index(name) for name, _ in keys])
    pair = np.array([0 if p is None else pairs.index(p) for _, p in keys])
    counts = CountsOfUnits(
        between * _powers(study, [pairs[p] for p in pair])[..., None],
        (_repeat_last(on_scale) - center) / unit_of_scale,
        study,
        pair,
    )
    uneven = [_unit_name(key) for key, unit in zip(keys, counted, strict=True) if unit.differs]
    return Studies(
        names=names,
        pairs=pairs,
        counts=counts,
        true_positives=positive[:, 0],
        false_positives=positive[:, 1],
        sizes=sizes,
        thresholds=cutoffs,
        scale=scale,
        center=center,
        unit=unit_of_scale,
        remarks=_remarks(uneven, len(names)),
    )


def _remarks(uneven: list[str], n_studies: int) -> tuple[str, ...]:
    remarks = []
    if uneven:
        remarks.append(
            f"{shortened(uneven)}: not all people have results at all thresholds; the rates were "
            "taken for those of their mean number"
        )
    if n_studies < _FEW_STUDIES:
        remarks.append(
            f"there are only {n_studies} studies: how much studies differ is mostly what the prior "
            "says, priors=SummaryPriors(spread_scale=...)"
        )
    return tuple(remarks)


def _powers(study: Int[np.ndarray, " u"], pairs: list[Pair]) -> Float[np.ndarray, "u 2"]:
    """Return one over the number of a study's pairs that count the same people in the same role.

    The positive cases of class i are the same in its pairs with all other classes.
    """
    trues = Counter((s, true) for s, (true, _) in zip(study, pairs, strict=True))
    references = Counter((s, reference) for s, (_, reference) in zip(study, pairs, strict=True))
    return np.array(
        [
            (1 / trues[s, true], 1 / references[s, reference])
            for s, (true, reference) in zip(study, pairs, strict=True)
        ]
    )


def _repeat_last(x: Float[np.ndarray, "*u t"]) -> Float[np.ndarray, "*u t"]:
    """Return x with its last number in place of the NaN that follow."""
    n_known = np.isfinite(x).sum(axis=-1, keepdims=True)
    index = np.minimum(np.arange(x.shape[-1]), n_known - 1)
    return np.take_along_axis(x, index, axis=-1)


def _on_scale(thresholds: Float[np.ndarray, "*t"], scale: ThresholdScale) -> Any:
    return np.log(thresholds) if scale == "log" else thresholds
