"""What each threshold does: rates with their limits, and net benefit, for a slider and a table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import PerThreshold
from dmfroc._kit.text import in_percent
from dmfroc.inputs.columns import Direction
from dmfroc.measures.benefits import net_benefits
from dmfroc.multiclass.band import rate_intervals
from dmfroc.reports.numbers import OfClass
from dmfroc.results.table import Column, Table

MOST_CLASSES = 10  # with more, their numbers would make the page much larger
_STEPS = np.arange(1, 100) / 100
_DIGITS = 3
_FEW_CLASSES = 5
_ALONE, _OF_FEW, _OF_MANY = _STEPS[9::10], _STEPS[19::20], _STEPS[24:50:25]  # in the table


@dataclass(frozen=True, eq=False)
class AtThresholds:
    """What happens if cases from a threshold on are taken for a class.

    Attributes
    ----------
    label : Hashable
        The class.
    share : float
        Its share of the cases.
    direction : {">=", "<="}
        Whether a case is taken for it if its score is at least, or at most, the threshold.
    threshold : numpy.ndarray of shape (t,)
        Probabilities from .01 to .99; of other scores quantiles.
    found, false_alarms : numpy.ndarray of shape (3, t)
        Shares of the cases of the class, and of all others, that are taken for it, with limits.
    net_benefit : numpy.ndarray of shape (t,) or None
        None of scores that are no probabilities.
    """

    label: Hashable
    share: float
    direction: Direction
    threshold: PerThreshold
    found: Float[np.ndarray, "3 t"]
    false_alarms: Float[np.ndarray, "3 t"]
    net_benefit: PerThreshold | None

    def as_json(self) -> dict[str, Any]:
        """Return the numbers that the slider reads; rates in whole thousandths, which are short."""
        rates = {"found_per_1000": self.found, "false_alarms_per_1000": self.false_alarms}
        of_rates = {key: (1000 * x).round().astype(int).tolist() for key, x in rates.items()}
        benefit = None if self.net_benefit is None else self.net_benefit.tolist()
        threshold = self.threshold.tolist() if benefit is None else None  # else .01 to .99
        own = {"label": self.label, "share": self.share, "threshold": threshold}
        return {**own, **of_rates, "net_benefit": benefit}


def at_thresholds(of_class: OfClass, level: float) -> AtThresholds:
    """Return the rates of a class against the rest, with limits for each threshold by itself."""
    predictions, units = of_class.pooled
    scores, weights = predictions.scores[:, 1], predictions.sample_weight
    is_probability = of_class.calibration is not None
    rising = _STEPS if is_probability else np.unique(np.quantile(scores, _STEPS))
    falling, rates, totals = rising[::-1].tolist(), [], []
    for k in (1, 0):
        of_rows = weights * (predictions.true == k)
        totals.append(of_rows.sum())
        of_rows = of_rows / totals[-1]
        values = np.array([of_rows @ (scores >= t) for t in falling])
        influences = (of_rows * ((scores >= t) - x) for t, x in zip(falling, values, strict=True))
        ends = rate_intervals(values, influences, np.eye(2)[k], units, level)
        rates.append(np.array([values, *ends])[:, ::-1])
    found, false_alarms = np.round(rates, _DIGITS)
    positives, negatives = totals
    share, benefit = positives / (positives + negatives), None
    if is_probability:
        whole = np.broadcast_to([positives, negatives], (len(rising), 2))
        hits = positives * rates[0][0], negatives * rates[1][0]
        benefit = net_benefits(np.column_stack([*hits, whole]), rising / (1 - rising), None)[0]
        benefit = benefit.round(_DIGITS)
    sign = -1 if of_class.direction == "<=" else 1
    return AtThresholds(
        of_class.label, share, of_class.direction, sign * rising, found, false_alarms, benefit
    )


def place_of(at: AtThresholds, asked: Sequence[Mapping[str, Any]], hard_labels: str = "") -> int:
    """Return the place of the threshold that was asked for, or of the one in the middle.

    ``asked`` are the options of measures; ``hard_labels`` is how the design describes a threshold.
    """
    by = {"specificity": 1 - at.false_alarms[0], "threshold": at.threshold}
    by |= dict.fromkeys(("sensitivity", "tpr", "recall"), at.found[0])
    wanted = [(by[name], x) for options in asked for name, x in options.items() if name in by]
    if hard_labels.startswith("score "):
        wanted.insert(0, (at.threshold, float(hard_labels.split()[-1])))
    values, value = next(iter(wanted), (at.threshold, at.threshold[len(at.threshold) // 2]))
    return int(np.argmin(np.abs(values - value)))


def thresholds_table(classes: Sequence[AtThresholds], level: float) -> Table:
    """Return some of the thresholds of each class, for paper and for browsers without script."""
    n = len(classes)
    shown = _ALONE if n == 1 else _OF_FEW if n <= _FEW_CLASSES else _OF_MANY
    rows = [
        (x, i) for x in classes for i in np.unique((shown * len(x.threshold)).astype(int)).tolist()
    ]
    interval = f"{in_percent(level)} interval"
    columns = [
        Column("label", "class" if n > 1 else "", [x.label for x, _ in rows], "name"),
        Column("threshold", "threshold", [x.threshold[i] for x, i in rows]),
    ]
    for key, title in (("found", "found"), ("false_alarms", "false alarms")):
        rates, lows, highs = zip(*(getattr(x, key)[:, i] for x, i in rows), strict=True)
        ends = [(low, high, np.nan) for low, high in zip(lows, highs, strict=True)]
        columns.append(Column(key, title, rates))
        columns.append(Column(f"{key}_interval", interval, ends, "interval"))
    benefits = [None if x.net_benefit is None else x.net_benefit[i] for x, i in rows]
    columns.append(Column("net_benefit", "" if None in benefits else "net benefit", benefits))
    return Table("thresholds", "Shares found and false alarms at some thresholds", columns)
