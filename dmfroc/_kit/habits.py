"""What people who know other packages type first, and the line to type here."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from inspect import Parameter, signature
from pathlib import Path
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, ClassVar

from dmfroc._kit.text import did_you_mean, normalized

_ALIKE = 0.77  # names, as difflib's ratio
_OF_MEASURES = "dmfroc.estimate("


@cache
def table(key: str) -> dict[str, Any]:
    """Return what to type instead of each of the ``"names"`` and ``"options"`` of others."""
    import tomllib

    lines = tomllib.loads(_text("habits.toml"))[key]
    return {name: x for names, x in lines.items() for name in names.split()}


@cache
def _names() -> dict[str, str]:
    """Return what to type for each name here, without case and marks; a test renews the list."""
    return dict(line.split("\t") for line in _text("names.tsv").splitlines())


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def line_of(name: str) -> str:
    """Return what to type for a name, here or of other packages, from stored lists alone."""
    if line := table("names").get(name):
        return f": type dmfroc.{line}"
    if line := table("removed").get(name):
        return f": {line}"
    if line := _names().get(normalized(name)):
        return f": type {line}"
    hint = unclear(name)
    return f"{hint}, in {_OF_MEASURES}...)" if hint else ""


def line_near(name: str) -> str:
    """Return what to type for a name, or for the one that is most like it."""
    close = difflib.get_close_matches(normalized(name), _names(), n=1, cutoff=_ALIKE)
    return line_of(name) or (f": did you mean {_names()[close[0]]}?" if close else "")


def unclear(name: str) -> str:
    """Say what to use instead of what means several measures, or none; nothing of other names."""
    word, words = normalized(name), name.split()
    if len(words) > 1 and all(map(measure_called, words)):
        return f": write commas between measures, {','.join(words)}"
    for known, hint in table("measures").items():
        if word == normalized(known):
            return f", which is not clear: use {hint}"
    hints = (hint for pattern, hint in table("patterns").items() if re.fullmatch(pattern, word))
    return f": {hint}" if (hint := next(hints, "")) else ""


_MOST_SHOWN = 8  # arguments


def check_options(function: Callable[..., Any], given: Iterable[str], remedy: str = "") -> None:
    """Refuse what is no option of a public function, before anything is computed.

    ``remedy`` is the call to make if there are several that nobody knows.
    """
    known = [x for x in signature(function).parameters if x not in ("surplus", "others")]
    if unknown := [name for name in given if name not in known]:
        is_known = len(unknown) < 2 or not remedy or remedy_of(unknown[0], known)
        call = "" if is_known else f": {remedy}"
        raise TypeError(unknown_option(function.__name__, unknown[0], known) + call)


def unknown_option(function: str, name: str, known: Iterable[str]) -> str:
    """Say that a function has no such option, and which one may be meant."""
    hint = _hint(name, [*known]) or f"; help({function}) lists its arguments"
    return f"{function}() got an unexpected keyword argument {name!r}{hint}"


def explained(function: Callable[..., Any], package: str) -> Callable[..., Any]:
    """Return a public function of a package, or of a class, whose errors say how to call it."""

    @wraps(function)
    def public(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except TypeError:
            called: Callable[..., Any] = function
            if "cls" in signature(function).parameters:
                called, given = MethodType(function, given[0]), given[1:]
            if message := _wrong_call(called, given, named):
                raise TypeError(message) from None
            raise

    public.__module__ = package  # where pickle finds it
    shown = signature(function)
    own = [x for x in shown.parameters.values() if x.annotation != "Nothing"]
    if len(own) < len(shown.parameters):  # of functions: wrappers of methods would show cls
        vars(public)["__signature__"] = shown.replace(parameters=own)
    return public


def explain_methods(kind: type) -> None:
    """Let errors about the arguments of a class's own methods say how to call them."""
    for name, method in [*vars(kind).items()]:
        of_class = getattr(method, "__func__", None) if isinstance(method, classmethod) else None
        if of_class and not (name.startswith("_") or hasattr(of_class, "__wrapped__")):
            setattr(kind, name, classmethod(explained(of_class, kind.__module__)))


