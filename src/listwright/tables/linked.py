"""Links between the candidates of a problem (citations, mentions), from columns that list item ids."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import Ints, starts_of
from listwright.errors import InputError
from listwright.tables.columns import Columns
from listwright.tables.grouping import Groups
from listwright.tables.table import Table
from listwright.tables.values import Listed, lists, names


def links_of(table: Table, columns: Columns, groups: Groups) -> dict[str, sparse.csr_array] | None:
    """Read the link columns as sparse matrices."""
    if not columns.links:
        return None
    if columns.item is None:
        raise InputError("links= lists the ids of other items, so every row needs an id. Name the column with item=.")
    codes, values = names(table, columns.item, "item")
    known = {str(value): code for code, value in enumerate(values)}
    return {name: _linked(lists(table, name, "links"), known, codes, groups) for name in columns.links}


def _linked(listed: Listed, known: dict[str, int], codes: Ints, groups: Groups) -> sparse.csr_array:
    """Build the link matrix of one column."""
    places = _places(groups)
    rows = np.repeat(np.arange(len(codes)), listed.lengths)
    wanted = np.array([known.get(_name(value), -1) for value in listed.values.to_pylist()], dtype=np.int64)
    keys = groups.codes * (len(known) + 1) + codes
    order = np.argsort(keys, kind="stable")
    sought = groups.codes[rows] * (len(known) + 1) + wanted
    at = np.minimum(np.searchsorted(keys[order], sought), len(order) - 1)
    found = (wanted >= 0) & (keys[order][at] == sought) & (order[at] != rows)
    targets = places[order[at[found]]]
    shape = len(codes), int(np.diff(groups.offsets).max())
    table = sparse.coo_array((np.ones(len(targets), np.float32), (rows[found], targets)), shape=shape).tocsr()
    table.data[:] = 1.0  # an id that is listed twice is one link
    return groups.sorted(table)


def _places(groups: Groups) -> Ints:
    """By row of the table, the index of the row among the candidates of its problem."""
    order: NDArray[np.int64] = np.arange(len(groups.codes)) if groups.order is None else groups.order
    places = np.empty(len(order), dtype=np.int64)
    starts = starts_of(np.bincount(groups.codes))[:-1]
    places[order] = np.arange(len(order)) - starts[groups.codes[order]]
    return places


def _name(value: object) -> str:
    """Return an id as text; whole floats are printed as integers, since lists with gaps may have been converted to
    float.
    """
    value = value.as_py() if isinstance(value, pa.Scalar) else value
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
