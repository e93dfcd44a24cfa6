"""How an empty database, or a store of an earlier version, becomes a store of this version."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from safetensors.numpy import load
from sqlalchemy import Connection, insert, inspect, select, text, update

from listwright.apps.serve.store import schema
from listwright.apps.serve.store.records import Packed, pack, problem_from
from listwright.errors import InputError

SOME = 500  # rows copied at a time
LOCK = 7_241_908_113  # of PostgreSQL: one service upgrades, the others wait


def upgrade(connection: Connection) -> tuple[int, int]:
    """Brings a store to this version, in the transaction of the connection; its version before and now."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    before, now = _version(connection), len(UPGRADES)
    if before > now:
        raise InputError(f"The store has schema version {before}. This listwright knows {now}: update it.")
    if before == 0:
        _create(connection)
    for step in UPGRADES[before:] if before else []:
        step(connection)
    if before < now:
        connection.execute(update(schema.version_table).values(version=now))
    return before, now


def _version(connection: Connection) -> int:
    if not inspect(connection).has_table(schema.version_table.name):
        return 0
    return int(connection.execute(select(schema.version_table.c.version)).scalar_one())


def _create(connection: Connection) -> None:
    """All tables, as this version has them."""
    schema.metadata.create_all(connection)
    connection.execute(insert(schema.version_table), {"version": 0})
    _begin_clocks(connection, "event", "revision")


def _begin_clocks(connection: Connection, *names: str) -> None:
    connection.execute(insert(schema.clock), [{"name": name, "value": 0} for name in names])
    connection.execute(insert(schema.leases), {"name": "learner", "holder": "", "term": 0, "expires": 0.0})


def _first(connection: Connection) -> None:
    """Version 1 was made by its own release; there is nothing before it."""


def _second(connection: Connection) -> None:
    """Names of models, several feedbacks per list, compact records, and learned states with their history."""
    old = {name: _set_aside(connection, f"lw_{name}") for name in ("models", "deployments", "lists", "feedback")}
    schema.metadata.create_all(connection)
    _begin_clocks(connection, "revision")
    _copy(connection, old["models"], schema.models, lambda row: {**row, "name": "default"})
    _copy(connection, old["deployments"], schema.deployments, lambda row: {**row, "name": "default", "shadow": None})
    _copy(connection, old["lists"], schema.lists, _second_list)
    _copy(connection, old["feedback"], schema.feedback, lambda row: {**row, "earlier": None})
    for number, row in enumerate(connection.execute(text("SELECT * FROM lw_learners")).mappings().all(), start=1):
        _second_learner(connection, number, row)
    for name in (*old.values(), "lw_learners"):
        connection.execute(text(f"DROP TABLE {name}"))
    connection.execute(text("DELETE FROM lw_clock WHERE name = 'applied'"))


def _second_list(row: dict[str, Any]) -> dict[str, Any]:
    data = row.pop("problem")
    answer, arrays = msgspec.json.decode(row.pop("answer")), load(data)
    header = msgspec.json.decode(data[8 : 8 + int.from_bytes(data[:8], "little")])
    ids = msgspec.json.decode(header["__metadata__"]["item_ids"])
    budget = float(arrays["budget"][0]) if "budget" in arrays else None
    scores = [item["score"] for item in answer["items"]]
    known = None if None in scores else scores
    packed = Packed(problem_from(arrays), ids, arrays["picks"], known, arrays.get("propensities"), budget)
    return {**row, "learn": 1, "record": pack(packed), "context": None}


def _second_learner(connection: Connection, number: int, row: Any) -> None:
    count = int(load(row["state"])["version"])
    shared = {"version": row["version"], "applied": row["applied"], "count": count}
    created = {"number": number, "created": 0.0, "reason": "from an earlier version", "state": row["state"]}
    connection.execute(insert(schema.snapshots), shared | created)
    connection.execute(insert(schema.learning), shared | {"base": number, "frozen": 0})


# Step i makes a store of version i + 1 from one of version i; an empty database gets all tables at once.
UPGRADES: list[Callable[[Connection], None]] = [_first, _second]


def _set_aside(connection: Connection, name: str) -> str:
    """Renames a table with its indexes, whose names PostgreSQL counts for the whole schema."""
    aside = f"before_{name}"
    if connection.dialect.name == "postgresql":
        indexes = select(text("indexname FROM pg_indexes WHERE tablename = :name"))
        for index in connection.execute(indexes, {"name": name}).scalars().all():
            connection.execute(text(f'ALTER INDEX "{index}" RENAME TO "before_{index}"'))
    connection.execute(text(f"ALTER TABLE {name} RENAME TO {aside}"))
    return aside


def _copy(connection: Connection, old: str, new: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    key = new.primary_key.columns.keys()[0]
    for rows in _batches(connection, old, key):
        connection.execute(insert(new), [change(dict(row)) for row in rows])


def _batches(connection: Connection, table: str, key: str) -> Iterator[Sequence[Any]]:
    """All rows, some at a time, in the order of their key."""
    last: Any = None
    while True:
        beyond = "" if last is None else f"WHERE {key} > :last"
        wanted = text(f"SELECT * FROM {table} {beyond} ORDER BY {key} LIMIT {SOME}")
        rows = connection.execute(wanted, {} if last is None else {"last": last}).mappings().all()
        if not rows:
            return
        yield rows
        last = rows[-1][key]
