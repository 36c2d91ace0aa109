"""All measures by name: importing this module registers those of every family."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

# isort: off
from dmfroc.multiclass import measure as multiclass
from dmfroc.measures import ranking, curve_areas, probabilities, table, binary  # noqa: F401

# isort: on
from dmfroc.measures import registry
from dmfroc.measures.hard_labels import TABLE_FUNCTIONS
from dmfroc.measures.measure import Measure
from dmfroc.measures.registry import FACTORIES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FACTORIES", "MEASURES", "get_measure", "measure_table"]


_HARD_LABELS = "dmfroc.measures.hard_labels"  # where those of tables are made
_ORDER = [m.__name__ for m in (multiclass, ranking, curve_areas, probabilities)] + [_HARD_LABELS]


def _rank(name: str) -> tuple[int, bool]:
    """Say what comes first, whichever file was imported first."""
    of_two_classes = name not in TABLE_FUNCTIONS
    module = registry.MODULES[name]
    return _ORDER.index(module), module == _HARD_LABELS and of_two_classes


MEASURES = {name: registry.MEASURES[name] for name in sorted(registry.MEASURES, key=_rank)}
"""All built-in measures by name, in the order in which tables list them."""


def get_measure(measure: str | Measure) -> Measure:
    """Return the measure of that name; a measure is returned as it is."""
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise TypeError(
            "measure must be a name or a Measure, such as dmfroc.measures.hand_till(), but it is a "
            f"{type(measure).__name__}"
        )
    if measure not in MEASURES:
        raise ValueError(
            f"measure must be one of {sorted(MEASURES)}, but it is {measure!r}{_guess(measure)}"
        )
    return MEASURES[measure]


def _guess(name: str) -> str:
    """Say which measure may be meant, by its name or by its title."""
    by_title = {m.title.casefold(): m.name for m in MEASURES.values()}
    close = difflib.get_close_matches(name.casefold(), [*MEASURES, *by_title])
    return f": did you mean {by_title.get(close[0], close[0])!r}?" if close else ""


def measure_table() -> pd.DataFrame:
    """Return what measures there are, one row for each; ``dmfroc.measures()`` does the same.

    Returns
    -------
    pandas.DataFrame
        Indexed by name: title, family, smallest and largest value, value under chance (NaN if it
        depends on the sample), whether greater is better, what it is computed from, and the
        default method of its interval.

    Examples
    --------
    >>> measure_table().loc["hand_till", ["title", "family", "interval"]].tolist()
    ['Hand-Till M', 'ranking', 'jackknife']
    """
    import pandas as pd

    return pd.DataFrame(
        {
            "title": measure.title,
            "family": measure.family,
            "low": measure.bounds[0],
            "high": measure.bounds[1],
            "chance": measure.chance,
            "greater_is_better": measure.greater_is_better,
            "needs": measure.needs,
            "interval": measure.default_method,
        }
        for measure in MEASURES.values()
    ).set_index(pd.Index(MEASURES, name="measure"))
