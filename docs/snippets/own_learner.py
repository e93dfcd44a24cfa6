import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

import listwright as lw
from listwright.learners.examples import center_by_state

# [start:estimator]
rng = np.random.default_rng(0)
x = rng.random((200, 10, 3))
# good in the middle: no line says that
good = (np.abs(x[..., 0] - 0.5) < 0.2) & (rng.random((200, 10)) < 0.6)
problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(good))
past, new = problems[:150], problems[150:]

trees = ExtraTreesRegressor(n_estimators=50, min_samples_leaf=5, random_state=0)
for name, learner in {"ridge": "ridge", "trees": trees}.items():
    model = lw.SCP(length=2, learner=learner, n_passes=2, random_state=0).fit(past)
    print(f"{name}: {model.score(new):.2f}")
# [end:estimator]


# [start:class]
class Signs(lw.learners.Learner):
    """One vote per column: up where gains went up with it, down where they went down."""

    def learn(self, examples):
        # rows that were options, in states where something is left to gain
        rows, offsets = examples.used_rows
        if not len(rows):
            return
        # only differences within a state matter
        gains = center_by_state(examples.gains[rows], offsets)
        votes = examples.weight * (gains @ examples.rows.table[rows])
        self.votes_ = votes if not hasattr(self, "votes_") else self.votes_ + votes

    def policy(self):
        return lw.policies.Linear(np.sign(self.votes_))


lw.checks.check_learner(Signs())  # silent: the laws hold
noisy = x[..., 1] + 0.3 * np.random.default_rng(1).random((200, 10))
line = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(noisy > 0.9))
model = lw.SCP(length=2, learner=Signs(), random_state=0).fit(line[:150])
print(f"signs: {model.score(line[150:]):.2f}")
# [end:class]
