"""Says in words why each passage was packed: the words of the question it adds, and the name that links it to the list.

Reasons are derived from the picks, not from the policy's scores: they state facts that a reader can verify in the text.
"""

from __future__ import annotations

from collections.abc import Sequence

from listwright._kernels.spans import names_in
from listwright._kernels.words import FUNCTION
from listwright.text.passages import PassageFeatures

MOST_WORDS = 4


def reasons_of(found: PassageFeatures, picks: Sequence[int]) -> list[str]:
    """Return one sentence per pick, in the order of the picks."""
    words = _question_words(found)
    met, reasons = 0, []
    names: dict[str, str] = {}  # of earlier picks: folded, and as written
    for pick in picks:
        whole = int(found.needs.wholes[pick])
        new = [words[need] for need in range(len(words)) if (whole & ~met) >> need & 1]
        own = _names(found, pick)
        shared = [name for name in own if name in names]
        reasons.append(_sentence(new, max(shared, key=len, default=""), own, bool(met)))
        met |= whole
        names |= own
    return reasons


def _sentence(new: list[str], shared: str, own: dict[str, str], later: bool) -> str:
    """Composes the sentence from the new words of the question and the shared name."""
    verb = "adds" if later else "holds"
    told = f"{verb} {_listed(new)}" if new else "adds no word of the question" if later else "is the likeliest to help"
    return f"{told}, linked by '{own[shared]}'" if shared else told


def _listed(words: list[str]) -> str:
    """Lists words in quotes, at most `MOST_WORDS` of them."""
    quoted = [f"'{word}'" for word in words[:MOST_WORDS]]
    more = len(words) - len(quoted)
    if more:
        return f"{', '.join(quoted)} and {more} more words of the question"
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _question_words(found: PassageFeatures) -> list[str]:
    """Return for each need a word of the question with that stem, as it is written there."""
    reading = found.reading
    words: dict[int, str] = {}
    for word in range(reading.n_question):
        if not reading.flags[word] & FUNCTION:
            words.setdefault(int(reading.stems[word]), found.source.quote(word, word + 1))
    return [words[int(stem)] for stem in found.question.terms]


def _names(found: PassageFeatures, passage: int) -> dict[str, str]:
    """Return the names in a passage, its title among them, that the question does not hold: lower-case form to written
    form.
    """
    reading = found.reading
    spans = [tuple(reading.titles[passage]), *map(tuple, names_in(reading.flags, *reading.bodies[passage]))]
    quoted = [found.source.quote(int(first), int(stop)) for first, stop in spans]
    question = found.source.quote(0, reading.n_question).lower()
    return {name.lower(): name for name in quoted if len(name) > 2 and name.lower() not in question}
