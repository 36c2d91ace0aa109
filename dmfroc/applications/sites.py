"""Receipts: what one site found, in a file without any row or score, for pooling with others."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri

from dmfroc import Measure, __version__
from dmfroc.applications.item_means import MEASURE as OF_ITEMS
from dmfroc.applications.item_means import with_errors
from dmfroc.applications.leaderboards import METHOD as OVER_TASKS
from dmfroc.extend import (
    Format,
    OnLine,
    as_array,
    as_floats,
    columns_of,
    get_measure,
    integer,
    json_text,
    listing,
    number,
    on_line,
    positive,
    read_table,
    row_index,
    scale_of,
    written,
)
from dmfroc.results import Comparison, Estimate, Evaluation, SubgroupComparison

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


def receipt_of(result: Evaluation | Comparison) -> Receipt:
    """Return a receipt; each variance is the square of the standard error that is reported."""
    if isinstance(result, Evaluation):
        named = {(name, ""): e for name, e in result.estimates.items()}
        samples = [result.predictions]
    else:
        named = {(result.measure, name): e for name, e in result.estimates.items()}
        samples = list(result.predictions.values())
    errors = np.array([e.standard_error for e in named.values()])
    joint = with_errors(result.covariance, errors)
    counts: dict[str, int | None] = {}
    for sample in samples[:1]:
        counts = dict(zip(map(str, sample.labels), sample.class_counts.tolist(), strict=True))
    return Receipt(named, joint, counts, __version__)


def write_receipt(
    result: Evaluation | Comparison, path: str | PathLike[str], *, least_cell: int = 5
) -> None:
    """Write values, errors and their covariance to a file, without rows or scores.

    `pool` takes such files from several sites.

    Parameters
    ----------
    result : Evaluation or Comparison
        What the site found, at one horizon and of one measure of a comparison.
    path : str or path-like
        The file, JSON. Its name is the name of the site.
    least_cell : int
        Class sizes below this number are withheld. The standard error of a proportion
        nevertheless shows of about how many observations it is.

    Raises
    ------
    TypeError, ValueError
        If the result is of another kind, or the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from dmfroc import evaluate
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=90)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "north.json")
    ...     write_receipt(evaluate(y, rng.normal(size=90) + y), path)
    ...     "covariance" in path.read_text()
    True
    """
    if not isinstance(result, Evaluation | Comparison):
        raise TypeError(
            "result must be what evaluate or compare returns for one horizon and one measure of a "
            f"comparison, but it is a {type(result).__name__}"
        )
    receipt, least = receipt_of(result), integer("least_cell", least_cell, 0)
    content = {
        "dmfroc_receipt": _FORMAT,
        "version": receipt.version,
        "estimates": [
            {"classifier": classifier} | {x: getattr(e, x) for x in _FIELDS}
            for (_, classifier), e in receipt.estimates.items()
        ],
        "covariance": receipt.covariance,
        "counts": {k: None if n and n < least else n for k, n in receipt.counts.items()},
    }
    content["sha256"] = _digest(content)
    with written(Path(path), "path") as stream:
        stream.write(json_text(content).encode())


def read_receipt(path: str | PathLike[str]) -> Receipt:
    """Read a receipt from a file, and check that it is as it was written."""
    try:
        content = json.loads(Path(path).read_text("utf-8"))
        is_receipt = content["dmfroc_receipt"] == _FORMAT
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or "it is no receipt"
        raise ValueError(
            f"site file {path} cannot be read: {reason}. Name files that write_receipt has written"
        ) from error
    if not is_receipt or content.pop("sha256", None) != _digest(content):
        raise ValueError(
            f"{path} was changed after it was written, or is of another version of dmfroc "
            f"({content.get('version')}): write it again with write_receipt"
        )
    try:
        return _checked(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path} is no receipt as write_receipt writes them: {reason}") from error


def _checked(content: Mapping[str, Any]) -> Receipt:
    """Return what a file says, whoever has written it, if it can be true."""
    estimates = {}
    for entry in content["estimates"]:
        measure, name, title, value, error, (low, high), level, method = (
            entry[x] for x in ("measure", "classifier", *_FIELDS[1:])
        )
        value, error, low, high = map(_number, (value, error, low, high))
        are_texts = all(isinstance(x, str) for x in (measure, name, title, method))
        if not are_texts or error < 0 or low > high:
            raise ValueError(f"its estimate {entry} is impossible")
        if not 0 < _number(level) < 1:
            raise ValueError(f"its level {level} is not between 0 and 1")
        own = Estimate(measure, title, value, error, (low, high), level, method)
        estimates[measure, name] = own
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
    text = json.dumps(json.loads(json_text(content)), sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


_ERROR = re.compile(r"(.*[^a-z])?(se|std[^a-z]*err(or)?|standard[^a-z]*error)([^a-z].*)?", re.I)
NO_RANGE = (-np.inf, np.inf)


class Site(NamedTuple):
    """The value that a site brings, on both scales, and where it is from."""

    estimate: Estimate
    point: OnLine
    bounds: tuple[float, float]
    n: int | None = None
    receipt: Receipt | None = None


def sites_of(sites: Any, measure: Any, classifier: Any, level: float) -> dict[str, Site]:
    """Return the value of each site that is pooled."""
    if isinstance(sites, SubgroupComparison):
        bounds = _range(_known(sites.measure))
        return {
            name: Site(e, on_line(e, bounds), bounds, sites.sizes[name])
            for name, e in sites.estimates.items()
        }
    if (columns := columns_of(sites, "sites")) is not None:
        measure, sites = _published(columns, measure, row_index(sites))
    elif not isinstance(sites, Mapping):
        sites = [sites] if isinstance(sites, str | PathLike) else sites
        if not isinstance(sites, Sequence):
            raise TypeError(f"sites must be a list, but it is a {type(sites).__name__}")
        paths = [x for x in sites if isinstance(x, str | PathLike)]
        if len(paths) == len(sites) == 1 and Path(paths[0]).suffix.lower() != ".json":
            if not Path(paths[0]).is_file():
                raise FileNotFoundError(f"sites names {str(paths[0])!r}: there is no such file")
            table = read_table(Path(paths[0]), Format(), (), None).table
            return sites_of(table, measure, classifier, level)
        names = [Path(x).stem for x in paths] or [str(i) for i in range(1, len(sites) + 1)]
        if 0 < len(paths) < len(sites) or len(set(names)) < len(names):
            raise ValueError("sites need a name each: pass a dict by name of the site")
        sites = dict(zip(names, sites, strict=True))
    result = {}
    for name, source in sites.items():
        if isinstance(source, str | PathLike):
            result[name] = _value_of(read_receipt(source), measure, classifier, name)
        elif isinstance(source, Evaluation | Comparison):
            result[name] = _value_of(receipt_of(source), measure, classifier, name)
        elif isinstance(source, tuple | list) and len(source) == 2:
            result[name] = _of_published(name, source[0], source[1], measure, level)
        else:
            raise TypeError(
                "sites must be evaluations, comparisons, files with their receipts, or pairs of a "
                f"value and its standard error, but {name!r} is a {type(source).__name__}"
            )
    return result


def _published(columns: Mapping[Any, Any], measure: Any, index: Any) -> tuple[Any, dict[str, Any]]:
    """Return the measure of a table of published values, and value and error by site."""
    arrays: dict[str, Any] = {}
    for name, x in columns.items():
        arrays[str(name)] = as_array(x, str(name))
        with suppress(TypeError):
            arrays[str(name)] = as_floats(arrays[str(name)], str(name))
    numeric = [name for name, x in arrays.items() if x.dtype.kind == "f"]
    errors = [name for name in numeric if _ERROR.fullmatch(name)]
    values = [name for name in numeric if name not in errors]
    if len(values) > 1:  # beside numbers of cases, or years
        values = [name for name in values if name in ("value", "estimate") or _known(name)]
    names = [name for name in arrays if name not in numeric]
    if len(errors) != 1 or len(values) != 1 or len(names) > 1:
        raise ValueError(
            f"sites has the columns {listing([*arrays])}: keep one of names, one of values, and "
            "one of standard errors called 'se', a quarter of the width of 95 % intervals"
        )
    pairs = list(zip(arrays[values[0]].tolist(), arrays[errors[0]].tolist(), strict=True))
    keys = arrays[names[0]].tolist() if names else range(len(pairs)) if index is None else index
    found = dict(zip(map(str, keys), pairs, strict=True))
    if len(found) < len(pairs):
        raise ValueError(f"sites need a name each, but one is there twice among {listing(keys)}")
    return values[0] if measure is None and _known(values[0]) else measure, found


def _of_published(name: str, value: Any, error: Any, measure: Any, level: float) -> Site:
    if measure is None:
        raise ValueError("measure is missing: say what is published, such as measure='hand_till'")
    known, value = get_measure(measure), number(f"the value of site {name!r}", value)
    (low, high), error = known.bounds, positive(f"the standard error of site {name!r}", error)
    if not low < value < high:
        raise ValueError(
            f"site {name!r} has {known.name} = {value:g} with a standard error, but values between "
            f"{low:g} and {high:g} have one: leave the site out"
        )
    bounds = known.range_on_line
    plain = Estimate(known.name, known.title, value, error, (value, value), level, "published")
    point, tails = on_line(plain, bounds), np.array([(1 - level) / 2, (1 + level) / 2])
    ends = scale_of(bounds).from_line(point.value + ndtri(tails) * point.error)
    return Site(replace(plain, interval=tuple(np.asarray(ends).tolist())), point, bounds)


def _value_of(receipt: Receipt, measure: Any, classifier: Any, site: str) -> Site:
    """Return a site's value, or the difference of two of its classifiers."""
    measures = list(dict.fromkeys(m for m, _ in receipt.estimates))
    if measure is None and len(measures) > 1:
        raise ValueError(f"measure is missing: name one of {measures}, which {site!r} has")
    name = measures[0] if measure is None else getattr(measure, "name", measure)
    names = [c for m, c in receipt.estimates if m == name]
    wanted = tuple(names) if classifier is None else classifier
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    if not names or len(wanted) > 2 or not set(wanted) <= set(names):
        has = f"{measures} of {names}" if any(names) else str(measures)
        of = f" of classifier {' and '.join(wanted)}" if any(wanted) else ""
        raise ValueError(f"measure {name!r}{of} is not in {site!r}, which has {has}")
    known = measure if isinstance(measure, Measure) else _known(name)
    if known is None and name not in (OF_ITEMS, OVER_TASKS):
        raise ValueError(
            f"site {site!r} has {name!r}, which is no measure of dmfroc: pass a measure of your "
            "own as measure="
        )
    places = [list(receipt.estimates).index((name, x)) for x in wanted]
    estimates = [receipt.estimates[name, x] for x in wanted]
    for e in estimates:
        if known is not None and not known.bounds[0] <= e.value <= known.bounds[1]:
            raise ValueError(
                f"site {site!r} has {name} = {e.value:g}, outside of its range, "
                f"{known.bounds[0]:g} to {known.bounds[1]:g}: its receipt is wrong"
            )
    first = estimates[0]
    if len(wanted) == 1:
        bounds = _range(known)
        return Site(first, on_line(first, bounds), bounds, receipt.n, receipt)
    value = first.value - estimates[1].value
    square = np.array([1, -1]) @ receipt.covariance[np.ix_(places, places)] @ [1, -1]
    error = float(np.sqrt(max(square, 0)))
    half = float(ndtri((1 + first.level) / 2)) * error
    ends, title = (value - half, value + half), f"{first.title}, {' - '.join(wanted)}"
    estimate = replace(first, title=title, value=value, standard_error=error, interval=ends)
    return Site(estimate, OnLine(value, error), NO_RANGE, receipt.n, receipt)


