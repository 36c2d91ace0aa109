"""The applications that commands call, found by name: nothing here imports one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

# By kind of chart
DISPLAYS = {"decision": "DecisionDisplay", "risk-coverage": "RiskCoverageDisplay"}


def application(name: str) -> Any:
    """Return a public function of the applications, or what reads the rules of a gate."""
    if name == "read_rules":
        return import_module("dmfroc.applications.gate_rules").read_rules
    return getattr(import_module("dmfroc.applications"), name)


def rehearsed(analysis: Callable[..., Any], n_samples: int | None) -> Callable[..., Any]:
    """Return an analysis, or what rehearses it with so many samples."""
    if n_samples is None:
        return analysis
    return partial(application("rehearse"), analysis, n_samples=n_samples)
