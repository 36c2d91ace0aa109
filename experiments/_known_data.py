"""Data sets of Vuk and Curk (2006) that are no part of the package, from local files."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
from _datasets import Dataset

NAMES = ("adult_sample", "bupa", "monks_1", "monks_2", "monks_3", "promoters", "titanic")
_NUMERIC = ("adult_sample", "bupa")


def local_dataset(name: str) -> Dataset:
    """Read one of `NAMES` from the directory that DMFROC_DATA names: the samples of Orange.

    The class is in the last column.
    """
    directory = os.environ.get("DMFROC_DATA")
    if not directory or not (path := Path(directory) / f"{name}.csv").is_file():
        raise OSError(f"Set DMFROC_DATA to a directory that holds {name}.csv.")
    frame = pd.read_csv(path, dtype=None if name in _NUMERIC else str, keep_default_na=False)
    labels = frame.pop(frame.columns[-1]).astype(str).to_numpy()
    texts = frame.select_dtypes(exclude="number").columns
    return Dataset(name, frame.astype(dict.fromkeys(texts, object)), labels, "Orange")
