"""The version of the package."""

from __future__ import annotations

import dmfroc


def package_version() -> str:
    """Return the version of dmfroc."""
    from importlib.metadata import PackageNotFoundError

    try:
        return str(dmfroc.__version__)
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "unknown"
