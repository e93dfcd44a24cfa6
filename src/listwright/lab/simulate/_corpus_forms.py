"""Forms: clauses with choices and blanks, from which sentences are made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_LASTING_CHOICE = re.compile(r"<([^<>]*)>")
_BLANK = re.compile(r"\{([^{}]*)\}")


class Fact(NamedTuple):
    """How much such a fact usually matters (0 to 1), and the forms in which it is stated, the short one first."""

    weight: float
    forms: tuple[str, ...]


class Event(NamedTuple):
    """A kind of event: its title, words that belong to it, and the facts that reports may state."""

    title: str
    words: tuple[str, ...]
    facts: tuple[Fact, ...]


def fact(weight: float, *forms: str) -> Fact:
    """A fact as the lists of events write it."""
    return Fact(weight, forms)


def pick(options: tuple[str, ...] | list[str], rng: np.random.Generator) -> str:
    """One of the options."""
    return options[int(rng.random() * len(options))]


def choose(form: str, rng: np.random.Generator) -> str:
    """Settle each [a|b] of a form by chance.

    >>> choose("rain [fell|came]", np.random.default_rng(1))
    'rain came'
    """
    return _CHOICE.sub(lambda found: pick(found.group(1).split("|"), rng), form)


def settle(form: str, choices: Mapping[str, str]) -> str:
    """Settle each <a|b> of a form as the cluster has it.

    >>> settle("the <dam|dike> failed", {"dam|dike": "dike"})
    'the dike failed'
    """
    return _LASTING_CHOICE.sub(lambda found: choices[found.group(1)], form)


def lasting_choices(form: str) -> list[str]:
    """What stands in each <a|b> of a form."""
    return _LASTING_CHOICE.findall(form)


def fill(form: str, values: Mapping[str, str]) -> str:
    """Put values into the blanks of a form.

    >>> fill("{n:dead} people in {place:town}", {"n:dead": "12", "place:town": "Norvia"})
    '12 people in Norvia'
    """
    return _BLANK.sub(lambda found: values[found.group(1)], form)


def blanks(form: str) -> list[str]:
    """The names of the blanks of a form."""
    return _BLANK.findall(form)


def sentence(clause: str) -> str:
    """A clause as a sentence.

    >>> sentence("rain fell")
    'Rain fell.'
    """
    return clause[:1].upper() + clause[1:] + "."
