"""Read CSV, JSON lines and SVMlight files; what Arrow cannot parse is read again, slowly, to name the wrong line."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv
from pyarrow import json as arrow_json
from scipy import sparse

from listwright._internal.arrays import first_bad
from listwright.errors import InputError
from listwright.frames.streams import content, open_file, text_lines, unreadable
from listwright.frames.table import ColumnTable, FileRows, no_repeats
from listwright.frames.values import converts, is_list, is_text, to_bools

DELIMITERS = (",", ";", "\t", "|")  # in order of preference
HEADER = 1 << 16  # bytes that the header is looked for in
DECIMAL_COMMA = r"^\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*$"
WHOLE = r"^\s*[-+]?\d+([eE][-+]?\d+)?\s*$"  # which has no point to be written otherwise


def read_csv(path: Path, as_text: set[str]) -> ColumnTable:
    delimiter = _delimiter(path)
    rows = _parse_csv(path, delimiter, as_text, ".")
    if delimiter != "," and any(_has_decimal_commas(rows[name]) for name in rows.column_names if name not in as_text):
        rows = _parse_csv(path, delimiter, as_text, ",")
    if any(pa.types.is_binary(field.type) for field in rows.schema):
        for _ in text_lines(path):
            pass  # the line that is not UTF-8 ends this with its error
    part = FileRows(str(path), rows.num_rows, lambda row: _csv_line(path, delimiter, row), is_text=True)
    return ColumnTable(dict(zip(rows.column_names, rows.columns, strict=True)), (part,))


def _parse_csv(path: Path, delimiter: str, as_text: set[str], decimal_point: str) -> pa.Table:
    fields = arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    kinds = arrow_csv.ConvertOptions(column_types=dict.fromkeys(as_text, pa.string()), decimal_point=decimal_point)
    try:
        with open_file(path) as stream:
            rows = arrow_csv.read_csv(stream, parse_options=fields, convert_options=kinds)
            no_repeats(rows.column_names, str(path))
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        _explain_csv(path, delimiter)
        raise unreadable(path, error) from None
    return rows


def _delimiter(path: Path) -> str:
    """Return the delimiter that splits the header into most fields; a tab for files named .tsv."""
    if ".tsv" in path.suffixes:
        return "\t"
    try:
        with open_file(path) as stream:
            lines = stream.read(HEADER).decode("utf-8-sig", errors="replace").splitlines()
        header = next((line for line in lines if line.strip()), "")
        return max(DELIMITERS, key=lambda delimiter: len(next(csv.reader([header], delimiter=delimiter), [])))
    except (OSError, pa.ArrowException, csv.Error):
        return ","  # reading the file tells what is wrong with it


def _has_decimal_commas(column: pa.ChunkedArray) -> bool:
    # Whole numbers and empty cells may be among them, but at least pattern value must have a comma.
    if not is_text(column.type):
        return False
    filled = to_bools(pc.not_equal(column, "").fill_null(False))
    matches = (pc.match_substring_regex(column, pattern) for pattern in (DECIMAL_COMMA, WHOLE))
    broken, whole = (to_bools(match.fill_null(False)) for match in matches)
    return bool(broken.any() and (broken | whole | ~filled).all())


def _explain_csv(path: Path, delimiter: str) -> None:
    """Raise `InputError` for the first line with another number of fields than the header, or without rows."""
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


def _csv_line(path: Path, delimiter: str, row: int) -> int:
    """Line of the file at which a row begins, taking blank lines and line breaks within quotes into account."""
    try:
        return next((line for i, (line, _) in enumerate(_records(path, delimiter)) if i == row + 1), row + 2)
    except InputError:  # the error that is being raised matters more than the exact line
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


BLOCK = 1 << 24  # bytes that are parsed at a time: no object may be longer
DEEPEST = 64  # levels; a row of a table has two or three
CHUNK = 1 << 20  # bytes that are looked at in one go


def read_jsonl(path: Path) -> ColumnTable:
    # A column of mixed types is kept in `ColumnTable.unreadable` and is an error only if it is needed.
    if may_be_deep(content(path)):  # too deep for the stack of the quick parser
        return _read_json_lines(path)
    try:
        rows = _read_json_fast(path)
        rows.validate(full=True)  # refuses text that is not UTF-8
        columns = dict(zip(rows.column_names, rows.columns, strict=True))
    except (OSError, pa.ArrowException, UnicodeDecodeError):
        return _read_json_lines(path)
    return ColumnTable(columns, (FileRows(str(path), rows.num_rows, lambda row: _json_line(path, row)),))


def _read_json_fast(path: Path) -> pa.Table:
    """Parse with Arrow; columns that it converted to timestamps are read again as text, as JSON has no dates."""
    rows = _parse_json(path, None)
    dated = [field.with_type(_as_text(field.type)) for field in rows.schema if _holds_dates(field.type)]
    return _parse_json(path, pa.schema(dated)) if dated else rows  # text that looks like a date is still text


def _parse_json(path: Path, schema: pa.Schema | None) -> pa.Table:
    blocks, kinds = arrow_json.ReadOptions(block_size=BLOCK), arrow_json.ParseOptions(explicit_schema=schema)
    with open_file(path) as stream:
        return arrow_json.read_json(stream, read_options=blocks, parse_options=kinds)


def _holds_dates(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind)) or (is_list(kind) and _holds_dates(kind.value_type))


def _as_text(kind: pa.DataType) -> pa.DataType:
    return pa.list_(_as_text(kind.value_type)) if is_list(kind) else pa.string()


def _read_json_lines(path: Path) -> ColumnTable:
    filled = [(number, line) for number, line in enumerate(text_lines(path), start=1) if line.strip()]
    objects = [_parse_object(line, f"{path}, line {number}") for number, line in filled]
    if not objects:
        raise InputError(f"{path} is empty. It must have one JSON object per line.")
    lines = [number for number, _ in filled]
    columns: dict[str, pa.ChunkedArray] = {}
    mixed: dict[str, str] = {}
    for name in dict.fromkeys(name for entry in objects for name in entry):
        values = [entry.get(name) for entry in objects]
        try:
            columns[name] = pa.chunked_array([pa.array(values)])
        except (pa.ArrowException, OverflowError):
            mixed[name] = f"it mixes {_kinds(values, lines)}"
        except UnicodeEncodeError:
            mixed[name] = "it contains text that is not valid Unicode (half of a surrogate pair)"
    return ColumnTable(columns, (FileRows(str(path), len(objects), lambda row: lines[row]),), mixed)


def _parse_object(line: str, place: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        if isinstance(error, RecursionError):
            raise _too_deep(place) from None
        reason = getattr(error, "msg", type(error).__name__)
        raise InputError(f"{place}: not JSON ({reason}). Write one object per line.") from None
    if not isinstance(value, dict):
        raise InputError(f"{place}: expected a JSON object such as {{...}}. Got {type(value).__name__}.")
    if is_deep(value):
        raise _too_deep(place)
    return value


def _too_deep(place: str) -> InputError:
    return InputError(f"{place}: nested more than {DEEPEST} levels deep. Write numbers, text and lists of these.")


def _kinds(values: list[Any], lines: list[int]) -> str:
    kinds: dict[str, int] = {}
    for value, line in zip(values, lines, strict=True):
        if value is not None:
            kinds.setdefault(type(value).__name__, line)
    return " and ".join(f"{kind} (line {line})" for kind, line in kinds.items())


def _json_line(path: Path, row: int) -> int:
    filled = [number for number, line in enumerate(text_lines(path), start=1) if line.strip()]
    return filled[min(row, len(filled) - 1)]


def may_be_deep(data: bytes) -> bool:
    depth = lowest = 0
    for at in range(0, len(data), CHUNK):
        part = np.frombuffer(data, np.uint8, min(CHUNK, len(data) - at), at)
        steps = np.isin(part, (0x5B, 0x7B)).astype(np.int8) - np.isin(part, (0x5D, 0x7D)).astype(np.int8)
        depths = depth + np.cumsum(steps, dtype=np.int64)
        climbed = depths - np.minimum.accumulate(np.minimum(depths, lowest))
        if climbed.max(initial=0) > DEEPEST:
            return True
        depth, lowest = int(depths[-1]), min(lowest, int(depths.min()))
    return False


def is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        parts = [part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list)]
        level = [inner for part in parts for inner in part]
        if not level:
            return False
    return any(isinstance(part, dict | list) for part in level)


HIGHEST = 2**31 - 2  # feature number that still has an index in sparse matrices
_LINE = re.compile(r"\s*(?P<label>\S+)\s+qid:(?P<qid>\S+)(?P<features>(\s+\S+:\S+)*)\s*")
_DOCUMENT = re.compile(rb"docid\s*=\s*(\S+)")


def read_svmlight(path: Path, *, problem: str, item: str | None) -> ColumnTable:
    data = content(path)
    lines = [number for number, line in enumerate(data.split(b"\n"), start=1) if line.partition(b"#")[0].strip()]
    matrix, labels, queries = _parse_svmlight(data, path, len(lines))
    part = FileRows(str(path), len(lines), lambda row: lines[row], is_text=True)
    columns = {problem: pa.chunked_array([pa.array(queries)]), "label": pa.chunked_array([pa.array(labels)])}
    documents = _document_ids(data)
    if item is not None and len(documents) == len(lines):
        columns[item] = pa.chunked_array([pa.array(documents)])
    table = ColumnTable(columns, (part,), matrix=matrix)
    _require_finite(table)
    return table


def _parse_svmlight(data: bytes, path: Path, n_lines: int) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """Parse the bytes to (features, labels, query ids); feature numbers are kept as column indices."""
    from sklearn.datasets import load_svmlight_file  # here: it takes a second to import

    if not n_lines:
        raise InputError(f"{path} is empty. It must have lines such as: 1 qid:7 1:0.3 2:0.8")
    try:
        matrix, labels, queries = load_svmlight_file(io.BytesIO(data), zero_based=True, query_id=True)
    except (ValueError, OverflowError, IndexError, MemoryError) as error:
        _explain_svmlight(data, path)
        raise InputError(f"{path} is not a valid SVMlight file: {error}") from None
    if not len(labels) == len(queries) == n_lines:
        _explain_svmlight(data, path)
        raise InputError(f"{path}: {n_lines} lines, but {len(labels)} labels and {len(queries)} queries (qid).")
    return sparse.csr_array(matrix), labels, queries


def _require_finite(table: ColumnTable) -> None:
    matrix = table.matrix
    bad = first_bad(~(np.abs(matrix.data) <= np.finfo(np.float32).max))
    if bad is not None:
        row = int(np.searchsorted(matrix.indptr, bad, side="right")) - 1
        problem = f"{matrix.data[bad]:g} is not finite in float32"
        raise table.error(row, f"feature {matrix.indices[bad]}", problem, "Put a number there, or leave the entry out.")


def _explain_svmlight(data: bytes, path: Path) -> None:
    for number, line in enumerate(data.split(b"\n"), start=1):
        text = line.partition(b"#")[0].decode("utf-8", errors="replace")
        if not text.strip():
            continue
        problem = _line_error(text)
        if problem:
            raise InputError(f"{path}, line {number}: {problem}. Lines are such as: 1 qid:7 1:0.3 2:0.8")


def _line_error(text: str) -> str:
    fields = _LINE.fullmatch(text)
    if fields is None:
        return "expected a label, qid:NUMBER and features NUMBER:VALUE"
    if not converts(float, fields["label"]):
        return f"the label must be a number. Got {fields['label']!r:.40}"
    if not converts(int, fields["qid"]):
        return f"qid must be a whole number. Got {fields['qid']!r:.40}"
    last = -1
    for entry in fields["features"].split():
        index, _, value = entry.partition(":")
        if not converts(int, index) or not last < int(index) <= HIGHEST:
            return f"features must be numbered upwards, each once. Got {entry!r:.40} after {last}"
        if not converts(float, value):
            return f"the value of feature {index} must be a number. Got {value!r:.40}"
        last = int(index)
    return ""


def _document_ids(data: bytes) -> list[str]:
    """Document ids from the comments of all lines with features; shorter than the number of lines if some have none."""
    ids = []
    for line in data.split(b"\n"):
        features, _, comment = line.partition(b"#")
        match = _DOCUMENT.search(comment)
        if features.strip() and match:
            ids.append(match[1].decode("utf-8", errors="replace"))
    return ids
