"""Writes of lists, feedback and shadow lists, many per transaction, together with the sums behind the statistics.

Sums by minute and by position are kept in the same transaction as the rows they count, so statistics never need to scan
the lists and never disagree with them. Functions have the form that `Writer` expects: a connection and a sequence of
arguments in, one result per argument out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Connection, Insert, Table, bindparam, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from listwright.apps.serve.refusals import Refused
from listwright.apps.serve.store.records import now
from listwright.apps.serve.store.schema import clock, feedback, lists, minutes, positions, shadows

# Statements are made once: to make one costs more than to run it.
ADD_LISTS, ADD_FEEDBACK, ADD_SHADOWS = insert(lists), insert(feedback), insert(shadows)
KNOWN = select(lists.c.id).where(lists.c.id.in_(bindparam("ids", expanding=True)))
EARLIER = select(feedback).where(
    or_(feedback.c.list_id.in_(bindparam("ids", expanding=True)), feedback.c.key.in_(bindparam("keys", expanding=True)))
)
LOCK = update(clock).where(clock.c.name == "event").values(value=clock.c.value).returning(clock.c.value)
MOVE = update(clock).where(clock.c.name == "event").values(value=bindparam("last"))
REVISE = update(clock).where(clock.c.name == "revision").values(value=clock.c.value + 1)


@dataclass(frozen=True, eq=False)
class Served:
    """One list as it is stored.

    Attributes
    ----------
    id : str
        32 hex digits that sort by time.
    created : float
        Seconds since 1970.
    version : int
        Model version that built it.
    state : int
        Number of lists the version had learned from.
    learn : bool
        Whether it may be learned from; False if values were clipped.
    record : bytes
        Problem, picks, scores and propensities: see `records`.
    context : str or None
        The caller's own JSON.
    """

    id: str
    created: float
    version: int
    state: int
    learn: bool
    record: bytes
    context: str | None

    def row(self) -> dict[str, Any]:
        """Return the row of the table."""
        return {**vars(self), "learn": int(self.learn)}


@dataclass(frozen=True)
class Told:
    """Feedback on a list, checked and with one gain per position.

    Attributes
    ----------
    list_id : str
        The list.
    key : str
        Idempotency key.
    gains : tuple of float
        Gain of each item, in order.
    version : int
        Model version that built the list.
    created : float
        When the list was built; feedback counts for that minute.
    """

    list_id: str
    key: str
    gains: tuple[float, ...]
    version: int
    created: float  # of the list


@dataclass(frozen=True)
class Noted:
    """Feedback that is stored.

    Attributes
    ----------
    event : int
        Its number; numbers are given in commit order.
    failed : bool
        Whether the list has brought nothing so far.
    duplicate : bool
        Whether the same feedback was stored before.
    """

    event: int
    failed: bool
    duplicate: bool


def add_lists(connection: Connection, batches: Sequence[Sequence[Served]]) -> list[None]:
    """Store lists and count them by minute and version.

    Parameters
    ----------
    connection : Connection
        In a transaction.
    batches : sequence of sequence of Served
        One entry per request.

    Returns
    -------
    list of None
        One per request.
    """
    served = [one for batch in batches for one in batch]
    connection.execute(ADD_LISTS, [one.row() for one in served])
    sums: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    for one in served:
        sums[_minute(one.created), one.version][0] += 1
    _add_minutes(connection, sums)
    return [None] * len(batches)


def add_shadows(connection: Connection, rows: Sequence[dict[str, Any]]) -> list[None]:
    """Store the lists of shadow versions."""
    connection.execute(ADD_SHADOWS, list(rows))
    return [None] * len(rows)


def add_feedback(connection: Connection, told: Sequence[Told]) -> list[Noted | Refused]:
    """Store feedback under increasing event numbers.

    The counter row is locked until the transaction ends. So events become visible in the order of their numbers on all
    replicas, and a learner that reads "everything after event n" misses none. Feedback that was stored before, under
    the
    same key and with the same gains, keeps its number. Later feedback under another key adds to it: the outcome of a
    position is the largest gain reported.

    Parameters
    ----------
    connection : Connection
        In a transaction.
    told : sequence of Told
        Feedback of several requests; duplicates within the sequence are recognized too.

    Returns
    -------
    list of Noted or Refused
        One per entry: 404 for a list that does not exist (any more), 409 for other feedback under the same key.
    """
    last = int(connection.execute(LOCK).scalar_one())  # other writers wait here until this transaction ends
    earlier = _Earlier.read(connection, told)
    fresh: list[_Fresh] = []
    results: list[Noted | Refused] = []
    for one in told:
        found = earlier.answer(one)
        if found is None:
            fresh.append(earlier.add(one, last + len(fresh) + 1))
            found = Noted(fresh[-1].row["event"], failed(fresh[-1].outcome), duplicate=False)
        results.append(found)
    _store(connection, fresh)
    return results


@dataclass(frozen=True)
class _Fresh:
    """Feedback to insert.

    Attributes
    ----------
    row : dict
        The row of the table.
    before : list of float or None
        Outcome of the list before it; None for the first feedback.
    outcome : list of float
        Outcome of the list with it.
    shown : float
        When the list was built.
    """

    row: dict[str, Any]
    before: list[float] | None  # the outcome of its list without it
    outcome: list[float]
    shown: float  # when the list was served


@dataclass
class _Earlier:
    """What is stored on the lists and under the keys of a group of feedback; updated as the group is processed.

    Attributes
    ----------
    known : set of str
        Ids of the lists that exist.
    by_key : dict
        Feedback rows by idempotency key.
    outcomes : dict of str to list of float
        Largest gain by position, by list.
    """

    known: set[str]
    by_key: dict[str, Any]
    outcomes: dict[str, list[float]]  # by list

    @classmethod
    def read(cls, connection: Connection, told: Sequence[Told]) -> _Earlier:
        """Read everything with two queries, whatever the size of the group."""
        ids = [one.list_id for one in told]
        rows = connection.execute(EARLIER, {"ids": ids, "keys": [one.key for one in told]}).mappings().all()
        found = cls(set(connection.execute(KNOWN, {"ids": ids}).scalars()), {row["key"]: row for row in rows}, {})
        for row in rows:
            gains = msgspec.json.decode(row["gains"])
            found.outcomes[row["list_id"]] = _larger(found.outcomes.get(row["list_id"]), gains)
        return found

    def answer(self, told: Told) -> Noted | Refused | None:
        """Return the result of feedback that is a duplicate or cannot be added; None if it is new."""
        if told.list_id not in self.known:
            return Refused(404, "not_found", "There is no such list.", field="list_id")
        row = self.by_key.get(told.key)
        if row is None:
            return None
        if row["list_id"] != told.list_id:
            return Refused(409, "conflict", "This key was used for another list.", field="idempotency_key")
        gains = msgspec.json.decode(row["gains"])
        if gains != list(told.gains):
            advice = "Give an idempotency_key of its own to feedback that comes on top."
            return Refused(409, "conflict", f"This list has other feedback under this key. {advice}", field="list_id")
        return Noted(row["event"], failed(gains), duplicate=True)

    def add(self, told: Told, event: int) -> _Fresh:
        """Register new feedback under its event number and return what to insert."""
        before = self.outcomes.get(told.list_id)
        row = {
            "event": event,
            "list_id": told.list_id,
            "key": told.key,
            "version": told.version,
            "created": now(),
            "gains": msgspec.json.encode(told.gains).decode(),
            "earlier": None if before is None else msgspec.json.encode(before).decode(),
        }
        self.by_key[told.key] = row
        self.outcomes[told.list_id] = _larger(before, told.gains)
        return _Fresh(row, before, self.outcomes[told.list_id], told.created)


def outcome_of(gains: str, earlier: str | None) -> list[float]:
    """Return the outcome of a list by position: the larger of the latest gains and those before, from stored JSON.

    Examples
    --------
    >>> outcome_of("[0.0, 0.5]", None), outcome_of("[0.0, 0.5]", "[1.0, 0.0]")
    ([0.0, 0.5], [1.0, 0.5])
    """
    return _larger(None if earlier is None else msgspec.json.decode(earlier), msgspec.json.decode(gains))


def _larger(before: Sequence[float] | None, gains: Sequence[float]) -> list[float]:
    """Return the elementwise maximum of two outcomes; the second alone if there was none before."""
    return list(gains) if before is None else [max(pair) for pair in zip(before, gains, strict=True)]


def failed(gains: Iterable[float]) -> bool:
    """Return whether a list brought nothing.

    Examples
    --------
    >>> failed([0.0, 0.0]), failed([0.0, 0.5])
    (True, False)
    """
    return not any(gain > 0 for gain in gains)


def _store(connection: Connection, fresh: list[_Fresh]) -> None:
    """Insert new feedback, advance the event counter and update the sums.

    Feedback on top of earlier feedback changes the sums by the difference of outcomes: `answered` counts a list once,
    and a
    failure is taken back when a later event brings a gain.
    """
    if not fresh:
        return
    connection.execute(ADD_FEEDBACK, [one.row for one in fresh])
    connection.execute(MOVE, {"last": fresh[-1].row["event"]})
    by_minute: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    by_position: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    for one in fresh:
        version, first = one.row["version"], one.before is None
        sums = by_minute[_minute(one.shown), version]
        sums[1] += first
        sums[2] += failed(one.outcome) - (one.before is not None and failed(one.before))
        for position, gain in enumerate(one.outcome, start=1):
            old = 0.0 if one.before is None else one.before[position - 1]
            entry = by_position[version, position]
            entry[:] = entry[0] + first, entry[1] + gain - old, entry[2] + gain * gain - old * old
    _add_minutes(connection, by_minute)
    _add(connection, positions, [_named(positions, key, sums) for key, sums in sorted(by_position.items())])


def revise(connection: Connection) -> None:
    """Increment the revision, which tells all replicas to read versions, traffic and learned policies again."""
    connection.execute(REVISE)


def _minute(created: float) -> int:
    """Return the minute since 1970 of a time in seconds."""
    return int(created // 60)


def _add_minutes(connection: Connection, sums: dict[tuple[int, int], list[int]]) -> None:
    """Add counts (lists, answered, failures) by minute and version to the sums."""
    _add(connection, minutes, [_named(minutes, key, values) for key, values in sorted(sums.items())])


def _named(table: Table, key: tuple[int, int], values: Sequence[float]) -> dict[str, Any]:
    """Return a row of `table` from a key and values, in the order of its columns."""
    return dict(zip(table.columns.keys(), (*key, *values), strict=True))


def _add(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Upsert rows of sums: values are added to an existing row, and start a new one otherwise.

    Rows arrive sorted by key, so that concurrent transactions lock them in the same order and cannot deadlock.
    """
    if rows:
        connection.execute(_adding(connection.dialect.name, table), rows)


@cache
def _adding(dialect: str, table: Table) -> Insert:
    """Return the upsert statement of a table for a database dialect; cached."""
    adding = (sqlite if dialect == "sqlite" else postgresql).insert(table)
    sums = [column for column in table.columns if not column.primary_key]
    return adding.on_conflict_do_update(
        index_elements=list(table.primary_key.columns),
        set_={column.name: column + adding.excluded[column.name] for column in sums},
    )
