"""The tables of a store, and how a store of an earlier version becomes one of this version."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    insert,
    inspect,
    select,
    update,
)

from listwright.errors import InputError

metadata = MetaData()

version_table = Table("lw_schema", metadata, Column("version", Integer, nullable=False))

# Numbers that only grow: "event", the last one given to feedback; "applied", the last one learned from. To give a
# number a writer locks its row until it commits, so that events become visible in their order.
clock = Table(
    "lw_clock", metadata, Column("name", String(16), primary_key=True), Column("value", BigInteger, nullable=False)
)

models = Table(
    "lw_models",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("created", Float(53), nullable=False),
    Column("file", LargeBinary, nullable=False),
)

# What served from when on: the last row is in force.
deployments = Table(
    "lw_deployments",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("current", Integer, nullable=False),
    Column("canary", Integer),
    Column("share", Float(53), nullable=False),
    Column("created", Float(53), nullable=False),
)

# Ids begin with the time, so they sort by it.
lists = Table(
    "lw_lists",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("created", Float(53), nullable=False),
    Column("version", Integer, nullable=False),
    Column("state", BigInteger, nullable=False),  # how many lists the policy had learned from
    Column("answer", Text, nullable=False),  # JSON, as it was sent
    Column("problem", LargeBinary, nullable=False),  # what it was built from: see records.py
)

feedback = Table(
    "lw_feedback",
    metadata,
    Column("event", BigInteger, primary_key=True, autoincrement=False),
    Column("list_id", String(32), nullable=False, unique=True),
    Column("key", String(100), nullable=False, unique=True),
    Column("version", Integer, nullable=False),
    Column("created", Float(53), nullable=False),
    Column("gains", Text, nullable=False),  # JSON, one number a position
)

learners = Table(
    "lw_learners",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("applied", BigInteger, nullable=False),
    Column("state", LargeBinary, nullable=False),
)

# Sums, kept in the transaction that adds a list or feedback; feedback counts for the minute of its list.
minutes = Table(
    "lw_minutes",
    metadata,
    Column("minute", Integer, primary_key=True, autoincrement=False),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("lists", BigInteger, nullable=False),
    Column("answered", BigInteger, nullable=False),
    Column("failures", BigInteger, nullable=False),
)

positions = Table(
    "lw_positions",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("answered", BigInteger, nullable=False),
    Column("gain", Float(53), nullable=False),
    Column("squares", Float(53), nullable=False),
)


def _create(connection: Connection) -> None:
    metadata.create_all(connection)
    connection.execute(insert(version_table), {"version": 0})
    connection.execute(insert(clock), [{"name": "event", "value": 0}, {"name": "applied", "value": 0}])


# Step i makes a store of version i + 1 from one of version i; an empty database has version 0.
UPGRADES: list[Callable[[Connection], None]] = [_create]


def upgrade(connection: Connection) -> tuple[int, int]:
    """Brings a store to this version, in the transaction of the connection; its version before and now."""
    before, now = _version(connection), len(UPGRADES)
    if before > now:
        raise InputError(f"The store has schema version {before}. This listwright knows {now}: update it.")
    for step in UPGRADES[before:]:
        step(connection)
    if before < now:
        connection.execute(update(version_table).values(version=now))
    return before, now


def _version(connection: Connection) -> int:
    if not inspect(connection).has_table(version_table.name):
        return 0
    return int(connection.execute(select(version_table.c.version)).scalar_one())
