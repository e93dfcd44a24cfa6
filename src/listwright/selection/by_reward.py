"""Greedy selection by a reward of `listwright.rewards` on a single problem, under all rules."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.progress import ProgressCallback
from listwright.problems import Problems
from listwright.rewards import Reward
from listwright.selection.rules import Rules


def select_by_reward(
    reward: Reward, n: int, rules: Rules, tick: ProgressCallback
) -> tuple[Ints, Floats, Floats, float]:
    """Select rows by greedy on a reward."""
    problem = Problems.from_arrays(np.zeros((n, 1), dtype=np.float32), offsets=[0, n], reward=reward)
    bound: Reward = problem.reward
    compiled = _compiled(bound, problem, rules)
    return _lazily(bound, problem, rules, tick) if compiled is None else compiled


def _compiled(reward: Reward, problem: Problems, rules: Rules) -> tuple[Ints, Floats, Floats, float] | None:
    """Use the reward's compiled greedy, which supports costs but neither groups nor given rows; None if it does not
    apply.
    """
    if rules.grouped or len(rules.given) or not reward.submodular:
        return None
    found = reward.lazy_lists(problem, rules.costs, np.array([rules.left]), rules.k)
    if found is None:
        return None
    rows, gains = found[0][0], found[1][0]
    state = reward.start(problem)
    for row in rows[rows >= 0]:
        state = reward.add(state, np.array([row]))
    bounds = reward.gains(state)
    return rows[rows >= 0], gains[rows >= 0], bounds, 0.0


def _lazily(
    reward: Reward, problem: Problems, rules: Rules, tick: ProgressCallback
) -> tuple[Ints, Floats, Floats, float]:
    """Use old gains as bounds on new ones if the reward is submodular; otherwise measures all rows for every pick."""
    state: Any = reward.start(problem)
    for row in rules.given:
        state = reward.add(state, np.array([row]))
    before, bounds = float(reward.value(state)[0]), reward.gains(state)
    queue = Queue(bounds / rules.costs, rules)
    rows: list[int] = []
    gains: list[float] = []
    while not rules.done:
        if not reward.submodular and rows:
            bounds = reward.gains(state)
            queue = Queue(bounds / rules.costs, rules)
        while not queue.certain(len(rows)):
            row = queue.top()
            bounds[row] = reward.gains_of(state, np.array([row]))[0]
            queue.put(row, bounds[row] / rules.costs[row], len(rows))
        row = queue.pop()
        state = reward.add(state, np.array([row]))
        rules.take(row)
        rows.append(row)
        gains.append(bounds[row])
        bounds[row] = 0.0
        tick("picking", len(rows), rules.k)
    return np.array(rows, dtype=np.int64), np.array(gains), bounds, before


class Queue:
    """Open rows by score, the highest first and the lowest row among equals, with the pick each was measured for."""

    def __init__(self, scores: Floats, rules: Rules) -> None:
        self.rules = rules
        self.heap = [(-float(scores[row]), int(row)) for row in np.flatnonzero(rules.open)]
        self.measured = np.full(len(scores), rules.n_picked)
        heapify(self.heap)

    def certain(self, position: int) -> bool:
        """Return whether the top row is open and was measured for this pick; remove rows that are no longer open."""
        while not self.rules.open[self.heap[0][1]]:
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
