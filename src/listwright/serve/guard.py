"""ASGI middleware in front of all routes: API keys, origins, load limits, timeouts, security headers, request log."""

from __future__ import annotations

import asyncio
import logging
import re
from contextvars import ContextVar
from dataclasses import dataclass
from random import getrandbits
from time import perf_counter
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from listwright.errors import InputError
from listwright.serve.auth import Keys, is_page, roles_for
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
        places, size = self.limits.in_flight, self.limits.in_flight_bytes
        self.calls = Lane(places, size)
        self.pages = Lane(max(1, places // PAGE_SHARE), size)
        self.uploads = Lane(places, size + self.limits.model_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        answer = Answer(send, _id_of(headers), head=scope["method"] == "HEAD")
        path = scope["path"]
        lane = self.pages if is_page(path) else self.uploads if path in UPLOADS else self.calls
        start, body = perf_counter(), Body(lane, receive)
        lane.in_flight += 1
        self.metrics.in_flight.inc()
        try:
            await self._run(scope, headers, body, answer)
        finally:
            lane.in_flight -= 1
            lane.bytes -= body.size
            self.metrics.in_flight.dec()
            self._note(scope, answer, perf_counter() - start)

    async def _run(self, scope: Scope, headers: dict[bytes, bytes], body: Body, answer: Answer) -> None:
        request_id.set(answer.id)
        quick = body.lane is self.calls  # charts of pages may have to be bundled
        try:
            if body.lane.is_crowded and scope["path"] not in ALWAYS:
                raise busy()
            answer.scope = self._admit(scope, headers, answer)
            async with asyncio.timeout(self.limits.seconds if quick else self.limits.upload_seconds):
                await self.app(answer.scope, body, answer)
        except Refused as refused:
            await answer.refuse(refused)
        except TimeoutError:
            await answer.refuse(
                Refused(503, "timeout", "The request took too long. Send a smaller one.", retry_after=1)
            )
        except ClientDisconnect:
            answer.cause = "the client went away"
        except InputError as error:  # of what is stored: what was sent is refused before
            log.error("a request failed", extra={"cause": str(error)})
            answer.cause = type(error).__name__
            await answer.refuse(Refused(500, "internal", str(error)))
        except Exception as error:
            log.exception("a request failed")
            answer.cause = type(error).__name__
            await answer.refuse(Refused(500, "internal", "Internal error. The log of the service has the details."))

    def _admit(self, scope: Scope, headers: dict[bytes, bytes], answer: Answer) -> Scope:
        path, method = scope["path"], "GET" if answer.head else scope["method"]
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


@dataclass
class Lane:
    """Requests of a kind, which have places of their own, so that no kind takes those of others."""

    # Requests that wait for more of their body take no place, so that clients who never send the rest cannot take all.

    places: int
    capacity: int  # bytes of all bodies
    in_flight: int = 0
    bytes: int = 0

    @property
    def is_crowded(self) -> bool:
        return self.in_flight > self.places or self.bytes > self.capacity


class Body:
    """Wraps the ASGI `receive` of one request: counts its bytes, and takes no place while it waits for them."""

    def __init__(self, lane: Lane, receive: Receive) -> None:
        self.lane, self.receive, self.size = lane, receive, 0

    async def __call__(self) -> Message:
        lane = self.lane
        lane.in_flight -= 1
        try:
            message = await self.receive()
        finally:
            lane.in_flight += 1
        received = len(message.get("body", b""))
        self.size += received
        lane.bytes += received
        if received and lane.is_crowded:
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
