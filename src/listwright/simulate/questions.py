"""Made-up questions that take several passages to answer, for learning what to hand to a reader or a language model.

"Which river is the river at the birthplace of the director of Silent Harbour?" Three passages answer it: one on the
film, one on its director, one on the director's birthplace. Only the first shares a name with the question; the others
are found through the names in the passage before. Around them lie passages that say the same thing again in other
words, passages on other people and towns, and dead ends. What is needed is known, so that every list can be measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, starts_of
from listwright._internal.tokens import tokens
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import Coverage
from listwright.simulate._encyclopedia import (
    Link,
    Namer,
    Relation,
    facts,
    filled,
    link_of,
    relations_from,
)
from listwright.simulate._wording import pick
from listwright.text.vectors import hashed_tf_idf
from listwright.text.words import FUNCTION_WORDS

WIDTH = 256  # columns of the vectors that likeness is measured on
FEATURES = (
    "likeness",
    "question words",
    "named in the question",
    "named elsewhere",
    "named where the question leads",
    "names others",
    "length",
)
STARTS = ("film", "novel", "painting", "bridge", "company")
REPEATED = 0.75  # chance that a fact is told once more, in other words
OTHERS = 2  # ways that run beside the one asked for, from another start
DEAD_END = 0.4  # chance that a subject has another passage, with something that was not asked for


class Passage(NamedTuple):
    """One candidate of a question."""

    title: str  # the subject
    text: str  # a few sentences about it
    step: int | None  # number of the step towards the answer that it states; None if it is not needed


@dataclass(frozen=True)
class Question:
    """A question, its passages, and the steps that lead to the answer."""

    id: str  # its name: the seed and its number
    text: str  # the question
    passages: tuple[Passage, ...]  # the candidates, in random order
    steps: tuple[tuple[str, str], ...]  # what each step tells, and the name that it leads to: ("director", "Ada Quill")


def question_problems(asked: Sequence[Question]) -> Problems:
    """Questions as problems: passages are candidates, and a list is worth the share of the steps that it tells.

    Features are what any retriever could know: likeness to the question, whether the question names the passage's
    subject, and how well other passages lead to it. Links say which passage names the subject of which other.

    Parameters
    ----------
    asked : sequence of Question
        The questions, such as those of `questions`.

    See Also
    --------
    questions : Draws questions.
    listwright.text.question_problems : Problems from your own questions and passages.

    Examples
    --------
    >>> question_problems(questions(2))
    Problems: 2 problems, 50 candidates (25 each), 7 features, links by is named in, names, same subject, reward
    Coverage
    """
    known = [_known(one) for one in asked]
    counts = [len(one.passages) for one in asked]
    held = [(row, passage.step) for row, passage in enumerate(p for one in asked for p in one.passages)]
    rows, steps = np.array([pair for pair in held if pair[1] is not None], dtype=np.int64).T
    covers = sparse.csr_array((np.ones(len(rows)), (rows, steps)), shape=(sum(counts), int(steps.max()) + 1))
    return Problems.from_arrays(
        np.concatenate([one.features for one in known]),
        offsets=starts_of(counts),
        feature_names=FEATURES,
        vectors=np.concatenate([one.vectors for one in known]),
        links={name: _below([one.links[name] for one in known], max(counts)) for name in known[0].links},
        reward=Coverage(covers),
        problem_ids=[one.id for one in asked],
    )


class _Known(NamedTuple):
    """What can be known of the passages of a question without labels."""

    features: Floats  # columns as in `FEATURES`
    vectors: Floats  # hashed tf-idf
    links: dict[str, Floats]  # which passage names, is named in, or has the same subject as which


def _known(asked: Question) -> _Known:
    """Compute features, vectors and links of one question's passages, without labels."""
    titles, wanted = [passage.title for passage in asked.passages], set(tokens(asked.text)) - FUNCTION_WORDS
    words = [tokens(f"{passage.title} {passage.text}") for passage in asked.passages]
    rows = hashed_tf_idf([*words, tokens(asked.text)], WIDTH).toarray()
    like = rows[:-1] @ rows[-1]
    names = np.array([[title in other.text for other in asked.passages] for title in titles], dtype=np.float64)
    same = np.array([[title == other for other in titles] for title in titles], dtype=np.float64)
    led_to = names * (1.0 - same)  # another passage names the subject
    columns = {
        "likeness": like,
        "question words": [len(wanted.intersection(one)) / len(wanted) for one in words],
        "named in the question": [title in asked.text for title in titles],
        "named elsewhere": led_to.sum(axis=1),
        "named where the question leads": (led_to * like).max(axis=1),
        "names others": led_to.sum(axis=0),
        "length": [len(one) for one in words],
    }
    assert tuple(columns) == FEATURES
    links = {"is named in": led_to, "names": led_to.T, "same subject": same - np.eye(len(titles))}
    return _Known(np.array(list(columns.values()), dtype=np.float64).T, rows[:-1], links)


