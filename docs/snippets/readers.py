import numpy as np

import listwright as lw

rng = np.random.default_rng(0)
# 300 readers, 20 articles each
kind, quality = rng.integers(3, size=(300, 20)), rng.random((300, 20))
features = np.concatenate([np.eye(3)[kind], quality[..., None]], axis=2)
clicked = (kind == rng.integers(3, size=(300, 1))) & (quality > 0.7)
problems = lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(clicked))

model = lw.SCP(length=3, random_state=0).fit(problems[:200])  # readers whose clicks are known
print(model.predict(problems[200:])[0], round(model.score(problems[200:]), 2))
