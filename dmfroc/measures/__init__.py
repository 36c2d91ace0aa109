"""The measures, each a function of observation weights, and their registry."""

from __future__ import annotations

from dmfroc.measures.base import Measure
from dmfroc.measures.contingency import CONTINGENCY
from dmfroc.measures.multiclass_roc import dmf_auc
from dmfroc.measures.ranking import HAND_TILL

__all__ = ["MEASURES", "Measure", "get_measure"]

MEASURES = {measure.name: measure for measure in (dmf_auc(), HAND_TILL, *CONTINGENCY)}


def get_measure(measure: str | Measure) -> Measure:
    """Return the measure of that name; a measure is returned as it is."""
    if isinstance(measure, Measure):
        return measure
    if measure not in MEASURES:
        raise ValueError(f"measure must be one of {sorted(MEASURES)}, but it is {measure!r}")
    return MEASURES[measure]
