"""Sustained load: lists and feedback for every list, on SQLite or on replicas; memory must stay flat."""

from __future__ import annotations

import resource
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.reliability.client import Client, feedback_body, list_bodies, make_model
from benchmarks.reliability.database import services
from benchmarks.reliability.server import Server


@dataclass
class Result:
    """What was seen."""

    seconds: float
    lists: int = 0
    errors: int = 0
    list_ms: list[float] = field(default_factory=list)
    feedback_ms: list[float] = field(default_factory=list)
    memory_mb: list[list[float]] = field(default_factory=list)  # of each replica
    server_cpu: float = 0.0  # cores in use
    client_cpu: float = 0.0
    end: float = 0.0

    def __str__(self) -> str:
        quarter, memory = max(1, len(self.memory_mb) // 4), np.sum(self.memory_mb, axis=1)
        early, late = memory[quarter : 2 * quarter].mean(), memory[-quarter:].mean()
        return (
            f"{self.lists / self.seconds:.0f} lists/s and as many feedbacks over {self.seconds:.0f} s, "
            f"{self.errors} errors; list p50 {_p(self.list_ms, 50)} p99 {_p(self.list_ms, 99)} "
            f"max {_p(self.list_ms, 100)} ms; feedback p50 {_p(self.feedback_ms, 50)} p99 {_p(self.feedback_ms, 99)} "
            f"max {_p(self.feedback_ms, 100)} ms; memory {early:.0f} MB in the second quarter, {late:.0f} MB in the "
            f"last; server {self.server_cpu:.2f} cores, client {self.client_cpu:.2f}"
        )


def _p(values: list[float], q: float) -> str:
    return f"{np.percentile(values, q):.1f}"


def press(servers: list[Server], seconds: float, *, rate: float, connections: int) -> Result:
    """Asks for `rate` lists a second, each followed by its feedback."""
    bodies, result = list_bodies(64), Result(seconds)
    begin = time.monotonic() + 0.5
    threads = [
        threading.Thread(
            target=_worker, args=(servers[i % len(servers)].port, bodies, result, begin, rate, i, connections)
        )
        for i in range(connections)
    ]
    cpu, own = sum(server.cpu_seconds() for server in servers), resource.getrusage(resource.RUSAGE_SELF)
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        result.memory_mb.append([server.memory() / 2**20 for server in servers])
        if len(result.memory_mb) % 120 == 1:
            past, memory = time.monotonic() - begin, ", ".join(f"{mb:.0f}" for mb in result.memory_mb[-1])
            print(f"{past:.0f} s: {result.lists} lists, {result.errors} errors, {memory} MB", flush=True)
        time.sleep(0.5)
    after = resource.getrusage(resource.RUSAGE_SELF)
    result.seconds = result.end - begin
    result.server_cpu = (sum(server.cpu_seconds() for server in servers) - cpu) / result.seconds
    result.client_cpu = (after.ru_utime + after.ru_stime - own.ru_utime - own.ru_stime) / result.seconds
    return result


def _worker(
    port: int, bodies: list[bytes], result: Result, begin: float, rate: float, number: int, connections: int
) -> None:
    """One connection; it keeps to its share of the schedule, and does not catch up on what it missed by a second."""
    client, step = Client(port), connections / rate
    due, end = begin + number / rate, begin + result.seconds
    while due < end:
        time.sleep(max(0.0, due - time.monotonic()))
        start = time.perf_counter()
        status, answer = client.post("/v1/lists", bodies[result.lists % len(bodies)])
        between = time.perf_counter()
        ok = status == 200
        if ok:
            body = feedback_body(answer, result.lists % 3 == 0)
            began = time.perf_counter()
            status, _ = client.post("/v1/feedback", body)
            result.list_ms.append(1e3 * (between - start))
            result.feedback_ms.append(1e3 * (time.perf_counter() - began))
        result.lists += ok and status == 200
        result.errors += not (ok and status == 200)
        due = max(due + step, time.monotonic() - 1.0)
    result.end = max(result.end, time.monotonic())
    client.close()


def run(seconds: float, rate: float, replicas: int, *, connections: int = 16, learn: bool = False) -> Result:
    """A service on SQLite, or so many replicas on PostgreSQL, under that load."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = make_model(folder / "model.listwright")
        with services(model, folder, replicas, *(["--learn"] if learn else [])) as servers:
            press(servers, 2.0, rate=rate / 2, connections=connections)
            return press(servers, seconds, rate=rate, connections=connections)


def main(arguments: list[str]) -> None:
    """`load [seconds] [lists a second] [replicas] [learn]`."""
    numbers = [float(word) for word in arguments if word != "learn"]
    seconds, rate, replicas = (*numbers, *(60.0, 420.0, 0.0)[len(numbers) :])
    print(run(seconds, rate, int(replicas), learn="learn" in arguments))
