"""Threads with a bound on what may wait for them."""

from __future__ import annotations

import asyncio
import threading

import pytest

from listwright.serve.refusals import Refused
from listwright.serve.service import Pool


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
