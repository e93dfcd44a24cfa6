"""What operators rely on: probes, ports, keys that come and go, space that is given back, and damaged stores."""

from __future__ import annotations

import json
import logging
import socket
import sqlite3
import threading
from contextlib import closing

import numpy as np
import pytest
from sqlalchemy import text

import listwright as lw
from listwright.errors import InputError
from listwright.serve import Limits, Settings, create_app, new_key, revoke_key, serve
from listwright.serve.guard import request_id
from listwright.serve.server import JsonFormatter, TextFormatter
from listwright.serve.store.database import Database, clock_of
from listwright.serve.store.journal import Old, forget, give_space_back, size_of
from listwright.serve.store.records import first_id


def test_ready_comes_back_without_any_traffic(opened, tmp_path, monkeypatch):
    quick = ("PRAGMA journal_mode = WAL", "PRAGMA busy_timeout = 50")
    monkeypatch.setattr("listwright.serve.store.database.PRAGMAS", quick)
    monkeypatch.setattr("listwright.serve.service.PROBE", 0.0)
    client = opened()
    assert client.get("/readyz").status_code == 200
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200
    other.execute("ROLLBACK")
    other.close()
    assert client.get("/readyz").status_code == 200
    with client.service.database.reading.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM lw_probes")).scalar() == 0


def test_a_service_that_drains_is_not_ready_and_still_answers(client, asked, monkeypatch):
    monkeypatch.setattr(client.service, "draining", True)
    assert client.get("/readyz").status_code == 503
    assert client.post("/v1/lists", json=asked()).status_code == 200


@pytest.mark.parametrize("what", ["places", "bytes", "readers", "builders"])
def test_a_service_with_more_to_do_than_it_may_is_not_ready_and_healthy(client, monkeypatch, what):
    service = client.service
    assert client.get("/readyz").status_code == 200
    if what in ("places", "bytes"):
        monkeypatch.setattr(service.calls, {"places": "in_flight", "bytes": "bytes"}[what], 1 << 40)
    else:
        pool = {"readers": service.reads, "builders": service.building}[what]
        monkeypatch.setattr(pool, "running", pool.most)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["error"]["message"]) == (
        503,
        "There is more to do than the limits allow.",
    )
    assert client.get("/healthz").status_code == 200


def test_a_port_that_is_taken_is_told_before_anything_is_deployed(model_file, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = Settings(model_file, f"sqlite:///{tmp_path}/store.db", port=taken.getsockname()[1])
        with pytest.raises(InputError, match="Cannot listen on"):
            serve(settings)
    assert not (tmp_path / "store.db").exists()


def test_feedback_with_far_too_many_clicks_is_refused_before_the_writer(client, asked, monkeypatch):
    list_id = client.post("/v1/lists", json=asked()).json()["list_id"]
    written = []
    monkeypatch.setattr(client.service.writer, "write", lambda *arguments: written.append(arguments))
    body = {"list_id": list_id, "clicks": list(range(100_000))}
    answer = client.post("/v1/feedback", json=body)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "clicks")
    assert client.post("/v1/feedback", json=body | {"clicks": ["x" * 190] * 20_000}).status_code == 413
    assert written == []


def test_the_same_feedback_at_two_replicas_at_once_is_stored_once(opened, store, asked):
    replicas = [opened(store=store), opened(store=store)]
    answers = []
    for seed in range(15):
        told = replicas[0].post("/v1/lists", json=asked(seed=seed)).json()
        body = {"list_id": told["list_id"], "clicks": [told["items"][0]["id"]]}
        ready = threading.Barrier(2)

        def tell(one, body=body, ready=ready):
            ready.wait()
            answers.append(one.post("/v1/feedback", json=body))

        threads = [threading.Thread(target=tell, args=(one,)) for one in replicas]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {answer.status_code for answer in answers} == {200}
    assert sum(answer.json()["duplicate"] for answer in answers) == 15
    assert replicas[0].get("/v1/stats").json()["learning"]["events"] == 15


def test_services_that_start_at_once_on_an_empty_database(opened, store):
    started, failed = [], []

    def start():
        try:
            started.append(opened(store=store))
        except Exception as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert {len(one.get("/v1/models").json()["models"]) for one in started} == {1}


def test_a_damaged_store_is_told_in_one_sentence(opened, asked, tmp_path):
    client = opened()
    for seed in range(20):
        client.post("/v1/lists", json=asked(50, seed=seed))
    client.stop()
    path = tmp_path / "store.db"
    content = bytearray(path.read_bytes())
    content[100:1024] = bytes(924)  # the first page, behind the header of the file
    path.write_bytes(content)
    with pytest.raises(InputError, match="It is damaged: restore a backup") as told:
        opened()
    assert "\n" not in str(told.value)


