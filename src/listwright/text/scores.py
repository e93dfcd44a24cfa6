"""ROUGE-N, as the `rouge-score` package computes it from the same tokens, with ways to join several references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.tokens import FUNCTION_WORDS, stem_token, tokens
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.text.clusters import Cluster

Over: TypeAlias = Literal["mean", "pooled", "jackknife", "best"]
METRICS = {
    "rouge1_f": "ROUGE-1F",
    "rouge1_p": "ROUGE-1P",
    "rouge1_r": "ROUGE-1R",
    "pooled_rouge1_f": "pooled ROUGE-1F",
    "pooled_rouge1_p": "pooled ROUGE-1P",
    "pooled_rouge1_r": "pooled ROUGE-1R",
    "rouge2_f": "ROUGE-2F",
    "rouge2_p": "ROUGE-2P",
    "rouge2_r": "ROUGE-2R",
    "content_rouge1_r": "content ROUGE-1R",
}


class RougeScore(NamedTuple):
    """Recall, precision and their harmonic mean, each from 0 to 1."""

    # Recall is the share of the references' n-grams that the candidate holds, precision the share of the candidate's
    # n-grams that the references hold.

    recall: float
    precision: float
    f1: float


class _Overlap(NamedTuple):
    """Counts of n-grams: shared, in the reference, and in the candidate."""

    shared: int
    reference: int
    candidate: int


def rouge(
    candidate: Sequence[str], references: Sequence[Sequence[str]], *, n: int = 1, over: Over = "mean"
) -> RougeScore:
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
    RougeScore
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
    RougeScore(recall=0.75, precision=0.357..., f1=0.481...)
    >>> rouge(candidate, ["the river rose".split()], n=2)
    RougeScore(recall=1.0, precision=0.333..., f1=0.5)
    """
    if n < 1:
        raise InputError(f"n must be at least 1. Got {n}.")
    if not references:
        raise InputError("ROUGE needs at least one reference. Got none.")
    if any(isinstance(reference, str) for reference in references):
        raise InputError("References must be lists of tokens. Got text: pass tokens(text).")
    mine, others = ngrams(candidate, n), [ngrams(reference, n) for reference in references]
    return _join([_Overlap((mine & other).total(), other.total(), mine.total()) for other in others], over)


def ngrams(words: Sequence[str], n: int = 1) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


def _score(overlap: _Overlap) -> RougeScore:
    recall = overlap.shared / max(overlap.reference, 1)
    precision = overlap.shared / max(overlap.candidate, 1)
    both = recall + precision
    return RougeScore(recall, precision, 2 * recall * precision / both if both > 0 else 0.0)


def _join(overlaps: list[_Overlap], over: str) -> RougeScore:
    match over:
        case "mean":
            return RougeScore(*np.mean([_score(overlap) for overlap in overlaps], axis=0).tolist())
        case "pooled":
            shared, reference, candidate = (sum(part) for part in zip(*overlaps, strict=True))
            return _score(_Overlap(shared, reference, candidate))
        case "jackknife":
            held = [_join(overlaps[:out] + overlaps[out + 1 :] or overlaps, "pooled") for out in range(len(overlaps))]
            return RougeScore(*np.mean(held, axis=0).tolist())
        case "best":
            return max((_score(overlap) for overlap in overlaps), key=lambda score: score.f1)
    raise InputError(f"over must be mean, pooled, jackknife or best. Got {over!r}.")


def summary_text(cluster: Cluster, items: Sequence[int]) -> str:
    return " ".join(cluster.sentences[item] for item in items)


def summary_scores(lists: Lists, clusters: Sequence[Cluster]) -> dict[str, Floats]:
    """Return each of `METRICS` for every cluster."""
    if len(lists) != len(clusters):
        raise InputError(f"There must be one list per cluster ({len(clusters)}). Got {len(lists)}.")
    chosen = zip(clusters, lists, strict=True)
    table = np.array([_scores(summary_text(cluster, items.tolist()), cluster) for cluster, items in chosen])
    return {name: table[:, column] for column, name in enumerate(METRICS)}


def _scores(summary: str, cluster: Cluster) -> list[float]:
    words = tokens(summary, stem=True)
    references = [tokens(reference, stem=True) for reference in cluster.references]
    scores = [rouge(words, references), rouge(words, references, over="jackknife"), rouge(words, references, n=2)]
    content = rouge(_content(summary), [_content(reference) for reference in cluster.references]).recall
    return [*(number for score in scores for number in (score.f1, score.precision, score.recall)), content]


def _content(text: str) -> list[str]:
    return [stem_token(word) for word in tokens(text) if word not in FUNCTION_WORDS]
