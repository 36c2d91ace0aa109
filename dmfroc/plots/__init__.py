"""Displays in scikit-learn's manner: they store computed arrays and draw them on any axes."""

from __future__ import annotations

from dmfroc.plots.multiclass_roc import MulticlassROCDisplay

__all__ = ["MulticlassROCDisplay"]
