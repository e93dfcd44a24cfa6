"""What the service promises, on SQLite and on PostgreSQL."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import listwright as lw
from listwright.features import Candidate
from tests.problem_tools import small_problems
from tests.storage.own_parts import Powers


def test_a_list_is_what_the_model_builds(stored_client, asked, model_file):
    client, request = stored_client, asked(8)
    answer = client.post("/v1/lists", json=request)
    assert answer.status_code == 200
    told = answer.json()
    problems = lw.Problems.from_arrays([[item["features"] for item in request["items"]]])
    lists = lw.load(model_file).predict(problems, length=3)
    assert [item["id"] for item in told["items"]] == [f"i{row}" for row in lists[0]]
    assert [item["position"] for item in told["items"]] == [1, 2, 3]
    assert [item["score"] for item in told["items"]] == pytest.approx(lists.scores[0])
    assert all(item["propensity"] == 1.0 for item in told["items"])
    assert told["model_version"] == 1


def test_why_adds_up_to_the_score(stored_client, asked):
    assert {one["why"] for one in stored_client.post("/v1/lists", json=asked(8)).json()["items"]} == {None}
    items = stored_client.post("/v1/lists", json=asked(8, explain=True)).json()["items"]
    assert all(one["why"]["alone"] + one["why"]["given_list"] == pytest.approx(one["score"]) for one in items)
    assert items[0]["why"]["rank_alone"] == 1
    assert items[0]["why"]["given_list"] == 0


def test_features_by_name_give_the_same_list(stored_client, asked):
    client, request = stored_client, asked(8)
    named = {
        **request,
        "items": [
            {"id": item["id"], "features": dict(zip(("price", "speed", "weight"), item["features"], strict=True))}
            for item in request["items"]
        ],
    }
    first, second = (client.post("/v1/lists", json=body).json()["items"] for body in (request, named))
    assert first == second


def test_a_model_of_a_frame_takes_categories_by_name(opened, store, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"problem": np.repeat(np.arange(40), 6), "stars": rng.random(240)})
    frame["kind"] = pd.Categorical(rng.choice(["food", "music"], 240))
    frame["good"] = rng.random(240) < 0.3
    lw.SCP(2, effort="fast", random_state=0).fit(frame, reward="any:good").save(tmp_path / "frame.listwright")
    client = opened(model=tmp_path / "frame.listwright", store=store)

    def ask(*rows):
        return client.post("/v1/lists", json={"items": [{"id": i, "features": row} for i, row in enumerate(rows)]})

    named = ask({"stars": 0.9, "kind": "food"}, {"stars": 0.8, "kind": "music"}, {"stars": 0.1, "kind": "food"})
    assert named.json()["items"] == ask([0.9, 1, 0], [0.8, 0, 1], [0.1, 1, 0]).json()["items"]
    errors = {
        "items.0.features.kind": [{"stars": 0.9, "kind": "opera"}, {"stars": 0.9}, {"stars": 0.9, "kind": 7}],
        "items.0.features.stars": [{"stars": "many", "kind": "food"}, {"kind": "food"}],
        "items.0.features": [{"stars": 0.9, "kind": "food", "price": 3}],
    }
    for field, rows in errors.items():
        for row in rows:
            answer = ask(row)
            assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)
    assert "It knows: food, music." in ask({"stars": 0.9, "kind": "opera"}).json()["error"]["message"]


def test_a_budget_holds(stored_client, asked):
    request = asked(6, budget=4.0)
    del request["length"]
    for i, item in enumerate(request["items"]):
        item["size"] = 1.0 + i % 2
    answer = stored_client.post("/v1/lists", json=request).json()
    sizes = {item["id"]: item["size"] for item in request["items"]}
    assert 0 < sum(sizes[item["id"]] for item in answer["items"]) <= 4.0


def test_fewer_candidates_than_the_length_give_a_shorter_list(stored_client, asked):
    answer = stored_client.post("/v1/lists", json=asked(2)).json()
    assert len(answer["items"]) == 2


def test_a_batch_gives_the_same_lists_as_one_by_one(stored_client, asked):
    client, requests = stored_client, [asked(5, seed=seed) for seed in range(4)]
    batch = client.post("/v1/lists:batch", json={"lists": requests}).json()["lists"]
    alone = [client.post("/v1/lists", json=request).json() for request in requests]
    assert [one["items"] for one in batch] == [one["items"] for one in alone]
    assert len({one["list_id"] for one in batch + alone}) == 8


def test_feedback_is_counted_once(opened, store, asked):
    client = opened(store=store)
    told = client.post("/v1/lists", json=asked()).json()
    body = {"list_id": told["list_id"], "clicks": [told["items"][1]["id"]], "idempotency_key": "k1"}
    first, again = (client.post("/v1/feedback", json=body) for _ in range(2))
    assert first.json() == {"list_id": told["list_id"], "event": 1, "duplicate": False}
    assert again.json() == {"list_id": told["list_id"], "event": 1, "duplicate": True}
    stats = client.get("/v1/stats").json()
    assert (stats["lists"], stats["answered"], stats["failures"]) == (1, 1, 0)


@pytest.mark.parametrize("key", [{}, {"idempotency_key": "k1"}], ids=["no key", "one key"])
def test_other_feedback_under_the_same_key_is_refused(stored_client, asked, key):
    told = stored_client.post("/v1/lists", json=asked()).json()
    body = {"list_id": told["list_id"], "clicks": [told["items"][1]["id"]]} | key
    stored_client.post("/v1/feedback", json=body)
    answer = stored_client.post("/v1/feedback", json=body | {"clicks": []})
    assert (answer.status_code, answer.json()["error"]["field"]) == (409, "list_id")


def test_a_list_takes_more_feedback_under_other_keys(opened, store, asked):
    """A click, then a purchase: the list counts once, with the largest gain of each position."""
    client = opened(store=store)
    list_id = client.post("/v1/lists", json=asked()).json()["list_id"]
    for key, gains in (("view", [0, 0, 0]), ("click", [0, 0.3, 0]), ("buy", [0, 1, 0]), ("late", [0.2, 0, 0])):
        body = {"list_id": list_id, "gains": [float(gain) for gain in gains], "idempotency_key": key}
        assert client.post("/v1/feedback", json=body).json()["duplicate"] is False
        assert client.post("/v1/feedback", json=body).json()["duplicate"] is True
    stats = client.get("/v1/stats").json()
    assert (stats["answered"], stats["failures"], stats["learning"]["events"]) == (1, 0, 4)
    positions = client.get("/v1/stats/positions").json()["positions"]
    assert [(one["answered"], one["gain"]) for one in positions] == [(1, 0.2), (1, 1.0), (1, 0.0)]
    found = client.get(f"/v1/lists/{list_id}").json()["feedback"]
    assert found["gains"] == [0.2, 1.0, 0.0]
    assert [event["key"] for event in found["events"]] == ["view", "click", "buy", "late"]
    assert client.get("/v1/lists").json()["lists"][0]["failed"] is False


def test_the_caller_s_own_metadata_is_stored_and_changes_nothing(stored_client, asked):
    client, metadata = stored_client, {"user": "u1", "tests": ["a", {"b": 1.5}], "none": None}
    plain, own = (client.post("/v1/lists", json=asked(8, **more)).json() for more in ({}, {"metadata": metadata}))
    assert plain["items"] == own["items"]
    assert client.get(f"/v1/lists/{own['list_id']}").json()["metadata"] == metadata
    assert client.get(f"/v1/lists/{plain['list_id']}").json()["metadata"] is None
    answer = client.post("/v1/lists", json=asked(8, metadata="x" * 5000))
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "metadata")


def test_a_key_counts_for_its_own_list_alone(stored_client, asked):
    """Whoever uses the id of somebody else's list as a key takes nothing away from that list."""
    first, second = (stored_client.post("/v1/lists", json=asked()).json()["list_id"] for _ in range(2))
    other = {"list_id": first, "clicks": [], "idempotency_key": second}
    event = stored_client.post("/v1/feedback", json=other).json()["event"]
    answer = stored_client.post("/v1/feedback", json={"list_id": second, "clicks": []})
    assert answer.json() == {"list_id": second, "event": event + 1, "duplicate": False}
    assert stored_client.post("/v1/feedback", json=other).json()["duplicate"] is True


