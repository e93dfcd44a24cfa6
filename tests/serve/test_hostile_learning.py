"""One request, whatever its numbers, cannot destroy what was learned; and whatever was learned can be undone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from listwright.serve import new_key
from listwright.serve.learning.progress import events_after


def extreme(size):
    signs = (1, -1, 1), (-1, 1, -1), (1, 1, -1), (-1, -1, 1)
    items = [{"id": f"x{i}", "features": [size * sign for sign in row]} for i, row in enumerate(signs)]
    return {"items": items, "length": 3}


def told(client, request, clicked):
    answer = client.post("/v1/lists", json=request).json()
    clicks = [item["id"] for item in answer["items"][:clicked]]
    assert client.post("/v1/feedback", json={"list_id": answer["list_id"], "clicks": clicks}).status_code == 200
    return answer


def learned_all(client):
    def done():
        found = client.get("/v1/stats").json()["learning"]
        return found["applied"] >= found["events"]

    client.until(done)
    return client.get("/v1/learning").json()["versions"][0]


def test_features_out_of_range_are_clipped_and_never_learned_from(opened, store, asked, learn):
    client = opened(store=store, learn=True)
    for event, size in enumerate((100.0, 1e9, 1e30, 1e38, 3.4e38), start=1):
        answer = told(client, extreme(size), 1)
        assert len(answer["items"]) == 3
        assert answer["clipped"] == 12
        learn(client)
        status = client.get("/v1/learning").json()["versions"][0]
        assert (status["lists"], status["applied"], status["quarantined"]) == (0, event, 0)
        assert client.get(f"/v1/lists/{answer['list_id']}").json()["learned_from"] is False
        assert f'listwright_out_of_range_total{{action="clipped",version="1"}} {event}.0' in client.get("/metrics").text
    assert len(client.post("/v1/lists", json=asked(8)).json()["items"]) == 3
    assert client.get("/readyz").status_code == 200


def test_features_out_of_range_can_be_refused(opened, asked):
    client = opened(out_of_range="refuse")
    answer = client.post("/v1/lists", json=extreme(100.0))
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["field"]) == (422, "out_of_range", "items.0.features.price")
    assert client.post("/v1/lists", json=asked(8)).status_code == 200
    assert 'listwright_out_of_range_total{action="refused",version=""} 1.0' in client.get("/metrics").text


class Nothing:
    """What a policy gives whose numbers are broken: no list at all, or one with scores that are none."""

    def __init__(self, scores):
        self.picked_scores = scores

    def __getitem__(self, which):
        return np.arange(0 if self.picked_scores is None else 1)

    def recommend(self, *arguments, **options):
        return self


@pytest.mark.parametrize("scores", [None, np.array([[np.nan]])])
def test_where_the_learned_policy_gives_no_list_the_deployed_one_does(opened, asked, learn, scores):
    client = opened(learn=True)
    told(client, asked(8), 1)
    learn(client)
    registry = client.service.registry
    assert registry.loaded[1].published is not None
    registry.loaded = {1: replace(registry.loaded[1], online=Nothing(scores))}
    assert len(client.post("/v1/lists", json=asked(8)).json()["items"]) == 3
    assert 'listwright_fallbacks_total{version="1"} 1.0' in client.get("/metrics").text


def test_the_whole_state_is_stored_now_and_then_and_never_with_every_update(opened, store, asked, learn, monkeypatch):
    """What was learned since is in the feedback itself."""
    client = opened(store=store, learn=True, snapshot_every=3)

    def snapshots(lists):
        for seed in range(lists):
            told(client, asked(8, seed=seed), 1)
            learn(client)
        return [one["count"] for one in client.get("/v1/learning").json()["versions"][0]["snapshots"]]

    assert sorted(snapshots(7)) == [0, 3, 6]
    monkeypatch.setattr("listwright.serve.learning.updater.BYTES_A_SECOND", 1e-9)  # as if it were large
    assert sorted(snapshots(7)) == [0, 3, 6]


def test_what_was_learned_can_be_frozen_reset_and_rolled_back(opened, store, asked):
    client = opened(store=store, learn=True, snapshot_every=3)
    for seed in range(6):
        told(client, asked(8, seed=seed), 1)
    status = learned_all(client)
    assert (status["lists"], status["serves_learned"]) == (6, True)
    kept = next(one for one in status["snapshots"] if one["reason"] == "as deployed")
    frozen = client.post("/v1/learning", json={"action": "freeze"}).json()["versions"][0]
    assert frozen["state"] == "frozen"
    told(client, asked(8, seed=7), 1)
    assert client.get("/v1/learning").json()["versions"][0]["lists"] == 6
    client.post("/v1/learning", json={"action": "resume"})
    assert learned_all(client)["lists"] == 7
    back = client.post("/v1/learning", json={"action": "rollback", "snapshot": kept["number"]}).json()["versions"][0]
    assert (back["lists"], back["serves_learned"]) == (0, False)
    told(client, asked(8, seed=8), 1)
    assert learned_all(client)["lists"] == 1
    assert client.post("/v1/learning", json={"action": "reset"}).json()["versions"][0]["lists"] == 0
    assert client.post("/v1/learning", json={"action": "rollback", "snapshot": 999}).status_code == 404


def test_a_key_counts_for_no_more_than_all_others_together(opened, store, asked, tmp_path, learn):
    path = tmp_path / "keys.json"
    keys = {name: new_key("admin", path, name=name) for name in ("loud", "quiet")}
    client = opened(store=store, learn=True, keys=path)

    def tell(name, seed):
        headers = {"Authorization": f"Bearer {keys[name]}"}
        answer = client.post("/v1/lists", json=asked(8, seed=seed), headers=headers).json()
        body = {"list_id": answer["list_id"], "clicks": [answer["items"][0]["id"]]}
        assert client.post("/v1/feedback", json=body, headers=headers).status_code == 200

    for seed in range(10):
        tell("loud" if seed < 8 else "quiet", seed)
    for seed in range(10, 14):
        tell("loud", seed)
    with client.service.database.reading.connect() as connection:
        events = events_after(connection, 1, 0, 100)
    weights = [event.update().weight for event in events]
    assert weights[:10] == [1.0] * 10  # alone at first; then the quiet one has sent less than the others
    assert weights[10:] == [2 / own for own in (9, 10, 11, 12)]
    learn(client)
    online, plain = (client.service.updater._fresh(1) for _ in range(2))
    online.update([event.update() for event in events])
    plain.update([replace(event.update(), weight=1.0) for event in events])
    learned = client.service.registry.get(1).online.playing_.policy.weights
    np.testing.assert_array_equal(learned, online.playing_.policy.weights)
    assert not np.array_equal(learned, plain.playing_.policy.weights)


def test_nobody_takes_the_idempotency_key_of_another_api_key(opened, store, asked, tmp_path):
    """Who knows the id of somebody else's list can add to its feedback, and cannot keep theirs out."""
    path = tmp_path / "keys.json"
    owner, other = ({"Authorization": f"Bearer {new_key('admin', path, name=name)}"} for name in ("owner", "other"))
    client = opened(store=store, keys=path)
    answer = client.post("/v1/lists", json=asked(8), headers=owner).json()

    def tell(headers, clicks):
        body = {"list_id": answer["list_id"], "clicks": [answer["items"][place]["id"] for place in clicks]}
        told = client.post("/v1/feedback", json=body, headers=headers)
        return told.status_code, told.json().get("event"), told.json().get("duplicate")

    assert tell(other, []) == (200, 1, False)
    assert tell(owner, [1]) == (200, 2, False)
    assert tell(owner, [1]) == (200, 2, True)
    assert tell(owner, [2])[0] == tell(other, [2])[0] == 409
    found = client.get(f"/v1/lists/{answer['list_id']}", headers=owner).json()
    assert found["feedback"]["gains"] == [0.0, 1.0, 0.0]


def test_replicas_follow_traffic_and_what_was_learned(opened, store, asked, other_file):
    first, second = opened(store=store, learn=True), opened(store=store)
    for seed in range(5):
        told(first, asked(8, seed=seed), 1)
    learned_all(first)
    headers = {"Content-Type": "application/octet-stream"}
    assert first.post("/v1/models", content=other_file.read_bytes(), headers=headers).status_code == 201
    second.until(lambda: second.service.registry.loaded[1].state >= 5)
    first.put("/v1/traffic", json={"current": 2})
    second.until(lambda: second.post("/v1/lists", json=asked(8)).json()["model_version"] == 2)
