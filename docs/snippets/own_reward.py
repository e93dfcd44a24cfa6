# [start:function]
import numpy as np

import listwright as lw


def kinds_shown(problem, items):
    """How many of the four kinds the list shows, as a share: 0 for an empty list."""
    shown = problem.features[items][:, :4].any(axis=0)
    return shown.sum() / 4


rng = np.random.default_rng(0)
features = np.eye(4)[rng.integers(4, size=(50, 12))]
problems = lw.Problems.from_arrays(features, reward=lw.rewards.Function(kinds_shown))
model = lw.SCP(length=4, effort="fast", random_state=0).fit(problems[:40])
print(f"{model.score(problems[40:]):.2f}")
# [end:function]

# [start:check]
# silent: the laws hold on all lists tried
lw.checks.check_reward(problems[:5].reward, problems[:5])


def pairs_shown(problem, items):
    return (len(set(items)) // 2) / 6


try:
    lw.checks.check_reward(lw.rewards.Function(pairs_shown), problems[:5])
except lw.checks.LawBroken as error:
    print(error)
# [end:check]


# [start:subclass]
class Reached(lw.rewards.Reward):
    """The highest mark in the list: one number is all that has to be remembered."""

    def __init__(self, marks):
        self.marks = np.asarray(marks, dtype=float)

    def start(self, problems):
        return problems.owners, self.marks, np.zeros(len(problems))

    def gains(self, state):
        owners, marks, best = state
        return np.maximum(marks - best[owners], 0.0)

    def add(self, state, picks):
        owners, marks, best = state
        best, some = best.copy(), picks >= 0
        best[some] = np.maximum(best[some], marks[picks[some]])
        return owners, marks, best

    def value(self, state):
        return state[2]


marked = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=Reached([0.2, 0.9, 0.5]))
print(lw.greedy(marked, length=1)[0])
# [end:subclass]

# [start:mixture]
liked = lw.rewards.AnySuccess(rng.random((50, 12)) < 0.2)
varied = lw.rewards.Coverage(features)
both = problems.with_reward(lw.rewards.WeightedSum([liked, varied], weights=[0.7, 0.3]))
print(both)
# [end:mixture]
