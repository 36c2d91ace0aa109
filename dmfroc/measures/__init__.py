"""The measures: functions of their options that return a `Measure`, which can be called.

``dmfroc.measures.partial_auc(max_fpr=0.2)(y_true, y_score)`` is a number;
``dmfroc.measures.measure_table()`` lists what there is.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from dmfroc._kit.stub import missing


def __getattr__(name: str) -> Any:
    if find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    catalogue = _catalogue()
    if name in catalogue.FACTORIES:
        return catalogue.FACTORIES[name]
    if name in catalogue.__all__:
        return getattr(catalogue, name)
    raise missing(__name__, name)


def __dir__() -> list[str]:
    return sorted([*_catalogue().FACTORIES, *_catalogue().__all__])


def _catalogue() -> Any:
    """Return the module of all families, of rooms above too: it is imported when it is needed."""
    return import_module("dmfroc.analyses.catalogue")
