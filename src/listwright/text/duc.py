"""Reads clusters from the DUC and TAC summarisation data, in the folders that NIST ships."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from listwright._internal.extras import warn
from listwright.errors import InputError
from listwright.text.clusters import Cluster, require_references
from listwright.text.readers import ReadingNote, read_text, text_files
from listwright.text.sentences import split_sentences

Paths: TypeAlias = str | Path | Sequence[str | Path]
Key: TypeAlias = tuple[str, str]
_SET_FOLDER = re.compile(r"D(?P<number>\d+)(?P<letter>[A-Z]*)(?:-(?P<part>[A-Z]))?", re.IGNORECASE)
# As in D30001.M.100.T.A and D0801-A.M.100.A.A: set and part, M, words, letter of the set, author. People are letters.
_SUMMARY_FILE = re.compile(
    r"D(?P<number>\d+)(?:-(?P<part>[A-Z]))?\.M\.\d+\.(?P<letter>[A-Z])\.[A-Z](?:\.(?:html?|txt))?", re.IGNORECASE
)
_YEAR = re.compile(r"(?<!\d)(20[01]\d)(?!\d)|(?<![a-z])(?:duc|tac)[-_. ]?(\d\d)(?!\d)", re.IGNORECASE)
_CONFERENCE = re.compile(r"(?<![a-z])(?:duc|tac)[-_. ]?(?:20)?\d\d(?!\d)", re.IGNORECASE)
_TASKS = re.compile(r"tasks?[-_. ]?([1-9](?!\d)(?:(?:[-_.,& ]|and)+[1-9](?!\d))*)", re.IGNORECASE)
_DOCUMENT = re.compile(r"<DOC\b.*?(?:</DOC>|\Z)", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>|<DOC\s[^>]*\bid\s*=\s*\"([^\"]*)\"", re.DOTALL | re.IGNORECASE)
_TEXT = re.compile(r"<TEXT\b[^>]*>(.*?)(?:</TEXT>|\Z)", re.DOTALL | re.IGNORECASE)
_GRAPHIC = re.compile(r"<GRAPHIC\b[^>]*>(.*?)(?:</GRAPHIC>|\Z)", re.DOTALL | re.IGNORECASE)
_SENTENCE = re.compile(r"<s\b[^>]*>(.*?)</s>", re.DOTALL | re.IGNORECASE)
_PARAGRAPH = re.compile(r"</?p\b[^>]*>", re.IGNORECASE)
_DROPPED = re.compile(r"<(head|title|annotation)\b.*?</\1>|<a\s+name=[^>]*>.*?</a>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-z!?][^>]*>", re.IGNORECASE)
_CONTROL_ENTITY = re.compile(r"&(?:LR|UR|QL|QC|QR|TR|MD|HT|CUR|UMLU);")


def read_duc(
    path: Paths,
    *,
    year: int | None = None,
    task: int | None = None,
    models: Paths | None = None,
    need_references: bool = False,
    split: str | None = None,
) -> list[Cluster]:
    """Clusters of DUC 2001-2007 or TAC data below one or several folders, by name.

    Document sets are folders such as `d30001t` or `D0801A-A` with SGML files. Summaries by people are files such as
    `D30001.M.100.T.A`, anywhere below the same folders; folders named `peers` hold summaries by systems and are left
    out. The names of folders say what belongs together: a year (`DUC2004_Summarization_Documents`, `duc2004_results`)
    and tasks (`task5`, `tasks1and2`, `models/2`). Documents and summaries are paired within one year.

    What is ambiguous is refused with an error that names it: folders of several years or tasks when none is chosen, a
    folder that does not say its year or task when others do, one set in two folders, two summaries of one name with
    different texts, and summaries without documents.

    Parameters
    ----------
    path : path, or sequence of paths
        The folders to look through, such as the unpacked documents and the unpacked results.
    year : int, optional
        Which year to read, if the folders hold several.
    task : int, optional
        Which task to read, if the folders hold several. The paper uses task 2: generic summaries of 665 bytes.
    models : path, or sequence of paths, optional
        More folders to look for summaries in, but not for documents.
    need_references : bool
        Whether a set without summaries by people is an error.
    split : str, optional
        The `split` of all clusters, such as "train".

    Returns
    -------
    list of Cluster
        One per document set, sorted by name.

    Raises
    ------
    InputError
        If there are no document sets, or for anything ambiguous; the message names the folder or file.

    See Also
    --------
    listwright.text.read_jsonl : Clusters from JSON lines.
    """
    roots = roots_of(path)
    sets, summaries = document_sets(roots), summaries_by_people([*roots, *roots_of(models or ())])
    where = ", ".join(map(str, roots))
    if not sets:
        raise InputError(f"{where} holds no DUC document sets: folders such as d30001t or D0801A-A.")
    sets, summaries = _of_year(sets, summaries, year, where)
    sets, summaries = _of_task(sets, summaries, task, where)
    folders = _once(sets)
    paired = _pair(folders, summaries, task)
    clusters = [_cluster(folder, paired.get(key, []), split) for key, folder in folders.items()]
    clusters.sort(key=lambda cluster: cluster.id)
    return [require_references(cluster, source=where) for cluster in clusters] if need_references else clusters


def duc_years(path: Paths) -> list[int]:
    return sorted({entry.year for entry in document_sets(roots_of(path)) if entry.year is not None})


def _of_year(
    sets: list[DucEntry], summaries: list[DucEntry], year: int | None, where: str
) -> tuple[list[DucEntry], list[DucEntry]]:
    named = {entry.year for entry in (*sets, *summaries) if entry.year is not None}
    unnamed = next((entry for entry in (*sets, *summaries) if entry.year is None), None)
    if len(named) > 1 and unnamed is not None:
        raise InputError(
            f"{unnamed.path} does not say of which year it is, and others are of {join_numbers(named)}. "
            "Put it below a folder named for its year, such as DUC2004."
        )
    if year is None and len(named) > 1:
        raise InputError(
            f"{where} holds data of {join_numbers(named)}. Name the folder of one of them (in Python: "
            f"year={min(named)})."
        )
    if year is not None and named and year not in named:
        raise InputError(f"{where} holds data of {join_numbers(named)}. Got year={year}.")
    chosen = year if year is not None else next(iter(named), None)
    kept = [
        [replace(entry, year=chosen) for entry in part if entry.year in (None, chosen)] for part in (sets, summaries)
    ]
    if not kept[0]:
        raise InputError(f"{where} holds summaries of {chosen}, but no document sets of that year.")
    return kept[0], kept[1]


def _of_task(
    sets: list[DucEntry], summaries: list[DucEntry], task: int | None, where: str
) -> tuple[list[DucEntry], list[DucEntry]]:
    # Without a chosen task, all sets must share one.
    tasks_of: dict[Key, frozenset[int]] = defaultdict(frozenset)
    for entry in summaries:
        tasks_of[entry.key] |= entry.tasks
    sets = [entry if entry.tasks else replace(entry, tasks=tasks_of[entry.key]) for entry in sets]
    named = {entry.tasks for entry in sets if entry.tasks}
    unnamed = next((entry for entry in sets if not entry.tasks), None)
    if named and unnamed is not None:
        some = next(entry for entry in sets if entry.tasks)
        raise InputError(
            f"{unnamed.path} does not say of which task it is, and {some.path} is of {some.task_names}. "
            "Put it below a folder named for its task, such as task2, or leave it out."
        )
    if task is None:
        first = sets[0]
        other = next((entry for entry in sets if not entry.tasks & first.tasks and entry.tasks), None)
        if other is not None:
            raise InputError(
                f"{where} holds sets of several tasks: {first.path.name} is of {first.task_names}, {other.path.name} "
                f"of {other.task_names}. Choose one with task=."
            )
        return sets, summaries
    kept = [entry for entry in sets if not entry.tasks or task in entry.tasks]
    if not kept:
        raise InputError(f"{where} holds no sets of task {task}. It has {sets[0].task_names}.")
    return kept, [entry for entry in summaries if not entry.tasks or task in entry.tasks]


def _once(sets: list[DucEntry]) -> dict[Key, DucEntry]:
    folders: dict[Key, DucEntry] = {}
    for entry in sets:
        other = folders.setdefault(entry.key, entry)
        if other is not entry:
            raise InputError(
                f"Set D{entry.number} occurs twice: {other.path} and {entry.path}. Name the folder of one of them."
            )
    return folders


def _pair(folders: dict[Key, DucEntry], summaries: list[DucEntry], task: int | None) -> dict[Key, list[Path]]:
    """Return the files of the summaries of each set, one per author: plain rather than HTML where both exist."""
    files: dict[Key, dict[str, Path]] = defaultdict(dict)
    for entry in _with_documents(folders, summaries, task):
        name = ".".join(entry.path.name.upper().split(".")[:5])
        first = files[entry.key].setdefault(name, entry.path)
        if first.name == entry.path.name and read_summary(first) != read_summary(entry.path):
            raise InputError(f"{first} and {entry.path} have the same name and different texts. Leave one of them out.")
    return {key: [named[name] for name in sorted(named)] for key, named in files.items()}


def _with_documents(folders: dict[Key, DucEntry], summaries: list[DucEntry], task: int | None) -> list[DucEntry]:
    """Return the summaries of the sets, by the letter of the set where its number has summaries of several."""
    letters = {entry.letter for entry in folders.values()}
    lost = [entry for entry in summaries if entry.key not in folders]
    for entry in lost:
        if task is None or task in entry.tasks or entry.letter in letters:
            raise InputError(
                f"{entry.path} is a summary of set D{entry.number}, which has no documents here. Add them, or leave "
                "it out."
            )
    if lost:
        others = sorted({f"D{entry.number}" for entry in lost})
        warn(f"Left out {len(lost)} summaries of {len(others)} sets of other tasks, such as {others[0]}.", ReadingNote)
    by_set: dict[Key, list[DucEntry]] = defaultdict(list)
    for entry in summaries:
        if entry.key in folders:
            by_set[entry.key].append(entry)
    return [entry for key, entries in by_set.items() for entry in _of_letter(folders[key], entries)]


def _of_letter(folder: DucEntry, summaries: list[DucEntry]) -> list[DucEntry]:
    letters = sorted({entry.letter for entry in summaries})
    if len(letters) == 1:
        return summaries
    if folder.letter not in letters:
        raise InputError(
            f"{folder.path} has summaries of sets {' and '.join(f'D{folder.number}{letter}' for letter in letters)}: "
            f"see {summaries[0].path} and {summaries[-1].path}. Leave those of other sets out."
        )
    return [entry for entry in summaries if entry.letter == folder.letter]


def _cluster(entry: DucEntry, summaries: list[Path], split: str | None) -> Cluster:
    documents = [document for file in document_files(entry.path) for document in read_documents(file)]
    return Cluster.from_documents(
        entry.path.name,
        [sentences for _, sentences in documents],
        references=[read_summary(file) for file in summaries],
        document_names=[name for name, _ in documents],
        split=split,
    )


@dataclass(frozen=True)
class DucEntry:
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
    def task_names(self) -> str:
        return f"task {join_numbers(self.tasks)}"


def roots_of(path: Paths) -> list[Path]:
    roots = [Path(path)] if isinstance(path, str | Path) else [Path(place) for place in path]
    for root in roots:
        if not root.is_dir():
            raise InputError(f"{root} is not a folder.")
    return roots


def document_sets(roots: Iterable[Path]) -> list[DucEntry]:
    """Return all folders below the roots that have the name of a document set and hold files."""
    return [
        _entry(root, place, **named.groupdict())
        for root, place in _below(roots)
        if (named := _SET_FOLDER.fullmatch(place.name)) and place.is_dir() and document_files(place)
    ]


def summaries_by_people(roots: Iterable[Path]) -> list[DucEntry]:
    """Return all files below the roots that have the name of a summary of a whole set by a person."""
    return [
        _entry(root, place, **named.groupdict())
        for root, place in _below(roots)
        if (named := _SUMMARY_FILE.fullmatch(place.name)) and place.is_file()
    ]


def document_files(folder: Path) -> list[Path]:
    return [file for file in text_files(folder) if not _SUMMARY_FILE.fullmatch(file.name)]


def is_duc(path: Path) -> bool:
    """Return whether a folder is, or has below it, a document set with a number of at least three digits."""
    named = (_SET_FOLDER.fullmatch(folder.name) for folder in (path, *path.rglob("*")) if folder.is_dir())
    return any(name and len(name.group(1)) >= 3 for name in named)


def join_numbers(numbers: Iterable[int]) -> str:
    return " and ".join(map(str, sorted(numbers)))


def _below(roots: Iterable[Path]) -> Iterator[tuple[Path, Path]]:
    """Yield every path below the roots once, with its root, but no summaries by systems (folders named `peers`)."""
    seen: set[Path] = set()
    for root in roots:
        for place in sorted([root, *root.rglob("*")]):
            if place.resolve() not in seen and "peers" not in place.relative_to(root).parts:
                seen.add(place.resolve())
                yield root, place


def _entry(root: Path, place: Path, number: str, part: str | None, letter: str) -> DucEntry:
    """Read year and tasks from the folders between the root and a place, or else from the nearest one above."""
    names = [] if place == root else [root.resolve().name, *place.parent.relative_to(root).parts]
    above = root.resolve().parts[-2::-1]
    years = {year for name in names for year in _years(name)}
    if len(years) > 1:
        raise InputError(f"{place} lies below folders of {join_numbers(years)}. Move it, or rename the folder.")
    if not years:
        years = next((_years(name) for name in above if _CONFERENCE.search(name)), set())
    tasks = _tasks(names) or next((tasks for name in above if (tasks := _tasks([name]))), frozenset())
    return DucEntry(place, number, (part or "").upper(), letter.upper(), next(iter(years), None), tasks)


def _years(name: str) -> set[int]:
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


def read_documents(file: Path) -> list[tuple[str, list[str]]]:
    documents = [(_name(document, file), _sentences(document)) for document in _DOCUMENT.findall(read_text(file))]
    if not any(sentences for _, sentences in documents):
        raise InputError(f"{file} holds no document text. Expected <DOC> ... <TEXT> ... </TEXT> </DOC>.")
    return documents


def read_summary(file: Path) -> str:
    return _plain(read_text(file))


def _name(document: str, file: Path) -> str:
    number = _NUMBER.search(document)
    return (number.group(1) or number.group(2)) if number else file.name


def _sentences(document: str) -> list[str]:
    """Return the sentences of one document: those that are marked, or else those found by `split_sentences`."""
    text = "\n\n".join(_TEXT.findall(document) or _GRAPHIC.findall(document))
    marked = _SENTENCE.findall(text)
    if marked:
        return [sentence for sentence in map(_plain, marked) if sentence]
    return split_sentences(_strip_tags(_PARAGRAPH.sub("\n\n", text)))


def _plain(text: str) -> str:
    return " ".join(_strip_tags(text).split())


def _strip_tags(text: str) -> str:
    """Remove tags, headlines, annotations and typesetting entities, and decode the other entities."""
    return html.unescape(_CONTROL_ENTITY.sub(" ", _TAG.sub(" ", _DROPPED.sub(" ", text))))
