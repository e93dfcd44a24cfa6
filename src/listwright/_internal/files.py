"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from listwright.errors import InputError


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A file to write beside the target, which takes its place at the end: a reader sees the old content or the new.

    After an error the target is as it was. A link stays a link, and a file that was there keeps its mode.
    """
    target = path.resolve()
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        yield beside
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        if target.is_file():
            beside.chmod(target.stat().st_mode & 0o777)
        beside.replace(target)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Writes a `whole_file`. What is no file, such as /dev/null or a pipe, is written to as it is.

    Parameters
    ----------
    path : Path
        The file to write.
    content : bytes
        All that it is to hold.
    mode : int
        Who may read and write a new file, as far as the umask allows.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(content)
            return
        new = partial(os.open, flags=os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode=mode)
        with whole_file(path) as beside, os.fdopen(new(beside), "wb") as file:
            file.write(content)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or error}. Choose another place.") from None
