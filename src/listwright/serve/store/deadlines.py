"""Cuts database connections that do not respond within a deadline.

Timeouts of the server do not help if the server process is stopped, and those of TCP do not fire while its machine
still acknowledges packets. So every connection in use has a deadline, and a thread shuts down the sockets of those that
exceed it. Whoever waits on one gets the error of a broken connection, and the pool opens another.
"""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress
from time import monotonic
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import DisconnectionError

LOOK = 0.25  # seconds between two looks
IDLE = 2.0  # seconds after which a pooled connection is tried before it is used


class Deadlines:
    """Watches the connections of engines from checkout to checkin."""

    def __init__(self, seconds: float) -> None:
        """Start the watching thread."""
        self.seconds = seconds
        self.used: dict[int, tuple[Any, float]] = {}  # by identity: the connection and its deadline
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run, name="deadlines", daemon=True)
        self.thread.start()

    def watch(self, engine: Engine) -> None:
        """Set deadlines for all connections of an engine."""
        event.listen(engine, "checkout", self._checkout)
        event.listen(engine, "checkin", self._checkin)

    def stop(self) -> None:
        """Stop the thread; connections in use are no longer watched."""
        self.stopped.set()
        self.thread.join()

    def _checkout(self, connection: Any, record: Any, proxy: Any) -> None:
        """Set the deadline of a connection, and test it first if it was idle for more than `IDLE` seconds."""
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
        """Remove the deadline of a connection that was returned to the pool."""
        record.info["returned"] = monotonic()
        with self.lock:
            self.used.pop(id(connection), None)

    def _run(self) -> None:
        """Cut late connections every `LOOK` seconds."""
        while not self.stopped.wait(LOOK):
            now = monotonic()
            with self.lock:
                late = [connection for connection, deadline in self.used.values() if deadline < now]
                for connection in late:
                    self.used.pop(id(connection), None)
            for connection in late:
                _cut(connection)


def _cut(connection: Any) -> None:
    """Shut down the socket of a connection."""
    # The descriptor is duplicated, because another thread may be reading from it and libpq must close it itself.
    with suppress(Exception), socket.socket(fileno=os.dup(connection.pgconn.socket)) as one:
        one.shutdown(socket.SHUT_RDWR)
