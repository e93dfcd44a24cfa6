"""Bodies that nobody would send: schemathesis on the OpenAPI text, and mutations of good bodies. No 5xx, no crash."""

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

from benchmarks.reliability.client import Broken, Client, make_model
from benchmarks.reliability.server import Server, is_ready, running

SHAPE = {"features": 4, "candidates": 6, "length": 2}
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
TOKENS = (
    b"NaN", b"-Infinity", b"1e999", b"-0", b"1e-400", b"null", b"true", b"{}", b"[]", b'""', b"[" * 300, b'{"a":' * 300,
    b"9" * 400, b"0.1" * 50, b'"\\u0000"', b'"\\ud800"', b"\xff\xfe", b"\x00", b",", b":", b'"', b"\\", b"}", b"]",
    b'"items"', b'"id"', b"1" * 5000, b'"' + b"x" * 3000 + b'"', b"/**/", b"\xf0\x9f\x92\xa9",
)  # fmt: skip
VALUES = (
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63, 10**30, -(10**400), 0.5, 1e308, -1e39, float("nan"),
    float("inf"), "", "a", "\x00", "x" * 300, "é\u202e", [], {}, [[]], [None], {"a": {}}, [1.0] * 4, [0] * 2000,
    {"": 1}, "0" * 32, "i0",
)  # fmt: skip


def good_bodies(list_id: str) -> list[tuple[str, Any]]:
    """Requests that are in order, by path."""
    items = [{"id": f"i{i}", "features": [0.1 * i, 0.2, 0.3, 0.4], "size": 1.0} for i in range(6)]
    asked = {"items": items, "length": 2, "budget": 3.0}
    return [
        ("/v1/lists", asked),
        ("/v1/lists:batch", {"lists": [asked, {"items": items[:3]}]}),
        ("/v1/feedback", {"list_id": list_id, "clicks": ["i1"], "idempotency_key": "k"}),
        ("/v1/feedback", {"list_id": list_id, "gains": [0.5, 0.0]}),
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


def press(server: Server, count: int, *, seed: int = 0) -> tuple[Counter[int], list[str]]:
    """Sends mutated bodies; answers by status, and what went wrong."""
    rng, client, statuses, wrong = random.Random(seed), Client(server.port), Counter[int](), []
    told = json.loads(client.post("/v1/lists", json.dumps(good_bodies("")[0][1]).encode())[1])
    for _ in range(count):
        path, body = rng.choice(good_bodies(told["list_id"]))
        data = mutated(body, rng)
        try:
            status, answer = client.post(path, data)
        except Broken as error:
            wrong.append(f"{path} {data[:200]!r}: {error}")
            client = Client(server.port)
            continue
        statuses[status] += 1
        if status >= 500 or (status >= 400 and "code" not in json.loads(answer)["error"]):
            wrong.append(f"{path} {data[:200]!r}: {status} {answer[:200]!r}")
    client.close()
    if not is_ready(server):
        wrong.append("the service is not ready any more")
    return statuses, wrong


def schemathesis(server: Server, examples: int) -> int:
    """Its exit code: 0 where it found nothing."""
    command = [str(Path(sys.executable).with_name("schemathesis")), "run", f"{server.url}/openapi.json"]
    options = ["--checks", CHECKS, "--max-examples", str(examples), "--phases", "examples,coverage,fuzzing"]
    return subprocess.call([*command, *options, "--seed", "1", "--no-color", "--suppress-health-check", "all"])


def main(arguments: list[str]) -> None:
    """`fuzz [bodies] [examples of schemathesis a route]`."""
    given = [int(one) for one in arguments]
    count, examples = (*given, *(50_000, 200)[len(given) :])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = make_model(folder / "model.listwright", **SHAPE)
        with running(model, f"sqlite:///{folder}/store.db", folder, "--learn") as server:
            start = time.monotonic()
            statuses, wrong = press(server, count)
            seconds = time.monotonic() - start
            print(
                f"{count} bodies in {seconds:.0f} s: {dict(sorted(statuses.items()))}, {len(wrong)} wrong", flush=True
            )
            if wrong:
                sys.exit("\n".join(wrong[:20]))
            if examples and schemathesis(server, examples):
                sys.exit("schemathesis found something")
