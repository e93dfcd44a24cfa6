"""Read problems from files: Parquet, CSV, JSON lines and SVMlight; one file, several, a folder or a pattern.

`read` and `read_with_columns` are the public functions. Each file becomes a `Table` by the reader of its format,
`joined` concatenates them, and `frame.build` makes the problems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from glob import glob, has_magic
from pathlib import Path
from typing import Any, TypedDict, Unpack

import pyarrow as pa
from pyarrow import parquet

from listwright.errors import InputError
from listwright.problems import Problems
from listwright.tables.columns import Columns, Wanted
from listwright.tables.csv_files import read_csv
from listwright.tables.frame import as_table, build, by_problem, plain
from listwright.tables.joined import joined
from listwright.tables.json_files import read_jsonl
from listwright.tables.references import COLUMNS, from_table
from listwright.tables.rewards import as_spec
from listwright.tables.streams import PACKED, text_lines, unreadable
from listwright.tables.svmlight import read_svmlight
from listwright.tables.table import Part, Table, no_repeats

FORMATS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".tsv"),
    "jsonl": (".jsonl", ".ndjson"),
    "svmlight": (".svmlight", ".svm", ".libsvm", ".letor"),
}
Paths = str | Path | Sequence[str | Path]


class Options(TypedDict, total=False):
    """Keyword options of `read` and `scan` that tell which column is which; see `from_frame` for their meaning."""

    problem: str
    item: str | None
    size: str | None
    group: str | None
    features: Sequence[str] | None
    context: Sequence[str] | None
    vectors: str | Sequence[str] | None
    links: str | Sequence[str] | None
    catalogue: str | None
    catalogue_names: Sequence[str] | None
    categorical: Sequence[str]
    levels: Mapping[str, Sequence[str]] | None
    ignore: Sequence[str]
    columns: Columns | None
    new_levels: str
    fixed: bool


def read(
    paths: Any, *, reward: Any = None, references: Any = None, format: str | None = None, **options: Unpack[Options]
) -> Problems:
    r"""Problems from files, or from a data frame, with one row per candidate.

    Parameters
    ----------
    paths : Paths or frame
        A file, a folder, a pattern such as "logs/*.csv", or several of these. Parquet, CSV (also .tsv), JSON lines and
        SVMlight/LETOR; all but Parquet also packed as .gz or .zst. All rows of a problem are in one file. Fields of CSV
        files may be separated by commas, semicolons (then also with decimal commas), tabs or |. A frame of pandas,
        polars or pyarrow is read as `from_frame` reads it.
    reward, references
        As in `from_frame`; references may also be a file with columns problem and reference.
    format : str or None
        "parquet", "csv", "jsonl" or "svmlight", if the file names do not show it.
    options
        Which column is what, and the rest, as in `from_frame`. In SVMlight files, the label is `label`, as in
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
    from_frame : The same from a data frame.
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
    source: Any, *, reward: Any = None, references: Any = None, format: str | None = None, **options: Unpack[Options]
) -> tuple[Problems, Columns]:
    """Read problems from files or a data frame, and return how the table was read."""
    # Use it instead of `read` if another table, such as test data, must get the same features in the same order and the
    # same codes for categories.
    wanted = Wanted(**options)
    spec = as_spec(reward)
    as_text = wanted.read_as_text() | (set() if spec is None else spec.read_as_text())
    table = read_table(source, wanted, as_text, format=format) if _is_paths(source) else as_table(source)
    known = known_references(references, wanted)
    return build(table, wanted, reward=reward if spec is None else spec, references=known)


def known_references(references: Any, wanted: Wanted) -> dict[str, list[str]] | None:
    """Reference texts by problem id, from files, a data frame or a dict; None stays None."""
    problem = wanted.problem if wanted.columns is None else wanted.columns.problem
    if _is_paths(references):
        texts = read_table(references, wanted, {problem, *COLUMNS})
        references = from_table(replace(texts, fixed=wanted.columns is not None), problem)
    return by_problem(references, problem)


def _is_paths(source: Any) -> bool:
    """Return whether the source is a path or a sequence of paths, and not a data frame."""
    several = source if isinstance(source, list | tuple) else [source]
    return all(isinstance(path, str | Path) for path in several)


def read_table(paths: Paths, wanted: Wanted, as_text: set[str], *, format: str | None = None) -> Table:
    """Read all rows of all files to one table."""
    if format is not None and format not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}. Got {format!r}.")
    tables = [_read_one(file, wanted, as_text, format or format_of(file)) for file in all_files(paths, format)]
    return joined(tables, all_columns=wanted.features is None and wanted.columns is None)


def all_files(paths: Paths, format: str | None) -> list[Path]:
    """Expand paths, folders and patterns to files, each once; raise `InputError` if there are none."""
    several = [paths] if isinstance(paths, str | Path) else list(paths)
    files = list(dict.fromkeys(file for path in several for file in _files(path, format)))
    if not files:
        raise InputError("There are no files to read. Name a file, a folder or a pattern.")
    return files


def _read_one(path: Path, wanted: Wanted, as_text: set[str], kind: str | None) -> Table:
    """Read one file with the reader of its format."""
    if kind == "parquet":
        return _read_parquet(path)
    if kind == "csv":
        return read_csv(path, as_text)
    if kind == "jsonl":
        return read_jsonl(path)
    if kind == "svmlight":
        names = wanted if wanted.columns is None else wanted.columns
        return read_svmlight(path, problem=names.problem, item=names.item)
    endings = ", ".join(ending for several in FORMATS.values() for ending in several)
    raise InputError(f"{path} is of an unknown kind. Known endings are {endings}. Or name the kind with format=.")


def _read_parquet(path: Path) -> Table:
    """Read a Parquet file; dictionary columns are decoded and noted as categorical."""
    try:
        with parquet.ParquetFile(path) as file:
            no_repeats(file.schema_arrow.names, str(path))
            found = file.read()
            found.validate(full=True)
    except (OSError, pa.ArrowException, MemoryError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None
    columns = {name: plain(column) for name, column in zip(found.column_names, found.columns, strict=True)}
    categories = tuple(field.name for field in found.schema if pa.types.is_dictionary(field.type))
    return Table(columns, (Part(str(path), found.num_rows),), categories=categories)


def _files(path: str | Path, format: str | None) -> list[Path]:
    """Expand one path: a folder to its files of known formats (recursively, hidden ones skipped), a pattern to its
    matches.
    """
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
    found = sorted(Path(file) for file in glob(str(path), recursive=True))
    if not found:
        raise InputError(f"No file matches {path}.")
    return [file for match in found for file in _files(match, format)]


def _hidden(path: Path) -> bool:
    """Return whether a part of the path starts with a dot or an underscore, as metadata of Spark and others does."""
    return any(part.startswith((".", "_")) for part in path.parts)


def format_of(path: Path) -> str | None:
    """Format of a file by its ending, compression aside; .txt files are SVMlight if their first line has a `qid`."""
    plain_name = path.with_suffix("") if path.suffix.lower() in PACKED else path
    ending = plain_name.suffix.lower()
    found = next((kind for kind, endings in FORMATS.items() if ending in endings), None)
    if found is None and ending == ".txt" and path.is_file():
        return "svmlight" if " qid:" in next(text_lines(path), "") else None
    return found
