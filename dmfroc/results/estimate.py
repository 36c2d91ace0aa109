"""Estimates with standard errors and intervals, and what a judge adds to few verified labels."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float, Shaped

from dmfroc._kit.habits import measure_called
from dmfroc._kit.later import DataTree
from dmfroc._kit.text import in_percent, normalized, printable
from dmfroc.inputs.messages import shortened
from dmfroc.results.result import ByName, Result, Valued, unknown_name
from dmfroc.results.table import Column, Name, Table, attribute_columns, rounded
from dmfroc.results.text import common, design_lines, format_interval, paragraphs, warning_lines

if TYPE_CHECKING:
    from dmfroc.inputs.predictions import Predictions

Labels = Shaped[np.ndarray, " n"]
_SAME, _SAME_ENDS = 1e-9, 1e-4  # areas and errors that are the same but for rounding; limits
_SAME_TOTAL = 1e-6  # of the two scores of each row, but for rounding
ClassSizes = Literal["fixed", "random"]
_OF = "\0"  # for the name of a measure
_FEWEST_PRINTED = 50  # rows of a longer table of several results


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Valued, Result):
    """A measure's value, with its standard error and interval.

    In arithmetic, and where it is ordered or rounded, it is its value alone.

    Attributes
    ----------
    measure, title : str
        Name of the measure, and its name in tables and legends.
    value : float
        Value in the sample.
    standard_error : float
        Standard error of the value; 0 if the observations show no variation, see `warnings`.
    interval : tuple of float
        Lower and upper end, inside the range of the measure.
    level : float
        Nominal coverage of the interval.
    method : str
        How standard error and interval were obtained.
    class_sizes : {"fixed", "random"} or None
        Whether the error includes that the class sizes are a matter of chance, as it does by
        default where the value depends on them; None where the method does not say.
    bias_corrected : float or None
        The value without its bias, if that is notable. For measures that choose thresholds on the
        observations that they judge, such as maximal informedness, it is the value where others
        choose them, about which the interval is. For others the interval extends by the bias.
    n_draws, seed : int or None
        Number of draws and seed of methods that draw; None for the jackknife.
    warnings : tuple of str
        What limits this estimate.
    draws : numpy.ndarray of shape (n_draws,) or None
        The measure's value in every draw, for methods that draw.
    error_bound : float
        By how much the value differs at most from that of all scores, where `dmfroc.scan` or an
        `dmfroc.counted.Accumulator` has counted them in bins; else 0.
    judge : JudgedLabels or None
        What the labels of a judge added, if there is one.
    caveats : tuple of str
        The warnings about the value, whatever its interval; these are Python warnings, too.
    design : dict of str to object
        What of the design changes the meaning of the value, such as weights, folds or a horizon.
    """

    main_table: ClassVar[str] = "estimates"

    measure: str
    title: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    level: float
    method: str
    class_sizes: ClassSizes | None = None
    bias_corrected: float | None = None
    n_draws: int | None = None
    seed: int | None = None
    warnings: tuple[str, ...] = ()
    draws: Float[np.ndarray, " draws"] | None = field(default=None, repr=False)
    error_bound: float = 0.0
    judge: JudgedLabels | None = None
    caveats: tuple[str, ...] = field(default=(), repr=False)
    design: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __format__(self, digits: str) -> str:
        """Return the value with these digits, as in ``f"{estimate:.3f}"``; without, the line."""
        return format(self.value, digits) if digits else str(self)

    @property
    def warned_as(self) -> str:
        """The name in warnings: of two classes AUC, as in tables."""
        return self.title if self.title == "AUC" else self.measure

    def to_datatree(self) -> DataTree:
        """Return the draws as an ArviZ tree with the dimensions chain and draw.

        Raises
        ------
        ValueError
            If the method has no draws.
        """
        if self.draws is None:
            raise ValueError(
                f"an estimate by method={self.method!r} has no draws: use a bootstrap, or "
                "bayesian_roc, whose posterior is a tree"
            )
        import arviz_base

        import dmfroc

        tree = arviz_base.from_dict({"posterior": {self.measure: self.draws[None]}})
        tree["posterior"].attrs.update(
            method=self.method, level=self.level, seed=self.seed, dmfroc_version=dmfroc.__version__
        )
        return tree

    def attributes(self) -> dict[str, Any]:
        """Return the method, the level, and the draws and seed of methods that draw."""
        of_draws = {} if self.n_draws is None else {"n_draws": self.n_draws, "seed": self.seed}
        return {"method": self.method, "level": self.level} | of_draws

    def tables(self) -> list[Table]:
        """Return the value with its interval."""
        return [estimates_table([self])]

    def question_text(self) -> str:
        """Return the heading of a report without a title."""
        return self.title

    def as_text(self, *, warnings: bool = True, all_rows: bool = False) -> str:
        """Return the estimate in one line, and each warning in another."""
        corrected, error = self.bias_corrected, self.standard_error
        ends = format_interval(self.interval, lambda end: rounded(end, error))
        line = (
            f"{printable(self.measure)} {rounded(self.value, error)} "
            f"({in_percent(self.level)} {self.method} interval {ends}"
            + ("" if corrected is None else f"; bias-corrected {rounded(corrected, error)}")
            + (f"; binning error at most {self.error_bound:.1e})" if self.error_bound else ")")
        )
        remarks = warning_lines(self.warnings if warnings else ())
        return "\n".join([*paragraphs([line, *design_lines(self.design)]), *remarks])


class NamedEstimates(Result, Mapping[str, Estimate]):
    """A result that maps names to estimates: ``result["hand_till"]``, ``for name in result``.

    A title that only one of them has is a name, too, and so are other names of its measure.
    """

    estimates: dict[str, Estimate]

    def __post_init__(self) -> None:
        object.__setattr__(self, "estimates", ByName(self.estimates))

    @property
    def design(self) -> Mapping[str, Any]:
        """What of the design changes the meaning of the values, by name."""
        return common([estimate.design for estimate in self.estimates.values()])

    @property
    def printed_warnings(self) -> tuple[str, ...]:
        """The warnings, with titles of measures for their names.

        What concerns some measures and names none of them begins with their titles.
        """
        estimates = [*self.estimates.values()]
        titles = {x.measure: x.title for x in estimates if re.search(r"\W|_", x.measure)}
        names = "|".join(map(re.escape, sorted(titles, key=len, reverse=True))) or _OF
        of_name, found = re.compile(rf"(?<![\w'])(?:{names})(?![\w'])"), []
        for warning in self.warnings:
            own = [x for x in estimates if warning in x.warnings and x.warned_as not in warning]
            concerned = dict.fromkeys(x.title for x in own) if len(own) < len(estimates) else ()
            prefix = f"{shortened([*concerned])}: " * bool(concerned)
            found.append(prefix + of_name.sub(lambda name: titles[name[0]], warning))
        return tuple(found)

    def foot(self) -> list[str]:
        """Return where intervals of draws come from."""
        text = about_draws(self.estimates.values())
        return [f"Intervals are {text}."] * bool(text)

    def __getitem__(self, name: str) -> Estimate:
        if name in self.estimates:
            return self.estimates[name]
        found = [e for e in self.estimates.values() if _is_called(e, str(name))]
        if len(found) == 1 or [e.measure for e in found] == ["dmf_auc", "hand_till"]:
            return found[-1]
        is_pair = isinstance(name, tuple) and hasattr(self, "differences")
        hint = ": each pair is in .differences" * is_pair
        raise unknown_name("estimate", name, [*self.estimates], hint)

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)


def about_draws(estimates: Iterable[Estimate]) -> str:
    """Say where intervals by a bootstrap come from; nothing of others."""
    is_drawn = not {"bootstrap", "bayesian_bootstrap"}.isdisjoint(x.method for x in estimates)
    return "of draws, extended to the jackknife's limits where these reach further" * is_drawn


def _is_called(e: Estimate, name: str) -> bool:
    """Whether a name is that of a measure, its title or another one; an AUC is of two classes."""
    of_names = {"AUC": "hand_till", "Hand-Till M": ""}.get(e.title, e.measure)
    is_title = normalized(name) in (normalized(e.title), normalized(e.measure))
    return is_title or measure_called(name) == of_names != ""


def are_same(one: Estimate, other: Estimate) -> bool:
    """Whether two estimates are the same, but for rounding and where limits are searched for."""
    numbers = np.array([[e.value, e.standard_error, *e.interval] for e in (one, other)])
    apart = np.ptp(numbers, axis=0)
    return bool(apart[:2].max() <= _SAME and apart[2:].max() <= _SAME_ENDS)


def title_for(title: str, *predictions: Predictions) -> str:
    """Return the title of a measure; of two classes with one score both areas are the AUC."""
    is_area = title in ("DMF-AUC", "Hand-Till M")
    return "AUC" if is_area and all(map(_is_one_score, predictions)) else title


def _is_one_score(predictions: Predictions) -> bool:
    """Whether the scores of two classes order the rows alike, as s and 1 - s do."""
    scores = predictions.scores
    if predictions.n_classes > 2 or scores.size == 0:
        return False
    # Two columns are added in a tenth of the time of a sum over short rows
    return bool(np.ptp(np.add(scores[:, 0], scores[:, 1], dtype=np.float64)) <= _SAME_TOTAL)


def remarked(e: Estimate, predictions: Predictions, *of_value: str | None) -> Estimate:
    """Return an estimate with title, design and warnings of its inputs, and more of its value."""
    own = e.caveats if math.isfinite(e.value) else e.warnings
    caveats = tuple(dict.fromkeys(filter(None, [*own, *of_value])))
    warnings = tuple(dict.fromkeys([*predictions.remarks, *e.warnings, *caveats]))
    found = replace(e, title=title_for(e.title, predictions), design=predictions.design)
    named = partial(re.compile(rf"\b{re.escape(e.measure)}\b").sub, lambda _: found.warned_as)
    return replace(found, caveats=tuple(map(named, caveats)), warnings=tuple(map(named, warnings)))


def of_measures(warnings: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Return each warning once, for all measures that it names; each measure has its warnings."""
    named: dict[str, dict[str, None]] = {}
    for measure, of_measure in warnings:
        for warning in of_measure:
            own = re.sub(rf"\b{re.escape(measure)}\b", _OF, warning)
            named.setdefault(own, {})[measure] = None
    texts = (
        own.replace(_OF, f"{'each of ' * (len(x) > 1)}{shortened([*x])}")
        for own, x in named.items()
    )
    return tuple(dict.fromkeys(texts))


