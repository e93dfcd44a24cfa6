"""Zip archives and arrays: the lowest layer of model files.

`archive_of` and `members_of` turn named members into bytes and back; `pack` and `unpack` do the same for arrays,
with safetensors. Members are stored uncompressed, so that a small file cannot expand into a large one in memory,
and with a fixed date, so that the same model gives the same bytes. Every problem with a file is an `InputError`.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from listwright.errors import InputError

MOST_BYTES = 4 << 30  # of a file, unless the caller says otherwise
MOST_MEMBERS = 4096
_NAME = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)?\.[a-z]+")
KINDS = "biuf"  # of arrays: bool, whole numbers, floats
_DATE = (1980, 1, 1, 0, 0, 0)  # the same model gives the same bytes


def read_archive(path: Path, *, limit: int = MOST_BYTES) -> dict[str, bytes]:
    """Return all members of a file as bytes, by name."""
    # The size is checked before the file is read, so that memory use is bounded by `limit`.
    try:
        size = path.stat().st_size
        if path.is_char_device() or path.is_block_device():
            raise InputError(f"{path} is a device, which may have no end. Name a file.")
        if size > limit:
            raise InputError(f"{path} has {size:,} bytes, more than the limit of {limit:,}. Pass a higher limit.")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    return members_of(data, str(path))


def members_of(data: bytes, name: str) -> dict[str, bytes]:
    """Return the members of an archive in memory, by name."""
    # Members must be stored uncompressed, so that together they are no larger than the archive: a zip bomb is
    # impossible.
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            _check(entries, len(data), name)
            return {entry.filename: archive.read(entry) for entry in entries}
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - zipfile raises many kinds for damaged files, and none of them is a bug
        raise InputError(f"{name} is not a listwright model, or is damaged: {error or type(error).__name__}.") from None


def _check(entries: list[zipfile.ZipInfo], size: int, name: str) -> None:
    """Raise unless the entries look like those of a model file."""
    if len(entries) > MOST_MEMBERS:
        raise InputError(f"{name} holds {len(entries):,} members. A model has at most {MOST_MEMBERS:,}.")
    for entry in entries:
        if _NAME.fullmatch(entry.filename) is None:
            raise InputError(f"{name} contains {entry.filename!r:.80}, which does not belong in a model file.")
        if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
            raise InputError(
                f"{name} has compressed members, which model files do not have. Use the file as it was saved."
            )
    if len({entry.filename for entry in entries}) != len(entries):
        raise InputError(f"{name} contains two members of the same name.")
    if sum(entry.file_size for entry in entries) > size:
        raise InputError(f"{name} is damaged: its members overlap.")


def archive_of(members: Mapping[str, bytes]) -> bytes:
    """Return the bytes of an archive with the given members, in their order."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), content)
    return file.getvalue()


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Serialize named arrays with safetensors."""
    for array in arrays.values():
        if not _finite(array):
            raise InputError(
                "The model contains numbers that are not finite, so it was not saved. Check the training data."
            )
    return bytes(save({name: np.array(array, order="C") for name, array in arrays.items()}))


def unpack(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays that `pack` wrote, by name."""
    # Error messages have no subject ("its arrays cannot be read"), because callers prefix the name of the file.
    try:
        arrays = load(data)
    except (SafetensorError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise InputError(f"its arrays cannot be read ({error!s:.100})") from None
    for key, array in arrays.items():
        if array.dtype.kind not in KINDS:
            raise InputError(f"its array {key!r:.40} is of type {array.dtype}")
        if not _finite(array):
            raise InputError(f"its array {key!r:.40} holds numbers that are not finite")
    return {key: np.array(array, order="C") for key, array in arrays.items()}


def _finite(array: NDArray[Any]) -> bool:
    """Return whether all numbers of an array are finite; always true for integers and booleans."""
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())
