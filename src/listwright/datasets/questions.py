"""Multi-hop questions: which paragraphs together support the answer? (HotpotQA, 2WikiMultihopQA, MuSiQue.)"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from listwright._internal.tokens import tokens
from listwright.datasets._reading import read_records, require
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import Coverage
from listwright.text.passages import question_problems
from listwright.text.readers import distinct, note_skipped
from listwright.text.vectors import Rows, hashed_tf_idf

WIDTH = 1 << 18  # columns of the vectors: the same words in all files


class Paragraph(NamedTuple):
    title: str
    text: str
    support: int | None  # number of the supporting fact that it holds; None for a distractor


class LabelledQuestion(NamedTuple):
    id: str
    text: str
    paragraphs: list[Paragraph]

    @property
    def has_support(self) -> bool:
        return any(paragraph.support is not None for paragraph in self.paragraphs)


def read_questions(path: str | Path) -> Problems:
    """Read multi-hop questions as problems: which paragraphs should be handed to a reader or language model?

    The reward is the share of a question's supporting paragraphs that the list holds (a list that holds all of them is
    worth 1); sizes are the paragraphs' tokens. Features, links and query terms are those of `text.passage_features`,
    from the texts of each question alone; vectors are tf-idf.

    Parameters
    ----------
    path : str or Path
        A JSON file or JSON lines, also compressed, in the form of HotpotQA and 2WikiMultihopQA (`context`,
        `supporting_facts`, as published or as on the Hugging Face hub), that of MuSiQue (`paragraphs` of `title`,
        `paragraph_text`, `is_supporting`), or with `paragraphs` of `title`, `sentences`, `supporting`.

    Returns
    -------
    Problems
        One problem per question; without a reward where no question has labels. Item ids are titles; where several
        paragraphs of a question have the same title, later ones are numbered ("Oslo", "Oslo #2").

    See Also
    --------
    listwright.text.question_problems : The same features for questions of your own.
    listwright.simulate.questions.questions : Simulated questions, without data files.

    Notes
    -----
    In the HotpotQA form a supporting fact names a title and a sentence, so that every paragraph with that title and
    sentence covers it. Left out, with a `ReadingNote` that counts them: records without paragraphs, questions that the
    file marks as unanswerable, and, where other questions have labels, those without a supporting paragraph.
    """
    kept = kept_questions(path)
    labelled = any(question.has_support for question in kept)
    texts = [[paragraph.text for paragraph in question.paragraphs] for question in kept]
    titles = [[paragraph.title for paragraph in question.paragraphs] for question in kept]
    bodies = [[tokens(text) for text in own] for own in texts]
    return question_problems(
        [question.text for question in kept],
        texts,
        titles=titles,
        sizes=[[max(len(body), 1) for body in own] for own in bodies],
        problem_ids=distinct(question.id for question in kept),
        item_ids=[name for own in titles for name in distinct(own)],
        vectors=sparse.vstack([_vectors(*pair) for pair in zip(titles, bodies, strict=True)]),
        reward=_support([paragraph for question in kept for paragraph in question.paragraphs]) if labelled else None,
    )


def _vectors(titles: list[str], bodies: list[list[str]]) -> Rows:
    return hashed_tf_idf([tokens(title) + body for title, body in zip(titles, bodies, strict=True)], WIDTH)


def kept_questions(path: str | Path) -> list[LabelledQuestion]:
    """Return the questions of a file that can be used; the others are counted in a `ReadingNote`."""
    path = Path(path)
    records = read_records(path)
    given = [(number, record) for number, record in enumerate(records, start=1) if _has_paragraphs(record)]
    answerable = [_question(record, number, path) for number, record in given if record.get("answerable", True)]
    supported = [question for question in answerable if question.has_support] or answerable
    if not supported:
        raise InputError(f"{path} holds no questions with paragraphs. It has {len(records)} records.")
    skipped = {
        "without paragraphs": len(records) - len(given),
        "unanswerable": len(given) - len(answerable),
        "without a supporting paragraph": len(answerable) - len(supported),
    }
    note_skipped(path, len(records), skipped)
    return supported


def _has_paragraphs(record: dict[str, Any]) -> bool:
    context = record.get("paragraphs") or record.get("context")
    return bool(context.get("title") if isinstance(context, dict) else context)


def _support(paragraphs: list[Paragraph]) -> Coverage:
    held = [(row, fact.support) for row, fact in enumerate(paragraphs) if fact.support is not None]
    rows, facts = np.array(held, dtype=np.int64).T
    return Coverage(sparse.csr_array((np.ones(len(rows)), (rows, facts)), shape=(len(paragraphs), facts.max() + 1)))


def _question(record: dict[str, Any], number: int, path: Path) -> LabelledQuestion:
    name = str(record.get("id", record.get("_id", "")) or number)
    require(record, ("question",), f"Question {name} of {path}")
    try:
        paragraphs = _given(record["paragraphs"]) if record.get("paragraphs") else _hotpot(record)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"Question {name} of {path} has paragraphs of another form: {error!r}.") from error
    return LabelledQuestion(name, str(record["question"]), paragraphs)


def _given(entries: list[dict[str, Any]]) -> list[Paragraph]:
    flags = [bool(entry.get("supporting", entry.get("is_supporting", False))) for entry in entries]
    facts = (np.cumsum(flags) - 1).tolist()
    return [
        Paragraph(_title(entry.get("title"), place), _text(entry), facts[place] if flags[place] else None)
        for place, entry in enumerate(entries)
    ]


def _text(entry: dict[str, Any]) -> str:
    return str(entry["paragraph_text"] or "") if "paragraph_text" in entry else " ".join(entry["sentences"])


def _hotpot(record: dict[str, Any]) -> list[Paragraph]:
    titles, texts = _columns(record["context"], "sentences")
    named: dict[str, int] = {}  # by title: the first of the sentences named
    for title, sentence in zip(*_columns(record.get("supporting_facts") or [], "sent_id"), strict=True):
        named[title] = min(int(sentence), named.get(title, int(sentence)))
    support: dict[int, int] = {}  # by paragraph: its fact
    for fact, title in enumerate(title for title in named if title in titles):
        places = [place for place, name in enumerate(titles) if name == title]
        support |= dict.fromkeys([place for place in places if named[title] < len(texts[place])] or places, fact)
    return [
        Paragraph(_title(title, place), " ".join(sentences), support.get(place))
        for place, (title, sentences) in enumerate(zip(titles, texts, strict=True))
    ]


def _columns(pairs: Any, second: str) -> tuple[list[Any], list[Any]]:
    if isinstance(pairs, dict):
        return list(pairs["title"]), list(pairs[second])
    return [title for title, _ in pairs], [other for _, other in pairs]


def _title(title: Any, place: int) -> str:
    return str(title) if title else f"paragraph {place + 1}"
