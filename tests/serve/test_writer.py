"""The single writer: groups, and one bad write among good ones."""

from __future__ import annotations

import asyncio
import logging
import threading
from queue import SimpleQueue

import pytest
from sqlalchemy import text

from listwright.serve.refusals import Refused
from listwright.serve.store import writer as writing
from listwright.serve.store.database import Database
from listwright.serve.store.writer import Writer


def put(connection, names):
    """Writes names into the clock; a long one is refused, "bad" breaks the statement."""
    results = []
    for name in names:
        if name == "refused":
            results.append(Refused(409, "conflict", "No."))
            continue
        statement = "INSERT INTO nowhere VALUES (:name)" if name == "bad" else "INSERT INTO lw_clock VALUES (:name, 1)"
        connection.execute(text(statement), {"name": name})
        results.append(name)
    return results


class Counted(SimpleQueue):
    """A queue that others can wait at until it has been given something."""

    def __init__(self):
        self.given, self.times = threading.Semaphore(0), 0

    def put(self, thing):
        super().put(thing)
        self.times += 1
        self.given.release()


def held(queue, started):
    """A write that lasts until others are handed over."""

    def hold(connection, arguments):
        started.set()
        for _ in range(2):  # itself too
            queue.given.acquire()
        return [None] * len(arguments)

    return hold


@pytest.fixture
def written(tmp_path, monkeypatch):
    """`written(["a", "b"])` writes them at once: results, names stored, group sizes.

    With `turns` each comes a turn of the event loop after the one before.
    """

    def write(names, *, turns=0):
        database, groups = Database.of(f"sqlite:///{tmp_path}/store.db"), []
        database.open()

        async def run():
            monkeypatch.setattr(writing, "SimpleQueue", Counted)
            writer = Writer(database.writing, lambda size, seconds: groups.append(size))
            started = threading.Event()
            hold = asyncio.ensure_future(writer.write(held(writer.queue, started), None))
            await asyncio.to_thread(started.wait)

            async def one(i, name):
                for _ in range(turns * i):
                    await asyncio.sleep(0)
                return await writer.write(put, name)

            results = await asyncio.gather(*(one(i, name) for i, name in enumerate(names)), return_exceptions=True)
            await hold
            write.times = writer.queue.times - 1  # that groups were handed over, without the one that is held
            writer.stop()
            return results

        results = asyncio.run(run())
        with database.reading.connect() as connection:
            stored = set(connection.execute(text("SELECT name FROM lw_clock")).scalars())
        database.close()
        return results, stored - {"event", "revision"}, groups[1:]

    return write


def test_many_writes_share_one_transaction(written):
    results, stored, groups = written(["a", "b", "c"])
    assert (results, stored, groups) == (["a", "b", "c"], {"a", "b", "c"}, [3])


@pytest.mark.parametrize(("seconds", "times"), [(60.0, 1), (0.0, 6)])
def test_a_group_gathers_while_the_event_loop_is_busy_but_not_for_ever(written, monkeypatch, seconds, times):
    monkeypatch.setattr(writing, "LONGEST", seconds)
    _, stored, _ = written(list("abcdef"), turns=1)
    assert (stored, written.times) == (set("abcdef"), times)


def test_a_group_is_handed_over_once_and_no_transaction_is_too_large(written, monkeypatch):
    monkeypatch.setattr(writing, "MOST", 2)
    results, stored, groups = written(["a", "b", "c", "d", "e"])
    assert (results, stored, groups) == (list("abcde"), set("abcde"), [2, 2, 1])


def test_a_refused_write_does_not_stop_others(written):
    results, stored, _ = written(["a", "refused", "c"])
    assert stored == {"a", "c"}
    assert isinstance(results[1], Refused)


def test_a_broken_write_fails_alone(written, caplog):
    results, stored, _ = written(["a", "event", "c"])  # "event" is there already
    assert stored == {"a", "c"}
    assert (results[0], results[1].status, results[2]) == ("a", 500, "c")


def test_a_store_error_fails_all_of_the_group(written, caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("listwright.serve"), "propagate", True)  # a service that ran set it to False
    results, stored, _ = written(["a", "bad"])
    assert stored == set()
    assert {result.status for result in results} == {503}
    told = next(record for record in caplog.records if record.message == "a transaction failed")
    assert (told.writes, told.cause) == (2, "no such table: nowhere")


def test_lists_of_a_group_are_stored_before_the_feedback_on_them(tmp_path, monkeypatch):
    database, order = Database.of(f"sqlite:///{tmp_path}/store.db"), []
    database.open()

    def lists(connection, arguments):
        order.append("lists")
        return [None] * len(arguments)

    def feedback(connection, arguments):
        order.append("feedback")
        return [None] * len(arguments)

    monkeypatch.setattr(writing, "LOCK_FREE", (lists,))

    async def run():
        writer = Writer(database.writing, lambda size, seconds: None)
        first = writer.submit(lists, None, within=3_600.0)  # only the feedback makes it begin
        await asyncio.gather(writer.write(feedback, None), writer.write(lists, None))
        assert first.done()
        writer.submit(lists, None, within=3_600.0)
        writer.stop()  # nothing is left behind

    asyncio.run(run())
    database.close()
    assert order == ["lists", "feedback", "lists"]
