"""Features from headings and set phrases, by which papers and reports announce what matters."""

from __future__ import annotations

import re

import numpy as np

from listwright._internal.arrays import Floats32
from listwright.text.clusters import Cluster

NAMES = ("introduction", "conclusion", "section_start", "cue_phrase")

_INTRODUCTION = re.compile(r"intro|abstract|overview|summary|motivation", re.IGNORECASE)
_CONCLUSION = re.compile(r"conclu|discuss|summary|future", re.IGNORECASE)
_CUE = re.compile(
    r"\b(?:this (?:paper|article|work|study|report)|in conclusion|conclude|results (?:show|indicate|suggest)"
    r"|our (?:approach|method|model|system|results?|experiments?)"
    r"|we (?:have )?(?:propose|present|describe|introduce|show|report|develop|investigate)[nd]?)\b",
    re.IGNORECASE,
)


def structure_features(cluster: Cluster) -> Floats32:
    """Returns one row per sentence with the columns `NAMES`, each 0 or 1. Without headings only the last can be 1.

    Examples
    --------
    >>> documents, sections = [["We propose nets.", "Nets have nodes."]], [["Introduction", "Introduction"]]
    >>> structure_features(Cluster.from_documents("nets", documents, sections=sections))
    array([[1., 0., 1., 1.],
           [1., 0., 0., 0.]], dtype=float32)
    """
    headings = cluster.sections or ("",) * len(cluster.sentences)
    columns = [
        [_INTRODUCTION.search(heading) is not None for heading in headings],
        [_CONCLUSION.search(heading) is not None for heading in headings],
        _starts(cluster),
        [_CUE.search(sentence) is not None for sentence in cluster.sentences],
    ]
    return np.array(columns, dtype=np.float32).T.copy()


def _starts(cluster: Cluster) -> list[bool]:
    """Returns whether each sentence is the first under its heading."""
    if not cluster.sections:
        return [False] * len(cluster.sentences)
    places = list(zip(cluster.documents, cluster.sections, strict=True))
    return [index == 0 or place != places[index - 1] for index, place in enumerate(places)]
