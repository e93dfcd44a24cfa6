"""`Packed`, the answer of `ContextPacker.pack`: the chosen passages, their scores and reasons, and the text to send."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from listwright._kernels.words import FUNCTION
from listwright.context.passages import SEPARATOR, write_passage
from listwright.errors import InputError
from listwright.text.passages import PassageFeatures
from listwright.text.passages.reading import find_names

Order: TypeAlias = Literal["rank", "score", "edges", "document"]
Style: TypeAlias = Literal["plain", "numbered"]
STYLES = ("plain", "numbered")
MOST_WORDS = 4
_CITATION = re.compile(r"\[(\d+(?:\s*,\s*\d+)*)\]")


@dataclass(frozen=True, eq=False)
class Packed:
    """Passages chosen for a context, best first. Iterating gives their texts, `len` their number.

    Parameters
    ----------
    positions : list of int
        Positions of the chosen passages among those given to `pack`.
    texts : list of str
        Their texts; of windows that overlap, without what an earlier one holds.
    tokens : int or float
        Their total size, in the unit of the packer's `tokens` setting, as `text` writes them.
    scores : list of float
        What each passage was expected to add when it was picked, as log-odds. They fall strictly from one passage to
        the next, so that code that sorts by score keeps the order.
    probabilities : list of float
        Probability that the passage is needed, given those before it.
    titles : list of str
        Their titles, "" where there is none.
    style : {"plain", "numbered"}
        How `text` writes passages by default.
    tokens_saved : int or float
        Tokens of the passages that would have fitted too and were left out by `stop` or `min_probability`.
    notes : list of str
        What was left out or cut because it is too long for the budget.
    explain : callable
        Computes `reasons` when they are first read.

    See Also
    --------
    ContextPacker.pack : Makes these objects.

    Examples
    --------
    >>> packed = Packed([4, 0, 2], ["first", "second", "third"], 3, [0.9, 0.5, 0.2], titles=["A", "", "C"])
    >>> packed.text("edges", separator=" | ")
    'first | third | second'
    >>> print(packed.text(style="numbered", separator=" | "))
    [1] A
    first | [2] second | [3] C
    third
    >>> packed.citations("Scott was born there [1, 3].")
    [4, 2]
    """

    positions: list[int]
    texts: list[str]
    tokens: float
    scores: list[float]
    probabilities: list[float] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    style: Style = "plain"
    tokens_saved: float = 0
    notes: list[str] = field(default_factory=list)
    explain: Callable[[], list[str]] | None = field(default=None, repr=False)

    @cached_property
    def reasons(self) -> list[str]:
        """One sentence per passage: which words of the question it adds, and which name links it to an earlier one."""
        return [""] * len(self) if self.explain is None else self.explain()

    def text(self, order: Order = "rank", separator: str = SEPARATOR, *, style: Style | None = None) -> str:
        """Join the passages into one text to put into a prompt.

        Parameters
        ----------
        order : {"rank", "score", "edges", "document"}
            "rank", or "score", which means the same: best first. "edges": best first and last with the others between
            them, as language models attend least to the middle of a long context. "document": in the order in which the
            passages were given, which suits chunks of one document.
        separator : str
            Text between two passages. The blank line of the default counts against the budget.
        style : {"plain", "numbered"}, optional
            "numbered" writes `[1] Title` above each passage, by rank, so that a model can cite them (see `citations`).
            By default the style that the packer counted tokens for.

        Returns
        -------
        str
            The context.

        Raises
        ------
        InputError
            If the order or the style is unknown.
        """
        style = self.style if style is None else style
        if style not in STYLES:
            raise InputError(f'style must be "plain" or "numbered". Got {style!r}.')
        titles = self.titles or [""] * len(self)
        written = [write_passage(text, titles[i], i + 1, style) for i, text in enumerate(self.texts)]
        return separator.join(written[place] for place in _places(order, self.positions))

    def citations(self, answer: str) -> list[int]:
        """Return the positions of the passages that an answer cites by number, such as [2] or [1, 3], each once.

        Parameters
        ----------
        answer : str
            What a model wrote with `text(style="numbered")` as its context. Numbers without a passage are ignored.
        """
        numbers = [int(number) for marks in _CITATION.findall(answer) for number in marks.split(",")]
        return [self.positions[number - 1] for number in dict.fromkeys(numbers) if 0 < number <= len(self)]

    def __len__(self) -> int:
        return len(self.positions)

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"reasons": self.reasons, "explain": None}  # in words, which can be pickled


def decreasing_scores(scores: list[float]) -> list[float]:
    lowered: list[float] = []
    for score in scores:
        lowered.append(score if not lowered else min(score, round(lowered[-1] - 1e-6, 12)))
    return lowered


def _places(order: str, positions: list[int]) -> list[int]:
    n = len(positions)
    match order:
        case "rank" | "score":
            return list(range(n))
        case "edges":
            return [*range(0, n, 2), *reversed(range(1, n, 2))]
        case "document":
            return np.argsort(positions, kind="stable").tolist()
    raise InputError(f'order must be "rank", "score", "edges" or "document". Got {order!r}.')


def reasons_of(features: PassageFeatures, picks: Sequence[int]) -> list[str]:
    """Return one sentence per pick, in the order of the picks: facts that a reader can verify in the text."""
    words = _question_words(features)
    covered, reasons = 0, []
    names: dict[str, str] = {}  # of earlier picks: folded, and as written
    for pick in picks:
        whole = int(features.query_terms.wholes[pick])
        new = [words[term] for term in range(len(words)) if (whole & ~covered) >> term & 1]
        own = _names(features, pick)
        shared = [name for name in own if name in names]
        reasons.append(_sentence(new, max(shared, key=len, default=""), own, bool(covered)))
        covered |= whole
        names |= own
    return reasons


def _sentence(new: list[str], shared: str, own: dict[str, str], later: bool) -> str:
    said = "adds no word of the question" if later else "is the likeliest to help"
    if new:
        said = f"{'adds' if later else 'holds'} {_quote_words(new)}"
    return f"{said}, linked by '{own[shared]}'" if shared else said


def _quote_words(words: list[str]) -> str:
    quoted = [f"'{word}'" for word in words[:MOST_WORDS]]
    more = len(words) - len(quoted)
    if more:
        return f"{', '.join(quoted)} and {more} more words of the question"
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _question_words(features: PassageFeatures) -> list[str]:
    """Return for each term a word of the question with that stem, as it is written there."""
    reading = features.reading
    words: dict[int, str] = {}
    for word in range(reading.n_question):
        if not reading.flags[word] & FUNCTION:
            words.setdefault(int(reading.stems[word]), features.source.quote(word, word + 1))
    return [words[int(stem)] for stem in features.question.terms]


def _names(features: PassageFeatures, passage: int) -> dict[str, str]:
    """Return the names in a passage, its title among them, that the question does not hold: folded to as written."""
    reading = features.reading
    start, end = reading.bodies[passage]
    names = [(start + first, start + stop) for first, stop in find_names(reading.flags[start:end])]
    spans = [tuple(reading.titles[passage]), *names]
    quoted = [features.source.quote(int(first), int(stop)) for first, stop in spans]
    question = features.source.quote(0, reading.n_question).lower()
    return {name.lower(): name for name in quoted if len(name) > 2 and name.lower() not in question}
