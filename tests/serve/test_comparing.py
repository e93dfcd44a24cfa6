"""Two versions against each other, by what came of stored lists."""

from __future__ import annotations

import numpy as np
import pytest

import listwright as lw

FILE = {"Content-Type": "application/octet-stream"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model that prefers a high first feature, and one that prefers a low one."""
    table = np.random.default_rng(0).random((200, 8, 3), dtype=np.float32)
    folder = tmp_path_factory.mktemp("models")
    for name, good in (("high", table[..., 0] > 0.8), ("low", table[..., 0] < 0.2)):
        problems = lw.Problems.from_arrays(table, reward=lw.rewards.AnySuccess(good))
        lw.SCP(length=3, effort="fast", random_state=0).fit(problems).save(folder / name)
    return folder / "low", folder / "high"


def visited(client, asked, count):
    """Visitors click where the first feature is high."""
    for seed in range(count):
        request = asked(8, seed=seed)
        good = {item["id"] for item in request["items"] if item["features"][0] > 0.8}
        told = client.post("/v1/lists", json=request).json()
        clicks = [item["id"] for item in told["items"] if item["id"] in good]
        client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": clicks})


def test_the_better_version_is_told_by_both_ways(opened, store, asked, files):
    client = opened(store=store, model=files[0], learn=True, snapshot_every=10_000)
    client.post("/v1/models", content=files[1].read_bytes(), headers=FILE)
    client.put("/v1/traffic", json={"current": 1, "canary": 2, "share": 0.5})
    client.post("/v1/learning", json={"action": "freeze", "version": 1})
    client.post("/v1/learning", json={"action": "freeze", "version": 2})
    visited(client, asked, 120)
    told = client.get("/v1/compare?new=2&old=1").json()
    assert sum(told["lists"]) == 120
    assert told["shown"]["verdict"] == "roll out"
    assert told["shown"]["low"] > 0
    assert told["log"]["n_lists"] == 120
    assert {row["policy"] for row in told["log"]["policies"]} == {"new", "old"}
    assert "new" in told["log"]["advice"]
    back = client.get("/v1/compare?new=1&old=2").json()
    assert back["shown"]["verdict"] == "do not roll out"
    assert back["shown"]["difference"] == pytest.approx(-told["shown"]["difference"])


def test_without_lists_nothing_is_claimed(opened, store, files, fitted, tmp_path):
    client = opened(store=store, model=files[0])
    client.post("/v1/models", content=files[1].read_bytes(), headers=FILE)
    told = client.get("/v1/compare?new=2&old=1").json()
    assert (told["lists"], told["shown"], told["log"]) == ([0, 0], None, None)
    fitted(0, width=4).save(tmp_path / "wide.listwright")
    client.post("/v1/models", content=(tmp_path / "wide.listwright").read_bytes(), headers=FILE)
    assert client.get("/v1/compare?new=3&old=1").status_code == 409
    assert client.get("/v1/compare?new=9&old=1").status_code == 404
    assert client.get("/v1/compare?new=1&old=1").status_code == 422
    assert client.get("/v1/compare?new=1").status_code == 422


def test_a_comparison_that_needs_too_much_memory_is_refused_beforehand(limited_client, asked, other_file):
    client = limited_client()
    client.post("/v1/models", content=other_file.read_bytes(), headers={"Content-Type": "application/octet-stream"})
    told = client.post("/v1/lists", json=asked()).json()
    client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": []})
    limited_client(memory_bytes=1_000)
    answer = client.get("/v1/compare?new=2&old=1")
    assert (answer.status_code, answer.json()["error"]["field"]) == (413, "lists")
    assert "Ask for fewer lists." in answer.json()["error"]["message"]
