"""Model versions: hot swap, canary, roll back; no request is dropped."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

import listwright as lw

FILE = {"Content-Type": "application/octet-stream"}


def added(client, path):
    return client.post("/v1/models", content=path.read_bytes(), headers=FILE)


def served(client, request, count):
    return [client.post("/v1/lists", json=request).json()["model_version"] for _ in range(count)]


def test_a_new_version_serves_when_it_is_told_to(opened, store, asked, other_file):
    client = opened(store=store)
    answer = added(client, other_file)
    assert (answer.status_code, answer.json()["version"], answer.json()["role"]) == (201, 2, "idle")
    assert served(client, asked(), 2) == [1, 1]
    client.put("/v1/traffic", json={"current": 2})
    assert served(client, asked(), 2) == [2, 2]
    assert [one["role"] for one in client.get("/v1/models").json()["models"]] == ["current", "idle"]


def test_the_same_file_is_the_same_version(client, model_file):
    assert added(client, model_file).json()["version"] == 1


def test_roll_back_goes_back_version_by_version(opened, store, asked, other_file, tmp_path, third_file):
    client = opened(store=store)
    for number, path in ((2, other_file), (3, third_file)):
        added(client, path)
        client.put("/v1/traffic", json={"current": number})
    assert client.post("/v1/traffic:rollback").json()["traffic"]["current"] == 2
    assert client.post("/v1/traffic:rollback").json()["traffic"]["current"] == 1
    assert served(client, asked(), 1) == [1]
    assert client.post("/v1/traffic:rollback").status_code == 409


def test_a_canary_gets_its_share_and_rates_stand_side_by_side(opened, store, asked, other_file):
    client = opened(store=store)
    added(client, other_file)
    assert client.put("/v1/traffic", json={"current": 1, "canary": 2, "share": 0.5}).status_code == 200
    for _ in range(40):
        told = client.post("/v1/lists", json=asked()).json()
        clicks = [told["items"][0]["id"]] if told["model_version"] == 2 else []
        client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": clicks})
    second, first = client.get("/v1/models").json()["models"]
    assert (first["role"], second["role"], second["share"]) == ("current", "canary", 0.5)
    assert first["rate"]["lists"] + second["rate"]["lists"] == 40
    assert min(first["rate"]["lists"], second["rate"]["lists"]) > 5
    assert (first["rate"]["failure_rate"], second["rate"]["failure_rate"]) == (1.0, 0.0)
    assert first["rate"]["success_at_least"] == 0.0 < second["rate"]["success_at_least"] < 1.0


@pytest.mark.parametrize(
    ("traffic", "status", "field"),
    [
        ({"current": 9}, 404, None),
        ({"current": 1, "canary": 1, "share": 0.1}, 422, "canary"),
        ({"current": 1, "share": 0.1}, 422, "share"),
        ({"current": 1, "canary": 2, "share": 1.5}, 422, "share"),
        ({"current": 0}, 422, "current"),
    ],
)
def test_traffic_that_makes_no_sense_is_refused(client, other_file, traffic, status, field):
    added(client, other_file)
    answer = client.put("/v1/traffic", json=traffic)
    assert (answer.status_code, answer.json()["error"]["field"]) == (status, field)


def test_a_canary_with_other_features_is_refused(client, wide_file):
    number = added(client, wide_file).json()["version"]
    assert client.put("/v1/traffic", json={"current": 1, "canary": number, "share": 0.1}).status_code == 409


def test_traffic_outlives_a_restart_and_a_new_file_takes_over(opened, store, asked, other_file, third_file):
    client = opened(store=store)
    added(client, other_file)
    client.put("/v1/traffic", json={"current": 2})
    client.stop()
    client = opened(store=store)  # started with the first file again
    assert served(client, asked(), 1) == [2]
    client.stop()
    assert served(opened(store=store, model=third_file), asked(), 1) == [3]


def test_no_request_is_dropped_while_versions_change(client, asked, other_file):
    other = added(client, other_file).json()["version"]
    seen, stop = [], threading.Event()

    def ask():
        while not stop.is_set():
            answer = client.post("/v1/lists", json=asked())
            seen.append((answer.status_code, answer.json().get("model_version")))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in (other, 1) * 10:
        assert client.put("/v1/traffic", json={"current": number}).status_code == 200
    stop.set()
    for thread in threads:
        thread.join()
    assert {status for status, _ in seen} == {200}
    assert {version for _, version in seen} == {1, other}


def test_the_certificate_is_the_model_s(client, model_file):
    told = client.get("/v1/models/1").json()
    certificate = lw.load(model_file).online_certificate()
    assert told["certificate"]["text"] == str(certificate)
    assert told["certificate"]["slack"] == certificate.slack
    assert told["feature_names"] == ["price", "speed", "weight"]


@pytest.fixture(scope="session")
def third_file(tmp_path_factory, fitted):
    path = tmp_path_factory.mktemp("models") / "third.listwright"
    fitted(2).save(path)
    return path


@pytest.fixture(scope="session")
def wide_file(tmp_path_factory, fitted):
    path = tmp_path_factory.mktemp("models") / "wide.listwright"
    fitted(0, width=4).save(path)
    return path


def test_the_version_that_was_chosen_serves_whatever_file_is_given(opened, store, asked, other_file, third_file):
    client = opened(store=store)
    added(client, other_file)
    client.stop()
    chosen = opened(store=store, version=2)  # with the first file, as units and containers give it
    assert served(chosen, asked(), 1) == [2]
    chosen.stop()
    assert served(opened(store=store, model=third_file, version=2), asked(), 1) == [2]


def test_a_version_that_is_not_there_is_refused_in_one_line(model_file, tmp_path):
    store = f"sqlite:///{tmp_path}/store.db"
    command = [sys.executable, "-m", "listwright", "serve", str(model_file), "--store", store, "--port", "0"]
    run = subprocess.run([*command, "--version", "7"], capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode != 0
    assert "The store has no version 7 of the model 'default'." in run.stderr
    assert "Traceback" not in run.stderr
