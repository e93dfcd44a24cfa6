"""TREC's files with listwright's problems: rewards out of judgements, and runs (ranked documents per query)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.files import write_whole
from listwright.errors import InputError
from listwright.frames.judgements import Judgements, subtopic_coverage
from listwright.frames.streams import number_in, text_lines
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.rewards import AlphaCoverage, Coverage, Reward

Run = dict[str, list[tuple[str, float]]]  # by query: documents with their scores, in the order of the file


def qrels_reward(judgements: Judgements, problems: Problems, *, alpha: float | None = None) -> Reward:
    """Return what judgements say of lists. Problem ids are queries and item ids documents."""
    covered = subtopic_coverage(judgements, problems.problem_ids, problems.item_ids, problems.offsets)
    if alpha is None:
        return Coverage(covered)
    by_query: dict[str, list[list[str]]] = {str(query): [] for query in problems.problem_ids}
    for (query, _), subtopics in judgements.answers.items():
        if query in by_query:
            by_query[query].append(subtopics)
    ideal = np.array([ideal_alpha_dcg(documents, alpha) for documents in by_query.values()])
    n_topics = [len({topic for document in documents for topic in document}) for documents in by_query.values()]
    return AlphaCoverage(covered, alpha, ideal=ideal, n_topics=n_topics)


def ideal_alpha_dcg(documents: Sequence[Sequence[str]], alpha: float = 0.5, depth: int = 20) -> Floats:
    names = {name: at for at, name in enumerate(dict.fromkeys(topic for document in documents for topic in document))}
    covers = np.zeros((len(documents), len(names)))
    for row, topics in enumerate(documents):
        covers[row, [names[topic] for topic in topics]] = 1.0
    left, gains = np.ones(len(names)), np.zeros(depth)
    for rank in range(min(depth, len(documents))):
        best = int(np.argmax(covers @ left))
        gains[rank] = covers[best] @ left / np.log2(rank + 2.0)
        left, covers = np.where(covers[best] > 0, left * (1.0 - alpha), left), np.delete(covers, best, axis=0)
    return np.cumsum(gains)


def read_run(path: str | Path) -> Run:
    r"""Read a run: lines of `query Q0 document rank score tag`, also compressed (`.gz`, `.zst`, `.bz2`)."""
    run: Run = {}
    for number, line in enumerate(text_lines(path), start=1):
        if line.strip():
            query, document, score = _fields(line, f"{path}, line {number}")
            run.setdefault(query, []).append((document, score))
    if not run:
        raise InputError(f"{path} is empty. A run has lines of: query Q0 document rank score tag.")
    for query, documents in run.items():
        documents.sort(key=lambda pair: -pair[1])
        names = [name for name, _ in documents]
        twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
        if twice is not None:
            raise InputError(f"{path} ranks document {twice} of query {query} twice.")
    return run


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
    if not tag or tag.split() != [tag]:
        raise InputError(f"tag must be one word. Got {tag!r}.")
    lines = []
    for query, items in zip(lists.problems.problem_ids.tolist(), lists.item_ids, strict=True):
        for rank, item in enumerate(items.tolist(), start=1):
            lines.append(f"{_word(query)} Q0 {_word(item)} {rank} {len(items) - rank + 1} {tag}\n")
    write_whole(Path(path), "".join(lines).encode())


def _word(name: object) -> str:
    text = str(name)
    if text.split() != [text]:
        raise InputError(f"A run file cannot have spaces in names. Got {text!r}: use ids without spaces.")
    return text


def _fields(line: str, place: str) -> tuple[str, str, float]:
    fields = line.split()
    if len(fields) != 6:
        raise InputError(f"{place}: expected query Q0 document rank score tag. Got {len(fields)} fields.")
    return fields[0], fields[2], number_in(fields[4], "score", place)
