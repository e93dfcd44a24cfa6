"""The tables of a store, as SQLAlchemy metadata; comments say what each is for.

All names begin with ``lw_``, so that a store can share a database with other applications. A change here needs a step
in `upgrades`.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

version_table = Table("lw_schema", metadata, Column("version", Integer, nullable=False))

# Numbers that only grow. "event": the last number given to feedback; a writer locks this row until it commits, so that
# events become visible in their order. "revision": grows with every change that all replicas must follow.
clock = Table(
    "lw_clock", metadata, Column("name", String(16), primary_key=True), Column("value", BigInteger, nullable=False)
)

# Who does what only one may do. The time is the database's, so the clocks of the machines do not matter; the term
# grows with every new holder, so whoever held a lease before can be told from whoever holds it now.
leases = Table(
    "lw_leases",
    metadata,
    Column("name", String(16), primary_key=True),
    Column("holder", String(64), nullable=False),
    Column("term", BigInteger, nullable=False),
    Column("expires", Float(53), nullable=False),
)

# Version numbers count over all names.
models = Table(
    "lw_models",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("name", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("created", Float(53), nullable=False),
    Column("file", LargeBinary, nullable=False),
    UniqueConstraint("name", "digest"),
)

# What served from when on: the last row of a name is in force.
deployments = Table(
    "lw_deployments",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("name", String(64), nullable=False),
    Column("current", Integer, nullable=False),
    Column("canary", Integer),
    Column("share", Float(53), nullable=False),
    Column("shadow", Integer),
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
    Column("learn", SmallInteger, nullable=False),  # 0: out of the trained range, so nothing is learned from it
    Column("record", LargeBinary, nullable=False),  # candidates, picks and scores: see records.py
    Column("rest", LargeBinary),  # of a record that is cut in two: see `records.cut`
    Column("context", Text),  # JSON of the caller's own
)

feedback = Table(
    "lw_feedback",
    metadata,
    Column("event", BigInteger, primary_key=True, autoincrement=False),
    Column("list_id", String(32), nullable=False, index=True),
    Column("key", String(100), nullable=False, unique=True),
    Column("version", Integer, nullable=False),
    Column("created", Float(53), nullable=False),
    Column("gains", Text, nullable=False),  # JSON, one number per position, as it was told
    Column("earlier", Text),  # the same, of all feedback on this list before; null for the first
)
Index("lw_feedback_by_version", feedback.c.version, feedback.c.event)

# How far each version has learned. What it learned is the state of its base snapshot and the events from there on.
learning = Table(
    "lw_learning",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("applied", BigInteger, nullable=False),  # the last event that was looked at
    Column("count", BigInteger, nullable=False),  # lists learned from
    Column("base", Integer, nullable=False),  # a snapshot
    Column("frozen", SmallInteger, nullable=False),
    Column("reason", Text),  # why it is frozen
    Column("policy", LargeBinary),  # what replicas serve: see learning/published.py; null: as deployed
    Column("comparison", Text),  # JSON: the last comparison with the deployed policy
)

snapshots = Table(
    "lw_snapshots",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
    Column("applied", BigInteger, nullable=False),
    Column("count", BigInteger, nullable=False),
    Column("created", Float(53), nullable=False),
    Column("reason", String(100), nullable=False),
    Column("state", LargeBinary),  # null: as the model's file has it
)

# Feedback that could not be learned from, with the reason; it is left out for good.
quarantine = Table(
    "lw_quarantine",
    metadata,
    Column("event", BigInteger, primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
    Column("list_id", String(32), nullable=False),
    Column("created", Float(53), nullable=False),
    Column("reason", Text, nullable=False),
)

# What a shadow would have shown.
shadows = Table(
    "lw_shadows",
    metadata,
    Column("list_id", String(32), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("overlap", Float(53), nullable=False),  # share of the items shown that the shadow shows too
    Column("picks", Text, nullable=False),  # JSON: rows within the problem
)

# Written to and emptied again, to see whether there is room for a list.
probes = Table(
    "lw_probes", metadata, Column("id", String(32), primary_key=True), Column("data", LargeBinary, nullable=False)
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
