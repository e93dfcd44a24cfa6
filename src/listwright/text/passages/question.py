"""Finds what a question asks for: its words by rarity, the names and quotations in it, and the kind of answer."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.tokens import word_set
from listwright._kernels.needs import MOST_NEEDS
from listwright.text.passages.reading import Reading, SourceText, find_names

_QUOTED = re.compile(r"[\"\u201c\u00ab]([^\"\u201c\u201d\u00ab\u00bb]+)[\"\u201d\u00bb]")
_ASKING = word_set(
    "who whom whose what which when where why how is are was were do does did in of the a an on at for from to by "
    "with after before during if"
)
_CUES = {
    "date": word_set("when year date born century month day long"),
    "person": word_set(
        "who whom whose actor director person author president mother father wife husband spouse performer"
    ),
    "place": word_set("where city country state county place located town capital location"),
    "amount": word_set("many much long large tall old far"),
    "comparison": word_set("or both same older younger earlier first larger more common difference"),
}
_YES_NO = word_set("is are was were do does did has have can")


class ParsedQuestion(NamedTuple):
    """What a question asks for; terms are bits of 64-bit numbers, so that the 64 rarest words are kept at most."""

    terms: Ints  # by term: the stem
    term_of: Ints  # by stem: the term, -1 where it is none
    is_term: Bools  # by stem: whether it stands in the question, also where it is one term too many
    weights: Floats  # (64,): by term its rarity, 0 where no passage holds it
    spans: Ints  # (spans, 2): names and quotations, as words of the question
    named: np.uint64  # the query terms that stand in a span, as bits
    cues: dict[str, float]  # by kind of answer: 1 where the question asks for it


def understand(question: str, reading: Reading, source: SourceText, rarity: Floats, frequency: Ints) -> ParsedQuestion:
    end = reading.n_question
    content = reading.stems[:end][reading.content[:end]]
    distinct = np.array(list(dict.fromkeys(content.tolist())), dtype=np.int64)
    is_term = np.zeros(reading.n_stems, dtype=bool)
    is_term[distinct] = True
    terms = distinct[np.sort(np.argsort(-rarity[distinct], kind="stable")[:MOST_NEEDS])]
    term_of = np.full(reading.n_stems, -1, dtype=np.int64)
    term_of[terms] = np.arange(len(terms))
    weights = np.zeros(MOST_NEEDS)
    weights[: len(terms)] = np.where(frequency[terms] > 0, rarity[terms], 0.0)
    words = [source.quote(word, word + 1).lower() for word in range(end)]
    spans = _spans(question, reading, source, words)
    return ParsedQuestion(terms, term_of, is_term, weights, spans, _named_terms(spans, reading, term_of), _cues(words))


def bits(flags: Bools) -> np.uint64:
    return np.uint64(sum(1 << bit for bit in np.flatnonzero(flags).tolist()))


def _spans(question: str, reading: Reading, source: SourceText, words: list[str]) -> Ints:
    """Return quotations, then names that are in none of them; a question word alone, such as "Who", is not a name."""
    end = reading.n_question
    firsts, lasts = source.words.firsts[:end], source.words.lasts[:end]
    spans: list[tuple[int, int]] = []
    for quoted in _QUOTED.finditer(question):
        inside = np.flatnonzero((firsts >= quoted.start(1)) & (lasts <= quoted.end(1)))
        if len(inside):
            spans.append((int(inside[0]), int(inside[-1]) + 1))
    for first, stop in find_names(reading.flags[:end]):
        asking = first == 0 and stop == 1 and words[0] in _ASKING
        if not asking and not any(_holds(words, span, (first, stop)) for span in spans):
            spans.append((first, stop))
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


def _holds(words: list[str], outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    return f" {' '.join(words[slice(*inner)])} " in f" {' '.join(words[slice(*outer)])} "


def _named_terms(spans: Ints, reading: Reading, term_of: Ints) -> np.uint64:
    named = np.zeros(MOST_NEEDS + 1, dtype=bool)  # the last one is for words that are no terms
    for first, stop in spans:
        named[term_of[reading.stems[first:stop]]] = True
    return bits(named[:MOST_NEEDS])


def _cues(words: list[str]) -> dict[str, float]:
    """Return 1 or 0 for each kind of answer that the words of the question hint at, such as a date or a person."""
    held = set(words)
    cues = {kind: float(not held.isdisjoint(known)) for kind, known in _CUES.items()}
    cues["amount"] *= "how" in held
    cues["yes_no"] = float(bool(words) and words[0] in _YES_NO)
    return cues
