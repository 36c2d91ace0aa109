"""What each pass has found, kept in a directory from which an interrupted run goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dmfroc._kit.options import integer
from dmfroc.counted.batches import Content, Form, row_hashes
from dmfroc.counted.counts import Counts
from dmfroc.counted.cuts import Grid
from dmfroc.counted.sample import RowSample
from dmfroc.counted.storage import checked, checked_array, checked_path, read, write
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
        directory = checked_path("checkpoint", path)
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"checkpoint {directory} is no directory, and cannot be made one: {error}"
            ) from error
        texts = {name: json.dumps(value, default=str) for name, value in key.items()}
        return cls(
            directory,
            {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()},
        )

    def labels(self, find: Callable[[], dict[Label, int]]) -> dict[Label, int]:
        """Return how many rows have each label."""

        def as_state(rows: dict[Label, int]) -> State:
            return {"labels": list(rows), "rows": list(rows.values())}, {}

        def from_state(header: Mapping[str, Any], _: Any) -> dict[Label, int]:
            rows = (integer("rows", n, 1) for n in header["rows"])
            return dict(zip(labels_from(header), rows, strict=True))

        return self._kept("labels", find, as_state, from_state)

    def sample(
        self, n_classes: int, find: Callable[[], tuple[Content, RowSample]]
    ) -> tuple[Content, RowSample]:
        """Return the sample of rows, and the content of all."""

        def as_state(of_all: tuple[Content, RowSample]) -> State:
            header, arrays = sample_as_arrays(of_all[1])
            return header | content_as_header(of_all[0]), arrays

        def from_state(header: Any, arrays: Any) -> tuple[Content, RowSample]:
            content = content_from(header, n_classes)
            return content, sample_from(header, arrays, content)

        return self._kept("sample", find, as_state, from_state)

    def counts(
        self, grids: Mapping[str, Grid], find: Callable[[], tuple[Content, Counts]]
    ) -> tuple[Content, Counts]:
        """Return the counts, and the content of all rows."""

        def as_state(of_all: tuple[Content, Counts]) -> State:
            header, arrays = counts_as_arrays(of_all[1])
            return header | content_as_header(of_all[0]), arrays

        def from_state(header: Any, arrays: Any) -> tuple[Content, Counts]:
            [n_classes] = {len(grid.cuts) for grid in grids.values()}
            content = content_from(header, n_classes)
            return content, counts_from(header, arrays, grids, content)

        return self._kept("counts", find, as_state, from_state)

    def _kept[T](
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
            header, arrays = as_state(found := find())
            write(path, header | {"of": self.key}, arrays, "checkpoint")
            return found
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


_OF_SAMPLE = ("hashes", "true", "count", "weights")
_OF_COUNTS = ("sizes", "totals", "squares")


def sample_as_arrays(sample: RowSample) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return a sample as a header and arrays."""
    names = list(sample.scores)
    arrays = {f"sample_{name}": getattr(sample, name) for name in _OF_SAMPLE}
    for number, name in enumerate(names):
        arrays[f"scores_{number}"] = sample.scores[name]
        arrays[f"predicted_{number}"] = sample.predicted[name]
    return {"classifiers": names, "size": sample.size}, arrays


def sample_from(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], content: Content
) -> RowSample:
    """Return the sample that was saved, of rows with this content.

    Raises
    ------
    KeyError, ValueError, TypeError
        If these are not the arrays of a sample, or do not belong together.
    """
    names = list(enumerate(header["classifiers"]))
    if len(names) != len(content.form.scores):
        raise ValueError(f"its classifiers are {header['classifiers']}")
    m, k = len(arrays["sample_hashes"]), len(content.rows)
    sample = RowSample(
        k,
        integer("size", header["size"], 1),
        checked_array(arrays, "sample_hashes", np.uint64, (m,)),
        checked_array(arrays, "sample_true", np.int32, (m,)),
        checked_array(arrays, "sample_count", np.int64, (m,)),
        checked_array(arrays, "sample_weights", np.float64, (m,)),
        {
            name: checked_array(arrays, f"scores_{i}", np.dtype(content.form.scores[i]), (m, k))
            for i, name in names
        },
        {name: checked_array(arrays, f"predicted_{i}", np.int32, (m,)) for i, name in names},
    )
    batch = sample.as_batch()
    if not content.form.has_weights:
        batch = batch._replace(weights=None)
    counted = np.zeros(k, np.int64)
    np.add.at(counted, sample.true, sample.count)
    is_sound = (
        np.array_equal(row_hashes(batch, k), sample.hashes)
        and (sample.hashes[1:] > sample.hashes[:-1]).all()
        and (sample.count > 0).all()
        and (sample.weights > 0).all()
        and (counted <= content.rows).all()
        and (content.form.has_weights or (sample.weights == 1).all())
    )
    if not is_sound:
        raise ValueError("its rows are no sample of those that were read")
    return sample


def counts_as_arrays(counts: Counts) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return counts as a header and arrays."""
    names = list(counts.cells)
    arrays = {name: getattr(counts, name) for name in _OF_COUNTS}
    for number, name in enumerate(names):
        arrays[f"cells_{number}"] = counts.cells[name]
        arrays[f"confusion_{number}"] = counts.confusion[name]
        arrays[f"extent_{number}"] = counts.extent[name]
    return {"classifiers": names}, arrays


def counts_from(
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
    grids: Mapping[str, Grid],
    content: Content,
) -> Counts:
    """Return the counts that were saved, of rows with this content.

    Raises
    ------
    KeyError, ValueError, TypeError
        If these are not the arrays of counts in these bins, or do not belong together.
    """
    if header["classifiers"] != list(grids):
        raise ValueError(f"its classifiers are {header['classifiers']}")
    names = list(enumerate(grids.items()))
    k = len(content.rows)
    counts = Counts(
        checked_array(arrays, "sizes", np.int64, (k,)),
        checked_array(arrays, "totals", np.float64, (k,)),
        checked_array(arrays, "squares", np.float64, (k,)),
        {
            name: checked_array(arrays, f"cells_{i}", np.float64, (k, grid.n_bins, k))
            for i, (name, grid) in names
        },
        {
            name: checked_array(arrays, f"confusion_{i}", np.float64, (k, k))
            for i, (name, _) in names
        },
        {
            name: checked_array(arrays, f"extent_{i}", grid.cuts.dtype, (2, k))
            for i, (name, grid) in names
        },
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
    return counts


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


def content_as_header(content: Content) -> dict[str, Any]:
    """Return what identifies rows as JSON knows it."""
    return {"form": content.form, "rows": content.rows, "checksum": content.checksum}


def content_from(header: Mapping[str, Any], n_classes: int) -> Content:
    """Return what identifies the rows that were saved.

    Raises
    ------
    KeyError, ValueError, TypeError
        If it does not.
    """
    classes, scores, columns, weights, hard, groups = header["form"]
    form = Form(
        tuple(labels_from({"labels": classes})),
        *(tuple(scores), tuple(columns), str(weights), tuple(hard), str(groups)),
    )
    rows = tuple(integer("rows", n, 0) for n in header["rows"])
    if len(rows) != n_classes or len(form.classes) != n_classes:
        raise ValueError(f"it is of {len(rows)} classes")
    return Content("what was saved", form, rows, int(header["checksum"]))
