"""Packages whose names are imported when they are first used, from where their stubs say."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec, resolve_name
from typing import Any

from dmfroc._kit.global_state import undisturbed
from dmfroc._kit.habits import answering


def missing(package: str, name: str) -> AttributeError | ImportError:
    """Return the error about a name that a package lacks, with the line to type instead."""
    no_name = AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
    if name.startswith("_") or find_spec(f"{package}.{name}") is not None:
        return no_name
    from traceback import extract_stack

    with undisturbed():
        hint = import_module("dmfroc.analyses.catalogue").line_instead_of(name)
    if not hint:
        return no_name
    # `from package import name` hides the text of an AttributeError
    is_import = any(x.name == "_handle_fromlist" for x in extract_stack(limit=4))
    return (ImportError if is_import else AttributeError)(f"{package} has no {name}{hint}")


def names_of_stub(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Its stub, the file ``__init__.pyi`` next to ``file``, lists the names: each is imported from
    there, or a module of the package, as type checkers read it.
    """
    homes: dict[str, str] = {}
    with open(f"{file}i", encoding="utf-8") as stub:
        nodes = ast.parse(stub.read()).body
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            home = resolve_name("." * node.level + (node.module or ""), package)
            homes |= {alias.name: home for alias in node.names}
    public = sorted(homes)

    def get(name: str) -> Any:
        if name not in homes:
            raise missing(package, name)
        home = homes[name]
        with undisturbed():
            if home == package:  # a module of the package itself
                return import_module(f"{package}.{name}")
            value = answering(getattr(import_module(home), name))
        setattr(sys.modules[package], name, value)
        return value

    return get, public.copy, public
