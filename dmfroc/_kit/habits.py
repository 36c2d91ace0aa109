"""What people who know other packages type first, and the line to type here."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dmfroc._kit.text import did_you_mean


@cache
def table(key: str) -> dict[str, Any]:
    """Return what to type instead of each of the ``"names"`` and ``"options"`` of others."""
    import tomllib
    from importlib.resources import files

    text = files("dmfroc._kit").joinpath("habits.toml").read_text(encoding="utf-8")
    return {name: x for names, x in tomllib.loads(text)[key].items() for name in names.split()}


_MOST_SHOWN = 8  # arguments


def unknown_option(function: str, name: str, known: Iterable[str]) -> str:
    """Say that a function has no such option, and which one may be meant."""
    hint = _hint(name, [*known]) or f"; help({function}) lists its arguments"
    return f"{function}() got an unexpected keyword argument {name!r}{hint}"


def _hint(name: str, known: list[str]) -> str:
    remedy, explained = table("options").get(name, ""), table("explained")
    named = set(re.findall(r"(?:^| )(\w+)=", remedy))
    if named & {*known} or (remedy and not named):
        return f": pass {remedy}"
    alike = [x for x in names_alike(name) if x in known]
    meant = [f"{x}=, {explained[x]}" if x in explained else f"{x}=" for x in alike]
    if meant:
        return f": pass {' or '.join(meant)}"
    if len(known) <= _MOST_SHOWN:
        return f": its arguments are {', '.join(known) or 'none'}"
    of_measures = [x for x in ("measure", "measures") if x in known]
    if of_measures and import_module("dmfroc.analyses.catalogue").line_of_measure(name):
        return f": pass {of_measures[0]}={name!r}"
    return did_you_mean(name, known)


def names_alike(name: str) -> list[str]:
    """Return the names that mean the same as one."""
    return [x for group in table("alike")["groups"] if name in group.split() for x in group.split()]


class Hinted:
    """An object that answers a missing attribute with where it, or a part of it, has the like."""

    if not TYPE_CHECKING:  # type checkers find missing attributes by themselves

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            kind = type(self)
            if hasattr(kind, name):  # a property that raised
                return object.__getattribute__(self, name)
            hint = _place_in(self, name) or did_you_mean(name, dir(self))
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}{hint}")


def _place_in(whole: Any, name: str) -> str:
    places = {"": whole}
    for key, value in vars(whole).items():
        if key == "estimates":
            if name in value:
                return f": type [{name!r}]"
            places |= {f"[{k!r}]": x for k, x in [*value.items()][:1]}
        elif isinstance(value, tuple | list):
            places |= {f".{key}[0]": x for x in value[:1]}
        else:
            places[f".{key}"] = value
    for word in dict.fromkeys([name, *names_alike(name)]):
        for place, part in places.items():
            if type(part).__module__.startswith(("dmfroc.", "matplotlib.")):
                of_type = getattr(type(part), word, None)
                if of_type is not None or word in getattr(part, "__dict__", ()):
                    return f": type {place}.{word}{'()' * isinstance(of_type, FunctionType)}"
    if name in table("names"):
        return f": type dmfroc.{table('names')[name]}"
    return import_module("dmfroc.analyses.catalogue").line_of_measure(name)


def answering[T](public: T) -> T:
    """Return a public function, or class, that explains the arguments that it cannot take.

    Methods of a class, its own and inherited ones, are replaced in the class.
    """
    if isinstance(public, type):
        for kind in public.__mro__:
            for name, method in [*vars(kind).items()] if _is_own(kind) else ():
                if name == "__init__" or not name.startswith("_"):
                    _replace(kind, name, method)
        return public
    if not isinstance(public, FunctionType) or not _is_own(public) or "answered" in vars(public):
        return public
    function: Callable[..., Any] = public

    @functools.wraps(function)
    def answered(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError:
            misuse = _misuse(function, args, options)
            if misuse is None:
                raise
        raise TypeError(misuse)

    vars(function)["answered"] = vars(answered)["answered"] = answered
    if "." not in function.__qualname__:  # where pickle finds it, beside the function itself
        answered.__qualname__ += ".answered"
    return answered  # type: ignore[return-value]


def _is_own(public: Any) -> bool:
    return str(public.__module__).startswith("dmfroc.")


def _replace(kind: type, name: str, method: Any) -> None:
    if isinstance(method, classmethod | staticmethod):
        setattr(kind, name, type(method)(answering(method.__func__)))
    elif isinstance(method, FunctionType):
        setattr(kind, name, answering(method))


def _misuse(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> str | None:
    """Return what is wrong with the arguments of a call, and the call to make; None if nothing."""
    import inspect

    signature = inspect.signature(function)
    try:
        signature.bind(*args, **options)
    except TypeError as error:
        problem = str(error)
    else:
        return None
    parameters = {k: x for k, x in signature.parameters.items() if k not in ("self", "cls")}
    name, owner = function.__name__, None
    if len(parameters) < len(signature.parameters) and args:
        owner = args[0] if isinstance(args[0], type) else type(args[0])
        name = owner.__name__ if name == "__init__" else f"{owner.__name__}.{name}"
    unknown = [x for x in options if x not in parameters]
    remedy = getattr(function, "remedy", "")
    if unknown:
        answer = unknown_option(name, unknown[0], parameters)
        return f"{answer}: {remedy}" if remedy and len(unknown) > 1 else answer
    if not remedy:
        by_name = inspect.Parameter.KEYWORD_ONLY
        words = [f"{k}=" if x.kind is by_name else k for k, x in parameters.items()]
        words[_MOST_SHOWN:] = ["..."] * (len(words) > _MOST_SHOWN)
        remedy = f"call {name}({', '.join(words)})"
        if signature.return_annotation == "Measure":
            remedy = f"it makes a measure, call estimate({name}(), y_true, y_score)"
        if function.__name__ == "__init__":
            makers = [x for x in dir(owner) if x.startswith("from_")]
            remedy = " or ".join([remedy, *(f"{name}.{x}()" for x in makers)])
    return f"{name}(): {problem}: {remedy}"
