"""Which functions the numbers of a page come from, and which of them have changed since.

A study notes which functions of the package run. Beside the results, `code.json` has a hash of
each of them for every page: of its code and of the constants that it uses, as they were when the
numbers were computed. Comments, docstrings, annotations, layout and sentences do not count, nor
does the kit.
"""

from __future__ import annotations

import ast
import atexit
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "experiments" / "results" / "code.json"
NOT_COUNTED = "dmfroc/_kit/"  # texts, files and threads
OURS = 4  # an identifier of tools that no debugger, profiler or coverage uses

Function = tuple[str, str]  # its module and qualified name
Hashes = dict[str, dict[str, str]]  # by module and name

ran: set[Function] = set()
"""The functions that ran in this process."""


def _started(code: CodeType, _: int) -> object:
    """Note a function of the package when it first starts, but not while a module is imported."""
    prefix, frame = f"{ROOT}/", sys._getframe(1)
    if code.co_filename.startswith(f"{prefix}dmfroc/"):
        while frame is not None:
            above = frame.f_code
            if above.co_name == "<module>" and above.co_filename.startswith(f"{prefix}dmfroc/"):
                return None
            frame = frame.f_back
        name = code.co_qualname.split(".<")[0]  # functions inside it are part of it
        if not name.startswith("<"):
            ran.add((code.co_filename.removeprefix(prefix), name))
    return sys.monitoring.DISABLE


def record() -> None:
    """Note from now on which functions of the package run."""
    monitoring = sys.monitoring
    if monitoring.get_tool(OURS) is None:
        monitoring.use_tool_id(OURS, "studies")
        monitoring.register_callback(OURS, monitoring.events.PY_START, _started)
        monitoring.set_events(OURS, monitoring.events.PY_START)
        atexit.register(monitoring.set_events, OURS, 0)


class _Plain(ast.NodeTransformer):
    """Leave out what changes no number: annotations, docstrings, and texts of several words."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if " " in str(node.value) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        parts = [part.value for part in node.values if isinstance(part, ast.Constant)]
        return ast.Constant("") if " " in "".join(map(str, parts)) else self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        return self.generic_visit(ast.Assign([node.target], node.value or ast.Constant(None)))

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns, node.type_params = None, []
        return self.generic_visit(node)


def _text(node: Any) -> str:
    """Write a tree in the same way under all versions of Python: without what is empty."""
    match node:
        case ast.AST():
            parts = [_text(part) for _, part in ast.iter_fields(node) if part not in (None, [])]
            return f"{type(node).__name__}({' '.join(parts)})"
        case list():
            return f"[{' '.join(map(_text, node))}]"
    return repr(node)


class _Part(NamedTuple):
    """A function, the fields of a class, or another statement, with the names that it uses."""

    text: str
    names: frozenset[str]
    is_function: bool

    @classmethod
    def of(cls, node: ast.stmt) -> _Part:
        names = frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))
        return cls(_text(node), names, isinstance(node, ast.FunctionDef))


def _parts(body: Iterable[ast.stmt], within: str = "") -> Iterator[tuple[str, _Part]]:
    """Yield what a module or a class defines, by qualified name; loops and calls have none."""
    for node in body:
        match node:
            case ast.FunctionDef():
                yield within + node.name, _Part.of(node)
            case ast.ClassDef():
                yield from _parts(node.body, f"{within}{node.name}.")
                node.body = [part for part in node.body if not isinstance(part, ast.FunctionDef)]
                yield within + node.name, _Part.of(node)
            case ast.Assign() if not within:
                for target in node.targets:
                    yield getattr(target, "id", ""), _Part.of(node)
            case _ if not within:
                yield "", _Part.of(node)


class Package:
    """The modules of the package at one time; ``read`` returns the text of a file, if any."""

    def __init__(self, read: Callable[[str], str | None]) -> None:
        self._read = read
        self._modules: dict[str, tuple[dict[str, list[_Part]], dict[str, Function]]] = {}

    def _module(self, path: str) -> tuple[dict[str, list[_Part]], dict[str, Function]]:
        """Return what a module defines, and what it takes from others, by name."""
        if path not in self._modules:
            tree = _Plain().visit(ast.parse(self._read(path) or ""))
            imported = {
                alias.asname or alias.name: (f"{str(node.module).replace('.', '/')}.py", alias.name)
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
            self._modules[path] = {}, imported
            for name, part in _parts(tree.body):
                self._modules[path][0].setdefault(name, []).append(part)
        return self._modules[path]

    def _used(self, place: Function, seen: set[Function]) -> Iterator[str]:
        """Yield the text of a function, and of all classes and constants that it uses."""
        seen.add(place)
        (path, name), (defined, imported) = place, self._module(place[0])
        for part in defined.get(name, ()):
            yield part.text
            for used in sorted((part.names | {name.rpartition(".")[0]}) - {""}):
                there = (path, used) if used in defined else imported.get(used, ("", ""))
                if there not in seen and there[0].startswith("dmfroc/"):
                    parts = self._module(there[0])[0].get(there[1], ())
                    if not any(part.is_function for part in parts):
                        yield from self._used(there, seen)

    def hashes(self, functions: Iterable[Function]) -> Hashes:
        """Return a hash of each function that there is, by module and name.

        What a module makes of a function, such as a measure, counts as part of the function.
        """
        found: Hashes = {}
        for path, name in sorted(functions):
            defined, _ = self._module(path)
            if name in defined and not path.startswith(NOT_COUNTED):
                parts = [part for parts in defined.values() for part in parts]
                made = [p.text for p in parts if name in p.names and not p.is_function]
                text = "\n".join([*self._used((path, name), set()), *made])
                digest = hashlib.sha256(text.encode()).hexdigest()[:6]
                found.setdefault(path, {})[name] = digest
        return found


def now() -> Package:
    """Return the package as it is."""
    return Package(lambda path: (ROOT / path).read_text() if (ROOT / path).exists() else None)


def stamps() -> dict[str, Hashes]:
    """Return the hashes of all pages."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def stamp(page: str, functions: Iterable[Function], package: Package, older: Hashes) -> None:
    """Remember the code of a page's numbers; what is older than the package counts as it was."""
    hashes = package.hashes(functions)
    for path, names in older.items():
        hashes[path] = hashes.get(path, {}) | names
    text = json.dumps(stamps() | {page: hashes}, sort_keys=True, separators=(",", ":"))
    FILE.write_text(text.replace('},"', '},\n"') + "\n")


def changed(page: str, package: Package) -> tuple[list[Function], int]:
    """Return the functions of a page that have changed since, and how many functions it has."""
    then = stamps().get(page, {})
    functions = [(path, name) for path in then for name in then[path]]
    today = package.hashes(functions)
    different = [(p, f) for p, f in functions if today.get(p, {}).get(f) != then[p][f]]
    return different, len(functions)


def note(page: str, package: Package) -> str | None:
    """Say which functions have changed since the numbers of a page were computed, if any have."""
    different, n = changed(page, package)
    if not different:
        return None
    shown = ", ".join(f"`{name}`" for _, name in different[:5])
    more = f" and {len(different) - 5} others" if len(different) > 5 else ""
    return (
        f"Since these numbers were computed, {len(different)} of the {n} functions that the study "
        f"runs have changed: {shown}{more}."
    )
