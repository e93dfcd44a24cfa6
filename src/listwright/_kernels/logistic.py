"""The logistic loss of all pairs of a cheaper and a costlier row of a problem, without listing the pairs.

log(1 + exp(x)) does not fall apart into functions of one row each, so the scores are cut into cells, at most `WIDTH`
wide, and the rows are swept by rising cost. Cells keep sums over the rows seen so far:

- near: rows of the same cell or of one beside it are seen through their weights on a few Chebyshev nodes, because
  log(1 + exp(x)) is smooth: its nearest singular points are at +-i pi, so the error falls by 3.4 a node.
- far: other cells are more than `WIDTH` away, and there log(1 + exp(x)) = max(x, 0) - sum over k of (-exp(-|x|))^k / k
  takes a few terms, each a product of one factor a row. The part max(x, 0) is left to `push_pairs`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from listwright._arrays import Floats, Ints
from listwright._kernels.order import sort_within
from listwright._kernels.pairs import cost_ranks, push_pairs

SMALL = 64  # problems as small as this are summed pair by pair, which is faster
WIDTH, N_NODES = 4.0, 24
TERMS = 8  # exp(-WIDTH * TERMS) is 1e-14
REACH = 60.0  # exp(-REACH) is nothing
ANGLES = (np.arange(N_NODES) + 0.5) * np.pi / N_NODES
NODES = 0.5 * WIDTH * (1.0 - np.cos(ANGLES))  # from the start of a cell
BARYCENTRIC = np.sin(ANGLES) * (-1.0) ** np.arange(N_NODES)
FALLS = np.exp(-NODES)


@njit(cache=True, nogil=True)
def _cut(scores: Floats, rows: Ints, cells: Ints, positions: Floats) -> tuple[Floats, Floats]:
    """Cuts rows in score order into cells, and says where the cells start and which places they have.

    `positions` are the scores from the start of their cell, so that scores of any size keep their digits. Places rise
    by 1 from cell to cell, and by 2 over a gap wider than a cell: those whose places differ by 1 are near.
    """
    starts, places, last = np.empty(len(rows)), np.zeros(len(rows)), 0
    starts[0] = scores[rows[0]]
    for row in rows:
        gap = scores[row] - starts[last]
        if gap > WIDTH:
            starts[last + 1] = scores[row]
            places[last + 1] = places[last] + (1.0 if gap <= 2.0 * WIDTH else 2.0)
            last += 1
        cells[row], positions[row] = last, scores[row] - starts[last]
    return starts[: last + 1].copy(), places[: last + 1].copy()


@njit(cache=True, nogil=True, error_model="numpy")
def _add_near(nodes: Floats, position: float, cost: float) -> None:
    """Spreads a row over the nodes of its cell: (2, nodes), by number and by cost."""
    total = 0.0
    for j in range(N_NODES):
        if position == NODES[j]:
            nodes[0, j] += 1.0
            nodes[1, j] += cost
            return
        total += BARYCENTRIC[j] / (position - NODES[j])
    for j in range(N_NODES):
        share = BARYCENTRIC[j] / ((position - NODES[j]) * total)
        nodes[0, j] += share
        nodes[1, j] += share * cost


@njit(cache=True, nogil=True)
def _add_far(powers: Floats, distance: float, cost: float) -> None:
    """Adds exp(-k distance), k = 1, 2, ..., of a row to its cell: (2, terms), by number and by cost."""
    fall, power = math.exp(-distance), 1.0
    for k in range(TERMS):
        power *= fall
        powers[0, k] += power
        powers[1, k] += power * cost


@njit(cache=True, nogil=True)
def _near_loss(nodes: Floats, position: float, cost: float) -> float:
    rise, loss = math.exp(position), 0.0
    for j in range(N_NODES):
        loss += (cost * nodes[0, j] - nodes[1, j]) * math.log1p(rise * FALLS[j])
    return loss


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _near_slope(nodes: Floats, position: float, cost: float) -> float:
    rise, slope = math.exp(position), 0.0
    for j in range(N_NODES):
        odds = rise * FALLS[j]
        slope += (cost * nodes[0, j] - nodes[1, j]) * (odds / (1.0 + odds))
    return slope


@njit(cache=True, nogil=True)
def _far(powers: Floats, distance: float, cost: float) -> tuple[float, float]:
    """Loss of the far rows of one cell, and how steeply it falls with the distance."""
    fall, power, loss, slope = math.exp(-distance), -1.0, 0.0, 0.0
    for k in range(TERMS):
        power *= -fall
        term = power * (cost * powers[0, k] - powers[1, k])
        loss += term / (k + 1)
        slope += term
        if abs(power) < 1e-18:
            break
    return loss, slope


@njit(cache=True, nogil=True)
def _far_cells(
    position: float, cost: float, cell: int, starts: Floats, places: Floats, ups: Floats, downs: Floats
) -> tuple[float, float]:
    """Loss and slope of one row against the far cells, without the part max(x, 0)."""
    loss, slope = 0.0, 0.0
    for j in range(cell - 1, -1, -1):
        distance = starts[cell] - starts[j] + (position - WIDTH)
        if distance > REACH:
            break
        if places[cell] - places[j] > 1.0:
            part, fall = _far(downs[j], distance, cost)
            loss, slope = loss + part, slope - fall
    for j in range(cell + 1, len(starts)):
        distance = starts[j] - starts[cell] - position
        if distance > REACH:
            break
        if places[j] - places[cell] > 1.0:
            part, fall = _far(ups[j], distance, cost)
            loss, slope = loss + part, slope + fall
    return loss, slope


@njit(cache=True, nogil=True)
def _sweep(
    positions: Floats, costs: Floats, cells: Ints, starts: Floats, places: Floats, with_loss: bool
) -> tuple[float, Floats]:
    """Loss of each row against the cheaper ones, summed, and its slope in the score of each row. Costs must rise."""
    nodes = np.zeros((len(starts), 2, N_NODES))
    ups, downs = np.zeros((len(starts), 2, TERMS)), np.zeros((len(starts), 2, TERMS))
    loss, slopes, seen = 0.0, np.zeros(len(positions)), 0
    for b in range(len(positions)):
        while costs[seen] < costs[b]:
            cell = cells[seen]
            _add_near(nodes[cell], positions[seen], costs[seen])
            _add_far(ups[cell], positions[seen], costs[seen])
            _add_far(downs[cell], WIDTH - positions[seen], costs[seen])
            seen += 1
        cell = cells[b]
        part, slopes[b] = _far_cells(positions[b], costs[b], cell, starts, places, ups, downs)
        loss += part
        for j in range(max(cell - 1, 0), min(cell + 2, len(starts))):
            if abs(places[j] - places[cell]) <= 1.0:
                position = positions[b] + (starts[cell] - starts[j])
                slopes[b] += _near_slope(nodes[j], position, costs[b])
                if with_loss:
                    loss += _near_loss(nodes[j], position, costs[b])
    return loss, slopes


@njit(cache=True, nogil=True)
def _far_lines(scores: Floats, costs: Floats, ranks: Ints, keys: Floats, rows: Ints, gradient: Floats) -> float:
    """The part max(x, 0) of the far pairs: x is above 0 where the places of b and a differ by more than 1."""
    pushes, loss = np.zeros(len(rows)), 0.0
    push_pairs(keys, costs[rows], ranks[rows], -1.0, pushes)
    centre = 0.5 * scores[rows[0]] + 0.5 * scores[rows[-1]]
    for i in range(len(rows)):
        gradient[rows[i]] += pushes[i]
        loss += pushes[i] * (scores[rows[i]] - centre)
    return loss


@njit(cache=True, nogil=True)
def _mirrored(values: Any, total: Any) -> Any:
    """How values look from the other row of a pair: backwards, and what is high is low."""
    mirrored = np.empty_like(values)
    for i in range(len(values)):
        mirrored[len(values) - 1 - i] = total - values[i]
    return mirrored


@njit(cache=True, nogil=True)
def _large(scores: Floats, costs: Floats, ranks: Ints, by_score: Ints, by_cost: Ints, gradient: Floats) -> float:
    cells, positions = np.empty(len(scores), dtype=np.int64), np.empty(len(scores))
    starts, places = _cut(scores, by_score, cells, positions)
    loss = _far_lines(scores, costs, ranks, places[cells[by_score]], by_score, gradient)
    h, c, at = positions[by_cost], costs[by_cost] - costs[by_cost[0]], cells[by_cost]
    part, down = _sweep(h, c, at, starts, places, True)
    h, c, at = _mirrored(h, WIDTH), _mirrored(c, c[-1]), _mirrored(at, len(starts) - 1)
    up = _sweep(h, c, at, _mirrored(starts, 0.0), _mirrored(places, 0.0), False)[1]
    for i in range(len(by_cost)):
        gradient[by_cost[i]] += down[i] - up[len(up) - 1 - i]
    return max(loss + part, 0.0)


@njit(cache=True, nogil=True)
def _small(scores: Floats, costs: Floats, by_cost: Ints, gradient: Floats) -> float:
    loss = 0.0
    for i in range(len(by_cost)):
        b = by_cost[i]
        for j in range(i):
            a = by_cost[j]
            weight, x = costs[b] - costs[a], scores[b] - scores[a]
            if weight > 0.0:
                fall = math.exp(-abs(x))
                loss += weight * (max(x, 0.0) + math.log1p(fall))
                push = weight * (1.0 if x > 0.0 else fall) / (1.0 + fall)
                gradient[b] += push
                gradient[a] -= push
    return loss


@njit(cache=True, nogil=True)
def logistic_pairs(scores: Floats, costs: Floats, offsets: Ints) -> tuple[Floats, Floats]:
    """Sum over pairs with c(a) < c(b) of (c(b) - c(a)) log(1 + exp(h(b) - h(a))) by problem, and its gradient by row.

    Cost for a problem of n rows: n log n steps, and a few hundred a row.
    """
    losses, gradient = np.zeros(len(offsets) - 1), np.zeros(len(scores))
    by_cost, by_score = sort_within(costs, offsets), sort_within(scores, offsets)
    ranks = cost_ranks(costs, by_cost, offsets)
    for problem in range(len(losses)):
        start, end = offsets[problem], offsets[problem + 1]
        if end - start <= SMALL:
            losses[problem] = _small(scores, costs, by_cost[start:end], gradient)
        else:
            h, c, g = scores[start:end], costs[start:end], gradient[start:end]
            losses[problem] = _large(h, c, ranks[start:end], by_score[start:end] - start, by_cost[start:end] - start, g)
    return losses, gradient
