"""Runs a service until it is told to stop."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress

import uvicorn

from listwright.apps.serve.app import create_app
from listwright.apps.serve.settings import Settings

GRACE = 15  # seconds for requests that are being answered
SWITCH = 0.0005  # seconds until the writer's thread gets its turn while the event loop is busy


def serve(settings: Settings) -> None:
    """Serves until a signal to stop; then requests that are being answered are finished, and all is written."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    sys.setswitchinterval(SWITCH)
    config = uvicorn.Config(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=30,
        backlog=1024,
    )
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    print(f"Serving on http://{host}:{settings.port}, the API at /docs. Stop with Ctrl+C.", file=sys.stderr, flush=True)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run()
