"""Faults of a table of shown lists, counted by kind: of single lists, which can be left out, or of the whole log."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import scipy

from listwright._internal.arrays import Bools, Floats, Ints
from listwright.frames.arrays import RowGroups, group_rows
from listwright.frames.table import ColumnTable, FileRows
from listwright.frames.values import is_number, to_ints

EXAMPLES = 3
LEAK = 0.98  # area under the ROC curve, from which on a column knows the outcome
POSITIONS = "positions are not 1, 2, ... with one item each"
NOT_SHOWN = "an item that was not shown has an outcome"
EVENTS = 8  # clicks, below which nothing can be said of leaks
WHO = "user|customer|visitor|session|device|account"
ID_NAME = re.compile(
    rf"(?i:(^|[_ .-])(id|uid|uuid|guid|hash|key)$|(^|[_ .-])({WHO})(id|key|hash|no|number)?([_ .-]|$))|[a-z](Id|ID)$"
)


@dataclass(frozen=True)
class LogFault:
    kind: str
    count: int  # lists at fault; columns for "ids" and "leaks"
    examples: tuple[str, ...]
    message: str
    by_list: bool  # whether leaving out the lists at fault mends it

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.kind:<12} {self.count:>8,}  {self.message}: {', '.join(self.examples)}"


def log_faults(table: ColumnTable, by_role: Mapping[str, str]) -> list[LogFault]:
    unnamed, faults = _lacks_name(table, by_role["list"]), []
    if unnamed.any():
        rows = tuple(table.place(int(row)) for row in np.flatnonzero(unnamed)[:EXAMPLES])
        faults += [LogFault("no list", int(unnamed.sum()), rows, "rows without the id of a list", by_list=True)]
        table = _take_rows(table, ~unnamed)
    numbers = by_role.keys() & {"position", "shown", "outcome", "propensity", "budget"}
    types = {role: table.columns[by_role[role]].type for role in sorted(numbers) if by_role[role] in table.columns}
    texts = {role: by_role[role] for role, kind in types.items() if not (is_number(kind) or pa.types.is_null(kind))}
    if texts:
        message = "columns that must hold numbers"
        faults.append(LogFault("types", len(texts), tuple(texts.values()), message, by_list=False))
    if texts.keys() & {"position", "shown"}:
        return faults
    groups = group_rows(table, by_role["list"])
    lists = [str(name) for name in groups.ids.tolist()]
    faults += [
        LogFault(kind, int(bad.sum()), tuple(lists[i] for i in np.flatnonzero(bad)[:EXAMPLES]), message, by_list=True)
        for kind, (bad, message) in _bad_lists(table, by_role, groups, other_numbers(table, by_role)).items()
        if bad.any()
    ]
    return faults + _missing_candidates(table, by_role, groups, lists) + suspicious_columns(table, by_role)


def drop_lists(table: ColumnTable, by_role: Mapping[str, str], features: Sequence[str]) -> tuple[ColumnTable, int]:
    """Leave out lists with faults, gaps in features among them, and rows of no list."""
    unnamed = _lacks_name(table, by_role["list"])
    table = _take_rows(table, ~unnamed)
    groups = group_rows(table, by_role["list"])
    bad = np.zeros(len(groups.ids), dtype=bool)
    for lists, _ in _bad_lists(table, by_role, groups, features).values():
        bad |= lists
    return _take_rows(table, ~bad[groups.codes]), int(unnamed.sum() + bad.sum())


def _take_rows(table: ColumnTable, kept: Bools) -> ColumnTable:
    if kept.all():
        return table
    columns = {name: values.filter(pa.array(kept)) for name, values in table.columns.items()}
    rows = FileRows(f"{table.source}, less lists with faults", int(kept.sum()))
    return ColumnTable(columns, (rows,), table.unreadable, table.categories)


def _lacks_name(table: ColumnTable, name: str) -> Bools:
    column = table.column(name, "list_id")
    return np.array([value is None or value == "" for value in column.to_pylist()], dtype=bool)


def other_numbers(table: ColumnTable, by_role: Mapping[str, str]) -> list[str]:
    """Return the columns of numbers that may be features: all without a role, or those that `Log.to_frame` marks."""
    marked = "catalogue" in table.columns or any(name.startswith("feature: ") for name in table.columns)
    return [
        name
        for name, values in table.columns.items()
        if is_number(values.type) and name not in by_role.values() and (":" in name) == marked
    ]


def _bad_lists(
    table: ColumnTable, by_role: Mapping[str, str], groups: RowGroups, features: Sequence[str]
) -> dict[str, tuple[Bools, str]]:
    owners, count = np.repeat(np.arange(len(groups.ids)), np.diff(groups.offsets)), len(groups.ids)
    position, shown = positions_of(table, by_role, groups)
    outcome = _column(table, by_role, groups, "outcome")
    chance = _column(table, by_role, groups, "propensity")

    def lists(rows: Bools) -> Bools:
        return np.bincount(owners[rows], minlength=count) > 0

    def partly(values: Floats) -> Bools:
        known = shown & ~np.isnan(values)
        return lists(known) & lists(shown & np.isnan(values))

    nameless = groups.sort(_lacks_name(table, by_role["item"]))
    items = groups.sort(
        to_ints(table.columns[by_role["item"]].combine_chunks().dictionary_encode().indices.fill_null(0))
    )
    pairs, first = np.unique(owners * (int(items.max(initial=0)) + 1) + items, return_inverse=True)
    again = (np.bincount(first[~nameless], minlength=len(pairs))[first] > 1) & ~nameless
    tables = [groups.sort(as_floats(table.columns[name])) for name in features]
    gaps = ~np.isfinite(np.array(tables)).all(axis=0) if tables else np.zeros(len(owners), dtype=bool)
    out = shown & ~np.isnan(outcome) & ~((outcome >= 0) & (outcome <= 1))
    odd = shown & ~np.isnan(chance) & ~((chance > 0) & (chance <= 1))
    return {
        "positions": (lists(wrong_positions(position, shown, groups.offsets)), POSITIONS),
        "duplicates": (lists(again), "an item is listed twice"),
        "no item": (lists(nameless), "a candidate has no id"),
        "features": (lists(gaps), "a column of numbers without a role has gaps"),
        "outcomes": (lists(out) | partly(outcome), "outcomes are not from 0 to 1, or partly missing"),
        "not shown": (lists(not_shown(shown, outcome)), NOT_SHOWN),
        "propensities": (lists(odd) | partly(chance), "propensities are not above 0 and at most 1, or partly missing"),
    }


def wrong_positions(position: Floats, shown: Bools, offsets: Ints) -> Bools:
    """Return the shown items that are not at a position from 1 to the length of their list of their own."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    sizes = np.bincount(owners[shown], minlength=len(offsets) - 1)
    wrong = shown & ~((position >= 1) & (position <= sizes[owners]) & (position == np.floor(position)))
    keys = owners * (sizes.max(initial=0) + 1) + np.where(wrong | ~shown, 0, position).astype(np.int64)
    taken = np.bincount(keys[shown & ~wrong], minlength=int(keys.max(initial=0)) + 1)
    return wrong | (shown & (taken[keys] > 1))