def names_shown(titles: Mapping[str, str]) -> list[str]:
    """Return the names of measures in print: the DMF-AUC and M once if both are the AUC."""
    is_one = titles.get("dmf_auc") == titles.get("hand_till") == "AUC"
    return [name for name in titles if not (is_one and name == "dmf_auc")]


def estimates_table(estimates: Iterable[Estimate]) -> Table:
    """Return measures with their intervals, one row each."""
    shown = list(estimates)
    methods, bounds = [e.method for e in shown], [e.error_bound for e in shown]
    interval, several = f"{in_percent(shown[0].level)} interval", "method"
    if len(set(methods)) == 1:
        interval, several = f"{interval} ({methods[0]})", ""
    columns = [
        Column("measure", "measure", [Name(e.measure, e.title) for e in shown], "name"),
        Column("value", "value", shown, "estimate", interval, "std. error"),
        *attribute_columns(
            shown, ("level", "", "number"), ("method", several, "name"), ("title", "", "name")
        ),
    ]
    without_bias = [e.bias_corrected for e in shown]
    if any(x is not None for x in without_bias):
        columns.append(Column("bias_corrected", "bias-corrected", without_bias))
    if any(bounds):
        columns.append(Column("error_bound", "binning error", bounds, "bound"))
    n = max(len(shown), _FEWEST_PRINTED)  # who names many wants to see all
    return Table("estimates", "Measures", columns, is_by_name=True, n_printed=n)


