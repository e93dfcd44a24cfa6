"""Read files with one JSON object per line.

Arrow's parser handles regular files quickly. Files that it refuses (mixed types, invalid lines, deep nesting) are
parsed line by line, which either succeeds or yields an error that names the line. Nesting is limited, because Arrow's
parser recurses and crashes the process where it is too deep for its stack: `may_be_deep` is a cheap test on the raw
bytes, `is_deep` one of a parsed value.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import json as arrow_json

from listwright.errors import InputError
from listwright.tables.streams import content, opened, text_lines
from listwright.tables.table import Part, Table
from listwright.tables.values import is_list

BLOCK = 1 << 24  # bytes that are parsed at a time: no object may be longer
DEEPEST = 64  # levels; a row of a table has two or three
CHUNK = 1 << 20  # bytes that are looked at in one go


def read_jsonl(path: Path) -> Table:
    """Read a JSON lines file; every key becomes a column, and keys that a line lacks are missing values.

    A column of mixed types is kept in `Table.unreadable` and is an error only if it is needed.
    """
    if may_be_deep(content(path)):  # too deep for the stack of the quick parser
        return _one_by_one(path)
    try:
        found = _quickly(path)
        found.validate(full=True)  # refuses text that is not UTF-8
        columns = dict(zip(found.column_names, found.columns, strict=True))
    except (OSError, pa.ArrowException, UnicodeDecodeError):
        return _one_by_one(path)
    return Table(columns, (Part(str(path), found.num_rows, lambda row: _line_of(path, row)),))


def _quickly(path: Path) -> pa.Table:
    """Parse with Arrow; columns that it converted to timestamps are read again as text, as JSON has no dates."""
    found = _parsed(path, None)
    dated = [field.with_type(_as_text(field.type)) for field in found.schema if _holds_dates(field.type)]
    return _parsed(path, pa.schema(dated)) if dated else found  # text that looks like a date is still text


def _parsed(path: Path, schema: pa.Schema | None) -> pa.Table:
    """Parse the file with Arrow, with explicit types for the columns of `schema`."""
    with opened(path) as stream:
        return arrow_json.read_json(
            stream,
            read_options=arrow_json.ReadOptions(block_size=BLOCK),
            parse_options=arrow_json.ParseOptions(explicit_schema=schema),
        )


def _holds_dates(kind: pa.DataType) -> bool:
    """Return whether a type is a timestamp or a (nested) list of timestamps."""
    return bool(pa.types.is_timestamp(kind)) or (is_list(kind) and _holds_dates(kind.value_type))


def _as_text(kind: pa.DataType) -> pa.DataType:
    """Return the same type with strings in place of its innermost values."""
    return pa.list_(_as_text(kind.value_type)) if is_list(kind) else pa.string()


def _one_by_one(path: Path) -> Table:
    """Parse line by line with Python's `json`, and convert column by column."""
    filled = [(number, line) for number, line in enumerate(text_lines(path), start=1) if line.strip()]
    objects = [_object(line, f"{path}, line {number}") for number, line in filled]
    if not objects:
        raise InputError(f"{path} is empty. It must have one JSON object per line.")
    lines = [number for number, _ in filled]
    columns: dict[str, pa.ChunkedArray] = {}
    mixed: dict[str, str] = {}
    for name in dict.fromkeys(name for found in objects for name in found):
        values = [found.get(name) for found in objects]
        try:
            columns[name] = pa.chunked_array([pa.array(values)])
        except (pa.ArrowException, OverflowError):
            mixed[name] = f"it mixes {_kinds(values, lines)}"
        except UnicodeEncodeError:
            mixed[name] = "it contains text that is not valid Unicode (half of a surrogate pair)"
    return Table(columns, (Part(str(path), len(objects), lambda row: lines[row]),), mixed)


def _object(line: str, place: str) -> dict[str, Any]:
    """Parse one line; raise `InputError` unless it is a JSON object of moderate depth."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        if isinstance(error, RecursionError):
            raise _too_deep(place) from None
        reason = getattr(error, "msg", type(error).__name__)
        raise InputError(f"{place}: not JSON ({reason}). Write one object per line.") from None
    if not isinstance(found, dict):
        raise InputError(f"{place}: expected a JSON object such as {{...}}. Got {type(found).__name__}.")
    if is_deep(found):
        raise _too_deep(place)
    return found


def _too_deep(place: str) -> InputError:
    """Build the error for an object that is nested too deeply."""
    return InputError(f"{place}: nested more than {DEEPEST} levels deep. Write numbers, text and lists of these.")


def _kinds(values: list[Any], lines: list[int]) -> str:
    """Name the Python types in a column with the first line of each, such as "int (line 1) and str (line 7)"."""
    kinds: dict[str, int] = {}
    for value, line in zip(values, lines, strict=True):
        if value is not None:
            kinds.setdefault(type(value).__name__, line)
    return " and ".join(f"{kind} (line {line})" for kind, line in kinds.items())


def _line_of(path: Path, row: int) -> int:
    """Line of the file that holds a row; blank lines are not rows."""
    filled = [number for number, line in enumerate(text_lines(path), start=1) if line.strip()]
    return filled[min(row, len(filled) - 1)]


def may_be_deep(data: bytes) -> bool:
    """Return whether JSON text may be nested more than `DEEPEST` levels."""
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
    """Return whether a value out of JSON is nested more than `DEEPEST` levels."""
    level = [value]
    for _ in range(DEEPEST):
        parts = [part.values() if isinstance(part, dict) else part for part in level if isinstance(part, dict | list)]
        level = [inner for part in parts for inner in part]
        if not level:
            return False
    return any(isinstance(part, dict | list) for part in level)
