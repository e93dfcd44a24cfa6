"""Services in processes of their own: the short forms of benchmarks/reliability, and how a service ends."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.system

MANY = 100_000  # questions, after which the answer will not change
ROOT = Path(__file__).parents[2]


def proved(*arguments: str) -> str:
    """What a proof prints; it ends with an error where something is wrong."""
    command = [sys.executable, "-m", "benchmarks.reliability", *arguments]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


PATIENT = """
from listwright.cli import main
from listwright.serve.store import database
database.PRAGMAS += ("PRAGMA busy_timeout = 1800000",)
main()
"""


@pytest.fixture
def serving(benchmarks: None, model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A service in a process of its own that waits for the locks of others as long as it takes."""
    from benchmarks.reliability.server import running

    monkeypatch.setattr("benchmarks.reliability.server.COMMAND", [sys.executable, "-c", PATIENT, "serve"])
    with running(model_file, f"sqlite:///{tmp_path}/store.db", tmp_path, "--grace-seconds", "1800") as server:
        yield server


def test_killed_at_random_moments(benchmarks: None) -> None:
    out = proved("crash", "3", "killed", "locked")
    assert out.count("; 0 wrong") == 2


def test_postgresql_restarted_under_load(postgres: Any) -> None:
    assert "; 0 wrong" in proved("postgres", "2")


def test_replicas_through_faults(postgres: Any) -> None:
    """Lost answers, and a crash of the database: faults that no other test has and that pass quickly."""
    out = proved("replicas", "2", "37")
    assert "1 crash_database, 1 lose_answers" in out
    assert "3 replicas, 2 faults" in out


def test_mutated_bodies_change_nothing_for_the_worse(benchmarks: None) -> None:
    out = proved("fuzz", "800", "3" if find_spec("schemathesis") else "0")
    assert "800 bodies" in out
    assert "lists with a good item" in out


def test_against_a_bare_handler(benchmarks: None) -> None:
    out = proved("bare", "0.3")
    assert out.count("processor time for each") == 6, "1, 16 and 64 clients, without and with feedback"


def test_a_model_of_the_best_effort_leaves_the_service_answering(benchmarks: None) -> None:
    out = proved("combined", "20", "0.5")
    assert "one list: p50" in out
    assert "/healthz meanwhile: p50" in out


COMPILED = """
import json, sys
from importlib import import_module
from pathlib import Path
from starlette.testclient import TestClient
import listwright._kernels as kernels
from listwright.serve import Settings, create_app

def compiled():
    names = [file.stem for file in Path(kernels.__file__).parent.glob("[a-z]*.py")]
    parts = [vars(import_module(f"{kernels.__name__}.{name}")) for name in names]
    known = {name: value for part in parts for name, value in part.items()}
    return {name: len(value.signatures) for name, value in known.items() if hasattr(value, "signatures")}

settings = Settings(Path(sys.argv[1]), f"sqlite:///{sys.argv[2]}", learn=sys.argv[3] == "True")
asked = json.loads(sys.argv[4])
with TestClient(create_app(settings), base_url="http://localhost") as client:
    ready = compiled()
    for more in ({}, {"budget": 2.0}, {"per_group": 1}, {"budget": 2.0, "per_group": [1, 2]}, {"blocked": ["i1"]}):
        answer = client.post("/v1/lists", json=asked | more).json()
        assert client.get(f"/v1/lists/{answer['list_id']}?explain=true").json()["reasons"]["picks"], answer
    later = compiled()
print({name: later[name] - ready[name] for name in later if later[name] != ready[name]})
"""


@pytest.mark.parametrize("learn", [True, False])
def test_nothing_is_compiled_once_the_service_is_ready(
    learn: bool, model_file: Path, tmp_path: Path, asked: Any
) -> None:
    wanted = asked()
    for place, item in enumerate(wanted["items"]):
        item |= {"size": 1.0, "group": place % 3}
    arguments = [str(model_file), str(tmp_path / "store.db"), str(learn), json.dumps(wanted)]
    run = subprocess.run([sys.executable, "-c", COMPILED, *arguments], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "{}\n"


def test_load(benchmarks: None) -> None:
    from benchmarks.reliability.load import run

    result = run(1.5, 40.0, 0, connections=4)
    assert result.errors == 0
    assert result.lists > 0
    assert len(result.memory_mb) > 0


def test_a_request_that_waits_is_answered_before_the_end(serving: Any, asked: Any, tmp_path: Path) -> None:
    from benchmarks.reliability.client import Client

    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    client, answers = Client(serving.port), []
    thread = threading.Thread(
        target=lambda: answers.append(client.post("/v1/lists", json.dumps(asked()).encode())), daemon=True
    )
    thread.start()
    assert any(waiting(serving) for _ in range(MANY))
    serving.process.send_signal(signal.SIGTERM)
    assert any(not listens(serving.port) for _ in range(MANY))
    other.execute("ROLLBACK")
    code = serving.process.wait()
    thread.join()
    client.close()
    other.close()
    assert code in (0, -15)
    assert answers[0][0] == 200
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        assert connection.execute("SELECT count(*) FROM lw_lists").fetchone() == (1,)


def listens(port: int) -> bool:
    """Whether the service takes connections."""
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def waiting(server: Any) -> bool:
    """Whether a request other than this one is being answered."""
    from urllib.request import urlopen

    with urlopen(f"{server.url}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    found = next(line for line in lines if line.startswith("listwright_requests_in_flight "))
    return float(found.split()[1]) > 1
