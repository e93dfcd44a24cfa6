# %% [markdown]
# # Recommendations: a list in which a user finds something
#
# Each user gets a list of a few items. Five good items of the same kind are a bad bet: they all please the user, or
# none does. The program learns from past users, and builds lists for users it has not seen.

# %%
import os

import numpy as np

import listwright as lw

PUBLISHED = "LISTWRIGHT_DATA" in os.environ  # or True: MovieTweetings is downloaded then, once

# %% [markdown]
# ## The data
#
# MovieTweetings: users with the movies that they rated later, cut by time so that nothing looks ahead. A list is worth
# the share of a user's liked genres in which it holds a movie that the user likes.
# Without it, made-up readers of news: 75 readers with tastes, 100 articles with topics; a list is worth something as
# soon as the reader likes one article of it.

# %%
if PUBLISHED:
    movies = lw.datasets.read_movies("movietweetings100k", reward="genres")
    known = movies.problems[movies.problems.counts >= 10]
    decided = movies.decided[movies.problems.counts >= 10]
    order = np.argsort(decided, kind="stable")
    cut = int(0.7 * len(order))
    past, new = known[np.sort(order[:cut])], known[np.sort(order[cut:])]
else:
    world = lw.simulate.news.news(random_state=0)
    past = world.visits(range(60), per_user=4, random_state=1)
    new = world.visits(range(60, 75), per_user=6, sampled=False, random_state=2)
print(past)
print(new)

# %% [markdown]
# ## Ways to build a list
#
# Sorting looks at one item at a time. MMR takes the same predictions and keeps items apart by a fixed measure.
# ConSeqOpt trains one learner for each position. SCP trains one policy for all positions, which sees the list so far.

# %%
methods = {
    "SCP": lw.SCP(5, effort="fast", random_state=0),
    "one learner per position": lw.ConSeqOpt(5, random_state=0),
    "sorted by a regression": lw.baselines.TopK("ridge", 5),
    "the same with MMR": lw.baselines.MMR(0.3, "ridge", 5),
    "random": lw.baselines.Random(5, random_state=0),
}
comparison = lw.compare(methods, past, test=new, lengths=(1, 2, 3, 4, 5))
print(comparison)

# %% [markdown]
# ## Why these items?

# %%
model = methods["SCP"].fit(past)
print(model.predict(new).explain(0))

# %% [markdown]
# ## The picture: what lists are worth

# %%
chart = comparison.plot().properties(width=420, height=260)
chart.save("recommendations.png", scale_factor=2)
