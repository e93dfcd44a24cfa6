"""Lists over HTTP, with feedback that is never lost."""

from __future__ import annotations

from listwright.errors import MissingExtra

try:
    from listwright.apps.serve.app import create_app
    from listwright.apps.serve.auth import new_key
    from listwright.apps.serve.running import serve
    from listwright.apps.serve.settings import Limits, Settings
except ModuleNotFoundError as error:
    raise MissingExtra(f"Serving needs {error.name}.", extra="serve") from None

__all__ = ["Limits", "Settings", "create_app", "new_key", "serve"]
