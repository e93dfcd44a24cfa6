"""An HTTP service that builds lists, stores them with their feedback, and optionally learns from it.

`serve` runs the service under uvicorn until it is stopped; `create_app` returns the ASGI application for other
servers and for tests. Both take a `Settings` object. `new_key` and `revoke_key` manage the file of API keys.

The parts: the modules of this folder (HTTP server, routes, keys, limits), `models` (loaded model versions and how a
request becomes a list), `store` (SQLite or PostgreSQL, one writer per process) and `learning` (updates from stored
feedback). `Service` ties them together. Install the optional dependencies with ``pip install "listwright[serve]"``.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from listwright._internal.extras import as_missing
from listwright.serve.settings import Limits, Settings

if TYPE_CHECKING:
    from listwright.serve.app import create_app
    from listwright.serve.auth import new_key, revoke_key
    from listwright.serve.server import serve

__all__ = ["Limits", "Settings", "create_app", "new_key", "revoke_key", "serve"]

_HOME = {"create_app": "app", "new_key": "auth", "revoke_key": "auth", "serve": "server"}


def import_part(part: str) -> ModuleType:
    """Import a module of this package; where the packages of the extra are missing, say what to install."""
    try:
        return import_module(f"{__name__}.{part}")
    except (ImportError, OSError) as error:
        raise as_missing(error, "Serving", extra="serve") from None


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'listwright.serve' has no attribute {name!r}")
    return getattr(import_part(_HOME[name]), name)
