"""The measures by name. A measure is made by a function of its options, which registers it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args, get_origin

import numpy as np

from dmfroc.measures.measure import Measure

FACTORIES: dict[str, Callable[..., Measure]] = {}
"""The functions that make measures, by name."""

MEASURES: dict[str, Measure] = {}
"""All built-in measures by name."""

MODULES: dict[str, str] = {}
"""The module that defines each of them."""


def register[**P](
    *variants: Mapping[str, Any],
) -> Callable[[Callable[P, Measure]], Callable[P, Measure]]:
    """Register a function that makes a measure, under its name, by its default options.

    Options that are given and are not the default become part of the measure's name and title:
    measures with different options are different measures. ``variants`` are the options under
    which it is registered, by default the default ones.
    """

    def decorate(function: Callable[P, Measure]) -> Callable[P, Measure]:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def make(*args: P.args, **kwargs: P.kwargs) -> Measure:
            given = signature.bind(*args, **kwargs)
            given.apply_defaults()
            # A number is the same option whether Python's or NumPy's
            given.arguments.update(
                {k: x.item() for k, x in given.arguments.items() if isinstance(x, np.generic)}
            )
            other = {
                name: value
                for name, value in given.arguments.items()
                if not _is_same(value, signature.parameters[name].default)
            }
            _check_choices(function, other)
            options = dict(given.arguments)
            measure = function(**options)  # type: ignore[call-arg]
            if measure.name != function.__name__ or not other:  # it has named itself
                return replace(measure, options=options)
            name, title = _with_options(measure.name, measure.title, other)
            return replace(measure, name=name, title=title, options=options)

        FACTORIES[function.__name__] = make
        for options in variants or ({},):
            measure = make(**options)  # type: ignore[call-arg]
            if measure.name in MEASURES:
                raise ValueError(f"there are two measures {measure.name!r}")
            MEASURES[measure.name] = measure
            MODULES[measure.name] = function.__module__
        return make

    return decorate


def _check_choices(function: Callable[..., Measure], options: Mapping[str, Any]) -> None:
    """Refuse a word that is none of those that the function's signature names."""
    if not options:
        return
    parameters = inspect.signature(function, eval_str=True).parameters
    for name, value in options.items():
        choices = get_args(parameters[name].annotation)
        is_word = get_origin(parameters[name].annotation) is Literal
        if is_word and not (isinstance(value, str) and value in choices):
            raise ValueError(f"{name} must be one of {choices}, but it is {value!r}")


def _is_same(value: Any, default: Any) -> bool:
    is_plain = isinstance(value, str | int | float)
    return value is default or bool(is_plain and value == default)


def _with_options(name: str, title: str, options: Mapping[str, Any]) -> tuple[str, str]:
    """Put options that are not the default into a measure's name and title."""
    words = [value for value in options.values() if isinstance(value, str)]
    others = [
        f"{option}={value!r}" if isinstance(value, int | float) else f"{option}=..."
        for option, value in options.items()
        if not isinstance(value, str)
    ]
    in_parentheses = f"({', '.join(others)})" if others else ""
    described = ", ".join([*words, *others])
    return "_".join([name, *words]) + in_parentheses, f"{title} ({described})"
