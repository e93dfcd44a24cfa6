"""Replicas on one PostgreSQL with many clients: nothing waits for ever, nothing is refused, and the sums add up."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

pytestmark = pytest.mark.system

CLIENTS, ROUNDS = 64, 3


@pytest.mark.parametrize("count", [2, 3])
def test_replicas_refuse_nothing_together(opened, empty_postgres, asked, count):
    replicas = [opened(store=empty_postgres, learn=True) for _ in range(count)]

    def talk(number):
        statuses, url = Counter(), replicas[number % count].url
        with httpx.Client(base_url=url, timeout=None) as client:
            for seed in range(ROUNDS):
                answer = client.post("/v1/lists", json=asked(seed=seed))
                clicks = [item["id"] for item in answer.json()["items"][: seed % 2]]
                feedback = client.post("/v1/feedback", json={"list_id": answer.json()["list_id"], "clicks": clicks})
                statuses += Counter((answer.status_code, feedback.status_code))
        return statuses

    with ThreadPoolExecutor(CLIENTS) as pool:
        statuses = sum(pool.map(talk, range(CLIENTS)), Counter())
    assert statuses == {200: 2 * CLIENTS * ROUNDS}
    stats = replicas[-1].get("/v1/stats").json()
    assert (stats["lists"], stats["answered"], stats["learning"]["events"]) == (CLIENTS * ROUNDS,) * 3
    assert "listwright_store_failures_total 0.0" in replicas[0].get("/metrics").text