DAMAGE = {  # by what is damaged: the statement, and whether the service is to learn
    "policy": ("UPDATE lw_learning SET policy = x'0011'", "What version 1 has learned cannot be read"),
    "model": ("UPDATE lw_models SET file = x'0011'", "Version 1 of 'default' in the store cannot be loaded"),
    "schema": ("DELETE FROM lw_schema", "The store has no schema version"),
}


def damage(tmp_path, statement):
    connection = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    assert connection.execute(statement).rowcount > 0
    connection.close()


@pytest.fixture
def learned(opened, asked):
    """A service that has learned from a list."""
    client = opened(learn=True)
    shown = client.post("/v1/lists", json=asked(5)).json()
    client.post("/v1/feedback", json={"list_id": shown["list_id"], "clicks": [shown["items"][0]["id"]]})
    client.until(lambda: any(row["applied"] == 1 for row in client.get("/v1/learning").json()["versions"]))
    return client, shown["list_id"]


def load(store):
    service = create_app(Settings(model=None, store=store)).state.service
    with closing(service.database):
        service.registry.follow()


@pytest.mark.parametrize("what", DAMAGE)
def test_what_is_damaged_in_the_store_is_told_in_one_sentence_when_it_starts(learned, opened, tmp_path, what):
    statement, message = DAMAGE[what]
    learned[0].stop()
    damage(tmp_path, statement)
    with pytest.raises(InputError, match=message):
        load(f"sqlite:///{tmp_path}/store.db")


def test_what_is_damaged_in_the_store_is_told_in_one_sentence_while_it_runs(learned, tmp_path):
    client, list_id = learned
    damage(tmp_path, "UPDATE lw_lists SET record = x'0011'")
    answers = [client.get(f"/v1/lists/{list_id}")]
    damage(tmp_path, "UPDATE lw_learning SET comparison = '{broken'")
    answers.append(client.get("/v1/learning"))
    damage(tmp_path, "UPDATE lw_feedback SET gains = '[broken'")
    answers.append(client.get(f"/v1/lists/{list_id}"))
    assert [answer.status_code for answer in answers] == [500] * 3
    messages = [answer.json()["error"]["message"] for answer in answers]
    assert messages[0] == "This list cannot be read: its record is damaged."
    assert messages[1].startswith("The comparison of version 1 cannot be read: it is damaged in the store.")


def test_a_damaged_snapshot_stops_learning_and_readiness_says_why(learned, opened, tmp_path):
    client, _ = learned
    client.stop()
    damage(tmp_path, "UPDATE lw_snapshots SET state = x'001122'")
    client = opened(learn=True)
    client.until(lambda: client.get("/readyz").status_code == 503)
    said = client.get("/readyz").json()["error"]["message"]
    assert said.startswith(
        "Learning failed: A snapshot of what was learned cannot be read: it is damaged in the store."
    )


def test_keys_expire_and_are_revoked_while_the_service_runs(opened, tmp_path, monkeypatch):
    monkeypatch.setattr("listwright.serve.auth.RELOAD", 0.0)
    path = tmp_path / "keys.json"
    keys = {name: new_key("read", path, name=name) for name in ("a", "b")}
    client = opened(keys=path)

    def status(key):
        return client.get("/v1/stats", headers={"Authorization": f"Bearer {key}"}).status_code

    assert [status(key) for key in keys.values()] == [200, 200]
    revoke_key("a", path)
    later = new_key("read", path, name="c", days=1)
    assert [status(key) for key in (*keys.values(), later)] == [401, 200, 200]
    entries = json.loads(path.read_text())
    entries["keys"][-1]["expires"] = 1.0  # long ago
    path.write_text(json.dumps(entries))
    assert status(later) == 401
    with pytest.raises(InputError, match="has no key with the name a"):
        revoke_key("a", path)
    with pytest.raises(InputError, match="has a key with the name b already"):
        new_key("read", path, name="b")
    path.write_text("no JSON")
    assert status(keys["b"]) == 200  # a file that cannot be read leaves the keys as they were


def test_space_is_given_back_when_lists_go(opened, store, asked):
    client = opened(store=store)
    for seed in range(60):
        client.post("/v1/lists", json=asked(200, seed=seed))
    client.stop()
    database = Database.of(store)
    with database.writing.begin() as connection:
        before = size_of(connection)
        assert forget(connection, [Old(None, 1.0, learned=False)]) == [60]
    give_space_back(database)
    with database.reading.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM lw_lists")).scalar() == 0
        assert size_of(connection) < 0.7 * before
    database.close()


