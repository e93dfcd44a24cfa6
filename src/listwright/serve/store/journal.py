"""Writes of lists, feedback and shadow lists, many per transaction, together with the sums behind the statistics.

Sums by minute and by position are kept in the same transaction as the rows they count, so statistics never need to scan
the lists and never disagree with them. Functions have the form that `Writer` expects: a connection and a sequence of
arguments in, one result per argument out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, insert, update

from listwright.serve.refusals import Refused
from listwright.serve.store.ids import now
from listwright.serve.store.records import cut
from listwright.serve.store.rows import Row, add_up, among, put
from listwright.serve.store.schema import clock, feedback, lists, minutes, positions, shadows

# Statements are made once: to make one costs more than to run it.
ADD_SHADOWS = insert(shadows)
LOCK = update(clock).where(clock.c.name == "event").values(value=clock.c.value).returning(clock.c.value)
MOVE = update(clock).where(clock.c.name == "event").values(value=bindparam("last"))
REVISE = update(clock).where(clock.c.name == "revision").values(value=clock.c.value + 1)


@dataclass(frozen=True, eq=False)
class Served:
    """One list as it is stored."""

    id: str  # 32 hex digits that sort by time
    created: float  # seconds since 1970
    version: int  # model version that built it
    state: int  # number of lists the version had learned from
    learn: bool  # whether it may be learned from; False if values were clipped
    record: bytes  # problem, picks, scores and propensities: see `records`
    context: str | None  # the caller's own JSON

    def row(self) -> Row:
        """Return the row of the table."""
        return self.id, self.created, self.version, self.state, int(self.learn), *cut(self.record), self.context


@dataclass(frozen=True)
class Told:
    """Feedback on a list, checked and with one gain per position."""

    list_id: str  # the list
    key: str  # idempotency key
    gains: tuple[float, ...]  # gain of each item, in order
    version: int  # model version that built the list
    created: float  # of the list


@dataclass(frozen=True)
class Noted:
    """Feedback that is stored."""

    event: int  # its number; numbers are given in commit order
    failed: bool  # whether the list has brought nothing so far
    duplicate: bool  # whether the same feedback was stored before


def add_lists(connection: Connection, batches: Sequence[Sequence[Served]]) -> list[None]:
    """Store lists and count them by minute and version."""
    served = [one for batch in batches for one in batch]
    put(connection, lists, [one.row() for one in served])
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
    """Store feedback under increasing event numbers."""
    last = int(connection.execute(LOCK).scalar_one())  # other writers wait here until this transaction ends
    earlier = _Earlier.read(connection, told)
    fresh: list[_Fresh] = []
    results: list[Noted | Refused] = []
    for one in told:
        found = earlier.answer(one)
        if found is None:
            fresh.append(earlier.add(one, last + len(fresh) + 1))
            found = Noted(fresh[-1].event, failed(fresh[-1].outcome), duplicate=False)
        results.append(found)
    _store(connection, fresh)
    return results


@dataclass(frozen=True)
class _Fresh:
    """Feedback to insert."""

    told: Told  # the feedback
    event: int  # its number
    before: list[float] | None  # the outcome of its list without it
    outcome: list[float]  # outcome of the list with it

    def row(self) -> Row:
        """Return the row of the table."""
        one, earlier = self.told, None if self.before is None else msgspec.json.encode(self.before).decode()
        gains = msgspec.json.encode(one.gains).decode()
        return self.event, one.list_id, one.key, one.version, now(), gains, earlier


@dataclass
class _Earlier:
    """What is stored on the lists and under the keys of a group of feedback; updated as the group is processed."""

    known: set[str]  # ids of the lists that exist
    by_key: dict[str, tuple[str, int, list[float]]]  # by idempotency key: list, event number and gains of the feedback
    outcomes: dict[str, list[float]]  # by list

    @classmethod
    def read(cls, connection: Connection, told: Sequence[Told]) -> _Earlier:
        """Read everything with two queries, whatever the size of the group; a third one if a list is not there."""
        ids, keys = list({one.list_id for one in told}), list({one.key for one in told})
        found = cls(_known(connection, ids), {}, {})
        by_list, first = among(connection, feedback.c.list_id, ids)
        by_key, second = among(connection, feedback.c.key, keys)
        wanted = f'SELECT "key", list_id, event, gains FROM {feedback.name} WHERE {by_list} OR {by_key}'
        for key, list_id, event, text in connection.exec_driver_sql(wanted, (first, second)):
            gains = msgspec.json.decode(text)
            found.by_key[key] = list_id, event, gains
            found.outcomes[list_id] = _larger(found.outcomes.get(list_id), gains)
        return found

    def answer(self, told: Told) -> Noted | Refused | None:
        """Return the result of feedback that is a duplicate or cannot be added; None if it is new."""
        if told.list_id not in self.known:
            return Refused(404, "not_found", "There is no such list.", field="list_id")
        if told.key not in self.by_key:
            return None
        list_id, event, gains = self.by_key[told.key]
        if list_id != told.list_id:
            return Refused(409, "conflict", "This key was used for another list.", field="idempotency_key")
        if gains != list(told.gains):
            advice = "Send further feedback with its own idempotency_key."
            return Refused(
                409, "conflict", f"This list already has different feedback under this key. {advice}", field="list_id"
            )
        return Noted(event, failed(gains), duplicate=True)

    def add(self, told: Told, event: int) -> _Fresh:
        """Register new feedback under its event number and return what to insert."""
        before = self.outcomes.get(told.list_id)
        self.by_key[told.key] = told.list_id, event, list(told.gains)
        self.outcomes[told.list_id] = _larger(before, told.gains)
        return _Fresh(told, event, before, self.outcomes[told.list_id])


def _known(connection: Connection, ids: list[str]) -> set[str]:
    """Return which of the lists exist; they are counted first, which is enough where all of them do."""
    condition, given = among(connection, lists.c.id, ids)
    count = connection.exec_driver_sql(f"SELECT count(*) FROM {lists.name} WHERE {condition}", (given,)).scalar_one()
    if count == len(ids):
        return set(ids)
    return set(connection.exec_driver_sql(f"SELECT id FROM {lists.name} WHERE {condition}", (given,)).scalars())


def outcome_of(gains: str, earlier: str | None) -> list[float]:
    """Return the outcome of a list by position: the larger of the latest gains and those before, from stored JSON."""
    return _larger(None if earlier is None else msgspec.json.decode(earlier), msgspec.json.decode(gains))


def _larger(before: Sequence[float] | None, gains: Sequence[float]) -> list[float]:
    """Return the elementwise maximum of two outcomes; the second alone if there was none before."""
    return list(gains) if before is None else [max(pair) for pair in zip(before, gains, strict=True)]


def failed(gains: Iterable[float]) -> bool:
    """Return whether a list brought nothing."""
    return not any(gain > 0 for gain in gains)


def _store(connection: Connection, fresh: list[_Fresh]) -> None:
    """Insert new feedback, advance the event counter and update the sums."""
    if not fresh:
        return
    put(connection, feedback, [one.row() for one in fresh])
    connection.execute(MOVE, {"last": fresh[-1].event})
    by_minute: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    by_position: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    for one in fresh:
        version, first = one.told.version, one.before is None
        sums = by_minute[_minute(one.told.created), version]
        sums[1] += first
        sums[2] += failed(one.outcome) - (one.before is not None and failed(one.before))
        for position, gain in enumerate(one.outcome, start=1):
            old = 0.0 if one.before is None else one.before[position - 1]
            entry = by_position[version, position]
            entry[:] = entry[0] + first, entry[1] + gain - old, entry[2] + gain * gain - old * old
    _add_minutes(connection, by_minute)
    add_up(connection, positions, [(*key, *sums) for key, sums in sorted(by_position.items())])


def revise(connection: Connection) -> None:
    """Increment the revision, which tells all replicas to read versions, traffic and learned policies again."""
    connection.execute(REVISE)


def _minute(created: float) -> int:
    """Return the minute since 1970 of a time in seconds."""
    return int(created // 60)


def _add_minutes(connection: Connection, sums: dict[tuple[int, int], list[int]]) -> None:
    """Add counts (lists, answered, failures) by minute and version to the sums."""
    add_up(connection, minutes, [(*key, *values) for key, values in sorted(sums.items())])
