"""Model files with parts that users wrote: which classes the command line and the service may make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from listwright.errors import InputError
from listwright.storage import inspect, load


def load_trusting(path: str | Path, trust: str) -> Any:
    """Return the model in a file."""
    names = [name.strip() for name in trust.split(",") if name.strip()]
    try:
        return load(path, trusted=names)
    except InputError:
        missing = [name for name in inspect(path)["needs_trust"] if name not in names]
        if not missing:
            raise
        raise InputError(
            f"{path} contains classes from outside listwright, and loading them runs their code. If you trust the "
            f"file and these classes, pass --trust {','.join(missing)}"
        ) from None
