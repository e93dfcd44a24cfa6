import numpy as np
from apricot import FacilityLocationSelection
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import cosine_similarity

import listwright as lw

# [start:data]
x = np.random.default_rng(0).random((200, 6))
# [end:data]


# [start:ours]
def select(similarity, k):
    problem = lw.Problems.from_arrays(
        np.zeros((1, len(similarity), 1)), reward=lw.rewards.FacilityLocation(similarity)
    )
    return lw.greedy(problem, length=k)


# [end:ours]

# [start:euclidean]
theirs = FacilityLocationSelection(10).fit(x).ranking
squared = pairwise_distances(x, metric="sqeuclidean")
ours = select(squared.max() - squared, 10)[0]
# [end:euclidean]
print(np.array_equal(theirs, ours))

# [start:cosine]
theirs = FacilityLocationSelection(10, metric="cosine").fit(x).ranking
ours = select(cosine_similarity(x) ** 2, 10)[0]
# [end:cosine]
print(np.array_equal(theirs, ours))

# [start:precomputed]
similarity = cosine_similarity(x)
theirs = FacilityLocationSelection(10, metric="precomputed").fit(similarity).ranking
ours = select(similarity, 10)[0]
# [end:precomputed]
print(np.array_equal(theirs, ours))

# [start:select]
theirs = FacilityLocationSelection(10).fit(x).ranking
ours = lw.select(x, 10, metric="euclidean").rows
# [end:select]
print(np.array_equal(theirs, ours))
