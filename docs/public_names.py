"""Lists of public names for the reference, from the package itself, for the directive ``public``.

``public: analyses.comparison analyses.subgroups`` lists what these modules define of `dmfroc` and
`dmfroc.results`, ``public: measures: measures.ranking`` of `dmfroc.measures`. ``analyses.*`` stands
for all modules of a room that no list names, so that nothing is missing.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

PAGES = Path(__file__).parent / "api"
_DIRECTIVE = re.compile(r"^\.\. public:: (.*)$", re.MULTILINE)


def calls() -> list[str]:
    """Return the arguments of the directive on all pages."""
    pages = sorted(PAGES.glob("*.md"))
    return [call for page in pages for call in _DIRECTIVE.findall(page.read_text("utf-8"))]


def public_names(call: str) -> dict[str, list[str]]:
    """Return the names that a call of the directive lists, by the package that has them."""
    packages, modules = _parts(call)
    named = {x for other in calls() if _parts(other)[0] == packages for x in _parts(other)[1]}
    listed: dict[str, list[str]] = {}
    for package in packages:
        others = {name for names in listed.values() for name in names}
        listed[package] = [
            name
            for module in modules
            for name, home in _homes(package)
            if name not in others
            and fnmatch(home, module)
            and (home == module or home not in named)
        ]
    return {package: names for package, names in listed.items() if names}


def _parts(call: str) -> tuple[list[str], list[str]]:
    *package, modules = call.split(":")
    packages = [f"dmfroc.{package[0]}"] if package else ["dmfroc", "dmfroc.results"]
    return packages, modules.split()


def _homes(package: str) -> Iterator[tuple[str, str]]:
    """Yield what is public with the module that defines it."""
    module = importlib.import_module(package)
    names = module.FACTORIES if package == "dmfroc.measures" else module.__all__
    for name in names:
        if home := getattr(inspect.unwrap(getattr(module, name)), "__module__", None):  # no module
            yield name, home.removeprefix("dmfroc.")


def lines_of(call: str, folder: str = "generated") -> list[str]:
    """Return the lists as reStructuredText."""
    lines = []
    for package, names in public_names(call).items():
        lines += [f".. currentmodule:: {package}", "", ".. autosummary::"]
        lines += [f"   :toctree: {folder}", "   :nosignatures:", ""]
        lines += [*(f"   {name}" for name in names), ""]
    return lines


def write_all(path: Path) -> None:
    """Write all lists into one file, where autosummary finds what to make pages of."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [line for call in calls() for line in lines_of(call, "../api/generated")]
    path.write_text("\n".join(lines), encoding="utf-8")
