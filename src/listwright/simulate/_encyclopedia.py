"""Made-up facts for questions: relations between kinds of things, names, and sentences with blanks."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from listwright.simulate._wording import choose, number, person, pick, place

FILE = Path(__file__).with_name("encyclopedia.json")


class Relation(NamedTuple):
    """A relation between two kinds of things, such as film and director."""

    start: str  # the kinds that it joins
    end: str
    label: str  # what it tells, for example "director"
    asks: str  # how a question refers to its end: "the director of {a}"
    forms: tuple[str, ...]  # sentences that state it, the usual one first


class Link(NamedTuple):
    """A relation with the names that it joins."""

    relation: Relation
    subject: str
    leads_to: str


def filled(form: str, link: Link, rng: np.random.Generator, namer: Namer) -> str:
    """Return a form as a sentence, with names and numbers in its blanks."""
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


def link_of(relation: Relation, subject: str, namer: Namer) -> Link:
    """Return a relation from a subject to a new name."""
    return Link(relation, subject, namer.of(relation.end))


def relations_from(kind: str, *, without: list[Relation]) -> list[Relation]:
    """Return the relations that start from a kind of thing; no label may occur twice in a question."""
    labels = {relation.label for relation in without}
    return [one for one in relations() if one.start == kind and one.label not in labels]


@cache
def facts() -> dict[str, Any]:
    """Return the content of `encyclopedia.json`, read once."""
    content: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return content


@cache
def relations() -> tuple[Relation, ...]:
    """Return all relations of the file."""
    return tuple(
        Relation(one["from"], one["to"], one["label"], one["asks"], tuple(one["forms"])) for one in facts()["relations"]
    )


class Namer:
    """Draws names of things, none of them twice in a question."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.taken: set[str] = set()

    def of(self, kind: str) -> str:
        """Return a new name for something of a kind."""
        while (name := self._drawn(kind)) in self.taken:
            pass
        self.taken.add(name)
        return name

    def _drawn(self, kind: str) -> str:
        """Return a random name, which may be taken."""
        titles = facts()["titles"]
        if kind in ("film", "novel", "painting"):
            return f"{pick(titles[kind], self.rng)} {pick(titles['nouns'], self.rng)}"
        if kind == "person":
            return person(self.rng)
        patterns = {"bridge": "{} Bridge", "company": "{} Works", "university": "{} University", "lake": "Lake {}"}
        return patterns.get(kind, "{}").format(place(self.rng))
