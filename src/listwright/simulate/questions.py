"""Made-up questions that take several passages to answer, for learning what to hand to a reader or a language model.

"Which river is the river at the birthplace of the director of Silent Harbour?" Only the passage on the film shares a
name with the question; those on director and birthplace are found through the names in the passage before.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, starts_of
from listwright._internal.tokens import FUNCTION_WORDS, tokens
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards import Coverage
from listwright.simulate.corpus import choose, number, person, pick, place
from listwright.text.vectors import hashed_tf_idf

FILE = Path(__file__).with_name("encyclopedia.json")


class Relation(NamedTuple):
    """A relation between two kinds of things, such as film and director."""

    start: str  # the kinds that it joins
    end: str
    label: str  # what it states, for example "director"
    asks: str  # how a question refers to its end: "the director of {a}"
    forms: tuple[str, ...]  # sentences that state it, the usual one first


class Link(NamedTuple):
    """A relation with the names that it joins."""

    relation: Relation
    subject: str
    leads_to: str


def fill_in(form: str, link: Link, rng: np.random.Generator, namer: Namer) -> str:
    made_up = {
        "{a}": link.subject,
        "{b}": link.leads_to,
        "{year}": str(1880 + int(rng.integers(120))),
        "{few}": number("few", rng),
        "{tens}": number("tens", rng),
        "{name}": namer.of("person"),
    }
    text = choose(form, rng)
    for blank, value in made_up.items():
        text = text.replace(blank, value)
    return text[:1].upper() + text[1:]


def relations_from(kind: str, *, without: list[Relation]) -> list[Relation]:
    """Return the relations that start from a kind of thing; no label may occur twice in a question."""
    labels = {relation.label for relation in without}
    return [relation for relation in relations() if relation.start == kind and relation.label not in labels]


@cache
def facts() -> dict[str, Any]:
    return json.loads(FILE.read_text(encoding="utf-8"))


@cache
def relations() -> tuple[Relation, ...]:
    return tuple(
        Relation(entry["from"], entry["to"], entry["label"], entry["asks"], tuple(entry["forms"]))
        for entry in facts()["relations"]
    )


class Namer:
    """Draws names of things, none of them twice in a question."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.taken: set[str] = set()

    def of(self, kind: str) -> str:
        while (name := self._draw(kind)) in self.taken:
            pass
        self.taken.add(name)
        return name

    def _draw(self, kind: str) -> str:
        titles = facts()["titles"]
        if kind in ("film", "novel", "painting"):
            return f"{pick(titles[kind], self.rng)} {pick(titles['nouns'], self.rng)}"
        if kind == "person":
            return person(self.rng)
        patterns = {"bridge": "{} Bridge", "company": "{} Works", "university": "{} University", "lake": "Lake {}"}
        return patterns.get(kind, "{}").format(place(self.rng))


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
REPEATED = 0.75  # chance that a fact is repeated, in other words
OTHERS = 2  # ways that run beside the one asked for, from another start
DEAD_END = 0.4  # chance that a subject has another passage, with something that was not asked for


class SimulatedPassage(NamedTuple):
    """One candidate of a question."""

    title: str  # the subject
    text: str  # a few sentences about it
    step: int | None  # number of the step towards the answer that it states; None if it is not needed


@dataclass(frozen=True)
class SimulatedQuestion:
    """A question, its passages, and the steps that lead to the answer."""

    id: str  # its name: the seed and its number
    text: str  # the question
    passages: tuple[SimulatedPassage, ...]  # the candidates, in random order
    steps: tuple[tuple[str, str], ...]  # what each step states, and the name it leads to: ("director", "Ada Quill")


