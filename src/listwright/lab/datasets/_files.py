"""Reading files with errors that name the file, and the column or field that is missing."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from listwright.errors import InputError
from listwright.text.files import read_text


def found(path: str | Path, what: str) -> Path:
    """The path, where there is something."""
    path = Path(path)
    if not path.exists():
        raise InputError(f"{what} is not there: {path}.")
    return path


def first_of(folder: Path, names: Sequence[str], what: str) -> Path:
    """The first of some files that a folder holds."""
    if not folder.is_dir():
        raise InputError(f"{what} is a folder. Got {folder}.")
    there = [folder / name for name in names if (folder / name).is_file()]
    if not there:
        raise InputError(f"{what} needs {' or '.join(names)}, which {folder} does not hold.")
    return there[0]


def read_parquet(path: Path, columns: Sequence[str]) -> Any:
    """A pyarrow table that has at least these columns."""
    try:
        table = pq.read_table(found(path, "A Parquet file"))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"Cannot read {path}: {error}.") from error
    require(table.column_names, columns, path)
    return table


def column_of(table: Any, name: str) -> NDArray[Any]:
    """A column as a numpy array; dictionary columns as their values."""
    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.to_numpy()


def read_arrays(path: str | Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Arrays of an `.npz` file by name."""
    path = found(path, "An .npz file")
    try:
        with zipfile.ZipFile(path), np.load(path) as arrays:
            require(arrays.files, names, path)
            return {name: arrays[name] for name in names}
    except (zipfile.BadZipFile, OSError) as error:
        raise InputError(f"Cannot read {path}: {error}.") from error


def read_csv(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a comma-separated file by column name."""
    reader = csv.DictReader(StringIO(read_text(path), newline=""))
    require(reader.fieldnames or (), columns, path)
    return list(reader)


def read_records(path: str | Path) -> list[dict[str, Any]]:
    """The objects of a JSON file: one per line, or one list of them; also compressed (`.gz`)."""
    path = found(path, "A JSON file")
    text = read_text(path)
    try:
        if text.lstrip().startswith("["):
            records = json.loads(text)
        else:  # not splitlines: JSON strings may hold other line separators
            records = [json.loads(line) for line in text.split("\n") if line.strip()]
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is not JSON: {error}.") from error
    if not all(isinstance(record, dict) for record in records):
        raise InputError(f"{path} must hold JSON objects, one per line or in one list.")
    return records


def require(there: Iterable[str], needed: Sequence[str], source: object) -> None:
    """One error that names what a file lacks."""
    there = list(there)
    missing = [name for name in needed if name not in there]
    if missing:
        raise InputError(f"{source} lacks {', '.join(missing)}. It has {', '.join(there[:12]) or 'nothing'}.")
