"""Packages whose names are imported when they are first used, from where their stubs say."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec, resolve_name
from types import FunctionType
from typing import Any

from dmfroc._kit.global_state import undisturbed
from dmfroc._kit.habits import explain_methods, explained, line_near


class NoName(AttributeError):
    """That a package lacks a name; what to type instead is looked up when it is printed."""

    def __str__(self) -> str:
        package, name = self.args
        if hint := line_near(name):
            return f"{package} has no {name}{hint}"
        return f"module {package!r} has no attribute {name!r}"


def missing(package: str, name: str) -> AttributeError | ImportError:
    """Return the error about a name that a package lacks."""
    error, frame = NoName(package, name, name=name), sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__package__")).startswith("dmfroc"):
        frame = frame.f_back
    # `from package import name` tries the name first, and hides the text of an AttributeError
    is_import = frame.f_code.co_name == "_handle_fromlist"
    if is_import and find_spec(f"{package}.{name}") is None:
        return ImportError(str(error))
    return error


def names_of_stub(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Its stub, the file ``__init__.pyi`` next to ``file``, lists the names: each is imported from
    there, or a module of the package, as type checkers read it. Packages below it that have a stub
    are found, too, and ``dir`` lists them.
    """
    listed: dict[str, str] = {}
    with open(f"{file}i", encoding="utf-8") as stub:
        nodes = ast.parse(stub.read()).body
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            home = resolve_name("." * node.level + (node.module or ""), package)
            listed |= {alias.name: home for alias in node.names}
    folder = os.path.dirname(file)
    rooms = [x for x in os.listdir(folder) if os.path.exists(f"{folder}/{x}/__init__.pyi")]
    homes = dict.fromkeys(rooms, package) | listed

    def get(name: str) -> Any:
        if name not in homes:
            raise missing(package, name)
        home = homes[name]
        with undisturbed():
            if home == package:  # a module of the package itself
                return import_module(f"{package}.{name}")
            value = getattr(import_module(home), name)
        if isinstance(value, FunctionType):
            value = explained(value, package)
        elif isinstance(value, type):
            explain_methods(value)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(homes), sorted(listed)
