"""Rows of all problems: scores, the best of each problem, distances to the list, and what learners make of them."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Floats, Floats32, Ints
from listwright._kernels import inner


@njit(cache=True, nogil=True)
def center(values: Floats, offsets: Ints, centered: Floats) -> None:
    """Write values minus their state's column means into `centered`, with two reads and one write."""
    means = np.empty(values.shape[1])
    for state in range(len(offsets) - 1):
        start, end = offsets[state], offsets[state + 1]
        means[:] = 0.0
        for i in range(start, end):
            for j in range(len(means)):
                means[j] += values[i, j]
        for j in range(len(means)):
            means[j] /= max(end - start, 1)
        for i in range(start, end):
            for j in range(len(means)):
                centered[i, j] = values[i, j] - means[j]


@njit(cache=True, nogil=True)
def costs_of(gains: Floats, options: Bools, offsets: Ints) -> Floats:
    """Return the paper's costs c(s) = max over s' of b(s') - b(s), by row."""
    costs = np.zeros(len(gains))
    for problem in range(len(offsets) - 1):
        best = -np.inf
        for row in range(offsets[problem], offsets[problem + 1]):
            if options[row] and gains[row] > best:
                best = gains[row]
        for row in range(offsets[problem], offsets[problem + 1]):
            if options[row]:
                costs[row] = best - gains[row]
    return costs


@njit(cache=True, nogil=True)
def by_fold(used: Bools, offsets: Ints, folds: Ints, n_folds: int) -> tuple[Ints, Ints, Ints]:
    """Sort the rows in use by fold."""
    ends, at_state = np.zeros(n_folds + 1, np.int64), np.zeros(n_folds + 1, np.int64)
    for state in range(len(folds)):
        count = 0
        for row in range(offsets[state], offsets[state + 1]):
            count += used[row]
        ends[folds[state] + 1] += count
        at_state[folds[state] + 1] += count > 0
    for fold in range(n_folds):
        ends[fold + 1] += ends[fold]
        at_state[fold + 1] += at_state[fold]
    rows, starts = np.empty(ends[-1], np.int64), np.empty(at_state[-1] + 1, np.int64)
    at_row = ends.copy()
    for state in range(len(folds)):
        fold = folds[state]
        start = at_row[fold]
        for row in range(offsets[state], offsets[state + 1]):
            if used[row]:
                rows[at_row[fold]] = row
                at_row[fold] += 1
        if at_row[fold] > start:
            starts[at_state[fold]] = start
            at_state[fold] += 1
    starts[-1] = ends[-1]
    return rows, starts, ends


@njit(cache=True, nogil=True)
def gather(table: Floats32, rows: Ints) -> Floats:
    """Return table[rows] in float64."""
    found = np.empty((len(rows), table.shape[1]))
    for i in range(len(rows)):
        for j in range(table.shape[1]):
            found[i, j] = table[rows[i], j]
    return found


@njit(cache=True, nogil=True)
def row_keys(words: NDArray[np.uint32], factors: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return one number per row: the sum over columns of word times factor, modulo 2^64."""
    keys = np.zeros(len(words), dtype=np.uint64)
    for row in range(len(words)):
        key = np.uint64(0)
        for column in range(words.shape[1]):
            key += words[row, column] * factors[column]
        keys[row] = key
    return keys


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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def best_rows(scores: Floats, open_rows: Bools, offsets: Ints) -> Ints:
    """Return the best open row of each problem."""
    picks = np.empty(len(offsets) - 1, dtype=np.int64)
    for problem in range(len(picks)):
        picks[problem], best = -1, -np.inf
        for row in range(offsets[problem], offsets[problem + 1]):
            if open_rows[row] and (picks[problem] < 0 or scores[row] > best):
                picks[problem] = row
                best = scores[row]
    return picks


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
    """Write the rows with the highest scores into `rows`, best first and the lowest row first among equals, and their
    scores into `picked`.
    """
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
