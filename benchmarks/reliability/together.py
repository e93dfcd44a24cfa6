"""What replicas serve together: lists and feedback per second, refusals and latencies, for 1, 2 and 3 on PostgreSQL.

One service on SQLite stands beside them. Clients ask again as soon as they are answered, and each list gets feedback.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.reliability.client import Client, feedback_body, list_bodies, make_model
from benchmarks.reliability.database import postgresql
from benchmarks.reliability.server import Server, running

CANDIDATES, FEATURES, LENGTH = 20, 8, 4


@dataclass
class Seen:
    """What clients saw."""

    seconds: float
    statuses: Counter[int] = field(default_factory=Counter)
    list_ms: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Lists per second, each with its feedback."""
        return len(self.list_ms) / self.seconds

    def __str__(self) -> str:
        refused = sum(count for status, count in self.statuses.items() if status != 200)
        p50, p99 = np.percentile(self.list_ms, [50, 99])
        share = refused / max(1, sum(self.statuses.values()))
        return f"{self.rate:.0f} lists/s, {refused} refused ({share:.1%}), list p50 {p50:.1f} ms, p99 {p99:.1f} ms"


def press(servers: list[Server], seconds: float, clients: int) -> Seen:
    """Asks all services for that long."""
    seen, bodies = Seen(seconds), list_bodies(16, candidates=CANDIDATES, features=FEATURES, length=LENGTH)
    end = time.monotonic() + seconds
    threads = [
        threading.Thread(target=_ask, args=(servers[i % len(servers)].port, bodies, seen, end)) for i in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen


def _ask(port: int, bodies: list[bytes], seen: Seen, end: float) -> None:
    """One connection."""
    client, number = Client(port), 0
    while time.monotonic() < end:
        start, number = time.perf_counter(), number + 1
        status, answer = client.post("/v1/lists", bodies[number % len(bodies)])
        seen.statuses[status] += 1
        if status == 200:
            seen.list_ms.append(1e3 * (time.perf_counter() - start))
            status, _ = client.post("/v1/feedback", feedback_body(answer, number % 3 == 0))
            seen.statuses[status] += 1
    client.close()


def run(seconds: float = 10.0, clients: int = 16, most: int = 3) -> dict[str, Seen]:
    """The service on SQLite, and 1 to `most` replicas on PostgreSQL."""
    results = {}
    with tempfile.TemporaryDirectory() as name, postgresql() as database:
        folder = Path(name)
        model = make_model(folder / "model.listwright", features=FEATURES)
        for label, store, count in [
            ("SQLite", f"sqlite:///{folder}/store.db", 1),
            *((f"PostgreSQL x {count}", database.url, count) for count in range(1, most + 1)),
        ]:
            with ExitStack() as stack:
                servers = [stack.enter_context(running(model, store, folder, "--learn")) for _ in range(count)]
                press(servers, 1.0, clients)
                results[label] = press(servers, seconds, clients)
                print(f"{label}: {clients} clients, {results[label]}", flush=True)
    return results


def main(arguments: list[str]) -> None:
    """`together [seconds] [clients] [replicas]`."""
    numbers = [int(number) for number in arguments]
    run(*(*numbers, *(10, 16, 3)[len(numbers) :]))
