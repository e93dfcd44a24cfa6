"""Reads clusters from folders of text files and from JSON lines."""

from __future__ import annotations

import codecs
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from listwright._internal.extras import warn
from listwright.errors import InputError, Notice
from listwright.text.clusters import Cluster, require_references
from listwright.text.sentences import split_sentences

REFERENCES_FOLDER = "references"
TITLE_FILE = "title.txt"


def read_cluster_folder(path: str | Path, *, need_references: bool = False) -> Cluster:
    """Read one cluster from a folder: each file is a document, each file in its `references` folder a summary.

    A file `title.txt` is the title. Documents are taken by name and split into sentences. The cluster is named after
    the folder.

    Parameters
    ----------
    path : path
        The folder.
    need_references : bool
        Whether a cluster without references is an error, as it is in training.

    Returns
    -------
    Cluster
        The sentences of all documents.

    Raises
    ------
    InputError
        If there are no documents, a file is empty or not text, or references are needed and missing.

    See Also
    --------
    read_cluster_folders : Several such folders.
    """
    folder = Path(path)
    files = [file for file in text_files(folder) if file.name != TITLE_FILE]
    if not files:
        raise InputError(f"{folder} holds no documents. Put one text file per document in it.")
    title, references = folder / TITLE_FILE, folder / REFERENCES_FOLDER
    cluster = Cluster.from_documents(
        folder.resolve().name,
        [split_sentences(read_text(file)) for file in files],
        references=[read_text(file).strip() for file in text_files(references)] if references.is_dir() else [],
        title=" ".join(read_text(title).split()) if title.is_file() else None,
        document_names=[file.name for file in files],
    )
    return require_references(cluster, source=folder) if need_references else cluster


def read_cluster_folders(path: str | Path, *, need_references: bool = False) -> list[Cluster]:
    """Read all clusters of a folder that holds one folder for each, by name.

    Parameters
    ----------
    path : path
        The folder of folders.
    need_references : bool
        Whether a cluster without references is an error.

    Returns
    -------
    list of Cluster
        Sorted by the names of the folders; each is read as `read_cluster_folder` does.

    See Also
    --------
    read_cluster_folder : Reads a single cluster.
    read_jsonl : Reads clusters from JSON lines.
    """
    folders = [entry for entry in folders_and_files(Path(path)) if entry.is_dir()]
    if not folders:
        raise InputError(f"{path} holds no folders. Put one folder per cluster in it.")
    return [read_cluster_folder(folder, need_references=need_references) for folder in folders]


def read_jsonl(
    path: str | Path, *, reference_kinds: Sequence[str] = ("human", "abstract"), need_references: bool = False
) -> list[Cluster]:
    """Read clusters from a `.jsonl` or `.jsonl.gz` file, one JSON object per line.

    A line looks like this; what stands after `refs` may be left out: `{"id": "c1", "docs": [{"sentences": ["It
    rained."]}], "refs": [{"text": "Rain."}], "title": "Rain", "split": "train"}`. A document may name itself (`doc_id`)
    and give a heading for each sentence (`sections`).

    A record without an id is named by its place in the file, and later ones with the same id are numbered ("c1",
    "c1 #2"). Records without sentences are left out, with a `ReadingNote` that counts them.

    Parameters
    ----------
    path : path
        The file.
    reference_kinds : sequence of str
        References with a `kind` are read if it is one of these; those without are always read.
    need_references : bool
        Whether a cluster without references is an error, as it is in training.

    Returns
    -------
    list of Cluster
        In the order of the file.

    Raises
    ------
    InputError
        If a line is not JSON or lacks fields (the message names the line), or no record has sentences.

    See Also
    --------
    read_cluster_folders : Reads clusters from folders of text files.
    """
    source = Path(path)
    records = list(_records(source))
    usable = [entry for entry in records if _has_sentences(entry[1])]
    if not usable:
        raise InputError(f"{source} holds no clusters with sentences. It has {len(records)} records.")
    note_skipped(source, len(records), {"without sentences": len(records) - len(usable)})
    clusters = [_cluster_of(record, where, tuple(reference_kinds)) for where, record in usable]
    names = distinct(cluster.id for cluster in clusters)
    clusters = [replace(cluster, id=name) for cluster, name in zip(clusters, names, strict=True)]
    return [require_references(cluster, source=source) for cluster in clusters] if need_references else clusters


