"""Gains under the best of several references."""

from __future__ import annotations

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Ints


@njit(cache=True, nogil=True)
def best_reference_gains(
    rows: Ints,
    owners: Ints,
    row_starts: Ints,
    topics: Ints,
    amounts: Floats,
    topic_starts: Ints,
    weights: Floats,
    caps: Floats,
    levels: Floats,
    reference_of: Ints,
    reference_starts: Ints,
    values: Floats,
) -> Floats:
    """Return how much each row would raise the highest recall over the references of its problem."""
    gains = np.empty(len(rows))
    for i in range(len(rows)):
        row = rows[i]
        owner = owners[row]
        first, last = reference_starts[owner], reference_starts[owner + 1]
        after = values[first:last].copy()
        for j in range(row_starts[row], row_starts[row + 1]):
            topic = topic_starts[owner] + topics[j]
            rise = min(levels[topic] + amounts[j], caps[topic]) - min(levels[topic], caps[topic])
            after[reference_of[topic]] += weights[topic] * rise
        gains[i] = after.max() - values[first:last].max()
    return gains
