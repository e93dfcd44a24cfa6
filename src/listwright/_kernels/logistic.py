"""The logistic loss of all pairs of a cheaper and a costlier row of a problem, without listing the pairs.

log(1 + exp(x)) does not fall apart into functions of one row each, so the scores are cut into cells, at most `WIDTH`
wide, and the rows are swept by rising cost. Cells keep sums over all rows, and over those seen so far:

- near: rows of the same cell or of a neighbouring one are seen through their weights on a few nodes. These are
  Chebyshev's, because log(1 + exp(x)) is smooth: its nearest singular points are at +-i pi, so the error falls by 3.4
  per node. In a cell with fewer rows than that, each row is a node.
- far: other cells are more than `WIDTH` away, and there log(1 + exp(x)) = max(x, 0) - sum over k of (-exp(-|x|))^k / k
  takes a few terms, each a product of one factor per row. The part max(x, 0) is left to `push_pairs`.

A pair pushes both of its rows: with s(x) = 1 / (1 + exp(-x)) its slope is w s(h(b) - h(a)) in h(b), and in h(a) minus
that, which is w s(h(a) - h(b)) - w. So one sweep gives both, from what the cheaper and what all rows weigh.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from listwright._internal.arrays import Floats, Ints
from listwright._kernels.losses import cost_ranks, push_pairs
from listwright._kernels.order import sort_within

WIDTH, N_NODES = 4.0, 24
TERMS = 8  # exp(-WIDTH * TERMS) is 1e-14
REACH = 45.0  # exp(-REACH) is nothing
ANGLES = (np.arange(N_NODES) + 0.5) * np.pi / N_NODES
NODES = 0.5 * WIDTH * (1.0 - np.cos(ANGLES))  # from the start of a cell
BARYCENTRIC = np.sin(ANGLES) * (-1.0) ** np.arange(N_NODES)
FALLS = np.exp(-NODES)


@njit(cache=True, nogil=True)
def _cut(scores: Floats, rows: Ints, cells: Ints, positions: Floats, starts: Floats, places: Floats) -> int:
    """Cut rows in score order into cells, write where these start and which places they have, and returns their
    number.
    """
    last, starts[0], places[0] = 0, scores[rows[0]], 0.0
    for row in rows:
        gap = scores[row] - starts[last]
        if gap > WIDTH:
            starts[last + 1] = scores[row]
            places[last + 1] = places[last] + (1.0 if gap <= 2.0 * WIDTH else 2.0)
            last += 1
        cells[row], positions[row] = last, scores[row] - starts[last]
    return last + 1


@njit(cache=True, nogil=True)
def _lay_nodes(rows: Ints, cells: Ints, positions: Floats, own: Ints, firsts: Ints, falls: Floats) -> None:
    """Write the nodes of each cell, as exp(-position); `own` is the node that a row itself is, -1 if it is none."""
    start, node = 0, 0
    while start < len(rows):
        cell, end = cells[rows[start]], start
        while end < len(rows) and cells[rows[end]] == cell:
            end += 1
        firsts[cell] = node
        if end - start > N_NODES:
            for row in rows[start:end]:
                own[row] = -1
            for i in range(N_NODES):
                falls[node + i] = FALLS[i]
            node += N_NODES
        else:
            for row in rows[start:end]:
                own[row], falls[node] = node, math.exp(-positions[row])
                node += 1
        firsts[cell + 1], start = node, end


@njit(cache=True, nogil=True, error_model="numpy")
def _add_near(sums: Floats, first: int, own: int, position: float, cost: float) -> None:
    """Add a row to its node, or spreads it over the nodes of its cell."""
    if own < 0:
        total = 0.0
        for j in range(N_NODES):
            if position == NODES[j]:
                own = first + j
                break
            total += BARYCENTRIC[j] / (position - NODES[j])
    if own >= 0:
        sums[0, own] += 1.0
        sums[1, own] += cost
        return
    for j in range(N_NODES):
        share = BARYCENTRIC[j] / ((position - NODES[j]) * total)
        sums[0, first + j] += share
        sums[1, first + j] += share * cost


@njit(cache=True, nogil=True)
def _near_loss(near: Floats, falls: Floats, rise: float, cost: float) -> float:
    """Return the loss of one row against the seen rows of a near cell, through the nodes."""
    loss = 0.0
    for j in range(len(falls)):
        weight = cost * near[0, j] - near[1, j]
        if weight != 0.0:
            loss += weight * math.log(1.0 + rise * falls[j])
    return loss


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _near_slope(near: Floats, falls: Floats, rise: float, cost: float) -> float:
    """Return the slope of one row against the rows of a near cell, through the nodes."""
    slope = 0.0
    for j in range(len(falls)):
        odds = rise * falls[j]
        cheaper, every = cost * near[0, j] - near[1, j], cost * near[2, j] - near[3, j]
        slope += (2.0 * cheaper - every) * (odds / (1.0 + odds)) + (every - cheaper)
    return slope


@njit(cache=True, nogil=True)
def _add_far(powers: Floats, position: float, cost: float) -> None:
    """Add exp(-k distance), k = 1, 2, ..., from below and from above: shape (2 sides, 2, terms), by number and
    by cost.
    """
    for side in range(2):
        fall, power = math.exp(position - WIDTH if side else -position), 1.0
        for k in range(TERMS):
            power *= fall
            powers[side, 0, k] += power
            powers[side, 1, k] += power * cost


@njit(cache=True, nogil=True)
def _far(seen: Floats, every: Floats, distance: float, cost: float) -> tuple[float, float]:
    """Return the loss against the seen rows of one far cell, and how steeply that against all decreases with the
    distance.
    """
    fall, power, loss, slope = math.exp(-distance), -1.0, 0.0, 0.0
    for k in range(TERMS):
        power *= -fall
        cheaper = cost * seen[0, k] - seen[1, k]
        loss += power * cheaper / (k + 1)
        slope += power * (2.0 * cheaper - (cost * every[0, k] - every[1, k]))
        if abs(power) < 1e-18:
            break
    return loss, slope


@njit(cache=True, nogil=True)
def _far_cells(
    position: float, cost: float, cell: int, starts: Floats, places: Floats, powers: Floats
) -> tuple[float, float]:
    """Return loss and slope of one row against the far cells, without the part max(x, 0)."""
    loss, slope = 0.0, 0.0
    for j in range(cell - 1, -1, -1):
        distance = starts[cell] - starts[j] + (position - WIDTH)
        if distance > REACH:
            break
        if places[cell] - places[j] > 1.0:
            part, fall = _far(powers[0, j, 1], powers[1, j, 1], distance, cost)
            loss, slope = loss + part, slope - fall
    for j in range(cell + 1, len(starts)):
        distance = starts[j] - starts[cell] - position
        if distance > REACH:
            break
        if places[j] - places[cell] > 1.0:
            part, fall = _far(powers[0, j, 0], powers[1, j, 0], distance, cost)
            loss, slope = loss + part, slope + fall
    return loss, slope


@njit(cache=True, nogil=True)
def _far_lines(scores: Floats, costs: Floats, ranks: Ints, keys: Floats, rows: Ints, gradient: Floats) -> float:
    """Return the part max(x, 0) of the far pairs: x is above 0 if the places of b and a differ by more than 1."""
    pushes, loss = np.zeros(len(rows)), 0.0
    push_pairs(keys, costs[rows], ranks[rows], -1.0, pushes)
    centre = 0.5 * scores[rows[0]] + 0.5 * scores[rows[-1]]
    for i in range(len(rows)):
        gradient[rows[i]] += pushes[i]
        loss += pushes[i] * (scores[rows[i]] - centre)
    return loss


@njit(cache=True, nogil=True)
def _sweep(
    costs: Floats,
    by_cost: Ints,
    cells: Ints,
    positions: Floats,
    own: Ints,
    starts: Floats,
    places: Floats,
    firsts: Ints,
    falls: Floats,
    near: Floats,
    gradient: Floats,
) -> float:
    """Return the loss and write the gradient, without the part max(x, 0) of the far pairs."""
    low, loss, seen, far = costs[by_cost[0]], 0.0, 0, places[-1] > 1.0
    powers = np.zeros((2, len(places) if far else 0, 2, 2, TERMS))
    near[:] = 0.0
    for row in by_cost:
        _add_near(near[2:], firsts[cells[row]], own[row], positions[row], costs[row] - low)
        if far:
            _add_far(powers[1, cells[row]], positions[row], costs[row] - low)
    for b in by_cost:
        while costs[by_cost[seen]] < costs[b]:
            a = by_cost[seen]
            _add_near(near[:2], firsts[cells[a]], own[a], positions[a], costs[a] - low)
            if far:
                _add_far(powers[0, cells[a]], positions[a], costs[a] - low)
            seen += 1
        cell, cost = cells[b], costs[b] - low
        for j in range(max(cell - 1, 0), min(cell + 2, len(places))):
            if abs(places[j] - places[cell]) <= 1.0:
                nodes, rise = slice(firsts[j], firsts[j + 1]), math.exp(positions[b] + (starts[cell] - starts[j]))
                gradient[b] += _near_slope(near[:, nodes], falls[nodes], rise, cost)
                loss += _near_loss(near[:, nodes], falls[nodes], rise, cost) if seen else 0.0
        if far:
            part, slope = _far_cells(positions[b], cost, cell, starts, places, powers)
            loss, gradient[b] = loss + part, gradient[b] + slope
    return loss


@njit(cache=True, nogil=True)
def logistic_pairs(scores: Floats, costs: Floats, offsets: Ints) -> tuple[Floats, Floats]:
    """Return the pairwise logistic loss and its gradient."""
    n, losses, gradient = len(scores), np.zeros(len(offsets) - 1), np.zeros(len(scores))
    by_cost, by_score = sort_within(costs, offsets), sort_within(scores, offsets)
    ranks = cost_ranks(costs, by_cost, offsets)
    most = 0
    for problem in range(len(losses)):
        most = max(most, offsets[problem + 1] - offsets[problem])
    cells, own, firsts = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(most + 1, dtype=np.int64)
    positions, starts, places, falls, near = (
        np.empty(n),
        np.empty(most),
        np.empty(most),
        np.empty(most),
        np.empty((4, most)),
    )
    for problem in range(len(losses)):
        start, end = offsets[problem], offsets[problem + 1]
        if start == end or ranks[by_cost[end - 1]] == 1:
            continue  # all cost the same
        rows, last = by_score[start:end], _cut(scores, by_score[start:end], cells, positions, starts, places)
        _lay_nodes(rows, cells, positions, own, firsts, falls)
        s, p, work = starts[:last], places[:last], near[:, : end - start]
        loss = _sweep(costs, by_cost[start:end], cells, positions, own, s, p, firsts, falls, work, gradient)
        if p[-1] > 1.0:
            loss += _far_lines(scores, costs, ranks, p[cells[rows]], rows, gradient)
        losses[problem] = max(loss, 0.0)
    return losses, gradient