def _records(source: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each record with a description of its line; the default id is the record's place in the file."""
    # Not splitlines: JSON strings may hold other line separators.
    lines = [(number, line) for number, line in enumerate(read_text(source).split("\n"), start=1) if line.strip()]
    for place, (number, line) in enumerate(lines, start=1):
        where = f"{source}, line {number}"
        yield where, {"id": str(place)} | _record(line, where)


def _record(line: str, where: str) -> dict[str, Any]:
    """Parse one line and drops fields that are null, so that they count as missing."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not JSON: {error}.") from None
    if not isinstance(record, dict) or not isinstance(record.get("docs") or [], list):
        raise InputError(f"{where} needs an object with 'id' and a list of 'docs'.")
    return {name: value for name, value in record.items() if value is not None}


def _has_sentences(record: dict[str, Any]) -> bool:
    documents = [document for document in record.get("docs", []) if isinstance(document, dict)]
    return any(str(sentence).strip() for document in documents for sentence in document.get("sentences") or [])


def _cluster_of(record: dict[str, Any], where: str, kinds: tuple[str, ...]) -> Cluster:
    try:
        documents = record["docs"]
        has_sections = all("sections" in document for document in documents)
        return Cluster.from_documents(
            str(record["id"]),
            [document.get("sentences") or [] for document in documents],
            references=[ref["text"] for ref in record.get("refs", []) if ref.get("kind") in (None, *kinds)],
            title=record.get("title") or None,
            split=record.get("split") or None,
            document_names=[str(document.get("doc_id", "")) for document in documents],
            sections=[document["sections"] for document in documents] if has_sections else (),
        )
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError(f"{where} does not have the fields of a cluster: {error!r}.") from error


class ReadingNote(Notice):
    """Warns that something in a file was left out or read in another way than written, and how often."""


class EncodingNote(ReadingNote):
    """Warns that a file is not valid Unicode and was read as Windows-1252 or Latin-1."""


def read_text(path: str | Path) -> str:
    """Read the text of a file, decompressing `.gz` files."""
    path = Path(path)
    text = _decode(_raw(path), path).lstrip("\ufeff")
    if not text.strip():
        raise InputError(f"{path} is empty. Remove it or put text in it.")
    return text


def text_files(folder: Path) -> list[Path]:
    return [path for path in folders_and_files(folder) if path.is_file()]


def folders_and_files(folder: Path) -> list[Path]:
    """Return the entries of a folder by name, without hidden ones; raise `InputError` if it is not a folder."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder.")
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def distinct(names: Iterable[str]) -> list[str]:
    """Make names unique by numbering those that repeat, such as two chunks of one page with the same title."""
    wanted, names_used = list(names), dict[str, None]()
    reserved = set(wanted)
    for name in wanted:
        own, number = name, 1
        while own in names_used or (number > 1 and own in reserved):
            number += 1
            own = f"{name} #{number}"
        names_used[own] = None
    return list(names_used)


def note_skipped(path: object, total: int, skipped: Mapping[str, int]) -> None:
    """Warn of records that were left out, with the count for each reason; says nothing if there are none."""
    reasons = ", ".join(f"{count} {reason}" for reason, count in skipped.items() if count)
    if reasons:
        warn(f"{path}: left out {sum(skipped.values())} of {total} records: {reasons}.", ReadingNote)


def _raw(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"Cannot read {path}: {error}.") from error


def _decode(raw: bytes, path: Path) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", errors="replace")
    if b"\0" in raw:
        raise InputError(f"{path} is not a text file: it holds zero bytes.")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return _decode_as_western(raw, path)


def _decode_as_western(raw: bytes, path: Path) -> str:
    """Decode bytes as Windows-1252, or as Latin-1 where they are not that either, with an `EncodingNote`."""
    try:
        text, encoding = raw.decode("cp1252"), "Windows-1252"
    except UnicodeDecodeError:
        text, encoding = raw.decode("latin-1"), "Latin-1"
    warn(f"{path} is not UTF-8; read as {encoding}.", EncodingNote)
    return text
