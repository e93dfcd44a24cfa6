"""Variants of labelled questions, so that a policy does not learn the form of one data set.

HotpotQA has ten passages, two of which support the answer, each with a title. A retriever gives more passages, untitled
ones, and questions may need more than two.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats
from listwright.lab.datasets.questions import kept_questions
from listwright.problems import Problems
from listwright.rewards import Coverage
from listwright.text.passages import question_problems
from listwright.text.tokenizer import tokens
from listwright.text.vectors import tf_idf
from listwright.text.words import FUNCTION_WORDS


class Labelled(NamedTuple):
    """A question, and title, text and label of each passage."""

    question: str
    titles: list[str]
    texts: list[str]
    supports: list[bool]


def read_labelled(path: str | Path) -> list[Labelled]:
    """Questions of a file in the forms of `datasets.read_questions`."""
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
    """The questions as they are; with `more` passages of other questions that are like them; two questions in one; and
    the first two kinds without titles."""
    rng = np.random.default_rng(seed)
    wider = [_shuffled(one, rng) for one in _with_more(questions, more)]
    joined = [_shuffled(_joined(one, questions[i - 1]), rng) for i, one in enumerate(questions)]
    untitled = [one._replace(titles=[""] * len(one.texts)) for one in (*questions, *wider)]
    return [*questions, *wider, *joined, *untitled]


def labelled_problems(questions: Sequence[Labelled], *, vectors: Any = None) -> Problems:
    """Problems whose reward is the share of the supporting passages that the list holds; `vectors` as in Problems."""
    supports = np.concatenate([one.supports for one in questions])
    numbers = np.concatenate([np.cumsum(one.supports) - 1 for one in questions])
    rows = np.flatnonzero(supports)
    table = sparse.csr_array((np.ones(len(rows)), (rows, numbers[rows])), (len(supports), int(numbers.max()) + 1))
    return question_problems(
        [one.question for one in questions],
        [one.texts for one in questions],
        titles=[one.titles for one in questions],
        vectors=vectors,
        reward=Coverage(table),
    )


def _with_more(questions: Sequence[Labelled], more: int) -> list[Labelled]:
    """Each question with the passages of others that are most like it; no title comes twice."""
    titles = [title for one in questions for title in one.titles]
    texts = [text for one in questions for text in one.texts]
    likeness = _likeness([one.question for one in questions], [f"{t} {x}" for t, x in zip(titles, texts, strict=True)])
    found = []
    for one, scores in zip(questions, likeness, strict=True):
        chosen: dict[str, str] = {}
        for row in np.argsort(-scores, kind="stable"):
            if len(chosen) == more:
                break
            if titles[row] not in one.titles:
                chosen.setdefault(titles[row], texts[row])
        n = len(chosen)
        found.append(
            Labelled(one.question, [*one.titles, *chosen], [*one.texts, *chosen.values()], one.supports + [False] * n)
        )
    return found


def _likeness(questions: Sequence[str], passages: Sequence[str]) -> Floats:
    words = [[word for word in tokens(text) if word not in FUNCTION_WORDS] for text in (*questions, *passages)]
    rows = tf_idf(words)
    return np.asarray((rows[: len(questions)] @ rows[len(questions) :].T).toarray(), dtype=np.float64)


def _joined(one: Labelled, other: Labelled) -> Labelled:
    """A question that asks for the passages of both."""
    question = f"{one.question.rstrip(' ?.')}, and {other.question}"
    return Labelled(question, one.titles + other.titles, one.texts + other.texts, one.supports + other.supports)


def _shuffled(one: Labelled, rng: np.random.Generator) -> Labelled:
    order = rng.permutation(len(one.texts)).tolist()
    return Labelled(one.question, *([column[i] for i in order] for column in one[1:]))
