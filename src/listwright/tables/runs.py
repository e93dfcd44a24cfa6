"""TREC run files: ranked documents per query.

`read_run` and `run_lists` bring rankings of other systems in, to measure them by listwright's metrics or compare them
with a model; `write_run` writes lists for trec_eval and ndeval.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from listwright._internal.files import write_whole
from listwright.errors import InputError
from listwright.frames.streams import number_in, text_lines
from listwright.lists import Lists
from listwright.problems import Problems

Run = dict[str, list[tuple[str, float]]]  # by query: documents with their scores, in the order of the file


def read_run(path: str | Path) -> Run:
    r"""Read a run: lines of `query Q0 document rank score tag`, also compressed (`.gz`, `.zst`, `.bz2`)."""
    found: Run = {}
    for number, line in enumerate(text_lines(path), start=1):
        if line.strip():
            query, document, score = _fields(line, f"{path}, line {number}")
            found.setdefault(query, []).append((document, score))
    if not found:
        raise InputError(f"{path} is empty. A run has lines of: query Q0 document rank score tag.")
    for query, documents in found.items():
        documents.sort(key=lambda pair: -pair[1])
        names = [name for name, _ in documents]
        twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
        if twice is not None:
            raise InputError(f"{path} ranks document {twice} of query {query} twice.")
    return found


def run_lists(run: Run | str | Path, problems: Problems, *, length: int = 20) -> Lists:
    """Return the ranking of a run as lists for problems, to measure it by any metric or to compare it with a model."""
    ranked = run if isinstance(run, dict) else read_run(run)
    if problems.item_ids is None:
        raise InputError("A run names documents, but these problems have no item ids. Pass item_ids.")
    if length < 1:
        raise InputError(f"length must be at least 1. Got {length}.")
    rows = np.full((len(problems), length), -1)
    for i, query in enumerate(problems.problem_ids.tolist()):
        start, end = problems.offsets[i], problems.offsets[i + 1]
        row_of = {str(name): start + at for at, name in enumerate(problems.item_ids[start:end].tolist())}
        for rank, (document, _) in enumerate(ranked.get(str(query), [])[:length]):
            rows[i, rank] = row_of.get(document, -1)
    return Lists(problems, rows)


def write_run(lists: Lists, path: str | Path, *, tag: str = "listwright") -> None:
    """Write lists as a run file, which trec_eval, ndeval and their like read."""
    if not tag or tag.split() != [tag]:
        raise InputError(f"tag must be one word. Got {tag!r}.")
    lines = []
    for query, items in zip(lists.problems.problem_ids.tolist(), lists.item_ids, strict=True):
        for rank, item in enumerate(items.tolist(), start=1):
            lines.append(f"{_word(query)} Q0 {_word(item)} {rank} {len(items) - rank + 1} {tag}\n")
    write_whole(Path(path), "".join(lines).encode())


def _word(name: object) -> str:
    """Return a name as text; raise `InputError` if it contains blanks."""
    text = str(name)
    if text.split() != [text]:
        raise InputError(f"A run file cannot have spaces in names. Got {text!r}: use ids without spaces.")
    return text


def _fields(line: str, place: str) -> tuple[str, str, float]:
    """Split a line of a run into query, document and score; raise `InputError` if it is malformed."""
    fields = line.split()
    if len(fields) != 6:
        raise InputError(f"{place}: expected query Q0 document rank score tag. Got {len(fields)} fields.")
    return fields[0], fields[2], number_in(fields[4], "score", place)
