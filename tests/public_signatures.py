"""Print all that `docs/stability.md` calls stable, a name a line.

There are names with their options and defaults, members of classes, commands with their options and
exit codes, and fields of JSON. After a change that is wanted, renew the stored file from the root
of the repository:

    python tests/public_signatures.py > tests/public_signatures.txt
"""

import contextlib
import importlib
import inspect
import io
import json
import typing
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType

import click
import numpy as np
from every_number import example, public
from option_names import option_names

import dmfroc
from dmfroc.applications.gates import EXIT_CODES
from dmfroc.cli import app
from dmfroc.cli.commands import app as command
from dmfroc.results.result import Result

ROOMS = (
    "",
    ".applications",
    ".bayes",
    ".counted",
    ".curves",
    ".functional",
    ".measures",
    ".papers",
)
ROOMS += (".plots", ".results")
FILE = Path(__file__).with_suffix(".txt")
ANALYSES = [
    *("calibration_tests", "compare", "compare_runs", "compare_subgroups", "evaluate", "gate"),
    *("items", "multilabel", "multiclass_roc", "nested_cross_validation", "plan", "pool"),
]
RNG = np.random.default_rng(0)
CLASS = np.arange(60) % 3
SCORES = RNG.normal(size=(60, 3)) + np.eye(3)[CLASS]


def default_of(parameter: inspect.Parameter) -> str:
    """Return a plain default as it is, and the kind of any other."""
    value = parameter.default
    if value is parameter.empty:
        return ""
    if isinstance(value, str | int | float | None) or value == ():
        return f"={value!r}"
    return f"={getattr(value, '__name__', type(value).__name__).removeprefix('_')}"


def parameters_of(function: typing.Any) -> str:
    """Return names and defaults of parameters; the keys of a typed dict stand for it."""
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # of built-in functions
        return "(...)"
    words = []
    for name in option_names(function):
        parameter = parameters.get(name)
        if parameter is None:
            words.append(f"{name}?")
        elif name not in ("self", "cls"):
            if parameter.kind is parameter.KEYWORD_ONLY and "*" not in "".join(words):
                words.append("*")
            stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
            words.append(f"{stars.get(parameter.kind, '')}{name}{default_of(parameter)}")
    return f"({', '.join(words)})"


def members_of(name: str, kind: type) -> Iterator[str]:
    """Yield what a class itself has that is public."""
    for member in {**inspect.get_annotations(kind), **vars(kind)}:
        value = vars(kind).get(member)
        function = getattr(value, "__func__", value)
        if not member.startswith("_"):
            is_function = isinstance(function, FunctionType)
            yield f"{name}.{member}{parameters_of(function) if is_function else ''}"


def class_lines(name: str, kind: type) -> Iterator[str]:
    """Yield a class with its members, after those of the classes of the package that it extends."""
    bases = [x for x in kind.__mro__[1:] if x.__module__.startswith("dmfroc")]
    for base in bases:
        yield from members_of(f"base {base.__name__}", base)
    made = "" if issubclass(kind, Result) else parameters_of(kind)  # functions make results
    yield f"{name}{made}" + "".join(f" < {x.__name__}" for x in bases)
    yield from members_of(name, kind)


def names() -> Iterator[str]:
    """Yield what is public in the package and its rooms, each at its first place."""
    seen = set()
    for room in ROOMS:
        module = importlib.import_module(f"dmfroc{room}")
        for name in sorted(set(getattr(module, "__all__", dir(module))) - {"FACTORIES"}):
            value = getattr(module, name)
            if name.startswith("_") or isinstance(value, ModuleType) or id(value) in seen:
                continue
            seen.add(id(value))
            full = f"{module.__name__}.{name}"
            if inspect.isclass(value):
                yield from class_lines(full, value)
            else:
                yield full + (parameters_of(value) if callable(value) else "")


def commands() -> Iterator[str]:
    """Yield each command, each option with its commands, and the exit codes."""
    of_option: dict[str, list[str]] = {}
    for name, found in command.commands.items():
        arguments = [x.human_readable_name for x in found.params if isinstance(x, click.Argument)]
        yield " ".join(["$ dmfroc", name, *arguments])
        for option in found.params:
            if isinstance(option, click.Option):
                written = "/".join([*option.opts, *option.secondary_opts])
                choices = "|".join(getattr(option.type, "choices", ()))
                of_option.setdefault(f"{written} {choices}".strip(), []).append(name)
    yield from (f"{option}: {' '.join(names)}" for option, names in of_option.items())
    codes = {x: code for x, code in vars(app).items() if x.isupper() and isinstance(code, int)}
    codes |= {f"_GATE_{verdict}": code for verdict, code in EXIT_CODES.items()}
    yield from (f"exit code {code}:{x.lower().replace('_', ' ')}" for x, code in codes.items())


def fields_of(tree: object, path: str) -> Iterator[str]:
    """Yield the paths in JSON; an entry of a list stands for all."""
    if isinstance(tree, dict):
        for name, branch in tree.items():
            yield f"{path}.{name}"
            yield from fields_of(branch, f"{path}.{name}")
    elif isinstance(tree, list):
        for branch in tree:
            yield from fields_of(branch, f"{path}[]")


def json_fields() -> Iterator[str]:
    """Yield the fields of JSON of the examples of analyses, and of what commands add."""
    results = [x for name in ANALYSES for x in example(public(name))]
    results = [x for x in results if isinstance(x, Result)]
    for result in [*results, dmfroc.estimate("hand_till", CLASS, SCORES)]:
        yield from fields_of(json.loads(result.to_json()), f"json {type(result).__name__}")


def lines() -> list[str]:
    """Return all lines."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        found = [*names(), *commands(), *json_fields()]
    return sorted(set(found))


if __name__ == "__main__":
    print("\n".join(lines()))
