"""Runs a service until it is told to stop."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import sys
import tempfile
from contextlib import suppress
from functools import partial
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess

from listwright.apps.serve import logs
from listwright.apps.serve.api.protocol import LimitedProtocol
from listwright.apps.serve.app import create_app
from listwright.apps.serve.metrics import FOLDER
from listwright.apps.settings import Settings
from listwright.errors import InputError

START = 120  # seconds until a process that does not answer is taken to hang: starting takes a while on a busy machine
SWITCH = 0.0005  # seconds until the writer's thread gets its turn while the event loop is busy


def serve(settings: Settings) -> None:
    """Serves until a signal to stop; then requests that are being answered are finished, and all is written.

    Parameters
    ----------
    settings : Settings
        What is served, where it is stored, and who may ask.
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
    sys.setswitchinterval(SWITCH)
    server = uvicorn.Server(_config(app, settings))
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listening])
    if not server.started:
        sys.exit(1)


def _run_several(settings: Settings, listening: socket.socket) -> None:
    """Processes that share the socket; each is a replica of the others. Those that end are started again."""
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
    """The application of one of several processes."""
    logs.set_up(settings.log_format)
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


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens; so a port that is taken is told before anything is deployed."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        found = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise InputError(f"Cannot listen on {host} port {port}: {error.strerror or error}.") from None
    found.set_inheritable(True)
    return found


def _announce(settings: Settings, port: int) -> None:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{port}{settings.path_prefix}"
    print(f"Serving on {url}, the API at {url}/docs. Stop with Ctrl+C.", file=sys.stderr, flush=True)


def _allow_connections(wanted: int) -> None:
    """Raises the limit on open files where it is below what connections need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + 256
    if soft < needed:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(needed, hard), hard))