def question_problems(asked: Sequence[SimulatedQuestion]) -> Problems:
    """Questions as problems: passages are candidates, and a list is worth the share of the steps that it holds.

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
    features, vectors, links = zip(*map(_features_of, asked), strict=True)
    counts = [len(question.passages) for question in asked]
    held = [(row, passage.step) for row, passage in enumerate(p for question in asked for p in question.passages)]
    rows, steps = np.array([pair for pair in held if pair[1] is not None], dtype=np.int64).T
    covers = sparse.csr_array((np.ones(len(rows)), (rows, steps)), shape=(sum(counts), int(steps.max()) + 1))
    return Problems.from_arrays(
        np.concatenate(features),
        offsets=starts_of(counts),
        feature_names=FEATURES,
        vectors=np.concatenate(vectors),
        links={name: _stack_padded([tables[name] for tables in links], max(counts)) for name in links[0]},
        reward=Coverage(covers),
        problem_ids=[question.id for question in asked],
    )


def _features_of(asked: SimulatedQuestion) -> tuple[Floats, Floats, dict[str, Floats]]:
    """Return features, hashed tf-idf vectors and links of one question's passages, without labels."""
    titles, wanted = [passage.title for passage in asked.passages], set(tokens(asked.text)) - FUNCTION_WORDS
    words = [tokens(f"{passage.title} {passage.text}") for passage in asked.passages]
    rows = hashed_tf_idf([*words, tokens(asked.text)], WIDTH).toarray()
    like = rows[:-1] @ rows[-1]
    names = np.array([[title in other.text for other in asked.passages] for title in titles], dtype=np.float64)
    same = np.array([[title == other for other in titles] for title in titles], dtype=np.float64)
    led_to = names * (1.0 - same)  # another passage names the subject
    columns = {
        "likeness": like,
        "question words": [len(wanted.intersection(passage_words)) / len(wanted) for passage_words in words],
        "named in the question": [title in asked.text for title in titles],
        "named elsewhere": led_to.sum(axis=1),
        "named where the question leads": (led_to * like).max(axis=1),
        "names others": led_to.sum(axis=0),
        "length": [len(passage_words) for passage_words in words],
    }
    assert tuple(columns) == FEATURES
    links = {"is named in": led_to, "names": led_to.T, "same subject": same - np.eye(len(titles))}
    return np.array(list(columns.values()), dtype=np.float64).T, rows[:-1], links


def _stack_padded(tables: Sequence[Floats], width: int) -> Floats:
    return np.concatenate([np.pad(table, ((0, 0), (0, width - table.shape[1]))) for table in tables])


def questions(n_questions: int, *, random_state: int = 0, steps: tuple[int, int] = (3, 4)) -> list[SimulatedQuestion]:
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
    >>> question = questions(1, random_state=3)[0]
    >>> question.text
    'Which lake is the lake at the end of the river at the birthplace of the author of An Honest Orchard?'
    >>> question.steps[0], question.steps[-1]
    (('author', 'Hamid Norfenell'), ('lake', 'Lake Brihalana'))
    """
    if n_questions < 1:
        raise InputError(f"n_questions must be at least 1. Got {n_questions}.")
    if not 1 <= steps[0] <= steps[1] <= 5:
        raise InputError(f"steps must be (lowest, highest) within 1 to 5. Got {steps}.")
    return [_question(random_state, index, steps) for index in range(n_questions)]


def _question(seed: int, index: int, steps: tuple[int, int]) -> SimulatedQuestion:
    rng = np.random.default_rng([seed, index])
    namer = Namer(rng)
    way = _way(int(rng.integers(steps[0], steps[1] + 1)), namer, rng)
    relations = [link.relation for link in way]
    passages = _state_links(way, rng, namer, needed=True)
    for _ in range(OTHERS):
        passages += _state_links(_join_links(relations, namer), rng, namer, needed=False)
    order = rng.permutation(len(passages))
    return SimulatedQuestion(
        f"q{seed}-{index}",
        _question_text(way),
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
    return _join_links(relations, namer)


def _join_links(relations: list[Relation], namer: Namer) -> list[Link]:
    way: list[Link] = []
    for relation in relations:
        subject = way[-1].leads_to if way else namer.of(relation.start)
        way.append(Link(relation, subject, namer.of(relation.end)))
    return way


def _state_links(way: list[Link], rng: np.random.Generator, namer: Namer, *, needed: bool) -> list[SimulatedPassage]:
    """Return the passages on one way: each link, some of them once more in other words, and dead ends."""
    relations, passages = [link.relation for link in way], []
    for step, link in enumerate(way):
        states = step if needed else None
        passages.append(_passage(link, states, rng, namer))
        if rng.random() < REPEATED:
            passages.append(_passage(link, states, rng, namer, again=True))
        onward = relations_from(link.relation.end, without=relations)
        if onward and rng.random() < DEAD_END:
            relation = onward[int(rng.integers(len(onward)))]
            passages.append(_passage(Link(relation, link.leads_to, namer.of(relation.end)), None, rng, namer))
    return passages


def _passage(
    link: Link, step: int | None, rng: np.random.Generator, namer: Namer, *, again: bool = False
) -> SimulatedPassage:
    forms, fillers = link.relation.forms, facts()["fillers"][link.relation.start]
    stated = pick(forms[1:], rng) if again else forms[0] if rng.random() < 0.5 else pick(forms, rng)
    others = [fillers[i] for i in rng.permutation(len(fillers))[: 1 + int(rng.integers(2))]]
    sentences = [fill_in(stated, link, rng, namer)]
    for other in others:
        sentences.insert(int(rng.integers(len(sentences) + 1)), fill_in(other, link, rng, namer))
    return SimulatedPassage(link.subject, " ".join(sentences), step)


def _question_text(way: list[Link]) -> str:
    phrase = way[0].subject
    for link in way:
        phrase = link.relation.asks.replace("{a}", phrase)
    return facts()["asked"][way[-1].relation.end].replace("{a}", phrase)
