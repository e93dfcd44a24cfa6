"""Runs the application under uvicorn, in one process or several.

uvicorn is configured with `LimitedProtocol`, which bounds headers and connections. The socket is bound before models
are loaded, so a port that is taken is reported at once.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from contextlib import suppress
from functools import partial
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from listwright.errors import InputError
from listwright.serve import logs
from listwright.serve.api.protocol import LimitedProtocol
from listwright.serve.app import create_app
from listwright.serve.metrics import FOLDER
from listwright.serve.settings import Settings

START = 120  # seconds until a process that does not answer is taken to hang: starting takes a while on a busy machine
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
    logs.set_up(settings.log_format)
    _allow_connections(settings.limits.connections)
    with _bound(settings.host, settings.port) as listening:
        app = None if settings.workers > 1 else create_app(settings)
        _announce(settings, listening.getsockname()[1])
        if app is None:
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
    """Serve in several worker processes that share the listening socket."""
    # The application is created once in the parent and closed again, so that errors are reported once rather than by
    # every worker.
    create_app(settings).state.service.database.close()  # what is wrong is told once, before any of them starts
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
    logs.set_up(settings.log_format)
    sys.setswitchinterval(SWITCH)
    return create_app(settings)


def _config(app: Any, settings: Settings, **more: Any) -> uvicorn.Config:
    """Return the uvicorn configuration."""
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


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens on `host` and `port`; raises InputError if the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        found = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise InputError(f"Cannot listen on {host} port {port}: {error.strerror or error}.") from None
    found.set_inheritable(True)
    return found


def _announce(settings: Settings, port: int) -> None:
    """Print the address of the service and of its API documentation to standard error."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{port}{settings.path_prefix}"
    print(f"Serving on {url}, the API at {url}/docs. Stop with Ctrl+C.", file=sys.stderr, flush=True)


def _allow_connections(wanted: int) -> None:
    """Raise the soft limit on open files to what `wanted` connections need, as far as the hard limit allows.

    Windows has no such limit.
    """
    if sys.platform == "win32":
        return
    import resource  # not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + 256
    if soft < needed:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(needed, hard), hard))