def test_feedback_on_an_unknown_list_is_not_found(stored_client):
    answer = stored_client.post("/v1/feedback", json={"list_id": "0" * 32, "clicks": []})
    assert (answer.status_code, answer.json()["error"]["field"]) == (404, "list_id")


@pytest.mark.parametrize(
    ("rules", "count"),
    [
        ({"per_group": [1, 2]}, 3),
        (
            {"per_group": [2, 3], "budget": 3.0, "length": None},
            3,
        ),  # the budget ends the list before its groups are full
        ({"per_group": [2, 3], "budgets": {"seconds": 4.0}, "length": 6}, 4),
        ({"pinned": [f"i{i}" for i in range(25)], "length": 30}, 30),  # more than are explained
        ({"per_group": [8, None], "length": 30}, 30),
    ],
)
def test_lists_with_least_numbers_of_groups_and_pins_have_reasons(client, asked, rules, count):
    request = asked(40) | rules
    for place, item in enumerate(request["items"]):
        item |= {"size": 1.0, "group": place % 3, "uses": {"seconds": 1.0}}
    told = client.post("/v1/lists", json={name: value for name, value in request.items() if value is not None}).json()
    assert len(told["items"]) == count
    picks = client.get(f"/v1/lists/{told['list_id']}?explain=true").json()["reasons"]["picks"]
    assert [pick["item"] for pick in picks] == [item["id"] for item in told["items"]][:20]


