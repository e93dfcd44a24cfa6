"""Write the models that the package ships anew.

`python -m benchmarks.shipped_models` writes the model of summaries, which learns from made-up reports. With
a file of HotpotQA questions (CC BY-SA 4.0) behind it, it writes the model of passages too, which learns from variants
of each question, so that it does not learn the form of one data set.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats
from listwright._internal.tokens import FUNCTION_WORDS, tokens
from listwright.context import model as passages
from listwright.datasets.questions import kept_questions
from listwright.problems import Problems
from listwright.rewards import Coverage
from listwright.simulate.corpus import corpus
from listwright.storage import save
from listwright.text.passages import question_problems
from listwright.text.summaries import SHIPPED, summary_model
from listwright.text.vectors import tf_idf

N_CLUSTERS = 120
MIN_LEAF = 50  # rows: every question comes in five variants


class Labelled(NamedTuple):
    """A question with labelled passages."""

    question: str  # the question
    titles: list[str]  # title and text of each passage; a title may be empty
    texts: list[str]
    supports: list[bool]  # whether each passage supports the answer


def read_labelled(path: str | Path) -> list[Labelled]:
    """Read questions from a file in one of the forms of `datasets.read_questions`."""
    questions = kept_questions(path)
    return [
        Labelled(
            question.text,
            [paragraph.title for paragraph in question.paragraphs],
            [paragraph.text for paragraph in question.paragraphs],
            [paragraph.support is not None for paragraph in question.paragraphs],
        )
        for question in questions
    ]


def variants(questions: Sequence[Labelled], *, more: int = 10, seed: int = 0) -> list[Labelled]:
    """Return the questions in five forms, one after the other."""
    rng = np.random.default_rng(seed)
    wider = [shuffle(question, rng) for question in add_passages(questions, more)]
    joined = [shuffle(_join(question, questions[i - 1]), rng) for i, question in enumerate(questions)]
    untitled = [question._replace(titles=[""] * len(question.texts)) for question in (*questions, *wider)]
    return [*questions, *wider, *joined, *untitled]


def labelled_problems(questions: Sequence[Labelled], *, vectors: Any = None) -> Problems:
    """Return problems whose reward is the share of the supporting passages that the list holds."""
    supports = np.concatenate([question.supports for question in questions])
    numbers = np.concatenate([np.cumsum(question.supports) - 1 for question in questions])
    rows = np.flatnonzero(supports)
    table = sparse.csr_array((np.ones(len(rows)), (rows, numbers[rows])), (len(supports), int(numbers.max()) + 1))
    return question_problems(
        [question.question for question in questions],
        [question.texts for question in questions],
        titles=[question.titles for question in questions],
        vectors=vectors,
        reward=Coverage(table),
    )


def add_passages(questions: Sequence[Labelled], more: int) -> list[Labelled]:
    """Return each question with the `more` passages of other questions that are most like it; no title occurs twice."""
    titles = [title for question in questions for title in question.titles]
    texts = [text for question in questions for text in question.texts]
    likeness = _likeness(
        [question.question for question in questions], [f"{t} {x}" for t, x in zip(titles, texts, strict=True)]
    )
    wider = []
    for question, scores in zip(questions, likeness, strict=True):
        chosen: dict[str, str] = {}
        for row in np.argsort(-scores, kind="stable"):
            if len(chosen) == more:
                break
            if titles[row] not in question.titles:
                chosen.setdefault(titles[row], texts[row])
        supports = question.supports + [False] * len(chosen)
        wider.append(
            Labelled(question.question, [*question.titles, *chosen], [*question.texts, *chosen.values()], supports)
        )
    return wider


def _likeness(questions: Sequence[str], passages: Sequence[str]) -> Floats:
    words = [[word for word in tokens(text) if word not in FUNCTION_WORDS] for text in (*questions, *passages)]
    rows = tf_idf(words)
    return np.asarray((rows[: len(questions)] @ rows[len(questions) :].T).toarray(), dtype=np.float64)


def _join(first: Labelled, other: Labelled) -> Labelled:
    question = f"{first.question.rstrip(' ?.')}, and {other.question}"
    titles, texts = first.titles + other.titles, first.texts + other.texts
    return Labelled(question, titles, texts, first.supports + other.supports)


def shuffle(question: Labelled, rng: np.random.Generator) -> Labelled:
    order = rng.permutation(len(question.texts)).tolist()
    return Labelled(question.question, *([column[i] for i in order] for column in question[1:]))


def write_summaries() -> Path:
    """Train the summary model on 120 made-up clusters and write it, slim, to its place in the package."""
    save(summary_model(corpus(N_CLUSTERS)), SHIPPED, slim=True)
    return SHIPPED


def write_passages(file: str) -> Path:
    """Train the passage model on all variants of a file's questions and write it, slim, to its place in the package."""
    problems = labelled_problems(variants(read_labelled(file)))
    save(passages.passage_model(problems, min_leaf=MIN_LEAF), passages.SHIPPED, slim=True)
    return passages.SHIPPED


if __name__ == "__main__":
    for written in [write_summaries(), *map(write_passages, sys.argv[1:2])]:
        print(f"Wrote {written.name}, {written.stat().st_size:,} bytes.")
