"""A database that says nothing must not hold anybody up: after a while its connection is cut.

Timeouts of the server cannot help where the server itself is stopped, and those of TCP do not fire while its machine
still answers. So every connection in use has a deadline, and a thread shuts down the sockets of those that are late;
whoever waits on one then gets the error of a broken connection, and the pool opens another.
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
    """Connections in use, with the time at which they are cut."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.used: dict[int, tuple[Any, float]] = {}  # by identity: the connection and its deadline
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run, name="deadlines", daemon=True)
        self.thread.start()

    def watch(self, engine: Engine) -> None:
        """Sets deadlines for all connections of an engine, from checkout to checkin."""
        event.listen(engine, "checkout", self._checkout)
        event.listen(engine, "checkin", self._checkin)

    def stop(self) -> None:
        """Ends the thread; connections in use are no longer watched."""
        self.stopped.set()
        self.thread.join()

    def _checkout(self, connection: Any, record: Any, proxy: Any) -> None:
        with self.lock:
            self.used[id(connection)] = connection, monotonic() + self.seconds
        if monotonic() - record.info.get("returned", 0.0) > IDLE:
            self._try(connection)

    def _try(self, connection: Any) -> None:
        """Whether the server still answers on a connection that was idle; otherwise the pool takes another."""
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
    with suppress(Exception), socket.socket(fileno=os.dup(connection.pgconn.socket)) as one:
        one.shutdown(socket.SHUT_RDWR)
