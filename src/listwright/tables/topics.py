"""Which topics each row covers, to what amount, and with what weight, for the coverage rewards.

Topics come as a column of lists (names, or amounts by position) or as several numeric columns, one per topic. Both
forms are brought to the flat form `Entries` and then to a sparse matrix.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse

from listwright._internal.arrays import Floats, Ints, first_bad
from listwright.errors import InputError
from listwright.tables.arrow import codes_of, floats_of
from listwright.tables.grouping import Groups
from listwright.tables.spec import is_pattern
from listwright.tables.table import Table
from listwright.tables.values import Listed, is_list, is_number, is_text, lists, numbers


class Entries(NamedTuple):
    """All (row, topic) pairs with an amount, flattened."""

    rows: Ints  # of the table
    topics: Ints  # index into `names`
    amounts: Floats  # amount to which the row covers the topic, above 0
    slots: Ints  # place of the entry in its row, for lists of weights
    names: list[str]  # by topic


def topics_of(table: Table, groups: Groups, topics: str, weight: str | None, *, shares: bool) -> tuple[Any, Any]:
    """Read topics and their weights."""
    # Topics are numbered within their problem, so that the matrix is only as wide as the problem with the most topics,
    # however large the vocabulary of the whole table is.
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
    """Read topics from a column of lists or from several numeric columns, whichever `topics` names."""
    kind = table.columns[topics].type if topics in table.columns else None
    if kind is not None and not is_pattern(topics) and (is_list(kind) or is_text(kind) or not shares):
        return _from_lists(table, topics, lists(table, topics, "reward"), shares=shares)
    return _from_columns(table, table.matching(topics, "reward"))


def _from_columns(table: Table, names: list[str]) -> Entries:
    """One topic per numeric column; zeros are left out and negative amounts raise `InputError`."""
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
    """Topic names as strings; raise `InputError` for types that have no text form."""
    try:
        return values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        kind = f"{table.source}: column {name!r} must hold topics, or lists of topics. Got {values.type}"
        raise InputError(f"{kind}. Name the columns of topics with reward=.") from None


def _from_lists(table: Table, name: str, listed: Listed, *, shares: bool) -> Entries:
    """One topic per distinct entry, or, for lists of amounts, one topic per position in the list."""
    rows = np.repeat(np.arange(table.n_rows), listed.lengths)
    ends = np.cumsum(listed.lengths)
    slots = np.arange(len(rows)) - np.repeat(ends - listed.lengths, listed.lengths)
    if not shares or not is_number(listed.values.type):
        coded = _as_text(table, name, listed.values).dictionary_encode()
        topics = codes_of(coded.indices)
        return Entries(rows, topics, np.ones(len(rows)), slots, coded.dictionary.to_pylist())
    amounts = floats_of(listed.values)
    bad = first_bad(~((amounts >= 0) & np.isfinite(amounts)))
    if bad is not None:
        raise table.error(int(rows[bad]), name, f"{amounts[bad]:g} is not an amount of 0 or more", "Mend the list.")
    some = amounts > 0
    names = [f"{name} {slot}" for slot in range(int(slots.max(initial=-1)) + 1)]
    return Entries(rows[some], slots[some], amounts[some], slots[some], names)


def _weights(table: Table, name: str, entries: Entries) -> Floats:
    """Weight of each entry: the number of its row, or the number at its position in the row's list of weights."""
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
    """Return the entries of lists as float64; raise `InputError` if they are not numbers."""
    try:
        return floats_of(listed.values)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(f"{table.source}: column {name!r} must hold lists of numbers, the topics' weights.") from None


def _agree(table: Table, groups: Groups, name: str, entries: Entries, number: Ints, values: Floats) -> None:
    """Raise `InputError` if a topic has two different weights within one problem."""
    order = np.argsort(number, kind="stable")
    same = np.diff(number[order]) == 0
    bad = first_bad(same & (np.diff(values[order]) != 0))
    if bad is not None:
        entry, before = int(order[bad + 1]), int(order[bad])
        row, topic = int(entries.rows[entry]), entries.names[int(entries.topics[entry])]
        problem = f"topic {topic!s} of problem {groups.ids[groups.codes[row]]!s} weighs {values[entry]:g}, but"
        problem += f" {values[before]:g} at {table.place(int(entries.rows[before]))}"
        raise table.error(row, name, problem, "A topic has one weight in all rows of a problem.")
