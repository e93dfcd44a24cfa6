# [start:budget]
import numpy as np

import listwright as lw

rng = np.random.default_rng(0)
# 15 passages per question, 8 facts that an answer may need
topics = rng.random((120, 15, 8)) < 0.2
tokens = rng.integers(20, 120, size=(120, 15))
features = np.concatenate(
    [topics + rng.normal(0, 0.3, topics.shape), tokens[..., None]], axis=2
)
problems = lw.Problems.from_arrays(features, sizes=tokens, reward=lw.rewards.Coverage(topics))

# gains per token are learned
model = lw.SCP(budget=300, effort="fast", random_state=0).fit(problems[:100])
lists = model.predict(problems[100:])
used = [int(problems[100 + i].sizes[items].sum()) for i, items in enumerate(lists)]
print(lists, "| tokens used: at most", max(used))
# [end:budget]

# [start:other]
short = model.predict(problems[100:], budget=150)  # another budget than trained with
# one for each problem
own = model.predict(problems[100:], budget=np.arange(100, 400, 15))
both = model.predict(problems[100:], budget=300, length=3)  # at most three items as well
print(short.lengths.mean(), own.lengths.mean(), both.lengths.max())
# [end:other]

# [start:greedy]
# where the reward can be measured there is nothing to learn
best = lw.greedy(problems[100:], budget=300)
print(best)
# [end:greedy]

# [start:groups]
# which of four sources a passage is from
sources = rng.choice(["wiki", "news", "forum", "blog"], size=(120, 15))
grouped = lw.Problems.from_arrays(features, groups=sources, reward=lw.rewards.Coverage(topics))
model = lw.SCP(length=4, per_group=1, random_state=0).fit(grouped[:100])
print(sources[100][model.predict(grouped[100:])[0]])
print(
    lw.greedy(grouped[100:], length=4, per_group={"wiki": 2, "news": 1, "forum": 1, "blog": 0})
)
# [end:groups]
