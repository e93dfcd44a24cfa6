"""Read problems from files: Parquet, CSV, JSON lines and SVMlight; one file, several, a folder or a pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from glob import glob, has_magic
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from scipy import sparse

from listwright.errors import InputError
from listwright.frames.columns import ColumnKeywords, ColumnOptions, Columns
from listwright.frames.frame import REFERENCE_COLUMNS, as_chunked, as_table, references_by_problem
from listwright.frames.rewards import as_spec
from listwright.frames.streams import PACKED, text_lines, unreadable
from listwright.frames.table import ColumnTable, FileRows, no_repeats
from listwright.frames.values import is_list, is_number, is_text
from listwright.problems import Problems, build_problems
from listwright.tables.formats import read_csv, read_jsonl, read_svmlight

FORMATS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv"),
    "jsonl": (".jsonl", ".ndjson"),
    "svmlight": (".svmlight", ".svm", ".libsvm", ".letor"),
}
Paths = str | Path | Sequence[str | Path]


def read(
    paths: Any,
    *,
    reward: Any = None,
    references: Any = None,
    format: str | None = None,
    **options: Unpack[ColumnKeywords],
) -> Problems:
    r"""Problems from files, or from a data frame, with one row per candidate.

    Parameters
    ----------
    paths : Paths or frame
        A file, a folder, a pattern such as "logs/*.csv", or several of these. Parquet, CSV (also .tsv), JSON lines and
        SVMlight/LETOR; all but Parquet also packed as .gz or .zst. All rows of a problem are in one file. Fields of CSV
        files may be separated by commas, semicolons (then also with decimal commas), tabs or |. A frame of pandas,
        polars or pyarrow is read as `Problems.from_frame` reads it.
    reward, references
        As in `Problems.from_frame`; references may also be a file with columns problem and reference.
    format : str or None
        "parquet", "csv", "jsonl" or "svmlight", if the file names do not show it.
    options
        Which column is what, and the rest, as in `Problems.from_frame`. In SVMlight files, the label is `label`, as in
        reward="any:label" or "graded:label".

    Returns
    -------
    Problems
        One problem per id, in order of first appearance.

    Raises
    ------
    InputError
        If a file cannot be read, a column is missing or a value is wrong. The message names file, line and column.

    See Also
    --------
    read_with_columns : Also returns how the table was read, to read the next one alike.
    listwright.Problems.from_frame : The same from a data frame.
    scan : For Parquet files that do not fit in memory.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "log.csv").write_text("problem,item,price,clicked\nq1,a,3,0\nq2,a,1,1\nq1,b,2,1\n")
    ...     read(folder, reward="any:clicked")
    Problems: 2 problems, 3 candidates (1 to 2 each), 1 feature, reward AnySuccess
    """
    return read_with_columns(paths, reward=reward, references=references, format=format, **options)[0]


def read_with_columns(
    source: Any,
    *,
    reward: Any = None,
    references: Any = None,
    format: str | None = None,
    **options: Unpack[ColumnKeywords],
) -> tuple[Problems, Columns]:
    """Read problems from files or a data frame, and return how the table was read."""
    # Use it instead of `read` if another table, such as test data, must get the same features in the same order and the
    # same codes for categories.
    chosen = ColumnOptions(**options)
    spec = as_spec(reward)
    as_text = chosen.read_as_text() | (set() if spec is None else spec.read_as_text())
    table = read_table(source, chosen, as_text, format=format) if _is_paths(source) else as_table(source)
    known = known_references(references, chosen)
    return build_problems(table, chosen, reward=reward if spec is None else spec, references=known)


def known_references(references: Any, options: ColumnOptions) -> dict[str, list[str]] | None:
    problem = options.problem if options.columns is None else options.columns.problem
    if _is_paths(references):
        texts = read_table(references, options, {problem, *REFERENCE_COLUMNS})
        references = replace(texts, fixed=options.columns is not None)
    return references_by_problem(references, problem)


def _is_paths(source: Any) -> bool:
    several = source if isinstance(source, list | tuple) else [source]
    return all(isinstance(path, str | Path) for path in several)


def read_table(paths: Paths, options: ColumnOptions, as_text: set[str], *, format: str | None = None) -> ColumnTable:
    if format is not None and format not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}. Got {format!r}.")
    tables = [_read_one(file, options, as_text, format or format_of(file)) for file in all_files(paths, format)]
    return concat_tables(tables, all_columns=options.features is None and options.columns is None)


def all_files(paths: Paths, format: str | None) -> list[Path]:
    several = [paths] if isinstance(paths, str | Path) else list(paths)
    files = list(dict.fromkeys(file for path in several for file in _files(path, format)))
    if not files:
        raise InputError("There are no files to read. Name a file, a folder or a pattern.")
    return files


def _read_one(path: Path, options: ColumnOptions, as_text: set[str], kind: str | None) -> ColumnTable:
    if kind == "parquet":
        return _read_parquet(path)
    if kind == "csv":
        return read_csv(path, as_text)
    if kind == "jsonl":
        return read_jsonl(path)
    if kind == "svmlight":
        names = options if options.columns is None else options.columns
        return read_svmlight(path, problem=names.problem, item=names.item)
    endings = ", ".join(ending for several in FORMATS.values() for ending in several)
    raise InputError(f"{path} is of an unknown kind. Known endings are {endings}. Or name the kind with format=.")


def _read_parquet(path: Path) -> ColumnTable:
    try:
        with parquet.ParquetFile(path) as file:
            no_repeats(file.schema_arrow.names, str(path))
            rows = file.read()
            rows.validate(full=True)
    except (OSError, pa.ArrowException, MemoryError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None
    columns = {name: as_chunked(column) for name, column in zip(rows.column_names, rows.columns, strict=True)}
    categories = tuple(field.name for field in rows.schema if pa.types.is_dictionary(field.type))
    return ColumnTable(columns, (FileRows(str(path), rows.num_rows),), categories=categories)


def _files(path: str | Path, format: str | None) -> list[Path]:
    """Expand a folder to its files of known formats (recursively, not hidden ones), a pattern to its matches."""
    # Results are sorted by name, so that the order of rows does not depend on the file system.
    if path == "":
        raise InputError("There is no file to read: its name is empty.")
    path = Path(path)
    if path.is_dir():
        inside = sorted(file for file in path.rglob("*") if file.is_file() and not _hidden(file.relative_to(path)))
        known = [file for file in inside if format is not None or format_of(file) is not None]
        if not known:
            raise InputError(f"The folder {path} holds no table. Known endings are those of {', '.join(FORMATS)}.")
        return known
    if path.exists() or not has_magic(str(path)):
        return [path]
    matches = sorted(Path(file) for file in glob(str(path), recursive=True))
    if not matches:
        raise InputError(f"No file matches {path}.")
    return [file for match in matches for file in _files(match, format)]


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def format_of(path: Path) -> str | None:
    """Format of a file by its ending, compression aside; .txt files are SVMlight if their first line has a `qid`."""
    plain_name = path.with_suffix("") if path.suffix.lower() in PACKED else path
    ending = plain_name.suffix.lower()
    format = next((kind for kind, endings in FORMATS.items() if ending in endings), None)
    if format is None and ending == ".txt" and path.is_file():
        return "svmlight" if " qid:" in next(text_lines(path), "") else None
    return format


def concat_tables(tables: list[ColumnTable], *, all_columns: bool) -> ColumnTable:
    tables = [table for table in tables if table.n_rows] or tables[:1]  # files without rows say nothing of types
    if len(tables) == 1:
        return tables[0]
    if any((table.matrix is None) != (tables[0].matrix is None) for table in tables):
        raise InputError(f"{tables[0].source} and others: SVMlight files cannot be mixed with files of named columns.")
    if all_columns:
        _same_columns(tables)
    shared = [name for name in tables[0].names if all(name in table.names for table in tables)]
    unreadable = {name: table.unreadable[name] for table in tables for name in shared if name in table.unreadable}
    columns = {name: _column(name, tables) for name in shared if name not in unreadable}
    parts = tuple(part for table in tables for part in table.parts)
    categories = tuple(name for name in tables[0].categories if name in columns)
    return ColumnTable(columns, parts, unreadable, categories, _matrix([table.matrix for table in tables]))


def _same_columns(tables: list[ColumnTable]) -> None:
    first = tables[0]
    for table in tables[1:]:
        for left, right in ((first, table), (table, first)):
            missing = next((name for name in left.names if name not in right.names), None)
            if missing is not None:
                raise InputError(
                    f"{right.source} has no column {missing!r}, which {left.source} has. Make the files alike, or name"
                    " the features with features=."
                )


def _column(name: str, tables: list[ColumnTable]) -> pa.ChunkedArray:
    columns = [table.columns[name] for table in tables]
    kinds = {column.type for column in columns}
    shared = columns[0].type if len(kinds) == 1 else _shared_type(kinds)
    if shared is None:
        named = ", ".join(f"{column.type} in {table.source}" for column, table in zip(columns, tables, strict=True))
        raise InputError(f"Column {name!r} is of different kinds: {named[:200]}. Make the files alike.")
    return pa.chunked_array([chunk for column in columns for chunk in column.cast(shared).chunks], type=shared)


def _shared_type(kinds: set[pa.DataType]) -> pa.DataType | None:
    some = [kind for kind in kinds if not pa.types.is_null(kind)]
    if len(some) == 1:
        return some[0]
    if all(pa.types.is_integer(kind) or is_text(kind) for kind in some) and any(map(is_text, some)):
        return pa.large_string()
    if all(pa.types.is_signed_integer(kind) for kind in some):
        return pa.int64()
    if all(map(is_number, some)):
        return pa.float64()
    if all(map(is_list, some)):
        inner = _shared_type({kind.value_type for kind in some})
        return None if inner is None else pa.large_list(inner)
    return None


def _matrix(matrices: list[Any]) -> Any:
    """Stack SVMlight feature matrices, each widened to the widest; None for tables of named columns."""
    if matrices[0] is None:
        return None
    width = max(matrix.shape[1] for matrix in matrices)
    wide = [sparse.csr_array((m.data, m.indices, m.indptr), shape=(m.shape[0], width)) for m in matrices]
    return sparse.vstack(wide, format="csr", dtype=np.float64)
