"""The measures, each a function of observation weights, and their registry."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from dmfroc.measures.auc_mu import AUC_MU
from dmfroc.measures.base import Measure
from dmfroc.measures.contingency import CONTINGENCY
from dmfroc.measures.multiclass_roc import dmf_auc
from dmfroc.measures.precision_recall import PRECISION_RECALL_AREAS
from dmfroc.measures.ranking import PAIRWISE
from dmfroc.measures.roc_areas import ROC_AREAS
from dmfroc.measures.vus import VOLUMES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MEASURES", "Measure", "get_measure", "measure_table"]

_RANKING = (*PAIRWISE, AUC_MU, *VOLUMES, *ROC_AREAS, *PRECISION_RECALL_AREAS)

MEASURES = {measure.name: measure for measure in (dmf_auc(), *_RANKING, *CONTINGENCY)}


def get_measure(measure: str | Measure) -> Measure:
    """Return the measure of that name; a measure is returned as it is."""
    if isinstance(measure, Measure):
        return measure
    if measure not in MEASURES:
        raise ValueError(f"measure must be one of {sorted(MEASURES)}, but it is {measure!r}")
    return MEASURES[measure]


def measure_table() -> pd.DataFrame:
    """Return what measures there are, one row for each; ``dmfroc.measures()`` does the same.

    Returns
    -------
    pandas.DataFrame
        Indexed by name: title, family, smallest and largest value, value under chance (NaN if it
        depends on the sample), whether greater is better, what it is computed from, and the
        default method of its interval (measures with kinks are resampled in samples of up to
        100,000 scores).

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
            "interval": "jackknife" if measure.is_smooth else "bootstrap",
        }
        for measure in MEASURES.values()
    ).set_index(pd.Index(MEASURES, name="measure"))


class _CallableModule(ModuleType):
    """The package `dmfroc.measures`, which called as a function lists what it holds."""

    def __call__(self) -> pd.DataFrame:
        return measure_table()


sys.modules[__name__].__class__ = _CallableModule
