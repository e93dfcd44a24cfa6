"""The whole walk of a linear policy over built-in features, one problem after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._kernels.segments import best_of, top_of


class Weights(NamedTuple):
    """A linear policy as the walk takes it. Arrays that the features leave without a use are empty."""

    level: Floats  # by problem: the same for all its rows
    first: float  # for an empty list
    candidate: Floats  # by feature
    smallest: Floats32  # by feature, for the smallest distance to the list
    mean: Floats32  # by feature, for the mean distance to the list
    identity: Floats  # by row: the weights of its item, which the list does not change
    items: Ints  # by row: which known item
    held: Floats  # (items, items): for a row's item while the list holds an item


class Limits(NamedTuple):
    """What a list may hold. Without a budget, `sizes` is empty."""

    sizes: Floats
    room: Floats  # by problem
    repeats: bool


class Seen(NamedTuple):
    """What is known of each row of a problem, given the list so far."""

    own: Floats  # what the list does not change
    held: Floats  # the weights of its item for the items held
    near: Floats  # weighted sum of the smallest distances
    far: Floats  # weighted sum of the distances to all picks
    least: Floats32  # (rows, features): the smallest distances
    scores: Floats  # -inf for what cannot be picked
    picked: Floats  # by position: the score of the pick


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def alone(rows: Floats32, weights: Floats, identity: Floats, own: Floats) -> None:
    """Adds rows @ weights and `identity` to `own`; each row in the same order, so that equal rows stay equal."""
    for i in range(len(rows)):
        total = identity[i] if len(identity) else 0.0
        for j in range(len(weights)):
            total += weights[j] * rows[i, j]
        own[i] += total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _near(
    rows: Floats32, pick: Floats32, smallest: Floats32, mean: Floats32, least: Floats32, near: Floats, far: Floats
) -> None:
    """Distances to the first pick."""
    for i in range(len(rows)):
        low_sum, gap_sum = np.float32(0.0), np.float32(0.0)
        for j in range(len(smallest)):
            gap = abs(rows[i, j] - pick[j])
            least[i, j] = gap
            low_sum += smallest[j] * gap
            gap_sum += mean[j] * gap
        near[i] = low_sum
        far[i] = gap_sum


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz", "nnan"})
def _nearer(
    rows: Floats32, pick: Floats32, smallest: Floats32, mean: Floats32, least: Floats32, near: Floats, far: Floats
) -> None:
    """Takes the distances to one more pick in. The sums of distances are kept, not the distances.

    A row's sum over its columns runs in float32, in as many parts as the processor has lanes: twice as fast as in
    float64, and distances have no large parts that cancel.
    """
    for i in range(len(rows)):
        low_sum, gap_sum = np.float32(0.0), np.float32(0.0)
        for j in range(len(smallest)):
            gap = abs(rows[i, j] - pick[j])
            low = min(gap, least[i, j])
            least[i, j] = low
            low_sum += smallest[j] * low
            gap_sum += mean[j] * gap
        near[i] = low_sum
        far[i] += gap_sum


@njit(cache=True, nogil=True)
def take_in(rows: Floats32, pick: Floats32, weights: Weights, seen: Seen, first: bool) -> None:
    """The distances to one more pick."""
    if first:
        _near(rows, pick, weights.smallest, weights.mean, seen.least, seen.near, seen.far)
    else:
        _nearer(rows, pick, weights.smallest, weights.mean, seen.least, seen.near, seen.far)


@njit(cache=True, nogil=True)
def hold(items: Ints, picks: Ints, weights: Floats, held: Floats) -> None:
    """Takes in that the list holds the last pick's item, unless it did before."""
    item = items[picks[-1]]
    for pick in picks[:-1]:
        if items[pick] == item:
            return
    for i in range(len(items)):
        held[i] += weights[items[i], item]


@njit(cache=True, nogil=True)
def rescore(seen: Seen, n_picks: int) -> None:
    """Scores of what can still be picked."""
    own, held, near, far, _, scores, _ = seen
    for i in range(len(scores)):
        if scores[i] > -np.inf:
            scores[i] = own[i] + held[i] + near[i] + far[i] / n_picks


@njit(cache=True, nogil=True)
def close(scores: Floats, taken: int, sizes: Floats, left: float) -> None:
    """Rows that are taken, or do not fit what is left, cannot be picked any more."""
    if taken >= 0:
        scores[taken] = -np.inf
    for i in range(len(sizes)):
        if sizes[i] > left:
            scores[i] = -np.inf


@njit(cache=True, nogil=True)
def _fill(
    rows: Floats32, items: Ints, sizes: Floats, left: float, weights: Weights, repeats: bool, seen: Seen, picks: Ints
) -> None:
    """One list: the rows picked into `picks`, their scores into `seen.picked`."""
    listens = len(items) > 0 or len(weights.smallest) > 0  # whether picks change what is seen
    if not listens and not repeats and not len(sizes):
        top_of(seen.scores, picks, seen.picked)
        return
    close(seen.scores, -1, sizes, left)
    for position in range(len(picks)):
        pick = best_of(seen.scores)
        if pick < 0:
            break
        picks[position], seen.picked[position] = pick, seen.scores[pick]
        left -= sizes[pick] if len(sizes) else 0.0
        close(seen.scores, -1 if repeats else pick, sizes, left)
        if position + 1 < len(picks):
            if len(items):
                hold(items, picks[: position + 1], weights.held, seen.held)
            if len(weights.smallest):
                take_in(rows, rows[pick], weights, seen, position == 0)
            if listens:
                rescore(seen, position + 1)


@njit(cache=True, nogil=True)
def walk_lists(
    low: int, high: int, offsets: Ints, table: Floats32, weights: Weights, limits: Limits, lists: Ints, picked: Floats
) -> None:
    """Fills in the lists of problems low to high, as rows of the batch (-1 stays behind the end), and their scores.

    Cost: for each position one read of the problem's features and of as many smallest distances; one read of the
    features in all where the list does not change what is seen.
    """
    most = np.diff(offsets[low : high + 1]).max()
    scratch, least = np.zeros((5, most)), np.empty((most, len(weights.smallest)), dtype=np.float32)
    for problem in range(low, high):
        start, end = offsets[problem], offsets[problem + 1]
        n, rows = end - start, table[start:end]
        sizes, items = limits.sizes[start:end], weights.items[start:end]  # empty where there are none
        own, held, near, far, scores = scratch[0, :n], scratch[1, :n], scratch[2, :n], scratch[3, :n], scratch[4, :n]
        own[:], held[:] = weights.level[problem], 0.0
        alone(rows, weights.candidate, weights.identity[start:end], own)
        scores[:] = own
        seen = Seen(own, held, near, far, least[:n], scores, picked[problem])
        _fill(rows, items, sizes, limits.room[problem], weights, limits.repeats, seen, lists[problem])
        if lists[problem, 0] >= 0:
            picked[problem, 0] += weights.first
        for position in range(lists.shape[1]):
            lists[problem, position] += start if lists[problem, position] >= 0 else 0
