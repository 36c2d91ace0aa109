"""Receipts: what one site found, in a file without any row or score, for pooling with others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from dmfroc._kit.arrays import divide
from dmfroc._kit.files import written
from dmfroc._kit.options import integer
from dmfroc._kit.version import package_version
from dmfroc.results.estimate import Estimate
from dmfroc.results.writers import json_text, strict

_FORMAT = 1
_FIELDS = ("measure", "title", "value", "standard_error", "interval", "level", "method")


class Receipt(NamedTuple):
    """What a site found.

    Attributes
    ----------
    estimates : dict of tuple of str to Estimate
        By measure and classifier, which is empty if there is one.
    covariance : numpy.ndarray of shape (m, m)
        Of the values; NaN where it is not known.
    counts : dict of str to int or None
        Observations of each class; None if that number is withheld.
    version : str
        Of dmfroc, which found it.
    """

    estimates: dict[tuple[str, str], Estimate]
    covariance: Float[np.ndarray, "m m"]
    counts: dict[str, int | None]
    version: str

    @property
    def n(self) -> int | None:
        """Number of observations, if none is withheld."""
        counts = list(self.counts.values())
        return None if not counts or None in counts else sum(x or 0 for x in counts)

    def write(self, path: str | PathLike[str], least_cell: int) -> None:
        """Write the receipt to a file; numbers of observations below ``least_cell`` are null."""
        least = integer("least_cell", least_cell, 0)
        content = {
            "dmfroc_receipt": _FORMAT,
            "version": self.version,
            "estimates": [
                {"classifier": classifier} | {x: getattr(e, x) for x in _FIELDS}
                for (_, classifier), e in self.estimates.items()
            ],
            "covariance": self.covariance,
            "counts": {k: None if n and n < least else n for k, n in self.counts.items()},
        }
        content["sha256"] = _digest(content)
        with written(Path(path), "path") as stream:
            stream.write(json_text(content).encode())


def receipt_of(
    estimates: Mapping[tuple[str, str], Estimate],
    covariance: Float[np.ndarray, "m m"],
    labels: Sequence[Any],
    counts: Sequence[int],
) -> Receipt:
    """Return a receipt; each variance is the square of the standard error that is reported."""
    errors = np.array([e.standard_error for e in estimates.values()])
    factor = divide(errors, np.sqrt(covariance.diagonal()), np)
    joint = covariance * np.outer(factor, factor)
    np.fill_diagonal(joint, errors**2)
    named: dict[str, int | None] = dict(zip(map(str, labels), counts, strict=True))
    return Receipt(dict(estimates), joint, named, package_version())


def read_receipt(path: str | PathLike[str]) -> Receipt:
    """Read a receipt from a file, and check that it is as it was written."""
    try:
        content = json.loads(Path(path).read_text("utf-8"))
        is_receipt = content["dmfroc_receipt"] == _FORMAT
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or "it is no receipt"
        raise ValueError(
            f"site file {path} cannot be read: {reason}. Name files that to_receipt has written"
        ) from error
    if not is_receipt or content.pop("sha256", None) != _digest(content):
        raise ValueError(
            f"{path} was changed after it was written, or is of another version of dmfroc "
            f"({content.get('version')}): write it again with to_receipt"
        )
    try:
        return _checked(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path} is no receipt as to_receipt writes them: {reason}") from error


def _checked(content: Mapping[str, Any]) -> Receipt:
    """Return what a file says, whoever has written it, if it can be true."""
    estimates = {}
    for entry in content["estimates"]:
        given = {name: entry[name] for name in ("classifier", *_FIELDS)}
        level, ends = given["level"], given["interval"]
        value, error, low, high = map(_number, (given["value"], given["standard_error"], *ends))
        names = [given.pop("classifier"), *(given[x] for x in ("measure", "title", "method"))]
        if not all(isinstance(x, str) for x in names) or error < 0 or low > high:
            raise ValueError(f"its estimate {entry} is impossible")
        if not 0 < _number(level) < 1:
            raise ValueError(f"its level {level} is not between 0 and 1")
        numbers: Any = {"value": value, "standard_error": error, "interval": (low, high)}
        estimates[names[1], names[0]] = Estimate(**given | numbers)
    errors = [e.standard_error for e in estimates.values()]
    covariance = np.array([[_number(x) for x in row] for row in content["covariance"]])
    if not errors or len(errors) < len(content["estimates"]):
        raise ValueError("it has no estimates, or one of them twice")
    if covariance.shape != (len(errors),) * 2 or not np.allclose(
        *(covariance, covariance.T), equal_nan=True
    ):
        raise ValueError("its covariance does not fit its estimates")
    counts = content["counts"]
    for label, n in counts.items():
        if not (n is None or (type(n) is int and n >= 0)):
            raise ValueError(f"its class {label!r} has {n!r} observations")
    return Receipt(estimates, covariance, counts, str(content["version"]))


def _number(x: Any) -> float:
    if x is not None and (isinstance(x, bool) or not isinstance(x, int | float)):
        raise ValueError(f"it has {x!r} in place of a number")
    return np.nan if x is None else float(x)


def _digest(content: Mapping[str, Any]) -> str:
    text = json.dumps(strict(content), sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
