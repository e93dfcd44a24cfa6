# [start:recommend]
import pandas as pd

import listwright as lw

past = pd.DataFrame(lw.simulate.readers.table(300, random_state=0))
new = pd.DataFrame(lw.simulate.readers.table(5, first=300, clicks=False, random_state=1))
model = lw.SCP(3, effort="fast", random_state=0).fit(past, reward="any:clicked")
print(model.predict(new).item_ids[0])
# [end:recommend]

# [start:solvers]
import listwright as lw

train, test = lw.simulate.trajectory.problems()  # thirty seeds of a planner: the catalogue
model = lw.SCP(3, effort="fast", random_state=0).fit(train)
print(f"one of three seeds succeeds in {model.score(test):.0%} of the environments")
# [end:solvers]

# [start:summaries]
from listwright.text import Budget, Cluster, split_sentences, summarize

reports = [
    "Floods cut off two villages in the north on Monday. The river rose three metres in a day.",
    "Two villages in the north were cut off by floods. Rescue teams reached them by boat.",
]
cluster = Cluster.from_documents("floods", [split_sentences(report) for report in reports])
print(summarize([cluster], Budget(120, "bytes"))[0].text)
# [end:summaries]

# [start:clicks]
import numpy as np

import listwright as lw

rng = np.random.default_rng(0)
learner = lw.OnlineSCP(length=3, random_state=0)
for hour in range(20):
    visitors = lw.Problems.from_arrays(rng.random((25, 10, 3)))
    ids = [f"{hour}:{i}" for i in range(25)]
    lists = learner.recommend(visitors, list_ids=ids)
    learner.feedback(ids, rng.random(lists.rows.shape) < visitors.features[lists.rows, 0])
print(learner.version, "lists with feedback")
# [end:clicks]
