"""States in files: NumPy's archives, without pickle, with a version."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dmfroc.inputs.files import reading

_FORMAT = "dmfroc counts"
_VERSION = 2


def write(path: Path, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays and a header of what JSON knows; the file appears once it is whole."""
    header = {"format": _FORMAT, "version": _VERSION, **header}
    text = json.dumps(header | {"digest": _digest(header, arrays)})
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
        If it is not one of this package, of a version that it does not know, or damaged.
    """
    if path.exists() and not path.is_file():
        raise ValueError(f"{path}: this is a directory, a pipe or a device; name a file")
    with path.open("rb") as stream:
        try:
            with reading():
                archive = np.load(stream, allow_pickle=False)
                arrays = {name: archive[name] for name in archive.files}
                header = json.loads(str(arrays.pop("header")))
            is_ours = header["format"] == _FORMAT
            version, digest = header["version"], header.pop("digest", None)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"{path}: this is no file of counts that dmfroc has saved ({error})"
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


@contextmanager
def checked(path: Path) -> Iterator[None]:
    """Say of which file a state is that has been read and does not hold together."""
    try:
        yield
    except (KeyError, ValueError, TypeError, LookupError) as error:
        what = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(
            f"{path}: this file does not hold what it should ({what}): delete it, or take a copy "
            "of it"
        ) from error


def array_of(
    arrays: Mapping[str, np.ndarray], name: str, dtype: Any, shape: tuple[int | None, ...]
) -> np.ndarray:
    """Return an array of a type and a shape, in which None stands for any length.

    Raises
    ------
    KeyError, ValueError
        If there is none of that name, or it is of another type or shape or not finite.
    """
    array = arrays[name]
    is_right = len(array.shape) == len(shape) and all(
        n is None or n == m for n, m in zip(shape, array.shape, strict=True)
    )
    if array.dtype != dtype or not is_right:
        raise ValueError(
            f"{name} is of type {array.dtype} and shape {array.shape}, not {np.dtype(dtype)} and "
            f"{tuple('any' if n is None else n for n in shape)}"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} is not finite")
    return array
