"""File readers shared by the data sets: Parquet, npz, CSV and JSON.

All of them raise an `InputError` that names the file and the columns or fields that are missing.
"""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from listwright.datasets._fetch import locate
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.text.readers import read_text


class TrainTest(NamedTuple):
    """Problems by the source's own split; unpack it as `train, test = read_...(path)`."""

    train: Problems  # problems to learn from
    test: Problems  # problems to evaluate on


def require_path(path: str | Path, what: str) -> Path:
    """Return the path, or that of a published set, if something exists there; else raise an `InputError`."""
    path = locate(path)
    if not path.exists():
        raise InputError(f"{what} is not there: {path}.")
    return path


def first_of(folder: Path, names: Sequence[str], what: str) -> Path:
    """Return the first of several files that a folder holds."""
    if not folder.is_dir():
        raise InputError(f"{what} is a folder. Got {folder}.")
    there = [folder / name for name in names if (folder / name).is_file()]
    if not there:
        raise InputError(f"{what} needs {' or '.join(names)}, which {folder} does not hold.")
    return there[0]


def read_parquet(path: Path, columns: Sequence[str]) -> Any:
    """Read a Parquet file into a pyarrow table that has at least the given columns."""
    try:
        table = pq.read_table(require_path(path, "A Parquet file"))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"Cannot read {path}: {error}.") from error
    require(table.column_names, columns, path)
    if not table.num_rows:
        raise InputError(f"{path} has no rows.")
    return table


def column_of(table: Any, name: str) -> NDArray[Any]:
    """Return a column of a pyarrow table as a numpy array; dictionary-encoded columns are decoded."""
    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.to_numpy()


def read_arrays(path: str | Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return arrays of an `.npz` file by name. Pickled objects are not read."""
    path = require_path(path, "An .npz file")
    try:
        with zipfile.ZipFile(path), np.load(path) as arrays:
            require(arrays.files, names, path)
            return {name: arrays[name] for name in names}
    except (zipfile.BadZipFile, OSError) as error:
        raise InputError(f"Cannot read {path}: {error}.") from error


def read_csv(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Return the rows of a comma-separated file as dicts by column name; the columns given must exist."""
    reader = csv.DictReader(StringIO(read_text(path), newline=""))
    require(reader.fieldnames or (), columns, path)
    return list(reader)


def read_records(path: str | Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON file: one per line, or one list of them; also compressed (`.gz`)."""
    # Lines are split at newline characters only, because JSON strings may contain other line separators.
    path = require_path(path, "A JSON file")
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
    """Raise an `InputError` that names everything missing unless all needed names are there."""
    there = list(there)
    missing = [name for name in needed if name not in there]
    if missing:
        raise InputError(f"{source} lacks {', '.join(missing)}. It has {', '.join(there[:12]) or 'nothing'}.")
