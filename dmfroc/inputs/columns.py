"""Which score column belongs to which class: by name where there are names, else by position."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

from dmfroc.inputs.labels import Label, natural_order, sorted_labels, spelled_label
from dmfroc.inputs.messages import Source, listing


def positional_classes(
    width: int, distinct: list[Label], order: list[Label] | None, source: Source
) -> list[Label]:
    """Classes of columns without names."""
    labels = distinct if order is None else order
    if len(labels) == width:
        if order is None:
            _check_order(labels, source)
        return labels
    if order is not None:
        remedy = "name one class per column"
    elif len(labels) > width:
        remedy = "give one column per class"
    else:
        remedy = "pass labels= with the class of each column, in column order"
    raise ValueError(
        f"{source.true if order is None else 'labels'} has {len(labels)} distinct labels "
        f"({listing(labels)}) but {source.scores} has {width} columns: {remedy}"
    )


def _check_order(labels: list[Label], source: Source) -> None:
    """Refuse labels that have two orders, since columns without names may have either."""
    as_text, as_numbers = sorted(labels), natural_order(labels)
    if as_text != as_numbers:
        raise ValueError(
            f"{source.true} holds text with numbers in it, and {source.scores} has no column "
            f"names: the columns may be in the order of the text ({listing(as_text)}), as those of "
            f"scikit-learn are, or of the numbers ({listing(as_numbers)}). Pass labels= with the "
            "class of each column, in column order, such as labels=classifier.classes_"
        )


def single_score_classes(
    name: Hashable | None, distinct: list[Label], order: list[Label] | None, source: Source
) -> tuple[list[Label], int]:
    """Find the two classes, and the position of the one that a single score speaks for."""
    labels = distinct if order is None else order
    if len(labels) != 2:
        raise ValueError(
            f"{source.scores} has a single column, which is enough for two classes only, but there "
            f"are {len(labels)} ({listing(labels)}): give one column per class"
        )
    if name is None:
        if order is None:
            _check_order(labels, source)
        return labels, 1
    named = _named_class(name, labels)
    if source.is_table_file:
        if named is None and order is None and set(labels) != {0, 1}:
            raise ValueError(
                f"{source.scores} column {name!r} names neither {labels[0]!r} nor {labels[1]!r}: "
                "name it after the class with the larger scores, or pass "
                "labels=(negative, positive)"
            )
        return labels, 1 if named is None else named
    if named == 0:
        raise ValueError(
            f"{source.scores} is named {name!r}, but a single score is that of the second "
            f"class, {labels[1]!r}: pass labels=({labels[1]!r}, {labels[0]!r}) if the name is "
            "right, an array without a name if not"
        )
    return labels, 1


def _named_class(name: Hashable, labels: Sequence[Label]) -> int | None:
    """Position of the class that a column is named after, a prefix aside; the longest wins."""
    kind = type(labels[0])
    column = _text(name, kind)
    lengths = {}
    for code, label in enumerate(labels):
        text = _text(label, kind)
        prefix = column.removesuffix(text)
        if column == text or (prefix != column and _is_boundary(prefix, text)):
            lengths[code] = len(text)
    return max(lengths, key=lengths.__getitem__, default=None)


def match_columns(
    names: list[Hashable], distinct: list[Label], order: list[Label] | None, source: Source
) -> tuple[list[Label], list[int]]:
    """Classes in column order, and the position of each one's column among `names`."""
    wanted = distinct if order is None else order
    kind = type(wanted[0])
    label_of = {_text(label, kind): label for label in wanted}
    texts = [_text(name, kind) for name in names]
    prefix = _shared_prefix(texts, label_of)
    classes: list[Label | None] = []
    for text in texts:
        spelled = text.removeprefix(prefix)
        label = label_of.get(spelled)
        if label is None and order is None:  # a class without observations
            label = spelled_label(spelled, kind)
        classes.append(label if text.startswith(prefix) else None)

    found = set(classes)
    missing = [label for label in wanted if label not in found]
    strange = [name for name, label in zip(names, classes, strict=True) if label is None]
    if missing or strange:
        remedy = "choose with scores=" if source.is_table_file else "pass an array and labels="
        if any(_is_unnamed(text) for text in texts):
            remedy += "; the column without a name is of row numbers: save without (index=False)"
        elif len(prefixes := _full_prefixes(texts, label_of)) > 1:
            remedy += (
                f" those of one classifier, which begin with one of {listing(prefixes)}, or save a "
                "file for each"
            )
        raise ValueError(
            f"{source.scores}: columns and classes do not match by name: "
            + (f"no column for class {listing(missing)}; " if missing else "")
            + (f"no class for column {listing(strange)}; " if strange else "")
            + f"the columns are {listing(names)}. Name each column after its class, with one "
            f"prefix for all if need be, or {remedy}"
        )
    position = {label: index for index, label in enumerate(classes) if label is not None}
    if len(position) < len(classes):
        raise ValueError(f"{source.scores} has several columns for one class: {listing(names)}")
    labels = sorted_labels(position) if order is None else order
    return labels, [position[label] for label in labels]


def _shared_prefix(texts: list[str], wanted: Collection[str]) -> str:
    """Find the prefix that leads most classes to a column; of equals none, then the shortest."""
    available = set(texts)
    best, found = "", sum(label in available for label in wanted)
    for label in wanted:
        if found == len(wanted):
            break
        prefixes = {text.removesuffix(label) for text in texts if text.endswith(label)}
        for prefix in sorted(prefixes, key=lambda prefix: (len(prefix), prefix)):
            count = sum(prefix + other in available for other in wanted)
            if count > found and _is_boundary(prefix, label):
                best, found = prefix, count
    return best


def _full_prefixes(texts: list[str], wanted: Collection[str]) -> list[str]:
    """Return the prefixes that lead every class to a column."""
    first = next(iter(wanted))
    prefixes = {text.removesuffix(first) for text in texts if text.endswith(first)}
    return sorted(p for p in prefixes if all(p + label in texts for label in wanted))


def _is_unnamed(text: str) -> bool:
    """Whether a column has the name that row numbers get where they are saved as a column."""
    return not text or text.startswith("Unnamed: ")


def _is_boundary(prefix: str, label: str) -> bool:
    """Whether the two meet between words, so that no word and no number is cut in two."""
    left, right = prefix[-1:], label[:1]
    return not (left.isalpha() and right.isalpha()) and not (left.isdigit() and right.isdigit())


def _text(name: Hashable, kind: type) -> str:
    """Text of a class or a column name; that of equal ones, such as 1 and 1.0, is the same."""
    if kind is bool:
        return str(bool(name) if name in (0, 1) else name).lower()
    if kind is int and isinstance(name, bool | float) and name % 1 == 0:
        return str(int(name))
    return str(name)
