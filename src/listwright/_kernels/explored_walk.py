"""The complete walk of a linear policy that explores at each slot, one problem after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._kernels.constraints import Limits, use_up
from listwright._kernels.draw import draw_one, fill_chances, mix_one_slot
from listwright._kernels.parts import inner
from listwright._kernels.walk import Seen, Weights, alone, close, hold, rescore, update_distances


class Chance(NamedTuple):
    """How picks are drawn."""

    kind: int  # INVERSE_GAP, EPSILON or SOFTMAX of `draw`
    strength: float  # see `draw.fill_chances`
    one_slot: bool  # whether a list explores in only one of its slots
    numbers: Floats  # random numbers from 0 to 1


@inner()
def _draw(
    scores: Floats, chance: Chance, problem: int, position: int, earlier: float, chances: Floats
) -> tuple[int, float]:
    """Return the row drawn, -1 for none, and the new value of `earlier`: -1 as soon as a pick was not the best row."""
    best = fill_chances(chance.kind, chance.strength, scores, chances)
    if best < 0:
        return best, earlier
    alone_chance = chances[best]
    if chance.one_slot and earlier < 0:
        chances[:] = 0.0
        chances[best] = 1.0
    elif chance.one_slot:
        mix_one_slot(chances, best, earlier, chance.numbers.shape[1] - position)
    pick = draw_one(chances, chance.numbers[problem, position])
    return pick, earlier + alone_chance if pick == best and earlier >= 0 else -1.0


@inner()
def _fill(
    rows: Floats32,
    items: Ints,
    limits: Limits,
    start: int,
    weights: Weights,
    seen: Seen,
    chance: Chance,
    problem: int,
    picks: Ints,
    propensities: Floats,
) -> None:
    """Fill one list with the rows drawn and the probability that each had."""
    chances, earlier, taken, left = np.empty(len(rows)), 0.0, -1, limits.room[problem]
    own, held, near, far, least, scores, picked = seen
    for position in range(len(picks)):
        close(scores, taken, start, left, limits)
        pick, earlier = _draw(scores, chance, problem, position, earlier, chances)
        if pick < 0:
            break
        picks[position], propensities[position], picked[position] = pick, chances[pick], scores[pick]
        left -= limits.sizes[start + pick] if len(limits.sizes) else 0.0
        use_up(start + pick, limits.groups, limits.counts, limits.amounts, limits.left)
        taken = pick
        if position + 1 < len(picks):
            if len(items):
                hold(items, picks, position, weights.held, held)
            if len(weights.smallest):
                update_distances(rows, pick, weights, least, near, far, position == 0)
            if len(items) or len(weights.smallest):
                rescore(own, held, near, far, scores, position + 1)


@njit(cache=True, nogil=True)
def explored_lists(
    offsets: Ints,
    table: Floats32,
    weights: Weights,
    limits: Limits,
    chance: Chance,
    lists: Ints,
    picked: Floats,
    propensities: Floats,
) -> None:
    """Fill the lists of all problems with draws."""
    for problem in range(len(offsets) - 1):
        start, end = offsets[problem], offsets[problem + 1]
        n, rows = end - start, table[start:end]
        items = weights.items[start:end]
        own = np.full(n, weights.level[problem])
        alone(rows, weights.candidate, weights.identity[start:end], own)
        least = np.empty((n, len(weights.smallest)), dtype=np.float32)
        seen = Seen(own, np.zeros(n), np.zeros(n), np.zeros(n), least, own.copy(), picked[problem])
        _fill(rows, items, limits, start, weights, seen, chance, problem, lists[problem], propensities[problem])
        if lists[problem, 0] >= 0:
            picked[problem, 0] += weights.first
