"""A model, clients of a service in this process, and servers that are always stopped."""

from __future__ import annotations

import itertools
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import uvicorn

import listwright as lw
from listwright.serve import Limits, Settings, create_app
from listwright.serve.server import _config
from listwright.serve.store.database import PRAGMAS

NAMES = ("price", "speed", "weight")
PATIENCE = 1_800.0  # seconds: a busy machine may take long, and the first list waits for the compiler
PATIENT_LOCKS = f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}"
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # for all clients: to read certificates takes longer than a start
SECONDS = [field.name for field in fields(Limits) if field.name.endswith("seconds")]


def patient(limits: Limits) -> Limits:
    """The limits with much time for everything that the test does not limit itself."""
    return replace(limits, **{name: PATIENCE for name in SECONDS if getattr(limits, name) == getattr(Limits(), name)})


class Server(uvicorn.Server):
    """A server that says when it has started, or has failed to."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.decided = threading.Event()

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            super().run(sockets)
        finally:
            self.decided.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.decided.set()


class Running:
    """A service in a thread, on a free port, and a client of it."""

    def __init__(self, **settings: Any) -> None:
        chosen = Settings(**settings | {"port": 0, "limits": patient(settings.get("limits", Limits()))})
        self.app = create_app(chosen)
        config = _config(self.app, chosen)
        config.port, config.log_level = 0, "critical"
        self.server = Server(config)
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        self.server.decided.wait()
        assert self.server.started
        self.port = self.server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx.Client(base_url=self.url, timeout=PATIENCE, verify=PLAIN)
        self.changed = threading.Event()  # something was written, or the store was looked at
        self.service.writer._write = self._telling(self.service.writer._write)
        self.service.registry.follow = self._telling(self.service.registry.follow)

    def _telling(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def told(*arguments: Any) -> Any:
            try:
                return work(*arguments)
            finally:
                self.changed.set()

        return told

    def until(self, happened: Callable[[], bool]) -> None:
        """Waits for what the service does in the background: looks again whenever it has done something."""
        self.changed.clear()
        while not happened():
            assert self.changed.wait(timeout=PATIENCE), "the service does nothing any more"
            self.changed.clear()

    def stop(self) -> None:
        self.client.close()
        self.server.should_exit = True
        self.thread.join()

    @property
    def service(self) -> Any:
        return self.app.state.service

    def __getattr__(self, name: str) -> Any:  # get, post, put, request
        return getattr(self.client, name)


Open = Callable[..., Running]


@pytest.fixture(scope="session")
def fitted() -> Callable[..., lw.SCP]:
    """`fitted(1)` is a small model."""

    def make(seed: int, *, width: int = 3) -> lw.SCP:
        table = np.random.default_rng(seed).random((60, 8, width), dtype=np.float32)
        reward = lw.rewards.AnySuccess(table[..., seed % 3] > 0.8)
        names = NAMES if width == len(NAMES) else None
        return lw.SCP(length=3, effort="fast", random_state=0).fit(
            lw.Problems.from_arrays(table, reward=reward, feature_names=names)
        )

    return make


@pytest.fixture(scope="session")
def running() -> type[Any]:
    """`running(model=...)` starts a service with these settings; `stop` it."""
    return Running


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory, fitted: Callable[..., lw.SCP]) -> Path:
    path = tmp_path_factory.mktemp("models") / "first.listwright"
    fitted(0).save(path)
    return path


@pytest.fixture(scope="session")
def other_file(tmp_path_factory: pytest.TempPathFactory, fitted: Callable[..., lw.SCP]) -> Path:
    path = tmp_path_factory.mktemp("models") / "second.listwright"
    fitted(1).save(path)
    return path


@pytest.fixture
def opened(model_file: Path, tmp_path: Path) -> Iterator[Open]:
    """`opened(learn=True)` starts a service with these settings and gives a client; all are stopped at the end."""
    with ExitStack() as stack:

        def make(**settings: Any) -> Running:
            running = Running(**{"model": model_file, "store": f"sqlite:///{tmp_path}/store.db"} | settings)
            stack.callback(running.stop)
            return running

        yield make


@pytest.fixture(autouse=True, scope="session")
def wait_for_locks() -> Iterator[None]:
    """SQLite waits for a lock as long as it takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("listwright.serve.store.database.PRAGMAS", (*PRAGMAS, PATIENT_LOCKS))
        yield


@pytest.fixture(scope="module")
def client(model_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A client of one service for all tests of a module, which leave its traffic and settings as they were."""
    running = Running(model=model_file, store=f"sqlite:///{tmp_path_factory.mktemp('store')}/store.db")
    yield running
    running.stop()


@pytest.fixture
def limited_client(client: Running) -> Iterator[Callable[..., Running]]:
    """`limited_client(items=3)` is the same client, with other limits until the test ends."""
    limits, kept = client.service.limits, vars(client.service.limits).copy()

    def limit(**changed: Any) -> Running:
        vars(limits).update(changed)
        return client

    yield limit
    vars(limits).update(kept)


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.system)])
def stored_client(request: pytest.FixtureRequest, model_file: Path) -> Iterator[Running]:
    """The same on each kind of store."""
    if request.param == "sqlite":
        yield request.getfixturevalue("client")
        return
    running = Running(model=model_file, store=request.getfixturevalue("new_database")())
    yield running
    running.stop()


@pytest.fixture
def learn(monkeypatch: pytest.MonkeyPatch) -> Callable[[Running], None]:
    """Updaters learn where the test says `learn(client)`, never by themselves; a service that ends keeps its lease.

    Snapshots depend on the number of lists alone, not on the time since the last one.
    """
    monkeypatch.setattr("listwright.serve.learning.updater.Updater._run", lambda self: None)
    monkeypatch.setattr("listwright.serve.learning.updater.BYTES_A_SECOND", 1 << 60)

    def step(client: Running) -> None:
        for _ in range(2):  # the first begins with versions that never learned
            client.service.updater._step()

    return step


@pytest.fixture(scope="session")
def postgres(benchmarks: None, needs: Callable[[str], str]) -> Iterator[Any]:
    """A PostgreSQL server for all tests."""
    from benchmarks.reliability.database import TOOLS, postgresql

    for tool in TOOLS:
        needs(tool)
    pytest.importorskip("psycopg")
    with postgresql() as server:
        yield server


@pytest.fixture(scope="session")
def new_database(postgres: Any) -> Callable[[], str]:
    """`new_database()` is the address of a database with nothing in it."""
    from sqlalchemy import create_engine, text

    numbers = itertools.count()

    def make() -> str:
        name = f"empty{next(numbers)}"
        engine = create_engine(postgres.url.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()
        return f"{postgres.url.rpartition('/')[0]}/{name}"

    return make


@pytest.fixture
def empty_postgres(new_database: Callable[[], str]) -> str:
    return new_database()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.system)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each kind of store, empty."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    return str(request.getfixturevalue("empty_postgres"))


@pytest.fixture
def asked() -> Callable[..., dict[str, Any]]:
    """`asked(5)` is a request for a list from five candidates."""

    def make(count: int = 6, *, seed: int = 0, **more: Any) -> dict[str, Any]:
        table = np.random.default_rng(seed).random((count, 3)).round(3).tolist()
        return {"items": [{"id": f"i{i}", "features": row} for i, row in enumerate(table)], "length": 3} | more

    return make
