"""ROUGE-N: how many of the references' words, or word pairs, a summary holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from listwright.errors import InputError

Over: TypeAlias = Literal["mean", "pooled", "jackknife", "best"]


class Rouge(NamedTuple):
    """Recall, precision and their harmonic mean, each from 0 to 1."""

    recall: float
    precision: float
    f1: float


class _Overlap(NamedTuple):
    shared: int
    reference: int
    candidate: int


def rouge(candidate: Sequence[str], references: Sequence[Sequence[str]], *, n: int = 1, over: Over = "mean") -> Rouge:
    """ROUGE-N of candidate tokens against the tokens of one or more references.

    `over` says how several references are joined: "mean" averages the scores, "pooled" adds the counts up first
    (one ratio, as in ROUGE's definition), "jackknife" leaves one reference out at a time, pools the others and averages
    over what was left out (so that a summary by a person can be scored in the same way), "best" takes the reference
    with the highest f1.

    Examples
    --------
    >>> candidate = "the river rose and the river fell".split()
    >>> rouge(candidate, ["the river rose".split(), "the wind rose again".split()])
    Rouge(recall=0.75, precision=0.357..., f1=0.481...)
    >>> rouge(candidate, ["the river rose".split()], n=2)
    Rouge(recall=1.0, precision=0.333..., f1=0.5)
    """
    _check(references, n)
    mine = ngrams(candidate, n)
    return _join([_overlap(mine, ngrams(reference, n)) for reference in references], over)


def ngrams(words: Sequence[str], n: int = 1) -> Counter[tuple[str, ...]]:
    """How often each run of n words occurs.

    Examples
    --------
    >>> ngrams(["a", "b", "a", "b"], 2)
    Counter({('a', 'b'): 2, ('b', 'a'): 1})
    """
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


def _overlap(candidate: Counter[tuple[str, ...]], reference: Counter[tuple[str, ...]]) -> _Overlap:
    return _Overlap((candidate & reference).total(), reference.total(), candidate.total())


def _score(overlap: _Overlap) -> Rouge:
    recall = overlap.shared / max(overlap.reference, 1)
    precision = overlap.shared / max(overlap.candidate, 1)
    both = recall + precision
    return Rouge(recall, precision, 2 * recall * precision / both if both > 0 else 0.0)


def _join(overlaps: list[_Overlap], over: str) -> Rouge:
    match over:
        case "mean":
            return Rouge(*np.mean([_score(overlap) for overlap in overlaps], axis=0).tolist())
        case "pooled":
            shared, reference, candidate = (sum(part) for part in zip(*overlaps, strict=True))
            return _score(_Overlap(shared, reference, candidate))
        case "jackknife":
            held = [_join(overlaps[:out] + overlaps[out + 1 :] or overlaps, "pooled") for out in range(len(overlaps))]
            return Rouge(*np.mean(held, axis=0).tolist())
        case "best":
            return max((_score(overlap) for overlap in overlaps), key=lambda score: score.f1)
    raise InputError(f"over must be mean, pooled, jackknife or best. Got {over!r}.")


def _check(references: Sequence[Sequence[str]], n: int) -> None:
    if n < 1:
        raise InputError(f"n must be at least 1. Got {n}.")
    if not references:
        raise InputError("ROUGE needs at least one reference. Got none.")
    if any(isinstance(reference, str) for reference in references):
        raise InputError("References must be lists of tokens. Got text: pass tokens(text).")
