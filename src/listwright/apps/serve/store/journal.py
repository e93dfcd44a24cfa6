"""What is written of lists and feedback, many in one transaction, with the sums that statistics are read from."""

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
    """One list, as it is stored."""

    id: str
    created: float
    version: int
    state: int
    learn: bool
    record: bytes
    context: str | None

    def row(self) -> dict[str, Any]:
        """As the table takes it."""
        return {**vars(self), "learn": int(self.learn)}


@dataclass(frozen=True)
class Told:
    """Feedback on a list: what each of its items brought."""

    list_id: str
    key: str
    gains: tuple[float, ...]
    version: int
    created: float  # of the list


@dataclass(frozen=True)
class Noted:
    """Feedback that is durable, under this number."""

    event: int
    failed: bool
    duplicate: bool


def add_lists(connection: Connection, batches: Sequence[Sequence[Served]]) -> list[None]:
    """Stores lists; each argument is the lists of one request."""
    served = [one for batch in batches for one in batch]
    connection.execute(ADD_LISTS, [one.row() for one in served])
    sums: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    for one in served:
        sums[_minute(one.created), one.version][0] += 1
    _add_minutes(connection, sums)
    return [None] * len(batches)


def add_shadows(connection: Connection, rows: Sequence[dict[str, Any]]) -> list[None]:
    """Stores what shadows would have shown."""
    connection.execute(ADD_SHADOWS, list(rows))
    return [None] * len(rows)


def add_feedback(connection: Connection, told: Sequence[Told]) -> list[Noted | Refused]:
    """Stores feedback under numbers that grow; the same told twice is stored once.

    Later feedback on a list, under a key of its own, adds to what came before: the outcome of a position is the
    largest gain that was told of it.
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
    """Feedback that is new."""

    row: dict[str, Any]
    before: list[float] | None  # the outcome of its list without it
    outcome: list[float]
    shown: float  # when the list was served


@dataclass
class _Earlier:
    """What is stored already on some lists and under some keys."""

    known: set[str]
    by_key: dict[str, Any]
    outcomes: dict[str, list[float]]  # by list

    @classmethod
    def read(cls, connection: Connection, told: Sequence[Told]) -> _Earlier:
        ids = [one.list_id for one in told]
        rows = connection.execute(EARLIER, {"ids": ids, "keys": [one.key for one in told]}).mappings().all()
        found = cls(set(connection.execute(KNOWN, {"ids": ids}).scalars()), {row["key"]: row for row in rows}, {})
        for row in rows:
            gains = msgspec.json.decode(row["gains"])
            found.outcomes[row["list_id"]] = _larger(found.outcomes.get(row["list_id"]), gains)
        return found

    def answer(self, told: Told) -> Noted | Refused | None:
        """What is answered to feedback that cannot be added, or was before; None where it is new."""
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
        """New feedback, under its number."""
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


def _larger(before: Sequence[float] | None, gains: Sequence[float]) -> list[float]:
    return list(gains) if before is None else [max(pair) for pair in zip(before, gains, strict=True)]


def failed(gains: Iterable[float]) -> bool:
    """A list fails where nothing in it brought anything."""
    return not any(gain > 0 for gain in gains)


def _store(connection: Connection, fresh: list[_Fresh]) -> None:
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
    """Tells all replicas that there is something to follow."""
    connection.execute(REVISE)


def _minute(created: float) -> int:
    return int(created // 60)


def _add_minutes(connection: Connection, sums: dict[tuple[int, int], list[int]]) -> None:
    _add(connection, minutes, [_named(minutes, key, values) for key, values in sorted(sums.items())])


def _named(table: Table, key: tuple[int, int], values: Sequence[float]) -> dict[str, Any]:
    return dict(zip(table.columns.keys(), (*key, *values), strict=True))


def _add(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    """Adds to the sums of each key; a key that is new starts with them."""
    if rows:
        connection.execute(_adding(connection.dialect.name, table), rows)


@cache
def _adding(dialect: str, table: Table) -> Insert:
    adding = (sqlite if dialect == "sqlite" else postgresql).insert(table)
    sums = [column for column in table.columns if not column.primary_key]
    return adding.on_conflict_do_update(
        index_elements=list(table.primary_key.columns),
        set_={column.name: column + adding.excluded[column.name] for column in sums},
    )
