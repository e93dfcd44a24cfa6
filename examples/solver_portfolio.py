# %% [markdown]
# # A portfolio of solvers: which to try, and in which order
#
# No solver is best on all instances, and two solvers of one family fail on the same ones. A good second solver is
# one that works where the first does not. The same holds for starting points of a planner, or seeds of a search.

# %%
import os

import numpy as np

import listwright as lw

PUBLISHED = "LISTWRIGHT_DATA" in os.environ  # or True: ASlib is downloaded then, once

# %% [markdown]
# ## The data
#
# An ASlib scenario: instances with features, and which solver solved which. Without it, made-up instances: points in
# a plane, and solvers of four families. The idea of a family works near its home, for all three of its solvers or
# none.

# %%
if PUBLISHED:
    scenario = lw.datasets.read_aslib("aslib/SAT12-HAND")
    problems, folds = scenario.problems, scenario.folds % 5
else:
    rng = np.random.default_rng(0)
    instances = rng.uniform(-1, 1, size=(400, 2))
    homes = rng.uniform(-1, 1, size=(4, 2))
    distance = np.linalg.norm(instances[:, None] - homes[None], axis=2)
    idea_works = rng.random(distance.shape) < np.exp(-1.5 * distance**2)
    solved = np.repeat(idea_works, 3, axis=1) & (rng.random((400, 12)) < 0.9)
    kept = solved.any(axis=1)
    problems = lw.Problems.from_arrays(
        np.zeros((int(kept.sum()), 12, 0)),
        context=np.concatenate([instances, instances**2, instances[:, :1] * instances[:, 1:]], axis=1)[kept],
        catalogue=np.arange(12),
        item_ids=[f"solver {i // 3 + 1}{'abc'[i % 3]}" for i in range(12)] * int(kept.sum()),
        reward=lw.rewards.AnySuccess(solved[kept]),
    )
    folds = np.arange(len(problems)) % 5
print(problems)

# %% [markdown]
# ## Lists of up to five solvers, on instances not seen

# %%
methods = {
    "SCP": lw.SCP(5, effort="fast", random_state=0),
    "near instances, greedy cover": lw.baselines.NearestCover(length=5),
    "sorted by a regression": lw.baselines.TopK("ridge", 5),
    "sorted by extra-trees": lw.baselines.TopK("extra_trees", 5, random_state=0),
    "one fixed list": lw.baselines.StaticList(5),
}
comparison = lw.compare(methods, problems, folds=folds, lengths=(1, 2, 3, 5))
print(comparison)
print(comparison.differences("SCP", pooled=True))

# %% [markdown]
# ## One list, with reasons

# %%
print(lw.SCP(3, effort="fast", random_state=0).fit(problems[:-1]).predict(problems[-1:]).explain(0))

# %% [markdown]
# ## The picture: instances that no solver of the list solves

# %%
chart = comparison.plot("failure").properties(width=420, height=260)
chart.save("solver_portfolio.png", scale_factor=2)
