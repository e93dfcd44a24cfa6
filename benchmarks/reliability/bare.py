"""How much the service costs beside what no service can do without: a bare handler in the same run.

The bare handler reads the same JSON with msgspec, scores the candidates with one product of numpy, sorts them and
answers; it checks nothing, stores nothing and takes feedback without looking at it. Both run in one process under
uvicorn, in turn, with the same clients; ratios are of the rates within one run, because machines differ and are busy.
Lists are asked for alone, and each followed by its feedback.
"""

from __future__ import annotations

import itertools
import multiprocessing
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import uvicorn

from benchmarks.reliability.client import Client, feedback_body, list_bodies, make_model, true_weights
from benchmarks.reliability.forked import until
from benchmarks.reliability.server import cpu_seconds, free_port, running

CLIENTS = (1, 16, 64)
ROUNDS = 3


@dataclass
class Seen:
    """Lists, alone or each with its feedback, answered by one of the two."""

    seconds: float = 0.0
    cpu: float = 0.0  # seconds of the server's processor time
    list_ms: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Lists per second."""
        return len(self.list_ms) / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Milliseconds of processor time for each list."""
        return 1e3 * self.cpu / len(self.list_ms)


class Candidate(msgspec.Struct):
    """One item of a request."""

    id: str
    features: list[float]


class Request(msgspec.Struct):
    """What the bare handler reads."""

    items: list[Candidate]
    length: int


DECODER = msgspec.json.Decoder(Request)
WEIGHTS = true_weights(32)


async def bare(scope: Any, receive: Any, send: Any) -> None:
    """The handler as an ASGI application."""
    if scope["type"] != "http":
        return
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message["body"], message.get("more_body", False)
    answer = _listed(DECODER.decode(body)) if scope["path"] == "/v1/lists" else b"{}"
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


def _listed(asked: Request) -> bytes:
    table = np.array([item.features for item in asked.items], dtype=np.float32)
    best = np.argsort(-(table @ WEIGHTS))[: asked.length]
    items = [{"id": asked.items[row].id, "position": i} for i, row in enumerate(best.tolist(), start=1)]
    return msgspec.json.encode({"list_id": "0" * 32, "items": items})


def _serve_bare(port: int) -> None:
    uvicorn.run(bare, port=port, log_level="critical", access_log=False, lifespan="off")


def press(
    port: int,
    clients: int,
    seconds: float,
    seen: Seen,
    shape: Mapping[str, int] | None = None,
    *,
    feedback: bool = True,
) -> None:
    """Lists as fast as they are answered, of requests of a `shape` that `list_bodies` takes."""
    bodies, end = list_bodies(64, **(shape or {})), time.perf_counter() + seconds
    start = time.perf_counter()
    threads = [threading.Thread(target=_client, args=(port, bodies, end, i, seen, feedback)) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seen.seconds += time.perf_counter() - start


def _client(port: int, bodies: list[bytes], end: float, number: int, seen: Seen, feedback: bool) -> None:
    client = Client(port)
    while time.perf_counter() < end:
        start = time.perf_counter()
        status, answer = client.post("/v1/lists", bodies[number % len(bodies)])
        between = time.perf_counter()
        if status == 200 and feedback:
            status, answer = client.post("/v1/feedback", feedback_body(answer, number % 3 == 0))
        if status != 200:
            raise RuntimeError(f"an answer of {status}: {answer[:200]!r}")
        seen.list_ms.append(1e3 * (between - start))
        number += 1
    client.close()


def compared(
    ports: Sequence[int], processes: Sequence[int], clients: int, seconds: float, *, feedback: bool
) -> list[Seen]:
    """Both in turn, several times."""
    both = [Seen(), Seen()]
    for _ in range(ROUNDS):
        for port, process, seen in zip(ports, processes, both, strict=True):
            before = cpu_seconds(process)
            press(port, clients, seconds / ROUNDS, seen, feedback=feedback)
            seen.cpu += cpu_seconds(process) - before
    return both


def main(arguments: list[str]) -> None:
    """`bare [seconds for each] [options of the service]`: rates of both, and their ratio."""
    seconds = float(arguments[0]) if arguments else 15.0
    port = free_port()
    process = multiprocessing.get_context("fork").Process(target=_serve_bare, args=(port,), daemon=True)
    process.start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = make_model(folder / "model.listwright")
        with running(model, f"sqlite:///{folder}/store.db", folder, *arguments[1:]) as server:
            until(lambda: _answers(port))
            ports, processes = (server.port, port), (server.process.pid, process.pid or 0)
            for each in ports:
                press(each, 4, 1.0, Seen())
            for clients, feedback in itertools.product(CLIENTS, (False, True)):
                what = "lists with feedback" if feedback else "lists"
                _report(f"{clients} clients: {what}", *compared(ports, processes, clients, seconds, feedback=feedback))
    process.terminate()


def _report(what: str, ours: Seen, other: Seen) -> None:
    halves = [np.percentile(seen.list_ms, 50) for seen in (ours, other)]
    print(
        f"{what}, {ours.rate:.0f} per second, bare {other.rate:.0f}, ratio "
        f"{ours.rate / other.rate:.2f}; list p50 {halves[0]:.1f} ms, bare {halves[1]:.1f} ms; processor time for each "
        f"{ours.cpu_ms:.2f} ms, bare {other.cpu_ms:.2f} ms, ratio {other.cpu_ms / ours.cpu_ms:.2f}",
        flush=True,
    )


def _answers(port: int) -> bool:
    try:
        client = Client(port)
    except OSError:
        return False
    client.close()
    return True
