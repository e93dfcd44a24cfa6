"""Read CSV and TSV files.

Delimiter and decimal separator are detected, and Arrow parses the file. If that fails, the file is read again with
Python's `csv` module, which is slower but can name the line that is wrong.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from listwright.errors import InputError
from listwright.tables.arrow import flags_of
from listwright.tables.streams import opened, text_lines, unreadable
from listwright.tables.table import Part, Table, no_repeats
from listwright.tables.values import is_text

DELIMITERS = (",", ";", "\t", "|")  # in order of preference
HEADER = 1 << 16  # bytes that the header is looked for in
DECIMAL_COMMA = r"^\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*$"
WHOLE = r"^\s*[-+]?\d+([eE][-+]?\d+)?\s*$"  # which has no point to be written otherwise


def read_csv(path: Path, as_text: set[str]) -> Table:
    """Read a CSV file with a header line."""
    delimiter = _delimiter(path)
    found = _parsed(path, delimiter, as_text, ".")
    if delimiter != "," and any(_has_decimal_commas(found[name]) for name in found.column_names if name not in as_text):
        found = _parsed(path, delimiter, as_text, ",")
    if any(pa.types.is_binary(field.type) for field in found.schema):
        for _ in text_lines(path):
            pass  # the line that is not UTF-8 ends this with its error
    part = Part(str(path), found.num_rows, lambda row: _line_of(path, delimiter, row), is_text=True)
    return Table(dict(zip(found.column_names, found.columns, strict=True)), (part,))


def _parsed(path: Path, delimiter: str, as_text: set[str], decimal_point: str) -> pa.Table:
    """Parse the file with Arrow; on failure, raise the most precise error that can be found."""
    try:
        with opened(path) as stream:
            found = arrow_csv.read_csv(
                stream,
                parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(as_text, pa.string()), decimal_point=decimal_point
                ),
            )
            no_repeats(found.column_names, str(path))
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        _explain(path, delimiter)
        raise unreadable(path, error) from None
    return found


def _delimiter(path: Path) -> str:
    """Return the delimiter that splits the header into most fields; a tab for files named .tsv."""
    if ".tsv" in path.suffixes:
        return "\t"
    try:
        with opened(path) as stream:
            lines = stream.read(HEADER).decode("utf-8-sig", errors="replace").splitlines()
        header = next((line for line in lines if line.strip()), "")
        return max(DELIMITERS, key=lambda one: len(next(csv.reader([header], delimiter=one), [])))
    except (OSError, pa.ArrowException, csv.Error):
        return ","  # reading the file tells what is wrong with it


def _has_decimal_commas(column: pa.ChunkedArray) -> bool:
    """Return whether a text column consists of numbers with decimal commas."""
    # Whole numbers and empty cells may be among them, but at least one value must have a comma.
    if not is_text(column.type):
        return False
    filled = flags_of(pc.not_equal(column, "").fill_null(False))
    broken, whole = (flags_of(pc.match_substring_regex(column, one).fill_null(False)) for one in (DECIMAL_COMMA, WHOLE))
    return bool(broken.any() and (broken | whole | ~filled).all())


def _explain(path: Path, delimiter: str) -> None:
    """Raise `InputError` for the first line whose number of fields differs from the header, or for a file
    without rows.
    """
    # Returns if nothing is found, so that the caller can report the parser's own error.
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
    """Line of the file at which a row begins, taking blank lines and line breaks within quotes into account."""
    try:
        return next((line for i, (line, _) in enumerate(_records(path, delimiter)) if i == row + 1), row + 2)
    except InputError:  # the error that is being told matters more than the exact line
        return row + 2


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Iterate over (first line, fields) of all records, header included; blank lines are skipped."""
    reader = csv.reader(text_lines(path), delimiter=delimiter)
    before = 0
    try:
        for fields in reader:
            if fields:
                yield before + 1, fields
            before = reader.line_num
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}.") from None
