"""Which topics each row of a table touches, how much, and what they weigh."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse

from listwright._internal.arrays import Floats, Ints, first_bad
from listwright.errors import InputError
from listwright.tables.grouping import Groups
from listwright.tables.spec import is_pattern
from listwright.tables.table import Table
from listwright.tables.values import Listed, is_list, is_number, is_text, lists, numbers


class Entries(NamedTuple):
    """One entry for each topic that a row touches."""

    rows: Ints  # of the table
    topics: Ints
    amounts: Floats
    slots: Ints  # place of the entry in its row, for lists of weights
    names: list[str]  # by topic


def topics_of(table: Table, groups: Groups, topics: str, weight: str | None, *, shares: bool) -> tuple[Any, Any]:
    """(rows, topics) as CSR with rows in the order of the problems, and (problems, topics) weights or None.

    Topics are numbered within their problem, so that a large vocabulary needs no wide matrix. `shares` says that
    numbers are amounts; otherwise a number in a list names a topic.
    """
    entries = _entries(table, topics, shares=shares)
    if not len(entries.rows) and not table.streamed:
        raise InputError(f"{table.source}: no row has a topic in {topics!r}. Name the columns of topics with reward=.")
    owners = groups.codes[entries.rows]
    pairs, number = np.unique(owners * len(entries.names) + entries.topics, return_inverse=True)
    problem_of = pairs // len(entries.names)
    local = (np.arange(len(pairs)) - np.searchsorted(problem_of, np.arange(len(groups.ids)))[problem_of])[number]
    shape = (table.n_rows, int(local.max(initial=0)) + 1)
    place = entries.rows if groups.order is None else np.argsort(groups.order)[entries.rows]
    matrix = sparse.coo_array((entries.amounts, (place, local)), shape=shape).tocsr()
    if weight is None:
        return matrix, None
    values = _weights(table, weight, entries)
    _agree(table, groups, weight, entries, number, values)
    weights = np.zeros((len(groups.ids), shape[1]))
    weights[owners, local] = values
    return matrix, weights


def _entries(table: Table, topics: str, *, shares: bool) -> Entries:
    kind = table.columns[topics].type if topics in table.columns else None
    if kind is not None and not is_pattern(topics) and (is_list(kind) or is_text(kind) or not shares):
        return _from_lists(table, topics, lists(table, topics, "reward"), shares=shares)
    return _from_columns(table, table.matching(topics, "reward"))


def _from_columns(table: Table, names: list[str]) -> Entries:
    """A topic for each column, with the amounts that are not 0."""
    found = [numbers(table, name, "reward") for name in names]
    for name, values in zip(names, found, strict=True):
        bad = first_bad(values < 0)
        if bad is not None:
            raise table.error(bad, name, f"{values[bad]:g} is below 0", "Topics are covered by amounts of 0 or more.")
    rows = [np.flatnonzero(values) for values in found]
    topics = np.repeat(np.arange(len(names)), [len(part) for part in rows])
    amounts = np.concatenate([values[part] for values, part in zip(found, rows, strict=True)])
    return Entries(np.concatenate(rows), topics, amounts, topics, names)


def _as_text(table: Table, name: str, values: pa.Array) -> pa.Array:
    try:
        return values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        kind = f"{table.source}: column {name!r} must hold topics, or lists of topics. Got {values.type}"
        raise InputError(f"{kind}. Name the columns of topics with reward=.") from None


def _from_lists(table: Table, name: str, listed: Listed, *, shares: bool) -> Entries:
    """A topic for each different entry; or, for lists of amounts, a topic for each place in the list."""
    rows = np.repeat(np.arange(table.n_rows), listed.lengths)
    ends = np.cumsum(listed.lengths)
    slots = np.arange(len(rows)) - np.repeat(ends - listed.lengths, listed.lengths)
    if not shares or not is_number(listed.values.type):
        coded = _as_text(table, name, listed.values).dictionary_encode()
        topics = np.asarray(coded.indices, dtype=np.int64)
        return Entries(rows, topics, np.ones(len(rows)), slots, coded.dictionary.to_pylist())
    amounts = np.asarray(listed.values.cast(pa.float64()), dtype=np.float64)
    bad = first_bad(~((amounts >= 0) & np.isfinite(amounts)))
    if bad is not None:
        raise table.error(int(rows[bad]), name, f"{amounts[bad]:g} is no amount of 0 or more", "Mend the list.")
    some = amounts > 0
    names = [f"{name} {slot}" for slot in range(int(slots.max(initial=-1)) + 1)]
    return Entries(rows[some], slots[some], amounts[some], slots[some], names)


def _weights(table: Table, name: str, entries: Entries) -> Floats:
    """The weight of each entry: of its place in a list of weights, or one for the whole row."""
    column = table.column(name, "reward")
    if is_number(column.type):
        values = numbers(table, name, "reward")[entries.rows]
    else:
        listed = lists(table, name, "reward")
        needed = np.zeros(table.n_rows, dtype=np.int64)
        np.maximum.at(needed, entries.rows, entries.slots + 1)
        short = first_bad(listed.lengths < needed)
        if short is not None:
            problem = f"there are {listed.lengths[short]} weights for {needed[short]} topics"
            raise table.error(short, name, problem, "Give every topic a weight.")
        starts = np.cumsum(listed.lengths) - listed.lengths
        values = _as_numbers(table, name, listed)[starts[entries.rows] + entries.slots]
    bad = first_bad(~((values >= 0) & np.isfinite(values)))
    if bad is not None:
        raise table.error(int(entries.rows[bad]), name, f"weight {values[bad]:g} is below 0", "Weights are 0 or more.")
    return values


def _as_numbers(table: Table, name: str, listed: Listed) -> Floats:
    try:
        return np.asarray(listed.values.cast(pa.float64()), dtype=np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(f"{table.source}: column {name!r} must hold lists of numbers, the topics' weights.") from None


def _agree(table: Table, groups: Groups, name: str, entries: Entries, number: Ints, values: Floats) -> None:
    """Refuses two weights for one topic of one problem."""
    order = np.argsort(number, kind="stable")
    same = np.diff(number[order]) == 0
    bad = first_bad(same & (np.diff(values[order]) != 0))
    if bad is not None:
        entry, before = int(order[bad + 1]), int(order[bad])
        row, topic = int(entries.rows[entry]), entries.names[int(entries.topics[entry])]
        problem = f"topic {topic!s} of problem {groups.ids[groups.codes[row]]!s} weighs {values[entry]:g}, but"
        problem += f" {values[before]:g} at {table.place(int(entries.rows[before]))}"
        raise table.error(row, name, problem, "A topic has one weight in all rows of a problem.")
