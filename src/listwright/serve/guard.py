"""ASGI middleware in front of all routes: API key, origin, load limits, timeout, security headers and the request log.

Internal errors are answered with a general message, so that no answer reveals paths, queries or secrets.
"""

from __future__ import annotations

import asyncio
import logging
import re
from contextvars import ContextVar
from random import getrandbits
from time import perf_counter
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from listwright.serve.auth import OPEN_FOLDER, Keys, is_page, roles_for
from listwright.serve.metrics import Metrics
from listwright.serve.refusals import Refused, busy
from listwright.serve.settings import Settings

ALWAYS = ("/healthz", "/readyz", "/metrics")  # asked by machines that must know when it is busy
PAGE_SHARE = 8  # pages have one place for so many of other requests
UPLOADS = ("/v1/models", "/v1/learning")
FORMS = ("", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded")
LOCAL = ("localhost", "127.0.0.1")
REQUEST_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
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
KEY_NAME = "listwright.key"  # of a scope: name of the API key that the request came with
request_id: ContextVar[str] = ContextVar("request_id", default="")
log = logging.getLogger("listwright.serve.requests")


class Guard:
    """Middleware that admits, times, logs and counts every request."""

    app: ASGIApp  # behind it; to be set before the first request

    def __init__(self, *, settings: Settings, keys: Keys | None, metrics: Metrics) -> None:
        self.settings, self.limits = settings, settings.limits
        self.hosts = {name.encode() for name in (*LOCAL, settings.host)}
        self.keys, self.metrics = keys, metrics
        # Places are counted apart for pages, which need no key and have an eighth as many. Requests that wait for more
        # of their body do not count, so that clients who never send the rest cannot take all places. Bytes of bodies
        # are counted apart for uploads, which are larger.
        self.in_flight, self.bytes = {False: 0, True: 0}, {False: 0, True: 0}
        self.places = {False: self.limits.in_flight, True: max(1, self.limits.in_flight // PAGE_SHARE)}
        most = self.limits.in_flight_bytes
        self.capacity = {False: most, True: most + self.limits.model_bytes}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        answer = Answer(send, _id_of(headers), head=scope["method"] == "HEAD")
        path = scope["path"]
        start, body = perf_counter(), Body(self, receive, page=is_page(path), upload=path in UPLOADS)
        self.in_flight[body.page] += 1
        self.metrics.in_flight.inc()
        try:
            await self._run(scope, headers, body, answer)
        finally:
            self.in_flight[body.page] -= 1
            self.bytes[body.upload] -= body.size
            self.metrics.in_flight.dec()
            self._note(scope, answer, perf_counter() - start)

    async def _run(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, answer: Answer) -> None:
        request_id.set(answer.id)
        try:
            answer.scope = self._admit(scope, headers, answer)
            slow = scope["path"] in UPLOADS or scope["path"].startswith(OPEN_FOLDER)  # which may have to be bundled
            async with asyncio.timeout(self.limits.upload_seconds if slow else self.limits.seconds):
                await self.app(answer.scope, receive, answer)
        except Refused as refused:
            await answer.refuse(refused)
        except TimeoutError:
            await answer.refuse(
                Refused(503, "timeout", "The request took too long. Send a smaller one.", retry_after=1)
            )
        except ClientDisconnect:
            answer.cause = "the client went away"
        except Exception as error:
            log.exception("a request failed")
            answer.cause = type(error).__name__
            await answer.refuse(Refused(500, "internal", "Internal error. The log of the service has the details."))

    def is_crowded(self, *, page: bool = False, upload: bool = False) -> bool:
        return self.in_flight[page] > self.places[page] or self.bytes[upload] > self.capacity[upload]

    def _admit(self, scope: Scope, headers: dict[bytes, bytes], answer: Answer) -> Scope:
        path, method = scope["path"], "GET" if answer.head else scope["method"]
        if path not in ALWAYS and self.is_crowded(page=is_page(path), upload=path in UPLOADS):
            raise busy()
        roles = roles_for(method, path)
        if self.keys is None:
            self._check_host(headers.get(b"host", b"").lower())
            _check_origin(method, headers)
        elif roles is not None:
            answer.key = self.keys.check(headers.get(b"authorization", b"").decode("latin-1"), roles).name
            scope[KEY_NAME] = answer.key
        return {**scope, "method": method} if answer.head else scope

    def _check_host(self, host: bytes) -> None:
        # A page of another site whose name was made to point here could otherwise ask on the user's behalf (DNS
        # rebinding).
        if host.rpartition(b":")[0] in self.hosts or host in self.hosts or host.startswith(b"["):
            return
        raise Refused(400, "other_host", "This service is not for that host.", field="host")

    def _note(self, scope: Scope, answer: Answer, seconds: float) -> None:
        # Requests that matched no route share the label "other", so that scanners cannot create metric series.
        route = getattr(answer.scope.get("route"), "path", "other")
        method = scope["method"] if route != "other" else "other"
        self.metrics.of_request(method, route, answer.status, seconds)
        level = logging.INFO if answer.status < 500 else logging.WARNING
        if log.isEnabledFor(level):
            fields = {"method": scope["method"], "path": scope["path"][:200], "status": answer.status}
            fields |= {"seconds": round(seconds, 4), "key": answer.key, "cause": answer.cause}
            log.log(level, "request", extra={name: value for name, value in fields.items() if value not in ("", None)})


class Body:
    """Wraps the ASGI `receive` of one request: counts its bytes, and takes no place while it waits for them."""

    def __init__(self, guard: Guard, receive: Receive, *, page: bool, upload: bool) -> None:
        self.guard, self.receive, self.page, self.upload, self.size = guard, receive, page, upload, 0

    async def __call__(self) -> Message:
        guard = self.guard
        guard.in_flight[self.page] -= 1
        try:
            message = await self.receive()
        finally:
            guard.in_flight[self.page] += 1
        received = len(message.get("body", b""))
        self.size += received
        guard.bytes[self.upload] += received
        if received and guard.is_crowded(page=self.page, upload=self.upload):
            raise busy()
        return message


class Answer:
    """Wraps the ASGI `send` of one request and adds the headers that every answer has."""

    def __init__(self, send: Send, identity: str, *, head: bool) -> None:
        self.send, self.head = send, head  # with `head` the body is suppressed
        self.id = identity  # of the request, returned as `X-Request-Id`
        self.status = 0  # that was sent; 0 before the answer begins
        self.cause = ""  # why the request failed, for the log
        self.key = ""  # name of the API key
        self.scope: Scope = {}  # as the routes saw it; holds the matched route

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = (b"x-request-id", self.id.encode())
            message = {**message, "headers": [*message["headers"], *HEADERS, own]}
        elif self.head:
            message = {**message, "body": b""}
        await self.send(message)

    async def refuse(self, refused: Refused) -> None:
        # After 413 and timeouts the connection is closed, because the rest of the request body is not read.
        self.cause = self.cause or refused.message
        if self.status:
            return
        body = refused.body()
        headers: list[tuple[bytes, Any]] = [(b"content-type", b"application/json")]
        headers += [(name.lower().encode(), value.encode()) for name, value in refused.headers().items()]
        headers.append((b"content-length", str(len(body)).encode()))
        if refused.status == 413 or refused.code == "timeout":  # the rest of the body is not waited for
            headers.append((b"connection", b"close"))
        await self({"type": "http.response.start", "status": refused.status, "headers": headers})
        await self({"type": "http.response.body", "body": body})


def _check_origin(method: str, headers: dict[bytes, bytes]) -> None:
    """Refuse cross-site requests to a service without keys (CSRF protection)."""
    # So anything but GET must come from the same site and must not have a form's content type.
    if method == "GET":
        return
    site = headers.get(b"sec-fetch-site", b"none")
    origin = headers.get(b"origin")
    own = origin is None or origin.partition(b"://")[2] == headers.get(b"host")
    if site not in (b"none", b"same-origin") or not own:
        raise Refused(403, "other_site", "A page of another site may not do this.", field="origin")
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin-1")
    if kind in FORMS and (kind or origin is not None):
        raise Refused(415, "not_json", "Send JSON, with the header `Content-Type: application/json`.")


def _id_of(headers: dict[bytes, bytes]) -> str:
    given = headers.get(b"x-request-id", b"").decode("latin-1")
    return given if REQUEST_ID.fullmatch(given) else f"{getrandbits(64):016x}"  # no secret
