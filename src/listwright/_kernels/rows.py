"""Rows of states on their way to a learner: centred, as costs, fold by fold, and as numbers that identify them."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Floats, Floats32, Ints


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
def gathered(table: Floats32, rows: Ints) -> Floats:
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
