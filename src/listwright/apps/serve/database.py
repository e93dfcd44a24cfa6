"""Connections to the store: SQLite in WAL mode with full sync, or PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, InterfaceError

from listwright.apps.serve.schema import upgrade
from listwright.errors import InputError, MissingExtra

BUSY_MS = 2_000  # how long a writer waits for a lock of somebody else
PRAGMAS = (
    "PRAGMA page_size = 8192",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    f"PRAGMA busy_timeout = {BUSY_MS}",
)
CONNECT_SECONDS = 5
READERS = 64  # more than there are threads that read, as a reader may need a second connection


@dataclass(frozen=True)
class Database:
    """One engine for the writer, one for readers."""

    writing: Engine
    reading: Engine

    @classmethod
    def of(cls, url: str) -> Database:
        """The store at an address; nothing is opened yet."""
        parsed = _parsed(url)
        return cls(_engine(parsed, "BEGIN IMMEDIATE", connections=1), _engine(parsed, "BEGIN", connections=READERS))

    def upgrade(self) -> None:
        """Connects, and creates or upgrades the tables."""
        try:
            with self.writing.begin() as connection:
                upgrade(connection)
        except (DatabaseError, InterfaceError) as error:
            self.close()
            raise InputError(f"The store cannot be opened: {_reason(error)}.") from None
        except InputError:
            self.close()
            raise

    def close(self) -> None:
        """Ends all connections."""
        self.writing.dispose()
        self.reading.dispose()


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        parsed = URL.create("unknown")
    if parsed.drivername == "sqlite" and parsed.database not in (None, "", ":memory:"):
        return parsed
    if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return parsed.set(drivername="postgresql+psycopg")
    raise InputError("A store is sqlite:///FILE or postgresql://USER@HOST/DATABASE.")


def _engine(url: URL, begin: str, *, connections: int) -> Engine:
    if url.drivername == "sqlite":
        engine = create_engine(url, pool_size=connections, max_overflow=0)
        event.listen(engine, "connect", _set_up)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        return engine
    try:
        return create_engine(
            url,
            pool_size=connections,
            max_overflow=0,
            pool_pre_ping=True,
            connect_args={
                "connect_timeout": CONNECT_SECONDS,
                "application_name": "listwright",
                "options": "-c synchronous_commit=on",  # whatever the server's own setting is
            },
        )
    except ImportError:
        raise MissingExtra("PostgreSQL needs psycopg.", extra="postgres") from None


def _set_up(connection: Any, record: Any) -> None:
    """Transactions begin where we say so, not where sqlite3 guesses."""
    connection.isolation_level = None
    for pragma in PRAGMAS:
        connection.execute(pragma)


def _reason(error: DatabaseError | InterfaceError) -> str:
    return str(error.orig).strip().partition("\n")[0]
