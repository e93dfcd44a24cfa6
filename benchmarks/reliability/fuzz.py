"""Bodies that nobody would send: schemathesis on the OpenAPI text, and mutations of good bodies. No 5xx, no crash.

The service learns meanwhile, also from feedback on lists that were built from mutated bodies. Afterwards its lists must
be as good as before: they are valued on problems whose truth is known.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np

from benchmarks.reliability.client import Broken, Client, feedback_body, make_model, true_weights
from benchmarks.reliability.database import services
from benchmarks.reliability.server import START_SECONDS, Server, is_ready

SHAPE = {"features": 4, "candidates": 6, "length": 2}
ROUND = 20  # mutated bodies between two lists whose feedback is known
HELD_OUT = 1_000  # problems whose lists are valued, in a run of some thousand bodies
SURELY = 4.0  # standard errors: lists are drawn, and chance alone must not fail a run
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
TOKENS = (
    b"NaN", b"-Infinity", b"1e999", b"-0", b"1e-400", b"null", b"true", b"{}", b"[]", b'""', b"[" * 300, b'{"a":' * 300,
    b"9" * 400, b"0.1" * 50, b'"\\u0000"', b'"\\ud800"', b"\xff\xfe", b"\x00", b",", b":", b'"', b"\\", b"}", b"]",
    b'"items"', b'"id"', b"1" * 5000, b'"' + b"x" * 3000 + b'"', b"/**/", b"\xf0\x9f\x92\xa9",
)  # fmt: skip
VALUES = (
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63, 10**30, -(10**400), 0.5, 1e308, -1e39, float("nan"),
    float("inf"), "", "a", "\x00", "x" * 300, "é\u202e", [], {}, [[]], [None], {"a": {}}, [1.0] * 4, [0] * 2000,
    {"": 1}, "0" * 32, "i0", "NaN", "\ud800NaN",
)  # fmt: skip


class Shop:
    """Makes requests whose truth is known: an item is good if its true score is among the highest."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.weights = true_weights(SHAPE["features"])
        sample = np.random.default_rng(2).random((5_000, SHAPE["features"])) @ self.weights
        self.bar = float(np.quantile(sample, 0.8))

    def request(self) -> dict[str, Any]:
        """A request that is in order."""
        rows = [[round(self.rng.random(), 4) for _ in range(SHAPE["features"])] for _ in range(SHAPE["candidates"])]
        items = [{"id": f"i{i}", "features": row, "size": 1.0, "group": i % 3} for i, row in enumerate(rows)]
        return {"items": items, "length": SHAPE["length"], "budget": 3.0, "per_group": SHAPE["length"]}

    def good(self, request: dict[str, Any], answer: bytes) -> list[str]:
        """The items of a list that are good."""
        rows = {item["id"]: item["features"] for item in request["items"]}
        shown = [item["id"] for item in json.loads(answer)["items"]]
        return [name for name in shown if np.dot(rows[name], self.weights) > self.bar]


class ShownList:
    """A list that was served, and what feedback on it would say."""

    def __init__(self, client: Client, shop: Shop) -> None:
        request = shop.request()
        _, answer = client.post("/v1/lists", json.dumps(request).encode())
        shown = json.loads(answer)
        self.id, self.clicks = shown["list_id"], shop.good(request, answer)
        self.gains = [float(item["id"] in self.clicks) for item in shown["items"]]


def good_bodies(shown: ShownList, shop: Shop) -> list[tuple[str, Any]]:
    """Requests that are in order, by path."""
    asked = shop.request()
    return [
        ("/v1/lists", asked),
        ("/v1/lists:batch", {"lists": [asked, {"items": asked["items"][:3]}]}),
        ("/v1/feedback", {"list_id": shown.id, "clicks": shown.clicks, "idempotency_key": f"k{shop.rng.random()}"}),
        ("/v1/feedback", {"list_id": shown.id, "gains": shown.gains}),
    ]


def mutated(body: Any, rng: random.Random) -> bytes:
    """The body with one to four things wrong: in its structure, in its bytes, or both."""
    body = json.loads(json.dumps(body))
    for _ in range(rng.randint(0, 2)):
        body = _with_other_value(body, rng)
    data = json.dumps(body).encode("utf-8", "surrogatepass")
    for _ in range(rng.randint(0, 2)):
        data = _with_other_bytes(data, rng)
    return data


def _with_other_value(body: Any, rng: random.Random) -> Any:
    """One entry, however deep, replaced, doubled or left out."""
    if not isinstance(body, dict | list) or not body or rng.random() < 0.2:
        return deepcopy(rng.choice(VALUES))
    key = rng.choice(list(body)) if isinstance(body, dict) else rng.randrange(len(body))
    kind = rng.random()
    if kind < 0.1:
        del body[key]
    elif kind < 0.2 and isinstance(body, list):
        body.append(body[key])
    elif kind < 0.25 and isinstance(body, dict):
        body[rng.choice(["x", "", "id", "items", "é"])] = deepcopy(rng.choice(VALUES))
    else:
        body[key] = _with_other_value(body[key], rng)
    return body


