"""Read table columns as numbers, names, texts or lists; `option` is the one that named the column, for messages."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Ints, first_bad
from listwright.errors import InputError
from listwright.frames.table import ColumnTable

SEPARATOR = "|"  # between the entries of a list that is written as text
LONGEST_FIXED = 64  # characters; longer names are kept as Python strings, so that one of them does not widen all
SHOWN = 40  # characters of a bad value that a message shows


class NameColumn(NamedTuple):
    codes: Ints  # by row, the index of its value in `values`
    values: list[Any]  # different values in order of first appearance: all int or all str


class ListColumn(NamedTuple):
    """A column of lists, flattened: all entries one after the other, and the number of entries of each row."""

    values: pa.Array
    lengths: Ints


def is_number(kind: pa.DataType) -> bool:
    """Return whether a column of this type can be used as a feature directly."""
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind))


def is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def numbers(table: ColumnTable, name: str, option: str, *, fill: float | None = None) -> Floats:
    """Read a column as float64; raise `InputError` for text, infinite values, and gaps that are not filled."""
    column = table.column(name, option)
    if pa.types.is_null(column.type) and fill is not None:
        return np.full(len(column), fill)
    if pa.types.is_null(column.type):
        raise table.error(0, name, "the value is missing", _fill(table, option))
    if not is_number(column.type):
        raise _not_numbers(table, name, option)
    array = to_floats(column)
    if fill is not None:
        array = np.where(np.isnan(array), fill, array)
    bad = first_bad(~np.isfinite(array))
    if bad is not None:
        missing = not column[bad].is_valid or np.isnan(array[bad])
        raise table.error(
            bad, name, "the value is missing" if missing else f"{array[bad]} is not finite", _fill(table, option)
        )
    return array


def is_missing(table: ColumnTable, name: str) -> NDArray[np.bool_]:
    column = table.columns[name]
    return np.isnan(to_floats(column)) if is_number(column.type) else names(table, name, "", gaps=True).codes < 0


def names(table: ColumnTable, name: str, option: str, *, gaps: bool = False) -> NameColumn:
    """Read ids or categories: as integers where all are whole, so that CSV and Parquet agree, and gaps as -1."""
    column = _as_names(table, name, option)
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")  # fill_null would import pandas
    codes, values = to_ints(encoded.indices), encoded.dictionary.to_pylist()
    if None in values:
        at = values.index(None)
        codes = np.where(codes == at, -1, codes - (codes > at))
        values.remove(None)
    if "" in values:
        codes = np.where(codes == values.index(""), -1, codes)
    missing = first_bad(codes < 0)
    if missing is not None and not gaps:
        problem = f"the value is {'empty' if column[missing].is_valid else 'missing'}"
        raise table.error(missing, name, problem, _another(table, option, "Give every row a value"))
    if any(part.is_text for part in table.parts) and all(_is_plain_integer(value) for value in values):
        values = [int(value) for value in values]
    return NameColumn(codes, values)


def as_array(values: list[Any]) -> NDArray[Any]:
    """Convert names to an array: int64, fixed-width strings, or Python strings if a long one would waste memory."""
    if all(isinstance(value, int) for value in values):
        return np.array(values, dtype=np.int64)
    fixed = all(len(value) <= LONGEST_FIXED and "\0" not in value for value in values)
    return np.array(values, dtype=np.str_ if fixed else object)


def texts(table: ColumnTable, name: str, option: str) -> list[str]:
    column = table.column(name, option)
    if not is_text(column.type):
        kind = f"{table.source}: column {name!r} must be text. Got {column.type}"
        raise InputError(f"{kind}. {_another(table, option, 'Make it text')}")
    missing = first_bad(to_bools(column.is_null()))
    if missing is not None:
        raise table.error(missing, name, "the text is missing", "Put text there, or leave the row out.")
    return column.to_pylist()


def lists(table: ColumnTable, name: str, option: str) -> ListColumn:
    """Read a column of lists; text is split at `|` or parsed as JSON, and single values are lists of one."""
    column = table.column(name, option)
    if is_text(column.type):
        column = _parse_lists(table, name, column)
    array = column.combine_chunks()
    if not is_list(array.type):
        array = _wrap_values(array)
    lengths = to_ints(pc.list_value_length(array).fill_null(0))
    values = array.flatten()  # leaves missing lists out, so they count as empty
    missing = first_bad(to_bools(values.is_null()))
    if missing is not None:
        row = int(np.searchsorted(np.cumsum(lengths), missing, side="right"))
        raise table.error(row, name, "the list has a missing entry", "Leave it out of the list.")
    return ListColumn(values, lengths)


def _as_names(table: ColumnTable, name: str, option: str) -> pa.ChunkedArray:
    """Return the column as integers or strings, ready for dictionary encoding; NaN becomes missing."""
    column = table.column(name, option)
    if pa.types.is_integer(column.type) or is_text(column.type):
        return column
    try:
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
        if pa.types.is_floating(column.type) and _all_whole(column):
            return column.cast(pa.int64())
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        kind = f"{table.source}: column {name!r} must hold names or whole numbers. Got {column.type}"
        raise InputError(f"{kind}. {_another(table, option, 'Make it text')}") from None


def _all_whole(column: pa.ChunkedArray) -> bool:
    """Return whether all values are whole numbers that float64 represents exactly (below 2**53)."""
    array = to_floats(column.drop_null())
    return bool((np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) < 2.0**53)).all())


def _is_plain_integer(value: Any) -> bool:
    if isinstance(value, int):
        return True
    digits = value.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 19 and str(int(value)) == value


def _not_numbers(table: ColumnTable, name: str, option: str) -> InputError:
    """Build the error for a column that should be numeric, pointing at the first cell that is not a number."""
    column = table.columns[name]
    if not is_text(column.type):
        kind = f"{table.source}: column {name!r} must hold numbers. Got {column.type}"
        return InputError(f"{kind}. {_another(table, option, 'Make it numbers')}")
    cells = enumerate(column.to_pylist())
    row = next((i for i, value in cells if value is not None and not converts(float, value)), 0)
    text = "leave the column out with ignore=, or make it 0/1 features with categorical="
    way = text if option == "features" else f"name another column with {option}="
    advice = table.advice(option, "Put a number there", way)
    return table.error(row, name, f"{_shorten(column[row].as_py())} is text where a number is expected", advice)


def converts(kind: type[int] | type[float], text: str) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return True


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def _fill(table: ColumnTable, option: str) -> str:
    leave = "leave the column out with ignore=" if option == "features" else f"name another column with {option}="
    return table.advice(option, "Put a number there, or leave the row out", leave)


def _another(table: ColumnTable, option: str, way: str) -> str:
    return table.advice(option, way, f"name another column with {option}=")


def _parse_lists(table: ColumnTable, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Parse a column of lists that are written as text; if the entries are of mixed types, all become strings."""
    rows = [_entries(text) for text in column.to_pylist()]
    bad = next((i for i, entries in enumerate(rows) if entries is None), None)
    if bad is not None:
        problem = f"{_shorten(column[bad].as_py())} is not a list"
        raise table.error(bad, name, problem, f'Write lists as JSON, such as ["a", "b"], or as a{SEPARATOR}b.')
    try:
        return pa.chunked_array([pa.array(rows)])
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.chunked_array([pa.array([[str(entry) for entry in entries or []] for entries in rows])])


def _entries(text: str | None) -> list[Any] | None:
    """Return the entries of a list that is written as text, or None if it is none of texts or numbers."""
    if text is None or not text.strip():
        return []
    if not text.lstrip().startswith("["):
        return [entry.strip() for entry in text.split(SEPARATOR) if entry.strip()]
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return entries if all(isinstance(entry, str | int | float) for entry in entries) else None


def _wrap_values(array: pa.Array) -> pa.Array:
    starts = np.concatenate([[0], np.cumsum(to_bools(array.is_valid()))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(starts), array.drop_null())


def to_bools(column: Any) -> NDArray[np.bool_]:
    return _values(column.cast(pa.uint8())).view(np.bool_)


def to_floats(column: Any) -> Floats:
    numbers = column.cast(pa.float64(), safe=False)
    return _values(numbers.fill_null(np.nan) if numbers.null_count else numbers)


def to_ints(column: Any) -> Ints:
    return _values(column.cast(pa.int64()))


def _values(column: Any) -> Any:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return np.from_dlpack(whole)
