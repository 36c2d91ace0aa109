"""The measures by name. A measure is made by a function of its options, which registers it."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args, get_origin

import numpy as np

from dmfroc._kit.options import choice
from dmfroc.measures.bound import Summary
from dmfroc.measures.measure import Measure

FACTORIES: dict[str, Callable[..., Measure]] = {}
"""The functions that make measures, by name."""

MEASURES: dict[str, Measure] = {}
"""All built-in measures by name."""

MODULES: dict[str, str] = {}
"""The module that defines each of them."""

SYNONYMS: dict[str, str] = {}
"""Other names of measures, with commas between them, by the name of the measure."""

_UNNAMED = "unnamed"  # until it is registered


def family(heading: str, **shared: Any) -> Callable[..., Measure]:
    """Return what makes the measures of a family, from a title, a statistic and a summary.

    They have the ``shared`` attributes, and the name of the function that returns them.
    """

    def make(title: str, statistic: Any, summary: Summary, **attributes: Any) -> Measure:
        given = {"name": _UNNAMED, "family": heading, **shared, **attributes}
        return Measure(title=title, statistic=statistic, summary=summary, **given)

    return make


def register[**P](
    *variants: Mapping[str, Any],
) -> Callable[[Callable[P, Measure]], Callable[P, Measure]]:
    """Register a function that makes a measure, under its name, by its default options.

    Options that are given and are not the default become part of the measure's name and title:
    measures with different options are different measures. ``variants`` are the options under
    which it is registered, by default the default ones.
    """

    def decorate(function: Callable[P, Measure]) -> Callable[P, Measure]:
        signature = inspect.signature(function, eval_str=True)
        parameters = signature.parameters

        @functools.wraps(function)
        def make(*args: P.args, **kwargs: P.kwargs) -> Measure:
            try:
                given = signature.bind(*args, **kwargs)
            except TypeError as error:
                called = f"{function.__name__}({', '.join(f'{x}=...' for x in parameters)})"
                raise TypeError(
                    f"{function.__name__}(): {error}: call estimate({called}, y_true, y_score)"
                ) from None
            given.apply_defaults()
            arguments = given.arguments.items()
            # A number is the same option whether Python's or NumPy's
            options = {k: x.item() if isinstance(x, np.generic) else x for k, x in arguments}
            other = {k: x for k, x in options.items() if not _is_same(x, parameters[k].default)}
            for k, x in other.items():
                if get_origin(annotation := parameters[k].annotation) is Literal:
                    choice(k, x, get_args(annotation))
            measure = function(**options)  # type: ignore[call-arg]
            name, title = measure.name, measure.title
            if name == _UNNAMED:
                name = function.__name__
            if other and name == function.__name__:  # it has not named itself
                name, title = _with_options(name, title, other)
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


def also_called[F: Callable[..., Any]](names: str, of: str | None = None) -> Callable[[F], F]:
    """Return the decorator that enters other names of a measure, with commas between them.

    Each means the same number for any classes. They are those of the measure that is named as the
    function, or of its variant named ``of``.
    """

    def decorate(function: F) -> F:
        SYNONYMS[of or function.__name__] = names
        return function

    return decorate


def _is_shown(value: Any) -> bool:
    """Whether an option is a number, or a list of labels."""
    items = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(x, int | float | str) for x in items)


def _is_same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str | int | float) and value == default)


def _with_options(name: str, title: str, options: Mapping[str, Any]) -> tuple[str, str]:
    """Put options that are not the default into a measure's name and title."""
    words = [value for value in options.values() if isinstance(value, str)]
    others = {
        option: f"{option}={value!r}" if _is_shown(value) else f"{option}=..."
        for option, value in options.items()
        if not isinstance(value, str)
    }
    in_parentheses = f"({', '.join(others.values())})" if others else ""
    stated = re.split(r"[\s,-]", title)
    described = ", ".join(
        [*words, *(x for k, x in others.items() if f"{options[k]}" not in stated)]
    )
    called = "_".join([name, *words]) + in_parentheses
    return called, f"{title} ({described})" if described else title
