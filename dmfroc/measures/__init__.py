"""The measures: functions of their options that return a `Measure`, which can be called.

``dmfroc.measures.partial_auc(max_fpr=0.2)(y_true, y_score)`` is a number;
``dmfroc.measures()`` lists what there is.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def __getattr__(name: str) -> Any:
    if find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"{__name__}.{name}")
    # Imported when it is first used, because it holds all families.
    from dmfroc.analyses import catalogue

    if name in catalogue.FACTORIES:
        return catalogue.FACTORIES[name]
    if name in catalogue.__all__:
        return getattr(catalogue, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from dmfroc.analyses import catalogue

    return sorted([*catalogue.FACTORIES, *catalogue.__all__])


class _CallableModule(ModuleType):
    """The package `dmfroc.measures`, which called as a function lists what it holds."""

    def __call__(self) -> pd.DataFrame:
        from dmfroc.analyses.catalogue import measure_table

        return measure_table()


sys.modules[__name__].__class__ = _CallableModule
