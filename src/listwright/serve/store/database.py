"""Connections to the store.

SQLite runs in WAL mode with full synchronization, so a commit survives a power failure and readers do not block the
writer. PostgreSQL connections have timeouts on the server and, through `Deadlines`, in this process: timeouts of the
server do not help if it is stopped, and those of TCP do not fire while its machine still acknowledges packets.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any

from msgspec import MsgspecError
from safetensors import SafetensorError
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DatabaseError, DisconnectionError, InterfaceError, OperationalError

from listwright._internal.extras import require_extra
from listwright.errors import InputError
from listwright.serve.store.schema import create_tables

BUSY_MS = 2_000  # how long a writer waits for a lock of somebody else
PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_MS}",
    "PRAGMA auto_vacuum = INCREMENTAL",  # so that deleted lists give their space back
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA cache_size = -8192",
    # Pages of 4 KB, after which the log is moved into the file and written again from its start. A log that grows takes
    # several times as long to flush, because its length must be stored too.
    "PRAGMA wal_autocheckpoint = 1024",
    "PRAGMA journal_size_limit = 67108864",
)
CONNECT_SECONDS = 5
MAINTENANCE_SECONDS = 3_600.0
READERS = 16
ATTEMPTS = 20  # to open a database that others open or lock at the same time
LOOK = 0.25  # seconds between two looks
IDLE = 2.0  # seconds after which a pooled connection is tried before it is used


@dataclass(frozen=True)
class Database:
    """The engines of one store."""

    writing: Engine  # one connection, for the writer; SQLite transactions take the write lock when they begin
    reading: Engine  # up to 16 connections
    maintenance: Engine  # may take its time
    deadlines: Deadlines | None = None  # cuts connections to a PostgreSQL server that does not respond

    @classmethod
    def of(cls, url: str, *, password: str | None = None, seconds: float = 5.0) -> Database:
        """Prepare the engines of a store; nothing is opened yet."""
        parsed = _parse(url)
        if parsed.drivername == "sqlite":
            writing = _sqlite(parsed, "BEGIN IMMEDIATE", 1)
            return cls(writing, _sqlite(parsed, "BEGIN", READERS), writing)
        if password is not None and parsed.password is None:
            parsed = parsed.set(password=password)
        writing, reading = (_postgresql(parsed, size, seconds) for size in (1, READERS))
        deadlines = Deadlines(seconds)
        deadlines.watch(writing)
        deadlines.watch(reading)
        return cls(writing, reading, _postgresql(parsed, 1, MAINTENANCE_SECONDS), deadlines)

    def open(self) -> None:
        try:
            with opening():
                self._create()
        except InputError:
            self.close()
            raise

    def _create(self) -> None:
        for left in reversed(range(ATTEMPTS)):
            try:
                with self.maintenance.begin() as connection:
                    create_tables(connection)
                if self.maintenance is not self.writing:
                    self.maintenance.dispose()
                return
            except OperationalError as error:
                if not left or "locked" not in str(error.orig):
                    raise
                time.sleep(0.1)

    def close(self) -> None:
        if self.deadlines is not None:
            self.deadlines.stop()
        for engine in (self.writing, self.reading, self.maintenance):
            engine.dispose()


@contextmanager
def opening() -> Iterator[None]:
    """Turn database errors inside the block into InputError, with advice if the file is damaged."""
    try:
        yield
    except (DatabaseError, InterfaceError) as error:
        reason = cause_of(error)
        damaged = "malformed" in reason or "not a database" in reason
        advice = " It is damaged: restore a backup with `listwright backup --restore`." if damaged else ""
        raise InputError(f"The store cannot be opened: {reason}.{advice}") from None


@contextmanager
def intact(what: str) -> Iterator[None]:
    """Turn what damaged values of the store raise inside the block into InputError, with advice."""
    try:
        yield
    except (ValueError, KeyError, TypeError, MsgspecError, SafetensorError):
        advice = "restore a backup with `listwright backup --restore`"
        raise InputError(f"{what} cannot be read: it is damaged in the store. Reset it, or {advice}.") from None


def cause_of(error: DatabaseError | InterfaceError) -> str:
    """Return the first line of the database driver's message, without SQL or parameters."""
    return str(error.orig).strip().partition("\n")[0] or type(error.orig).__name__


