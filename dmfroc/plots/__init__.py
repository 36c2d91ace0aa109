"""Displays in scikit-learn's manner: they store what was computed and draw it on any axes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dmfroc.plots._overview import overview
    from dmfroc.plots.calibration import CalibrationDisplay
    from dmfroc.plots.comparison import ComparisonDisplay
    from dmfroc.plots.curves import (
        AccuracyDisplay,
        BIFTDisplay,
        BIRDDisplay,
        BOCDisplay,
        BPRDDisplay,
        CostDisplay,
        CumulativeGainsDisplay,
        DeltaPNDisplay,
        DETDisplay,
        LiftDisplay,
        LogPrecisionRecallDisplay,
        PNDisplay,
        PrecisionRecallDisplay,
        PRGDisplay,
        ReciprocalPrecisionRecallDisplay,
    )
    from dmfroc.plots.multiclass_roc import MulticlassROCDisplay
    from dmfroc.plots.pairs import PairwiseAUCDisplay
    from dmfroc.plots.roc import ROCDisplay

# Where each public name lives. It is imported when it is first used, so that importing the
# package waits neither for JAX nor for Matplotlib.
_HOMES = {
    "AccuracyDisplay": "curves",
    "BIFTDisplay": "curves",
    "BIRDDisplay": "curves",
    "BOCDisplay": "curves",
    "BPRDDisplay": "curves",
    "CalibrationDisplay": "calibration",
    "ComparisonDisplay": "comparison",
    "CostDisplay": "curves",
    "CumulativeGainsDisplay": "curves",
    "DETDisplay": "curves",
    "DeltaPNDisplay": "curves",
    "LiftDisplay": "curves",
    "LogPrecisionRecallDisplay": "curves",
    "MulticlassROCDisplay": "multiclass_roc",
    "PNDisplay": "curves",
    "PRGDisplay": "curves",
    "PairwiseAUCDisplay": "pairs",
    "PrecisionRecallDisplay": "curves",
    "ROCDisplay": "roc",
    "ReciprocalPrecisionRecallDisplay": "curves",
    "overview": "_overview",
}

__all__ = [
    "AccuracyDisplay",
    "BIFTDisplay",
    "BIRDDisplay",
    "BOCDisplay",
    "BPRDDisplay",
    "CalibrationDisplay",
    "ComparisonDisplay",
    "CostDisplay",
    "CumulativeGainsDisplay",
    "DETDisplay",
    "DeltaPNDisplay",
    "LiftDisplay",
    "LogPrecisionRecallDisplay",
    "MulticlassROCDisplay",
    "PNDisplay",
    "PRGDisplay",
    "PairwiseAUCDisplay",
    "PrecisionRecallDisplay",
    "ROCDisplay",
    "ReciprocalPrecisionRecallDisplay",
    "overview",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
