"""Encode text columns: one 0/1 column per level of a categorical column, and integer codes for a catalogue.

Levels are sorted and catalogue items are in order of first appearance. Both are stored in `Columns`, so that tables
read later get the same encoding as the training table.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from listwright._internal.arrays import Floats32, Ints, first_bad
from listwright.errors import InputError
from listwright.tables.table import Table
from listwright.tables.values import names


def levels_of(table: Table, name: str) -> tuple[str, ...]:
    """Distinct values of a column as text, sorted, so that the encoding does not depend on the order of the rows."""
    return tuple(sorted({str(value) for value in names(table, name, "categorical").values}))


def one_hot(table: Table, name: str, levels: Sequence[str], *, new_levels: str = "error") -> Floats32:
    """Encode a categorical column as 0/1 flags."""
    codes = coded(table, name, levels, "categorical")
    bad = first_bad(codes < 0)
    if bad is not None and new_levels == "error":
        problem = f"{_value(table, name, bad)!r} was not in the training data"
        raise table.error(bad, name, problem, 'Fit again with it, or pass new_levels="zeros" to read it as no level.')
    flags = np.zeros((len(codes), len(levels)), dtype=np.float32)
    known = np.flatnonzero(codes >= 0)
    flags[known, codes[known]] = 1.0
    return flags


def catalogue_codes(table: Table, name: str, known: Sequence[str]) -> Ints:
    """Code of each row's item in the catalogue; an item that is not in it raises `InputError`."""
    codes = coded(table, name, known, "catalogue")
    bad = first_bad(codes < 0)
    if bad is not None:
        problem = f"item {_value(table, name, bad)!s} is not in the catalogue of {len(known)} items"
        raise table.error(bad, name, problem, "Leave the row out, or fit again with the whole catalogue.")
    return codes


def catalogue_of(table: Table, name: str) -> tuple[str, ...]:
    """Distinct items of a catalogue column as text, in order of first appearance."""
    return tuple(str(value) for value in names(table, name, "catalogue").values)


def coded(table: Table, name: str, known: Sequence[str], option: str) -> Ints:
    """Index of each row's value in `known`, or -1 if it is not there."""
    # `known` must not repeat a value.
    number = {value: i for i, value in enumerate(known)}
    if len(number) != len(known):
        raise InputError(f"{option}: the names of column {name!r} must differ. Got {list(known)!r:.60}.")
    codes, values = names(table, name, option)
    return np.array([number.get(str(value), -1) for value in values], dtype=np.int64)[codes]


def _value(table: Table, name: str, row: int) -> object:
    """Return a cell as a Python object, for messages."""
    return table.columns[name][row].as_py()
