"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from listwright.errors import InputError


def write_whole(path: Path, content: bytes) -> None:
    """Writes beside the file, then renames: a reader sees the old content or the new, never a part.

    A link stays a link, and what is no file, such as /dev/null or a pipe, is written to as it is.
    """
    target = path.resolve()
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(content)
            return
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or error}. Choose another place.") from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
