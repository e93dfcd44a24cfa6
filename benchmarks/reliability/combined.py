"""What a list by a model with `effort="auto"` takes: in this process, and in a service that many ask at once.

Such models combine several policies, some of them trees, so a list takes longer than one by a linear policy. The mark
for one list of 4 from 12 candidates is 5 ms, and the service must answer `/healthz` meanwhile.
"""

from __future__ import annotations

import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np

import listwright as lw
from benchmarks.reliability.bare import Seen, press
from benchmarks.reliability.server import Server, running

CANDIDATES, FEATURES, LENGTH = 12, 8, 4
CLIENTS = 16
SHAPE = {"candidates": CANDIDATES, "features": FEATURES, "length": LENGTH}


def make_best(path: Path) -> Any:
    """A model with `effort="auto"`, learned from made-up problems that no linear policy solves; it is saved as well."""
    table = np.random.default_rng(0).random((200, CANDIDATES, FEATURES), dtype=np.float32)
    good = ((table[..., 0] > 0.5) != (table[..., 1] > 0.5)) & (table[..., 2] > 0.6)
    problems = lw.Problems.from_arrays(table, reward=lw.rewards.AnySuccess(good))
    model = lw.SCP(length=LENGTH, random_state=0).fit(problems)
    model.save(path)
    return model


def milliseconds(model: Any, lists: int) -> list[float]:
    """Time of each of so many lists, one problem at a time; the first is not counted."""
    table = np.random.default_rng(1).random((lists + 1, CANDIDATES, FEATURES), dtype=np.float32)
    times = []
    for problem in (lw.Problems.from_arrays(row[None]) for row in table):
        start = time.perf_counter()
        model.predict(problem)
        times.append(1e3 * (time.perf_counter() - start))
    return times[1:]


def healthy(server: Server, stopping: threading.Event) -> list[float]:
    """Milliseconds of `/healthz`, asked again and again until told to stop."""
    times = []
    while not stopping.wait(0.05):
        start = time.perf_counter()
        with urlopen(f"{server.url}/healthz", timeout=60) as answer:
            answer.read()
        times.append(1e3 * (time.perf_counter() - start))
    return times


def main(arguments: list[str]) -> None:
    """`best [lists] [seconds]`: times of single lists, then rates of a service and its `/healthz` meanwhile."""
    lists, seconds = int(arguments[0]) if arguments else 500, float(arguments[1]) if len(arguments) > 1 else 10.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _report("one list", milliseconds(make_best(folder / "best.listwright"), lists))
        with running(folder / "best.listwright", f"sqlite:///{folder}/store.db", folder) as server:
            stopping, seen, alone = threading.Event(), Seen(), Seen()
            health: list[float] = []
            watching = threading.Thread(target=lambda: health.extend(healthy(server, stopping)))
            watching.start()
            press(server.port, CLIENTS, seconds, alone, SHAPE, feedback=False)
            press(server.port, CLIENTS, seconds, seen, SHAPE)
            stopping.set()
            watching.join()
    print(f"{CLIENTS} clients: {alone.rate:.0f} lists per second, {seen.rate:.0f} with feedback")
    _report("a list of the service", alone.list_ms)
    _report("the same with feedback between", seen.list_ms)
    _report("/healthz meanwhile", health)


def _report(what: str, times: list[float]) -> None:
    p50, p99 = np.percentile(times, [50, 99])
    print(f"{what}: p50 {p50:.1f} ms, p99 {p99:.1f} ms", flush=True)
