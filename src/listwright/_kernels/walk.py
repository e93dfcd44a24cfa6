"""The complete walk of a linear policy over built-in features, with or without exploration, problem by problem."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._kernels import inline, inner, outer
from listwright._kernels.constraints import has_room, use_up
from listwright._kernels.draw import draw_one, fill_chances, mix_one_slot
from listwright._kernels.rows import best_of, top_of


class Weights(NamedTuple):
    """A linear policy in the form that the walk takes. Arrays that the features do not use are empty."""

    level: Floats  # added to all rows of a problem
    first: float  # added for an empty list
    candidate: Floats  # weights of a row's own features
    smallest: Floats32  # weights of the smallest and of the mean distance to the list
    mean: Floats32
    identity: Floats  # what the weights of a row's item give, which the list does not change
    items: Ints  # the known item of each row
    held: Floats  # weights of a row's item while the list contains another


class SlotDraws(NamedTuple):
    """How picks are drawn."""

    kind: int  # INVERSE_GAP, EPSILON or SOFTMAX of `draw`
    strength: float  # see `draw.fill_chances`
    one_slot: bool  # whether a list explores in only one of its slots
    numbers: Floats  # (problems, positions): random numbers from 0 to 1


@inner(fastmath={"reassoc", "contract", "nsz"})
def alone(rows: Floats32, weights: Floats, identity: Floats, own: Floats) -> None:
    """Add rows @ weights and `identity` to `own`; all rows are summed in the same order, so equal ones stay equal."""
    for i in range(len(rows)):
        total = identity[i] if len(identity) else 0.0
        for j in range(len(weights)):
            total += weights[j] * rows[i, j]
        own[i] += total


@inner(fastmath={"reassoc", "contract", "nsz"})
def _near(
    rows: Floats32, pick: Floats32, smallest: Floats32, mean: Floats32, least: Floats32, near: Floats, far: Floats
) -> None:
    for i in range(len(rows)):
        low_sum, gap_sum = np.float32(0.0), np.float32(0.0)
        for j in range(len(smallest)):
            gap = abs(rows[i, j] - pick[j])
            least[i, j] = gap
            low_sum += smallest[j] * gap
            gap_sum += mean[j] * gap
        near[i] = low_sum
        far[i] = gap_sum


@inner(fastmath={"reassoc", "contract", "nsz", "nnan"})
def _nearer(
    rows: Floats32, pick: Floats32, smallest: Floats32, mean: Floats32, least: Floats32, near: Floats, far: Floats
) -> None:
    """Update the distances with one more pick. Sums of distances are kept, not the distances themselves."""
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


@inline
def update_distances(
    rows: Floats32, pick: int, weights: Weights, least: Floats32, near: Floats, far: Floats, first: bool
) -> None:
    if first:
        _near(rows, rows[pick], weights.smallest, weights.mean, least, near, far)
    else:
        _nearer(rows, rows[pick], weights.smallest, weights.mean, least, near, far)


@inline
def hold(items: Ints, picks: Ints, position: int, weights: Floats, held: Floats) -> None:
    """Add the weights for the pick at `position`, unless the list already contained its item."""
    item, is_new = items[picks[position]], True
    for earlier in range(position):
        is_new = is_new and items[picks[earlier]] != item
    if is_new:
        for i in range(len(items)):
            held[i] += weights[items[i], item]


@inline
def rescore(own: Floats, held: Floats, near: Floats, far: Floats, scores: Floats, n_picks: int) -> None:
    for i in range(len(scores)):
        if scores[i] > -np.inf:
            scores[i] = own[i] + held[i] + near[i] + far[i] / n_picks


@inline
def close(scores: Floats, start: int, quotas: Any) -> None:
    groups, counts, amounts, further = quotas
    for i in range(len(scores)):
        if not has_room(start + i, groups, counts, amounts, further):
            scores[i] = -np.inf


@inline
def number_from(start: int, picks: Ints) -> None:
    """Turn rows of a problem that starts at row `start` into rows of the batch; -1 stays."""
    for position in range(len(picks)):
        picks[position] += start if picks[position] >= 0 else 0


@inner()
def swap_last(pick: int, scores: Floats, sizes: Floats, left: float) -> int:
    """Return the pick or, if no other open row would fit after it, the one with the highest score times size."""
    lowest = scores[pick]
    for i in range(len(scores)):
        if scores[i] > -np.inf:
            if i != pick and sizes[i] <= left - sizes[pick]:
                return pick
            lowest = min(lowest, scores[i])
    best, most = -1, -1.0
    for i in range(len(scores)):
        if scores[i] > -np.inf and (scores[i] - lowest) * sizes[i] > most:
            best, most = i, (scores[i] - lowest) * sizes[i]
    return best


@inner()
def _draw(
    scores: Floats, draws: SlotDraws, problem: int, position: int, earlier: float, chances: Floats
) -> tuple[int, float]:
    """Return the row drawn, -1 for none, and the new value of `earlier`: -1 as soon as a pick was not the best row."""
    best = fill_chances(draws.kind, draws.strength, scores, chances)
    if best < 0:
        return best, earlier
    alone_chance = chances[best]
    if draws.one_slot and earlier < 0:
        chances[:] = 0.0
        chances[best] = 1.0
    elif draws.one_slot:
        mix_one_slot(chances, best, earlier, draws.numbers.shape[1] - position)
    pick = draw_one(chances, draws.numbers[problem, position])
    return pick, earlier + alone_chance if pick == best and earlier >= 0 else -1.0


@outer(error_model="numpy")
def walk_lists(
    low: int, high: int, offsets: Ints, table: Floats32, weights: Weights, sizes: Floats, budgets: Floats,
    repeats: bool, last_by_gain: bool, quotas: Any, draws: SlotDraws | None, lists: Ints, picked: Floats,
    propensities: Floats, space: Floats, least: Floats32,
) -> None:  # fmt: skip
    """Fill the lists of problems low to high, with the score of each pick and, if picks are drawn, its probability."""
    # Quotas (groups, counts, amounts and left of `ListLimits`) and draws are None where there are none: then numba
    # leaves out what concerns them, which is a third of the time that compiling takes.
    listens = len(weights.items) > 0 or len(weights.smallest) > 0  # whether picks change what is seen
    sorts = not listens and not repeats and not len(sizes) and quotas is None and draws is None
    for problem in range(low, high):
        start, end = offsets[problem], offsets[problem + 1]
        n, rows, picks, gained = end - start, table[start:end], lists[problem], picked[problem]
        own, held, near, far, scores = space[0, :n], space[1, :n], space[2, :n], space[3, :n], space[4, :n]
        for i in range(n):
            own[i], held[i], near[i], far[i] = weights.level[problem], 0.0, 0.0, 0.0
        alone(rows, weights.candidate, weights.identity[start:end], own)
        for i in range(n):
            scores[i] = own[i]
        if sorts:
            top_of(scores, picks, gained)
        items, left, earlier = weights.items[start:end], budgets[problem], 0.0
        for position in range(0 if sorts else len(picks)):
            for i in range(n if len(sizes) else 0):
                if sizes[start + i] > left:
                    scores[i] = -np.inf
            if quotas is not None:
                close(scores, start, quotas)
            if draws is None:
                pick = best_of(scores)
                if last_by_gain and len(sizes) and pick >= 0:
                    pick = swap_last(pick, scores, sizes[start:end], left)
            else:
                pick, earlier = _draw(scores, draws, problem, position, earlier, space[5, :n])
            if pick < 0:
                break
            picks[position], gained[position] = pick, scores[pick]
            if draws is not None:
                propensities[problem, position] = space[5, pick]
            left -= sizes[start + pick] if len(sizes) else 0.0
            if quotas is not None:
                use_up(start + pick, quotas[0], quotas[1], quotas[2], quotas[3])
            if not repeats:
                scores[pick] = -np.inf
            if listens and position + 1 < len(picks):
                if len(items):
                    hold(items, picks, position, weights.held, held)
                if len(weights.smallest):
                    update_distances(rows, pick, weights, least, near, far, position == 0)
                rescore(own, held, near, far, scores, position + 1)
        if picks[0] >= 0:
            gained[0] += weights.first
        number_from(start, picks)