def _known(name: str) -> Measure | None:
    """Return a measure by its name; None for one of the user's own."""
    try:
        return get_measure(name)
    except ValueError:
        return None


def _range(measure: Measure | None) -> tuple[float, float]:
    return NO_RANGE if measure is None else measure.range_on_line


def check_alike(sites: Mapping[str, Site]) -> list[str]:
    """Refuse sites whose values are not of one kind; return what is odd."""
    remarks = []
    for what, of in (
        ("measures", {name: x.estimate.measure for name, x in sites.items()}),
        ("levels", {name: x.estimate.level for name, x in sites.items()}),
    ):
        if len({*of.values()}) > 1:
            raise ValueError(
                f"sites have different {what}, {of}: pool what is alike, by measure= or by "
                "receipts that are written anew"
            )
    receipts = {name: x.receipt for name, x in sites.items() if x.receipt is not None}
    classes = {name: [*x.counts] for name, x in receipts.items() if x.counts}
    different = {tuple(x) for x in classes.values()}
    if any(len(x) == 2 and x[::-1] in different for x in different):
        raise ValueError(
            f"sites have different positive classes, the second ones of {classes}: evaluate all "
            "with the same labels= or pos_label="
        )
    if len(different) > 1:
        remarks.append(f"sites do not have the same classes: {classes}")
    versions = {name: x.version for name, x in receipts.items()}
    if len({*versions.values()}) > 1:
        remarks.append(f"sites used different versions of dmfroc: {versions}")
    seen: dict[Any, str] = {}
    for name in receipts:
        e = sites[name].estimate
        other = seen.setdefault((e.value, e.standard_error), name)
        if other != name and e.standard_error > 0:  # also of few errors in equal counts
            remarks.append(
                f"sites {other!r} and {name!r} have the same value and error in all digits: if "
                "they are the same rows, leave one out"
            )
    return remarks
