"""ROUGE scores of summaries, cluster by cluster."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.tokens import stem_token, tokens
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.text.clusters import Cluster
from listwright.text.scores import rouge
from listwright.text.words import FUNCTION_WORDS

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


def summary_text(cluster: Cluster, items: Sequence[int]) -> str:
    """Return the picked sentences in the order they were picked, joined by spaces."""
    return " ".join(cluster.sentences[item] for item in items)


def summary_scores(lists: Lists, clusters: Sequence[Cluster]) -> dict[str, Floats]:
    """Return each of `METRICS` for every cluster."""
    if len(lists) != len(clusters):
        raise InputError(f"There must be one list per cluster ({len(clusters)}). Got {len(lists)}.")
    table = np.array(
        [
            _scores(summary_text(cluster, items.tolist()), cluster)
            for cluster, items in zip(clusters, lists, strict=True)
        ]
    )
    return {name: table[:, column] for column, name in enumerate(METRICS)}


def _scores(summary: str, cluster: Cluster) -> list[float]:
    """Return all metrics of one summary, in the order of `METRICS`."""
    words = tokens(summary, stem=True)
    references = [tokens(reference, stem=True) for reference in cluster.references]
    found = [rouge(words, references), rouge(words, references, over="jackknife"), rouge(words, references, n=2)]
    content = rouge(_content(summary), [_content(reference) for reference in cluster.references]).recall
    return [*(number for one in found for number in (one.f1, one.precision, one.recall)), content]


def _content(text: str) -> list[str]:
    """Return the stems of a text without function words."""
    return [stem_token(word) for word in tokens(text) if word not in FUNCTION_WORDS]
