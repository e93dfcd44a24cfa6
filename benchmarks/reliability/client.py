"""A client that costs little: one connection, blocking, bodies made before."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import numpy as np

import listwright as lw


class Broken(Exception):
    """The connection ended before an answer came: nothing is known of the request."""


class Client:
    """One connection to a service, kept open."""

    def __init__(self, port: int, *, timeout: float = 1_800.0) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Status and body of the answer."""
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        try:
            self.socket.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            return self._answer()
        except OSError as error:
            raise Broken(str(error)) from None

    def close(self) -> None:
        self.socket.close()

    def _answer(self) -> tuple[int, bytes]:
        data = self.rest
        while b"\r\n\r\n" not in data:
            data += self._more()
        head, _, data = data.partition(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        while len(data) < size:
            data += self._more()
        self.rest = data[size:]
        return int(head[9:12]), data[:size]

    def _more(self) -> bytes:
        data = self.socket.recv(1 << 16)
        if not data:
            raise Broken("the service closed the connection")
        return data


def make_model(path: Path, *, features: int = 32, candidates: int = 100, length: int = 10, seed: int = 0) -> Path:
    """A model of that shape, learned from made-up problems."""
    table = np.random.default_rng(seed).random((200, candidates, features), dtype=np.float32)
    scores = table @ true_weights(features, seed)
    problems = lw.Problems.from_arrays(table, reward=lw.rewards.AnySuccess(scores > np.quantile(scores, 0.97)))
    lw.SCP(length=length, n_passes=2, effort="fast", random_state=0).fit(problems).save(path)
    return path


def true_weights(features: int, seed: int = 0) -> Any:
    """What a feature really counts for in those problems."""
    return np.random.default_rng([seed, 1]).normal(size=features)


def list_bodies(count: int, *, candidates: int = 100, features: int = 32, length: int = 10) -> list[bytes]:
    """Requests for lists, with numbers of four digits."""
    rng = np.random.default_rng(1)
    return [_list_body(rng.random((candidates, features)).round(4), length) for _ in range(count)]


def _list_body(table: Any, length: int) -> bytes:
    items = [{"id": f"item-{i}", "features": row} for i, row in enumerate(table.tolist())]
    return json.dumps({"items": items, "length": length}).encode()


def feedback_body(answer: bytes, clicked: bool) -> bytes:
    """Feedback on a list: a click on its first item, or none."""
    served = json.loads(answer)
    clicks = [item["id"] for item in served["items"][:1]] if clicked else []
    return json.dumps({"list_id": served["list_id"], "clicks": clicks}).encode()
