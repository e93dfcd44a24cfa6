"""The dashboard at ``/`` and the API documentation at ``/docs``, served from files of this package.

Nothing is loaded from other sites, so the pages work offline and under a strict content security policy. Charts use the
Vega bundle of the optional dependency vl-convert.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from importlib.resources import files
from threading import Lock
from typing import Any

from fastapi import APIRouter, Response

from listwright._internal.extras import find_extra
from listwright.report.charts import chart_config
from listwright.serve.refusals import Refused

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
FOLDER = files("listwright.serve") / "web"
NAMES = {file.name for file in FOLDER.iterdir() if file.name.rpartition(".")[2] in KINDS}
CHARTS = "charts.js"
BUNDLE = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())"
bundling = Lock()
page = APIRouter(include_in_schema=False)


@page.get("/")
def index() -> Response:
    """Return the dashboard."""
    return _file("index.html")


@page.get("/docs")
def docs() -> Response:
    """Return the API documentation, rendered from /openapi.json by a script of this package."""
    # FastAPI's own page is not used because it loads its scripts from another site.
    return _file("docs.html")


@page.get("/page/theme.json")
def theme() -> dict[str, Any]:
    """Vega configuration of the charts, light and dark, as in reports; 404 where vl-convert is not installed."""
    if find_extra("vl_convert", instead="A table") is None:
        raise Refused(404, "not_found", 'Charts need vl-convert on the server: pip install "listwright[plots]".')
    return {"light": chart_config(), "dark": chart_config(dark=True)}


@page.get("/page/{name}")
def part(name: str) -> Response:
    """Return a static file of the pages, or the Vega bundle under the name charts.js."""
    # The bundle is created on first use, under a lock, so that concurrent requests create it once.
    if name == CHARTS:
        with bundling:
            return Response(charts(), media_type="text/javascript; charset=utf-8")
    if name not in NAMES:
        raise Refused(404, "not_found", "There is no such file.")
    return _file(name)


def _file(name: str) -> Response:
    """Return a packaged file as a response with its media type."""
    return Response(_content(name), media_type=f"{KINDS[name.rpartition('.')[2]]}; charset=utf-8")


@cache
def _content(name: str) -> bytes:
    """Return the bytes of a packaged file; cached."""
    return (FOLDER / name).read_bytes()


@cache
def charts() -> bytes:
    """Return the JavaScript bundle of Vega, Vega-Lite and Vega-Embed; cached."""
    # It is created in a subprocess, because vl-convert holds the interpreter lock and would block all requests
    # meanwhile.
    made = subprocess.run([sys.executable, "-c", BUNDLE], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return made.stdout
