"""Where the functions are that draw results and write them as HTML."""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from typing import Any

RENDERERS: dict[str, str] = {}
"""Functions that draw and write results, by class and what they do: ``"Plan.plot"``.

Each is a module and a name in it. Plots and reports know results; results find them here.
"""


def renderer(result: Any, purpose: str) -> Any:
    """Return the function that draws a result, or writes it as HTML."""
    keys = [f"{kind.__name__}.{purpose}" for kind in type(result).__mro__]
    found = [RENDERERS[key] for key in keys if key in RENDERERS]
    if not found:
        raise TypeError(f"{type(result).__name__} has no {purpose}()")
    module, _, name = found[0].partition(":")
    return attrgetter(name)(import_module(module))
