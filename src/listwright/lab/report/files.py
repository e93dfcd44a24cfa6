"""Files that are written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from listwright._internal.files import write_whole
from listwright.errors import InputError


def write_bytes(path: Path, content: bytes) -> Path:
    """The file, in folders that are made where they are missing; all of it or nothing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or error}. Choose another place.") from None
    write_whole(path, content)
    return path


def write_text(path: Path, text: str) -> Path:
    """The same for text."""
    return write_bytes(path, text.encode())


def write_json(path: Path, content: Any) -> Path:
    """The same for JSON, one line an entry where the content is a list.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_json(Path(folder) / "results.json", [{"mean": 0.5}]).read_text()
    '[\\n{"mean": 0.5}\\n]\\n'
    """
    if isinstance(content, list):
        lines = ",\n".join(json.dumps(entry, allow_nan=False, ensure_ascii=False) for entry in content)
        return write_text(path, f"[\n{lines}\n]\n")
    return write_text(path, json.dumps(content, allow_nan=False, ensure_ascii=False, indent=2) + "\n")
