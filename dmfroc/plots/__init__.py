"""Displays in scikit-learn's manner: they store what was computed and draw it on any axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dmfroc.plots.multiclass_roc import MulticlassROCDisplay

__all__ = ["MulticlassROCDisplay"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # On first use, so that importing the package does not wait for JAX.
    from dmfroc.plots import multiclass_roc

    return getattr(multiclass_roc, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
