"""The applications that commands call, found by name: nothing here imports one."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def application(name: str) -> Any:
    """Return a public function of the applications, or what reads the rules of a gate."""
    if name == "read_rules":
        return import_module("dmfroc.applications.gate_rules").read_rules
    return getattr(import_module("dmfroc.applications"), name)