def _below(tables: Sequence[Floats], width: int) -> Floats:
    """Stack tables of different widths, padded with zeros on the right."""
    return np.concatenate([np.pad(table, ((0, 0), (0, width - table.shape[1]))) for table in tables])


def questions(n_questions: int, *, random_state: int = 0, steps: tuple[int, int] = (3, 4)) -> list[Question]:
    """Draw questions. A question does not depend on how many there are.

    Parameters
    ----------
    n_questions : int
        How many.
    random_state : int
        The same seed gives the same questions.
    steps : (int, int)
        The fewest and the most passages that a question needs.

    See Also
    --------
    question_problems : The questions as problems.

    Examples
    --------
    >>> one = questions(1, random_state=3)[0]
    >>> one.text
    'Which lake is the lake at the end of the river at the birthplace of the author of An Honest Orchard?'
    >>> one.steps[0], one.steps[-1]
    (('author', 'Hamid Norfenell'), ('lake', 'Lake Brihalana'))
    """
    if n_questions < 1:
        raise InputError(f"n_questions must be at least 1. Got {n_questions}.")
    if not 1 <= steps[0] <= steps[1] <= 5:
        raise InputError(f"steps must rise from 1 to 5 at most. Got {steps}.")
    return [_question(random_state, index, steps) for index in range(n_questions)]


def _question(seed: int, index: int, steps: tuple[int, int]) -> Question:
    """Draw one question from its own random stream, so that it does not depend on how many there are."""
    rng = np.random.default_rng([seed, index])
    namer = Namer(rng)
    way = _way(int(rng.integers(steps[0], steps[1] + 1)), namer, rng)
    relations = [link.relation for link in way]
    passages = _told(way, rng, namer, needed=True)
    for _ in range(OTHERS):
        passages += _told(_joined(relations, namer), rng, namer, needed=False)
    order = rng.permutation(len(passages))
    return Question(
        f"q{seed}-{index}",
        _asked(way),
        tuple(passages[i] for i in order),
        tuple((link.relation.label, link.leads_to) for link in way),
    )


def _way(n_steps: int, namer: Namer, rng: np.random.Generator) -> list[Link]:
    """Draw relations that lead from something famous to the answer, each from where the one before ends."""
    while True:
        kind, relations = pick(STARTS, rng), list[Relation]()
        while len(relations) < n_steps and (onward := relations_from(kind, without=relations)):
            relations.append(onward[int(rng.integers(len(onward)))])
            kind = relations[-1].end
        if len(relations) == n_steps:
            break
    return _joined(relations, namer)


def _joined(relations: list[Relation], namer: Namer) -> list[Link]:
    """Draw new names for relations, each of which starts where the one before ends."""
    way: list[Link] = []
    for relation in relations:
        way.append(link_of(relation, way[-1].leads_to if way else namer.of(relation.start), namer))
    return way


def _told(way: list[Link], rng: np.random.Generator, namer: Namer, *, needed: bool) -> list[Passage]:
    """Return the passages on one way: each link, some of them once more in other words, and dead ends."""
    relations, passages = [link.relation for link in way], []
    for step, link in enumerate(way):
        tells = step if needed else None
        passages.append(_passage(link, tells, rng, namer))
        if rng.random() < REPEATED:
            passages.append(_passage(link, tells, rng, namer, again=True))
        onward = relations_from(link.relation.end, without=relations)
        if onward and rng.random() < DEAD_END:
            passages.append(
                _passage(link_of(onward[int(rng.integers(len(onward)))], link.leads_to, namer), None, rng, namer)
            )
    return passages


def _passage(link: Link, step: int | None, rng: np.random.Generator, namer: Namer, *, again: bool = False) -> Passage:
    """Return a few sentences about the subject, one of which states the link."""
    forms, fillers = link.relation.forms, facts()["fillers"][link.relation.start]
    stated = pick(forms[1:], rng) if again else forms[0] if rng.random() < 0.5 else pick(forms, rng)
    others = [fillers[i] for i in rng.permutation(len(fillers))[: 1 + int(rng.integers(2))]]
    sentences = [filled(stated, link, rng, namer)]
    for other in others:
        sentences.insert(int(rng.integers(len(sentences) + 1)), filled(other, link, rng, namer))
    return Passage(link.subject, " ".join(sentences), step)


def _asked(way: list[Link]) -> str:
    """Return the question in words, by nesting the phrases of its relations."""
    phrase = way[0].subject
    for link in way:
        phrase = link.relation.asks.replace("{a}", phrase)
    return facts()["asked"][way[-1].relation.end].replace("{a}", phrase)
