# [start:sum]
import numpy as np

import listwright as lw
from listwright.features import Candidate, Distance, Position

rng = np.random.default_rng(0)
price, topic = rng.random((200, 10)), rng.integers(3, size=(200, 10))
features = np.concatenate([price[..., None], np.eye(3)[topic]], axis=2)
bought = (topic == rng.integers(3, size=(200, 1))) & (price < 0.6)
problems = lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(bought))
model = lw.SCP(length=3, features=Candidate() + Distance() + Position(), random_state=0).fit(
    problems[:150]
)
print(f"{model.score(problems[150:]):.2f}")
# [end:sum]


# [start:class]
class SpentSoFar(lw.features.Features):
    """What the list costs so far, and how the candidate's price compares with it."""

    group = "price"  # how reasons call these columns

    def start(self, problems):
        return problems, np.zeros(len(problems), dtype=np.float32)

    def columns(self, seen):
        problems, spent = seen
        before = spent[problems.owners]
        return np.stack([before, problems.features[:, 0] - before], axis=1).astype(np.float32)

    def add(self, seen, picks):
        problems, spent = seen
        spent, some = spent.copy(), picks >= 0
        spent[some] += problems.features[picks[some], 0]
        return problems, spent

    def problems_of(self, seen):
        return seen[0]

    def names(self):
        return ["spent so far", "price less that"]


lw.checks.check_features(SpentSoFar(), problems[:20])  # silent: the laws hold
mine = lw.SCP(length=3, features=Candidate() + Distance() + SpentSoFar(), random_state=0).fit(
    problems[:150]
)
print(mine.predict(problems[150:]).explain(0).picks[1])
# [end:class]
