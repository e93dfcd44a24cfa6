"""Scores of linear policies."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Floats32, Ints


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def linear_scores(table: Floats32, weights: Floats) -> Floats:
    """Return table @ weights in float64, each row summed in the same order, with one read of the table."""
    scores = np.empty(len(table))
    for row in range(len(table)):
        total = 0.0
        for j in range(table.shape[1]):
            total += table[row, j] * weights[j]
        scores[row] = total
    return scores


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def crossed_scores(items: Ints, owners: Ints, states: Floats32, weights: Floats) -> Floats:
    """Return by row the weights of its item times the state of its problem, in float64."""
    scores = np.empty(len(items))
    for row in range(len(items)):
        item, owner = items[row], owners[row]
        total = 0.0
        for j in range(states.shape[1]):
            total += states[owner, j] * weights[item, j]
        scores[row] = total
    return scores
