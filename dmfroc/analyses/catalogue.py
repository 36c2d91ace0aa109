"""All measures by name: importing this module registers those of every family."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from dmfroc.measures import binary, curve_areas, probabilities, ranking, registry, table
from dmfroc.measures.measure import Measure
from dmfroc.measures.registry import FACTORIES
from dmfroc.multiclass import measure as multiclass

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FACTORIES", "MEASURES", "get_measure", "measure_table"]

# In the order in which tables list them, whichever was imported first
_FAMILIES = (multiclass, ranking, curve_areas, probabilities, table, binary)
_ORDER = [family.__name__ for family in _FAMILIES]
MEASURES = dict(
    sorted(registry.MEASURES.items(), key=lambda item: _ORDER.index(registry.MODULES[item[0]]))
)
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
    """Return what measures there are, one row for each.

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
