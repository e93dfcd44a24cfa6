"""The tables of a store, as SQLAlchemy metadata; comments say what each is for.

All names begin with ``lw_``, so that a store can share a database with other applications. A change here needs another
`SCHEMA`, and from the first release on a documented way from each released one.
"""

from __future__ import annotations

import sqlalchemy as sa

from listwright.errors import InputError

SCHEMA = 4  # version of the tables
PACKER = 0  # in place of a model version, for feedback on contexts
CREATE_LOCK = 7_241_908_113  # of PostgreSQL: one service creates the tables, the others wait

metadata = sa.MetaData()

version_table = sa.Table("lw_schema", metadata, sa.Column("version", sa.Integer, nullable=False))

# Numbers that only grow. "event": the last number given to feedback. Its row is the one lock of a store: see
# `Writer`. "revision": grows with every change that all replicas must follow.
clock = sa.Table(
    "lw_clock",
    metadata,
    sa.Column("name", sa.String(16), primary_key=True),
    sa.Column("value", sa.BigInteger, nullable=False),
)

# Who does what only one may do. The time is the database's, so the clocks of the machines do not matter; the term
# grows with every new holder, so whoever held a lease before can be distinguished from whoever holds it now.
leases = sa.Table(
    "lw_leases",
    metadata,
    sa.Column("name", sa.String(16), primary_key=True),
    sa.Column("holder", sa.String(64), nullable=False),
    sa.Column("term", sa.BigInteger, nullable=False),
    sa.Column("expires", sa.Float(53), nullable=False),
)

# Version numbers count over all names.
models = sa.Table(
    "lw_models",
    metadata,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.String(64), nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("created", sa.Float(53), nullable=False),
    sa.Column("file", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("name", "digest"),
)

# What served from when on: the last row of a name is in force.
deployments = sa.Table(
    "lw_deployments",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.String(64), nullable=False),
    sa.Column("current", sa.Integer, nullable=False),
    sa.Column("canary", sa.Integer),
    sa.Column("share", sa.Float(53), nullable=False),
    sa.Column("shadow", sa.Integer),
    sa.Column("created", sa.Float(53), nullable=False),
)

# Ids begin with the time, so they sort by it.
lists = sa.Table(
    "lw_lists",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("created", sa.Float(53), nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("state", sa.BigInteger, nullable=False),  # how many lists the policy had learned from
    sa.Column("n_items", sa.Integer, nullable=False),  # of the list
    sa.Column("learn", sa.SmallInteger, nullable=False),  # 0: out of the trained range, so nothing is learned from it
    sa.Column("record", sa.LargeBinary, nullable=False),  # candidates, picks and scores: see `ServedList`
    sa.Column("rest", sa.LargeBinary),  # of a record that is cut in two
    sa.Column("metadata", sa.Text),  # JSON of the caller's own
)

# Questions and the passages that were packed or ranked for them, which `ContextPacker.fit` learns from.
contexts = sa.Table(
    "lw_contexts",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("created", sa.Float(53), nullable=False),
    sa.Column("shown", sa.Text, nullable=False),  # JSON: positions of the passages in the answer, best first
    sa.Column("record", sa.LargeBinary, nullable=False),  # the question and all passages: see `PackedContext`
)

# On lists, by the version of their model, and on contexts, by the version 0.
feedback = sa.Table(
    "lw_feedback",
    metadata,
    sa.Column("event", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("list_id", sa.String(32), nullable=False),
    sa.Column("key", sa.String(100), nullable=False),
    sa.Column("source", sa.String(64), nullable=False),  # name of the API key that it came with
    sa.Column(
        "weight", sa.Float(53), nullable=False
    ),  # in learning, by how much of the latest feedback came with that key
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("created", sa.Float(53), nullable=False),
    sa.Column("gains", sa.Text, nullable=False),  # JSON, one number per position, as it was sent
    sa.Column("earlier", sa.Text),  # the same, of all feedback on this list before; null for the first
    sa.UniqueConstraint("list_id", "source", "key"),
)
sa.Index("lw_feedback_by_version", feedback.c.version, feedback.c.event)

# How far each version has learned. What it learned is the state of its base snapshot and the events from there on.
learning = sa.Table(
    "lw_learning",
    metadata,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("applied", sa.BigInteger, nullable=False),  # the last event that was looked at
    sa.Column("count", sa.BigInteger, nullable=False),  # lists learned from
    sa.Column("base", sa.Integer, nullable=False),  # a snapshot
    sa.Column("frozen", sa.SmallInteger, nullable=False),
    sa.Column("reason", sa.Text),  # why it is frozen
    sa.Column("policy", sa.LargeBinary),  # what replicas serve: see `publish`; null: as deployed
    sa.Column("comparison", sa.Text),  # JSON: the last comparison with the deployed policy
)

snapshots = sa.Table(
    "lw_snapshots",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("applied", sa.BigInteger, nullable=False),
    sa.Column("count", sa.BigInteger, nullable=False),
    sa.Column("created", sa.Float(53), nullable=False),
    sa.Column("reason", sa.String(100), nullable=False),
    sa.Column("state", sa.LargeBinary),  # null: as the model's file has it
)

# Feedback that could not be learned from, with the reason; it is left out for good.
quarantine = sa.Table(
    "lw_quarantine",
    metadata,
    sa.Column("event", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("list_id", sa.String(32), nullable=False),
    sa.Column("created", sa.Float(53), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
)

# What a shadow would have shown.
shadows = sa.Table(
    "lw_shadows",
    metadata,
    sa.Column("list_id", sa.String(32), primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("overlap", sa.Float(53), nullable=False),  # share of the items shown that the shadow shows too
    sa.Column("picks", sa.Text, nullable=False),  # JSON: rows within the problem
)

# Written to and emptied again, to see whether there is room for a list.
probes = sa.Table(
    "lw_probes",
    metadata,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
)

# Sums, kept in the transaction that adds a list or feedback; feedback counts for the minute of its list. Each replica
# adds the lists that it serves to rows of its own, so that replicas do not wait for each other; feedback, which is
# added under the lock, counts in the rows of replica 0.
minutes = sa.Table(
    "lw_minutes",
    metadata,
    sa.Column("minute", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("replica", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("lists", sa.BigInteger, nullable=False),
    sa.Column("answered", sa.BigInteger, nullable=False),
    sa.Column("failures", sa.BigInteger, nullable=False),
)

positions = sa.Table(
    "lw_positions",
    metadata,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("answered", sa.BigInteger, nullable=False),
    sa.Column("gain", sa.Float(53), nullable=False),
    sa.Column("squares", sa.Float(53), nullable=False),
)


def create_tables(connection: sa.Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": CREATE_LOCK})
    if sa.inspect(connection).has_table(version_table.name):
        check_version(connection)
        return
    metadata.create_all(connection)
    connection.execute(sa.insert(version_table), {"version": SCHEMA})
    connection.execute(sa.insert(clock), [{"name": name, "value": 0} for name in ("event", "revision")])
    connection.execute(sa.insert(leases), {"name": "learner", "holder": "", "term": 0, "expires": 0.0})


def check_version(connection: sa.Connection) -> None:
    version = connection.execute(sa.select(version_table.c.version)).scalar()
    if version is None:
        raise InputError("The store has no schema version: it is damaged. Restore a backup, or use a new store.")
    if version != SCHEMA:
        raise InputError(
            f"The store has schema version {version}, this listwright uses {SCHEMA}. "
            "Use the release that wrote it, or a new store."
        )
