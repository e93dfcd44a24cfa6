"""From a log to a second rollout: caps, pinned and blocked items, users who stay, a candidate, export and fit."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import msgspec
import numpy as np
import polars as pl
import pytest
from sklearn.ensemble import ExtraTreesRegressor

import listwright as lw
from listwright.cli import main
from listwright.errors import InputError
from listwright.feedback.off_policy.evidence import evidence, gains_of
from listwright.feedback.off_policy.targets import as_target
from listwright.serve import Settings
from listwright.serve.bodies import BINARY
from listwright.serve.export import export
from listwright.serve.learning.control import CandidateTrial
from listwright.serve.messages import ListQuery, ListRequest
from listwright.serve.models.building import build_together
from listwright.serve.refusals import Refused
from listwright.serve.store.records import ServedList
from listwright.serve.store.schema import lists


def clicks(told, items):
    """Visitors like cheap items."""
    price = {item["id"]: item["features"][0] for item in items}
    return [item["id"] for item in told["items"] if price[item["id"]] < 0.4]


def expensive(told, items):
    """Visitors like what the first model shows."""
    price = {item["id"]: item["features"][0] for item in items}
    return [item["id"] for item in told["items"] if price[item["id"]] > 0.6]


def talk(client, asked, count, seed=0, **rules):
    """Lists with feedback; the answers."""
    told = []
    for i in range(count):
        request = asked(8, seed=seed + i)
        if rules.pop("groups", False) or "per_group" in rules:
            for j, item in enumerate(request["items"]):
                item["group"] = "ab"[j % 2]
        answer = client.post("/v1/lists", json=request | rules).json()
        client.post("/v1/feedback", json={"list_id": answer["list_id"], "clicks": clicks(answer, request["items"])})
        told.append(answer)
    return told


def test_the_walk_from_a_log_to_a_second_rollout(opened, asked, tmp_path, capsys):
    store, ids = f"sqlite:///{tmp_path}/shop.db", [item["id"] for item in asked(8, seed=0)["items"]]
    client = opened(store=store, learn=True, explore="epsilon", explore_floor=0.2)
    talk(client, asked, 60)
    capped = talk(client, asked, 20, seed=100, per_group=2)
    pinned = talk(client, asked, 20, seed=200, pinned=[ids[5]], blocked=[ids[0]])
    assert all(one["items"][0]["id"] == ids[5] and one["items"][0]["propensity"] == 1.0 for one in pinned)
    assert not any(item["id"] == ids[0] for one in pinned for item in one["items"])
    assert all(len(one["items"]) == 3 for one in capped)
    assert export(store, tmp_path / "log.parquet") == 100
    log = lw.feedback.Log.from_parquet(tmp_path / "log.parquet")
    problems = log.answered_lists().problems
    assert set(problems.quotas.pinned.tolist()) == {-1, 0, 1}
    groups = pl.read_parquet(tmp_path / "log.parquet")["group"]
    assert set(groups.drop_nulls()) == {"a", "b"}  # null in lists without groups, whatever stands beside them
    second = lw.OnlineSCP(3, random_state=0).fit_log(log)
    lists = second.predict(problems)
    held = [set(np.where(row >= 0, row, -1).tolist()) for row in lists.rows]
    assert all(rows.isdisjoint(np.flatnonzero(problems.quotas.pinned < 0).tolist()) for rows in held)
    # a policy is asked what it would have shown under the same rules: the pinned item costs no evidence
    seen = evidence(gains_of(log.answered_lists(), cascade=False, value="sum"), as_target(second.predict))
    promoted = np.isin(log.answered_lists().list_ids, [one["list_id"] for one in pinned])
    assert (seen.ratios[promoted, 0] == 1.0).all()
    for arguments in (
        ["fit", "--log", str(tmp_path / "log.parquet"), "--length", "3", "-o", str(tmp_path / "second.listwright")],
        ["evaluate", str(tmp_path / "second.listwright"), "--log", str(tmp_path / "log.parquet")],
        ["plan", str(tmp_path / "second.listwright"), "--log", str(tmp_path / "log.parquet"), "--difference", "0.5"],
    ):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0
    assert "Show the candidate in" in capsys.readouterr().out
    again = opened(store=f"sqlite:///{tmp_path}/second.db", model=tmp_path / "second.listwright", learn=True)
    assert len(talk(again, asked, 3, per_group=2, pinned=[ids[5]])) == 3


def test_quotas_of_a_request_hold_both_ways(opened, asked):
    client = opened()
    for quotas, least in (({"b": [2, 2]}, 2), ([1, 2], 1), ({"a": 1}, 2)):
        for answer in talk(client, asked, 3, per_group=quotas):
            ids = [item["id"] for item in asked(8)["items"]]
            groups = ["ab"[ids.index(item["id"]) % 2] for item in answer["items"]]
            assert len(groups) == 3
            assert groups.count("b") >= least
    assert client.post("/v1/lists", json=asked(8) | {"per_group": {"b": [2, 1]}}).status_code == 422


PATHS = [["home", "lamps"], ["home", "rugs"], ["work", "desks"], ["work", 7]] * 2


def nested(request, per_group):
    """The request with groups of two levels."""
    for item, path in zip(request["items"], PATHS, strict=True):
        item["group"] = path
    return request | {"per_group": per_group}


def test_quotas_of_nested_groups_hold_and_are_kept_in_the_log(opened, asked, model_file, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "listwright.serve.export.AT_ONCE", 5
    )  # batches of lists with one level, with two, and with none
    store = f"sqlite:///{tmp_path}/store.db"
    client = opened(store=store)
    rules = [[2, 1], [{"work": [2, 3]}, {"7": 0}], [[1, 2], {}], [{"home": 0}, 2]]
    for seed in range(24):
        request = asked(8, seed=seed)
        if seed % 3 == 1:
            request = nested(request, rules[seed % 4])
        elif seed % 3 == 2:
            items = [item | {"group": "abc"[j % 3]} for j, item in enumerate(request["items"])]
            request = request | {"per_group": 1, "items": items}
        told = client.post("/v1/lists", json=request).json()
        client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": clicks(told, request["items"])})
        if seed % 3 == 1:
            group = {item["id"]: item["group"] for item in request["items"]}
            coarse, fine = (Counter(group[item["id"]][level] for item in told["items"]) for level in (0, 1))
            assert sum(coarse.values()) == 3
            assert [
                max(coarse.values()) <= 2 and max(fine.values()) == 1,
                coarse["work"] >= 2 and not fine[7],
                min(coarse["home"], coarse["work"]) == 1,
                not coarse["home"] and max(fine.values()) <= 2,
            ][seed % 4]
    assert export(store, tmp_path / "log.parquet") == 24
    log = lw.feedback.Log.from_parquet(tmp_path / "log.parquet")
    answered = log.answered_lists()
    assert answered.problems.quotas.groups.shape[1] == 2
    # The model shows the same lists again only under the same quotas.
    policy = as_target(lw.load(model_file).predict)
    seen = evidence(gains_of(answered, cascade=False, value="sum"), policy)
    assert (seen.ratios[answered.rows >= 0] == 1.0).all()
    free = replace(answered, problems=answered.problems._with(quotas=None))
    seen = evidence(gains_of(free, cascade=False, value="sum"), policy)
    assert not (seen.ratios[free.rows >= 0] == 1.0).all()
    again = lw.feedback.Log.from_frame(log.to_frame()).answered_lists().problems.quotas
    for name, array in answered.problems.quotas.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array)


def test_quotas_of_nested_groups_hold_in_batches_and_binary_bodies(opened, asked):
    client = opened()
    requests = [nested(asked(8, seed=seed), [{"work": [2, 2]}, {"7": 0}]) for seed in range(3)]
    answers = client.post("/v1/lists:batch", json={"lists": [*requests, asked(8)]}).json()["lists"][:3]
    for request in requests:
        head = {name: value for name, value in request.items() if name != "items"}
        head |= {"ids": [item["id"] for item in request["items"]], "groups": PATHS}
        text = json.dumps(head).encode()
        table = np.array([item["features"] for item in request["items"]], dtype="<f4")
        body = len(text).to_bytes(4, "little") + text + table.tobytes()
        answers.append(client.post("/v1/lists", content=body, headers={"Content-Type": BINARY}).json())
    for request, told in zip(requests * 2, answers, strict=True):
        group = dict(zip((item["id"] for item in request["items"]), PATHS, strict=True))
        groups = [group[item["id"]] for item in told["items"]]
        assert len(groups) == 3
        assert groups.count(["work", "desks"]) == 2
        assert groups.count(["work", 7]) == 0
    refused = client.post("/v1/lists:batch", json={"lists": [asked(8), nested(asked(8), 2)]})
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "lists.1.per_group")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"per_group": 2}, "per_group"),
        ({"per_group": {"home": 1}}, "per_group"),
        ({"per_group": [1]}, "per_group"),
        ({"per_group": [1, 1, 1]}, "per_group"),
        ({"per_group": [1, None]}, "per_group"),
        ({"per_group": [1, [1, 2, 3]]}, "per_group.1"),
        ({"per_group": [1, -1]}, "per_group.1"),
        ({"per_group": [1, "many"]}, "per_group.1"),
        ({"per_group": []}, "per_group"),
        ({"per_group": [{"work": [3, 2]}, 1]}, "items"),
        ({"per_group": [{"work": [3, 3]}, {}], "length": 2}, "items"),
        ({"group": ["home"]}, "items.2.group"),
        ({"group": "home"}, "items.2.group"),
        ({"group": []}, "items.2.group"),
        ({"group": ["work", "lamps"]}, "items"),  # lamps are at home
        ({"group": [["work"], "desks"]}, "items.2.group.0"),
        ({"group": None}, "items.2.group"),
    ],
)
def test_wrong_quotas_of_nested_groups_are_refused(opened, asked, change, field):
    request = nested(asked(8), [2, 1])
    if "group" in change:
        request["items"][2]["group"] = change["group"]
    else:
        request |= change
    answer = opened().post("/v1/lists", json=request)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)


def test_groups_of_one_level_take_no_quotas_by_level(opened, asked):
    request = asked(8)
    for item in request["items"]:
        item["group"] = "home"
    for wrong in ([1, {"home": 1}], [[0, 1], [0, 1]], [1], [1, 1, 1]):
        answer = opened().post("/v1/lists", json=request | {"per_group": wrong})
        assert (answer.status_code, answer.json()["error"]["field"]) == (422, "per_group")


def priced(request, seed, **budgets):
    """The request under these budgets, with what each item uses of them."""
    rng = np.random.default_rng(seed)
    for item in request["items"]:
        item["uses"] = {name: float(rng.random()) for name in ("minutes", "price")}
    return request | {"budgets": budgets}


def test_further_budgets_hold_and_are_kept_in_the_log(opened, asked, model_file, tmp_path, monkeypatch):
    monkeypatch.setattr("listwright.serve.export.AT_ONCE", 7)  # batches with and without sizes, budgets and groups
    store = f"sqlite:///{tmp_path}/store.db"
    client = opened(store=store)
    limits = [{}, {"minutes": 1.0}, {"minutes": 0.9, "price": 1.2}]
    for seed in range(30):
        request = asked(8, seed=seed)
        request = priced(request, seed, **limits[seed % 3]) if seed % 3 else request
        if seed % 4 == 0:
            request["budget"] = 2.5
        for item in request["items"] if seed % 2 == 0 else ():
            item["size"] = 1.0
        told = client.post("/v1/lists", json=request).json()
        used = {item["id"]: item.get("uses") for item in request["items"]}
        for name, most in limits[seed % 3].items():
            assert sum(used[item["id"]][name] for item in told["items"]) <= most
        client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": clicks(told, request["items"])})
    assert export(store, tmp_path / "log.parquet") == 30
    answered = lw.feedback.Log.from_parquet(tmp_path / "log.parquet").answered_lists()
    assert np.isfinite(answered.problems.quotas.budgets[answered.problems.offsets[:-1]]).sum() == 30
    # The model shows the same lists again only under the same budgets.
    policy = as_target(lw.load(model_file).predict)
    seen = evidence(gains_of(answered, cascade=False, value="sum"), policy)
    assert (seen.ratios[answered.rows >= 0] == 1.0).all()


def test_what_each_item_uses_must_be_said(opened, asked):
    client = opened()
    request = priced(asked(8), 0, minutes=1.0)
    request["items"][3]["uses"] = {"price": 1.0}
    answer = client.post("/v1/lists", json=request)
    assert (answer.status_code, answer.json()["error"]["field"]) == (422, "items.3.uses.minutes")
    for wrong in ({"minutes": -1}, {"minutes": "much"}, {str(i): 1 for i in range(17)}, 5):
        assert client.post("/v1/lists", json=asked(8) | {"budgets": wrong}).status_code == 422


def test_rules_that_cannot_be_kept_are_refused(opened, asked):
    client = opened()
    for rule in ("pinned", "blocked"):
        answer = client.post("/v1/lists", json=asked(8) | {rule: ["nobody"]})
        assert answer.status_code == 422
        assert rule in answer.text


def test_a_user_stays_with_a_version(opened, asked, fitted, tmp_path):
    fitted(1).save(tmp_path / "other.listwright")
    client = opened(models={"other": tmp_path / "other.listwright"}, candidate="other", loss_budget=0.5)
    client.until(lambda: client.service.registry.of("default").canary is not None)
    seen = {
        user: {
            client.post("/v1/lists", json=asked(8, seed=i) | {"user": user}).json()["model_version"] for i in range(4)
        }
        for user in map(str, range(12))
    }
    assert all(len(versions) == 1 for versions in seen.values())
    assert len(set.union(*seen.values())) == 2


def test_users_stay_with_their_version_over_restarts(opened, asked, fitted, tmp_path):
    fitted(1).save(tmp_path / "other.listwright")
    settings = {"store": f"sqlite:///{tmp_path}/users.db", "candidate": "other", "loss_budget": 0.4}
    settings["models"] = {"other": tmp_path / "other.listwright"}
    seen = {}
    for start in range(3):
        client = opened(**settings)
        client.until(lambda client=client: client.service.registry.of("default").canary is not None)
        for user in range(25):
            told = client.post("/v1/lists", json=asked(8, seed=start) | {"user": f"user {user}"}).json()
            seen.setdefault(user, set()).add(told["model_version"])
        client.stop()
    assert all(len(versions) == 1 for versions in seen.values())
    assert len(set.union(*seen.values())) == 2


def test_a_candidate_is_tried_until_the_feedback_decides(opened, asked, fitted, tmp_path, monkeypatch):
    monkeypatch.setattr("listwright.serve.learning.control.PAUSE", 0.01)
    fitted(1).save(tmp_path / "other.listwright")
    client = opened(models={"other": tmp_path / "other.listwright"}, candidate="other", loss_budget=0.5)
    traffic = client.service.registry.of
    client.until(lambda: traffic("default").canary is not None)
    current, candidate = traffic("default").current, traffic("default").canary
    assert traffic("default").share == 0.5
    for i in range(120):
        told = client.post("/v1/lists", json=asked(8, seed=i)).json()
        good = told["model_version"] == current
        items = [item["id"] for item in told["items"]] if good else []
        client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": items[: 1 + i % 2]})
    client.until(lambda: traffic("default").canary is None)
    assert traffic("default").current == current != candidate


def test_an_item_cannot_be_pinned_and_blocked_at_once(opened, asked):
    body = asked(4)
    name = body["items"][1]["id"]
    told = opened().post("/v1/lists", json=body | {"pinned": [name], "blocked": [name]})
    assert told.status_code == 422
    assert told.json()["error"]["message"] == f"The item {name} cannot be pinned and blocked at once."


@pytest.mark.parametrize(("asked_for", "least"), [({"explore_rate": 1.0}, 1 / 8), ({"explore_floor": 0.4}, 0.4 / 8)])
def test_a_service_explores_without_learning(opened, asked, tmp_path, asked_for, least):
    client = opened(learn=False, **asked_for)
    for i in range(20):
        client.post("/v1/lists", json=asked(8, seed=i))
    export(client.service.settings.store, tmp_path / "log.parquet")
    first = pl.read_parquet(tmp_path / "log.parquet").filter(pl.col("position") == 1)["propensity"]
    assert set(first.round(6).to_list()) <= {round(least, 6), round(least + 1 - least * 8, 6)}


def test_settings_of_exploration(tmp_path):
    for wrong, message in [
        ({"explore_floor": 2.0}, "explore-floor must be from 0 to 1"),
        ({"explore_rate": -1.0}, "explore-rate must be from 0 to 1"),
        ({"explore_slots": "some"}, "explore-slots must be all or one"),
        ({"candidate": "none"}, "candidate names one of the models"),
        ({"candidate_by": "items"}, "candidate-by must be lists or slots"),
        ({"candidate_by": "slots", "explore_slots": "one"}, "Leave out --explore-slots one"),
        ({"loss_budget": 0.0}, "loss-budget must be above 0"),
    ]:
        with pytest.raises(InputError, match=message):
            Settings(tmp_path / "model", **wrong).check()


def test_ids_of_a_catalogue_that_are_numbers_are_no_places_in_it(opened, tmp_path, caplog):
    rng, rows = np.random.default_rng(0), []
    for i in range(60):
        rows += [(i, int(item), j, float(item > 3)) for j, item in enumerate(rng.permutation(6)[:2])]
    frame = pl.DataFrame(rows, schema=["request_id", "item_id", "rank", "clicked"], orient="row")
    lw.OnlineSCP(2, random_state=0).fit_log(lw.feedback.Log.from_frame(frame, catalogue="item_id")).save(
        tmp_path / "numbers.listwright"
    )
    client = opened(model=tmp_path / "numbers.listwright", store=f"sqlite:///{tmp_path}/numbers.db", learn=False)
    assert "cannot build a list" not in caplog.text  # the lists that warm it up have no item twice
    for names in ([0, 4, 1, 5], ["5", "4", 3, 2], [3, 2, 5, 4], [7, 5, 4, 0]):
        items = [{"id": name, "features": {}, "catalogue": name} for name in names]
        told = client.post("/v1/lists", json={"items": items}).json()["items"]
        assert {int(item["id"]) for item in told} >= {4, 5}


def test_items_of_a_catalogue_are_named_over_http(opened, tmp_path):
    rng, rows = np.random.default_rng(0), []
    for i in range(60):
        for j, item in enumerate(rng.permutation(6)):
            shown = j < 2
            rows.append((f"r{i}", f"p{item}", j + 1 if shown else None, float(item > 3) if shown else None))
    frame = pl.DataFrame(rows, schema=["request_id", "item_id", "rank", "clicked"], orient="row")
    lw.OnlineSCP(2, random_state=0).fit_log(lw.feedback.Log.from_frame(frame, catalogue="item_id")).save(
        tmp_path / "named.listwright"
    )
    client = opened(model=tmp_path / "named.listwright", store=f"sqlite:///{tmp_path}/named.db", learn=True)

    def ask(names):
        items = [{"id": f"x{i}", "features": [], "catalogue": name} for i, name in enumerate(names)]
        return client.post("/v1/lists", json={"items": items}).json()

    shown = [{item["id"] for item in ask(["p0", "p5", "p1", "p4"])["items"]} for _ in range(20)]
    assert shown.count({"x1", "x3"}) > 12
    assert any("x0" in {item["id"] for item in ask(["brand new", "p0", "p1", "p5"])["items"]} for _ in range(30))
    export(f"sqlite:///{tmp_path}/named.db", tmp_path / "named.parquet")
    names = set(pl.read_parquet(tmp_path / "named.parquet")["catalogue"].to_list())
    assert {"p0", "brand new"} <= names


def test_a_model_that_goes_on_learning_takes_new_items_over_http(opened, tmp_path):
    rng = np.random.default_rng(0)
    rows = [(i, f"p{j}", rng.random(), int(rng.random() < 0.4)) for i in range(60) for j in range(5)]
    frame = pl.DataFrame(rows, schema=["list", "item", "price", "ok"], orient="row")
    trees = lw.SCP(2, learner=ExtraTreesRegressor(10, random_state=0), random_state=0)
    options = {"problem": "list", "item": "item", "catalogue": "item", "features": ["price"], "reward": "any:ok"}
    one_column = lw.SCP(2, features=lw.features.BestColumn(), random_state=0)
    for model in (trees.fit(frame, **options), one_column.fit(frame, **options)):
        kind = type(model.training_.learner).__name__
        model.save(tmp_path / kind)
        client = opened(model=tmp_path / kind, store=f"sqlite:///{tmp_path}/{kind}.db", learn=True, explore_rate=1.0)
        items = [{"id": name, "features": {"price": 0.5}, "catalogue": name} for name in ("p0", "brand new", "p1")]
        answers = [client.post("/v1/lists", json={"items": items}) for _ in range(15)]
        assert {answer.status_code for answer in answers} == {200}
        assert any(item["id"] == "brand new" for answer in answers for item in answer.json()["items"])


def test_the_log_of_a_trial_tells_of_both_versions(opened, asked, fitted, tmp_path):
    fitted(1).save(tmp_path / "other.listwright")
    store, other = f"sqlite:///{tmp_path}/trial.db", tmp_path / "other.listwright"
    client = opened(store=store, models={"other": other}, candidate="other", loss_budget=0.5)
    client.until(lambda: client.service.registry.of("default").canary is not None)
    talk(client, asked, 120)
    export(store, tmp_path / "trial.parquet")
    log = lw.feedback.Log.from_parquet(tmp_path / "trial.parquet")
    chances = np.nanprod(log.answered_lists().propensities, axis=1)
    assert set(np.round(chances, 6)) <= {0.5, 1.0}  # lists of one of them, and those on which they agree
    found = lw.feedback.compare(log, {"other": lw.load(other).predict, "now": "logged"})
    assert found.differences["other"].effective_size > 40
    assert not np.isnan(found.differences["other"].low)


def test_the_propensities_of_slots_are_those_of_all_ways_to_draw_them(opened, asked, fitted, tmp_path, monkeypatch):
    fitted(1).save(tmp_path / "other.listwright")
    other = {"models": {"other": tmp_path / "other.listwright"}, "candidate": "other", "candidate_by": "slots"}
    client = opened(**other, loss_budget=0.3)
    traffic = client.service.registry.of
    client.until(lambda: traffic("default").canary is not None)
    share, pinned = traffic("default").share, asked(8)["items"][5]["id"]
    for rules in ({}, {"pinned": [pinned]}, {"per_group": 2}):
        request = asked(8, seed=2) | rules
        for j, item in enumerate(request["items"] if "per_group" in rules else []):
            item["group"] = "ab"[j % 2]
        chances, told = {}, {}
        for coins in product([0.0, 1.0], repeat=3):
            drawn = np.array([[*coins, *[1.0] * 5]])  # below the share: the candidate's
            monkeypatch.setattr("listwright.serve.models.building.uniforms", lambda *_, drawn=drawn: drawn)
            answer = client.post("/v1/lists", json=request).json()
            shown = tuple(item["id"] for item in answer["items"])
            chances[shown] = chances.get(shown, 0.0) + np.prod([share if coin == 0 else 1 - share for coin in coins])
            told[shown] = np.prod([item["propensity"] for item in answer["items"]])
            assert answer["model_version"] == traffic("default").current
        assert len(chances) > 2
        assert told == pytest.approx(chances)


def test_a_candidate_is_tried_slot_by_slot(opened, asked, fitted, tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.clicks", expensive)
    other, store = tmp_path / "other.listwright", f"sqlite:///{tmp_path}/slots.db"
    fitted(1).save(other)
    before = opened(store=store)
    talk(before, asked, 5)  # without the candidate: they say nothing of it
    before.stop()
    client = opened(store=store, models={"other": other}, candidate="other", candidate_by="slots", loss_budget=1.5)
    traffic = client.service.registry.of
    client.until(lambda: traffic("default").canary is not None)
    versions = traffic("default").current, traffic("default").canary  # the trial may end on the way
    talk(client, asked, 300, seed=10)
    monkeypatch.setattr("listwright.serve.learning.control.AT_ONCE", 1)  # lists after the verdict could change it
    trial, more = CandidateTrial(client.service, b""), True
    with client.service.database.reading.connect() as connection:
        while more and trial.test.verdict == "cannot tell":
            more = trial._read(connection, *versions)
    assert trial.test.verdict == "do not roll out"
    export(store, tmp_path / "slots.parquet")
    log = lw.feedback.Log.from_parquet(tmp_path / "slots.parquet")
    found = lw.feedback.compare(log, {"other": lw.load(other).predict, "now": "logged"})
    assert found.differences["other"].verdict != "roll out"  # how many lists match whole depends on what was drawn
    assert found.estimates["other"].value < found.estimates["now"].value


def _drawn_query(rng):
    """A request with some of the constraints that there are, drawn at random; some cannot be met."""
    count = int(rng.integers(1, 9))
    items = [{"id": f"i{i}", "features": row} for i, row in enumerate(rng.random((count, 3)).tolist())]
    asked = {"items": items, "length": int(rng.integers(1, 5))}
    if rng.random() < 0.3:
        asked |= {"per_group": int(rng.integers(1, 3))}
    if "per_group" in asked or rng.random() < 0.2:
        items[:] = [item | {"group": "ab"[rng.integers(2)]} for item in items]
    if rng.random() < 0.3:
        items[:] = [item | {"size": float(rng.integers(1, 4))} for item in items]
        asked |= {"budget": float(rng.integers(1, 6))} if rng.random() < 0.5 else {}
    if rng.random() < 0.2:
        items[:] = [item | {"uses": {"time": float(rng.integers(0, 3))}} for item in items]
        asked |= {"budgets": {"time": float(rng.integers(0, 4))}}
    for name in ("pinned", "blocked"):
        if rng.random() < 0.2:
            asked |= {name: [f"i{rng.integers(9)}"]}
    return msgspec.convert(asked, ListRequest)


def test_lists_that_are_built_together_are_the_same_as_alone_and_are_read_back(client):
    rng, service = np.random.default_rng(5), client.service
    for _ in range(10):
        queries = [ListQuery.of(_drawn_query(rng)) for _ in range(24)]
        results = build_together(queries, service.registry, service.limits)
        for query, result in zip(queries, results, strict=True):
            alone = build_together([query], service.registry, service.limits)[0]
            assert type(result) is type(alone)
            if isinstance(result, Refused):
                assert (result.message, result.field) == (alone.message, alone.field)
                continue
            assert result.answer.items == alone.answer.items
            row = SimpleNamespace(**dict(zip(lists.c.keys(), result.served.row(), strict=True)))
            stored, served = ServedList.read(row), result.served
            assert (stored.items, stored.budget) == (served.items, served.budget)
            assert stored.candidates.groups == served.candidates.groups
            assert np.array_equal(stored.problem.features, served.problem.features)
            assert (stored.problem.quotas is None) == (served.problem.quotas is None)