@dataclass(frozen=True)
class JudgedLabels:
    """How a judge made a value more precise.

    Attributes
    ----------
    lambda_ : float
        Weight of the judge, chosen for the least variance: the value is that of the verified rows
        plus ``lambda_ * n_rows / (n_rows - n_verified)`` times the judge's value on all rows less
        that on the verified ones. For a mean over rows that is ``lambda_`` times the judge's value
        on the other rows less that on the verified ones. A value outside of the range of the
        measure is put into it. 0 is the verified sample alone.
    n_verified, n_rows : int
        Number of verified rows, and of all rows.
    effective_labels : float
        Number of verified labels that would be as precise without the judge.
    verified_value, verified_error : float
        Value and standard error by the verified rows alone.
    judge_value : float
        Value if the judge's labels were the truth; NaN if they have no value.
    """

    lambda_: float
    n_verified: int
    n_rows: int
    effective_labels: float
    verified_value: float
    verified_error: float
    judge_value: float


def judge_table(values: Iterable[tuple[str, JudgedLabels | None]]) -> Table:
    """Return what the judge did for each of several values, by name; of some it did nothing."""
    judged = [(name, x) for name, x in values if x is not None]
    of = [x for _, x in judged]
    columns = [
        Column("name", "of", [name for name, _ in judged], "name"),
        Column("lambda", "lambda", [x.lambda_ for x in of]),
        Column("n_verified", "verified", [x.n_verified for x in of], "count"),
        Column(
            "effective_labels", "effective labels", [round(x.effective_labels) for x in of], "count"
        ),
        *attribute_columns(
            of,
            ("verified_value", "verified rows only", "number"),
            ("verified_error", "std. error", "error"),
            ("judge_value", "judge only", "number"),
        ),
    ]
    return Table("judge", "What the judge adds to the verified labels", columns)


def agreement_table(pairs: Mapping[str, tuple[Labels, Labels]]) -> Table:
    """Return how often each verified label goes with each of the judge's, by name of the value."""
    rows = []
    for name, (verified, judge) in pairs.items():
        totals = Counter(verified.tolist())
        together = Counter(zip(verified.tolist(), judge.tolist(), strict=True))
        for (label, said), count in sorted(together.items()):
            share = count / totals[label]
            rows.append((name, _shown_label(label), _shown_label(said), count, share))
    names, labels, of_judge, counts, shares = zip(*rows, strict=True)
    columns = [
        Column("name", "of" if len(pairs) > 1 else "", names, "name"),
        Column("verified", "verified", labels, "name"),
        Column("judge", "judge", of_judge, "name"),
        Column("count", "rows", counts, "count"),
        Column("share", "share of the verified label", shares, "percent"),
    ]
    return Table("agreement", "Agreement of the judge with the verified labels", columns)


def _shown_label(label: Any) -> Any:
    return f"{label:g}" if isinstance(label, float) else label
