# [start:online]
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
    ids = [f"{hour}:{i}" for i in range(25)]  # an id per list; left out, they are drawn
    # draws items, and knows the chance of each pick
    lists = learner.recommend(problems, list_ids=ids)
    shown = clicks(problems, lists)
    learner.feedback(ids, shown)  # may come later, in any order, or never
    log.append(lists)
    log.feedback(ids, shown)
print(log)
log.to_parquet("log.parquet")
# [end:online]

# [start:fit]
log = lw.feedback.Log.from_parquet("log.parquet")
first = lw.OnlineSCP(length=3, random_state=0).fit_log(log)
visitor = lw.Problems.from_arrays(np.random.default_rng(1).random((1, 10, 3)))
print(first.predict(visitor).explain(0))
# [end:fit]

# [start:off_policy]
print(lw.feedback.evaluate(log, first.predict))  # what its lists would have been worth
# [end:off_policy]

# [start:compare]
comparison = lw.feedback.compare(log, {"first": first.predict, "today": "logged"})
print(comparison.advice)
print(lw.feedback.safe_rollout(log, first.predict))
# [end:compare]
