"""What is written of lists and feedback, many in one transaction, with the sums that statistics are read from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic_core import from_json, to_json
from sqlalchemy import Connection, Insert, Table, bindparam, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from listwright.apps.serve.records import Served, now
from listwright.apps.serve.refusals import Refused, invalid
from listwright.apps.serve.schema import clock, feedback, lists, minutes, positions

# Statements are made once: to make one costs more than to run it.
ADD_LISTS, ADD_FEEDBACK = insert(lists), insert(feedback)
KNOWN = select(lists.c.id, lists.c.version, lists.c.created, lists.c.answer).where(
    lists.c.id.in_(bindparam("ids", expanding=True))
)
EARLIER = select(feedback).where(
    or_(feedback.c.list_id.in_(bindparam("ids", expanding=True)), feedback.c.key.in_(bindparam("keys", expanding=True)))
)
LOCK = update(clock).where(clock.c.name == "event").values(value=clock.c.value).returning(clock.c.value)
MOVE = update(clock).where(clock.c.name == "event").values(value=bindparam("last"))


@dataclass(frozen=True)
class Told:
    """What somebody tells of a list: the items that were clicked, or what each item brought."""

    list_id: str
    key: str
    clicks: tuple[str | int, ...] | None
    gains: tuple[float, ...] | None


@dataclass(frozen=True)
class Noted:
    """Feedback that is durable, under this number."""

    event: int
    version: int
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


def add_feedback(connection: Connection, told: Sequence[Told]) -> list[Noted | Refused]:
    """Stores feedback under numbers that grow; the same told twice is stored once."""
    known = _lists_of(connection, told)
    by_list, by_key = _earlier(connection, told)
    fresh: list[dict[str, Any]] = []
    results: list[Noted | Refused] = []
    last = _last_event(connection)
    for one in told:
        try:
            row = _row(one, known)
        except Refused as refused:
            results.append(refused)
            continue
        earlier = by_list.get(one.list_id), by_key.get(one.key)
        if earlier == (None, None):
            row["event"] = last + len(fresh) + 1
            by_list[one.list_id] = by_key[one.key] = row
            fresh.append(row)
            results.append(_noted(row, duplicate=False))
        else:
            results.append(_again(row, *earlier))
    _store(connection, fresh, known)
    return results


def _row(told: Told, known: dict[str, Any]) -> dict[str, Any]:
    if told.list_id not in known:
        raise Refused(404, "not_found", "There is no such list.", field="list_id")
    found = known[told.list_id]
    items = [item["id"] for item in from_json(found.answer)["items"]]
    gains = _gains(told, items)
    return {
        "list_id": told.list_id,
        "key": told.key,
        "version": found.version,
        "created": now(),
        "gains": to_json(gains).decode(),
    }


def _gains(told: Told, items: list[Any]) -> list[float]:
    if told.gains is not None:
        if len(told.gains) != len(items):
            raise invalid("gains", f"The list has {len(items)} items, so it takes {len(items)} gains.")
        return list(told.gains)
    clicked = set(told.clicks or ())
    for i, item in enumerate(told.clicks or ()):
        if item not in items:
            raise invalid(f"clicks.{i}", "This item is not in the list.")
    return [1.0 if item in clicked else 0.0 for item in items]


def _again(row: dict[str, Any], by_list: Any, by_key: Any) -> Noted | Refused:
    """The answer to feedback on a list that has some, or under a key that was used."""
    if by_key is not None and by_key["list_id"] != row["list_id"]:
        return Refused(409, "conflict", "This key was used for another list.", field="idempotency_key")
    if by_list["gains"] != row["gains"] or by_list["key"] != row["key"]:
        return Refused(409, "conflict", "This list has other feedback already.", field="list_id")
    return _noted(by_list, duplicate=True)


def _noted(row: Any, *, duplicate: bool) -> Noted:
    return Noted(row["event"], row["version"], _failed(from_json(row["gains"])), duplicate)


def _failed(gains: Iterable[float]) -> bool:
    """A list fails where nothing in it brought anything."""
    return not any(gain > 0 for gain in gains)


def _lists_of(connection: Connection, told: Sequence[Told]) -> dict[str, Any]:
    return {row.id: row for row in connection.execute(KNOWN, {"ids": [one.list_id for one in told]})}


def _earlier(connection: Connection, told: Sequence[Told]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Feedback that is stored already on these lists or under these keys."""
    wanted = {"ids": [one.list_id for one in told], "keys": [one.key for one in told]}
    rows = connection.execute(EARLIER, wanted).mappings().all()
    return {row["list_id"]: row for row in rows}, {row["key"]: row for row in rows}


def _last_event(connection: Connection) -> int:
    """The last number given; other writers wait here until this transaction ends."""
    return int(connection.execute(LOCK).scalar_one())


def _store(connection: Connection, fresh: list[dict[str, Any]], known: dict[str, Any]) -> None:
    if not fresh:
        return
    connection.execute(ADD_FEEDBACK, fresh)
    connection.execute(MOVE, {"last": fresh[-1]["event"]})
    by_minute: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0, 0])
    by_position: dict[tuple[int, int], list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    for row in fresh:
        gains = from_json(row["gains"])
        sums = by_minute[_minute(known[row["list_id"]].created), row["version"]]
        sums[1] += 1
        sums[2] += _failed(gains)
        for position, gain in enumerate(gains, start=1):
            one = by_position[row["version"], position]
            one[:] = one[0] + 1, one[1] + gain, one[2] + gain * gain
    _add_minutes(connection, by_minute)
    _add(connection, positions, [_named(positions, key, sums) for key, sums in sorted(by_position.items())])


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
