"""TREC diversity judgements (qrels): which document answers which subtopic of a query."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import Ints
from listwright.errors import InputError
from listwright.frames.streams import number_in, text_lines


@dataclass(frozen=True)
class Judgements:
    """Judgements by query and document; made by `read_qrels`."""

    answers: dict[tuple[str, str], list[str]]  # (query, document): subtopics with a judgement above 0
    queries: frozenset[str]  # all queries that were judged, also those that no document answers
    name: str = "The judgements"  # name of the source in error messages


def read_qrels(path: str | Path) -> Judgements:
    r"""Read diversity judgements: lines of `query subtopic document judgement`."""
    answers: dict[tuple[str, str], list[str]] = {}
    queries = set()
    for number, line in enumerate(text_lines(path), start=1):
        if not line.strip():
            continue
        query, subtopic, document, judged = _fields(line, f"{path}, line {number}")
        queries.add(query)
        if judged > 0:
            answers.setdefault((query, document), []).append(subtopic)
    if not queries:
        raise InputError(f"{path} is empty. It must have lines of: query subtopic document judgement.")
    return Judgements(answers, frozenset(queries), str(path))


def subtopic_coverage(
    judgements: Judgements, problem_ids: NDArray[Any], item_ids: NDArray[Any] | None, offsets: Ints
) -> sparse.csr_array:
    # Takes ids and offsets in place of `Problems`, because a reward is built before its problems exist.
    if item_ids is None:
        raise InputError("Judgements name documents, but these problems have no item ids. Name the column with item=.")
    queries = [str(name) for name in problem_ids]
    missing = next((query for query in queries if query not in judgements.queries), None)
    if missing is not None:
        raise InputError(
            f"{judgements.name} has no line for query {missing}. Leave the problem out, or add judgements."
        )
    topics = _answered_subtopics(judgements, queries, [str(item) for item in item_ids], offsets)
    rows = np.repeat(np.arange(len(topics)), [len(numbers) for numbers in topics])
    columns = np.array([number for numbers in topics for number in numbers], dtype=np.int64)
    shape = (len(topics), int(columns.max(initial=0)) + 1)
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def _answered_subtopics(judgements: Judgements, queries: list[str], items: list[str], offsets: Ints) -> list[list[int]]:
    """By row, the subtopics that it answers, numbered within the query in order of appearance."""
    answered = []
    for i, query in enumerate(queries):
        number: dict[str, int] = {}
        for item in items[offsets[i] : offsets[i + 1]]:
            subtopics = dict.fromkeys(judgements.answers.get((query, item), ()))
            answered.append([number.setdefault(subtopic, len(number)) for subtopic in subtopics])
    return answered


def _fields(line: str, place: str) -> tuple[str, str, str, float]:
    fields = line.split()
    if len(fields) != 4:
        raise InputError(f"{place}: expected query, subtopic, document and judgement. Got {len(fields)} fields.")
    return fields[0], fields[1], fields[2], number_in(fields[3], "judgement", place)
