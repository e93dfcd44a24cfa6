"""One learner among replicas: leases, what a learner that lost its lease may do, and commits whose answer was lost."""

from __future__ import annotations

import gc
import weakref
from contextlib import contextmanager

import numpy as np
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from listwright.serve.learning.progress import Claim, Lost, events_after, give_up, holder, holds, take
from listwright.serve.models.version import load_bytes
from listwright.serve.refusals import Refused
from listwright.serve.store.database import Database


@contextmanager
def connected(store):
    engine = create_engine(store.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def expire(store, change="expires = 0"):
    """The lease runs out: its holder did not renew it in time."""
    with connected(store) as connection:
        connection.execute(text(f"UPDATE lw_leases SET {change}"))


def teach(client, asked, seeds):
    for seed in seeds:
        told = client.post("/v1/lists", json=asked(8, seed=seed)).json()
        clicks = [item["id"] for item in told["items"][: seed % 3]]
        assert client.post("/v1/feedback", json={"list_id": told["list_id"], "clicks": clicks}).status_code == 200


def status(client):
    return client.get("/v1/learning").json()["versions"][0]


def state_of(client):
    answer = client.post("/v1/learning", json={"action": "export"})
    return load_bytes(answer.content).state()


def uninterrupted(client):
    """The state of a learner that saw all events, one after the other."""
    registry = client.service.registry
    with client.service.database.reading.connect() as connection:
        events = events_after(connection, 1, 0, 10_000)
    learner = registry.loader.learner(registry.get(1).model)
    return learner.update([event.update() for event in events if event.learnable]).state()


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name, strict=True)


def test_one_holds_a_lease_until_it_runs_out_or_is_given_up(store):
    database = Database.of(store)
    database.open()
    first, second = Claim("learner", "a"), Claim("learner", "b")
    with database.writing.begin() as connection:
        assert take(connection, [first, second, first]) == [1, None, 1]
        assert holder(connection, "learner") == "a"
    expire(store)
    with database.writing.begin() as connection:
        assert holder(connection, "learner") is None
        assert take(connection, [second, first]) == [2, None]
        assert holds(connection, second, 2)
        assert not holds(connection, first, 1)  # even though it never heard that it was replaced
        give_up(connection, [second])
        assert take(connection, [first]) == [3]
    database.close()


def test_a_lease_that_ends_far_ahead_of_the_clock_is_free(store):
    """Its holder was killed, and then the clock was set back by hours."""
    database = Database.of(store)
    database.open()
    first, second = Claim("learner", "a"), Claim("learner", "b")
    with database.writing.begin() as connection:
        assert take(connection, [first]) == [1]
        connection.execute(text("UPDATE lw_leases SET expires = expires + 7200"))
        assert holder(connection, "learner") is None
        assert take(connection, [second, first]) == [2, None]
    database.close()


def test_another_replica_takes_over_and_the_first_cannot_write_any_more(opened, store, asked, learn):
    first, second = opened(store=store, learn=True), opened(store=store, learn=True)
    teach(first, asked, range(4))
    learn(first)
    learn(second)
    assert (status(first)["lists"], second.service.updater.term) == (4, None)
    teach(second, asked, range(4, 7))
    expire(store)
    learn(second)
    assert second.service.updater.term == 2
    assert status(first)["lists"] == 7
    teach(first, asked, [7])
    stale, applied = first.service.updater, second.service.updater.learners[1].applied
    with first.service.database.reading.connect() as connection:
        events = events_after(connection, 1, applied, 10)
        stored = connection.execute(text("SELECT * FROM lw_learning")).one()
    learner = stale._learner(1, stored)
    with pytest.raises(Lost):
        stale._apply(learner, stored, events)  # as if it had been stopped just before this
    learn(second)
    assert status(first)["lists"] == 8
    assert_same(state_of(first), uninterrupted(second))


