"""Open files as byte streams or text lines, unpacked by their ending; failures are `InputError`s with the name."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from listwright.errors import InputError

PACKED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}


def open_file(path: str | Path) -> pa.NativeFile:
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder. Name a file.")
    try:
        return pa.input_stream(str(path), compression=PACKED.get(path.suffix.lower()))
    except OSError as error:
        raise unreadable(path, error) from None


def content(path: str | Path) -> bytes:
    try:
        with open_file(path) as stream:
            return stream.read()
    except (OSError, pa.ArrowException) as error:
        raise unreadable(path, error) from None


def text_lines(path: str | Path) -> Iterator[str]:
    """Iterate over the lines of a UTF-8 file, line ends included; a byte order mark at the start is dropped."""
    for number, line in enumerate(io.BytesIO(content(path)), start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{path}, line {number}: not UTF-8 text. Save the file as UTF-8.") from None


def number_in(text: str, what: str, place: str) -> float:
    """Parse a number of a line; raise `InputError` that names the place and what the number is, also for nan."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if number != number:
        raise InputError(f"{place}: the {what} must be a number. Got {text!r:.40}.")
    return number


def unreadable(path: str | Path, error: Exception) -> InputError:
    if not Path(path).exists():
        return InputError(f"There is no file {path}.")
    reason = str(error).partition("\n")[0].rstrip(".")
    return InputError(f"{path} cannot be read: {reason}. Check that it is complete and of the type that its name says.")
