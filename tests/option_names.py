"""The names of all options of a function, those of a typed dict in its signature included."""

import inspect
import typing


def option_names(function):
    """Return the names of the parameters in order; a typed dict stands for its keys."""
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD and "Unpack" in str(parameter.annotation):
            hints = typing.get_type_hints(getattr(function, "func", function))  # of a partial
            [typed_dict] = typing.get_args(hints[name])
            found += typed_dict.__annotations__
        elif parameter.annotation != "Nothing":
            found.append(name)
    return found
