"""Zip archives, arrays and the names of classes: the lowest layer of model files. Classes of others must be trusted."""

from __future__ import annotations

import io
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from listwright._internal.files import read_finite
from listwright.errors import InputError

MOST_BYTES = 4 << 30  # of a file, unless the caller says otherwise
MOST_MEMBERS = 4096
_NAME = re.compile(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)?\.[a-z]+")
KINDS = "biuf"  # of arrays: bool, whole numbers, floats
_DATE = (1980, 1, 1, 0, 0, 0)  # the same model gives the same bytes


def read_archive(path: Path, *, limit: int = MOST_BYTES) -> dict[str, bytes]:
    # The size is checked before the file is read, so that memory use is bounded by `limit`.
    try:
        size = path.stat().st_size
        if size > limit:
            raise InputError(f"{path} has {size:,} bytes, more than the limit of {limit:,}. Pass a higher limit.")
        data = read_finite(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None
    return members_of(data, str(path))


def members_of(data: bytes, name: str) -> dict[str, bytes]:
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
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), content)
    return file.getvalue()


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    if not all(map(_finite, arrays.values())):
        raise InputError(
            "The model contains numbers that are not finite, so it was not saved. Check the training data."
        )
    return bytes(save({name: np.array(array, order="C") for name, array in arrays.items()}))


def unpack(data: bytes) -> dict[str, NDArray[Any]]:
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
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


_CLASS_NAME = re.compile(r"(?!\d)[\w.]+:(?!\d)[\w.]+")


def class_name(kind: type[Any]) -> str:
    name = f"{kind.__module__}:{kind.__qualname__}"
    if kind.__module__ == "builtins" or not hasattr(kind, "__dict__"):
        raise InputError(f"A model file cannot hold a {kind.__qualname__}")
    if "<" in name or _attribute(sys.modules.get(kind.__module__), kind.__qualname__) is not kind:
        raise InputError(f"A model file cannot hold {name}: define the class at the top level of a module")
    try:
        signature(kind)
    except (TypeError, ValueError):
        raise InputError(f"A model file cannot hold {name}: the arguments of its constructor are unknown") from None
    return name


def as_trusted(names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str) or not all(isinstance(name, str) and _CLASS_NAME.fullmatch(name) for name in names):
        raise InputError(f'trusted must be a list of names such as "mypackage.features:Mine". Got {names!r:.80}.')
    return frozenset(names)


def trusted_class(name: str, trusted: frozenset[str]) -> type[Any]:
    if name not in trusted:
        raise InputError(f"it names the class {name!r:.80}, which is neither part of listwright nor trusted")
    module, _, path = name.partition(":")
    try:
        kind = _attribute(import_module(module), path)
    except ImportError as error:
        raise InputError(f"{name:.80} cannot be imported here ({error!s:.100})") from None
    if not isinstance(kind, type):
        raise InputError(f"the module {module:.80} has no class {path:.80}")
    return kind


def named_classes(tree: Any) -> Iterator[str]:
    """Yield the names of the classes in a tree of JSON nodes that are not listwright's; names may repeat."""
    names = (node.get("class") for node in dicts_in(tree))
    return (name for name in names if isinstance(name, str) and ":" in name)


def dicts_in(tree: Any) -> Iterator[dict[str, Any]]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
        if isinstance(node, dict | list):
            stack.extend(node.values() if isinstance(node, dict) else node)


def check_trusted(needed: Iterable[str], trusted: frozenset[str]) -> None:
    """Raise unless all needed classes are trusted, with one error that names every class that is missing."""
    missing = sorted(set(needed) - trusted)
    if missing:
        raise InputError(
            f"it contains classes from outside listwright, and loading them runs their code. If you trust the file and"
            f" these classes, pass trusted={missing!r:.2000}"
        )


def _attribute(module: Any, path: str) -> Any:
    return reduce(lambda value, part: getattr(value, part, None), path.split("."), module)
