"""Backup of a store to one file, and restoring it, while the service runs.

A backup is an SQLite store, whatever database it was taken from, so it can be served as it is, or restored to
PostgreSQL. This is also the way to move a store from one database to the other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select

from listwright._internal.files import whole_file
from listwright.errors import InputError
from listwright.serve.store.database import Database, opening
from listwright.serve.store.schema import clock, leases, metadata, models, version_table

SOME = 200  # rows at a time
FIRST = (version_table, clock, leases)  # what a new store has rows of


def back_up(store: str, path: Path, *, password: str | None = None) -> dict[str, int]:
    """Copy a store, as it is at one moment, to a new SQLite file."""
    if path.exists():
        raise InputError(f"{path} already exists. Choose another name.")
    with whole_file(path) as part:
        try:
            return _copied(store, f"sqlite:///{part}", password, None)
        finally:
            for rest in ("-wal", "-shm"):
                Path(f"{part}{rest}").unlink(missing_ok=True)


def restore(path: Path, store: str, *, password: str | None = None) -> dict[str, int]:
    """Copy a backup to an empty store."""
    if not path.exists():
        raise InputError(f"Cannot read {path}: there is no such file.")
    return _copied(f"sqlite:///{path}", store, None, password)


def _copied(source: str, target: str, password: str | None, other: str | None) -> dict[str, int]:
    """Copy all tables from one store to another in a single transaction, upgrading both to the present schema first."""
    old, new = Database.of(source, password=password), Database.of(target, password=other)
    try:
        old.open()
        new.open()
        with opening(), _reading(old) as reading, new.upgrading.begin() as writing:
            if writing.execute(select(models.c.version).limit(1)).first() is not None:
                raise InputError("The store to restore to has models already. Give an empty one.")
            for table in FIRST:
                writing.execute(table.delete())
            return {table.name: _copy(reading, writing, table) for table in metadata.sorted_tables}
    finally:
        old.close()
        new.close()


def _reading(database: Database) -> Connection:
    """Return a connection with a consistent snapshot of the store that blocks no writer."""
    if database.reading.dialect.name == "postgresql":
        return database.upgrading.connect().execution_options(isolation_level="REPEATABLE READ")
    return database.reading.connect()


def _copy(reading: Connection, writing: Connection, table: Any) -> int:
    """Copy the rows of one table in batches and return their number."""
    count = 0
    for rows in reading.execute(select(table).execution_options(yield_per=SOME)).mappings().partitions(SOME):
        writing.execute(insert(table), [dict(row) for row in rows])
        count += len(rows)
    return count
