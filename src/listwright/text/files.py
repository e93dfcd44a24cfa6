"""Reads text files with care: encodings, compression, and errors that name the file.

All readers of this package go through `read_text`, so that they treat encodings and damaged files alike.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from listwright._internal.warn import warn
from listwright.errors import InputError, Notice


class ReadingNote(Notice):
    """Warns that something in a file was left out or read in another way than written; the message says what and how
    often.
    """


class EncodingNote(ReadingNote):
    """Warns that a file is not valid Unicode and was read as Windows-1252 or Latin-1."""


def read_text(path: str | Path) -> str:
    """Read the text of a file, decompressing `.gz` files."""
    path = Path(path)
    text = _decoded(_raw(path), path).lstrip("\ufeff")
    if not text.strip():
        raise InputError(f"{path} is empty. Remove it or put text in it.")
    return text


def text_files(folder: Path) -> list[Path]:
    """Return the files of a folder by name, without hidden ones."""
    return [path for path in folders_and_files(folder) if path.is_file()]


def folders_and_files(folder: Path) -> list[Path]:
    """Return the entries of a folder by name, without hidden ones; raise `InputError` if it is not a folder."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder.")
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def distinct(names: Iterable[str]) -> list[str]:
    """Make names unique by numbering those that repeat, such as two chunks of one page with the same title."""
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
    """Warn of records that were left out, with the count for each reason; says nothing if there are none."""
    reasons = ", ".join(f"{count} {reason}" for reason, count in skipped.items() if count)
    if reasons:
        warn(
            f"{path}: left out {sum(skipped.values())} of {total} records: {reasons}.",
            ReadingNote,
        )


def _raw(path: Path) -> bytes:
    """Read the bytes of a file, decompressed; every failure becomes an `InputError` that names the file."""
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"Cannot read {path}: {error}.") from error


def _decoded(raw: bytes, path: Path) -> str:
    """Decode bytes as UTF-16 or UTF-8, or else as a Western encoding; zero bytes mean that it is not text."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", errors="replace")
    if b"\0" in raw:
        raise InputError(f"{path} is not a text file: it holds zero bytes.")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _decoded_as_western(raw, path)


def _decoded_as_western(raw: bytes, path: Path) -> str:
    """Decode bytes as Windows-1252, or as Latin-1 where they are not that either, with an `EncodingNote`."""
    try:
        text, encoding = raw.decode("cp1252"), "Windows-1252"
    except UnicodeDecodeError:
        text, encoding = raw.decode("latin-1"), "Latin-1"
    warn(f"{path} is not UTF-8; read as {encoding}.", EncodingNote)
    return text
