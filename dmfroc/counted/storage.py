"""States in files: NumPy's archives, without pickle, with a version."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dmfroc._kit.files import written
from dmfroc.inputs.files import array_of

_FORMAT = "dmfroc counts"
_VERSION = 1


def write(
    path: Path, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], name: str
) -> None:
    """Write arrays and a header that JSON can hold; errors name the argument that gave the path."""
    text = json.dumps({"format": _FORMAT, "version": _VERSION, **header})
    with written(path, name) as stream:
        np.savez(stream, allow_pickle=False, header=np.array(text), **arrays)


def read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not one of this package, or of a version that it does not know.
    """
    if path.exists() and not path.is_file():
        raise ValueError(f"{path}: this is no file, but a directory, a pipe or a device")
    try:
        with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            arrays = {name: array_of(archive, name) for name in names}
        header = json.loads(str(arrays.pop("header")))
        is_ours = header["format"] == _FORMAT
    except MemoryError as error:
        raise MemoryError(f"{path}: {error}") from error
    except (ValueError, KeyError, TypeError, RuntimeError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path}: this is no file of counts that dmfroc has saved, or it is damaged ({error})"
        ) from error
    if not is_ours:
        raise ValueError(f"{path}: this is no file of counts that dmfroc has saved")
    if header["version"] != _VERSION:
        raise ValueError(
            f"{path}: its version is {header['version']}, and this dmfroc reads {_VERSION}: use "
            "the dmfroc that has saved it"
        )
    return header, arrays
