"""Clusters from the DUC and TAC summarisation data, in the folders that NIST ships."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from pathlib import Path
from typing import TypeAlias

from listwright.errors import InputError
from listwright.text.clusters import Cluster, require_references
from listwright.text.files import read_text, text_files
from listwright.text.sentences import split_sentences

# What ties documents and summaries together: the number of the document set and, in update tasks, its part A or B.
_Key: TypeAlias = tuple[str, str]

_SET_FOLDER = re.compile(r"D(\d+)[A-Z]*(?:-([A-Z]))?", re.IGNORECASE)
# As in D30001.M.100.T.A and D0801-A.M.100.A.A: people are letters, systems are numbers.
_SUMMARY_FILE = re.compile(r"D(\d+)(?:-([A-Z]))?\.M\.\d+\.[A-Z]\.[A-Z](?:\.(?:html?|txt))?", re.IGNORECASE)
_DOCUMENT = re.compile(r"<DOC\b.*?(?:</DOC>|\Z)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>|<DOC\s[^>]*\bid\s*=\s*\"([^\"]*)\"", re.DOTALL | re.IGNORECASE)
_TEXT = re.compile(r"<TEXT\b[^>]*>(.*?)(?:</TEXT>|\Z)", re.DOTALL | re.IGNORECASE)
_SENTENCE = re.compile(r"<s\b[^>]*>(.*?)</s>", re.DOTALL | re.IGNORECASE)
_PARAGRAPH = re.compile(r"</?p\b[^>]*>", re.IGNORECASE)
_DROPPED = re.compile(r"<(head|title|annotation)\b.*?</\1>|<a\s+name=[^>]*>.*?</a>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-z!?][^>]*>", re.IGNORECASE)
_CONTROL_ENTITY = re.compile(r"&(?:LR|UR|QL|QC|QR|TR|MD|HT|CUR|UMLU);")


def read_duc(
    path: str | Path,
    *,
    models: str | Path | None = None,
    need_references: bool = False,
    split: str | None = None,
) -> list[Cluster]:
    """Clusters of DUC 2003-2007 or TAC data below a folder, by name.

    Document sets are folders such as `d30001t` or `D0801A-A` with SGML files; summaries by people are files such as
    `D30001.M.100.T.A` anywhere below `models` (default: below `path` too). Where one set is found twice, the
    fuller folder counts. Folders named `peers` are left out.
    """
    root, model_root = Path(path), Path(models if models is not None else path)
    sets = _document_sets(root)
    if not sets:
        raise InputError(f"{root} holds no DUC document sets: folders such as d30001t or D0801A-A.")
    summaries = _summary_files(model_root)
    clusters = [_cluster(folder, summaries.get(key, []), split) for key, folder in sets.items()]
    clusters.sort(key=lambda cluster: cluster.id)
    if not need_references:
        return clusters
    return [require_references(cluster, source=model_root) for cluster in clusters]


def _document_sets(root: Path) -> dict[_Key, Path]:
    found: dict[_Key, Path] = {}
    for folder in sorted(path for path in _below(root) if path.is_dir()):
        named = _SET_FOLDER.fullmatch(folder.name)
        if named and _document_files(folder):
            key = _key(named)
            found[key] = max(found.get(key, folder), folder, key=lambda place: len(_document_files(place)))
    return found


def _summary_files(root: Path) -> dict[_Key, list[Path]]:
    """Summaries of each set by name; where a plain and an HTML version exist, the plain one."""
    found: dict[_Key, dict[str, Path]] = defaultdict(dict)
    for path in sorted(_below(root), key=lambda place: (place.name.upper(), str(place))):
        named = _SUMMARY_FILE.fullmatch(path.name)
        if named and path.is_file():
            found[_key(named)].setdefault(".".join(path.name.upper().split(".")[:5]), path)
    return {key: list(files.values()) for key, files in found.items()}


def _below(root: Path) -> list[Path]:
    if not root.is_dir():
        raise InputError(f"{root} is not a folder.")
    return [root, *(path for path in root.rglob("*") if "peers" not in path.relative_to(root).parts)]


def _key(named: re.Match[str]) -> _Key:
    return named.group(1), (named.group(2) or "").upper()


def _document_files(folder: Path) -> list[Path]:
    return [file for file in text_files(folder) if not _SUMMARY_FILE.fullmatch(file.name)]


def _cluster(folder: Path, summaries: list[Path], split: str | None) -> Cluster:
    documents = [document for file in _document_files(folder) for document in _documents(file)]
    return Cluster.from_documents(
        folder.name,
        [sentences for _, sentences in documents],
        references=[_plain(read_text(file)) for file in summaries],
        document_names=[name for name, _ in documents],
        split=split,
    )


def _documents(file: Path) -> list[tuple[str, list[str]]]:
    """Name and sentences of each document in an SGML file."""
    found = [(_name(document, file), _sentences(document)) for document in _DOCUMENT.findall(read_text(file))]
    if not any(sentences for _, sentences in found):
        raise InputError(f"{file} holds no document text. Expected <DOC> ... <TEXT> ... </TEXT> </DOC>.")
    return found


def _name(document: str, file: Path) -> str:
    number = _NUMBER.search(document)
    return (number.group(1) or number.group(2)) if number else file.name


def _sentences(document: str) -> list[str]:
    text = "\n\n".join(_TEXT.findall(document))
    marked = _SENTENCE.findall(text)
    if marked:
        return [sentence for sentence in map(_plain, marked) if sentence]
    return split_sentences(_untagged(_PARAGRAPH.sub("\n\n", text)))


def _plain(text: str) -> str:
    return " ".join(_untagged(text).split())


def _untagged(text: str) -> str:
    without_tags = _TAG.sub(" ", _DROPPED.sub(" ", text))
    return html.unescape(_CONTROL_ENTITY.sub(" ", without_tags))
