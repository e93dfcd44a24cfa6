# %% [markdown]
# # Rows that represent all others
#
# Thirty of two thousand vectors, such as embeddings of images or documents, so that every vector has one among the
# picks that resembles it. Nothing is learned here: what a set of rows is worth can be computed (facility location).

# %%
import numpy as np

import listwright as lw

# %% [markdown]
# ## The data
#
# Eight groups in sixteen dimensions. Groups are not equally large: the smallest has one row in a hundred.

# %%
rng = np.random.default_rng(3)
shares = np.array([0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.04, 0.01])
group = rng.choice(8, size=2000, p=shares)
vectors = (rng.normal(scale=3.0, size=(8, 16))[group] + rng.normal(size=(2000, 16))).astype(np.float32)

# %% [markdown]
# ## Thirty rows
#
# The value of a selection is the sum, over all rows, of the cosine to the nearest pick. How close it is to the best
# possible selection is bounded from these data; 1 - 1/e holds for any.

# %%
selection = lw.select(vectors, 30, random_state=0)
print(selection)
print("first picks:", selection.rows[:8], "of groups", group[selection.rows[:8]])

# %% [markdown]
# ## Against drawing rows at random
#
# The same number of rows drawn at random, two hundred times. Random draws miss small groups.


# %%
def worth(rows):
    """The sum, over all rows, of the cosine to the nearest pick."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return float(np.maximum(unit @ unit[rows].T, 0.0).max(axis=1).sum())


draws = [rng.choice(len(vectors), 30, replace=False) for _ in range(200)]
random_worth = np.mean([worth(rows) for rows in draws])
random_groups = np.mean([len(np.unique(group[rows])) for rows in draws])
print(f"selected: {worth(selection.rows):,.0f}, all {len(np.unique(group[selection.rows]))} groups")
print(f"random:   {random_worth:,.0f}, {random_groups:.1f} groups on average")

# %% [markdown]
# ## The picture: what was picked, and what each pick adds

# %%
both = selection.plot("rows").properties(width=380, height=260) | selection.plot("values").properties(
    width=380, height=260
)
both.save("representatives.png", scale_factor=0.9)
