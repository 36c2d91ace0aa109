"""What each pass has found, kept in a directory from which an interrupted run goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dmfroc._kit.files import made_directory
from dmfroc._kit.options import integer
from dmfroc.counted.batches import Batch, Content, Form, row_hashes
from dmfroc.counted.counts import Counts, Grid
from dmfroc.counted.sample import RowSample
from dmfroc.counted.storage import checked, checked_array, read, write
from dmfroc.inputs.labels import Label, factorize
from dmfroc.inputs.messages import IN_MEMORY

type State = tuple[dict[str, Any], dict[str, np.ndarray]]
"""The header of a file and its arrays."""


@dataclass(frozen=True)
class Checkpoint:
    """A directory, or none, and what the scan is of."""

    directory: Path | None
    key: dict[str, str]  # digests

    @classmethod
    def at(cls, path: Any, key: Mapping[str, Any]) -> Checkpoint:
        """Return the checkpoint in a directory, which is made where there is none.

        Raises
        ------
        TypeError, ValueError
            If the path is none, or is not that of a directory that can be made.
        """
        if path is None:
            return cls(None, {})
        directory = made_directory("checkpoint", path)
        texts = {name: json.dumps(value, default=str) for name, value in key.items()}
        return cls(
            directory,
            {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()},
        )

    def kept[T](
        self,
        name: str,
        find: Callable[[], T],
        as_state: Callable[[T], State],
        from_state: Callable[[dict[str, Any], dict[str, np.ndarray]], T],
    ) -> T:
        """Return what a pass finds, read from its file where there is one."""
        if self.directory is None:
            return find()
        path = self.directory / f"{name}.npz"
        if not path.exists():
            header, arrays = as_state(state := find())
            write(path, header | {"of": self.key}, arrays, "checkpoint")
            return state
        header, arrays = read(path)
        of = header.get("of")
        of = of if isinstance(of, dict) else {}
        differ = [what for what, digest in self.key.items() if of.get(what) != digest]
        if differ:
            raise ValueError(
                f"checkpoint: {path} is of another scan, with another {', '.join(differ)}: "
                "name another directory, or delete it"
            )
        with checked(path):
            return from_state(header, arrays)


def rows_as_state(rows: dict[Label, int]) -> State:
    """Return how many rows have each label as a state."""
    return {"labels": list(rows), "rows": list(rows.values())}, {}


def rows_from_state(header: Mapping[str, Any], _: Any) -> dict[Label, int]:
    """Return how many rows have each label."""
    rows = (integer("rows", n, 1) for n in header["rows"])
    return dict(zip(labels_from(header), rows, strict=True))


def sample_as_state(content: Content, sample: RowSample) -> State:
    """Return a sample, and the content of all rows, as a state."""
    batch, n = sample.batch, len(sample.count)
    arrays: dict[str, np.ndarray] = {
        "sample_hashes": batch.hashes,
        "sample_true": batch.true,
        "sample_count": sample.count,
        "sample_weights": batch.unit_weights,
    }
    for i, (scores, predicted) in enumerate(
        zip(batch.scores.values(), batch.predicted.values(), strict=True)
    ):
        arrays[f"scores_{i}"] = np.ascontiguousarray(scores.T)
        arrays[f"predicted_{i}"] = np.full(n, -1, np.int32) if predicted is None else predicted
    return _header(content, list(batch.scores)) | {"size": sample.size}, arrays


def sample_from_state(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], n_classes: int
) -> tuple[Content, RowSample]:
    """Return the sample that was saved, and the content of all rows.

    Raises
    ------
    KeyError, ValueError, TypeError
        If these are not the arrays of a sample, or do not belong together.
    """
    content = _content_from(header, n_classes)
    form, names = content.form, list(enumerate(header["classifiers"]))
    if len(names) != len(form.scores):
        raise ValueError(f"its classifiers are {header['classifiers']}")
    m, k = len(arrays["sample_hashes"]), n_classes
    true = checked_array(arrays, "sample_true", np.int32, (m,))
    count = checked_array(arrays, "sample_count", np.int64, (m,))
    weights = checked_array(arrays, "sample_weights", np.float64, (m,))
    scores = {
        name: checked_array(arrays, f"scores_{i}", np.dtype(form.scores[i]), (m, k))
        for i, name in names
    }
    predicted = {name: checked_array(arrays, f"predicted_{i}", np.int32, (m,)) for i, name in names}
    batch = Batch(
        checked_array(arrays, "sample_hashes", np.uint64, (m,)),
        true,
        {name: np.ascontiguousarray(x.T) for name, x in scores.items()},
        {name: None if (x < 0).any() else x for name, x in predicted.items()},
        weights if form.has_weights else None,
        None,
    )
    sample = RowSample(k, integer("size", header["size"], 1), batch, count)
    is_sound = (
        np.array_equal(row_hashes(batch, k), batch.hashes)
        and (batch.hashes[1:] > batch.hashes[:-1]).all()
        and (count > 0).all()
        and (weights > 0).all()
        and (sample.sizes <= content.rows).all()
        and (form.has_weights or (weights == 1).all())
    )
    if not is_sound:
        raise ValueError("its rows are no sample of those that were read")
    return content, sample


_OF_ALL, _OF_CLASSIFIER = ("sizes", "totals", "squares"), ("cells", "confusion", "extent")


def counts_as_state(content: Content, counts: Counts) -> State:
    """Return counts, and the content of all rows, as a state."""
    arrays = {name: getattr(counts, name) for name in _OF_ALL}
    for name in _OF_CLASSIFIER:
        arrays |= {f"{name}_{i}": x for i, x in enumerate(getattr(counts, name).values())}
    return _header(content, list(counts.cells)), arrays


def counts_from_state(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], grids: Mapping[str, Grid]
) -> tuple[Content, Counts]:
    """Return the counts that were saved, and the content of all rows.

    Raises
    ------
    KeyError, ValueError, TypeError
        If these are not the arrays of counts in these bins, or do not belong together.
    """
    if header["classifiers"] != list(grids):
        raise ValueError(f"its classifiers are {header['classifiers']}")
    k = min(len(grid.cuts) for grid in grids.values())
    content = _content_from(header, k)

    def arrays_of_classifiers(
        name: str, like: Callable[[Grid], tuple[Any, tuple[int, ...]]]
    ) -> dict[str, np.ndarray]:
        return {
            classifier: checked_array(arrays, f"{name}_{i}", *like(grid))
            for i, (classifier, grid) in enumerate(grids.items())
        }

    counts = Counts(
        checked_array(arrays, "sizes", np.int64, (k,)),
        checked_array(arrays, "totals", np.float64, (k,)),
        checked_array(arrays, "squares", np.float64, (k,)),
        arrays_of_classifiers("cells", lambda grid: (np.float64, (k, grid.n_bins, k))),
        arrays_of_classifiers("confusion", lambda _: (np.float64, (k, k))),
        arrays_of_classifiers("extent", lambda grid: (grid.cuts.dtype, (2, k))),
    )
    counts.check()
    has_classes = tuple(bool(x.any()) for x in counts.confusion.values())
    if has_classes != content.form.has_classes_of_rows or (counts.sizes > content.rows).any():
        raise ValueError("its sums are not those of the rows that were read")
    if not content.form.has_weights and (counts.totals != counts.sizes).any():
        raise ValueError("it has weights, and the rows had none")
    for name, grid in grids.items():
        for column, cells in enumerate(counts.cells[name]):
            filled = np.flatnonzero(cells.sum(axis=1))[[0, -1]]
            if not np.array_equal(grid.bins(column, counts.extent[name][:, column]), filled):
                raise ValueError("its smallest and largest scores are not those of its bins")
    return content, counts


def labels_from(header: Mapping[str, Any]) -> list[Label]:
    """Return the labels that were saved.

    Raises
    ------
    KeyError, ValueError, TypeError
        If they are no labels.
    """
    labels = header["labels"]
    if labels != []:
        factor = factorize(labels, "labels", IN_MEMORY)
        labels = [factor.distinct[code] for code in factor.codes]
    return list(labels)


def _header(content: Content, classifiers: list[str]) -> dict[str, Any]:
    """Return what identifies rows as JSON knows it, and the names of the classifiers."""
    return {
        "classifiers": classifiers,
        "form": content.form,
        "rows": content.rows,
        "checksum": content.checksum,
    }


def _content_from(header: Mapping[str, Any], n_classes: int) -> Content:
    """Return what identifies the rows that were saved."""
    classes, scores, columns, weights, hard, groups = header["form"]
    form = Form(
        tuple(labels_from({"labels": classes})),
        *(tuple(scores), tuple(columns), str(weights), tuple(hard), str(groups)),
    )
    rows = tuple(integer("rows", n, 0) for n in header["rows"])
    if len(rows) != n_classes or len(form.classes) != n_classes:
        raise ValueError(f"it is of {len(rows)} classes")
    return Content("what was saved", form, rows, int(header["checksum"]))
