"""States in files: NumPy's archives, without pickle, with a version."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dmfroc._kit.files import written
from dmfroc.inputs.files import array_of

_FORMAT = "dmfroc counts"
_VERSION = 2


def write(
    path: Path, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray], name: str
) -> None:
    """Write arrays and a header that JSON can hold; errors name the argument that gave the path."""
    header = {"format": _FORMAT, "version": _VERSION, **header}
    text = json.dumps(header | {"digest": _digest(header, arrays)})
    with written(path, name) as stream:
        np.savez(stream, allow_pickle=False, header=np.array(text), **arrays)


def read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a file.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not one of this package, of a version that it does not know, or damaged.
    """
    try:
        if path.exists() and not path.is_file():
            raise ValueError("this is a directory, a pipe or a device; name a file")
        with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            arrays = {name: array_of(archive, name) for name in names}
        header = json.loads(str(arrays.pop("header")))
        is_ours = header["format"] == _FORMAT
        version, digest = header["version"], header.pop("digest", None)
    except MemoryError as error:
        raise MemoryError(f"{path}: {error}") from error
    except FileNotFoundError:
        raise
    except (
        *(OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError),
        zipfile.BadZipFile,
    ) as error:
        raise ValueError(
            f"{path}: this is no file of counts that dmfroc has saved, or it is damaged ({error})"
        ) from error
    if not is_ours:
        raise ValueError(f"{path}: this is no file of counts that dmfroc has saved")
    if version != _VERSION:
        raise ValueError(
            f"{path}: its version is {version}, and this dmfroc reads {_VERSION}: use the dmfroc "
            "that has saved it"
        )
    if digest != _digest(header, arrays):
        raise ValueError(
            f"{path}: this file is damaged, what it holds is not what dmfroc has saved: delete it, "
            "or take a copy of it"
        )
    return header, arrays


def _digest(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    """Return what changes with anything that a file holds."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