def clock_of(connection: Connection) -> float:
    # Leases and retention use it, so that replicas need not have synchronized clocks.
    if connection.dialect.name == "postgresql":
        return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
    return float(connection.execute(text("SELECT (julianday('now') - 2440587.5) * 86400.0")).scalar_one())


def _parse(url: str) -> URL:
    """Parse and check the address of a store; SQLite needs a file, because several connections share it."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        parsed = URL.create("unknown")
    if parsed.drivername == "sqlite" and parsed.database not in (None, "", ":memory:"):
        return parsed
    if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return parsed.set(drivername="postgresql+psycopg")
    raise InputError("A store is sqlite:///FILE or postgresql://USER@HOST/DATABASE.")


def _sqlite(url: URL, begin: str, connections: int) -> Engine:
    engine = create_engine(url, pool_size=connections, max_overflow=0)
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


def _set_up(connection: Any, record: Any) -> None:
    connection.isolation_level = None
    for pragma in PRAGMAS:
        connection.execute(pragma)


def _postgresql(url: URL, connections: int, seconds: float) -> Engine:
    milliseconds = int(1000 * seconds)
    settings = {
        "synchronous_commit": "on",  # whatever the server's own setting is
        "statement_timeout": milliseconds,
        "lock_timeout": milliseconds,
        "idle_in_transaction_session_timeout": 4 * milliseconds,
    }
    require_extra("psycopg", "PostgreSQL needs psycopg.", extra="postgres")
    return create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=seconds,
        connect_args={
            "connect_timeout": CONNECT_SECONDS,
            "application_name": "listwright",
            "options": " ".join(f"-c {name}={value}" for name, value in settings.items()),
            "keepalives_idle": 10,
            "keepalives_interval": 3,
            "keepalives_count": 3,
            "tcp_user_timeout": milliseconds,
        },
    )


class Deadlines:
    """Watches the connections of engines from checkout to checkin."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.used: dict[int, tuple[Any, float]] = {}  # by identity: the connection and its deadline
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run, name="deadlines", daemon=True)
        self.thread.start()

    def watch(self, engine: Engine) -> None:
        event.listen(engine, "checkout", self._checkout)
        event.listen(engine, "checkin", self._checkin)

    def stop(self) -> None:
        self.stopped.set()
        self.thread.join()

    def _checkout(self, connection: Any, record: Any, proxy: Any) -> None:
        with self.lock:
            self.used[id(connection)] = connection, monotonic() + self.seconds
        if monotonic() - record.info.get("returned", 0.0) > IDLE:
            self._try(connection)

    def _try(self, connection: Any) -> None:
        """Raise DisconnectionError if an idle connection is broken, so that the pool takes another."""
        try:
            connection.execute("SELECT 1")
            connection.rollback()
        except Exception as error:
            with self.lock:
                self.used.pop(id(connection), None)
            raise DisconnectionError from error

    def _checkin(self, connection: Any, record: Any) -> None:
        record.info["returned"] = monotonic()
        with self.lock:
            self.used.pop(id(connection), None)

    def _run(self) -> None:
        while not self.stopped.wait(LOOK):
            now = monotonic()
            with self.lock:
                late = [connection for connection, deadline in self.used.values() if deadline < now]
                for connection in late:
                    self.used.pop(id(connection), None)
            for connection in late:
                _cut(connection)


def _cut(connection: Any) -> None:
    # The descriptor is duplicated, because another thread may be reading from it and libpq must close it itself.
    with suppress(Exception), socket.socket(fileno=os.dup(connection.pgconn.socket)) as twin:
        twin.shutdown(socket.SHUT_RDWR)
