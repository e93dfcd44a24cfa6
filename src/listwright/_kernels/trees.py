"""Sums of decision trees, tree after tree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def tree_sums(table: Any, roots: Any, columns: Any, thresholds: Any, left: Any, right: Any, leaves: Any) -> Any:
    """One sum a row. A child below 0 is leaf -1 - child; a tree without splits has such a root."""
    total = np.zeros(table.shape[0])
    for root in roots:
        for i in range(table.shape[0]):
            node = root
            while node >= 0:
                node = left[node] if table[i, columns[node]] <= thresholds[node] else right[node]
            total[i] += leaves[-1 - node]
    return total


@njit(cache=True, nogil=True)
def logistic(scores: Any, slope: float) -> Any:
    """1 / (1 + exp(-slope * score)), by the C library's exp."""
    chances = np.empty_like(scores)
    for i in range(len(scores)):
        chances[i] = 1.0 / (1.0 + math.exp(-slope * scores[i]))
    return chances