def not_shown(shown: Bools, outcome: Floats) -> Bools:
    return ~shown & (np.nan_to_num(outcome) != 0)


def positions_of(table: ColumnTable, by_role: Mapping[str, str], groups: RowGroups) -> tuple[Floats, Bools]:
    """Return the position of each row, from 1, and whether it was shown."""
    shown: Any = None
    if "shown" in by_role:
        shown = np.nan_to_num(_column(table, by_role, groups, "shown")) != 0
    if "position" not in by_role:
        before = np.cumsum(shown) - shown
        return before - np.repeat(before[groups.offsets[:-1]], np.diff(groups.offsets)) + 1.0, shown
    position = _column(table, by_role, groups, "position")
    position = position if shown is None else np.where(shown, position, np.nan)
    start = 0 if np.nanmin(position, initial=1.0) == 0 else 1  # some count from 0
    return np.nan_to_num(position - start + 1.0, nan=0.0), ~np.isnan(position) if shown is None else shown


def _column(table: ColumnTable, by_role: Mapping[str, str], groups: RowGroups, role: str) -> Floats:
    name = by_role.get(role)
    if name not in table.columns or not is_number(table.columns[name].type):
        return np.full(table.n_rows, np.nan)
    return groups.sort(as_floats(table.columns[name]))


