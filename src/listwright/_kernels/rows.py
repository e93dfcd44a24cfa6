"""Rows of all problems: scores, the best of each problem, distances to the list, and what learners make of them."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Bools, Floats, Floats32, Ints
from listwright._kernels import inner, kernel, outer


def center(values: Floats, offsets: Ints, centered: Floats) -> None:
    """Write values minus their state's column means into `centered`, with two reads and one write."""
    _center(values, offsets, np.empty(values.shape[1]), centered)


@outer()
def _center(values: Floats, offsets: Ints, means: Floats, centered: Floats) -> None:
    for state in range(len(offsets) - 1):
        start, end = offsets[state], offsets[state + 1]
        for j in range(len(means)):
            means[j] = 0.0
        for i in range(start, end):
            for j in range(len(means)):
                means[j] += values[i, j]
        for j in range(len(means)):
            means[j] /= max(end - start, 1)
        for i in range(start, end):
            for j in range(len(means)):
                centered[i, j] = values[i, j] - means[j]


def linear_scores(table: Floats32, weights: Floats) -> Floats:
    """Return table @ weights in float64, each row summed in the same order, with one read of the table."""
    scores = np.empty(len(table))
    _score(table, weights, scores)
    return scores


@outer(fastmath={"reassoc", "contract", "nsz"})
def _score(table: Floats32, weights: Floats, scores: Floats) -> None:
    for row in range(len(table)):
        total = 0.0
        for j in range(table.shape[1]):
            total += table[row, j] * weights[j]
        scores[row] = total


@kernel(fastmath={"reassoc", "contract", "nsz"})
def crossed_scores(items: Ints, owners: Ints, states: Floats32, weights: Floats) -> Floats:
    """Return by row the weights of its item, if it has any, times the state of its problem, in float64."""
    scores = np.empty(len(items))
    for row in range(len(items)):
        item, owner = items[row], owners[row]
        total = 0.0
        for j in range(states.shape[1] if item < len(weights) else 0):
            total += states[owner, j] * weights[item, j]
        scores[row] = total
    return scores


@outer()
def nearer(picks: Ints, offsets: Ints, table: Floats32, smallest: Floats32, total: Floats32, lengths: Ints) -> None:
    """Update the distances of all rows to their problem's list by one more pick per problem, in place."""
    for problem in range(len(picks)):
        pick = picks[problem]
        if pick >= 0:
            first = lengths[problem] == 0
            for row in range(offsets[problem], offsets[problem + 1]):
                for j in range(table.shape[1]):
                    gap = abs(table[row, j] - table[pick, j])
                    total[row, j] += gap
                    smallest[row, j] = gap if first else min(smallest[row, j], gap)


@kernel()
def earlier_distances(table: Floats32) -> tuple[Floats32, Floats32]:
    """Return for each item of one list the smallest and the mean absolute difference to the items before it."""
    smallest, total = np.zeros_like(table), np.zeros_like(table)
    for i in range(1, len(table)):
        for k in range(i):
            for j in range(table.shape[1]):
                gap = abs(table[i, j] - table[k, j])
                total[i, j] += gap
                smallest[i, j] = gap if k == 0 else min(smallest[i, j], gap)
        for j in range(table.shape[1]):
            total[i, j] /= np.float32(i)
    return smallest, total


def best_rows(scores: Floats, open_rows: Bools, offsets: Ints) -> Ints:
    picks = np.empty(len(offsets) - 1, dtype=np.int64)
    _find_best(scores, open_rows, offsets, picks)
    return picks


@outer()
def _find_best(scores: Floats, open_rows: Bools, offsets: Ints, picks: Ints) -> None:
    for problem in range(len(picks)):
        picks[problem], best = -1, -np.inf
        for row in range(offsets[problem], offsets[problem + 1]):
            if open_rows[row] and (picks[problem] < 0 or scores[row] > best):
                picks[problem] = row
                best = scores[row]


@inner(fastmath={"nnan", "nsz"})
def best_of(scores: Floats) -> int:
    """Return the place of the highest score, the lowest among equals; -1 if all are -inf."""
    best = -np.inf
    for score in scores:
        best = max(best, score)
    if best > -np.inf:
        for i in range(len(scores)):
            if scores[i] == best:
                return i
    return -1


@inner(fastmath={"nnan", "nsz"})
def top_of(scores: Floats, rows: Ints, picked: Floats) -> None:
    """Fill `rows` with those of the highest scores, best first and the lowest of equals, and `picked` with these."""
    n_found, least = 0, -np.inf
    for row in range(len(scores)):
        score = scores[row]
        if score > least:
            at = min(n_found, len(rows) - 1)
            while at > 0 and picked[at - 1] < score:
                rows[at], picked[at] = rows[at - 1], picked[at - 1]
                at -= 1
            rows[at], picked[at] = row, score
            n_found = min(n_found + 1, len(rows))
            least = picked[-1] if n_found == len(rows) else -np.inf
