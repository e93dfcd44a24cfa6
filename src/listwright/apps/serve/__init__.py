"""An HTTP service that builds lists, stores them with their feedback, and optionally learns from it.

`serve` runs the service under uvicorn until it is stopped; `create_app` returns the ASGI application for other
servers and for tests. Both take a `Settings` object. `new_key` and `revoke_key` manage the file of API keys.

The parts: `api` (HTTP routes, keys, limits), `models` (loaded model versions and how a request becomes a list), `store`
(SQLite or PostgreSQL, one writer per process) and `learning` (updates from stored feedback). `Service` ties them
together. The optional dependencies are installed with ``pip install "listwright[serve]"``.
"""

from __future__ import annotations

from listwright.apps.settings import Limits, Settings
from listwright.errors import MissingExtra

try:
    from listwright.apps.serve.api.auth import new_key, revoke_key
    from listwright.apps.serve.app import create_app
    from listwright.apps.serve.running import serve
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] == "listwright":
        raise
    raise MissingExtra(f"Serving needs {error.name}.", extra="serve") from None

__all__ = ["Limits", "Settings", "create_app", "new_key", "revoke_key", "serve"]
