# [start:problem]
import numpy as np
from pyversity import diversify

import listwright as lw

rng = np.random.default_rng(0)
embeddings, scores = rng.random((100, 32)), rng.random(100).astype(np.float32)

problem = lw.Problems.from_arrays(scores[None, :, None], vectors=embeddings[None])
# [end:problem]

# [start:mmr]
theirs = diversify(embeddings, scores, k=10, strategy="mmr", diversity=0.3).indices
ours = lw.baselines.MMR(diversity=0.3, relevance=0, length=10).fit(problem).predict(problem)[0]
# [end:mmr]
print(np.array_equal(theirs, ours))

# [start:dpp]
theirs = diversify(embeddings, scores, k=10, strategy="dpp", diversity=0.3).indices
# pyversity does this inside
standard = ((scores - scores.mean()) / scores.std())[None, :, None]
same = lw.Problems.from_arrays(standard, vectors=embeddings[None])
ours = lw.baselines.DPP(scale=2 * (1 - 0.3), relevance=0, length=10).fit(same).predict(same)[0]
# [end:dpp]
print(np.array_equal(theirs, ours))
