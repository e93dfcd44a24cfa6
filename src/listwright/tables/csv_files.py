"""Tables from CSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import csv as arrow_csv

from listwright.errors import InputError
from listwright.tables.streams import opened, text_lines, unreadable
from listwright.tables.table import Part, Table, no_repeats


def read_csv(path: Path, as_text: set[str]) -> Table:
    """A file with a header; columns in `as_text` stay text whatever they look like."""
    delimiter = "\t" if ".tsv" in path.suffixes else ","
    try:
        with opened(path) as stream:
            found = arrow_csv.read_csv(
                stream,
                parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
                convert_options=arrow_csv.ConvertOptions(column_types=dict.fromkeys(as_text, pa.string())),
            )
            no_repeats(found.column_names, str(path))
            _separated(found.column_names, path)
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        _explain(path, delimiter)
        raise unreadable(path, error) from None
    if any(pa.types.is_binary(field.type) for field in found.schema):
        for _ in text_lines(path):
            pass  # the line that is not UTF-8 ends this with its error
    part = Part(str(path), found.num_rows, lambda row: _line_of(path, delimiter, row), is_text=True)
    return Table(dict(zip(found.column_names, found.columns, strict=True)), (part,))


def _separated(names: list[str], path: Path) -> None:
    """Refuses a file whose fields are separated by something else."""
    other = next((mark for mark in (";", "\t", "|") if len(names) == 1 and mark in names[0]), None)
    if other is not None:
        raise InputError(f"{path}: fields seem to be separated by {other!r}. Separate them by commas, or tabs in .tsv.")


def _explain(path: Path, delimiter: str) -> None:
    """Raises the error that names the first line with too many or too few fields, where there is one."""
    header, line = None, 0
    for line, fields in _records(path, delimiter):
        header = fields if header is None else header
        if len(fields) != len(header):
            raise InputError(f"{path}, line {line}: expected {len(header)} fields as in the header. Got {len(fields)}.")
    if header is None:
        raise InputError(f"{path} is empty. It must have a header and one row per candidate.")
    if line == 1:
        raise InputError(f"{path} has a header and no rows. There must be one row per candidate.")


def _line_of(path: Path, delimiter: str, row: int) -> int:
    """The line where a row begins; the header is line 1 unless blank lines come before it."""
    try:
        return next((line for i, (line, _) in enumerate(_records(path, delimiter)) if i == row + 1), row + 2)
    except InputError:  # the error that is being told matters more than the exact line
        return row + 2


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """First line and fields of every record, blank lines left out."""
    reader = csv.reader(text_lines(path), delimiter=delimiter)
    before = 0
    try:
        for fields in reader:
            if fields:
                yield before + 1, fields
            before = reader.line_num
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}.") from None
