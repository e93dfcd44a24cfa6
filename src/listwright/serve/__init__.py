"""Lists over HTTP, with feedback that is never lost."""

from __future__ import annotations

from listwright.errors import MissingExtra

try:
    from listwright.serve.app import create_app
    from listwright.serve.auth import new_key
    from listwright.serve.running import serve
    from listwright.serve.settings import Limits, Settings
except ModuleNotFoundError as error:
    raise MissingExtra(f"Serving needs {error.name}.", extra="serve") from None

__all__ = ["Limits", "Settings", "create_app", "new_key", "serve"]
