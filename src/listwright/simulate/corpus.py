"""Made-up clusters of news reports with four summaries each, for learning to summarise.

Reports state the facts of an event that matter more often, earlier and with other openings, but none of these tells it
all; and they tell the same fact in other words, so that a good summary must avoid what it has said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from listwright.errors import InputError
from listwright.text.clusters import Cluster

FILE = Path(__file__).with_name("reports.json")
NUMBERS = {"few": (2, 9), "tens": (11, 96), "hundreds": (110, 980), "thousands": (2, 90)}

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_LASTING_CHOICE = re.compile(r"<([^<>]*)>")
_BLANK = re.compile(r"\{([^{}]*)\}")


class Fact(NamedTuple):
    """A fact that reports may state."""

    weight: float  # how much such a fact usually matters, from 0 to 1
    forms: tuple[str, ...]  # the forms in which it is stated, the short one first


class NewsEvent(NamedTuple):
    """A kind of event that clusters of reports are about."""

    title: str  # a form for the title of the cluster
    words: tuple[str, ...]  # words that belong to the event, used in asides
    facts: tuple[Fact, ...]  # what reports may state


@cache
def wording() -> dict[str, Any]:
    """Return the content of `reports.json`, which explains it."""
    content = json.loads(FILE.read_text(encoding="utf-8"))
    events = [NewsEvent(text["title"], tuple(text["words"]), _facts(text["facts"])) for text in content["events"]]
    return content | {"events": events, "common_facts": _facts(content["common_facts"])}


def _facts(entries: list[dict[str, Any]]) -> tuple[Fact, ...]:
    return tuple(Fact(entry["weight"], tuple(entry["forms"])) for entry in entries)


def pick(options: Sequence[str], rng: np.random.Generator) -> str:
    return options[int(rng.random() * len(options))]


def choose(form: str, rng: np.random.Generator) -> str:
    return _CHOICE.sub(lambda match: pick(match[1].split("|"), rng), form)


def fill(form: str, values: Mapping[str, str]) -> str:
    return _BLANK.sub(lambda match: values[match[1]], form)


def blanks(form: str) -> list[str]:
    return _BLANK.findall(form)


def sentence(clause: str) -> str:
    return clause[:1].upper() + clause[1:] + "."


def values(names: Iterable[str], rng: np.random.Generator) -> dict[str, str]:
    return {name: _MAKERS[name.split(":")[0]](rng) for name in names}


def person(rng: np.random.Generator) -> str:
    return _word(wording()["first_names"], rng) + " " + _invent(wording()["surname_endings"], rng)


def place(rng: np.random.Generator) -> str:
    return _invent(wording()["place_endings"], rng)


def weekday(rng: np.random.Generator) -> str:
    return _word(wording()["days"], rng)


def number(kind: str, rng: np.random.Generator) -> str:
    return _between(*NUMBERS[kind])(rng) + (",000" if kind == "thousands" else "")


def _between(low: int, high: int) -> Callable[[np.random.Generator], str]:
    return lambda rng: str(low + int(rng.random() * (high - low + 1)))


def _word(words: str, rng: np.random.Generator) -> str:
    return pick(words.split(), rng)


def _invent(endings: str, rng: np.random.Generator) -> str:
    syllables = wording()["syllables"]
    return (_word(syllables, rng) + _word(syllables, rng) + _word(endings, rng)).capitalize()


_MAKERS: dict[str, Callable[[np.random.Generator], str]] = {
    "person": person,
    "place": place,
    "firm": lambda rng: _invent(wording()["firm_endings"], rng),
    "day": weekday,
    "month": lambda rng: _word(wording()["months"], rng),
    "year": _between(1951, 1996),
    "millions": _between(12, 940),
    "percent": _between(21, 79),
    **{kind: partial(number, kind) for kind in NUMBERS},
}


_N_REFERENCES = 4
_REFERENCE_WORDS = 100


@dataclass(frozen=True)
class _Story:
    """One event as the reports of a cluster tell it."""

    event: NewsEvent  # the kind of event
    facts: tuple[Fact, ...]  # its facts, with the words chosen on which all reports agree
    importance: NDArray[np.float64]  # by fact, how much it matters, from 0 to 1; summaries go by it
    chance: NDArray[np.float64]  # by fact, the probability that a report states it
    values: dict[str, str]  # names and numbers for the blanks


def corpus(n_clusters: int = 60, *, seed: int = 0) -> list[Cluster]:
    """Make clusters of about ten reports with four summaries of about 100 words.

    Use it to try summarisation without data, or in tests. The language is simple and the vocabulary small, so scores
    say nothing about real news.

    Parameters
    ----------
    n_clusters : int
        Number of clusters. A cluster does not depend on how many there are.
    seed : int
        The same seed gives the same text.

    Returns
    -------
    list of Cluster
        Every third is marked "test", the others "train".

    See Also
    --------
    listwright.text.read_cluster_folders : Reads your own clusters.

    Examples
    --------
    >>> clusters = corpus(3, seed=0)
    >>> [cluster.split for cluster in clusters], clusters[0].title
    (['train', 'train', 'test'], 'Floods in ...')
    >>> len(clusters[0].references)
    4
    """
    if n_clusters < 1:
        raise InputError(f"n_clusters must be at least 1. Got {n_clusters}.")
    return [_cluster(index, np.random.default_rng([seed, index])) for index in range(n_clusters)]


def _cluster(index: int, rng: np.random.Generator) -> Cluster:
    story = _story(wording()["events"][index % len(wording()["events"])], rng)
    return Cluster.from_documents(
        f"c{index:03d}",
        [_document(story, rng) for _ in range(8 + int(rng.random() * 5))],
        references=[_reference(story, rng) for _ in range(_N_REFERENCES)],
        title=fill(story.event.title, story.values),
        split="test" if index % 3 == 2 else "train",
    )


def _story(event: NewsEvent, rng: np.random.Generator) -> _Story:
    # The importance is the fact's usual weight with noise; the chance is a logistic function of the importance with
    # more noise, so that the two agree only loosely and frequency alone does not make a good summary.
    facts = _with_choices((*event.facts, *wording()["common_facts"]), rng)
    weights = np.array([fact.weight for fact in facts])
    importance = np.clip(weights + 0.2 * rng.standard_normal(len(facts)), 0.0, 1.0)
    leaning = 3.5 * (importance - 0.65) + 1.1 * rng.standard_normal(len(facts))
    names = sorted({name for form in (event.title, *_forms(facts)) for name in blanks(form)})
    return _Story(event, facts, importance, 1.0 / (1.0 + np.exp(-leaning)), values(names, rng))


def _with_choices(facts: tuple[Fact, ...], rng: np.random.Generator) -> tuple[Fact, ...]:
    options = sorted({choice for form in _forms(facts) for choice in _LASTING_CHOICE.findall(form)})
    choices = {option: pick(option.split("|"), rng) for option in options}
    return tuple(
        Fact(fact.weight, tuple(_LASTING_CHOICE.sub(lambda match: choices[match[1]], form) for form in fact.forms))
        for fact in facts
    )


def _forms(facts: tuple[Fact, ...]) -> list[str]:
    return [form for fact in facts for form in fact.forms]


def _document(story: _Story, rng: np.random.Generator) -> list[str]:
    """Return the sentences of one report: statements, the weighty ones rather first, with asides between them."""
    stated = np.flatnonzero(rng.random(len(story.facts)) < story.chance)
    eagerness = 3.0 * story.importance[stated] + rng.standard_normal(len(stated))
    sentences = _statements(story, stated[np.argsort(-eagerness, kind="stable")], rng)[:12]
    n_sentences = 8 + int(rng.random() * 6)
    while len(sentences) < n_sentences or rng.random() < 0.3:
        # Asides stand anywhere, but rather late.
        spot = int(rng.random() ** 0.5 * (len(sentences) + 1))
        sentences.insert(spot, sentence(_local(pick(wording()["asides"], rng), story, rng)))
    return sentences


def _statements(story: _Story, rows: NDArray[np.intp], rng: np.random.Generator) -> list[str]:
    """Return one sentence per fact; now and then one sentence states two."""
    clauses: list[str] = []
    for row in rows:
        clause = _clause(story, int(row), rng)
        if clauses and rng.random() < 0.2:
            clauses[-1] += pick(wording()["links"], rng) + clause
        else:
            clauses.append(_opening(float(story.importance[row]), rng) + clause)
    closed = (clause + (pick(wording()["closings"], rng) if rng.random() < 0.35 else "") for clause in clauses)
    return [sentence(_local(clause, story, rng)) for clause in closed]


def _clause(story: _Story, row: int, rng: np.random.Generator) -> str:
    clause = choose(pick(story.facts[row].forms, rng), rng)
    numbers = [name for name in blanks(clause) if name.split(":")[0] in NUMBERS and rng.random() < 0.15]
    return fill(clause, story.values | {name: number(name.split(":")[0], rng) for name in numbers})


def _opening(importance: float, rng: np.random.Generator) -> str:
    """Return words that hint at how much a fact matters, or at nothing."""
    drawn = rng.random()
    if drawn < 0.35 * importance:
        return pick(wording()["weighty_openings"], rng)
    if drawn < 0.35:
        return pick(wording()["slight_openings"], rng)
    return pick(wording()["plain_openings"], rng) if drawn < 0.5 else ""


def _local(text: str, story: _Story, rng: np.random.Generator) -> str:
    """Fill in what belongs to one sentence only: a name, a place, a day and a word of the event."""
    known_places = [value for name, value in story.values.items() if name.startswith("place:")]
    own = {
        "name": person(rng),
        "spot": place(rng) if rng.random() < 0.5 else pick(known_places, rng),
        "weekday": weekday(rng),
        "word": pick(story.event.words, rng),
    }
    return fill(choose(text, rng), own)


def _reference(story: _Story, rng: np.random.Generator) -> str:
    """Return one person's summary: what matters most in their judgement, up to about 100 words."""
    # Judgement is the importance with noise, so that the four summaries of a cluster differ as those of people do.
    judged = story.importance + 0.12 * rng.standard_normal(len(story.facts))
    sentences, n_words = list[str](), 0
    for row in np.argsort(-judged, kind="stable"):
        forms = story.facts[row].forms
        text = sentence(fill(choose(forms[0] if rng.random() < 0.3 else pick(forms, rng), rng), story.values))
        n_words += len(text.split())
        if n_words > _REFERENCE_WORDS + 5:
            break
        sentences.append(text)
    return " ".join(sentences)