def test_what_lost_its_lease_is_not_kept(opened, store, asked, learn):
    """Replicas of a busy machine lose their leases all the time: nothing they held then may stay."""
    client = opened(store=store, learn=True)
    updater, take_term, lost = client.service.updater, client.service.updater.writer.write_from_thread, []

    def lose(work, argument):
        result = take_term(work, argument)
        if work.__name__ == "take":
            expire(store, "term = term + 1")  # as if another replica had learned meanwhile
        return result

    for seed in range(5):
        teach(client, asked, [seed])
        updater.writer.write_from_thread = lose
        with pytest.raises(Lost):
            learn(client)
        updater.writer.write_from_thread = take_term
        lost.extend(weakref.ref(learner) for learner in updater.learners.values())
        updater.learners.clear()
    learn(client)
    assert status(client)["lists"] == 5
    gc.collect()
    assert [learner() for learner in lost] == [None] * 5


def test_a_replica_that_is_told_to_stop_lets_others_take_over_at_once(opened, store, asked):
    first = opened(store=store, learn=True)
    term_of = "SELECT term, expires FROM lw_leases"
    first.until(lambda: first.service.updater.term is not None)
    first.stop()
    with connected(store) as connection:
        assert tuple(connection.execute(text(term_of)).one()) == (1, 0.0)


@pytest.fixture
def losing(monkeypatch):
    """`losing(client)`: the answer to the next COMMIT is lost."""

    def lose(client):
        engine = client.service.database.writing
        commit = engine.dialect.do_commit

        def done_but_not_told(connection):
            monkeypatch.setattr(engine.dialect, "do_commit", commit)
            commit(connection)
            raise engine.dialect.loaded_dbapi.OperationalError("the connection was lost")

        monkeypatch.setattr(engine.dialect, "do_commit", done_but_not_told)

    return lose


def test_feedback_whose_commit_was_lost_can_be_sent_again(opened, store, asked, losing):
    client = opened(store=store)
    told = client.post("/v1/lists", json=asked()).json()
    body = {"list_id": told["list_id"], "clicks": []}
    losing(client)
    assert client.post("/v1/feedback", json=body).status_code == 503
    assert client.post("/v1/feedback", json=body).json() == {"list_id": told["list_id"], "event": 1, "duplicate": True}
    assert "listwright_store_failures_total 1.0" in client.get("/metrics").text


def test_learning_goes_on_after_a_commit_whose_answer_was_lost(opened, store, asked, learn, losing):
    client = opened(store=store, learn=True)
    teach(client, asked, range(3))
    learn(client)
    teach(client, asked, range(3, 6))
    updater, write = client.service.updater, client.service.updater.writer.write_from_thread

    def write_and_lose(work, argument):
        if work.__name__ == "store_progress":
            losing(client)
            updater.writer.write_from_thread = write
        return write(work, argument)

    updater.writer.write_from_thread = write_and_lose
    with pytest.raises((Refused, OperationalError)) as lost:
        learn(client)
    updater._restart("waiting for the store", lost.value)
    assert client.get("/readyz").status_code == 503
    teach(client, asked, [6])
    learn(client)
    updater.failure = None
    assert (status(client)["lists"], status(client)["waiting"], client.get("/readyz").status_code) == (7, 0, 200)
    assert_same(state_of(client), uninterrupted(client))


def test_what_was_learned_is_served_after_a_restart_without_learning(opened, store, asked, learn):
    client = opened(store=store, learn=True)
    teach(client, asked, range(6))
    learn(client)
    learned = client.service.registry.get(1).online.playing_.policy.weights
    client.stop()
    again = opened(store=store)
    version = again.service.registry.get(1)
    assert (version.state, again.get("/v1/learning").json()["on"]) == (6, False)
    np.testing.assert_array_equal(version.online.playing_.policy.weights, learned)
    assert not np.array_equal(version.deployed.playing_.policy.weights, learned)
