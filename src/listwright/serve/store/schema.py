"""The tables of a store, as SQLAlchemy metadata; comments say what each is for.

All names begin with ``lw_``, so that a store can share a database with other applications. A change here needs another
`SCHEMA`, and from the first release on a documented way from each released one.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
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
    insert,
    inspect,
    select,
    text,
)

from listwright.errors import InputError

SCHEMA = 3  # version of the tables
PACKER = 0  # in place of a model version, for feedback on contexts
CREATE_LOCK = 7_241_908_113  # of PostgreSQL: one service creates the tables, the others wait

metadata = MetaData()

version_table = Table("lw_schema", metadata, Column("version", Integer, nullable=False))

# Numbers that only grow. "event": the last number given to feedback. Its row is the one lock of a store: see
# `Writer`. "revision": grows with every change that all replicas must follow.
clock = Table(
    "lw_clock", metadata, Column("name", String(16), primary_key=True), Column("value", BigInteger, nullable=False)
)

# Who does what only one may do. The time is the database's, so the clocks of the machines do not matter; the term
# grows with every new holder, so whoever held a lease before can be distinguished from whoever holds it now.
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
    Column("n_items", Integer, nullable=False),  # of the list
    Column("learn", SmallInteger, nullable=False),  # 0: out of the trained range, so nothing is learned from it
    Column("record", LargeBinary, nullable=False),  # candidates, picks and scores: see `ServedList`
    Column("rest", LargeBinary),  # of a record that is cut in two
    Column("metadata", Text),  # JSON of the caller's own
)

# Questions and the passages that were packed or ranked for them, which `ContextPacker.fit` learns from.
contexts = Table(
    "lw_contexts",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("created", Float(53), nullable=False),
    Column("shown", Text, nullable=False),  # JSON: positions of the passages in the answer, best first
    Column("record", LargeBinary, nullable=False),  # the question and all passages: see `PackedContext`
)

# On lists, by the version of their model, and on contexts, by the version 0.
feedback = Table(
    "lw_feedback",
    metadata,
    Column("event", BigInteger, primary_key=True, autoincrement=False),
    Column("list_id", String(32), nullable=False),
    Column("key", String(100), nullable=False),
    Column("source", String(64), nullable=False),  # name of the API key that it came with
    Column("weight", Float(53), nullable=False),  # in learning, by how much of the latest feedback came with that key
    Column("version", Integer, nullable=False),
    Column("created", Float(53), nullable=False),
    Column("gains", Text, nullable=False),  # JSON, one number per position, as it was sent
    Column("earlier", Text),  # the same, of all feedback on this list before; null for the first
    UniqueConstraint("list_id", "key"),
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
    Column("policy", LargeBinary),  # what replicas serve: see `publish`; null: as deployed
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

# Sums, kept in the transaction that adds a list or feedback; feedback counts for the minute of its list. Each replica
# adds the lists that it serves to rows of its own, so that replicas do not wait for each other; feedback, which is
# added under the lock, counts in the rows of replica 0.
minutes = Table(
    "lw_minutes",
    metadata,
    Column("minute", Integer, primary_key=True, autoincrement=False),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("replica", Integer, primary_key=True, autoincrement=False),
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


def create_tables(connection: Connection) -> None:
    """Create the tables of an empty database, within the connection's transaction; raise InputError for another
    version.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": CREATE_LOCK})
    if inspect(connection).has_table(version_table.name):
        check_version(connection)
        return
    metadata.create_all(connection)
    connection.execute(insert(version_table), {"version": SCHEMA})
    connection.execute(insert(clock), [{"name": name, "value": 0} for name in ("event", "revision")])
    connection.execute(insert(leases), {"name": "learner", "holder": "", "term": 0, "expires": 0.0})


def check_version(connection: Connection) -> None:
    """Raise InputError if a store has another schema version than this release."""
    version = connection.execute(select(version_table.c.version)).scalar_one()
    if version != SCHEMA:
        raise InputError(
            f"The store has schema version {version}, this listwright uses {SCHEMA}. "
            "Use the release that wrote it, or a new store."
        )
