# [start:class]
import numpy as np

import listwright as lw


class CappedSum(lw.rewards.Reward):
    """The sum of what the items hold, up to a cap: vitamins in a meal, minutes of a playlist.

    >>> amounts = [0.5, 0.4, 0.3]
    >>> problems = lw.Problems.from_arrays(
    ...     np.zeros((1, 3, 1)), reward=CappedSum(amounts, cap=0.8)
    ... )
    >>> lw.greedy(problems, length=2).values
    array([1.])
    """

    def __init__(self, amounts, *, cap=1.0):
        self.amounts = np.asarray(amounts, dtype=np.float64)
        self.cap = cap

    def start(self, problems):
        return problems.owners, np.zeros(len(problems))

    def gains(self, state):
        owners, held = state
        return np.minimum(self.amounts / self.cap, 1.0 - held[owners])

    def add(self, state, picks):
        owners, held = state
        picked, held = picks >= 0, held.copy()
        held[picked] = np.minimum(held[picked] + self.amounts[picks[picked]] / self.cap, 1.0)
        return owners, held

    def value(self, state):
        return state[1]


# [end:class]

# [start:check]
problems = lw.Problems.from_arrays(
    np.zeros((1, 3, 1)), reward=CappedSum([0.5, 0.4, 0.3], cap=0.8)
)
lw.checks.check_reward(problems.reward, problems)  # silent: the laws hold on all lists tried
print(lw.greedy(problems, length=2).values)
# [end:check]
