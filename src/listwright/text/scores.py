"""ROUGE-N: how many of the references' words, or runs of n words, a summary holds.

The scores agree with those of the `rouge-score` package on the same tokens; joining several references is added here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from listwright.errors import InputError

Over: TypeAlias = Literal["mean", "pooled", "jackknife", "best"]


class Rouge(NamedTuple):
    """Recall, precision and their harmonic mean, each from 0 to 1.

    Recall is the share of the references' n-grams that the candidate holds, precision the share of the candidate's
    n-grams that the references hold.
    """

    recall: float
    precision: float
    f1: float


class _Overlap(NamedTuple):
    """Counts of n-grams: shared, in the reference, and in the candidate."""

    shared: int
    reference: int
    candidate: int


def rouge(candidate: Sequence[str], references: Sequence[Sequence[str]], *, n: int = 1, over: Over = "mean") -> Rouge:
    """Compute ROUGE-N of candidate tokens against the tokens of one or more references.

    Pass tokens, not text: `tokens(text, stem=True)` gives those of published scores. Cut the candidate to its budget
    first (`truncate`), as recall rises with length.

    Parameters
    ----------
    candidate : sequence of str
        Tokens of the summary.
    references : sequence of sequences of str
        Tokens of each reference.
    n : int
        Length of the runs of words that are compared.
    over : {"mean", "pooled", "jackknife", "best"}
        How several references are joined. "mean" averages the scores. "pooled" adds the counts up first (one ratio, as
        in ROUGE's definition). "jackknife" leaves one reference out at a time, pools the others and averages over what
        was left out, so that a summary by a person can be scored in the same way. "best" takes the reference with the
        highest f1.

    Returns
    -------
    Rouge
        Recall, precision and f1.

    Raises
    ------
    InputError
        If there are no references, references are plain strings, n is below 1, or `over` is unknown.

    See Also
    --------
    tokens : Makes tokens from text.
    listwright.rewards.Rouge : The reward that trains for it.

    References
    ----------
    Lin (2004), ROUGE: A package for automatic evaluation of summaries.

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
    """Count each run of n words."""
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


def _overlap(candidate: Counter[tuple[str, ...]], reference: Counter[tuple[str, ...]]) -> _Overlap:
    """Count the n-grams that two texts share, each at most as often as in the one that has fewer of it (clipping)."""
    return _Overlap((candidate & reference).total(), reference.total(), candidate.total())


def _score(overlap: _Overlap) -> Rouge:
    """Turn counts into ratios; empty texts score 0."""
    recall = overlap.shared / max(overlap.reference, 1)
    precision = overlap.shared / max(overlap.candidate, 1)
    both = recall + precision
    return Rouge(recall, precision, 2 * recall * precision / both if both > 0 else 0.0)


def _join(overlaps: list[_Overlap], over: str) -> Rouge:
    """Join the overlaps with several references into one score."""
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
    """Raise `InputError` for references that are missing or not tokens, or for n below 1."""
    if n < 1:
        raise InputError(f"n must be at least 1. Got {n}.")
    if not references:
        raise InputError("ROUGE needs at least one reference. Got none.")
    if any(isinstance(reference, str) for reference in references):
        raise InputError("References must be lists of tokens. Got text: pass tokens(text).")
