"""Learning from feedback: in order, once, and the same to the last bit after a crash."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
from sqlalchemy import create_engine, text

import listwright as lw
from listwright.feedback import OnlineSCP
from listwright.serve import Settings
from listwright.serve.learning.progress import events_after
from listwright.serve.learning.updater import learner_maker
from listwright.serve.models.version import load_bytes


def teach(client, asked, count, *, start=0):
    for seed in range(start, start + count):
        told = client.post("/v1/lists", json=asked(8, seed=seed)).json()
        clicks = [item["id"] for item in told["items"][: seed % 3]]
        assert client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": clicks}).status_code == 200


def wait_for(client, applied):
    client.until(lambda: client.get("/v1/stats").json()["learning"]["applied"] >= applied)


@contextmanager
def connected(store):
    engine = create_engine(store.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def exported(client, **more):
    """What the service has learned, as a model."""
    answer = client.post("/v1/learning", json={"action": "export", **more})
    assert answer.status_code == 200, answer.text
    return load_bytes(answer.content)


def uninterrupted_state(store, model_file, *, version=1, group=7):
    """All events of a store, learned from by a learner that was never interrupted."""
    with connected(store) as connection:
        events = [event for event in events_after(connection, version, 0, 10_000) if event.learnable]
    learner = learner_maker(Settings())(lw.load(model_file))
    for start in range(0, len(events), group):
        learner.update([event.update() for event in events[start : start + group]])
    return learner.state()


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name, strict=True)


def test_lists_come_with_propensities_and_the_state_grows(opened, store, asked, learn):
    client = opened(store=store, learn=True)
    told = client.post("/v1/lists", json=asked(8)).json()
    assert all(0 < item["propensity"] <= 1 for item in told["items"])
    teach(client, asked, 12)
    learn(client)
    status = client.get("/v1/learning").json()["versions"][0]
    assert (status["state"], status["applied"], status["lists"], status["waiting"]) == ("learning", 12, 12, 0)
    assert exported(client).version == 12


def test_a_restart_goes_on_where_it_was_to_the_last_bit(opened, store, asked, model_file):
    for part in range(3):
        client = opened(store=store, learn=True)
        teach(client, asked, 9, start=9 * part)
        client.stop()
    client = opened(store=store, learn=True)
    wait_for(client, 27)
    assert_same(exported(client).state(), uninterrupted_state(store, model_file))


def test_feedback_that_came_without_learning_is_learned_from_later(opened, store, asked, model_file, learn):
    client = opened(store=store)
    teach(client, asked, 5)
    client.stop()
    client = opened(store=store, learn=True)
    learn(client)
    assert_same(exported(client).state(), uninterrupted_state(store, model_file))


def test_each_version_learns_from_its_own_lists(opened, store, asked, model_file, other_file, learn):
    client = opened(store=store, learn=True)
    headers = {"Content-Type": "application/octet-stream"}
    client.post("/v1/models", content=other_file.read_bytes(), headers=headers)
    client.put("/v1/traffic", json={"current": 1, "canary": 2, "share": 0.5})
    teach(client, asked, 30)
    learn(client)
    for version, path in ((1, model_file), (2, other_file)):
        assert_same(exported(client, version=version).state(), uninterrupted_state(store, path, version=version))


def test_a_service_that_learns_serves_the_same_draw_for_the_same_id(opened, asked, model_file):
    client = opened(learn=True, seed=3)
    told = client.post("/v1/lists", json=asked(8)).json()
    learner = OnlineSCP.from_model(lw.load(model_file), random_state=3, allow_short=True)
    problems = lw.Problems.from_arrays([[item["features"] for item in asked(8)["items"]]])
    lists = learner.recommend(problems, length=3, list_ids=[told["list_id"]])
    assert [item["id"] for item in told["items"]] == [f"i{row}" for row in lists[0]]
    assert [item["propensity"] for item in told["items"]] == lists.propensities[0].tolist()


def test_what_cannot_be_learned_from_is_left_out(opened, store, asked, learn):
    client = opened(store=store)
    teach(client, asked, 3)
    client.stop()
    with connected(store) as connection:
        connection.execute(text("UPDATE lw_feedback SET gains = '[7, 0, 0]' WHERE event = 2"))
    client = opened(store=store, learn=True)
    learn(client)
    assert "listwright_events_skipped_total 1.0" in client.get("/metrics").text
    assert exported(client).version == 2
    assert [one["event"] for one in client.get("/v1/learning").json()["quarantine"]] == [2]


def test_feedback_is_kept_until_it_is_learned_from(opened, store, asked):
    client = opened(store=store)
    teach(client, asked, 3)
    client.stop()
    client = opened(store=store, learn=True, keep_days=1e-9)
    wait_for(client, 3)
    assert exported(client).version == 3


def test_a_model_that_is_not_ridge_learns_a_correction(opened, tmp_path):
    x = np.random.default_rng(0).random((40, 4, 2))
    problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7))
    path = tmp_path / "gradient.listwright"
    lw.SCP(length=2, learner="gradient", random_state=0).fit(problems).save(path)
    assert opened(model=path, learn=True).get("/readyz").status_code == 200
