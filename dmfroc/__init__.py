"""Multiclass ROC curves, AUCs and honest intervals by deviance matrix factorization."""

from __future__ import annotations

from typing import Any

from dmfroc._kit.stub import names_of_stub

# Every public name, and where it lives, is listed in `__init__.pyi`. It is imported when it is
# first used, so that `import dmfroc` does not wait for JAX.
_get, __dir__, __all__ = names_of_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("dmfroc")
    return _get(name)
