"""Creation of a store, and upgrades from earlier schema versions.

Upgrades run in the transaction that opens the store, so a failed one leaves the store as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from safetensors.numpy import load
from sqlalchemy import Connection, insert, inspect, select, text, update

from listwright.errors import InputError
from listwright.serve.store import schema
from listwright.serve.store.records import Packed, cut, pack, problem_from

SOME = 500  # rows copied at a time
LOCK = 7_241_908_113  # of PostgreSQL: one service upgrades, the others wait


def upgrade(connection: Connection) -> tuple[int, int]:
    """Bring a store to the present schema version, within the connection's transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    before, now = _version(connection), len(UPGRADES)
    if before > now:
        raise InputError(
            f"The store has schema version {before}. This version of listwright "
            f"supports up to {now}: update listwright."
        )
    if before == 0:
        _create(connection)
    for step in UPGRADES[before:] if before else []:
        step(connection)
    if before < now:
        connection.execute(update(schema.version_table).values(version=now))
    return before, now


def _version(connection: Connection) -> int:
    """Return the schema version of a database; 0 if it has no store."""
    if not inspect(connection).has_table(schema.version_table.name):
        return 0
    return int(connection.execute(select(schema.version_table.c.version)).scalar_one())


def _create(connection: Connection) -> None:
    """Create all tables of the present version, with their initial rows."""
    schema.metadata.create_all(connection)
    connection.execute(insert(schema.version_table), {"version": 0})
    _begin_clocks(connection, "event", "revision")


def _begin_clocks(connection: Connection, *names: str) -> None:
    """Insert counters with value 0, and the free lease of the learner."""
    connection.execute(insert(schema.clock), [{"name": name, "value": 0} for name in names])
    connection.execute(insert(schema.leases), {"name": "learner", "holder": "", "term": 0, "expires": 0.0})


def _first(connection: Connection) -> None:
    """Do nothing: version 1 is the first."""


def _second(connection: Connection) -> None:
    """Upgrade to version 2: model names, several feedbacks per list, compact records, and snapshots of learned
    states.
    """
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
    """Convert a list of version 1, whose problem was stored as safetensors and its answer as JSON, to a record."""
    data = row.pop("problem")
    answer, arrays = msgspec.json.decode(row.pop("answer")), load(data)
    header = msgspec.json.decode(data[8 : 8 + int.from_bytes(data[:8], "little")])
    ids = msgspec.json.decode(header["__metadata__"]["item_ids"])
    budget = float(arrays["budget"][0]) if "budget" in arrays else None
    scores = [item["score"] for item in answer["items"]]
    known = None if None in scores else scores
    packed = Packed(problem_from(arrays), ids, arrays["picks"], known, arrays.get("propensities"), budget)
    record, rest = cut(pack(packed))
    return {**row, "learn": 1, "record": record, "rest": rest, "context": None}


def _second_learner(connection: Connection, number: int, row: Any) -> None:
    """Convert a learner's state of version 1 to a snapshot and a row of progress."""
    count = int(load(row["state"])["version"])
    shared = {"version": row["version"], "applied": row["applied"], "count": count}
    created = {"number": number, "created": 0.0, "reason": "from an earlier version", "state": row["state"]}
    connection.execute(insert(schema.snapshots), shared | created)
    connection.execute(insert(schema.learning), shared | {"base": number, "frozen": 0})


# Step i makes a store of version i + 1 from one of version i; an empty database gets all tables at once.
UPGRADES: list[Callable[[Connection], None]] = [_first, _second]


def _set_aside(connection: Connection, name: str) -> str:
    """Rename a table and, on PostgreSQL, its indexes, whose names must be unique in the whole schema; returns the new
    name.
    """
    aside = f"before_{name}"
    if connection.dialect.name == "postgresql":
        indexes = select(text("indexname FROM pg_indexes WHERE tablename = :name"))
        for index in connection.execute(indexes, {"name": name}).scalars().all():
            connection.execute(text(f'ALTER INDEX "{index}" RENAME TO "before_{index}"'))
    connection.execute(text(f"ALTER TABLE {name} RENAME TO {aside}"))
    return aside


def _copy(connection: Connection, old: str, new: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Copy all rows of the old table to the new one, changed by `change`, in batches."""
    key = new.primary_key.columns.keys()[0]
    for rows in _batches(connection, old, key):
        connection.execute(insert(new), [change(dict(row)) for row in rows])


def _batches(connection: Connection, table: str, key: str) -> Iterator[Sequence[Any]]:
    """Yield all rows of a table in batches, in the order of `key`."""
    # Pages by key rather than by offset, so that each batch costs the same.
    last: Any = None
    while True:
        beyond = "" if last is None else f"WHERE {key} > :last"
        wanted = text(f"SELECT * FROM {table} {beyond} ORDER BY {key} LIMIT {SOME}")
        rows = connection.execute(wanted, {} if last is None else {"last": last}).mappings().all()
        if not rows:
            return
        yield rows
        last = rows[-1][key]
