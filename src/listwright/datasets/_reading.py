"""What the readers share: files are looked for by path or name, and lack of a file, column or field is an error."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

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
    path = locate(path)
    if not path.exists():
        raise InputError(f"{what} is not there: {path}.")
    return path


def first_of(folder: Path, names: Sequence[str], what: str) -> Path:
    if not folder.is_dir():
        raise InputError(f"{what} is a folder. Got {folder}.")
    there = [folder / name for name in names if (folder / name).is_file()]
    if not there:
        raise InputError(f"{what} needs {' or '.join(names)}, which {folder} does not hold.")
    return there[0]


def read_parquet(path: Path, needed: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the columns of a file as arrays; dictionary-encoded ones are decoded."""
    try:
        table = pq.read_table(require_path(path, "A Parquet file"))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"Cannot read {path}: {error}.") from error
    require(table.column_names, needed, path)
    if not table.num_rows:
        raise InputError(f"{path} has no rows.")
    plain = [field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in table.schema]
    return {
        name: column.cast(kind).to_numpy()
        for name, column, kind in zip(table.column_names, table.columns, plain, strict=True)
    }


def read_arrays(path: str | Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return arrays of an `.npz` file by name. Pickled objects are not read."""
    path = require_path(path, "An .npz file")
    try:
        with ZipFile(path), np.load(path) as arrays:
            require(arrays.files, names, path)
            return {name: arrays[name] for name in names}
    except (BadZipFile, OSError) as error:
        raise InputError(f"Cannot read {path}: {error}.") from error


def read_csv(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    reader = csv.DictReader(StringIO(read_text(path), newline=""))
    require(reader.fieldnames or (), columns, path)
    return [{column: (row[column] or "").strip() for column in columns} for row in reader]


def read_records(path: str | Path) -> list[dict[str, Any]]:
    """Return the objects of a JSON file: one per line, or one list of them; also compressed (`.gz`)."""
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
    there = list(there)
    missing = [name for name in needed if name not in there]
    if missing:
        raise InputError(f"{source} lacks {', '.join(missing)}. It has {', '.join(there[:12]) or 'nothing'}.")