def test_a_list_can_be_looked_up_with_its_reasons(stored_client, asked):
    told = stored_client.post("/v1/lists", json=asked(8)).json()
    stored_client.post("/v1/feedback", json={"list_id": told["list_id"], "gains": [0.0, 0.5, 0.0]})
    assert stored_client.get(f"/v1/lists/{told['list_id']}").json()["reasons"] is None
    found = stored_client.get(f"/v1/lists/{told['list_id']}?explain=true").json()
    assert found["items"] == told["items"]
    assert found["candidates"] == 8
    assert found["feedback"]["gains"] == [0.0, 0.5, 0.0]
    picks = found["reasons"]["picks"]
    assert [pick["item"] for pick in picks] == [item["id"] for item in told["items"]]
    assert sum(picks[1]["contributions"].values()) == pytest.approx(picks[1]["score"], abs=1e-6)
    assert {one["item"] for one in found["reasons"]["skipped"]}.isdisjoint(pick["item"] for pick in picks)


def test_statistics_add_up(opened, store, asked):
    client = opened(store=store)
    told = [client.post("/v1/lists", json=asked(seed=seed)).json() for seed in range(6)]
    for i, one in enumerate(told[:4]):
        clicks = [one["items"][0]["id"]] if i else []
        client.post("/v1/feedback", json={"list_id": one["list_id"], "clicks": clicks})
    stats = client.get("/v1/stats").json()
    assert (stats["lists"], stats["answered"], stats["failures"], stats["failure_rate"]) == (6, 4, 1, 0.25)
    assert stats["low"] < 0.25 < stats["high"]
    points = client.get("/v1/stats/series").json()["points"]
    assert sum(point["lists"] for point in points) == 6
    assert sum(point["failures"] for point in points) == 1
    first, second, _ = client.get("/v1/stats/positions").json()["positions"]
    assert (first["gain"], first["answered"], second["gain"]) == (0.75, 4, 0.0)
    recent = client.get("/v1/lists?limit=3").json()["lists"]
    assert [one["list_id"] for one in recent] == [one["list_id"] for one in told[:2:-1]]
    assert [one["failed"] for one in recent] == [None, None, False]
    older = client.get(f"/v1/lists?before={recent[-1]['list_id']}").json()["lists"]
    assert [one["list_id"] for one in older] == [one["list_id"] for one in told[2::-1]]


def test_everything_is_there_after_a_restart(opened, store, asked):
    client = opened(store=store)
    told = client.post("/v1/lists", json=asked()).json()
    client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": []})
    client.stop()
    again = opened(store=store)
    assert again.get("/v1/stats").json()["failures"] == 1
    assert again.get(f"/v1/lists/{told['list_id']}").json()["items"] == told["items"]
    later = again.post("/v1/lists", json=asked()).json()
    answer = again.post("/v1/feedback", json={"list_id": later["list_id"], "clicks": []})
    assert answer.json()["event"] == 2


def test_old_lists_are_forgotten_and_sums_stay(opened, store, asked):
    client = opened(store=store)
    told = client.post("/v1/lists", json=asked()).json()
    client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": []})
    client.stop()
    again = opened(store=store, keep_days=1e-9)
    again.until(lambda: again.get(f"/v1/lists/{told['list_id']}").status_code == 404)
    assert again.get("/v1/stats").json()["failures"] == 1


def test_health(stored_client):
    assert stored_client.get("/healthz").json() == {"status": "ok"}
    assert stored_client.get("/readyz").json() == {"status": "ready"}


def test_metrics_count(opened, asked):
    client = opened()
    client.post("/v1/lists", json=asked())
    text = client.get("/metrics").text
    assert 'listwright_lists_total{version="1"} 1.0' in text
    assert 'listwright_requests_total{method="POST",route="/v1/lists",status="200"} 1.0' in text


def test_a_model_with_a_users_own_parts_is_served_where_they_are_trusted(opened, asked, tmp_path):
    own = "tests.storage.own_parts:Powers"
    problems = small_problems(60, 8, feature_names=["price", "speed", "weight"])
    path = tmp_path / "own.listwright"
    lw.SCP(3, features=Candidate() + Powers(), random_state=0).fit(problems).save(path)
    octets = {"Content-Type": "application/octet-stream"}
    answer = opened().post("/v1/models", content=path.read_bytes(), headers=octets)
    assert answer.status_code == 422
    assert answer.json()["error"]["message"].endswith(f"pass --trust {own}")
    trusting = opened(model=path, trust=own, store=f"sqlite:///{tmp_path}/other.db")
    assert len(trusting.post("/v1/lists", json=asked()).json()["items"]) == 3
    assert trusting.post("/v1/models", content=path.read_bytes(), headers=octets).status_code == 201


def test_a_limit_on_groups_holds(stored_client, asked):
    client, request = stored_client, asked(8, per_group=1)
    for i, item in enumerate(request["items"]):
        item["group"] = "ab"[i % 2]
    answer = client.post("/v1/lists", json=request).json()
    groups = {item["id"]: item["group"] for item in request["items"]}
    assert sorted(groups[item["id"]] for item in answer["items"]) == ["a", "b"]
    del request["items"][3]["group"]
    refused = client.post("/v1/lists", json=request)
    assert refused.status_code == 422
    assert refused.json()["error"]["field"] == "items.3.group"
