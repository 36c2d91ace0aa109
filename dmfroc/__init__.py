"""Multiclass ROC curves, AUCs and honest intervals by deviance matrix factorization."""

from __future__ import annotations

from typing import Any

import lazy_loader

from dmfroc._kit.global_state import undisturbed

# Every public name, and where it lives, is listed in `__init__.pyi`. It is imported when it is
# first used, so that `import dmfroc` does not wait for JAX.
_get, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("dmfroc")
    with undisturbed():
        return _get(name)
