"""Runs the application under uvicorn, in one process or several, with limits that uvicorn lacks, and a log."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import socket
import sys
import tempfile
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

import msgspec
import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors import Multiprocess

from listwright.errors import InputError
from listwright.serve.app import create_app
from listwright.serve.guard import request_id
from listwright.serve.metrics import FOLDER
from listwright.serve.settings import Limits, Settings

START = 120  # seconds until a process that does not answer is taken to hang: starting takes a while on a busy machine
STANDARD_FIELDS = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%b"
)
BODY = b'{"error":{"code":"too_large","message":"The headers are too large.","field":"headers"}}'
AROUND_CHUNK = 64  # bytes that a chunk of a body may have beside its content
SWITCH = 0.0005  # seconds until the writer's thread gets its turn while the event loop is busy


def serve(settings: Settings) -> None:
    """Run a service until it receives SIGINT or SIGTERM.

    Requests in progress are finished and pending writes committed before it returns. With `settings.workers` above 1,
    several processes share the socket and the store; workers that die are replaced. Use `create_app` to run under
    another server or in a test.

    Parameters
    ----------
    settings : Settings
        Which models are served, on which address, where lists are stored, which keys may call, and all limits.

    Raises
    ------
    InputError
        If a setting is invalid, the address cannot be bound, a model cannot be read, or the store cannot be opened.
    SystemExit
        With status 1 if the application does not start.

    See Also
    --------
    create_app : The ASGI application alone.
    new_key : Creates an API key.

    Examples
    --------
    .. code-block:: python

        from pathlib import Path
        from listwright.serve import Settings, serve

        serve(Settings(model=Path("model.listwright"), store="sqlite:///lists.db", port=8000))
    """
    settings.check()
    set_up_logs(settings.log_format)
    _allow_connections(settings.limits.connections)
    with _listen(settings.host, settings.port) as listening:
        app = create_app(settings)  # first, so that what is wrong is said before any worker starts
        _announce(settings, listening.getsockname()[1])
        if settings.workers > 1:
            app.state.service.database.close()
            _run_several(settings, listening)
        else:
            _run_one(app, settings, listening)


def _run_one(app: Any, settings: Settings, listening: socket.socket) -> None:
    """Serve in this process; exits with status 1 if the application did not start."""
    # The switch interval is lowered so that the writer's thread gets the interpreter soon after a request is queued;
    # each list waits for its commit.
    sys.setswitchinterval(SWITCH)
    server = uvicorn.Server(_config(app, settings))
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listening])
    if not server.started:
        sys.exit(1)


def _run_several(settings: Settings, listening: socket.socket) -> None:
    folder = tempfile.mkdtemp(prefix="listwright-metrics-")
    os.environ[FOLDER] = folder
    try:
        config = _config(
            partial(create_worker, settings),
            settings,
            factory=True,
            workers=settings.workers,
            timeout_worker_healthcheck=START,
        )
        Multiprocess(config, sockets=[listening]).run()
    finally:
        del os.environ[FOLDER]
        shutil.rmtree(folder, ignore_errors=True)


def create_worker(settings: Settings) -> Any:
    """Create the application of one worker process; called by uvicorn in that process."""
    set_up_logs(settings.log_format)
    sys.setswitchinterval(SWITCH)
    return create_app(settings)


def _config(app: Any, settings: Settings, **more: Any) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        http=LimitedProtocol,
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=max(1, int(settings.grace_seconds)),
        timeout_keep_alive=30,
        **more,
    )
    config.listwright = settings  # type: ignore[attr-defined]  # where LimitedProtocol finds it, in every process
    return config


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise InputError(f"Cannot listen on {host} port {port}: {error.strerror or error}.") from None
    listening.set_inheritable(True)
    return listening


def _announce(settings: Settings, port: int) -> None:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{port}"
    print(f"Serving on {url}, the API at {url}/docs. Stop with Ctrl+C.", file=sys.stderr, flush=True)


def _allow_connections(wanted: int) -> None:
    """Raise the soft limit on open files to what `wanted` connections need, as far as the hard limit allows."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + 256
    if soft < needed:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(needed, hard), hard))