def test_a_store_within_its_bounds_forgets_nothing(opened, store, asked):
    client = opened(store=store)
    client.post("/v1/lists", json=asked())
    with client.service.database.writing.begin() as connection:
        assert forget(connection, [Old(1e6, 1e12, learned=False), Old(None, None, learned=False)]) == [0, 0]


def age(client, days):
    """Lists that were served some days ago."""
    with client.service.database.writing.begin() as connection:
        for table, column in (("lw_lists", "id"), ("lw_feedback", "list_id")):
            for (found,) in connection.execute(text(f"SELECT {column} FROM {table}")).all():
                moved = first_id(int(found[:12], 16) / 1000 - days * 86_400)[:12] + found[12:]
                connection.execute(text(f"UPDATE {table} SET {column} = '{moved}' WHERE {column} = '{found}'"))


def test_a_few_lists_that_were_learned_from_are_forgotten_in_time(opened, store, asked, learn):
    """A quarter of the time that lists are kept after the last snapshot, there is another, however few lists came."""
    client = opened(store=store, learn=True, keep_days=1.0)
    for seed in range(3):
        told = client.post("/v1/lists", json=asked(seed=seed)).json()
        client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": []})
    learn(client)
    age(client, 2)
    old = Old(86_400.0, None, learned=True)
    with client.service.database.writing.begin() as connection:
        assert forget(connection, [old]) == [0]  # the state is rebuilt from them
    updater = client.service.updater
    assert updater.seconds == 86_400 / 4
    count, at = updater.snapped[1]
    updater.snapped[1] = count, at - updater.seconds
    learn(client)
    with client.service.database.writing.begin() as connection:
        assert forget(connection, [old]) == [3]


def test_a_clock_that_jumps_ahead_deletes_nothing(opened, store, asked):
    client = opened(store=store)
    client.post("/v1/lists", json=asked())
    with client.service.database.writing.begin() as connection:
        now = clock_of(connection)
        jumped = Old(86_400.0, None, learned=False, latest=now + 3_600)
        age_of_all = Old(-7_200.0, None, learned=False)  # by a clock that is two hours ahead
        assert forget(connection, [jumped, age_of_all._replace(latest=now - 7_300)]) == [0, 0]
        assert forget(connection, [age_of_all]) == [1]


def test_a_list_takes_little_room(opened, store, tmp_path):
    """Of 100 candidates with 32 features, which are 12.8 KB: little more than that."""
    table = np.random.default_rng(0).random((30, 100, 32), dtype=np.float32)
    problems = lw.Problems.from_arrays(table, reward=lw.rewards.AnySuccess(table[..., 0] > 0.9))
    lw.SCP(length=10, effort="fast", random_state=0).fit(problems).save(tmp_path / "model.listwright")
    client = opened(store=store, model=tmp_path / "model.listwright")
    with client.service.database.reading.connect() as connection:
        before = size_of(connection)
    lists = [
        {"items": [{"id": f"item-{i}", "features": one} for i, one in enumerate(rows.round(4).tolist())], "length": 10}
        for rows in table
    ]
    for _ in range(5):
        assert client.post("/v1/lists:batch", json={"lists": lists}).status_code == 200
    with client.service.database.reading.connect() as connection:
        assert (size_of(connection) - before) / 150 < 15_500


def test_logs_are_json_with_the_request_and_the_cause():
    record = logging.makeLogRecord({"msg": "a transaction failed", "levelname": "WARNING", "cause": "disk full"})
    token = request_id.set("abc")
    try:
        told = json.loads(JsonFormatter().format(record))
        line = TextFormatter().format(logging.makeLogRecord({"msg": "x\u202ey", "cause": "a\rb"}))
    finally:
        request_id.reset(token)
    assert (told["message"], told["cause"], told["request_id"]) == ("a transaction failed", "disk full", "abc")
    assert "\u202e" not in line
    assert "\r" not in line


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keep_days": float("inf")}, "--keep-days must be above 0, and finite"),
        ({"keep_gb": -1.0}, "--keep-gb"),
        ({"out_of_range": "ignore"}, "--out-of-range must be clip or refuse"),
        ({"drain_seconds": -1.0}, "--drain-seconds"),
        ({"limits": Limits(items=70_000)}, "--limit-items"),
        ({"port": 99_999}, "--port must be from 0 to 65,535"),
        ({"limits": Limits(seconds=0.0)}, "--limit-seconds"),
    ],
)
def test_settings_that_make_no_sense_are_refused(model_file, change, message):
    with pytest.raises(InputError, match=message):
        Settings(model_file, **change).check()