def _wrong_call(
    function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]
) -> str | None:
    """Say what is wrong if a function has no such argument, or takes fewer without a name."""
    arguments = signature(function).parameters
    kinds = {x: argument.kind for x, argument in arguments.items()}
    name, of_kind = function.__qualname__, [*kinds.values()]
    unknown = [x for x in named if x not in kinds]
    if unknown and Parameter.VAR_KEYWORD not in of_kind:
        return unknown_option(name, unknown[0], kinds)
    first = [x for x, kind in kinds.items() if kind is Parameter.POSITIONAL_OR_KEYWORD]
    shapes = dict(re.findall(r"^ *(\w+) : (.*)$", function.__doc__ or "", re.MULTILINE))
    required = [x for x in arguments if arguments[x].default is arguments[x].empty]
    of_name = [x for x in required if kinds[x] is Parameter.KEYWORD_ONLY]
    if lacking := [x for x in [*first[len(given) :], *of_name] if x in required and x not in named]:
        needs = ", and ".join(f"{x}, {shapes[x]}" if x in shapes else x for x in lacking)
        call = f"{name}({', '.join([*first, *(f'{x}=...' for x in of_name)])})"
        labels = "; hard labels alone are dmfroc.Predictions.from_labels(y_true, y_pred)"
        return f"{name}() needs {needs}: call {call}" + labels * ("y_pred" in named)
    if len(given) <= len(first) or Parameter.VAR_POSITIONAL in of_kind:
        return None
    meant = ", and ".join(f"{x} is {shapes[x]}" for x in first if x in shapes)
    others = ", ".join(f"{x}=" for x, kind in kinds.items() if kind is Parameter.KEYWORD_ONLY)
    return (
        f"{name}() takes {len(first)} argument{'s' * (len(first) > 1)} without a name, but "
        f"{len(given)} were given: call {name}({', '.join(first)})"
        + (f", where {meant}" * bool(meant) + f"; others have names: {others}" * bool(others))
    )


def _hint(name: str, known: list[str]) -> str:
    if remedy := remedy_of(name, known):
        return f": pass {remedy}"
    explained = table("explained")
    alike = [x for x in names_alike(name) if x in known]
    alike = [x for x in alike if x.rstrip("s") == name.rstrip("s")] or alike
    meant = [f"{x}=, {explained[x]}" if x in explained else f"{x}=" for x in alike]
    if meant:
        return f": pass {' or '.join(meant)}"
    if len(known) <= _MOST_SHOWN:
        return f": its arguments are {', '.join(known) or 'none'}"
    if measure := as_measure(name, known):
        return f": pass {measure}"
    return did_you_mean(name, known)


def said_of(word: str) -> str:
    """Return what to pass instead of an option of others, or of a value such as Hanley-McNeil."""
    return str(table("options").get(re.sub("[- ]", "_", word.casefold()), ""))


def remedy_of(name: str, known: Iterable[str]) -> str:
    """Return what to pass instead of an option of others, if the function takes that."""
    remedy = said_of(name)
    named = set(re.findall(r"(?:^| )(\w+)=", remedy))
    return remedy if named & {*known} or not named else ""


def measure_called(name: str) -> str:
    """Return which measure has a name, as its own or as another one; nothing if none has it."""
    line = _names().get(normalized(name), "")
    return line.split('"')[1] if line.startswith(_OF_MEASURES) else ""


def measure_near(name: str) -> str:
    """Return which measure has a name, or another one that is most like it, if any is."""
    known = [x for x, line in _names().items() if line.startswith(_OF_MEASURES)]
    close = difflib.get_close_matches(normalized(name), known, n=1, cutoff=_ALIKE)
    return measure_called(close[0]) if close else ""


def as_measure(name: str, known: Iterable[str]) -> str:
    """Return how to ask for the measure of a name, if it is one and the function takes measures."""
    option = next((x for x in known if x in ("measure", "measures")), "")
    return f"{option}={name!r}" if option and measure_called(name) else ""


def names_alike(name: str) -> list[str]:
    """Return the names that mean the same as one."""
    return [x for group in table("alike")["groups"] if name in group.split() for x in group.split()]


class Hinted:
    """An object that answers a missing attribute with where it, or a part of it, has the like."""

    _needed: ClassVar[Mapping[str, str]] = {}  # of a class of one's own, and how to write it

    if not TYPE_CHECKING:  # type checkers find missing attributes by themselves

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            kind = type(self)
            if hasattr(kind, name):  # a property that raised
                return object.__getattribute__(self, name)
            hint = self._needed.get(name) or _place_in(self, name)
            hint = hint or did_you_mean(name, dir(self))
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}{hint}")


def _place_in(whole: Any, name: str) -> str:
    places = {"": whole}
    for key, value in vars(whole).items():
        if key == "estimates":
            if name in value:
                return f": type {type(whole).__name__.lower()}[{name!r}]"
            places |= {f"[{k!r}]": x for k, x in [*value.items()][:1]}
        elif isinstance(value, tuple | list):
            places |= {f".{key}[0]": x for x in value[:1]}
        else:
            places[f".{key}"] = value
    for word in dict.fromkeys([name, *names_alike(name)]):
        for place, part in places.items():
            is_known = type(part).__module__.startswith(("dmfroc.", "matplotlib."))
            if is_known or isinstance(part, Hinted):
                of_type = getattr(type(part), word, None)
                if of_type is not None or word in getattr(part, "__dict__", ()):
                    called = re.sub("(?<=.)(?=[A-Z][a-z])", "_", type(whole).__name__).lower()
                    is_method = isinstance(of_type, FunctionType)
                    return f": type {called}{place}.{word}{'()' * is_method}"
    return line_of(name)
