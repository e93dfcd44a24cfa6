"""Learning is monitored: a learned policy that falls behind the deployed one pauses learning, with an alarm."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

import listwright as lw
from listwright.features import Candidate
from listwright.feedback.updates import TrainingUpdate
from listwright.policies import Linear
from listwright.serve.learning.monitor import FEW, LEAST, PolicyMonitor
from listwright.serve.messages import LearnedComparison

GOOD = np.array([1.0, 0.0])


def drawn(count, seed):
    """Lists of two items of four, drawn with equal chances; an item brings something where its first number is high."""
    rng = np.random.default_rng(seed)
    records = []
    for i in range(count):
        table = rng.random((4, 2)).astype(np.float32)
        picks = rng.permutation(4)[:2]
        outcomes = (table[picks, 0] > 0.6).astype(float)
        problem = lw.Problems.from_arrays(table, offsets=[0, 4])
        records.append(TrainingUpdate.of(f"{seed}-{i}", problem, picks, np.array([1 / 4, 1 / 3]), outcomes))
    return records


def seen():
    """Features as they are, but for their scale."""
    return Candidate().fit(lw.Problems.concat([one.problem for one in drawn(50, 999)]))


def see(monitor, learned, updates, source="web"):
    monitor.observe(learned, updates, [source] * len(updates))


def monitored(learned, groups=40):
    monitor = PolicyMonitor(seen(), Linear(GOOD))
    for seed in range(groups):
        see(monitor, Linear(learned), drawn(16, seed))
    return monitor


def test_a_policy_that_is_worse_falls_behind():
    found = monitored(-GOOD).comparison(Linear(-GOOD))
    assert (found.lists, found.source) == (200, "web")
    assert found.behind
    assert found.low < found.difference < found.high < 0
    assert "the learned policy gains -" in str(found)


@pytest.mark.parametrize("learned", [GOOD, 2 * GOOD])
def test_the_same_policy_is_never_behind(learned):
    assert monitored(learned).comparison(Linear(learned)) == LearnedComparison(640, 0.0, 0.0, 0.0)


def test_a_policy_that_is_as_good_as_any_is_not_behind_by_chance():
    """Both policies look at numbers that say nothing: neither is better."""
    monitor = PolicyMonitor(seen(), Linear(np.array([0.0, 1.0])))
    for seed in range(60):
        see(monitor, Linear(np.array([0.0, -1.0])), drawn(16, seed))
        found = monitor.comparison(Linear(np.array([0.0, -1.0])))
        assert found is None or not found.behind


def test_lists_with_and_without_groups_can_come_together():
    grouped = [
        replace(one, problem=one.problem._with(groups=np.array([0, 0, 1, 1])).with_constraints(per_group=1))
        for one in drawn(8, 1)
    ]
    monitor = PolicyMonitor(seen(), Linear(GOOD))
    see(monitor, Linear(-GOOD), [*drawn(8, 0), *grouped])
    assert len(monitor.differences) == 8
    see(monitor, Linear(-GOOD), [*grouped, *drawn(8, 2)])
    assert len(monitor.differences) == 16


def test_too_few_lists_say_nothing():
    monitor = PolicyMonitor(seen(), Linear(GOOD))
    for start in range(0, LEAST - 40, FEW - 2):  # of many sources, each with too few to say anything alone
        see(monitor, Linear(-GOOD), drawn(FEW - 2, start), source=f"key-{start}")
    assert monitor.comparison(Linear(-GOOD)) is None


def test_lists_that_were_certain_say_nothing():
    monitor = PolicyMonitor(seen(), Linear(GOOD))
    record = drawn(1, 0)[0]
    certain = TrainingUpdate.of("c", record.problem, record.picks, np.ones(2), record.outcomes)
    see(monitor, Linear(-GOOD), [certain])
    assert not monitor.differences


def reversed_feedback(updates):
    """What somebody reports who wants the opposite of good lists."""
    return [replace(update, outcomes=1.0 - update.outcomes) for update in updates]


def test_whoever_sends_most_does_not_decide_alone():
    """One hostile key praises a bad policy by 400 lists, an honest one had 60 before: learning is behind."""
    monitor = PolicyMonitor(seen(), Linear(GOOD))
    see(monitor, Linear(GOOD), drawn(60, 0))
    for seed in range(1, 6):
        see(monitor, Linear(-GOOD), reversed_feedback(drawn(80, seed)), source="hostile")
    found = monitor.comparison(Linear(-GOOD))
    assert found.behind
    assert found.source == "web"
    assert "with feedback of the key 'web'" in str(found)


def test_one_key_against_several_does_not_pause_learning():
    monitor = PolicyMonitor(seen(), Linear(-GOOD))
    for seed, source in enumerate(("web", "app")):
        see(monitor, Linear(GOOD), drawn(200, seed), source=source)
    see(monitor, Linear(GOOD), reversed_feedback(drawn(200, 9)), source="hostile")
    assert not monitor.comparison(Linear(GOOD)).behind


@pytest.mark.parametrize(("every", "noticed"), [(1, True), (1.5, True), (4, False), (1000, False)])
def test_a_majority_of_feedback_that_contradicts_what_came_before_is_noticed(every, noticed):
    """All of it, two thirds, a quarter and next to none; whatever keys it comes with, and whatever was learned."""
    monitor = PolicyMonitor(seen(), Linear(GOOD))
    see(monitor, Linear(GOOD), drawn(300, 0))
    assert monitor.contradiction() is None
    updates = drawn(200, 1)
    hostile = [int((i + 1) / every) > int(i / every) for i in range(len(updates))]
    see(
        monitor,
        Linear(GOOD),
        [reversed_feedback([one])[0] if turned else one for one, turned in zip(updates, hostile, strict=True)],
    )
    assert (monitor.contradiction() is not None) == noticed


def test_a_deployed_policy_that_was_always_wrong_is_no_contradiction():
    monitor = PolicyMonitor(seen(), Linear(-GOOD))
    for seed in range(8):
        see(monitor, Linear(GOOD), drawn(64, seed))
        assert monitor.contradiction() is None


def taught(client, learn, asked, seeds):
    for seed in seeds:
        told = client.post("/v1/lists", json=asked(8, seed=seed)).json()
        client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": [told["items"][0]["id"]]})
    learn(client)
    return client.get("/v1/learning").json()["versions"][0]


def test_contradictory_feedback_pauses_learning(opened, asked, learn, monkeypatch):
    client = opened(learn=True)
    monkeypatch.setattr(PolicyMonitor, "contradiction", lambda self: "Most of it contradicts.")
    status = taught(client, learn, asked, range(3))
    assert (status["state"], status["serves_learned"], status["reason"]) == ("frozen", False, "Most of it contradicts.")


def test_an_alarm_pauses_learning_and_the_deployed_policy_serves(opened, store, asked, learn, monkeypatch):
    client = opened(store=store, learn=True)
    assert taught(client, learn, asked, range(5))["serves_learned"] is True
    behind = LearnedComparison(500, -0.2, -0.3, -0.1)
    with monkeypatch.context() as patch:
        patch.setattr(PolicyMonitor, "comparison", lambda self, learned: behind)
        status = taught(client, learn, asked, range(5, 8))
    assert (status["state"], status["serves_learned"]) == ("frozen", False)
    assert status["reason"].startswith("Behind the deployed policy: the learned policy gains -0.200")
    assert status["comparison"] == msgspec.to_builtins(behind)
    assert 'listwright_learning_frozen{version="1"} 1.0' in client.get("/metrics").text
    assert client.service.registry.get(1).published is None
    assert taught(client, learn, asked, [8])["lists"] == status["lists"]  # it stays paused
    client.post("/v1/learning", json={"action": "resume"})
    resumed = taught(client, learn, asked, [9])
    assert (resumed["state"], resumed["lists"], resumed["waiting"]) == ("learning", 10, 0)
    assert 'listwright_learning_frozen{version="1"} 0.0' in client.get("/metrics").text
