"""A database that says nothing, and several processes on one store."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

pytestmark = pytest.mark.system


def eventually(server: Any, condition: Callable[[], bool]) -> None:
    """Waits for a condition as long as the process lives."""
    while not condition():
        with suppress(subprocess.TimeoutExpired):
            raise AssertionError(f"ended with {server.process.wait(0.05)}: {server.log.read_text()}")


def test_a_silent_database_is_noticed_and_the_service_still_stops(
    postgres: Any, empty_postgres: str, model_file: Path, tmp_path: Path, asked: Any
) -> None:
    from benchmarks.reliability.client import Client
    from benchmarks.reliability.proxy import Proxy
    from benchmarks.reliability.server import is_ready, running

    proxy = Proxy(postgres.port)
    store = empty_postgres.replace(str(postgres.port), str(proxy.port))
    options = ("--learn", "--limit-store-seconds", "1", "--grace-seconds", "2")
    with running(model_file, store, tmp_path, *options) as server:
        client = Client(server.port)
        body = json.dumps(asked()).encode()
        eventually(server, lambda: client.post("/v1/lists", body)[0] == 200)  # within a second of the database's time
        proxy.set("silent")
        assert client.post("/v1/lists", body)[0] == 503  # and not a connection that waits for ever
        assert urlopen(f"{server.url}/healthz").status == 200
        proxy.set("open")
        eventually(server, lambda: is_ready(server))
        eventually(server, lambda: client.post("/v1/lists", body)[0] == 200)
        client.close()
        proxy.set("silent")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait() in (0, -signal.SIGTERM)
    proxy.close()


def test_processes_share_one_store_and_their_numbers_add_up(
    benchmarks: None, model_file: Path, tmp_path: Path, asked: Any
) -> None:
    from benchmarks.reliability.client import Client
    from benchmarks.reliability.server import running

    with running(model_file, f"sqlite:///{tmp_path}/store.db", tmp_path, "--workers", "2") as server:
        for _ in range(12):  # connections go to either process
            client = Client(server.port)
            assert client.post("/v1/lists", json.dumps(asked()).encode())[0] == 200
            client.close()
        with urlopen(f"{server.url}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        with urlopen(f"{server.url}/v1/stats") as answer:
            assert json.load(answer)["lists"] == 12
        assert 'listwright_lists_total{version="1"} 12.0' in lines
        assert server.stop() in (0, -signal.SIGTERM)
