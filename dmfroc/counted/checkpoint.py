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
from dmfroc.counted.batches import Batch, Content, Form
from dmfroc.counted.counts import Counts
from dmfroc.counted.sample import RowSample
from dmfroc.counted.storage import read, write
from dmfroc.inputs.labels import Label

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
        return from_state(header, arrays)


def rows_as_state(rows: dict[Label, int]) -> State:
    """Return how many rows have each label as a state."""
    return {"labels": list(rows), "rows": list(rows.values())}, {}


def rows_from_state(header: Mapping[str, Any], _: Any) -> dict[Label, int]:
    """Return how many rows have each label."""
    return dict(zip(header["labels"], header["rows"], strict=True))


def sample_as_state(drawn: tuple[Content, RowSample]) -> State:
    """Return the content of all rows, and a sample, as a state."""
    content, sample = drawn
    batch = sample.batch
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
        none = np.full(len(sample.count), -1, np.int32)
        arrays[f"predicted_{i}"] = none if predicted is None else predicted
    return _header(content, list(batch.scores)) | {"size": sample.size}, arrays


def sample_from_state(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> tuple[Content, RowSample]:
    """Return the sample that was saved, and the content of all rows."""
    content = _content_from(header)
    names = list(enumerate(header["classifiers"]))
    predicted = {name: arrays[f"predicted_{i}"] for i, name in names}
    batch = Batch(
        arrays["sample_hashes"],
        arrays["sample_true"],
        {name: np.ascontiguousarray(arrays[f"scores_{i}"].T) for i, name in names},
        {name: None if (x < 0).any() else x for name, x in predicted.items()},
        arrays["sample_weights"] if content.form.has_weights else None,
        None,
    )
    n_classes = len(content.form.classes)
    return content, RowSample(n_classes, header["size"], batch, arrays["sample_count"])


_OF_ALL, _OF_CLASSIFIER = ("sizes", "totals", "squares"), ("cells", "confusion", "extent")


def counts_as_state(counted: tuple[Content, Counts]) -> State:
    """Return the content of all rows, and counts, as a state."""
    content, counts = counted
    arrays = {name: getattr(counts, name) for name in _OF_ALL}
    for name in _OF_CLASSIFIER:
        arrays |= {f"{name}_{i}": x for i, x in enumerate(getattr(counts, name).values())}
    return _header(content, list(counts.cells)), arrays


def counts_from_state(
    header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> tuple[Content, Counts]:
    """Return the counts that were saved, and the content of all rows."""
    names = list(enumerate(header["classifiers"]))
    sums: dict[str, Any] = {x: arrays[x] for x in _OF_ALL}
    sums |= {x: {name: arrays[f"{x}_{i}"] for i, name in names} for x in _OF_CLASSIFIER}
    return _content_from(header), Counts(**sums)


def _header(content: Content, classifiers: list[str]) -> dict[str, Any]:
    """Return what identifies rows as JSON knows it, and the names of the classifiers."""
    return {
        "classifiers": classifiers,
        "form": content.form,
        "rows": content.rows,
        "checksum": content.checksum,
    }


def _content_from(header: Mapping[str, Any]) -> Content:
    """Return what identifies the rows that were saved."""
    of_form: Any = [tuple(x) if isinstance(x, list) else x for x in header["form"]]
    return Content("what was saved", Form(*of_form), tuple(header["rows"]), header["checksum"])
