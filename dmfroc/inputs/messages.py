"""Parts of error messages: where an input is, and lists that stay short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Source:
    """What error messages call the inputs, and what follows from where they are."""

    true: str = "y_true"
    scores: str = "y_score"
    weight: str = "sample_weight"
    frequency: str = "frequency_weight"
    id: str = "id"
    predicted: str = "y_pred"
    is_table_file: bool = False
    has_chosen_scores: bool = False  # the user named the score columns one by one
    design: Mapping[str, Any] = MappingProxyType({})  # which rows of a file are left out

    def row(self, index: int) -> str:
        """Name a row the way the reader of a file or of an array counts it."""
        if self.is_table_file:
            return f"data row {index + 1}"
        return f"row {index} (counting from 0)"


_MOST_LISTED = 8
IN_MEMORY = Source()


def repeated[Item](items: Sequence[Item]) -> list[Item]:
    """Items that occur more than once."""
    return [item for item, count in Counter(items).items() if count > 1]


def listing(items: Sequence[Any]) -> str:
    """Labels or names as they are written in Python."""
    return shortened([repr(item) for item in items], limit=_MOST_LISTED)


def argument(name: str, items: Sequence[Any]) -> str:
    """Return a list as an argument is written, without the items if they are many."""
    return f"{name}={list(items) if len(items) <= _MOST_LISTED else ''}"


def shortened(texts: Sequence[str], limit: int = 6) -> str:
    """Texts with commas, the rest of a long list as a number."""
    more = len(texts) - limit
    return ", ".join(texts[:limit]) + (f" and {more} more" if more > 0 else "")
