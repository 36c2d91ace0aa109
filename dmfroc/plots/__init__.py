"""Displays in scikit-learn's manner: they store what was computed and draw it on any axes."""

from typing import Any

import lazy_loader

# The stub `__init__.pyi` lists the public names and where each one lives.
_get, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _get(name)
