"""Curves as data: exact points, areas, hulls and isometrics, with NumPy alone.

Every function of classes and scores returns one curve: that of the second of two classes, or of
the class ``pos_label``, against the rest. With ``multi_class="ovr"`` it returns a dictionary with a
curve of each class against the rest, with ``"ovo"`` of each ordered pair of classes.
"""

from importlib import import_module
from typing import Any

import lazy_loader

# The stub `__init__.pyi` lists the public names and where each one lives.
_from_stub, _names, __all__ = lazy_loader.attach_stub(__name__, __file__)

# What has bands rests on inference, a room above: it is imported when it is needed.
_ABOVE = {
    "DecisionCurve": "dmfroc.analyses.decision_curve",
    "decision_curve": "dmfroc.analyses.decision_curve",
}
__all__ = sorted([*__all__, *_ABOVE])


def __getattr__(name: str) -> Any:
    if name in _ABOVE:
        return getattr(import_module(_ABOVE[name]), name)
    return _from_stub(name)


def __dir__() -> list[str]:
    return sorted([*_names(), *_ABOVE])
