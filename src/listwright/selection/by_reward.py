"""Greedy selection by a reward of `listwright.rewards` on a single problem, under all constraints."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.progress import ProgressCallback
from listwright.problems import Problems
from listwright.rewards import Reward
from listwright.selection.constraints import RowConstraints

Picks = tuple[Ints, Floats, Floats, float]  # rows, gains, bounds on further gains, value of the given rows


def select_by_reward(reward: Reward, n: int, constraints: RowConstraints, tick: ProgressCallback) -> Picks:
    """Select rows by greedy on a reward."""
    problem = Problems.from_arrays(np.zeros((n, 1), dtype=np.float32), offsets=[0, n], reward=reward)
    bound: Reward = problem.reward
    compiled = _compiled_greedy(bound, problem, constraints)
    return _lazily(bound, problem, constraints, tick) if compiled is None else compiled


def _compiled_greedy(reward: Reward, problem: Problems, constraints: RowConstraints) -> Picks | None:
    """Use the reward's compiled greedy, which supports costs but neither groups nor given rows; None if it does not
    apply.
    """
    if not constraints.plain or not reward.submodular:
        return None
    found = reward.lazy_lists(problem, constraints.costs, np.array([constraints.budget]), constraints.k)
    if found is None:
        return None
    rows, gains = found[0][0], found[1][0]
    state = reward.start(problem)
    for row in rows[rows >= 0]:
        state = reward.add(state, np.array([row]))
    bounds = reward.gains(state)
    return rows[rows >= 0], gains[rows >= 0], bounds, 0.0


def _lazily(reward: Reward, problem: Problems, constraints: RowConstraints, tick: ProgressCallback) -> Picks:
    """Use old gains as bounds on new ones if the reward is submodular; otherwise measures all rows for every pick."""
    state: Any = reward.start(problem)
    for row in constraints.given:
        state = reward.add(state, np.array([row]))
    before, bounds = float(reward.value(state)[0]), reward.gains(state)
    queue = Queue(bounds / constraints.costs, constraints)
    rows: list[int] = []
    gains: list[float] = []
    while not constraints.done:
        if not reward.submodular and rows:
            bounds = reward.gains(state)
            queue = Queue(bounds / constraints.costs, constraints)
        while not queue.certain(len(rows)):
            row = queue.top()
            bounds[row] = reward.gains_of(state, np.array([row]))[0]
            queue.put(row, bounds[row] / constraints.costs[row], len(rows))
        row = queue.pop()
        state = reward.add(state, np.array([row]))
        constraints.take_row(row)
        rows.append(row)
        gains.append(bounds[row])
        bounds[row] = 0.0
        tick("picking", len(rows), constraints.k)
    return np.array(rows, dtype=np.int64), np.array(gains), bounds, before


class Queue:
    """Open rows by score, the highest first and the lowest row among equals, with the pick each was measured for."""

    def __init__(self, scores: Floats, constraints: RowConstraints) -> None:
        self.constraints = constraints
        self.heap = [(-float(scores[row]), int(row)) for row in np.flatnonzero(constraints.open)]
        self.measured = np.full(len(scores), constraints.n_picked)
        heapify(self.heap)

    def certain(self, position: int) -> bool:
        """Return whether the top row is open and was measured for this pick; remove rows that are no longer open."""
        while not self.constraints.open[self.heap[0][1]]:
            heappop(self.heap)
        return bool(self.measured[self.heap[0][1]] == position)

    def top(self) -> int:
        """Remove the top row and return it."""
        return heappop(self.heap)[1]

    pop = top

    def put(self, row: int, score: float, position: int) -> None:
        """Return a row to the queue with its new score."""
        self.measured[row] = position
        heappush(self.heap, (-score, row))
