"""A store that release 0.1 wrote: with lists, feedback and what was learned, on both databases."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

DATA = Path(__file__).parent / "data"


@pytest.fixture
def old_store(store):
    """Its tables and rows; on PostgreSQL in that database's words."""
    statements = gzip.decompress((DATA / "store-1.sql.gz").read_bytes()).decode()
    if store.startswith("sqlite"):
        with sqlite3.connect(store.removeprefix("sqlite:///")) as connection:
            connection.executescript(statements)
        connection.close()
        return store
    statements = re.sub(r"X'([0-9A-F]*)'", r"'\\x\1'", statements.replace("BLOB", "BYTEA").replace(" FLOAT", " FLOAT8"))
    engine = create_engine(store.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        for statement in re.sub(r"BEGIN TRANSACTION;|COMMIT;", "", statements).split(";\n"):
            if statement.strip():
                connection.exec_driver_sql(statement.replace("%", "%%"))
    engine.dispose()
    return store


def test_everything_is_kept_and_goes_on(opened, old_store, learn, asked):
    answered = json.loads((DATA / "store-1.json").read_text())
    client = opened(model=None, store=old_store, learn=True)
    stats = client.get("/v1/stats").json()
    assert (stats["lists"], stats["answered"], stats["failures"], stats["learning"]["events"]) == (4, 3, 1, 3)
    for told in answered:
        found = client.get(f"/v1/lists/{told['list_id']}").json()
        known = ("id", "position", "score", "propensity")
        assert [{name: item[name] for name in known} for item in found["items"]] == [
            {name: item[name] for name in known} for item in told["items"]
        ]
        assert (found["candidates"], found["model_version"], found["context"]) == (5, 1, None)
    first = client.get(f"/v1/lists/{answered[1]['list_id']}").json()["feedback"]
    assert (first["event"], first["gains"]) == (2, [1.0, 0.0])
    learning = client.get("/v1/learning").json()["versions"][0]
    assert (learning["lists"], learning["applied"], learning["waiting"]) == (3, 3, 0)
    last = {"list_id": answered[3]["list_id"], "clicks": [answered[3]["items"][0]["id"]]}
    assert client.post("/v1/feedback", json=last).json()["event"] == 4
    learn(client)
    learning = client.get("/v1/learning").json()["versions"][0]
    assert (learning["lists"], learning["applied"], learning["serves_learned"]) == (4, 4, True)
    assert client.post("/v1/lists", json=asked(5)).status_code == 200


def test_nothing_of_the_old_tables_is_left(opened, old_store):
    client = opened(model=None, store=old_store)
    with client.service.database.reading.connect() as connection:
        kind = connection.dialect.name
        listing = "SELECT name FROM sqlite_master WHERE type = 'table'" if kind == "sqlite" else (
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        )  # fmt: skip
        names = set(connection.execute(text(listing)).scalars())
    assert not {name for name in names if name.startswith("before_") or name == "lw_learners"}
    assert {"lw_learning", "lw_snapshots", "lw_leases"} <= names
