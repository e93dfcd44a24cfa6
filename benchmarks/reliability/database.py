"""A PostgreSQL server of one's own, in a folder of its own, on a free port of this machine."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.reliability.server import Server, free_port, running

TOOLS = ("initdb", "pg_ctl")
ACCOUNTS = ("postgres", "nobody")  # the server refuses to run as root


@dataclass(frozen=True)
class PostgreSQL:
    """A running server."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"postgresql://listwright@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Starts it and waits until it answers."""
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        self._control("-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        """Stops it: "fast" breaks connections off, "immediate" is a crash."""
        self._control("-m", mode, "-w", "stop")

    def _control(self, *arguments: str) -> None:
        _run(["pg_ctl", "-D", str(self.folder / "data"), *arguments])


@contextmanager
def postgresql() -> Iterator[PostgreSQL]:
    """A new server, which is stopped and removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="listwright-postgres-"))
    try:
        if _account() is not None:
            os.chown(folder, _account_id(), -1)
        _run(["initdb", "-D", str(folder / "data"), "-U", "listwright", "-A", "trust", "-E", "UTF8", "--no-sync"])
        server = PostgreSQL(folder, free_port())
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: list[str]) -> None:
    # Not captured: the server would keep the pipes open.
    with tempfile.TemporaryFile() as output:
        code = subprocess.call(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, user=_account(), cwd=tempfile.gettempdir()
        )
        output.seek(0)
        if code:
            raise RuntimeError(f"{command[0]} failed: {output.read().decode(errors='replace')[-2000:]}")


def _account() -> str | None:
    """Who runs the server where we are root."""
    if os.geteuid():
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ACCOUNTS if name in known)


def _account_id() -> int:
    return pwd.getpwnam(_account() or "").pw_uid


@contextmanager
def services(model: Path, folder: Path, replicas: int, *options: str) -> Iterator[list[Server]]:
    """So many replicas on a PostgreSQL of their own; with none, one service on SQLite."""
    with ExitStack() as stack:
        store = stack.enter_context(postgresql()).url if replicas else f"sqlite:///{folder}/store.db"
        yield [stack.enter_context(running(model, store, folder, *options)) for _ in range(max(1, replicas))]
