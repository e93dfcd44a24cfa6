# [start:arrays]
import numpy as np

import listwright as lw

rng = np.random.default_rng(0)
# 400 readers, 20 articles each: 0 sport, 1 music, 2 food
kind = rng.integers(3, size=(400, 20))
quality = rng.random((400, 20))
# what is known before anyone reads
features = np.concatenate([np.eye(3)[kind], quality[..., None]], axis=2)
wanted = rng.integers(3, size=(400, 1))  # the kind that a reader wants: nobody tells us
clicked = (kind == wanted) & (quality > 0.7)  # what the log says afterwards
# [end:arrays]

# [start:problems]
problems = lw.Problems.from_arrays(
    features,
    # a list is worth 1 where the reader clicks on any of it
    reward=lw.rewards.AnySuccess(clicked),
    feature_names=["sport", "music", "food", "quality"],
)
past, new = problems[:300], problems[300:]
print(past)
# [end:problems]

# [start:fit]
model = lw.SCP(length=3, random_state=0).fit(past)
lists = model.predict(new)
print(lists)
print("items of the first list:", lists[0])
# [end:fit]

# [start:score]
top = lw.baselines.TopK(length=3).fit(past)  # predicts clicks one article at a time, and sorts
print(f"readers who click, sorted:  {top.score(new):.2f}")
print(f"readers who click, learned: {model.score(new):.2f}")
best = lw.greedy(new, length=3)  # knows the clicks: nobody can do this for new readers
print(f"readers who click, best:    {best.values.mean():.2f}")
# [end:score]

# [start:reasons]
print(lists.explain(0))
# [end:reasons]

# [start:compare]
methods = {
    "SCP": lw.SCP(length=3, random_state=0),
    "one learner per position": lw.ConSeqOpt(length=3, random_state=0),
    "sorted": lw.baselines.TopK(),
    "MMR": lw.baselines.MMR(0.5, relevance="quality"),
}
comparison = lw.compare(methods, problems, folds=4, lengths=(1, 2, 3))
print(comparison)
# [end:compare]

# [start:certificate]
online = lw.SCP(length=3, n_passes=1, batch_size=1, learner="ridge", random_state=0).fit(past)
print(online.online_certificate())
# [end:certificate]

# [start:save]
model.save("readers.listwright")
again = lw.load("readers.listwright")
assert again.predict(new) == lists
# [end:save]

# [start:frame]
frame = lists.to_frame()  # pandas, polars or pyarrow: what is installed
print(list(frame.columns), len(frame))
# [end:frame]
