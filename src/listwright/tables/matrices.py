"""Numeric columns as arrays: features, context, vectors and sizes, with rows in the order of the problems.

Values are stored as float32, except sizes, whose sums are compared with a budget. Numbers that float32 cannot hold
raise an error that names the cell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Floats32, Ints, first_bad
from listwright.errors import InputError
from listwright.tables.categories import one_hot
from listwright.tables.columns import Columns
from listwright.tables.grouping import Groups
from listwright.tables.table import Table
from listwright.tables.values import is_list, is_text, lists, numbers

DENSE = 0.2  # share of entries from which SVMlight features are written out
NAMED = 100_000  # columns of SVMlight files up to which each gets a name


def features_of(table: Table, columns: Columns, groups: Groups, *, new_levels: str) -> tuple[Any, list[str] | None]:
    """Return the feature matrix and the names of its columns."""
    if columns.numbered is not None:
        return _numbered(table, *columns.numbered, groups)
    matrix, names = stacked(table, columns.features, columns, "features", new_levels=new_levels)
    return groups.sorted(matrix), names


def context_of(table: Table, columns: Columns, groups: Groups, *, new_levels: str) -> Floats32 | None:
    """Return the context as one row per problem, or None without context columns."""
    if not columns.context:
        return None
    matrix, names = stacked(table, columns.context, columns, "context", new_levels=new_levels)
    by_row = groups.sorted(matrix)
    first = by_row[groups.offsets[:-1]]
    differs = (by_row != np.repeat(first, np.diff(groups.offsets), axis=0)).any(axis=1)
    bad = first_bad(differs)
    if bad is not None:
        owner = int(np.searchsorted(groups.offsets, bad, side="right")) - 1
        column = int(np.argmax(by_row[bad] != first[owner]))
        place = table.place(groups.row_of(int(groups.offsets[owner])))
        name = names[column].partition("=")[0] if names[column] not in columns.context else names[column]
        problem = f"problem {groups.ids[owner]!s} has another value at {place}"
        raise table.error(
            groups.row_of(bad),
            name,
            problem,
            "Context has one value per problem: correct it, or use the column as a feature.",
        )
    return first


def vectors_of(table: Table, columns: Columns, groups: Groups) -> Floats32 | None:
    """Vectors for similarity, of shape (rows, dimensions), or None without vector columns."""
    return groups.sorted(vectors(table, columns.vectors, "vectors")) if columns.vectors else None


def sizes_of(table: Table, columns: Columns, groups: Groups) -> Floats | None:
    """Size of each row as float64, or None without a size column; sizes must be above 0."""
    if columns.size is None:
        return None
    sizes = numbers(table, columns.size, "size")
    bad = first_bad(sizes <= 0)
    if bad is not None:
        raise table.error(bad, columns.size, f"size {sizes[bad]:g} is not above 0", "Give every item a size above 0.")
    return groups.sorted(sizes)


def stacked(
    table: Table, chosen: tuple[str, ...], columns: Columns, option: str, *, new_levels: str
) -> tuple[Floats32, list[str]]:
    """Put columns side by side, categorical ones as one flag per level."""
    names = [part for name in chosen for part in columns.flags(name)]
    matrix = np.empty((table.n_rows, len(names)), dtype=np.float32)
    at = 0
    for name in chosen:
        width = len(columns.flags(name))
        if name in columns.levels:
            matrix[:, at : at + width] = one_hot(table, name, columns.levels[name], new_levels=new_levels)
        else:
            matrix[:, at] = as_float32(table, name, option)
        at += width
    return matrix, names


def as_float32(table: Table, name: str, option: str) -> Floats32:
    """Return a numeric column as float32; raise `InputError` for numbers beyond its range."""
    values = numbers(table, name, option)
    bad = first_bad(np.abs(values) > np.finfo(np.float32).max)
    if bad is not None:
        raise table.error(bad, name, f"{values[bad]:g} is too large for float32", "Divide the column by a constant.")
    return values.astype(np.float32)


def vectors(table: Table, chosen: tuple[str, ...], option: str) -> Floats32:
    """Vectors from one column of lists of numbers, or from several numeric columns; float32 of shape (rows,
    dimensions).
    """
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


def _width(table: Table, name: str, lengths: Ints) -> int:
    """Dimension of the vectors: the most frequent length."""
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
    """List entries as float64, or None if they are not numbers."""
    try:
        return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _numbered(table: Table, first: int, end: int, groups: Groups) -> tuple[Any, list[str] | None]:
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
    return groups.sorted(matrix), [f"feature {i}" for i in range(first, end)] if shape[1] <= NAMED else None
