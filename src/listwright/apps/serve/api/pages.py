"""The page at / and the text of the API at /docs: files of this package, nothing from elsewhere."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from threading import Lock
from typing import Any

from fastapi import APIRouter, Response

from listwright.apps.serve.refusals import Refused
from listwright.lab.report.theme import chart_config

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
FOLDER = files("listwright.apps.serve") / "web"
NAMES = {file.name for file in FOLDER.iterdir() if file.name.rpartition(".")[2] in KINDS}
CHARTS = "charts.js"
BUNDLE = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())"
bundling = Lock()
page = APIRouter(include_in_schema=False)


@page.get("/")
def index() -> Response:
    """The page."""
    return _file("index.html")


@page.get("/docs")
def docs() -> Response:
    """The API in words, drawn from /openapi.json by a script of our own: the usual one comes from another site."""
    return _file("docs.html")


@page.get("/page/theme.json")
def theme() -> dict[str, Any]:
    """Colours of charts, as in reports."""
    if find_spec("vl_convert") is None:
        raise Refused(404, "not_found", 'Charts need vl-convert on the server: pip install "listwright[plots]".')
    return {"light": chart_config(), "dark": chart_config(dark=True)}


@page.get("/page/{name}")
def part(name: str) -> Response:
    """What the pages are made of; the charts are drawn by Vega, as in reports."""
    if name == CHARTS:
        with bundling:
            return Response(charts(), media_type="text/javascript; charset=utf-8")
    if name not in NAMES:
        raise Refused(404, "not_found", "There is no such file.")
    return _file(name)


def _file(name: str) -> Response:
    return Response(_content(name), media_type=f"{KINDS[name.rpartition('.')[2]]}; charset=utf-8")


@cache
def _content(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


@cache
def charts() -> bytes:
    """Vega, Vega-Lite and Vega-Embed. Bundled in a process of its own: in this one, no request would move meanwhile."""
    made = subprocess.run([sys.executable, "-c", BUNDLE], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return made.stdout
