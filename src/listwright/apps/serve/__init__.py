"""Lists over HTTP, with feedback that is never lost."""

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
