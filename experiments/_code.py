"""What code the numbers of a page come from, and what of it has changed since.

Beside the results, `code.json` has for each page a hash of every module of the package on which
numbers rest, as it was when they were computed. Comments, docstrings and layout do not count.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "experiments" / "results" / "code.json"
ROOMS = ("measures", "multiclass", "inference", "bayes", "papers")  # what numbers rest on

Hashes = dict[str, str]


def hashes_of(paths: Iterable[str], read: Callable[[str], str]) -> Hashes:
    """Return a hash of what each module of the rooms does, by its path."""
    found = {}
    for path in sorted(paths):
        parts = path.split("/")
        if parts[0] == "dmfroc" and len(parts) > 2 and parts[1] in ROOMS and path.endswith(".py"):
            tree = ast.parse(read(path))
            for node in ast.walk(tree):
                match node:
                    case ast.Expr(ast.Constant(str())):  # a docstring
                        node.value.value = ""
            found[path] = hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:8]
    return found


def hashes_now() -> Hashes:
    """Return the hashes of the package as it is."""
    paths = (path.relative_to(ROOT).as_posix() for path in (ROOT / "dmfroc").rglob("*.py"))
    return hashes_of(paths, lambda path: (ROOT / path).read_text(encoding="utf-8"))


def stamps() -> dict[str, Hashes]:
    """Return the hashes of all pages."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def stamp(page: str) -> None:
    """Remember that the numbers of a page come from the code as it is."""
    all_pages = stamps() | {page: hashes_now()}
    FILE.write_text(json.dumps(all_pages, sort_keys=True, separators=(",", ":\n")) + "\n")


def note(page: str, now: Hashes | None = None) -> str | None:
    """Say which modules have changed since the numbers of a page were computed, if any have."""
    then, now = stamps().get(page), hashes_now() if now is None else now
    if then is None:
        return None
    changed = [path for path in then if now.get(path) != then[path]]
    if not changed:
        return None
    shown = ", ".join(f"`{path}`" for path in changed[:5])
    more = f" and {len(changed) - 5} others" if len(changed) > 5 else ""
    return (
        f"Since these numbers were computed, the code of {len(changed)} of the {len(then)} modules "
        f"of measures, fits and intervals has changed: {shown}{more}."
    )
