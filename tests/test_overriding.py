"""What has a body in one class has no other in a class below it, and kinds are not asked for."""

import ast
import importlib
import inspect
import pkgutil
from functools import cached_property
from pathlib import Path

import dmfroc
from dmfroc.analyses.evidence import Evidence
from dmfroc.counted.sources import SourcePart
from dmfroc.inference.method import IntervalMethod
from dmfroc.inference.units import EstimatedWeights

# What a result says besides its tables; by default nothing, or what follows from other members
WORDS = {
    *("attributes", "design", "foot", "head", "printed_tables", "question_text", "verdict_text")
}


def classes_of(room):
    package = importlib.import_module(f"dmfroc.{room}")
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        for x in vars(importlib.import_module(found.name)).values():
            if inspect.isclass(x) and x.__module__ == found.name:
                yield x


def has_body(member):
    is_code = isinstance(member, (property, cached_property, classmethod, staticmethod))
    return (is_code or inspect.isfunction(member)) and not getattr(
        member, "__isabstractmethod__", False
    )


def test_no_member_with_a_body_is_overridden():
    found = [
        f"{kind.__name__}.{name} overrides that of {base.__name__}"
        for room in ("inference", "analyses", "counted")
        for kind in classes_of(room)
        for name, member in vars(kind).items()
        if has_body(member) and name not in WORDS and not name.startswith("__")
        for base in kind.__mro__[1:]
        if base.__module__.startswith(dmfroc.__name__) and has_body(vars(base).get(name))
    ]
    assert found == []


def test_analyses_ask_at_most_four_times_for_kinds_of_sources_methods_or_weights():
    bases = (Evidence, IntervalMethod, SourcePart, EstimatedWeights)
    rooms = ("inference", "analyses", "counted", "bayes")
    kinds = {x.__name__ for room in rooms for x in classes_of(room) if issubclass(x, bases)}
    kinds |= {"CensoringWeights", "Importance", "Scan"}
    assert len(kinds) > 10
    asked = [
        f"{path.name}:{node.lineno}"
        for path in Path(dmfroc.__file__).parent.joinpath("analyses").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance"
        if kinds & {x.id for x in ast.walk(node.args[1]) if isinstance(x, ast.Name)}
    ]
    assert len(asked) <= 4, asked
