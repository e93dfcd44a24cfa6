"""Which models can be served: of every kind, models learned from clicks, several by name; shadows; versions deleted."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from math import inf

import msgspec
import numpy as np
import pytest
from msgspec.json import encode as as_json
from sklearn.ensemble import ExtraTreesRegressor
from sqlalchemy import text

import listwright as lw
from listwright.errors import InputError
from listwright.serve.bodies import BINARY
from listwright.serve.messages import ListQuery, ListRequest
from listwright.serve.models.building import Built, build_together
from listwright.serve.models.version import Cost
from listwright.serve.refusals import Refused

FILE = {"Content-Type": "application/octet-stream"}
NAMES = ("price", "speed", "weight")


def problems():
    table = np.random.default_rng(0).random((60, 8, 3), dtype=np.float32)
    reward = lw.rewards.AnySuccess(table[..., 0] > 0.8)
    return lw.Problems.from_arrays(table, reward=reward, feature_names=NAMES)


KINDS = {
    "ConSeqOpt": lambda: lw.ConSeqOpt(length=3, random_state=0),
    "trees": lambda: lw.SCP(
        length=3, learner=ExtraTreesRegressor(2, max_depth=3, random_state=0), effort="fast", random_state=0
    ),
    "MMR": lambda: lw.baselines.MMR(0.3, relevance="ridge", length=3),
    "TopK": lambda: lw.baselines.TopK("ridge", 3),
}


@pytest.mark.parametrize("name", KINDS)
def test_whatever_predicts_can_be_served(opened, asked, tmp_path, name):
    model = KINDS[name]().fit(problems())
    model.save(tmp_path / "model.listwright")
    client, request = opened(model=tmp_path / "model.listwright"), asked(8)
    told = client.post("/v1/lists", json=request)
    assert told.status_code == 200, told.text
    one = lw.Problems.from_arrays([[item["features"] for item in request["items"]]], feature_names=NAMES)
    expected = model.predict(one, length=3)
    assert [item["id"] for item in told.json()["items"]] == [f"i{row}" for row in expected[0]]
    found = client.get("/v1/models/1").json()
    assert (found["kind"], found["can_learn"], found["length"]) == (type(model).__name__, name == "trees", 3)
    list_id = told.json()["list_id"]
    assert client.get(f"/v1/lists/{list_id}").status_code == 200
    assert client.post("/v1/feedback", json={"list_id": list_id, "clicks": []}).status_code == 200


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ConSeqOpt", "Got Sequence, which can be served but cannot"),
        ("MMR", "Got MMR, which can be served but cannot learn"),
    ],
)
def test_a_model_that_cannot_learn_is_refused_with_learning_on(opened, tmp_path, name, message):
    KINDS[name]().fit(problems()).save(tmp_path / "model.listwright")
    with pytest.raises(InputError, match=message):
        opened(model=tmp_path / "model.listwright", learn=True)


@pytest.fixture
def clicked_file(tmp_path):
    """A model that was learned from clicks."""
    learner = lw.OnlineSCP(length=3, random_state=0, allow_short=True)
    for seed in range(5):
        table = np.random.default_rng(seed).random((1, 8, 3))
        shown = learner.recommend(lw.Problems.from_arrays(table, feature_names=NAMES), list_ids=[str(seed)])
        learner.feedback(shown.list_ids, [[1.0, 0.0, 0.0]])
    learner.save(tmp_path / "online.listwright")
    return tmp_path / "online.listwright"


def test_a_model_learned_from_clicks_is_served_and_learns_on(opened, store, asked, clicked_file, learn):
    client = opened(store=store, model=clicked_file, learn=True)
    told = client.post("/v1/lists", json=asked(8)).json()
    assert len(told["items"]) == 3
    assert all(0 < item["propensity"] <= 1 for item in told["items"])
    client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": [told["items"][0]["id"]]})
    learn(client)
    answer = client.post("/v1/learning", json={"action": "export"})
    (clicked_file.parent / "learned.listwright").write_bytes(answer.content)
    assert lw.load(clicked_file.parent / "learned.listwright").version == lw.load(clicked_file).version + 1


def test_a_model_learned_from_clicks_is_served_without_learning(opened, asked, clicked_file):
    client, request = opened(model=clicked_file), asked(8)
    told = client.post("/v1/lists", json=request).json()
    one = lw.Problems.from_arrays([[item["features"] for item in request["items"]]], feature_names=NAMES)
    expected = lw.load(clicked_file).predict(one, length=3)
    assert [item["id"] for item in told["items"]] == [f"i{row}" for row in expected[0]]


def test_several_models_by_name(opened, store, asked, model_file, other_file):
    client = opened(store=store, models={"other": other_file})
    first = client.post("/v1/lists", json=asked(8)).json()
    second = client.post("/v1/lists", json=asked(8, model="other")).json()
    assert (first["model_version"], second["model_version"]) == (1, 2)
    assert client.post("/v1/lists", json=asked(8, model="nobody")).status_code == 404
    found = client.get("/v1/models").json()
    assert {name: one["current"] for name, one in found["traffic_by_model"].items()} == {"default": 1, "other": 2}
    assert client.put("/v1/traffic", json={"current": 2}).status_code == 409
    added = client.post("/v1/models?name=other", content=model_file.read_bytes(), headers=FILE).json()
    assert (added["version"], added["name"]) == (3, "other")
    client.put("/v1/traffic", json={"current": 3, "model": "other"})
    assert client.post("/v1/lists", json=asked(8, model="other")).json()["model_version"] == 3
    assert client.post("/v1/traffic:rollback?model=other").json()["traffic_by_model"]["other"]["current"] == 2


async def gathered(tasks):
    """Waits for what goes on after the answer was given."""
    await asyncio.gather(*tasks)


def test_a_shadow_builds_lists_that_nobody_is_shown(opened, store, asked, other_file):
    client = opened(store=store)
    client.post("/v1/models", content=other_file.read_bytes(), headers=FILE)
    client.put("/v1/traffic", json={"current": 1, "shadow": 2})
    told = client.post("/v1/lists", json=asked(8)).json()
    assert told["model_version"] == 1
    service = client.service
    asyncio.run_coroutine_threadsafe(gathered(service.shadows.tasks), service.writer.loop).result()
    found = client.get(f"/v1/lists/{told['list_id']}").json()
    one = lw.Problems.from_arrays([[item["features"] for item in asked(8)["items"]]], feature_names=NAMES)
    expected = [f"i{row}" for row in lw.load(other_file).predict(one, length=3)[0]]
    overlap = len({item["id"] for item in told["items"]} & set(expected)) / 3
    assert found["shadows"] == [{"version": 2, "overlap": pytest.approx(overlap), "items": expected}]
    assert client.get("/v1/models").json()["models"][0]["rate"]["lists"] == 0


def test_a_version_that_serves_nothing_can_be_deleted(opened, store, asked, other_file):
    client = opened(store=store)
    client.post("/v1/models", content=other_file.read_bytes(), headers=FILE)
    client.put("/v1/traffic", json={"current": 2})
    told = client.post("/v1/lists", json=asked()).json()
    assert client.delete("/v1/models/2").status_code == 409
    client.put("/v1/traffic", json={"current": 1})
    assert [one["version"] for one in client.delete("/v1/models/2").json()["models"]] == [1]
    assert client.delete("/v1/models/2").status_code == 404
    found = client.get(f"/v1/lists/{told['list_id']}?explain=true").json()
    assert (found["items"], found["reasons"]) == (told["items"], None)


def test_a_binary_body_gives_the_same_list(client, asked):
    request = asked(8) | {"budgets": {"minutes": 3.0}}
    for i, item in enumerate(request["items"]):
        item["uses"] = {"minutes": 1.0 + i % 3}
    table = np.array([item["features"] for item in request["items"]], dtype="<f4")
    columns = {"ids": [item["id"] for item in request["items"]], "uses": [item["uses"] for item in request["items"]]}
    head = as_json(columns | {"length": 3, "budgets": request["budgets"]})
    body = len(head).to_bytes(4, "little") + head + table.tobytes()
    told = client.post("/v1/lists", content=body, headers={"Content-Type": BINARY})
    assert told.status_code == 200, told.text
    assert told.json()["items"] == client.post("/v1/lists", json=request).json()["items"]
    for wrong in (b"", b"\xff\xff\xff\xff", body[:-1], body[: 4 + len(head)]):
        assert client.post("/v1/lists", content=wrong, headers={"Content-Type": BINARY}).status_code == 422


def test_the_file_given_is_served_where_that_is_said(opened, store, asked, model_file, other_file):
    opened(store=store).stop()
    opened(store=store, model=other_file).stop()  # new to the store, so it takes over
    stays = opened(store=store, model=model_file)
    assert stays.post("/v1/lists", json=asked()).json()["model_version"] == 2
    stays.stop()
    deployed = opened(store=store, model=model_file, deploy=True)
    assert deployed.post("/v1/lists", json=asked()).json()["model_version"] == 1
    deployed.stop()
    chosen = opened(store=store, model=None, version=2)
    assert chosen.post("/v1/lists", json=asked()).json()["model_version"] == 2


def test_the_cost_of_a_list_decides_where_it_is_built(client, asked, monkeypatch):
    service = client.service
    version = service.registry.get(1)
    assert 0 < version.cost.expected_seconds(24) < 0.01  # known before the first request
    monkeypatch.setattr(version.cost, "base", 1.0)  # as if the model were slow
    ran = []
    run = service.building.run
    monkeypatch.setattr(service.building, "run", lambda *arguments: ran.append(arguments) or run(*arguments))
    assert client.post("/v1/lists", json=asked()).status_code == 200
    assert len(ran) == 1


@pytest.mark.parametrize("explores", [False, True])
def test_lists_that_are_built_together_are_the_same(client, asked, monkeypatch, explores):
    service = client.service
    numbers = itertools.count()
    monkeypatch.setattr("listwright.serve.models.building.new_id", lambda *_: f"{next(numbers):032x}")
    version = replace(service.registry.get(1), explores=explores)
    monkeypatch.setattr(service.registry, "choose", lambda *arguments: version)
    requests = [asked(8, seed=0), asked(5, seed=1), asked(8, seed=2, length=2), asked(8, seed=3, explain=True)]
    requests += [asked(6, seed=4) | {"items": asked(6)["items"][:1] * 2}, asked(8, seed=5)]
    queries = [ListQuery.of(msgspec.convert(request, ListRequest)) for request in requests]
    together = build_together(queries, service.registry, service.limits)
    numbers = itertools.count()
    alone = [build_together([query], service.registry, service.limits)[0] for query in queries]
    assert [type(result) for result in together] == [Built] * 4 + [Refused, Built]
    assert [built.answer for built in together if built is not together[4]] == [
        built.answer for built in alone if built is not alone[4]
    ]


def test_the_time_of_a_list_is_estimated_from_short_and_long_ones():
    cost = Cost()
    assert cost.expected_seconds(10) == inf
    cost.note(10, 0.009)  # a slow moment
    cost.note(10_000, 0.002)
    cost.note(10_000, 0.003)
    assert cost.expected_seconds(0) == 0.002
    assert cost.expected_seconds(20_000) == pytest.approx(0.004)
    cost.note(10, 1.0)  # another one moves it little
    assert cost.expected_seconds(0) < 0.003


def test_what_would_take_too_long_or_too_much_memory_is_refused_beforehand(limited_client, asked, monkeypatch):
    client = limited_client()
    cost = client.service.registry.get(1).cost
    ran = []
    monkeypatch.setattr(client.service.building, "run", lambda *arguments: ran.append(arguments))
    with monkeypatch.context() as patch:
        patch.setattr(cost, "step", 1e6)  # as if the model were slow
        answers = [client.post("/v1/lists", json=asked(8))]
        answers.append(client.post("/v1/lists:batch", json={"lists": [asked(8)] * 3}))
    limited_client(memory_bytes=1_000)
    answers.append(client.post("/v1/lists", json=asked(8)))
    assert [(answer.status_code, answer.json()["error"]["code"]) for answer in answers] == [(413, "too_large")] * 3
    messages = [answer.json()["error"]["message"] for answer in answers]
    assert "a request may take 1,800 s. Send fewer candidates, or ask for shorter lists." in messages[0]
    assert " MB, and a request may take 0 MB." in messages[2]
    assert ran == []


def test_the_store_is_not_written_to_by_the_first_lists(opened):
    with opened().service.database.reading.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM lw_lists")).scalar() == 0
