"""Files that are written whole or not at all, by writing beside the target and renaming; and files that have an end."""

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
    """Yield a path beside the target that replaces the target at the end: a reader sees the old content or the new."""
    target = path.resolve()
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        yield beside
        with beside.open("r+b") as file:  # Windows flushes only what may be written
            os.fsync(file.fileno())
        if target.is_file():
            beside.chmod(target.stat().st_mode & 0o777)
        beside.replace(target)
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def read_finite(path: Path) -> bytes:
    """Read a file that has an end: devices are refused, and a pipe that nobody writes to is empty, not waited for."""
    if path.is_char_device() or path.is_block_device():
        raise InputError(f"{path} is a device, which may have no end. Name a file.")
    waits_not = getattr(os, "O_NONBLOCK", 0)  # which only opening must not: who writes may take time
    descriptor = os.open(path, os.O_RDONLY | waits_not | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        if waits_not:
            os.set_blocking(descriptor, True)
        return file.read()


def write_whole(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Write bytes through `whole_file`; a pipe, /dev/null and the like are written to directly."""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(content)
            return
        new = partial(os.open, flags=os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode=mode)
        with whole_file(path) as beside, os.fdopen(new(beside), "wb") as file:
            file.write(content)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or error}. Choose another path.") from None
