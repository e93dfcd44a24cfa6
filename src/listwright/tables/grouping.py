"""Group the rows of a table by problem.

Rows of a problem may be scattered within a file. Grouping is stable: problems come in order of first appearance, and
the candidates of a problem keep their order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Ints, first_bad, starts_of
from listwright.errors import InputError
from listwright.tables.table import Table
from listwright.tables.values import as_array, names


class Groups(NamedTuple):
    """Assignment of table rows to problems."""

    ids: NDArray[Any]  # by problem
    codes: Ints  # by row of the table: its problem
    order: Ints | None  # rows of the table by problem; None where they stand so already
    offsets: Ints  # start of each problem in the sorted rows, followed by the number of rows

    def sorted(self, values: Any) -> Any:
        """Reorder values that are given by table row to the order of the problems."""
        return values if self.order is None else values[self.order]

    def row_of(self, row: int) -> int:
        """Return the row of the table that is at position `row` after sorting, to point error messages at the original
        row.
        """
        return row if self.order is None else int(self.order[row])


def group(table: Table, problem: str) -> Groups:
    """Group the rows of a table by the column `problem`."""
    codes, ids = names(table, problem, "problem")
    _one_file_each(table, codes, ids)
    offsets = starts_of(np.bincount(codes, minlength=len(ids)))
    adjacent = bool((np.diff(codes) >= 0).all())
    return Groups(as_array(ids), codes, None if adjacent else np.argsort(codes, kind="stable"), offsets)


def no_item_twice(table: Table, groups: Groups, column: str, codes: Ints, option: str) -> None:
    """Raise `InputError` if a problem lists the same item twice, naming both rows."""
    keys = groups.codes * (int(codes.max(initial=0)) + 1) + codes
    order = np.argsort(keys, kind="stable")
    bad = first_bad(np.diff(keys[order]) == 0)
    if bad is not None:
        first, row = int(order[bad]), int(order[bad + 1])
        problem = f"problem {groups.ids[groups.codes[row]]!s} has this item already, at {table.place(first)}"
        advice = table.advice(option, "List an item only once per problem", f"name another column with {option}=")
        raise table.error(row, column, problem, advice)


def _one_file_each(table: Table, codes: Ints, ids: list[Any]) -> None:
    """Raise `InputError` if rows of one problem are in two files, which is most often two exports with
    colliding ids.
    """
    if len(table.parts) == 1 or table.streamed:
        return
    part_of = np.repeat(np.arange(len(table.parts)), np.diff(table.starts))
    last = np.zeros(len(ids), dtype=np.int64)
    np.maximum.at(last, codes, part_of)
    bad = first_bad(part_of != last[codes])
    if bad is not None:
        problem = ids[codes[bad]]
        files = table.parts[part_of[bad]].name, table.parts[last[codes[bad]]].name
        raise InputError(
            f"Problem {problem!s} is in {files[0]} and in {files[1]}. Put all rows of a problem into one file."
        )
