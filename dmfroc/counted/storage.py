"""States in files: NumPy's archives, without pickle, with a version."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_FORMAT = "dmfroc counts"
_VERSION = 1


def write(path: Path, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays and a header of what JSON knows; the file appears once it is whole."""
    text = json.dumps({"format": _FORMAT, "version": _VERSION, **header})
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as stream:
            np.savez(stream, allow_pickle=False, header=np.array(text), **arrays)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not one of this package, or of a version that it does not know.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(str(arrays.pop("header")))
        is_ours = header["format"] == _FORMAT
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: this is no file of counts that dmfroc has saved") from error
    if not is_ours:
        raise ValueError(f"{path}: this is no file of counts that dmfroc has saved")
    if header["version"] != _VERSION:
        raise ValueError(
            f"{path}: its version is {header['version']}, and this dmfroc reads {_VERSION}: use "
            "the dmfroc that has saved it"
        )
    return header, arrays