def as_floats(column: Any) -> Floats:
    whole = column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column
    return np.asarray(whole.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def _missing_candidates(
    table: ColumnTable, by_role: Mapping[str, str], groups: RowGroups, lists: list[str]
) -> list[LogFault]:
    """Find lists without anything left out though items were drawn, and first weights that average more than 1."""
    position, shown = positions_of(table, by_role, groups)
    chance, counts = _column(table, by_role, groups, "propensity"), np.diff(groups.offsets)
    owners = np.repeat(np.arange(len(counts)), counts)
    blocked = np.bincount(owners, _column(table, {"pinned": "pinned"}, groups, "pinned") < 0, minlength=len(counts))
    all_shown = np.bincount(owners[shown], minlength=len(counts)) == counts
    drawn = np.bincount(owners[shown & (chance < 1)], minlength=len(counts)) > 0
    bare, faults = all_shown & drawn & (counts > 1), []
    if bare.mean() > 0.5:
        examples = tuple(lists[i] for i in np.flatnonzero(bare)[:EXAMPLES])
        message = "every candidate was shown, though items were drawn: log those that were left out, too"
        faults.append(LogFault("candidates", int(bare.sum()), examples, message, by_list=False))
    first = shown & (position == 1) & (chance > 0) & (chance < 1)  # what is certain was not drawn
    if first.sum() > 1:
        ratio = 1.0 / (chance[first] * (counts - blocked)[owners[first]])  # 1 on average; less where some had no chance
        mean, reach = float(ratio.mean()), 3.0 * float(ratio.std()) / np.sqrt(len(ratio))
        if mean - 1.0 > max(reach, 0.1):
            message = "first items have weights above 1 on average: candidates are missing, or propensities are wrong"
            faults.append(LogFault("weights", int(first.sum()), (f"mean {mean:.3g}",), message, by_list=False))
    return faults


def suspicious_columns(table: ColumnTable, by_role: Mapping[str, str]) -> list[LogFault]:
    groups = group_rows(table, by_role["list"])
    shown = positions_of(table, by_role, groups)[1]
    outcome = np.nan_to_num(_column(table, by_role, groups, "outcome"))[shown]
    others = other_numbers(table, by_role)
    tables = {name: groups.sort(as_floats(table.columns[name])) for name in others}
    whole = {name for name, values in tables.items() if not (np.nan_to_num(values) % 1 > 0).any()}  # gaps make floats
    ids = tuple(name for name in others if ID_NAME.search(name) and name in whole)
    enough = EVENTS <= (outcome > 0).sum() < len(outcome)
    known = [name for name in others if enough and name not in ids and ":" not in name]  # marked: sent before outcomes
    leaks = tuple(name for name in known if _knows(tables[name][shown], outcome > 0))
    kinds = (("ids", ids, "columns that look like ids"), ("leaks", leaks, "columns that know the outcome"))
    return [
        LogFault(kind, len(columns), columns, message, by_list=False) for kind, columns, message in kinds if columns
    ]


def _knows(values: Floats, clicked: Bools) -> bool:
    ranks: Ints = scipy.stats.rankdata(np.nan_to_num(values, nan=-np.inf))
    hits = int(clicked.sum())
    area = (float(ranks[clicked].sum()) - hits * (hits + 1) / 2) / (hits * (len(ranks) - hits))
    return max(area, 1.0 - area) >= LEAK
