"""The rules of a gate, read and checked before any data are."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

from dmfroc import Measure
from dmfroc.applications.item_means import ScoredItems
from dmfroc.extend import (
    DEFAULT_LEVEL,
    Hypothesis,
    check_level,
    check_readable,
    did_you_mean,
    flag,
    get_measure,
    listed,
    names_alike,
    nonnegative,
    number,
)

_OF_ITEMS = re.compile(r"\s*(mean_score|pass_at|pass_all)\s*(?:\(\s*(?:k\s*=\s*)?(\d+)\s*\))?\s*")
_CALL = 'gate([{"measure": "hand_till", "at_least": 0.8}], y_true, y_score)'
_KEYS_OF_ALL = ("level", "adjust", "rule")


@dataclass(frozen=True)
class ItemMeasure:
    """The mean score of items, or of the best or the worst of k attempts."""

    name: str
    k: int | None
    greater_is_better: bool = True

    def of(self, items: ScoredItems) -> ScoredItems:
        """Return the items with the scores that it is the mean of."""
        is_worst = self.name.startswith("pass_all")
        return items if self.k is None else items.of_best(self.k, worst=is_worst)


@dataclass(frozen=True)
class Rule:
    """One rule, as the user wrote it; see `gate`."""

    measure: Measure | ItemMeasure
    name: str = ""
    at_least: float = -math.inf
    at_most: float = math.inf
    no_worse_than: str | None = None
    better_than: str | None = None
    margin: float = 0.0
    worst_of: str | None = None
    level: float | None = None

    @property
    def other(self) -> str | None:
        """The name of what the classifier is held against."""
        return self.no_worse_than or self.better_than

    @property
    def region(self) -> tuple[float, float]:
        """The values that the rule asks for; of a difference, how much better it is."""
        if self.other is None:
            return self.at_least, self.at_most
        return (self.margin if self.better_than else -self.margin), math.inf

    @property
    def hypothesis(self) -> Hypothesis:
        """What the difference is held against."""
        side = "greater" if self.measure.greater_is_better else "less"
        alternative: Any = "two-sided" if self.other is None else side
        return Hypothesis(
            alternative, self.margin, greater_is_better=self.measure.greater_is_better
        )

    def __str__(self) -> str:
        """Say what the rule asks for."""
        words = [f"at least {self.at_least:g}" if self.at_least > -math.inf else ""]
        words.append(f"at most {self.at_most:g}" if self.at_most < math.inf else "")
        by = f" by {self.margin:g}" if self.margin else ""
        words.append(f"no worse than {self.no_worse_than}{by}" if self.no_worse_than else "")
        words.append(f"better than {self.better_than}{by}" if self.better_than else "")
        asked = " and ".join(filter(None, words))
        return f"{asked}, worst of {self.worst_of}" if self.worst_of else asked


def read_rules(given: Any, level: float = DEFAULT_LEVEL) -> tuple[list[Rule], float, bool]:
    """Return checked rules, their level, and whether it is adjusted."""
    if isinstance(given, str | PathLike):
        file = Path(given)
        if not file.is_file() and re.search("[<>=]", file.name):
            raise ValueError(
                f"rules: {given} is no file: write one of TOML, with a line [[rule]] and below it "
                "measure = 'hand_till' and at_least = 0.8, or pass a list of dicts"
            )
        try:
            check_readable(file)
            given = tomllib.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"rules: {file} cannot be read as TOML: {error}") from error
    if isinstance(given, Mapping) and "measure" in given:  # one rule
        given = [given]
    book = given if isinstance(given, Mapping) else {"rule": given}
    for key in book:
        if key not in _KEYS_OF_ALL:
            raise ValueError(
                f"rules has the key {key!r}, which is unknown{_near(key, _KEYS_OF_ALL)}; the call "
                f"is as {_CALL}"
            )
    rows = listed("rule", book.get("rule", ()))
    level, adjust = check_level(book.get("level", level)), flag("adjust", book.get("adjust", False))
    return [_rule(row, place) for place, row in enumerate(rows, start=1)], level, adjust


def _near(key: Any, known: Sequence[str]) -> str:
    alike = [x for x in names_alike(str(key)) if x in known]
    meant = {"min": "at_least", "max": "at_most"}.get(str(key)[:3], [*alike, str(key)][0])
    return did_you_mean(meant, known) or f": the keys are {', '.join(known)}"


def _rule(row: Any, place: int) -> Rule:
    """Return one rule, checked without the data."""
    if not isinstance(row, Mapping):
        raise TypeError(
            f"rule {place} must be a table of keys, but it is {row!r}: rules come first, {_CALL}"
        )
    known = [x.name for x in fields(Rule)]
    for key in row:
        if key not in known:
            raise ValueError(
                f"rule {place} has the key {key!r}, which is unknown{_near(key, known)}"
            )
    if "measure" not in row:
        raise ValueError(f'rule {place} has no measure, such as measure = "hand_till"')
    try:
        measure = _item_measure(row["measure"]) or get_measure(row["measure"])
        made = {key: _read(key, value) for key, value in row.items() if key != "measure"}
        rule = Rule(measure, **made)
        _check(rule, row)
        if isinstance(measure, Measure):
            rule.hypothesis.check(rule.level or DEFAULT_LEVEL, measure.largest_difference)
    except (TypeError, ValueError) as error:
        raise type(error)(f"rule {place}: {error}") from error
    return rule


def _item_measure(given: Any) -> ItemMeasure | None:
    match = _OF_ITEMS.fullmatch(given) if isinstance(given, str) else None
    if match is None or (match[1] == "mean_score") != (match[2] is None):
        return None
    k = None if match[2] is None else int(match[2])
    return ItemMeasure(match[1] if k is None else f"{match[1]}({k})", k)


def _read(key: str, value: Any) -> Any:
    if key in ("at_least", "at_most"):
        return number(key, value)
    if key in ("margin", "level"):
        return nonnegative(key, value) if key == "margin" else check_level(value)
    if not isinstance(value, str) or not value:
        raise TypeError(f"{key} must be a name, but it is {value!r}")
    return value


def _check(rule: Rule, row: Mapping[str, Any]) -> None:
    """Refuse a rule that asks for nothing, for two things, or for what its measure has not."""
    asked = [x for x in ("no_worse_than", "better_than") if x in row]
    asked += ["at_least"] * ("at_least" in row or "at_most" in row)
    if len(asked) != 1:
        raise ValueError(
            "give one of at_least (or at_most), no_worse_than and better_than, but there are "
            f"{', '.join(asked) or 'none'}"
        )
    if rule.other is None and "margin" in row:
        raise ValueError("margin goes with no_worse_than or better_than: leave it out")
    if rule.no_worse_than and not rule.margin:
        raise ValueError("no_worse_than needs a margin above 0; without one, ask for better_than")
    if not rule.at_least <= rule.at_most:  # also NaN
        raise ValueError(f"at_least {rule.at_least} must not be above at_most {rule.at_most}")
    low, high = getattr(rule.measure, "bounds", (-math.inf, math.inf))
    if rule.at_least > high or rule.at_most < low:
        raise ValueError(
            f"at_least and at_most must be in the range of {rule.measure.name}, {low:g} to "
            f"{high:g}, but the rule is {rule}"
        )
    if rule.other and isinstance(rule.measure, Measure) and math.isfinite(rule.measure.target):
        raise ValueError(
            f"{rule.measure.name} is best at {rule.measure.target:g}, so that neither a greater "
            "nor a smaller value is better: give at_least and at_most"
        )
