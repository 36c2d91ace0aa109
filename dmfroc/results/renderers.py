"""How results find the functions that draw them and write them as HTML, in rooms above."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any

_RENDERERS: dict[str, Callable[..., Any]] = {}


def renders[F: Callable[..., Any]](*names: str) -> Callable[[F], F]:
    """Return the decorator of a function, or a display, that draws or writes results.

    ``names`` are the classes of the results with the methods that call it: ``"Plan.plot"``.
    """

    def decorate(function: F) -> F:
        _RENDERERS.update(dict.fromkeys(names, getattr(function, "_from_result", function)))
        return function

    return decorate


def renderer(result: Any, purpose: str) -> Callable[..., Any]:
    """Return the function that draws a result, or writes it as HTML."""
    room = import_module("dmfroc.reports" if purpose in ("page", "notebook") else "dmfroc.plots")
    for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
        import_module(module.name)  # where it is defined, it is entered
    names = [f"{kind.__name__}.{purpose}" for kind in type(result).__mro__]
    for name in names:
        if name in _RENDERERS:
            return _RENDERERS[name]
    remedy = "dmfroc.plots draws curves"
    if isinstance(result, dict):
        remedy = f"type [{next(iter(result))!r}].{purpose}()"
    raise TypeError(f"{type(result).__name__} has no {purpose}(): {remedy}")
