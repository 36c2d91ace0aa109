"""What each pass has found, kept in a directory from which an interrupted run goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dmfroc.counted.counts import Counts
from dmfroc.counted.sample import RowSample
from dmfroc.counted.storage import read, write
from dmfroc.inputs.labels import Label


@dataclass(frozen=True)
class Checkpoint:
    """A directory, or none, and what the scan is of."""

    directory: Path | None
    key: str

    @classmethod
    def at(cls, path: str | os.PathLike[str] | None, key: Mapping[str, Any]) -> Checkpoint:
        """Return the checkpoint in a directory, which is made where there is none."""
        text = json.dumps(key, sort_keys=True, default=str)
        if path is None:
            return cls(None, text)
        directory = Path(path)
        directory.mkdir(parents=True, exist_ok=True)
        return cls(directory, text)

    def labels(self, find: Callable[[], list[Label]]) -> list[Label]:
        """Return the distinct labels."""
        header, _ = self._kept("labels", lambda: ({"labels": find()}, {}))
        return list(header["labels"])

    def sample(self, find: Callable[[], RowSample]) -> RowSample:
        """Return the sample of rows."""
        return sample_from(*self._kept("sample", lambda: sample_as_arrays(find())))

    def counts(self, find: Callable[[], Counts]) -> Counts:
        """Return the counts."""
        return counts_from(*self._kept("counts", lambda: counts_as_arrays(find())))

    def _kept(
        self, name: str, find: Callable[[], tuple[dict[str, Any], dict[str, np.ndarray]]]
    ) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        if self.directory is None:
            return find()
        path = self.directory / f"{name}.npz"
        if path.exists():
            header, arrays = read(path)
            if header["of"] != self.key:
                raise ValueError(
                    f"checkpoint: {path} is of another scan (other files, columns or bins): name "
                    "another directory, or delete it"
                )
            return header, arrays
        header, arrays = find()
        write(path, header | {"of": self.key}, arrays, "checkpoint")
        return header, arrays


_OF_SAMPLE = ("hashes", "true", "count", "weights")
_OF_COUNTS = ("sizes", "totals", "squares")


def sample_as_arrays(sample: RowSample) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return a sample as a header and arrays."""
    names = list(sample.scores)
    arrays = {f"sample_{name}": getattr(sample, name) for name in _OF_SAMPLE}
    for number, name in enumerate(names):
        arrays[f"scores_{number}"] = sample.scores[name]
        arrays[f"predicted_{number}"] = sample.predicted[name]
    header = {"classifiers": names, "n_classes": sample.n_classes, "size": sample.size}
    return header, arrays


def sample_from(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> RowSample:
    """Return the sample that was saved."""
    names = list(enumerate(header["classifiers"]))
    return RowSample(
        header["n_classes"],
        header["size"],
        arrays["sample_hashes"],
        arrays["sample_true"],
        arrays["sample_count"],
        arrays["sample_weights"],
        {name: arrays[f"scores_{number}"] for number, name in names},
        {name: arrays[f"predicted_{number}"] for number, name in names},
    )


def counts_as_arrays(counts: Counts) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return counts as a header and arrays."""
    names = list(counts.cells)
    arrays = {name: getattr(counts, name) for name in _OF_COUNTS}
    for number, name in enumerate(names):
        arrays[f"cells_{number}"] = counts.cells[name]
        arrays[f"confusion_{number}"] = counts.confusion[name]
        arrays[f"extent_{number}"] = counts.extent[name]
    return {"classifiers": names}, arrays


def counts_from(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Counts:
    """Return the counts that were saved."""
    names = list(enumerate(header["classifiers"]))
    return Counts(
        arrays["sizes"],
        arrays["totals"],
        arrays["squares"],
        {name: arrays[f"cells_{number}"] for number, name in names},
        {name: arrays[f"confusion_{number}"] for number, name in names},
        {name: arrays[f"extent_{number}"] for number, name in names},
    )
