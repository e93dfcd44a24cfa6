"""Multi-hop questions: which paragraphs together support the answer? (HotpotQA, 2WikiMultihopQA, MuSiQue.)"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Ints, starts_of
from listwright.errors import InputError
from listwright.lab.datasets._files import read_records, require
from listwright.lab.datasets._question_features import Texts, question_features, question_links
from listwright.lab.datasets._terms import count_terms, within_problems
from listwright.problems import Problems
from listwright.rewards import Coverage
from listwright.text.tokenizer import tokens

_NOTE = re.compile(r"\s*\([^)]*\)\s*$")  # the "(film)" of a title, which texts do not repeat


class Paragraph(NamedTuple):
    """One candidate."""

    title: str
    text: str
    supporting: bool


class Question(NamedTuple):
    """One record of a file."""

    id: str
    text: str
    paragraphs: list[Paragraph]


def read_questions(path: str | Path) -> Problems:
    """Reads a JSON file or JSON lines, also compressed. The form is that of HotpotQA and 2WikiMultihopQA (`context`,
    `supporting_facts`), that of MuSiQue (`paragraphs` of `title`, `paragraph_text`, `is_supporting`), or `paragraphs`
    of `title`, `sentences`, `supporting`.

    The reward is the share of a question's supporting paragraphs that the list holds (a list that holds all of them is
    worth 1); sizes are the paragraphs' tokens. Features are what can be known without labels: likeness to the question,
    and how well a paragraph is linked to others, weighed by the others' BM25. Words are weighed within each question.
    Links: "mentioned_in" (1 where the row's title stands in the other's text), "mentions" (the other way round),
    "title_words_in" (share of the words of the row's title, by rarity, in the other's text), "title_words_of" (the
    other way round) and "shared_words" (how many rare words both hold); vectors are tf-idf.
    Questions without a supporting paragraph are left out; where the file has no labels at all, there is no reward.
    """
    questions = [_question(record, Path(path)) for record in read_records(path)]
    labelled = [question for question in questions if any(paragraph.supporting for paragraph in question.paragraphs)]
    kept = labelled or questions
    if not kept:
        raise InputError(f"{path} holds no questions.")
    paragraphs = [paragraph for question in kept for paragraph in question.paragraphs]
    counts = np.array([len(question.paragraphs) for question in kept])
    owners = np.repeat(np.arange(len(kept)), counts)
    texts = Texts(
        titles=[tokens(_NOTE.sub("", paragraph.title)) for paragraph in paragraphs],
        bodies=[tokens(paragraph.text) for paragraph in paragraphs],
        questions=[tokens(question.text) for question in kept],
        owners=owners,
    )
    terms = count_terms([title + body for title, body in texts.named()], owners, texts.questions)
    links = question_links(texts, terms)
    features, names = question_features(texts, terms, links | {"cosine": terms.cosines()})
    return Problems.from_arrays(
        features,
        offsets=starts_of(counts),
        sizes=[max(len(body), 1) for body in texts.bodies],
        problem_ids=[question.id for question in kept],
        item_ids=[paragraph.title for paragraph in paragraphs],
        feature_names=names,
        vectors=terms.vectors(),
        links={name: within_problems(table, starts_of(counts)) for name, table in links.items()},
        reward=_support(paragraphs, owners) if labelled else None,
    )


def _support(paragraphs: list[Paragraph], owners: Ints) -> Coverage:
    """Every supporting paragraph is a topic that it alone covers."""
    rows = np.flatnonzero([paragraph.supporting for paragraph in paragraphs])
    first = np.searchsorted(owners[rows], owners[rows])  # where the question's supporting rows start among all
    topics = np.arange(len(rows)) - first
    shape = (len(paragraphs), int(topics.max()) + 1)
    return Coverage(sparse.csr_array((np.ones(len(rows)), (rows, topics)), shape=shape))


def _question(record: dict[str, Any], path: Path) -> Question:
    name = str(record.get("id", record.get("_id", "")))
    require(record, ("question",), f"Question {name} of {path}")
    if "context" not in record and "paragraphs" not in record:
        raise InputError(f"Question {name} of {path} has neither paragraphs nor context.")
    try:
        paragraphs = list(_given(record["paragraphs"]) if "paragraphs" in record else _hotpot(record))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"Question {name} of {path} has paragraphs of another form: {error!r}.") from error
    return Question(name, record["question"], paragraphs)


def _given(paragraphs: list[dict[str, Any]]) -> Iterator[Paragraph]:
    for entry in paragraphs:
        text = entry["paragraph_text"] if "paragraph_text" in entry else " ".join(entry["sentences"])
        yield Paragraph(entry["title"], text, bool(entry.get("supporting", entry.get("is_supporting", False))))


def _hotpot(record: dict[str, Any]) -> Iterator[Paragraph]:
    supporting = {title for title, _ in record.get("supporting_facts", [])}
    for title, sentences in record["context"]:
        yield Paragraph(title, " ".join(sentences), title in supporting)
