# %% [markdown]
# # From a log to a second rollout, with rules
#
# A shop shows three of eight products, at most two of a brand, and one product that it promotes always stands first. It
# learns a model from its log, asks the log what the model would earn under the same rules, plans how long to try it,
# shows it, and learns a second model from what came back.

# %%
import numpy as np

import listwright as lw
from listwright.feedback import Log, compare, plan

PRODUCTS, LENGTH = 8, 3
BRANDS = np.array(["north", "south"])[np.arange(PRODUCTS) % 2]
rng = np.random.default_rng(0)


def visits(n):
    """Visitors with their candidates; row 5 of each is promoted, and row 0 is out of stock."""
    problems = lw.Problems.from_arrays(rng.random((n, PRODUCTS, 3)), groups=np.tile(BRANDS, (n, 1)))
    starts = problems.offsets[:-1]
    return problems.with_constraints(per_group=2, pin=starts + 5, exclude=starts)


def clicks(lists):
    """Visitors like what is cheap (the first number) and good (the second)."""
    seen = lists.problems.features[lists.rows]
    return rng.random(lists.rows.shape) < 0.5 * (1.0 - seen[..., 0]) * seen[..., 1]


def show(policy, n, name):
    """Lists of a policy, with what came back, as a log."""
    lists = policy.recommend(visits(n), list_ids=[f"{name} {i}" for i in range(n)])
    log = Log()
    log.append(lists)
    log.feedback(lists.list_ids, clicks(lists))
    return log


# %% [markdown]
# The first log comes from a policy that draws evenly within the rules. The promoted product has the propensity 1.

# %%
first_log = show(lw.OnlineSCP(LENGTH, random_state=0), 4000, "first")
print(first_log)
first = lw.OnlineSCP(LENGTH, explore=lw.feedback.explore.Floor(lw.feedback.explore.InverseGap(), 0.1), random_state=1)
first.fit_log(first_log)
print(compare(first_log, {"first": first.predict, "today": "logged"}).advice)
print(plan(first_log, first.predict, loss_budget=0.05))

# %% [markdown]
# The model is shown, with a floor under its exploration, and a second one learns from both logs.

# %%
second_log = show(first, 4000, "second")
second = lw.OnlineSCP(LENGTH, random_state=2).fit_log(first_log).fit_log(second_log)
held_out = show(first, 4000, "held out")
print(compare(held_out, {"second": second.predict, "first": "logged"}).advice)
lists = second.predict(visits(500))
places = lists.rows - lists.problems.offsets[:-1, None]
assert (places[:, 0] == 5).all()
assert not (places == 0).any()
print("Every list begins with the promoted product, and none has the one that is out of stock.")
