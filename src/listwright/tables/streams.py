"""Files as streams of bytes or lines, unpacked on the way."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from listwright.errors import InputError

PACKED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}


def opened(path: str | Path) -> pa.NativeFile:
    """The bytes of a file, unpacked where its name ends in .gz, .zst or .bz2."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name a file.")
    try:
        return pa.input_stream(str(path), compression=PACKED.get(path.suffix.lower()))
    except OSError as error:
        raise unreadable(path, error) from None


def content(path: str | Path) -> bytes:
    """All bytes of a file, unpacked."""
    try:
        with opened(path) as stream:
            return stream.read()
    except (OSError, pa.ArrowException) as error:
        raise unreadable(path, error) from None


def text_lines(path: str | Path) -> Iterator[str]:
    """The lines of a file of text, with their ends."""
    for number, line in enumerate(io.BytesIO(content(path)), start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{path}, line {number}: not UTF-8 text. Save the file as UTF-8.") from None


def unreadable(path: str | Path, error: Exception) -> InputError:
    """The error for a file that cannot be opened or unpacked."""
    if not Path(path).exists():
        return InputError(f"There is no file {path}.")
    reason = str(error).partition("\n")[0].rstrip(".")
    return InputError(f"{path} cannot be read: {reason}. Check that the file is whole and of the kind its name says.")
