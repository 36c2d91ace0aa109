"""The applications that commands call, found by name: nothing here imports one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# What a command needs, and the function that has it
_FUNCTIONS = {
    "calibration": "calibration:calibration_tests",
    "gate": "gates:gate",
    "items": "item_scores:items",
    "leaderboard": "leaderboards:leaderboard",
    "plan": "planning:plan",
    "pool": "pooling:pool",
    "receipt": "sites:write_receipt",
    "rules": "gate_rules:read_rules",
    "threshold": "thresholds:choose_threshold",
}


def application(name: str) -> Any:
    """Return the function of an application."""
    module, function = _FUNCTIONS[name].split(":")
    return getattr(import_module(f"dmfroc.applications.{module}"), function)
