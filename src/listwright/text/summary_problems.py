"""Clusters of documents as problems: sentences are candidates, and a summary is a list within a budget."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats32
from listwright._internal.tokens import stem_token, tokens
from listwright.errors import InputError
from listwright.features import Candidate, Distance, Features, Volume
from listwright.features.expected_coverage import ExpectedCoverage
from listwright.problems import Problems
from listwright.rewards import Rouge
from listwright.text.budget import Budget, Unit, sizes
from listwright.text.clusters import Cluster
from listwright.text.quality import quality_features
from listwright.text.vectors import hashed_tf_idf

WIDTH = 1 << 20  # columns of the vectors: so many that two words of a cluster hardly ever share one
STRUCTURE = ("introduction", "conclusion", "section_start", "cue_phrase")  # columns of headings and set phrases
_INTRODUCTION = re.compile(r"intro|abstract|overview|summary|motivation", re.IGNORECASE)
_CONCLUSION = re.compile(r"conclu|discuss|summary|future", re.IGNORECASE)
_CUE = re.compile(
    r"\b(?:this (?:paper|article|work|study|report)|in conclusion|conclude|results (?:show|indicate|suggest)"
    r"|our (?:approach|method|model|system|results?|experiments?)"
    r"|we (?:have )?(?:propose|present|describe|introduce|show|report|develop|investigate)[nd]?)\b",
    re.IGNORECASE,
)


def summary_problems(clusters: Sequence[Cluster], *, unit: Unit = "bytes", need_references: bool = False) -> Problems:
    """Make one problem per cluster, with ROUGE-1 recall as its reward."""
    if not clusters:
        raise InputError("There are no clusters to summarise. Give at least one.")
    missing = [cluster.id for cluster in clusters if not cluster.references]
    if missing and need_references:
        raise InputError(f"Cluster {missing[0]!r} has no references. They may only be missing in predict.")
    words = [[tokens(sentence) for sentence in cluster.sentences] for cluster in clusters]
    stems = [[[stem_token(word) for word in sentence] for sentence in texts] for texts in words]
    quality = [quality_features(cluster) for cluster in clusters]
    return Problems.from_arrays(
        np.concatenate(
            [
                np.concatenate([table, structure_features(cluster)], axis=1)
                for cluster, (table, _) in zip(clusters, quality, strict=True)
            ]
        ),
        offsets=np.cumsum([0, *(len(cluster.sentences) for cluster in clusters)]),
        vectors=sparse.vstack([hashed_tf_idf(texts, WIDTH) for texts in stems], format="csr"),
        sizes=np.maximum(np.concatenate([sizes(cluster.sentences, unit) for cluster in clusters]), 1),
        reward=None if missing else _reward(clusters, stems),
        problem_ids=[cluster.id for cluster in clusters],
        feature_names=(*quality[0][1], *STRUCTURE),
    )


def paper_summary_features() -> Features:
    return Candidate() + Volume() + Distance(mean=False)


def summary_features() -> Features:
    """Return the paper's features, and how many new words of a reference the sentence is expected to add."""
    return paper_summary_features() + ExpectedCoverage()


def size_limit(budget: Budget) -> int:
    """Return what sizes may sum to. Each size includes a joining space, of which there is one fewer than sentences."""
    return budget.amount + (budget.unit in ("bytes", "characters"))


def _reward(clusters: Sequence[Cluster], stems: list[list[list[str]]]) -> Rouge:
    candidates = [sentence for texts in stems for sentence in texts]
    references = [[tokens(reference, stem=True) for reference in cluster.references] for cluster in clusters]
    return Rouge(candidates, references, n=1)


def structure_features(cluster: Cluster) -> Floats32:
    """Return one row per sentence with the columns `STRUCTURE`, each 0 or 1."""
    headings = cluster.sections or ("",) * len(cluster.sentences)
    columns = [
        [_INTRODUCTION.search(heading) is not None for heading in headings],
        [_CONCLUSION.search(heading) is not None for heading in headings],
        _starts(cluster),
        [_CUE.search(sentence) is not None for sentence in cluster.sentences],
    ]
    return np.array(columns, dtype=np.float32).T.copy()


def _starts(cluster: Cluster) -> list[bool]:
    if not cluster.sections:
        return [False] * len(cluster.sentences)
    places = list(zip(cluster.documents, cluster.sections, strict=True))
    return [index == 0 or place != places[index - 1] for index, place in enumerate(places)]
