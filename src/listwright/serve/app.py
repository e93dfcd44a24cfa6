"""The ASGI application and the pages, which load nothing from other sites: the dashboard at ``/``, ``/docs``."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib.resources import files
from threading import Lock
from types import FrameType
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from listwright._internal.extras import find_extra
from listwright.errors import InputError
from listwright.report.charts import chart_config
from listwright.serve.auth import Keys
from listwright.serve.guard import Guard
from listwright.serve.metrics import Metrics
from listwright.serve.refusals import Refused
from listwright.serve.routes import ROUTES, Json, Route, route
from listwright.serve.service import Service
from listwright.serve.settings import Settings

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
FOLDER = files("listwright.serve") / "web"
NAMES = {file.name for file in FOLDER.iterdir() if file.name.rpartition(".")[2] in KINDS}
CHARTS = "charts.js"
BUNDLE = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())"
bundling = Lock()


def create_app(settings: Settings) -> Starlette:
    """Build the ASGI application of a service.

    Use it to run the service under another ASGI server, to mount it in a larger application, or in tests. To run it
    from a script or a shell, call `serve` or the command ``listwright serve``, which add limits on connections and
    headers that only the server can enforce.

    Model files and the store are opened here, so configuration errors surface before the server starts. The background
    work (following other replicas, learning, retention) begins and ends with the ASGI lifespan; a server that does not
    send lifespan events cannot run the application.

    Parameters
    ----------
    settings : Settings
        Which models are served, where lists are stored, which keys may call, and all limits.

    Returns
    -------
    Starlette
        The application; its `state.service` is the running `Service`.

    Raises
    ------
    InputError
        If a setting is invalid, a model file cannot be read, or the store cannot be opened.

    See Also
    --------
    serve : Runs the application under uvicorn until a signal to stop.

    Examples
    --------
    .. code-block:: python

        from pathlib import Path
        from starlette.testclient import TestClient
        from listwright.serve import Settings, create_app

        app = create_app(Settings(model=Path("model.listwright"), store="sqlite:///lists.db"))
        with TestClient(app, base_url="http://localhost") as client:
            client.get("/readyz").json()  # {"status": "ready"}
    """
    settings.check()
    keys = None if settings.keys is None else Keys.read(settings.keys)
    metrics = Metrics()
    service = Service(settings, metrics)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            await service.start()
            _drain_first(service, settings.drain_seconds)
            yield
        except (InputError, Refused) as error:
            service.failure = str(error)
            raise
        finally:
            await service.stop()

    app = Starlette(lifespan=lifespan)
    app.state.service = service
    guard = Guard(settings=settings, keys=keys, metrics=metrics)
    guard.app, service.calls = Router(ROUTES, service, app.router), guard.calls
    app.middleware_stack = guard
    return app


class Router:
    """Calls the handler of a route. A look into a dictionary finds most; paths with parameters are matched in turn."""

    def __init__(self, routes: Sequence[Route], service: Service, lifespan: ASGIApp) -> None:
        self.service, self.lifespan = service, lifespan
        self.exact = {(entry.method, entry.path): entry for entry in routes if "{" not in entry.path}
        self.patterns = [
            (re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", entry.path)), entry)
            for entry in routes
            if "{" in entry.path
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; the route is noted in the scope, where logs and metrics look for it."""
        if scope["type"] != "http":
            await self.lifespan(scope, receive, partial(self._send_plainly, send))
            return
        entry = self.exact.get((scope["method"], scope["path"])) or self._match(scope)
        scope["route"] = entry
        response = await entry.handler(Request(scope, receive, send), self.service)
        await response(scope, receive, send)

    async def _send_plainly(self, send: Send, message: Message) -> None:
        """Pass a message of the lifespan on; what is wrong with the store or a model is said without a traceback."""
        if message["type"] == "lifespan.startup.failed" and self.service.failure is not None:
            message = {**message, "message": self.service.failure}
        await send(message)

    def _match(self, scope: Scope) -> Route:
        known = any(path == scope["path"] for _, path in self.exact)
        for pattern, entry in self.patterns:
            match = pattern.fullmatch(scope["path"])
            if match is not None and entry.method == scope["method"]:
                scope["path_params"] = match.groupdict()
                return entry
            known = known or match is not None
        if known:
            raise Refused(405, "wrong_method", "Method Not Allowed.")
        raise Refused(404, "not_found", "Not Found.")


def _drain_first(service: Any, seconds: float) -> None:
    """Delay the shutdown on SIGTERM, because load balancers need a moment to notice that a replica has gone."""
    # Python allows signal handlers only in the main thread.
    if not seconds or threading.current_thread() is not threading.main_thread():
        return
    stop: Any = signal.getsignal(signal.SIGTERM)
    if not callable(stop):
        return

    def handle(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, stop)
        service.draining = True
        timer = threading.Timer(seconds, stop, (number, None))
        timer.daemon = True
        timer.start()

    signal.signal(signal.SIGTERM, handle)


@route("GET", "/", None)
async def index(request: Request, service: Service) -> Response:
    return _file("index.html")


@route("GET", "/docs", None)
async def docs(request: Request, service: Service) -> Response:
    return _file("docs.html")


@route("GET", "/page/theme.json", None)
async def theme(request: Request, service: Service) -> Response:
    if find_extra("vl_convert", instead="A table") is None:
        raise Refused(404, "not_found", 'Charts need vl-convert on the server: pip install "listwright[plots]".')
    return Json({"light": chart_config(), "dark": chart_config(dark=True)})


@route("GET", "/page/{name}", None)
async def part(request: Request, service: Service) -> Response:
    name = request.path_params["name"]
    if name == CHARTS:
        return Response(await asyncio.to_thread(charts), media_type="text/javascript; charset=utf-8")
    if name not in NAMES:
        raise Refused(404, "not_found", "There is no such file.")
    return _file(name)


def _file(name: str) -> Response:
    return Response(_content(name), media_type=f"{KINDS[name.rpartition('.')[2]]}; charset=utf-8")


@cache
def _content(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


def charts() -> bytes:
    """Return the JavaScript bundle of Vega, Vega-Lite and Vega-Embed, made once."""
    with bundling:
        return _bundle()


@cache
def _bundle() -> bytes:
    """Make the bundle in a subprocess, because vl-convert holds the interpreter lock and would block all requests."""
    made = subprocess.run([sys.executable, "-c", BUNDLE], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return made.stdout
