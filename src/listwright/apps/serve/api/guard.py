"""What every request goes through first: key, origin, requests in flight, time; and what no answer may tell."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from contextvars import ContextVar
from time import perf_counter
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from listwright.apps.serve.api.auth import OPEN_FOLDER, Keys, roles_for
from listwright.apps.serve.metrics import Metrics
from listwright.apps.serve.refusals import Refused, busy
from listwright.apps.settings import Settings

ALWAYS = ("/healthz", "/readyz", "/metrics")  # asked by machines that must know when it is busy
UPLOADS = ("/v1/models", "/v1/learning")
FORMS = ("", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded")
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
request_id: ContextVar[str] = ContextVar("request_id", default="")
log = logging.getLogger("listwright.serve.requests")


class Guard:
    """ASGI middleware; it turns whatever goes wrong inside into JSON."""

    def __init__(self, app: ASGIApp, *, settings: Settings, keys: Keys | None, metrics: Metrics) -> None:
        self.app, self.settings, self.limits = app, settings, settings.limits
        self.keys, self.metrics, self.prefix = keys, metrics, settings.path_prefix
        self.in_flight = self.bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        answer = Answer(send, _id_of(headers), head=scope["method"] == "HEAD")
        start, size = perf_counter(), _size_of(headers)
        self.in_flight += 1
        self.bytes += size
        self.metrics.in_flight.inc()
        try:
            await self._guarded(scope, headers, receive, answer)
        finally:
            self.in_flight -= 1
            self.bytes -= size
            self.metrics.in_flight.dec()
            self._note(scope, answer, perf_counter() - start)

    async def _guarded(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, answer: Answer) -> None:
        request_id.set(answer.id)
        try:
            answer.scope = self._admitted(scope, headers, answer)
            async with asyncio.timeout(self._seconds(answer.scope["path"])):
                await self.app(answer.scope, receive, answer)
        except Refused as refused:
            await answer.refuse(refused)
        except TimeoutError:
            await answer.refuse(Refused(503, "timeout", "This took too long. Ask for less.", retry_after=1))
        except ClientDisconnect:
            answer.cause = "the client went away"
        except Exception as error:
            log.exception("a request failed")
            answer.cause = type(error).__name__
            await answer.refuse(Refused(500, "internal", "Something went wrong here."))

    def _admitted(self, scope: Scope, headers: dict[bytes, bytes], answer: Answer) -> Scope:
        """The request as the routes know it, if it may be made."""
        path = _without(scope["path"], self.prefix)
        if self.prefix and scope["path"] == self.prefix:  # the page's own addresses count from the slash
            raise Refused(308, "moved", "The page is one slash further.", location=f"{self.prefix}/")
        method = "GET" if answer.head else scope["method"]
        crowded = self.in_flight > self.limits.in_flight or self.bytes > self.limits.in_flight_bytes
        if crowded and path not in ALWAYS:
            raise busy()
        roles = roles_for(method, path)
        if self.keys is None:
            _check_origin(method, headers)
        elif roles is not None:
            answer.key = self.keys.check(headers.get(b"authorization", b"").decode("latin-1"), roles).name
        return {**scope, "path": path, "raw_path": path.encode("utf-8", "surrogateescape"), "method": method}

    def _seconds(self, path: str) -> float | None:
        if path.startswith(OPEN_FOLDER):
            return None  # made once, however long that takes
        return self.limits.upload_seconds if path in UPLOADS else self.limits.seconds

    def _note(self, scope: Scope, answer: Answer, seconds: float) -> None:
        route = getattr(answer.scope.get("route"), "path", "other")
        method = scope["method"] if route != "other" else "other"
        self.metrics.of_request(method, route, answer.status, seconds)
        level = logging.INFO if answer.status < 500 else logging.WARNING
        if log.isEnabledFor(level):
            told = {"method": scope["method"], "path": scope["path"][:200], "status": answer.status}
            told |= {"seconds": round(seconds, 4), "key": answer.key, "cause": answer.cause}
            log.log(level, "request", extra={name: value for name, value in told.items() if value not in ("", None)})


class Answer:
    """`send` of one request, with the headers that every answer has."""

    def __init__(self, send: Send, identity: str, *, head: bool) -> None:
        self.send, self.id, self.head = send, identity, head
        self.status, self.cause, self.key = 0, "", ""
        self.scope: Scope = {}

    async def __call__(self, message: Message) -> None:
        """Passes a message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = (b"x-request-id", self.id.encode())
            message = {**message, "headers": [*message["headers"], *HEADERS, own]}
        elif self.head:
            message = {**message, "body": b""}
        await self.send(message)

    async def refuse(self, refused: Refused) -> None:
        """The JSON of a refusal, unless an answer has begun: that can only be broken off."""
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
    """Without keys a page of another site must not be able to change anything on the user's behalf.

    Browsers say where a request comes from; and what a form can send, they send without asking first.
    """
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


def _without(path: str, prefix: str) -> str:
    """The path as if there were no proxy that puts the service under a prefix."""
    if prefix and (path == prefix or path.startswith(f"{prefix}/")):
        return path[len(prefix) :] or "/"
    return path


def _id_of(headers: dict[bytes, bytes]) -> str:
    """The id that whoever asks has given, or a new one."""
    given = headers.get(b"x-request-id", b"").decode("latin-1")
    return given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8)


def _size_of(headers: dict[bytes, bytes]) -> int:
    length = headers.get(b"content-length", b"0")
    return int(length) if length.isdigit() and len(length) < 16 else 0
