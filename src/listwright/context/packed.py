"""`Packed`, the answer of `ContextPacker.pack`: the chosen passages, their scores and reasons, and the text to send."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from listwright._kernels.words import FUNCTION, names_in
from listwright.errors import InputError
from listwright.text.passages import PassageFeatures

Order: TypeAlias = Literal["rank", "edges", "document"]
MOST_WORDS = 4


@dataclass(frozen=True, eq=False)
class Packed:
    """Passages chosen for a context, best first. Iterating gives their texts, `len` their number.

    Parameters
    ----------
    positions : list of int
        Positions of the chosen passages among those given to `pack`.
    texts : list of str
        Their texts.
    tokens : int or float
        Their total size, in the unit of the packer's `tokens` setting.
    scores : list of float
        What each passage was expected to add when it was picked. They fall strictly from one passage to the next, so
        that code that sorts by score keeps the order.
    explain : callable
        Computes `reasons` when they are first read.

    See Also
    --------
    ContextPacker.pack : Makes these objects.

    Examples
    --------
    >>> packed = Packed([4, 0, 2], ["first", "second", "third"], 3, [0.9, 0.5, 0.2], lambda: ["", "", ""])
    >>> packed.text("edges", separator=" | ")
    'first | third | second'
    >>> packed.text("document", separator=" | ")
    'second | third | first'
    >>> len(packed), list(packed)[0]
    (3, 'first')
    """

    positions: list[int]
    texts: list[str]
    tokens: float
    scores: list[float]
    explain: Callable[[], list[str]] = field(repr=False)

    @cached_property
    def reasons(self) -> list[str]:
        """One sentence per passage: which words of the question it adds, and which name links it to an earlier
        passage.
        """
        return self.explain()

    def text(self, order: Order = "rank", separator: str = "\n\n") -> str:
        """Join the passages into one text to put into a prompt.

        Parameters
        ----------
        order : {"rank", "edges", "document"}
            "rank": best first. "edges": best first and last with the others between them, as language models attend
            least to the middle of a long context. "document": in the order in which the passages were given, which
            suits chunks of one document.
        separator : str
            Text between two passages; it does not count against the budget.

        Returns
        -------
        str
            The context.

        Raises
        ------
        InputError
            If the order is none of the three.
        """
        return separator.join(self.texts[place] for place in _places(order, self.positions))

    def __len__(self) -> int:
        return len(self.positions)

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)


def decreasing_scores(scores: list[float]) -> list[float]:
    """Lowers scores where needed so that each is strictly below the one before it."""
    found: list[float] = []
    for score in scores:
        found.append(score if not found else min(score, round(found[-1] - 1e-6, 12)))
    return found


def _places(order: str, positions: list[int]) -> list[int]:
    """Return the order in which to write the passages, as indices into `Packed.texts`."""
    n = len(positions)
    match order:
        case "rank":
            return list(range(n))
        case "edges":
            return [*range(0, n, 2), *reversed(range(1, n, 2))]
        case "document":
            return np.argsort(positions, kind="stable").tolist()
    raise InputError(f'order must be "rank", "edges" or "document". Got {order!r}.')


def reasons_of(found: PassageFeatures, picks: Sequence[int]) -> list[str]:
    """Return one sentence per pick, in the order of the picks."""
    words = _question_words(found)
    covered, reasons = 0, []
    names: dict[str, str] = {}  # of earlier picks: folded, and as written
    for pick in picks:
        whole = int(found.query_terms.wholes[pick])
        new = [words[term] for term in range(len(words)) if (whole & ~covered) >> term & 1]
        own = _names(found, pick)
        shared = [name for name in own if name in names]
        reasons.append(_sentence(new, max(shared, key=len, default=""), own, bool(covered)))
        covered |= whole
        names |= own
    return reasons


def _sentence(new: list[str], shared: str, own: dict[str, str], later: bool) -> str:
    """Composes the sentence from the new words of the question and the shared name."""
    verb = "adds" if later else "holds"
    told = (
        f"{verb} {_quote_words(new)}"
        if new
        else "adds no word of the question"
        if later
        else "is the likeliest to help"
    )
    return f"{told}, linked by '{own[shared]}'" if shared else told


def _quote_words(words: list[str]) -> str:
    """Lists words in quotes, at most `MOST_WORDS` of them."""
    quoted = [f"'{word}'" for word in words[:MOST_WORDS]]
    more = len(words) - len(quoted)
    if more:
        return f"{', '.join(quoted)} and {more} more words of the question"
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _question_words(found: PassageFeatures) -> list[str]:
    """Return for each term a word of the question with that stem, as it is written there."""
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
