"""Probabilities of the open rows to be picked, and draws from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Floats, Ints
from listwright._kernels import kernel

INVERSE_GAP, EPSILON, SOFTMAX = 0, 1, 2


@kernel()
def uniforms(keys: NDArray[np.uint64], count: int) -> Floats:
    """Return numbers from 0 to 1, shape (keys, count), which depend only on key and column (SplitMix64)."""
    numbers = np.empty((len(keys), count))
    for i in range(len(keys)):
        state = keys[i]
        for j in range(count):
            state += np.uint64(0x9E3779B97F4A7C15)
            mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            mixed = mixed ^ (mixed >> np.uint64(31))
            numbers[i, j] = (mixed >> np.uint64(11)) * 2.0**-53
    return numbers


@kernel()
def open_best(scores: Floats) -> tuple[int, int]:
    """Return the row with the highest score, the lowest of equals, -1 for none; and how many are open, above -inf."""
    best, count = -1, 0
    for i in range(len(scores)):
        if scores[i] > -np.inf:
            count += 1
            if best < 0 or scores[i] > scores[best]:
                best = i
    return best, count


@kernel()
def fill_chances(kind: int, strength: float, scores: Floats, chances: Floats) -> int:
    """Fill the probabilities of one problem's rows, and return the best row, -1 for none."""
    best, count = open_best(scores)
    if best < 0:
        chances[:] = 0.0
        return best
    if kind == SOFTMAX:
        total = 0.0
        for i in range(len(scores)):
            chances[i] = np.exp(strength * (scores[i] - scores[best]))  # 0 for closed rows, whose score is -inf
            total += chances[i]
        for i in range(len(scores)):
            chances[i] /= total
        return best
    gamma, rest = strength * np.sqrt(count), 0.0
    for i in range(len(scores)):
        chances[i] = 0.0
        if scores[i] > -np.inf and i != best:
            if kind == INVERSE_GAP:
                chances[i] = 1.0 / (count + gamma * (scores[best] - scores[i]))
            else:
                chances[i] = strength / count
            rest += chances[i]
    chances[best] = 1.0 - rest
    return best


@kernel()
def draw_one(chances: Floats, number: float) -> int:
    """Return the row at which the summed probabilities exceed `number`; the last possible if rounding prevents it."""
    total, last = 0.0, -1
    for i in range(len(chances)):
        if chances[i] > 0.0:
            total += chances[i]
            last = i
            if total > number:
                break
    return last


@kernel()
def mix_one_slot(chances: Floats, best: int, earlier: float, left: float) -> None:
    """Turn the probabilities of a slot that explores into those of a list that explores in only one of its slots."""
    share = 1.0 / (earlier + left)
    for i in range(len(chances)):
        chances[i] *= share
    chances[best] += 1.0 - share


@kernel()
def segment_chances(kind: int, strength: float, scores: Floats, offsets: Ints) -> tuple[Floats, Ints]:
    chances, best = np.empty(len(scores)), np.full(len(offsets) - 1, -1, dtype=np.int64)
    for problem in range(len(best)):
        start, end = offsets[problem], offsets[problem + 1]
        row = fill_chances(kind, strength, scores[start:end], chances[start:end])
        if row >= 0:
            best[problem] = start + row
    return chances, best


@kernel()
def draw_rows(chances: Floats, offsets: Ints, numbers: Floats) -> Ints:
    picks = np.full(len(offsets) - 1, -1, dtype=np.int64)
    for problem in range(len(picks)):
        row = draw_one(chances[offsets[problem] : offsets[problem + 1]], numbers[problem])
        if row >= 0:
            picks[problem] = offsets[problem] + row
    return picks
