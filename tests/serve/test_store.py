"""The store: the version of its schema, a full disk, a database that somebody else locks."""

from __future__ import annotations

import sqlite3
import threading
from queue import SimpleQueue

import pytest
from sqlalchemy import event, text

from listwright.errors import InputError
from listwright.serve.store.database import Database
from listwright.serve.store.schema import SCHEMA


def opened_database(url):
    database = Database.of(url)
    database.open()
    return database


def test_a_new_store_has_this_version(store):
    database = opened_database(store)
    with database.reading.connect() as connection:
        assert connection.execute(text("SELECT version FROM lw_schema")).scalar() == SCHEMA
    database.close()


def test_a_store_of_another_version_is_refused(store):
    database = opened_database(store)
    with database.writing.begin() as connection:
        connection.execute(text("UPDATE lw_schema SET version = 99"))
    database.close()
    with pytest.raises(InputError, match="schema version 99"):
        opened_database(store)


@pytest.mark.parametrize("url", ["", "mysql://x", "sqlite://", "sqlite:///:memory:", "listwright.db"])
def test_other_stores_are_refused(url):
    with pytest.raises(InputError, match="A store is sqlite"):
        opened_database(url)


def test_a_store_that_cannot_be_opened_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot be opened"):
        opened_database(f"sqlite:///{tmp_path}/no/such/folder.db")


def test_sqlite_writes_ahead_and_syncs_fully(tmp_path):
    database = opened_database(f"sqlite:///{tmp_path}/store.db")
    for engine in (database.writing, database.reading):
        with engine.connect() as connection:
            assert connection.execute(text("PRAGMA journal_mode")).scalar() == "wal"
            assert connection.execute(text("PRAGMA synchronous")).scalar() == 2
    database.close()


def test_a_full_disk_fails_cleanly_and_loses_nothing(opened, asked):
    client, kept = opened(), []
    engine = client.service.database.writing
    with engine.connect() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar()
        connection.execute(text(f"PRAGMA max_page_count = {pages + 24}"))
    statuses = []
    for seed in range(100):
        answer = client.post("/v1/lists", json=asked(50, seed=seed))
        statuses.append(answer.status_code)
        if answer.status_code == 200:
            kept.append(answer.json())
        else:
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            break
    assert statuses[0] == 200
    assert statuses[-1] == 503
    assert client.get("/readyz").status_code == 503
    with engine.connect() as connection:
        connection.execute(text("PRAGMA max_page_count = 1000000"))
    for told in kept:
        assert client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": []}).status_code == 200
    assert client.get("/readyz").status_code == 200
    assert client.get("/v1/stats").json()["lists"] == len(kept)


def test_a_locked_database_fails_cleanly_and_recovers(opened, asked, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "listwright.serve.store.database.PRAGMAS", ("PRAGMA journal_mode = WAL", "PRAGMA busy_timeout = 50")
    )
    client = opened()
    told = client.post("/v1/lists", json=asked()).json()
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    body = {"list_id": told["list_id"], "clicks": []}
    answer = client.post("/v1/feedback", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
    assert client.get(f"/v1/lists/{told['list_id']}").json()["feedback"] is None
    other.execute("ROLLBACK")
    other.close()
    assert client.post("/v1/feedback", json=body).json()["duplicate"] is False


def test_a_lock_that_goes_away_in_time_is_waited_for(opened, asked, tmp_path):
    client = opened()
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    locked, answers = threading.Event(), []
    event.listen(client.service.database.writing, "before_cursor_execute", lambda *_: locked.set())
    thread = threading.Thread(target=lambda: answers.append(client.post("/v1/lists", json=asked())))
    thread.start()
    locked.wait()
    other.execute("ROLLBACK")
    thread.join()
    other.close()
    assert answers[0].status_code == 200


def test_too_many_requests_at_once_are_told_to_come_again(opened, asked, tmp_path):
    from listwright.serve import Limits

    client = opened(limits=Limits(in_flight=2))
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")  # so that requests wait
    answers = SimpleQueue()

    def ask():
        answers.put(client.post("/v1/lists", json=asked()))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    busy = [answers.get() for _ in range(4)]
    assert client.get("/healthz").status_code == 200
    other.execute("ROLLBACK")
    other.close()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in busy] == [429] * 4
    assert all(answer.headers["retry-after"] == "1" for answer in busy)
    assert [answers.get().status_code for _ in range(2)] == [200, 200]


def test_a_request_that_takes_too_long_is_given_up(opened, asked, tmp_path):
    from listwright.serve import Limits

    client = opened(limits=Limits(seconds=0.2))
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answer = client.post("/v1/lists", json=asked())
    other.execute("ROLLBACK")
    other.close()
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "timeout")
    object.__setattr__(client.service.limits, "seconds", 1_800.0)  # the machine may be busy
    assert client.post("/v1/lists", json=asked()).status_code == 200


def test_with_commit_group_lists_are_answered_before_they_are_stored_while_the_store_works(opened, asked, tmp_path):
    client = opened(commit="group")
    told = client.post("/v1/lists", json=asked()).json()
    assert client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": []}).status_code == 200
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    late = client.post("/v1/lists", json=asked()).json()  # nobody can write, and it is answered
    other.execute("ROLLBACK")
    other.close()
    answer = client.post("/v1/feedback", json={"list_id": late["list_id"], "clicks": []})  # stored with its list
    assert (answer.status_code, client.get("/v1/stats").json()["answered"]) == (200, 2)


def test_with_commit_group_no_list_is_answered_before_once_the_store_fails(opened, asked, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "listwright.serve.store.database.PRAGMAS", ("PRAGMA journal_mode = WAL", "PRAGMA busy_timeout = 50")
    )
    client = opened(commit="group")
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    lost = client.post("/v1/lists", json=asked())
    client.until(lambda: client.service.writer.failure is not None)
    refused = client.post("/v1/lists", json=asked())
    other.execute("ROLLBACK")
    other.close()
    assert (lost.status_code, refused.status_code) == (200, 503)
    body = {"list_id": lost.json()["list_id"], "clicks": []}
    assert client.post("/v1/feedback", json=body).status_code == 404  # it is not there, and nothing says that it is
    assert client.post("/v1/lists", json=asked()).status_code == 200