class LimitedProtocol(HttpToolsProtocol):
    """One client connection."""

    # Headers must arrive within `limits.header_seconds` and `limits.header_bytes`, and so must trailers, which are
    # ignored. A client that does not read its answer for `limits.write_seconds` is cut off. Beyond
    # `limits.connections`, the connection that has been waited for longest is closed, so that abandoned connections
    # cannot lock others out.

    def __init__(self, config: Any, *arguments: Any, **options: Any) -> None:
        super().__init__(config, *arguments, **options)
        self.limits: Limits = config.listwright.limits  # `_config` puts the settings there
        self.waiting = True  # whether the headers of a request are incomplete
        self.framing = 0  # bytes of headers, or of trailers and what stands around the chunks of a body
        self.since = 0.0  # when (uvloop's own time is one for a whole turn) the last data came or the last answer went
        self.arrived = 0  # bytes that came last: those of a request that begins are among them
        self.timer: asyncio.TimerHandle | None = None  # of the headers
        self.stuck: asyncio.TimerHandle | None = None  # of an answer that is not read

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = monotonic()
        self._start_timer()
        if len(self.connections) > self.limits.connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_stuck()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self.arrived, self.since = len(data), monotonic()
        self.framing += self.arrived
        super().data_received(data)
        if self.waiting and self.timer is None:
            self._start_timer()
        if self.framing > self.limits.header_bytes and not self.transport.is_closing():
            if self.waiting:
                self.transport.write(TOO_LARGE % (len(BODY), BODY))
            self.transport.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.waiting:
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Pass a part of the body on; before the answer, neither it nor the little around each chunk counts."""
        if not self.waiting and self.cycle is not None and not self.cycle.response_complete:
            self.framing = max(0, self.framing - len(body) - AROUND_CHUNK)
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self.waiting:
            super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.stuck = self.loop.call_later(self.limits.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_stuck()
        super().resume_writing()

    def _stop_stuck(self) -> None:
        if self.stuck is not None:
            self.stuck.cancel()
            self.stuck = None

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._stop_waiting()
        self.waiting, self.framing = True, self.arrived

    def on_headers_complete(self) -> None:
        """Stop the timer, unless headers that came at once are too large: these are left to `data_received`."""
        large = self.framing > self.limits.header_bytes  # or there is more than one request in what came
        if large and sum(len(name) + len(value) for name, value in self.headers) > self.limits.header_bytes:
            return
        self._stop_waiting()
        self.framing = 0
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        self.since = monotonic()
        super().on_response_complete()

    @property
    def idle(self) -> bool:
        """Whether the client is to send something: a request, or the rest of one."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _start_timer(self) -> None:
        self.timer = self.loop.call_later(self.limits.header_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        self.waiting = False
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def _give_up(self) -> None:
        if self.waiting and not self.transport.is_closing():
            self.transport.close()

    def _make_room(self) -> None:
        """Close the connection of this process that has been idle for longest; this one if none is idle."""
        others = [other for other in self.connections if isinstance(other, LimitedProtocol) and other is not self]
        oldest = min((other for other in others if other.idle), key=lambda other: other.since, default=self)
        oldest.transport.close()
        self.connections.discard(oldest)


def set_up_logs(style: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if style == "json" else TextFormatter())
    for name, level in (("listwright.serve", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
    if style == "text":  # a line per request is for machines
        logging.getLogger("listwright.serve.requests").setLevel(logging.WARNING)


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields that a call passed with ``extra=``, preceded by the request id if there is one."""
    fields = {name: value for name, value in vars(record).items() if name not in STANDARD_FIELDS}
    identity = request_id.get()
    return {"request_id": identity, **fields} if identity else fields


class JsonFormatter(logging.Formatter):
    """Format each record as one JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {"time": record.created, "level": record.levelname.lower(), "message": record.getMessage()}
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(fields | _extra(record), enc_hook=str).decode()


class TextFormatter(logging.Formatter):
    """Format each record as one line of text with its extra fields in parentheses at the end."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Escape control characters, so that a request cannot forge a log line with a newline in its path."""
        text = super().format(record)
        extra = ", ".join(f"{name}: {value}" for name, value in _extra(record).items())
        first, newline, trace = text.partition("\n")
        line = f"{first} ({extra})" if extra else first
        return "".join(mark if mark.isprintable() else repr(mark)[1:-1] for mark in line) + newline + trace
