"""Reads clusters from the DUC and TAC summarisation data, in the folders that NIST ships.

`duc_layout` finds document sets and summaries and reads years and tasks off their paths; this module pairs them and
refuses what is ambiguous; `sgml` reads the files themselves.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from listwright._internal.warn import warn
from listwright.errors import InputError
from listwright.text.clusters import Cluster, require_references
from listwright.text.duc_layout import (
    Found,
    Key,
    Paths,
    document_files,
    document_sets,
    listed,
    roots_of,
    summaries_by_people,
)
from listwright.text.files import ReadingNote
from listwright.text.sgml import read_documents, read_summary


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
    paired = _paired(folders, summaries, task)
    clusters = [_cluster(folders[key], paired.get(key, []), split) for key in folders]
    clusters.sort(key=lambda cluster: cluster.id)
    return [require_references(cluster, source=where) for cluster in clusters] if need_references else clusters


def duc_years(path: Paths) -> list[int]:
    """Return the years that the paths of document sets below a folder name, in rising order."""
    return sorted({found.year for found in document_sets(roots_of(path)) if found.year is not None})


def _of_year(
    sets: list[Found], summaries: list[Found], year: int | None, where: str
) -> tuple[list[Found], list[Found]]:
    """Keep the sets and summaries of one year."""
    named = {found.year for found in (*sets, *summaries) if found.year is not None}
    unnamed = next((found for found in (*sets, *summaries) if found.year is None), None)
    if len(named) > 1 and unnamed is not None:
        raise InputError(
            f"{unnamed.path} does not say of which year it is, and others are of {listed(named)}. "
            "Put it below a folder named for its year, such as DUC2004."
        )
    if year is None and len(named) > 1:
        raise InputError(
            f"{where} holds data of {listed(named)}. Name the folder of one of them (in Python: year={min(named)})."
        )
    if year is not None and named and year not in named:
        raise InputError(f"{where} holds data of {listed(named)}. Got year={year}.")
    chosen = year if year is not None else next(iter(named), None)
    kept = [[replace(one, year=chosen) for one in part if one.year in (None, chosen)] for part in (sets, summaries)]
    if not kept[0]:
        raise InputError(f"{where} holds summaries of {chosen}, but no document sets of that year.")
    return kept[0], kept[1]


def _of_task(
    sets: list[Found], summaries: list[Found], task: int | None, where: str
) -> tuple[list[Found], list[Found]]:
    """Keep the sets and summaries of one task."""
    # Without a chosen task, all sets must share one.
    told: dict[Key, frozenset[int]] = defaultdict(frozenset)
    for one in summaries:
        told[one.key] |= one.tasks
    sets = [one if one.tasks else replace(one, tasks=told[one.key]) for one in sets]
    named = {one.tasks for one in sets if one.tasks}
    unnamed = next((one for one in sets if not one.tasks), None)
    if named and unnamed is not None:
        some = next(one for one in sets if one.tasks)
        raise InputError(
            f"{unnamed.path} does not say of which task it is, and {some.path} is of {some.told_tasks}. "
            "Put it below a folder named for its task, such as task2, or leave it out."
        )
    if task is None:
        _one_task(sets, where)
        return sets, summaries
    kept = [one for one in sets if not one.tasks or task in one.tasks]
    if not kept:
        raise InputError(f"{where} holds no sets of task {task}. It has {sets[0].told_tasks}.")
    return kept, [one for one in summaries if not one.tasks or task in one.tasks]


def _one_task(sets: list[Found], where: str) -> None:
    """Raise `InputError` if sets belong to different tasks and none was chosen."""
    first = sets[0]
    other = next((one for one in sets if not one.tasks & first.tasks and one.tasks), None)
    if other is not None:
        raise InputError(
            f"{where} holds sets of several tasks: {first.path.name} is of {first.told_tasks}, {other.path.name} of "
            f"{other.told_tasks}. Choose one with task=."
        )


def _once(sets: list[Found]) -> dict[Key, Found]:
    """Return the sets by key, and raise `InputError` if one is there twice."""
    folders: dict[Key, Found] = {}
    for one in sets:
        other = folders.setdefault(one.key, one)
        if other is not one:
            raise InputError(
                f"Set D{one.number} is there twice: {other.path} and {one.path}. Name the folder of one of them."
            )
    return folders


def _paired(folders: dict[Key, Found], summaries: list[Found], task: int | None) -> dict[Key, list[Path]]:
    """Return the files of the summaries of each set, one per author; the plain version where an HTML version exists
    too.
    """
    files: dict[Key, dict[str, Path]] = defaultdict(dict)
    for one in _with_documents(folders, summaries, task):
        name = ".".join(one.path.name.upper().split(".")[:5])
        first = files[one.key].setdefault(name, one.path)
        if first.name == one.path.name and read_summary(first) != read_summary(one.path):
            raise InputError(f"{first} and {one.path} have the same name and different texts. Leave one of them out.")
    return {key: [found[name] for name in sorted(found)] for key, found in files.items()}


def _with_documents(folders: dict[Key, Found], summaries: list[Found], task: int | None) -> list[Found]:
    """Return the summaries of the sets, by the letter of the set where its number has summaries of several."""
    letters = {one.letter for one in folders.values()}
    lost = [one for one in summaries if one.key not in folders]
    for one in lost:
        if task is None or task in one.tasks or one.letter in letters:
            raise InputError(
                f"{one.path} is a summary of set D{one.number}, which has no documents here. Add them, or leave it out."
            )
    if lost:
        others = sorted({f"D{one.number}" for one in lost})
        warn(
            f"Left out {len(lost)} summaries of {len(others)} sets of other tasks, such as {others[0]}.",
            ReadingNote,
        )
    by_set: dict[Key, list[Found]] = defaultdict(list)
    for one in summaries:
        if one.key in folders:
            by_set[one.key].append(one)
    return [one for key, found in by_set.items() for one in _of_letter(folders[key], found)]


def _of_letter(folder: Found, summaries: list[Found]) -> list[Found]:
    """Keep the summaries whose letter is that of the set, where its number has summaries of several sets."""
    letters = sorted({one.letter for one in summaries})
    if len(letters) == 1:
        return summaries
    if folder.letter not in letters:
        raise InputError(
            f"{folder.path} has summaries of sets {' and '.join(f'D{folder.number}{letter}' for letter in letters)}: "
            f"see {summaries[0].path} and {summaries[-1].path}. Leave those of other sets out."
        )
    return [one for one in summaries if one.letter == folder.letter]


def _cluster(found: Found, summaries: list[Path], split: str | None) -> Cluster:
    """Read the documents and summaries of one set from their files."""
    documents = [document for file in document_files(found.path) for document in read_documents(file)]
    return Cluster.from_documents(
        found.path.name,
        [sentences for _, sentences in documents],
        references=[read_summary(file) for file in summaries],
        document_names=[name for name, _ in documents],
        split=split,
    )
