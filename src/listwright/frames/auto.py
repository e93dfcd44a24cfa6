"""What a table itself says of its columns: which describe the problem, which name recurring items, which have gaps."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from listwright._internal.arrays import Ints
from listwright._internal.extras import warn
from listwright.errors import DataWarning, InputError, Notice
from listwright.frames.table import ColumnTable
from listwright.frames.values import is_missing, is_number, is_text, names, to_floats, to_ints

if TYPE_CHECKING:
    from listwright.frames.columns import Columns

ENOUGH = 10  # fewest problems of several candidates: with fewer, a finding may be chance
SOME = 64  # problems that are looked at before all of them
SHOWN = 3  # columns that a line names
RECURS = 0.5  # share of the problems that an item of a catalogue is offered in, on average


def find_items(table: ColumnTable, problem: str, open_names: Iterable[str]) -> str | None:
    """Return the one column of text that names recurring items: different within each problem, the same in all."""
    owners = names(table, problem, "problem").codes
    given = {name: table.columns[name] for name in open_names if name in table.columns}
    texts = [name for name, column in given.items() if is_text(column.type) and not is_missing(table, name).any()]
    matches = [name for name in texts if recurs(owners, _codes(table, name))]
    return matches[0] if len(matches) == 1 else None


def find_roles(table: ColumnTable, columns: Columns, *, context: bool, catalogue: bool) -> Columns:
    """Make features of one value per problem the context, and recurring items the catalogue."""
    owners = names(table, columns.problem, "problem").codes
    if (np.bincount(owners) > 1).sum() < ENOUGH:
        return columns
    of_problems = _of_problems(table, columns.features, owners)
    moved = of_problems if context else ()
    left = tuple(name for name in columns.features if name not in moved)
    known = columns.catalogue is not None
    if catalogue and not known and columns.item is not None and (of_problems or columns.context or not left):
        known = recurs(owners, _codes(table, columns.item))
    if not left and not known:
        return columns  # nothing would tell the candidates apart
    item = columns.item if known and columns.catalogue is None else columns.catalogue
    _say_roles(table, moved, item if columns.catalogue is None else None)
    return replace(columns, features=left, context=columns.context + moved, catalogue=item)


def recurs(owners: Ints, codes: Ints) -> bool:
    """Return whether values differ within each problem, and most problems have most of them."""
    n_problems, n_values = int(owners.max()) + 1, int(codes.max(initial=-1)) + 1
    if n_problems < ENOUGH or codes.min(initial=0) < 0 or len(codes) < RECURS * n_problems * n_values:
        return False
    return len(np.unique(owners * n_values + codes)) == len(codes)


def fill_gaps(table: ColumnTable, columns: Columns, *, refuse: bool) -> Columns:
    """Find the medians of columns with missing values; with `refuse`, raise an error that names all, with counts."""
    chosen = (*columns.features, *columns.context)
    gaps = {name: count for name in chosen if (count := _missing(table, name, columns))}
    if refuse:
        _refuse_gaps(table, gaps)
        return columns
    blank, plain = ([name for name in gaps if (name in columns.levels) == category] for category in (True, False))
    if blank:
        line = f"{table.source}: where {_some(blank)} is missing, it is none of the levels"
        warn(f'{line}. Pass missing="error" to refuse that.', Notice)
    if plain:
        line = f"{table.source}: missing values of {_some(plain)} are filled with the median, and 0/1 columns mark them"
        warn(f'{line}; learners that take NaN get NaN. Pass missing="error" to refuse them.', Notice)
    whole = [name for name in chosen if name not in gaps and name in table.columns]
    medians = {name: _median(table, name) for name in whole if is_number(table.columns[name].type)}
    medians |= {name: 0.0 for name in whole if name in columns.levels}
    fills = {name: _median(table, name) for name in plain} | dict.fromkeys(blank, 0.0)
    marks = {name: mark for some in (columns.features, columns.context) for name, mark in _marks(table, plain, some)}
    return replace(columns, fills=fills, marks=marks, medians=medians)


def _marks(table: ColumnTable, gaps: Collection[str], chosen: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the columns with missing values, each with the first one whose values are missing in the same rows."""
    first: dict[bytes, str] = {}
    for name in chosen:
        if name in gaps:
            yield name, first.setdefault(is_missing(table, name).tobytes(), name)


def warn_of_new_gaps(table: ColumnTable, columns: Columns) -> None:
    """Warn of columns that had no missing values in training, and have some here."""
    gaps = [name for name in columns.medians if _missing(table, name, columns)]
    if gaps:
        why = "which had none in training, are filled with the training median, or are none of the levels"
        warn(f"{table.source}: missing values of {_some(gaps)}, {why}.", DataWarning)


def _refuse_gaps(table: ColumnTable, gaps: dict[str, int]) -> None:
    way = 'Fill them, leave columns out with ignore=, or pass missing="auto".'
    if len(gaps) > 1:
        listed = ", ".join(f"{name!r} ({count:,})" for name, count in gaps.items())
        raise InputError(f"{table.source}: values are missing in {len(gaps):,} columns: {listed}. {way}")
    for name, count in gaps.items():
        raise table.error(int(is_missing(table, name).argmax()), name, f"the value is missing, one of {count:,}", way)


def _missing(table: ColumnTable, name: str, columns: Columns) -> int:
    column = table.columns.get(name)
    if column is None:
        return 0
    if name in columns.levels:
        return int(is_missing(table, name).sum())
    count = column.null_count
    if pa.types.is_floating(column.type):
        count += int(pc.sum(pc.is_nan(column)).as_py() or 0)
    return count


def _median(table: ColumnTable, name: str) -> float:
    values = to_floats(table.columns[name])
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else 0.0


def _codes(table: ColumnTable, name: str) -> Ints:
    column = table.columns[name].combine_chunks()
    return to_ints(column.dictionary_encode(null_encoding="encode").indices)


def _of_problems(table: ColumnTable, features: Iterable[str], owners: Ints) -> tuple[str, ...]:
    """Return the columns that have one value in every problem; none if it is the same value in all of them."""
    few, constant, differ = owners < SOME, [], False
    for name in features:
        codes = _codes(table, name)
        if _constant(owners[few], codes[few]) and _constant(owners, codes):
            constant.append(name)
            differ |= bool(codes.max() > 0)
    return tuple(constant) if differ else ()


def _constant(owners: Ints, codes: Ints) -> bool:
    first: Ints = np.empty(int(owners.max()) + 1, dtype=codes.dtype)
    first[owners[::-1]] = codes[::-1]
    return bool((codes == first[owners]).all())


def _say_roles(table: ColumnTable, context: tuple[str, ...], catalogue: str | None) -> None:
    parts = []
    if context:
        way = "(to keep them as features, pass context=None)"
        parts.append(f"context, with one value per problem: {_some(context)} {way}")
    if catalogue:
        parts.append(f"catalogue, with recurring items: {catalogue!r} (to keep them as ids, pass catalogue=None)")
    if parts:
        warn(f"{table.source}: {'; '.join(parts)}.", Notice)


def _some(columns: Iterable[str]) -> str:
    every = list(columns)
    shown = ", ".join(map(repr, every[:SHOWN]))
    return shown if len(every) <= SHOWN else f"{shown} and {len(every) - SHOWN:,} more columns"
