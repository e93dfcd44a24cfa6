"""The words of made-up texts: the content of `reports.json`, and how its forms become sentences.

A form is a clause with `[a|b]` for words drawn each time, `<a|b>` for words drawn once per cluster, and `{kind:key}`
for values. `corpus` and `questions` use it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

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


@dataclass(frozen=True)
class Wording:
    """The content of `reports.json`, which explains how forms are written."""

    events: tuple[NewsEvent, ...]  # the kinds of events
    common_facts: tuple[Fact, ...]  # that reports on any event may state
    asides: tuple[str, ...]  # stated by one report only
    # openings of sentences that hint at a fact that matters, at one that does not, and at nothing
    weighty_openings: tuple[str, ...]
    slight_openings: tuple[str, ...]
    plain_openings: tuple[str, ...]
    closings: tuple[str, ...]  # ends of sentences, and words that join two clauses
    links: tuple[str, ...]
    first_names: str  # words separated by blanks
    syllables: str
    place_endings: str  # endings of made-up names, separated by blanks
    surname_endings: str
    firm_endings: str
    days: str
    months: str


@cache
def wording() -> Wording:
    content = json.loads(FILE.read_text(encoding="utf-8"))
    del content["about"]
    events = [NewsEvent(text["title"], tuple(text["words"]), _facts(text["facts"])) for text in content.pop("events")]
    common = _facts(content.pop("common_facts"))
    lists: dict[str, Any] = {name: tuple(text) if isinstance(text, list) else text for name, text in content.items()}
    return Wording(events=tuple(events), common_facts=common, **lists)


def _facts(entries: list[dict[str, Any]]) -> tuple[Fact, ...]:
    return tuple(Fact(entry["weight"], tuple(entry["forms"])) for entry in entries)


def pick(options: Sequence[str], rng: np.random.Generator) -> str:
    """Return one of the options, each with the same probability."""
    return options[int(rng.random() * len(options))]


def choose(form: str, rng: np.random.Generator) -> str:
    return _CHOICE.sub(lambda found: pick(found.group(1).split("|"), rng), form)


def choose_as(form: str, choices: Mapping[str, str]) -> str:
    return _LASTING_CHOICE.sub(lambda found: choices[found.group(1)], form)


def lasting_choices(form: str) -> list[str]:
    """Return the options, "a|b", of each <a|b> of a form."""
    return _LASTING_CHOICE.findall(form)


def fill(form: str, values: Mapping[str, str]) -> str:
    return _BLANK.sub(lambda found: values[found.group(1)], form)


def blanks(form: str) -> list[str]:
    return _BLANK.findall(form)


def sentence(clause: str) -> str:
    return clause[:1].upper() + clause[1:] + "."


def values(names: Iterable[str], rng: np.random.Generator) -> dict[str, str]:
    return {name: _MAKERS[name.split(":")[0]](rng) for name in names}


def person(rng: np.random.Generator) -> str:
    """Return a made-up first name and surname."""
    return f"{_word(wording().first_names, rng)} {_invent(wording().surname_endings, rng)}"


def place(rng: np.random.Generator) -> str:
    """Return a made-up name for a town, river, region or country."""
    return _invent(wording().place_endings, rng)


def weekday(rng: np.random.Generator) -> str:
    return _word(wording().days, rng)


def number(kind: str, rng: np.random.Generator) -> str:
    low, high = NUMBERS[kind]
    drawn = low + int(rng.random() * (high - low + 1))
    return f"{drawn},000" if kind == "thousands" else str(drawn)


def _between(low: int, high: int) -> Callable[[np.random.Generator], str]:
    return lambda rng: str(low + int(rng.random() * (high - low + 1)))


def _word(words: str, rng: np.random.Generator) -> str:
    return pick(words.split(), rng)


def _invent(endings: str, rng: np.random.Generator) -> str:
    syllables = wording().syllables
    return (_word(syllables, rng) + _word(syllables, rng) + _word(endings, rng)).capitalize()


_MAKERS: dict[str, Callable[[np.random.Generator], str]] = {
    "person": person,
    "place": place,
    "firm": lambda rng: _invent(wording().firm_endings, rng),
    "day": weekday,
    "month": lambda rng: _word(wording().months, rng),
    "year": _between(1951, 1996),
    "millions": _between(12, 940),
    "percent": _between(21, 79),
    "few": lambda rng: number("few", rng),
    "tens": lambda rng: number("tens", rng),
    "hundreds": lambda rng: number("hundreds", rng),
    "thousands": lambda rng: number("thousands", rng),
}
