"""Which score column belongs to which class: by name where there are names, else by position."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, get_args

from dmfroc._kit.options import choice
from dmfroc.inputs.labels import Label, check_order, natural_order, place_of_class, spelled_label
from dmfroc.inputs.messages import Source, listing, repeated

_FEW = 2  # classes whose names may end words by chance, as "no" and "yes" do
_MOST_TRIED = 30  # classes from which a message guesses the text around them all

Direction = Literal[">=", "<="]
"""Whether large or small values of a single score speak for the positive class."""


class Positive(NamedTuple):
    """What the user says of a single score: the class that it is about, and its direction.

    Of events that may lie beyond a horizon the direction cannot be seen.
    """

    label: Any = None
    direction: Direction | None = None
    of_events: bool = False


NOTHING_SAID = Positive()


def single_score_classes(
    name: Hashable | None,
    distinct: list[Label],
    order: list[Label] | None,
    positive: Positive,
    source: Source,
) -> tuple[list[Label], int]:
    """Find the two classes, and the position of the one that large values speak for."""
    labels = distinct if order is None else order
    if len(labels) != 2:
        raise ValueError(
            f"{source.scores} has a single column, which is enough for two classes only, but there "
            f"are {len(labels)} ({listing(labels)}): give one column per class, or predicted "
            "classes as y_pred="
        )
    is_stated = order is not None or positive.label is not None
    if name is None and not is_stated:
        check_order(labels, natural_order(labels), "numbers", source)
    place = 1 if positive.label is None else place_of_class(positive.label, labels)
    if positive.direction is not None:
        side = choice("direction", positive.direction, get_args(Direction))
        return labels, place if side == ">=" else 1 - place
    named = None if name is None else named_class(name, labels)
    if source.is_table_file:
        # The number in a name may count columns, from 0 as in "0" or from 1 as in PRE_1
        counts_from = (0 if str(name) == "0" else None, 1)
        if named == 0 and type(labels[0]) is int and labels[0] in counts_from:
            if not is_stated:
                raise ValueError(
                    f"{source.scores} column {name!r} may be named after class {labels[0]!r}, or "
                    f"be the first of its kind: pass labels={labels} if its larger scores mean "
                    f"class {labels[1]!r}, labels={labels[::-1]} if they mean class {labels[0]!r}"
                )
            named = None
        if named is None and not is_stated and set(labels) != {0, 1}:
            raise ValueError(
                f"{source.scores} column {name!r} names neither {labels[0]!r} nor {labels[1]!r}: "
                "name it after the class with the larger scores, or pass the negative class "
                f"followed by the positive one, such as labels={labels}"
            )
        if named == 0 and not is_stated and isinstance(labels[0], str):
            return labels[::-1], 1  # the class that the file has a score of is positive
    elif named not in (None, place):
        remedy = f"labels=({labels[1]!r}, {labels[0]!r})"
        raise ValueError(
            f"{source.scores} is named {name!r}, but a single score is that of the positive class, "
            f"{labels[place]!r}: pass {remedy if positive.label is None else "direction='<='"} if "
            "the name is right, an array without a name if not"
        )
    return labels, place if named is None else named


class Match(NamedTuple):
    """The column of each class, and other columns with the classes that they may be of."""

    positions: list[int]
    rivals: dict[int, Label]
    warning: str | None


def match_columns(
    names: Sequence[Hashable], classes: Sequence[Label], source: Source
) -> Match | None:
    """Find a column for every class, named after it with one common text around all classes.

    If none fits to the letter, names may differ from classes in Unicode form, case or punctuation.
    None if some class has no column.
    """
    kind = type(classes[0])
    texts = [_text(name, kind) for name in names]
    matches: dict[tuple[int, ...], tuple[_Reading, _Pattern]] = {}
    for reading in _readings(kind):
        labels = [reading.fold(text) for text in map(reading.spell, classes)]
        if not repeated(labels):
            columns = [reading.fold(text) for text in texts]
            for around, positions in _complete_patterns(labels, columns).items():
                matches.setdefault(positions, (reading, around))
    if not matches:
        return None
    of_one = f"{source.scores} has several columns for one class: {listing(names)}"
    if len(matches) > 1:
        globs = sorted({f"{around.before}*{around.after}" for _, around in matches.values()})
        if len(globs) == 1:
            raise ValueError(of_one)
        remedy, further = "keep", ""
        if source.is_table_file:
            remedy, further = "choose with scores=", ", or save a file for each"
        raise ValueError(
            f"{source.scores} has several columns for each class: {listing(names)}; {remedy} those "
            f"of one classifier, which are named like one of {listing(globs)}{further}"
        )
    [(positions, (reading, around))] = matches.items()
    rivals = {
        place: label
        for place, text in enumerate(map(reading.fold, texts))
        if place not in positions and (label := around.other_label(text, kind)) is not None
    }
    if not set(classes).isdisjoint(rivals.values()):
        raise ValueError(of_one)
    warning = None
    if reading.difference is not None:
        pairs = list(zip(positions, classes, strict=True))
        place, label = next((x for x in pairs if str(x[1]) not in str(names[x[0]])), pairs[0])
        warning = (
            "columns and classes are matched although their names differ in "
            f"{reading.difference}: column {names[place]!r} is taken for class {label!r}"
        )
    return Match(list(positions), rivals, warning)


def named_class(name: Hashable, labels: Sequence[Label]) -> int | None:
    """Position of the class that a column is named after, at the end, the beginning or between."""
    kind = type(labels[0])
    text = _text(name, kind)
    for reading in _readings(kind):
        column = reading.fold(text)
        candidates: dict[tuple[int, int], int] = {}
        for code, label in enumerate(map(reading.fold, map(reading.spell, labels))):
            for around in _patterns(column, label):
                place = 2 if not around.after else 1 if not around.before else 0
                # A number between texts is rather that of a model or of a fold
                if around.keeps_words(label) and (place or kind is not int):
                    candidates[place, len(label)] = code
        if candidates:
            return candidates[max(candidates)]
    return None


def check_positions(names: Sequence[Hashable], classes: Sequence[Label], source: Source) -> None:
    """Refuse columns in the order of the classes that are named after others of them.

    Numbers may count columns otherwise than classes.
    """
    by_name = [named_class(name, classes) for name in names]
    if type(classes[0]) is int and None in by_name:
        return
    for place, (name, named) in enumerate(zip(names, by_name, strict=True)):
        if named is not None and named != place:
            raise ValueError(
                f"{source.scores}: column {name!r} stands for class {classes[place]!r} in the "
                f"order of labels=, but is named after class {classes[named]!r}: give both in "
                "the same order"
            )


def mismatch(
    names: Sequence[Hashable],
    classes: Sequence[Label],
    source: Source,
    fractions: Sequence[Hashable],
    *,
    sum_to_one: bool = False,
) -> str:
    """Say which classes have no column, which columns no class, and what to do.

    Only columns of fractions are proposed as scores: whole numbers may be hard labels. Of two
    classes one is, unless two are numbered or sum to one.
    """
    kind = type(classes[0])
    texts, labels = [_text(name, kind) for name in names], [str(label) for label in classes]
    around = _likely_pattern(labels, texts)
    expected = [around.before + label + around.after for label in labels]
    missing = [
        label for label, text in zip(classes, expected, strict=True) if text not in set(texts)
    ]
    strange = [name for name, text in zip(names, texts, strict=True) if text not in expected]
    remedy = "choose with scores=" if source.is_table_file else "pass an array and labels="
    singles = [x for x in names if named_class(x, classes) is not None and not counts_rows(str(x))]
    singles = [x for x in fractions if x in singles] or singles or list(fractions)
    named = {named_class(x, classes) for x in singles}
    proposed = _numbered(names, texts, len(classes)) if strange else []
    are_of_classes = sum_to_one or len(classes) > _FEW
    if not proposed and are_of_classes and len(fractions) == len(classes):
        proposed = [*fractions] * (set(fractions) <= set(strange))
    if source.is_table_file and proposed and not source.has_chosen_scores:
        order = _in_order([str(name) for name in proposed], classes)
        remedy = f"if they are in this order pass scores={proposed}, labels={order}"
    elif source.is_table_file and len(classes) == 2 and len(named) == 1 and len(names) > 1:
        [own] = named
        remedy = (
            f"if it is the one score for both classes pass scores={[singles[0]]}, "
            f"pos_label={classes[1 if own is None else own]!r} for the class of its large values"
        )
    elif any(map(counts_rows, texts)):
        remedy += "; the column without a name is of row numbers: save without (index=False)"
    return (
        f"{source.scores}: columns and classes do not match by name: "
        + (f"no column for class {listing(missing)}; " if missing else "")
        + (f"no class for column {listing(strange)}; " if strange else "")
        + f"the columns are {listing(names)}. Name each column after its class, with one "
        f"prefix for all if need be, or {remedy}"
    )


def _in_order(texts: Sequence[str], classes: Sequence[Label]) -> list[Label]:
    """Return the classes in the order of columns that hold their names somewhere."""
    inside = [[x for x in classes if str(x).casefold() in text.casefold()] for text in texts]
    in_order = [max(some, key=lambda label: len(str(label))) for some in inside if some]
    return in_order if set(in_order) == set(classes) else natural_order(classes)


def _numbered(names: Sequence[Hashable], texts: Sequence[str], k: int) -> list[Hashable]:
    """Return the only columns whose names count from 0 or from 1 to the number of classes."""
    families = {
        places
        for first in (1, 0)
        for places in _complete_patterns([str(first + x) for x in range(k)], texts).values()
    }
    return [names[place] for place in families.pop()] if len(families) == 1 else []


def counts_rows(text: str) -> bool:
    """Whether a column has the name that row numbers get where they are saved as a column."""
    return not text or text.startswith("Unnamed: ")


# Text around classes


class _Pattern(NamedTuple):
    """What stands before and after the class in the name of its column."""

    before: str
    after: str

    def keeps_numbers(self, label: str) -> bool:
        """Whether the text does not continue a number that the class begins or ends with."""
        return not (
            (label[:1].isdigit() and re.search(r"\d[.,]?$|(^|[\W_])-$", self.before))
            or (label[-1:].isdigit() and re.match(r"\d|[.,]\d*[1-9]", self.after))
        )

    def keeps_words(self, label: str) -> bool:
        """Whether moreover the text does not continue a word."""
        return self.keeps_numbers(label) and not (
            _is_one_word(self.before[-1:], label[:1]) or _is_one_word(label[-1:], self.after[:1])
        )

    def other_label(self, column: str, kind: type) -> Label | None:
        """Return the class that a column would be of if it is one without observations."""
        is_inside = column.startswith(self.before) and column.endswith(self.after)
        if kind is bool or not is_inside or counts_rows(column):
            return None
        label = column[len(self.before) : len(column) - len(self.after)]
        return spelled_label(normalized_numbers(label) if kind is int else label, kind)


def _is_one_word(left: str, right: str) -> bool:
    return left.isalpha() and right.isalpha() and not (left.islower() and right.isupper())


def _patterns(column: str, label: str) -> Iterator[_Pattern]:
    """Yield what is around each occurrence of a class in the name of a column."""
    place = column.find(label)
    while place >= 0:
        yield _Pattern(column[:place], column[place + len(label) :])
        place = column.find(label, place + 1)


def _complete_patterns(
    labels: Sequence[str], columns: Sequence[str]
) -> dict[_Pattern, tuple[int, ...]]:
    """Texts that lead every class to a column, and these columns."""
    place = {column: index for index, column in enumerate(columns)}
    longest = max(labels, key=len)
    complete: dict[_Pattern, tuple[int, ...]] = {}
    for around in {p for column in columns for p in _patterns(column, longest)}:
        expected = [around.before + label + around.after for label in labels]
        if (
            all(text in place for text in expected)
            and all(around.keeps_numbers(label) for label in labels)
            and (len(labels) > _FEW or any(around.keeps_words(label) for label in labels))
        ):
            complete[around] = tuple(place[text] for text in expected)
    return complete


def _likely_pattern(labels: Sequence[str], columns: Sequence[str]) -> _Pattern:
    """Return the text that leads most classes to a column; of equals the shortest."""
    counts = Counter(
        around
        for label in labels[:_MOST_TRIED]
        for around in {p for column in columns for p in _patterns(column, label)}
        if around.keeps_words(label)
    )
    return min(
        counts, key=lambda p: (-counts[p], len(p.before + p.after), p), default=_Pattern("", "")
    )


# Ways to read names


class _Reading(NamedTuple):
    """How classes are spelled, and which differences between names and classes do not count."""

    spell: Callable[[Label], str]
    fold: Callable[[str], str]
    difference: str | None = None


def _readings(kind: type) -> tuple[_Reading, ...]:
    return {bool: _OF_BOOLEANS, int: _OF_INTEGERS}.get(kind, _OF_TEXTS)


def _text(name: Hashable, kind: type) -> str:
    """Text of a column name; a column False is the same as 0 unless classes are called so."""
    return str(int(name)) if kind is int and isinstance(name, bool) else str(name)


def normalized_numbers(text: str) -> str:
    """Write numbers that are equal alike: 01, 1.0 and 1."""
    return re.sub(
        r"(?<!\d)(?<!\d[.,])0*(\d+)(?:[.,]0+)?(?![\d]|[.,]\d)", lambda number: number[1], text
    )


def _one_form(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _one_case(text: str) -> str:
    return _one_form(_one_form(normalized_numbers(text)).casefold())


def _one_sign(text: str) -> str:
    return re.sub(r"\W", "_", _one_case(text.strip()))


def _one_punctuation(text: str) -> str:
    return re.sub("_+", "_", _one_sign(text))


_OF_INTEGERS = (
    _Reading(str, str),
    _Reading(str, normalized_numbers),
    _Reading(str, _one_case, "case"),
)
_OF_TEXTS = (
    *_OF_INTEGERS[:2],
    _Reading(str, _one_form, "Unicode form"),
    _Reading(str, _one_case, "case"),
    _Reading(str, _one_sign, "punctuation"),
    _Reading(str, _one_punctuation, "punctuation"),
)
_OF_BOOLEANS = (
    _Reading(str, str.casefold),
    _Reading(lambda label: str(int(label)), normalized_numbers),
)
