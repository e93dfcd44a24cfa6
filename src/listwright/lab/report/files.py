"""Files that are written completely or not at all; missing folders are made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from listwright._internal.files import write_whole
from listwright.errors import InputError


def write_bytes(path: Path, content: bytes) -> Path:
    """Writes a file and returns its path.

    Raises
    ------
    InputError
        If the folder or the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or error}. Choose another place.") from None
    write_whole(path, content)
    return path


def write_text(path: Path, text: str) -> Path:
    """Writes text as UTF-8, with the guarantees of `write_bytes`, and returns the path."""
    return write_bytes(path, text.encode())


def write_json(path: Path, content: Any) -> Path:
    r"""Writes JSON and returns the path; a list gets one line per entry, so that versions can be compared line by line.

    NaN is an error, as JSON cannot express it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_json(Path(folder) / "results.json", [{"mean": 0.5}]).read_text()
    '[\n{"mean": 0.5}\n]\n'
    """
    if isinstance(content, list):
        lines = ",\n".join(json.dumps(entry, allow_nan=False, ensure_ascii=False) for entry in content)
        return write_text(path, f"[\n{lines}\n]\n")
    return write_text(path, json.dumps(content, allow_nan=False, ensure_ascii=False, indent=2) + "\n")
