"""Group the rows of a table by problem, in order of first appearance; candidates keep their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import Floats, Floats32, Ints, first_bad, starts_of
from listwright.errors import InputError
from listwright.frames.columns import Columns
from listwright.frames.table import ColumnTable
from listwright.frames.values import ListColumn, as_array, is_list, is_missing, is_text, lists, names, numbers


class RowGroups(NamedTuple):
    ids: NDArray[Any]  # by problem
    codes: Ints  # by row of the table: its problem
    order: Ints | None  # rows of the table by problem; None where they stand so already
    offsets: Ints  # start of each problem in the sorted rows, followed by the number of rows

    def sort(self, values: Any) -> Any:
        return values if self.order is None else values[self.order]

    def row_of(self, row: int) -> int:
        """Return the row of the table that is at this position after sorting, for messages."""
        return row if self.order is None else int(self.order[row])


def group_rows(table: ColumnTable, problem: str) -> RowGroups:
    codes, ids = names(table, problem, "problem")
    _require_one_file(table, codes, ids)
    offsets = starts_of(np.bincount(codes, minlength=len(ids)))
    adjacent = bool((np.diff(codes) >= 0).all())
    return RowGroups(as_array(ids), codes, None if adjacent else np.argsort(codes, kind="stable"), offsets)


def require_unique_items(table: ColumnTable, groups: RowGroups, column: str, codes: Ints, option: str) -> None:
    keys = groups.codes * (int(codes.max(initial=0)) + 1) + codes
    order = np.argsort(keys, kind="stable")
    bad = first_bad(np.diff(keys[order]) == 0)
    if bad is not None:
        first, row = int(order[bad]), int(order[bad + 1])
        problem = f"problem {groups.ids[groups.codes[row]]!s} has this item already, at {table.place(first)}"
        advice = table.advice(option, "List an item only once per problem", f"name another column with {option}=")
        raise table.error(row, column, problem, advice)


def _require_one_file(table: ColumnTable, codes: Ints, ids: list[Any]) -> None:
    """Raise if rows of one problem are in two files: most often two exports with colliding ids."""
    if len(table.parts) == 1 or table.streamed:
        return
    part_of = np.repeat(np.arange(len(table.parts)), np.diff(table.starts))
    last = np.zeros(len(ids), dtype=np.int64)
    np.maximum.at(last, codes, part_of)
    bad = first_bad(part_of != last[codes])
    if bad is not None:
        files = f"{table.parts[part_of[bad]].name} and in {table.parts[last[codes[bad]]].name}"
        raise InputError(f"Problem {ids[codes[bad]]!s} is in {files}. Put all rows of a problem into one file.")


def levels_of(table: ColumnTable, name: str) -> tuple[str, ...]:
    """Distinct values of a column as text, sorted, so that the encoding does not depend on the order of the rows."""
    return tuple(sorted({str(value) for value in names(table, name, "categorical", gaps=True).values} - {""}))


def one_hot(
    table: ColumnTable, name: str, levels: Sequence[str], *, new_levels: str = "error", gaps: bool = False
) -> Floats32:
    codes = encode_names(table, name, levels, "categorical", gaps=gaps)
    bad = first_bad(codes == -1)
    if bad is not None and new_levels == "error":
        problem = f"{_value(table, name, bad)!r} was not in the training data"
        ways = 'Fit again with it, or pass new_levels="zeros" to predict or score; for other calls to fit, or'
        way = f"{ways} to Problems.from_frame with the model's columns_. It is then none of the levels."
        raise table.error(bad, name, problem, way)
    flags = np.zeros((len(codes), len(levels)), dtype=np.float32)
    known = np.flatnonzero(codes >= 0)
    flags[known, codes[known]] = 1.0
    return flags


def catalogue_codes(table: ColumnTable, name: str, known: Sequence[str]) -> Ints:
    codes = encode_names(table, name, known, "catalogue")
    bad = first_bad(codes < 0)
    if bad is not None:
        problem = f"item {_value(table, name, bad)!s} is not in the catalogue of {len(known)} items"
        raise table.error(bad, name, problem, "Leave the row out, or fit again with the whole catalogue.")
    return codes


def catalogue_of(table: ColumnTable, name: str) -> tuple[str, ...]:
    return tuple(str(value) for value in names(table, name, "catalogue").values)


def encode_names(table: ColumnTable, name: str, known: Sequence[str], option: str, *, gaps: bool = False) -> Ints:
    """Return by row the place of its value in `known`, which must not repeat one: -1 if unknown, -2 if missing."""
    number = {value: i for i, value in enumerate(known)}
    if len(number) != len(known):
        raise InputError(f"{option}: the names of column {name!r} must differ. Got {list(known)!r:.60}.")
    codes, values = names(table, name, option, gaps=gaps)
    return np.array([*(number.get(str(value), -1) for value in values), -2], dtype=np.int64)[codes]


def _value(table: ColumnTable, name: str, row: int) -> object:
    return table.columns[name][row].as_py()


DENSE = 0.2  # share of entries from which SVMlight features are written out
NAMED = 100_000  # columns of SVMlight files up to which each gets a name


def features_of(
    table: ColumnTable, columns: Columns, groups: RowGroups, *, new_levels: str
) -> tuple[Any, list[str] | None]:
    if columns.numbered is not None:
        return _numbered_features(table, *columns.numbered, groups)
    matrix, names = stack_columns(table, columns.features, columns, "features", new_levels=new_levels)
    return groups.sort(matrix), names


def context_of(table: ColumnTable, columns: Columns, groups: RowGroups, *, new_levels: str) -> Floats32 | None:
    if not columns.context:
        return None
    matrix, names = stack_columns(table, columns.context, columns, "context", new_levels=new_levels)
    by_row = groups.sort(matrix)
    first = by_row[groups.offsets[:-1]]
    bad = first_bad((by_row != np.repeat(first, np.diff(groups.offsets), axis=0)).any(axis=1))
    if bad is not None:
        owner = int(np.searchsorted(groups.offsets, bad, side="right")) - 1
        column = int(np.argmax(by_row[bad] != first[owner]))
        place = table.place(groups.row_of(int(groups.offsets[owner])))
        name = names[column].partition("=")[0] if names[column] not in columns.context else names[column]
        problem = f"problem {groups.ids[owner]!s} has another value at {place}"
        way = "Context has one value per problem: correct it, or use the column as a feature."
        raise table.error(groups.row_of(bad), name, problem, way)
    return first


def sizes_of(table: ColumnTable, columns: Columns, groups: RowGroups) -> Floats | None:
    if columns.size is None:
        return None
    sizes = numbers(table, columns.size, "size")
    bad = first_bad(sizes <= 0)
    if bad is not None:
        raise table.error(bad, columns.size, f"size {sizes[bad]:g} is not above 0", "Give every item a size above 0.")
    return groups.sort(sizes)


def weights_of(table: ColumnTable, column: str | None, groups: RowGroups) -> Floats | None:
    """Weight of each problem, 1 on average (those of a scan as they are), or None without a column of weights."""
    if column is None:
        return None
    by_row = groups.sort(numbers(table, column, "weight"))
    weights = by_row[groups.offsets[:-1]]
    bad = first_bad((by_row < 0) | (by_row != np.repeat(weights, np.diff(groups.offsets))))
    if bad is not None:
        problem = f"{by_row[bad]:g} is below 0, or not the weight that other rows of its problem have"
        raise table.error(groups.row_of(bad), column, problem, "Give a problem one weight, 0 or more.")
    return weights if table.streamed or not weights.any() else weights / weights.mean()


def stack_columns(
    table: ColumnTable, chosen: tuple[str, ...], columns: Columns, option: str, *, new_levels: str
) -> tuple[Floats32, list[str]]:
    names = [part for name in chosen for part in columns.flags(name)]
    matrix = np.empty((table.n_rows, len(names)), dtype=np.float32)
    at = 0
    for name in chosen:
        width = len(columns.flags(name))
        fill = columns.fills.get(name, columns.medians.get(name))
        if name in columns.levels:
            known, gaps = columns.levels[name], fill is not None
            matrix[:, at : at + width] = one_hot(table, name, known, new_levels=new_levels, gaps=gaps)
        else:
            matrix[:, at] = as_float32(table, name, option, fill=fill)
            if width > 1:
                matrix[:, at + 1] = is_missing(table, name)
        at += width
    return matrix, names


def as_float32(table: ColumnTable, name: str, option: str, *, fill: float | None = None) -> Floats32:
    values = numbers(table, name, option, fill=fill)
    bad = first_bad(np.abs(values) > np.finfo(np.float32).max)
    if bad is not None:
        raise table.error(bad, name, f"{values[bad]:g} is too large for float32", "Divide the column by a constant.")
    return values.astype(np.float32)


def vectors(table: ColumnTable, chosen: tuple[str, ...], option: str) -> Floats32:
    """Vectors, float32 of shape (rows, dimensions), from one column of lists or several of numbers."""
    kind = table.column(chosen[0], option).type
    if len(chosen) > 1 or not (is_list(kind) or is_text(kind)):
        return np.stack([as_float32(table, name, option) for name in chosen], axis=1)
    values, lengths = lists(table, chosen[0], option)
    width = _width(table, chosen[0], lengths)
    flat = _floats(values)
    bad = 0 if flat is None else first_bad(~(np.abs(flat) <= np.finfo(np.float32).max))
    if flat is None or bad is not None:
        row = 0 if bad is None else bad // width
        raise table.error(row, chosen[0], "the list does not hold finite numbers", "Put numbers there.")
    return flat.astype(np.float32).reshape(table.n_rows, width)


def _width(table: ColumnTable, name: str, lengths: Ints) -> int:
    missing = first_bad(lengths == 0)
    if missing is not None:
        problem = "the vector is empty" if table.columns[name][missing].is_valid else "the vector is missing"
        raise table.error(missing, name, problem, "Put numbers there, or leave the row out.")
    width = int(np.bincount(lengths).argmax())
    bad = first_bad(lengths != width)
    if bad is not None:
        problem = f"the vector has {lengths[bad]} numbers, most have {width}"
        raise table.error(bad, name, problem, "Vectors must be equally long.")
    return width


def _floats(values: Any) -> Floats | None:
    try:
        return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _numbered_features(table: ColumnTable, first: int, end: int, groups: RowGroups) -> tuple[Any, list[str] | None]:
    """Features of SVMlight files, with columns numbered as in training."""
    # The matrix stays sparse unless at least a share `DENSE` of the entries is not 0.
    if table.matrix is None:
        raise InputError(f"{table.source} has named columns, but the model was trained on SVMlight files.")
    indices = table.matrix.indices
    bad = first_bad((indices < first) | (indices >= end))
    if bad is not None:
        row = int(np.searchsorted(table.matrix.indptr, bad, side="right")) - 1
        problem = f"not there in training, which had features {first} to {end - 1}"
        raise table.error(row, f"feature {indices[bad]}", problem, "Leave it out, or fit again.")
    shape = (table.n_rows, end - first)
    matrix: Any = sparse.csr_array((table.matrix.data, indices - first, table.matrix.indptr), shape=shape)
    if matrix.nnz >= DENSE * shape[0] * shape[1]:
        matrix = matrix.toarray()
    return groups.sort(matrix), [f"feature {i}" for i in range(first, end)] if shape[1] <= NAMED else None


def links_of(table: ColumnTable, columns: Columns, groups: RowGroups) -> dict[str, sparse.csr_array] | None:
    if not columns.links:
        return None
    if columns.item is None:
        raise InputError("links= lists the ids of other items, so every row needs an id. Name the column with item=.")
    codes, values = names(table, columns.item, "item")
    known = {str(value): code for code, value in enumerate(values)}
    return {name: _link_matrix(lists(table, name, "links"), known, codes, groups) for name in columns.links}


def _link_matrix(listed: ListColumn, known: dict[str, int], codes: Ints, groups: RowGroups) -> sparse.csr_array:
    places = _positions(groups)
    rows = np.repeat(np.arange(len(codes)), listed.lengths)
    linked = np.array([known.get(_name(value), -1) for value in listed.values.to_pylist()], dtype=np.int64)
    keys = groups.codes * (len(known) + 1) + codes
    order = np.argsort(keys, kind="stable")
    sought = groups.codes[rows] * (len(known) + 1) + linked
    at = np.minimum(np.searchsorted(keys[order], sought), len(order) - 1)
    present = (linked >= 0) & (keys[order][at] == sought) & (order[at] != rows)
    targets = places[order[at[present]]]
    shape = len(codes), int(np.diff(groups.offsets).max())
    table = sparse.coo_array((np.ones(len(targets), np.float32), (rows[present], targets)), shape=shape).tocsr()
    table.data[:] = 1.0  # an id that is listed twice is one link
    return groups.sort(table)


def _positions(groups: RowGroups) -> Ints:
    """By row of the table, the index of the row among the candidates of its problem."""
    order: NDArray[np.int64] = np.arange(len(groups.codes)) if groups.order is None else groups.order
    places = np.empty(len(order), dtype=np.int64)
    starts = starts_of(np.bincount(groups.codes))[:-1]
    places[order] = np.arange(len(order)) - starts[groups.codes[order]]
    return places


def _name(value: object) -> str:
    """Return an id as text; whole floats as integers, since lists with gaps may have become floats."""
    value = value.as_py() if isinstance(value, pa.Scalar) else value
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
