"""What is written to the store, many writes per transaction, with the sums behind the statistics; and the deletion of
old lists.

Sums are kept in the same transaction as the rows they count, so statistics never need to scan the lists and never
disagree with them. A driver gives way to other threads at every statement and at every row that it fetches, so each
insert has as many rows as there are, and ids are looked up by one parameter that holds all of them.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, wraps
from math import inf
from typing import Any, NamedTuple, TypeVar

import msgspec
import sqlalchemy as sa

from listwright.serve.refusals import Refused
from listwright.serve.store.database import Database, clock_of
from listwright.serve.store.records import FeedbackEvent, ServedList, first_id, is_failure, larger
from listwright.serve.store.schema import (
    PACKER,
    clock,
    contexts,
    deployments,
    feedback,
    learning,
    lists,
    minutes,
    models,
    positions,
    quarantine,
    shadows,
    snapshots,
)

A = TypeVar("A")
R = TypeVar("R")
# Statements are made once: to make one costs more than to run it.
ADD_SHADOWS = sa.insert(shadows)
LAST_EVENT = sa.select(clock.c.value).where(clock.c.name == "event")
LOCK = sa.update(clock).where(clock.c.name == "event").values(value=clock.c.value)
SET_LAST = f"UPDATE {clock.name} SET value ="
REVISE = sa.update(clock).where(clock.c.name == "revision").values(value=clock.c.value + 1)
LATEST_SOURCES = (
    f"SELECT source, count(*) FROM (SELECT source FROM {feedback.name} ORDER BY event DESC LIMIT 200) latest "
    "GROUP BY source"
)
LEAST_OTHERS = 0.05  # of the feedback, below which one key is as good as alone
ROWS = 128  # of one statement: databases limit the number of parameters
MARKS = {"sqlite": "?", "postgresql": "%s"}
AMONG = {"sqlite": "IN (SELECT value FROM json_each(?))", "postgresql": "= ANY(%s)"}
BATCH = 500  # lists that are deleted in one transaction, so that others need not wait
PAGES = 1_024  # of SQLite that are given back at a time
TABLE_SIZES = sa.text(
    "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relkind = 'r' AND c.relname LIKE 'lw\\_%'"
)


def each(write: Callable[[sa.Connection, A], R]) -> Callable[[sa.Connection, Sequence[A]], list[R]]:
    """Bring the write of one thing to the form that `Writer` calls: several in, one result for each out."""

    @wraps(write)
    def write_all(connection: sa.Connection, arguments: Sequence[A]) -> list[R]:
        return [write(connection, argument) for argument in arguments]

    return write_all


def lock_store(connection: sa.Connection) -> None:
    """Wait until no other transaction holds the lock of the store, and hold it until this one ends."""
    if connection.dialect.name == "postgresql":  # a transaction of SQLite's writer locks the whole file when it begins
        connection.execute(LOCK)


def last_event(connection: sa.Connection) -> int:
    return int(connection.execute(LAST_EVENT).scalar_one())


def revise(connection: sa.Connection) -> None:
    """Increment the revision, which tells all replicas to read versions, traffic and learned policies again."""
    connection.execute(REVISE)


class NewLists(NamedTuple):
    """Lists of one request, and the number of the replica that counts them."""

    served: Sequence[ServedList]
    replica: int


def add_lists(connection: sa.Connection, batches: Sequence[NewLists]) -> list[None]:
    """Store lists and count them by minute and version; waits for no other replica."""
    _insert(connection, lists, [served.row() for batch in batches for served in batch.served])
    sums: dict[tuple[int, int, int], int] = defaultdict(int)
    for batch in batches:
        for served in batch.served:
            sums[int(served.created // 60), served.version, batch.replica] += 1
    _insert(connection, minutes, [(*key, count, 0, 0) for key, count in sorted(sums.items())], adding=True)
    return [None] * len(batches)


def add_shadows(connection: sa.Connection, rows: Sequence[dict[str, Any]]) -> list[None]:
    connection.execute(ADD_SHADOWS, list(rows))
    return [None] * len(rows)


def add_feedback(connection: sa.Connection, events: Sequence[FeedbackEvent]) -> list[FeedbackEvent | Refused]:
    earlier = _Earlier.read(connection, events)
    shares = _Shares.read(connection, events)
    fresh: list[FeedbackEvent] = []
    results: list[FeedbackEvent | Refused] = []
    for event in events:
        result = earlier.answer(event)
        if result is None:
            result = earlier.add(replace(event, weight=shares.weigh(event.source)), earlier.last + len(fresh) + 1)
            fresh.append(result)
        results.append(result)
    _store(connection, fresh)
    return results


@dataclass
class _Shares:
    """How much of the latest feedback came with each API key, which says how much the next counts in learning."""

    counts: Counter[str]

    @classmethod
    def read(cls, connection: sa.Connection, events: Sequence[FeedbackEvent]) -> _Shares:
        if not any(event.source for event in events):
            return cls(Counter())
        return cls(Counter({row[0]: row[1] for row in connection.exec_driver_sql(LATEST_SOURCES)}))

    def weigh(self, source: str) -> float:
        """Count one more feedback of a key and return its weight: a key counts for no more than all others together."""
        self.counts[source] += 1
        own, total = self.counts[source], self.counts.total()
        others = total - own
        return 1.0 if others < LEAST_OTHERS * total else min(1.0, others / own)


@dataclass
class _Earlier:
    """What is stored on the lists of a group of feedback; updated as the group is processed."""

    last: int  # number of the last feedback
    known: set[str]  # ids of the lists that exist
    events: dict[tuple[str, str, str], tuple[int, list[float]]]  # by list, API key and key: number and gains
    outcomes: dict[str, tuple[float, ...]]  # by list

    @classmethod
    def read(cls, connection: sa.Connection, events: Sequence[FeedbackEvent]) -> _Earlier:
        """Read everything with one query, whatever the size of the group; a second one if a list is not there."""
        ids = list({event.list_id for event in events})
        (inside, given), (answered, _) = (
            _among(connection, column, ids) for column in (lists.c.id, feedback.c.list_id)
        )
        wanted = (
            f"SELECT name, NULL, NULL, value, NULL FROM {clock.name} WHERE name = 'event' UNION ALL "
            f"SELECT 'lists', NULL, NULL, count(*), NULL FROM {lists.name} WHERE {inside} UNION ALL "
            f'SELECT "key", list_id, source, event, gains FROM {feedback.name} WHERE {answered}'
        )
        rows = connection.exec_driver_sql(wanted, (given, given)).all()
        totals = {name: number for name, list_id, _, number, _ in rows if list_id is None}
        known = set(ids) if totals["lists"] == len(ids) else _existing(connection, ids)
        earlier = cls(totals["event"], known, {}, {})
        for key, list_id, source, number, encoded in rows:
            if list_id is None:
                continue
            gains = msgspec.json.decode(encoded)
            earlier.events[list_id, source, key] = number, gains
            earlier.outcomes[list_id] = larger(earlier.outcomes.get(list_id), gains)
        return earlier

    def answer(self, event: FeedbackEvent) -> FeedbackEvent | Refused | None:
        if event.list_id not in self.known:
            return Refused(404, "not_found", "There is no such list.", field="list_id")
        if event.identity not in self.events:
            return None
        number, gains = self.events[event.identity]
        if gains != list(event.gains):
            advice = "Send further feedback with its own idempotency_key."
            return Refused(
                409, "conflict", f"This list already has different feedback under this key. {advice}", field="list_id"
            )
        return replace(event, number=number, duplicate=True)

    def add(self, event: FeedbackEvent, number: int) -> FeedbackEvent:
        stored = replace(event, number=number, earlier=self.outcomes.get(event.list_id))
        self.events[event.identity] = number, list(event.gains)
        self.outcomes[event.list_id] = stored.outcome
        return stored


def _existing(connection: sa.Connection, ids: list[str]) -> set[str]:
    """Return which of the lists and contexts exist."""
    both = [_among(connection, table.c.id, ids) for table in (lists, contexts)]
    union = " UNION ALL ".join(
        f"SELECT id FROM {table.name} WHERE {inside}"
        for table, (inside, _) in zip((lists, contexts), both, strict=True)
    )
    return set(connection.exec_driver_sql(union, tuple(given for _, given in both)).scalars())


def _store(connection: sa.Connection, fresh: list[FeedbackEvent]) -> None:
    if not fresh:
        return
    _insert(connection, feedback, [event.table_row() for event in fresh])
    connection.exec_driver_sql(f"{SET_LAST} {MARKS[connection.dialect.name]} WHERE name = 'event'", (fresh[-1].number,))
    by_minute: dict[tuple[int, int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    by_position: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    for event in fresh:
        if event.version == PACKER:
            continue
        first = event.earlier is None
        sums = by_minute[int(event.list_created // 60), event.version, 0]
        sums[1] += first
        sums[2] += is_failure(event.outcome) - (event.earlier is not None and is_failure(event.earlier))
        for position, gain in enumerate(event.outcome, start=1):
            old = 0.0 if event.earlier is None else event.earlier[position - 1]
            entry = by_position[event.version, position]
            entry[:] = entry[0] + first, entry[1] + gain - old, entry[2] + gain * gain - old * old
    _insert(connection, minutes, [(*key, *values) for key, values in by_minute.items()], adding=True)
    _insert(connection, positions, [(*key, *values) for key, values in by_position.items()], adding=True)


def _insert(connection: sa.Connection, table: sa.Table, rows: Sequence[Sequence[Any]], *, adding: bool = False) -> None:
    """Insert rows, one value per column in order; with `adding`, values are added to those of the same primary key."""
    for start in range(0, len(rows), ROWS):
        some = rows[start : start + ROWS]
        statement = _insertion(connection.dialect.name, table, len(some), adding)
        connection.exec_driver_sql(statement, tuple(value for row in some for value in row))


@cache
def _insertion(dialect: str, table: sa.Table, count: int, adding: bool) -> str:
    names = [f'"{column.name}"' for column in table.columns]
    row = f"({', '.join([MARKS[dialect]] * len(names))})"
    insertion = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES {', '.join([row] * count)}"
    if not adding:
        return insertion
    keys = [f'"{column.name}"' for column in table.primary_key.columns]
    sums = [f"{name} = {table.name}.{name} + excluded.{name}" for name in names if name not in keys]
    return f"{insertion} ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {', '.join(sums)}"


def _among(connection: sa.Connection, column: sa.Column[Any], values: Sequence[str]) -> tuple[str, Any]:
    """Return a condition that a column holds one of many texts, and its only parameter."""
    dialect = connection.dialect.name
    given = json.dumps(values) if dialect == "sqlite" else list(values)
    return f'{column.table.name}."{column.name}" {AMONG[dialect]}', given


class Old(NamedTuple):
    """Which lists may be deleted."""

    seconds: float | None  # lists older than this
    bytes: float | None  # lists beyond this size of the whole store, the oldest first
    learned: bool  # only feedback that was learned from
    latest: float = inf  # the time by which ages are counted, where the database's clock is beyond: it has jumped


@each
def forget(connection: sa.Connection, old: Old) -> int:
    """Delete the oldest lists that may go, and contexts, at most `BATCH` of each, with feedback; sums are kept."""
    doomed = {table: sa.select(table.c.id).order_by(table.c.id).limit(BATCH) for table in (lists, contexts)}
    if old.bytes is None or size_of(connection) <= old.bytes:
        if old.seconds is None:
            return 0
        limit = first_id(max(0.0, min(clock_of(connection), old.latest) - old.seconds))
        doomed = {table: oldest.where(table.c.id < limit) for table, oldest in doomed.items()}
    if old.learned:
        doomed[lists] = doomed[lists].where(~_needed_feedback().correlate(lists).exists())
    most = 0
    for table, oldest in doomed.items():
        ids = connection.execute(oldest).scalars().all()
        for other in (feedback, shadows, quarantine):
            connection.execute(sa.delete(other).where(other.c.list_id.in_(ids)))
        connection.execute(sa.delete(table).where(table.c.id.in_(ids)))
        most = max(most, len(ids))
    return most


def _needed_feedback() -> sa.Select[tuple[int]]:
    """Return a query for feedback on a list that learning still needs."""
    # A version that is not frozen needs all events after its base snapshot, because its state is rebuilt from there. A
    # version that serves and has never learned needs all of its feedback.
    base = sa.select(snapshots.c.applied).where(snapshots.c.number == learning.c.base).scalar_subquery()
    joined = feedback.join(models, models.c.version == feedback.c.version)
    joined = joined.outerjoin(learning, learning.c.version == feedback.c.version)
    last = sa.select(sa.func.max(deployments.c.number)).group_by(deployments.c.name)
    serves = sa.or_(models.c.version == deployments.c.current, models.c.version == deployments.c.canary)
    serving = sa.select(deployments.c.number).where(deployments.c.number.in_(last), serves).exists()
    needed = sa.or_(
        sa.and_(learning.c.version.is_(None), serving), sa.and_(learning.c.frozen == 0, feedback.c.event > base)
    )
    return sa.select(feedback.c.event).select_from(joined).where(feedback.c.list_id == lists.c.id, needed)


def size_of(connection: sa.Connection) -> int:
    """Return the bytes that the store uses: pages in use of an SQLite file, or tables and indexes of PostgreSQL."""
    if connection.dialect.name == "sqlite":
        pages, free, size = (
            int(connection.execute(sa.text(f"PRAGMA {name}")).scalar_one())
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size
    return int(connection.execute(TABLE_SIZES).scalar_one() or 0)


def give_space_back(database: Database) -> None:
    if database.writing.dialect.name == "sqlite":
        with database.reading.connect() as connection:
            raw: Any = connection.connection.driver_connection
            raw.executescript(f"PRAGMA incremental_vacuum({PAGES}); PRAGMA wal_checkpoint(PASSIVE);")
        return
    with database.maintenance.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for table in (lists, contexts, feedback, shadows):
            connection.execute(sa.text(f"VACUUM {table.name}"))
