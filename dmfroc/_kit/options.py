"""Checks of options, once and at the boundary: each error names the option and what it was."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterable
from decimal import Decimal
from importlib import import_module
from itertools import filterfalse
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np
from numpy.typing import NDArray

from dmfroc._kit.habits import said_of
from dmfroc._kit.text import did_you_mean

if TYPE_CHECKING:
    import jax

type RandomState = Union[int, np.random.Generator, "jax.Array", None]  # noqa: UP007
"""A seed, a generator, or a key of `jax.random`, which need not be imported."""

_LARGEST_SIZE = int(np.iinfo(np.int64).max)  # of an array


def refuse(what: str, obstacle: str | None) -> None:
    """Raise an error if there is an obstacle, which completes a sentence that begins with what."""
    if obstacle is not None:
        raise ValueError(f"{what} {obstacle}")


def _wrong_type(name: str, what: str, value: Any) -> TypeError:
    return TypeError(f"{name} must be {what}, but it is {found(value)}")


def number(name: str, value: Any) -> float:
    """Return a real number of any kind as a float; NaN and infinity are for the caller to judge."""
    scalar = _scalar(name, value)
    if isinstance(scalar, bool | np.bool) or not isinstance(scalar, Real | Decimal):
        raise _wrong_type(name, "a number", value)
    try:
        return float(scalar)
    except OverflowError:
        raise ValueError(f"{name} must be a number that a float can hold, not {value}") from None


def _inside(name: str, value: Any, is_inside: Callable[[float], bool], what: str) -> float:
    checked = number(name, value)
    if not is_inside(checked):
        raise ValueError(f"{name} must be {what}, but it is {value!r}")
    return checked


def positive(name: str, value: Any) -> float:
    """Return a real number of any kind that is above zero and finite."""
    return _inside(name, value, lambda x: 0 < x < np.inf, "positive and finite")


def proportion(name: str, value: Any, interval: Literal["(0, 1)", "(0, 1]", "[0, 1]"]) -> float:
    """Return a real number of any kind in an interval with open or closed ends."""
    ends = [end for end, bracket in ((0, interval[0]), (1, interval[-1])) if bracket in "[]"]
    is_percent = isinstance(value, Real) and 2 <= _scalar(name, value) < 100
    hint = f", such as {float(value) / 100:g}" if is_percent else ""
    return _inside(name, value, lambda x: 0 < x < 1 or x in ends, f"in {interval}{hint}")


def nonnegative(name: str, value: Any) -> float:
    """Return a real number of any kind that is finite and not below zero."""
    return _inside(name, value, lambda x: 0 <= x < np.inf, "a finite number >= 0")


def integer(name: str, value: Any, least: int, most: int = _LARGEST_SIZE) -> int:
    """Return an integer of any kind from ``least`` to ``most``."""
    scalar = _scalar(name, value)
    if isinstance(scalar, bool | np.bool) or not isinstance(scalar, Integral):
        raise _wrong_type(name, f"an integer >= {least}", value)
    if scalar < least:
        raise ValueError(f"{name} must be an integer >= {least}, but it is {scalar}")
    whole = int(scalar)
    if whole > most:
        raise ValueError(f"{name} must be an integer from {least} to {most}, but it is larger")
    return whole


def listed(name: str, values: Any, least: int = 1) -> list[Any]:
    """Return several values as a list with at least so many of them."""
    is_single = isinstance(values, str | bytes) or getattr(values, "ndim", 1) == 0
    if is_single or not isinstance(values, Iterable):
        raise _wrong_type(name, "a list", values)
    items = list(values)
    if len(items) < least:
        enough = "one value" if least == 1 else f"{least} values"
        found_here = f"holds {len(items)}" if items else "is empty"
        raise ValueError(f"{name} must hold at least {enough}, but it {found_here}")
    return items


def instance[T](name: str, value: Any, kind: type[T]) -> T:
    """Return what must be an object of a class."""
    if not isinstance(value, kind):
        raise _wrong_type(name, f"of type {kind.__name__}", value)
    return value


def function_of[**P, R](
    name: str, value: Callable[P, R], parameters: str, *arguments: Any
) -> Callable[P, R]:
    """Return a function that can be called with such arguments."""
    if not callable(value):
        raise _wrong_type(name, f"a function {parameters}", value)
    try:
        inspect.signature(value).bind(*arguments)
    except TypeError as error:
        raise TypeError(f"{name} must be a function {parameters}: {error}") from error
    except ValueError:  # functions of C may have no signature
        pass
    return value


def column_names(name: str, values: Any, least: int = 1) -> list[str]:
    """Return the names of columns: of one, or of several in a list."""
    names = [values] if isinstance(values, str) else listed(name, values, least)
    return [instance(f"each of {name}", value, str) for value in names]


def is_one_of(value: Any, choices: Collection[str]) -> bool:
    """Whether a value is one of several words; what is no word may not compare at all."""
    return isinstance(value, str) and value in choices


def choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return one of several words."""
    if not is_one_of(value, choices):
        word = str(value).casefold()
        remedy = None if word in choices else said_of(word)
        hint = f": pass {remedy}" if remedy else did_you_mean(word, choices)
        raise ValueError(f"{name} must be one of {choices}, but it is {value!r}{hint}")
    return str(value)


