"""Concatenate the tables of several files to one.

Files of one data set often differ slightly: an integer column is text in one file, or empty in another. Types are
unified where no meaning is lost, and otherwise the error names the files that differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from listwright.errors import InputError
from listwright.tables.table import Table
from listwright.tables.values import is_list, is_number, is_text


def joined(tables: list[Table], *, all_columns: bool) -> Table:
    """Concatenate tables by rows."""
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
    return Table(columns, parts, unreadable, categories, _matrix([table.matrix for table in tables]))


def _same_columns(tables: list[Table]) -> None:
    """Raise `InputError` naming the first column that one table has and another lacks."""
    first = tables[0]
    for table in tables[1:]:
        for one, other in ((first, table), (table, first)):
            missing = next((name for name in one.names if name not in other.names), None)
            if missing is not None:
                raise InputError(
                    f"{other.source} has no column {missing!r}, which {one.source} has. Make the files alike, or name"
                    " the features with features=."
                )


def _column(name: str, tables: list[Table]) -> pa.ChunkedArray:
    """Concatenate one column of all tables, cast to a shared type."""
    columns = [table.columns[name] for table in tables]
    kinds = {column.type for column in columns}
    shared = columns[0].type if len(kinds) == 1 else _shared_type(kinds)
    if shared is None:
        named = ", ".join(f"{column.type} in {table.source}" for column, table in zip(columns, tables, strict=True))
        raise InputError(f"Column {name!r} is of different kinds: {named[:200]}. Make the files alike.")
    return pa.chunked_array([chunk for column in columns for chunk in column.cast(shared).chunks], type=shared)


def _shared_type(kinds: set[pa.DataType]) -> pa.DataType | None:
    """Return a type to which all of several types can be cast without loss of meaning, or None."""
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
