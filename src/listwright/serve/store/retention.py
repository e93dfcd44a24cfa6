"""Deletion of lists by age or by the size of the store, with their feedback.

The sums behind the statistics are kept, and so is feedback that learning still needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, delete, or_, select, text

from listwright.serve.store.database import Database, clock_of
from listwright.serve.store.ids import first_id
from listwright.serve.store.schema import feedback, learning, lists, models, quarantine, shadows, snapshots

MOST = 500  # lists of one transaction, so that others need not wait
EVERY = 60.0  # seconds between two looks
PAGES = 4_096  # of SQLite that are given back at a time


class Old(NamedTuple):
    """Which lists may be deleted."""

    seconds: float | None  # lists older than this
    bytes: float | None  # lists beyond this size of the whole store, the oldest first
    learned: bool  # only feedback that was learned from


def forget(connection: Connection, wanted: Sequence[Old]) -> list[int]:
    """Delete up to `MOST` lists for each entry, and return how many; call again while it returns `MOST`."""
    return [_forget(connection, old) for old in wanted]


def _forget(connection: Connection, old: Old) -> int:
    """Delete the oldest lists that may go, at most `MOST`."""
    found = select(lists.c.id).order_by(lists.c.id).limit(MOST)
    if old.bytes is None or size_of(connection) <= old.bytes:
        if old.seconds is None:
            return 0
        found = found.where(lists.c.id < first_id(max(0.0, clock_of(connection) - old.seconds)))
    if old.learned:
        found = found.where(~_waiting().correlate(lists).exists())
    ids = connection.execute(found).scalars().all()
    for table in (feedback, shadows, quarantine):
        connection.execute(delete(table).where(table.c.list_id.in_(ids)))
    connection.execute(delete(lists).where(lists.c.id.in_(ids)))
    return len(ids)


def give_space_back(database: Database) -> None:
    """Return freed space to the operating system."""
    if database.writing.dialect.name == "sqlite":
        with database.reading.connect() as connection:
            raw: Any = connection.connection.driver_connection
            raw.executescript(f"PRAGMA incremental_vacuum({PAGES}); PRAGMA wal_checkpoint(PASSIVE);")
        return
    with database.upgrading.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for table in (lists, feedback, shadows):
            connection.execute(text(f"VACUUM {table.name}"))


def _waiting() -> Select[tuple[int]]:
    """Return a query for feedback on a list that learning still needs."""
    # A version that is not frozen needs all events after its base snapshot, because its state is rebuilt from there. A
    # version that has never learned needs all of its feedback.
    base = select(snapshots.c.applied).where(snapshots.c.number == learning.c.base).scalar_subquery()
    joined = feedback.join(models, models.c.version == feedback.c.version)
    joined = joined.outerjoin(learning, learning.c.version == feedback.c.version)
    needed = or_(learning.c.version.is_(None), and_(learning.c.frozen == 0, feedback.c.event > base))
    return select(feedback.c.event).select_from(joined).where(feedback.c.list_id == lists.c.id, needed)


def size_of(connection: Connection) -> int:
    """Return the bytes that the store uses: pages in use of an SQLite file, or tables and indexes of PostgreSQL."""
    if connection.dialect.name == "sqlite":
        pages, free, size = (
            int(connection.execute(text(f"PRAGMA {name}")).scalar_one())
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size
    return int(connection.execute(_TABLE_SIZES).scalar_one() or 0)


_TABLE_SIZES = text(
    "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relkind = 'r' AND c.relname LIKE 'lw\\_%'"
)
