# --8<-- [start:online]
import numpy as np

import listwright as lw

rng = np.random.default_rng(0)


def visitors(n):
    return lw.Problems.from_arrays(rng.random((n, 10, 3)))


def clicks(problems, lists):
    """Visitors click on items with a large first feature."""
    return rng.random(lists.rows.shape) < problems.features[lists.rows, 0] ** 2


learner = lw.OnlineSCP(length=3, random_state=0)
log = lw.feedback.Log()
for hour in range(40):
    problems = visitors(25)
    ids = [f"{hour}:{i}" for i in range(25)]  # an id a list; left out, they are drawn
    # draws items, and knows the chance of each pick
    lists = learner.recommend(problems, list_ids=ids)
    shown = clicks(problems, lists)
    learner.feedback(ids, shown)  # may come later, in any order, or never
    log.append(lists)
    log.feedback(ids, shown)
print(log)
# --8<-- [end:online]

# --8<-- [start:off_policy]
careful = lw.OnlineSCP(length=3, random_state=0).fit_log(log)  # learned from the log alone
print(lw.feedback.evaluate(log, careful))  # what it would have earned from the same visitors
# --8<-- [end:off_policy]

# --8<-- [start:warm]
problems = visitors(300)
measured = problems.with_reward(lw.rewards.AnySuccess(problems.features[:, 0] > 0.8))
model = lw.SCP(length=3, random_state=0).fit(measured)
# goes on from what was learned with all clicks known
warm = lw.OnlineSCP.from_model(model, random_state=0)
print(warm.recommend(visitors(1)))
# --8<-- [end:warm]

# --8<-- [start:file]
log.to_parquet("log.parquet")
print(lw.feedback.Log.from_parquet("log.parquet"))
# --8<-- [end:file]
