"""Reading text files with care: encodings, compression, and errors that name the file."""

from __future__ import annotations

import codecs
import gzip
import warnings
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from listwright.errors import InputError


class ReadingNote(UserWarning):
    """Something in a file was left out or read in another way than written; the message says what and how often."""


class EncodingNote(ReadingNote):
    """A file was not UTF-8 and was read in another encoding."""


def read_text(path: str | Path) -> str:
    """The text of a file, also of a `.gz` file. UTF-8 first, then UTF-16 by its mark, Windows-1252, Latin-1.

    Anything but Unicode is read with an `EncodingNote`. A missing, binary or empty file is an `InputError`.
    """
    path = Path(path)
    text = _decoded(_raw(path), path).lstrip("\ufeff")
    if not text.strip():
        raise InputError(f"{path} is empty. Remove it or put text in it.")
    return text


def text_files(folder: Path) -> list[Path]:
    """The files in a folder by name, hidden ones left out."""
    return [path for path in folders_and_files(folder) if path.is_file()]


def folders_and_files(folder: Path) -> list[Path]:
    """What lies in a folder, by name, hidden entries left out."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder.")
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def distinct(names: Iterable[str]) -> list[str]:
    """The names, with a number after those that repeat: two chunks of one page have the same title.

    >>> distinct(["Oslo", "Rome", "Oslo"])
    ['Oslo', 'Rome', 'Oslo #2']
    """
    wanted, found = list(names), dict[str, None]()
    reserved = set(wanted)
    for name in wanted:
        own, number = name, 1
        while own in found or (number > 1 and own in reserved):
            number += 1
            own = f"{name} #{number}"
        found[own] = None
    return list(found)


def note_skipped(path: object, total: int, skipped: Mapping[str, int]) -> None:
    """Warns of the records that were left out, with the number for each reason."""
    reasons = ", ".join(f"{count} {reason}" for reason, count in skipped.items() if count)
    if reasons:
        warnings.warn(
            f"{path}: left out {sum(skipped.values())} of {total} records: {reasons}.", ReadingNote, stacklevel=4
        )


def _raw(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"Cannot read {path}: {error}.") from error


def _decoded(raw: bytes, path: Path) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", errors="replace")
    if b"\0" in raw:
        raise InputError(f"{path} is not a text file: it holds zero bytes.")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _decoded_as_western(raw, path)


def _decoded_as_western(raw: bytes, path: Path) -> str:
    try:
        text, encoding = raw.decode("cp1252"), "Windows-1252"
    except UnicodeDecodeError:
        text, encoding = raw.decode("latin-1"), "Latin-1"
    warnings.warn(f"{path} is not UTF-8; read as {encoding}.", EncodingNote, stacklevel=5)
    return text
