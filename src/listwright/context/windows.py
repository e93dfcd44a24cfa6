"""Windows of one document that overlap at their ends: what each adds to those picked before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats
from listwright.context.passages import TokenCounter

LEAST_OVERLAP = 8  # words that two windows of one text share at least


class Overlap(NamedTuple):
    """Two texts, the first of which ends as the second begins."""

    first: int
    second: int
    length: int  # characters, with a single blank around each word


def find_overlaps(texts: Sequence[str]) -> list[Overlap]:
    words = [text.split() for text in texts]
    plain = [f" {' '.join(own)} " for own in words]
    lengths = ((pair, _shared_end(plain[pair[0]], plain[pair[1]])) for pair in _sharing_heads(words, plain))
    return [Overlap(*pair, length) for pair, length in lengths if length]


def window_tokens(texts: Sequence[str], overlaps: Sequence[Overlap], count: TokenCounter) -> tuple[Floats, Floats]:
    """Return the tokens of each text that overlaps, and overlaps as `pack_walk` takes them."""
    rows = []  # two per overlap: the text that is there, the other one, which end of that they share, and its tokens
    for first, second, length in overlaps:
        head, tail = (" ".join(texts[place].split()) for place in (second, first))
        rows.append((first, second, 0, count(head) - count(head[length - 1 :])))
        rows.append((second, first, 1, count(tail) - count(tail[: max(len(tail) - length + 1, 0)])))
    of_text = np.zeros(len(texts))
    for place in {place for overlap in overlaps for place in overlap[:2]}:
        of_text[place] = count(texts[place])
    return of_text, np.array(rows, dtype=np.float64).reshape(-1, 4)


def new_parts(texts: Sequence[str], picks: Sequence[int], overlaps: Sequence[Overlap]) -> list[str]:
    """Return what each pick adds to those before it; "" for nothing."""
    plain = {pick: f" {' '.join(texts[pick].split())} " for pair in overlaps for pick in pair[:2]}
    places = {pick: place for place, pick in enumerate(picks)}
    starts, ends = dict.fromkeys(plain, 0), {pick: len(text) for pick, text in plain.items()}
    for first, second, length in overlaps:
        if first in places and second in places:
            if places[first] < places[second]:
                starts[second] = max(starts[second], length)
            else:
                ends[first] = min(ends[first], len(plain[first]) - length)
    cut = {pick for pick in plain if (starts[pick], ends[pick]) != (0, len(plain[pick]))}
    return [plain[pick][starts[pick] : ends[pick]].strip() if pick in cut else texts[pick] for pick in picks]


def _sharing_heads(words: Sequence[Sequence[str]], plain: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of texts the first of which holds the head of the second."""
    heads = defaultdict(list)  # by their longest word, which few texts hold
    for second, own in enumerate(words):
        if len(own) >= LEAST_OVERLAP:
            heads[max(own[:LEAST_OVERLAP], key=len)].append((second, _head(plain[second])))
    for first, own in enumerate(words):
        for word in heads.keys() & own:
            yield from ((first, second) for second, head in heads[word] if second != first and head in plain[first])


def _head(text: str) -> str:
    """Return the first `LEAST_OVERLAP` words of a text that is longer; both begin and end with a blank."""
    words = text.split(" ", LEAST_OVERLAP + 1)
    return " ".join(words[:-1]) + " " if len(words) > LEAST_OVERLAP + 1 else ""


def _shared_end(first: str, second: str) -> int:
    """Return how many characters the end of the first shares with the start of the second; 0 for few words."""
    head = _head(second)
    place = first.find(head) if head else -1
    while place >= 0:
        if second.startswith(first[place:]):
            return len(first) - place
        place = first.find(head, place + 1)
    return 0
