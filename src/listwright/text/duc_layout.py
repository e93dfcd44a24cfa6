"""Where DUC and TAC data lies: folders of documents, files of summaries, and the year and tasks that their paths name.

NIST's archives differ from year to year. Nothing is assumed of the layout except the names of set folders (`d30001t`)
and summary files (`D30001.M.100.T.A`); year and task are read from the names of the folders above them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from listwright.errors import InputError
from listwright.text.files import text_files

Paths: TypeAlias = str | Path | Sequence[str | Path]
Key: TypeAlias = tuple[str, str]

_SET_FOLDER = re.compile(r"D(\d+)([A-Z]*)(?:-([A-Z]))?", re.IGNORECASE)
# As in D30001.M.100.T.A and D0801-A.M.100.A.A: set and part, M, words, letter of the set, author. People are letters.
_SUMMARY_FILE = re.compile(r"D(\d+)(?:-([A-Z]))?\.M\.\d+\.([A-Z])\.[A-Z](?:\.(?:html?|txt))?", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(20[01]\d)(?!\d)|(?<![a-z])(?:duc|tac)[-_. ]?(\d\d)(?!\d)", re.IGNORECASE)
_CONFERENCE = re.compile(r"(?<![a-z])(?:duc|tac)[-_. ]?(?:20)?\d\d(?!\d)", re.IGNORECASE)
_TASKS = re.compile(r"tasks?[-_. ]?([1-9](?!\d)(?:(?:[-_.,& ]|and)+[1-9](?!\d))*)", re.IGNORECASE)


@dataclass(frozen=True)
class Found:
    """A folder of documents or a file with a summary, and what its path says of it."""

    path: Path  # the folder or file
    number: str  # number of the document set
    part: str  # of update tasks: "A" or "B"
    letter: str  # behind the number of a set: the kind of its documents, or the person who chose them
    year: int | None  # the year that the path names
    tasks: frozenset[int]  # none where the path does not say

    @property
    def key(self) -> Key:
        """Number and part of the set, which documents and their summaries share within one year."""
        return self.number, self.part

    @property
    def told_tasks(self) -> str:
        """The tasks in words, for error messages."""
        return f"task {listed(self.tasks)}"


def roots_of(path: Paths) -> list[Path]:
    """Return the given folders as a list, after checking that each of them exists."""
    roots = [Path(path)] if isinstance(path, str | Path) else [Path(one) for one in path]
    for root in roots:
        if not root.is_dir():
            raise InputError(f"{root} is not a folder.")
    return roots


def document_sets(roots: Iterable[Path]) -> list[Found]:
    """Return all folders below the roots that have the name of a document set and hold files."""
    found = []
    for root, place in _below(roots):
        named = _SET_FOLDER.fullmatch(place.name)
        if named and place.is_dir() and document_files(place):
            number, letter, part = named.groups()
            found.append(_found(root, place, number, part, letter))
    return found


def summaries_by_people(roots: Iterable[Path]) -> list[Found]:
    """Return all files below the roots that have the name of a summary of a whole set by a person."""
    found = []
    for root, place in _below(roots):
        named = _SUMMARY_FILE.fullmatch(place.name)
        if named and place.is_file():
            number, part, letter = named.groups()
            found.append(_found(root, place, number, part, letter))
    return found


def document_files(folder: Path) -> list[Path]:
    """Return the files of a set folder that are documents, without summaries that lie beside them."""
    return [file for file in text_files(folder) if not _SUMMARY_FILE.fullmatch(file.name)]


def is_duc(path: Path) -> bool:
    """Return whether a folder is, or has below it, a document set with a number of at least three digits."""
    named = (_SET_FOLDER.fullmatch(folder.name) for folder in (path, *path.rglob("*")) if folder.is_dir())
    return any(name and len(name.group(1)) >= 3 for name in named)


def listed(numbers: Iterable[int]) -> str:
    """Numbers as a sentence names them."""
    return " and ".join(map(str, sorted(numbers)))


def _below(roots: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield every path below the roots once, with its root; summaries by systems (folders named `peers`) are
    left out.
    """
    seen: set[Path] = set()
    for root in roots:
        for place in sorted([root, *root.rglob("*")]):
            if place.resolve() not in seen and "peers" not in place.relative_to(root).parts:
                seen.add(place.resolve())
                yield root, place


def _found(root: Path, place: Path, number: str, part: str | None, letter: str) -> Found:
    """Read year and tasks from the folders between the root and a place, or else from the nearest folder above the
    root.
    """
    names = [] if place == root else [root.resolve().name, *place.parent.relative_to(root).parts]
    above = root.resolve().parts[-2::-1]
    years = {year for name in names for year in _years(name)}
    if len(years) > 1:
        raise InputError(f"{place} lies below folders of {listed(years)}. Move it, or rename the folder.")
    if not years:
        years = next((_years(name) for name in above if _CONFERENCE.search(name)), set())
    tasks = _tasks(names) or next((tasks for name in above if (tasks := _tasks([name]))), frozenset())
    return Found(place, number, (part or "").upper(), letter.upper(), next(iter(years), None), tasks)


def _years(name: str) -> set[int]:
    """Return the years that a folder's name holds."""
    return {int(full or f"20{short}") for full, short in _YEAR.findall(name)}


def _tasks(names: Sequence[str]) -> frozenset[int]:
    """Return the tasks that the innermost folder names, if any does: `tasks1and2`, or a number below `models`."""
    for index in range(len(names) - 1, -1, -1):
        named = _TASKS.search(names[index])
        if named:
            return frozenset(map(int, re.findall(r"\d", named.group(1))))
        if names[index].isdigit() and index and names[index - 1].lower() == "models":
            return frozenset([int(names[index])])
    return frozenset()
