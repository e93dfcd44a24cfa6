"""Text as numbers: a 0/1 column for each level, and codes for a catalogue."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from listwright._internal.arrays import Floats32, Ints, first_bad
from listwright.errors import InputError
from listwright.tables.table import Table
from listwright.tables.values import names


def levels_of(table: Table, name: str) -> tuple[str, ...]:
    """The different values of a column as text, sorted."""
    return tuple(sorted({str(value) for value in names(table, name, "categorical").values}))


def one_hot(table: Table, name: str, levels: Sequence[str], *, new_levels: str = "error") -> Floats32:
    """(rows, levels): 1 where the row has the level; a value that is no level is an error, or all 0."""
    codes = coded(table, name, levels, "categorical")
    bad = first_bad(codes < 0)
    if bad is not None and new_levels == "error":
        problem = f"{_value(table, name, bad)!r} was not there in training"
        raise table.error(bad, name, problem, 'Fit again with it, or pass new_levels="zeros" to read it as no level.')
    flags = np.zeros((len(codes), len(levels)), dtype=np.float32)
    known = np.flatnonzero(codes >= 0)
    flags[known, codes[known]] = 1.0
    return flags


def catalogue_codes(table: Table, name: str, known: Sequence[str]) -> Ints:
    """Number of each row's item in the catalogue."""
    codes = coded(table, name, known, "catalogue")
    bad = first_bad(codes < 0)
    if bad is not None:
        problem = f"item {_value(table, name, bad)!s} is not in the catalogue of {len(known)} items"
        raise table.error(bad, name, problem, "Leave the row out, or fit again with the whole catalogue.")
    return codes


def catalogue_of(table: Table, name: str) -> tuple[str, ...]:
    """The items of a catalogue as text, in order of first appearance."""
    return tuple(str(value) for value in names(table, name, "catalogue").values)


def coded(table: Table, name: str, known: Sequence[str], option: str) -> Ints:
    """Position of each row's value among `known`, -1 where it is not there."""
    number = {value: i for i, value in enumerate(known)}
    if len(number) != len(known):
        raise InputError(f"{option}: the names of column {name!r} must differ. Got {list(known)!r:.60}.")
    codes, values = names(table, name, option)
    return np.array([number.get(str(value), -1) for value in values], dtype=np.int64)[codes]


def _value(table: Table, name: str, row: int) -> object:
    return table.columns[name][row].as_py()