def _with_other_bytes(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + rng.choice([0, 1, 1, 2, 10, 100]))
    kind = rng.random()
    if kind < 0.5:
        return data[:at] + rng.choice(TOKENS) + data[end:]
    if kind < 0.7:
        return data[:at] + data[end:]
    if kind < 0.85:
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    return data[:at]


def press(servers: list[Server], count: int, *, seed: int = 0) -> tuple[Counter[int], list[str]]:
    """Sends mutated bodies; answers by status, and what went wrong."""
    rng, statuses, wrong = random.Random(seed), Counter[int](), []
    clients, shop = [Client(server.port) for server in servers], Shop(rng)
    for number in range(count):
        at = number // ROUND % len(servers)
        client = clients[at]
        if number % ROUND == 0:
            shown = ShownList(client, shop)
        path, body = rng.choice(good_bodies(shown, shop))
        data = mutated(body, rng)
        try:
            status, answer = client.post(path, data)
            if path == "/v1/lists" and status == 200 and rng.random() < 0.5:
                client.post("/v1/feedback", feedback_body(answer, clicked=rng.random() < 0.5))
        except Broken as error:
            wrong.append(f"{path} {data[:200]!r}: {error}")
            clients[at] = Client(servers[at].port)
            continue
        statuses[status] += 1
        if status >= 500 or (status >= 400 and "code" not in json.loads(answer)["error"]):
            wrong.append(f"{path} {data[:200]!r}: {status} {answer[:200]!r}")
    for client in clients:
        client.close()
    if not all(is_ready(server) for server in servers):
        wrong.append("a service is not ready any more")
    return statuses, wrong


def values(server: Server, count: int) -> Any:
    """By held-out problem whether the list that is served has a good item."""
    client, shop = Client(server.port), Shop(random.Random(99))
    outcomes = []
    for _ in range(count):
        request = shop.request()
        _, answer = client.post("/v1/lists", json.dumps(request).encode())
        outcomes.append(bool(shop.good(request, answer)))
    client.close()
    return np.array(outcomes, dtype=float)


def compared(before: Any, after: Any) -> tuple[str, bool]:
    """Both means and the interval of their difference in words, and whether the lists are worse than they were."""
    change = after - before
    mean, error = float(change.mean()), float(change.std(ddof=1)) / len(change) ** 0.5
    sentence = (
        f"{before.mean():.3f} before, {after.mean():.3f} after ({mean - 2 * error:+.3f} to {mean + 2 * error:+.3f})"
    )
    return sentence, mean + SURELY * error < 0


def learned_lists(server: Server) -> int:
    """How many lists were learned from, when all feedback has been looked at; the service must still learn."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        with urlopen(f"{server.url}/v1/learning") as answer:
            state = json.load(answer)["versions"][0]
        if not state["waiting"] and state["state"] == "learning":
            return int(state["lists"])
        time.sleep(0.1)
    return 0


def schemathesis(server: Server, examples: int) -> int:
    """Its exit code: 0 where it found nothing."""
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{server.url}/openapi.json"]
    options = ["--checks", CHECKS, "--max-examples", str(examples), "--phases", "examples,coverage,fuzzing"]
    options += ["--request-timeout", str(START_SECONDS)]
    return subprocess.call([*command, *options, "--seed", "1", "--no-color", "--suppress-health-check", "all"])


def main(arguments: list[str]) -> None:
    """`fuzz [bodies] [examples of schemathesis a route] [replicas]`."""
    given = [int(number) for number in arguments]
    count, examples, replicas = (*given, *(50_000, 200, 0)[len(given) :])
    held_out = min(HELD_OUT, max(100, count // 4))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = make_model(folder / "model.listwright", **SHAPE)
        with services(model, folder, replicas, "--learn") as servers:
            server = servers[0]
            before, start = values(server, held_out), time.monotonic()
            statuses, wrong = press(servers, count)
            seconds = time.monotonic() - start
            learned, worse = learned_lists(server), True
            if not wrong:
                sentence, worse = compared(before, values(server, held_out))
                print(f"learned from {learned} lists; lists with a good item: {sentence}")
            print(
                f"{count} bodies in {seconds:.0f} s: {dict(sorted(statuses.items()))}, {len(wrong)} wrong", flush=True
            )
            if wrong or worse or not learned:
                sys.exit("\n".join(wrong[:20]) or "the lists are worse than before, or nothing was learned")
            if examples and schemathesis(server, examples):
                sys.exit("schemathesis found something")
