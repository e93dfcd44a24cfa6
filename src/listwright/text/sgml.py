"""Reads the documents and summaries of DUC and TAC: text between SGML tags that are not well-formed XML.

Regular expressions are used on purpose: end tags are missing in places, and entities are not declared.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

from listwright.errors import InputError
from listwright.text.files import read_text
from listwright.text.sentences import split_sentences

_DOCUMENT = re.compile(r"<DOC\b.*?(?:</DOC>|\Z)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>|<DOC\s[^>]*\bid\s*=\s*\"([^\"]*)\"", re.DOTALL | re.IGNORECASE)
_TEXT = re.compile(r"<TEXT\b[^>]*>(.*?)(?:</TEXT>|\Z)", re.DOTALL | re.IGNORECASE)
_GRAPHIC = re.compile(r"<GRAPHIC\b[^>]*>(.*?)(?:</GRAPHIC>|\Z)", re.DOTALL | re.IGNORECASE)
_SENTENCE = re.compile(r"<s\b[^>]*>(.*?)</s>", re.DOTALL | re.IGNORECASE)
_PARAGRAPH = re.compile(r"</?p\b[^>]*>", re.IGNORECASE)
_DROPPED = re.compile(r"<(head|title|annotation)\b.*?</\1>|<a\s+name=[^>]*>.*?</a>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-z!?][^>]*>", re.IGNORECASE)
_CONTROL_ENTITY = re.compile(r"&(?:LR|UR|QL|QC|QR|TR|MD|HT|CUR|UMLU);")


def read_documents(file: Path) -> list[tuple[str, list[str]]]:
    """Return the name and the sentences of each document in an SGML file."""
    found = [(_name(document, file), _sentences(document)) for document in _DOCUMENT.findall(read_text(file))]
    if not any(sentences for _, sentences in found):
        raise InputError(f"{file} holds no document text. Expected <DOC> ... <TEXT> ... </TEXT> </DOC>.")
    return found


def read_summary(file: Path) -> str:
    """Return a summary by a person as plain text on one line, without tags."""
    return _plain(read_text(file))


def _name(document: str, file: Path) -> str:
    """Return the number or id of a document, or the name of its file."""
    number = _NUMBER.search(document)
    return (number.group(1) or number.group(2)) if number else file.name


def _sentences(document: str) -> list[str]:
    """Return the sentences of one document: those that are marked, or else those found by `split_sentences`."""
    text = "\n\n".join(_TEXT.findall(document) or _GRAPHIC.findall(document))
    marked = _SENTENCE.findall(text)
    if marked:
        return [sentence for sentence in map(_plain, marked) if sentence]
    return split_sentences(_untagged(_PARAGRAPH.sub("\n\n", text)))


def _plain(text: str) -> str:
    """Remove tags and join all white space to single blanks."""
    return " ".join(_untagged(text).split())


def _untagged(text: str) -> str:
    """Remove tags, headlines, annotations and typesetting entities, and decode the other entities."""
    without_tags = _TAG.sub(" ", _DROPPED.sub(" ", text))
    return html.unescape(_CONTROL_ENTITY.sub(" ", without_tags))