def flag(name: str, value: Any) -> bool:
    """Return True or False."""
    scalar = _scalar(name, value)
    if not isinstance(scalar, bool | np.bool):
        raise _wrong_type(name, "True or False", value)
    return bool(scalar)


def is_traced(values: Any) -> bool:
    """Whether JAX traces a value, or the first of a list."""
    jax = sys.modules.get("jax")  # who has a tracer has imported it
    first = values[0] if isinstance(values, list | tuple) and values else values
    return jax is not None and isinstance(first, jax.core.Tracer)


def traced(what: str) -> TypeError:
    """Return the error about a value that JAX traces: which function takes such values."""
    frames, frame = [sys._getframe(1)], sys._getframe(1)
    while frame.f_back and (room := str(frame.f_back.f_globals.get("__name__"))).startswith(
        "dmfroc."
    ):
        frame = frame.f_back
        frames += [frame] * (room != "dmfroc._kit.habits")  # which calls public functions
    names = [frame.f_code.co_name.removesuffix("_score") for frame in frames[-2:]]
    measure = frames[-1].f_locals.get("measure", frames[-1].f_locals.get("self"))
    names.append(str(getattr(measure, "name", measure)))
    known = import_module("dmfroc.functional").__all__
    name = next((x for x in reversed(names) if x in known), "hand_till")
    such_as = "" if name in names else ", for example"
    return TypeError(
        f"{what} is traced by JAX: inside jax.jit, jax.vmap, jax.grad and jax.lax.map "
        f"call{such_as} dmfroc.functional.{name}, or call this function outside of them"
    )


def numbers(name: str, values: Any) -> NDArray[np.float64]:
    """Return an array of real numbers, of whatever shape."""
    if is_traced(values):
        raise traced(name)
    try:
        masked = np.ma.asarray(values)  # lists may hold masked values, too
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"{name} must be an array of numbers, not ragged lists") from error
    array = np.asarray(unmasked(name, masked))
    if array.dtype.kind == "O":
        items = [number(f"each value of {name}", item) for item in array.ravel().tolist()]
        return np.array(items, np.float64).reshape(array.shape)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, but it holds {held(array)}")
    return array.astype(np.float64)


def held(array: NDArray[Any]) -> str:
    """Say what an array holds that is no number."""
    if array.dtype.kind not in "US":
        return f"{array.dtype} values"
    texts = [str(x) for x in array.flat]
    return f"text values, such as {next(filterfalse(is_number, texts), ''.join(texts[:1]))!r}"


def is_number(item: Any) -> bool:
    """Whether a text, or anything else, reads as a number."""
    try:
        float(item)
    except (TypeError, ValueError):
        return False
    return True


def unmasked[T](name: str, values: T) -> T:
    """Return values, and refuse masked ones: most libraries use what is behind the mask."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name} has masked values: fill them, or drop their rows")
    return values


def _scalar(name: str, value: Any) -> Any:
    if is_traced(value):
        raise traced(name)
    if getattr(value, "ndim", None) != 0 or np.ma.is_masked(value):
        return value
    return value.item()


def found(value: Any) -> str:
    """Say what a value is, if it is short, and name its type."""
    text = repr(value)
    kind = type(value).__name__
    return f"of type {kind}" if len(text) > 60 or "\n" in text else f"{text}, of type {kind}"


def generator_of(random_state: Any) -> np.random.Generator:
    """Return the generator of a seed or of a key of `jax.random`, or a generator as it is."""
    words = _words_of_key(random_state)
    try:
        return np.random.default_rng(words)
    except (TypeError, ValueError) as error:
        raise type(error)(
            "random_state must be an integer >= 0, a numpy.random.Generator, a key of jax.random "
            f"or None, but it is {found(random_state)}"
        ) from error


def _words_of_key(random_state: Any) -> Any:
    """Return the integers of a key of `jax.random`, and anything else as it is."""
    jax = sys.modules.get("jax")  # who has a key has imported it
    if jax is None or not isinstance(random_state, jax.Array):
        return random_state
    if is_traced(random_state):
        raise traced("random_state")
    if jax.dtypes.issubdtype(random_state.dtype, jax.dtypes.prng_key):
        random_state = jax.random.key_data(random_state)
    return np.asarray(random_state)


def seed_of(random_state: Any) -> int:
    """Return the seed of the random streams."""
    if isinstance(random_state, Integral):
        return integer("random_state", random_state, 0)
    return int(generator_of(random_state).integers(2**31))


_LEAST_LEVEL = 0.2  # nobody asks for less, but for error probabilities


def check_level(level: Any) -> float:
    """Return the nominal coverage of intervals; refuse one outside (0, 1)."""
    checked = _inside("level", level, lambda x: 0 < x < 1, "between 0 and 1, such as 0.95")
    if checked <= _LEAST_LEVEL:
        raise ValueError(
            f"level={level!r} is the coverage of an interval, not its error probability: pass "
            f"level={1 - checked:g}"
        )
    return checked
