"""What every request goes through first: host, key, requests in flight, time; and what no answer may tell."""

from __future__ import annotations

import asyncio
import logging
from time import perf_counter
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from listwright.apps.serve.auth import OPEN_FOLDER, Keys, role_needed
from listwright.apps.serve.metrics import Metrics
from listwright.apps.serve.refusals import Refused
from listwright.apps.serve.settings import Limits

LOCAL = ("localhost", "127.0.0.1", "[::1]")
ALWAYS = ("/healthz", "/readyz", "/metrics")  # asked by machines that must know when it is busy
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", POLICY.encode()),
)
log = logging.getLogger("listwright.apps.serve")


class Guard:
    """ASGI middleware; it turns whatever goes wrong inside into JSON."""

    def __init__(self, app: ASGIApp, *, limits: Limits, keys: Keys | None, host: str, metrics: Metrics) -> None:
        self.app, self.limits, self.keys, self.metrics = app, limits, keys, metrics
        self.hosts = (*LOCAL, host)
        self.in_flight = 0
        metrics.in_flight.set_function(lambda: self.in_flight)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, answer = perf_counter(), Answer(send)
        self.in_flight += 1
        try:
            await self._guarded(scope, receive, answer)
        finally:
            self.in_flight -= 1
            self._note(scope, answer.status, perf_counter() - start)

    async def _guarded(self, scope: Scope, receive: Receive, answer: Answer) -> None:
        try:
            self._admit(scope)
            static = scope["path"].startswith(OPEN_FOLDER)  # made once, however long that takes
            async with asyncio.timeout(None if static else self.limits.seconds):
                await self.app(scope, receive, answer)
        except Refused as refused:
            await answer.refuse(refused)
        except TimeoutError:
            await answer.refuse(Refused(503, "timeout", "This took too long. Ask for less.", retry_after=1))
        except ClientDisconnect:
            pass
        except Exception:
            log.exception("a request failed")
            await answer.refuse(Refused(500, "internal", "Something went wrong here."))

    def _admit(self, scope: Scope) -> None:
        if self.in_flight > self.limits.in_flight and scope["path"] not in ALWAYS:
            raise Refused(429, "busy", "Too many requests at once. Try again.", retry_after=1)
        headers = dict(scope["headers"])
        role = role_needed(scope["method"], scope["path"])
        if self.keys is None:
            self._check_host(headers.get(b"host", b"").decode("latin-1"))
        elif role is not None:
            self.keys.check(headers.get(b"authorization", b"").decode("latin-1"), role)

    def _check_host(self, host: str) -> None:
        """Without keys a page of another site, whose name was made to point here, could ask on the user's behalf."""
        if host.rpartition(":")[0] not in self.hosts and host not in self.hosts:
            raise Refused(400, "wrong_host", "This service is only for its own machine.", field="host")

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if route != "other" else "other"
        self.metrics.of_request(method, route, status, seconds)


class Answer:
    """`send` of one request, with the headers that every answer has."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        """Passes a message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*message["headers"], *HEADERS]}
        await self.send(message)

    async def refuse(self, refused: Refused) -> None:
        """The JSON of a refusal, unless an answer has begun: that can only be broken off."""
        if self.status:
            return
        body = refused.body()
        headers: list[tuple[bytes, Any]] = [(b"content-type", b"application/json")]
        headers += [(name.lower().encode(), value.encode()) for name, value in refused.headers().items()]
        headers.append((b"content-length", str(len(body)).encode()))
        await self({"type": "http.response.start", "status": refused.status, "headers": headers})
        await self({"type": "http.response.body", "body": body})
