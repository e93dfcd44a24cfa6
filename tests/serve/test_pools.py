"""Threads with a bound on what may wait for them."""

from __future__ import annotations

import asyncio
import threading

import pytest

from listwright.serve.models.building import Gathering, Pool
from listwright.serve.refusals import Refused


def run(scenario):
    """Runs a scenario on a pool of one thread, where one thing may wait."""
    pool, release = Pool("test", 1, 1), threading.Event()
    try:
        return asyncio.run(scenario(pool, release))
    finally:
        release.set()
        pool.stop()


def test_more_than_may_wait_is_refused_and_room_comes_back():
    async def scenario(pool, release):
        waiting = [asyncio.ensure_future(pool.run(release.wait)) for _ in range(2)]
        await asyncio.sleep(0)  # both are begun
        with pytest.raises(Refused) as refused:
            await pool.run(int)
        release.set()
        await asyncio.gather(*waiting)
        while pool.running:
            await asyncio.sleep(0)
        return refused.value.status, await pool.run(int)

    assert run(scenario) == (429, 0)


def test_what_is_given_up_while_it_waits_is_never_begun():
    begun = []

    async def scenario(pool, release):
        first = asyncio.ensure_future(pool.run(release.wait))
        second = asyncio.ensure_future(pool.run(begun.append, 1))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        release.set()
        await first
        return await pool.run(len, begun)

    assert run(scenario) == 0


def test_what_goes_wrong_is_passed_on():
    async def scenario(pool, release):
        await pool.run(int, "x")

    with pytest.raises(ValueError, match="invalid literal"):
        run(scenario)


def test_what_comes_while_others_are_built_is_built_together():
    async def scenario(pool, release):
        sizes, begun, pool.most = [], asyncio.Event(), 8
        loop = asyncio.get_running_loop()

        def build(some):
            sizes.append(len(some))
            loop.call_soon_threadsafe(begun.set)
            release.wait()
            return [ValueError("odd") if query == 3 else f"{query}!" for query in some]

        gathering = Gathering(pool, build)
        tasks = [asyncio.create_task(gathering.build(0, here=False))]
        await begun.wait()
        tasks += [asyncio.create_task(gathering.build(query, here=False)) for query in range(1, 5)]
        while len(gathering.waiting) < 4:
            await asyncio.sleep(0)
        tasks[2].cancel()  # nobody waits for it any more
        release.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert sizes == [1, 3]
        assert (results[:2], results[4]) == (["0!", "1!"], "4!")
        assert [type(result) for result in results[2:4]] == [asyncio.CancelledError, ValueError]

    run(scenario)


def test_what_is_asked_for_in_one_turn_is_built_together():
    async def scenario(pool, release):
        sizes = []

        def build(some):
            sizes.append(len(some))
            if 7 in some:
                raise OSError("gone")
            return [ValueError("odd") if query == 3 else f"{query}!" for query in some]

        gathering = Gathering(pool, build)
        tasks = [asyncio.create_task(gathering.build(query, here=True)) for query in range(5)]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert (sizes, [*results[:3], results[4]]) == ([5], ["0!", "1!", "2!", "4!"])
        assert isinstance(results[3], ValueError)
        assert await gathering.build(6, here=True) == "6!"
        with pytest.raises(OSError, match="gone"):
            await gathering.build(7, here=True)
        assert sizes == [5, 1, 1]

    run(scenario)
