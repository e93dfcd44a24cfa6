# [start:data]
import numpy as np

import listwright as lw

rng = np.random.default_rng(0)
centres = rng.normal(size=(20, 32))
table = (centres[rng.integers(20, size=2000)] + 0.5 * rng.normal(size=(2000, 32))).astype(
    np.float32
)
# [end:data]

# [start:plain]
selection = lw.select(table, 25)
print(selection)
print(selection.rows[:5], selection.knee)
# [end:plain]

# [start:fast]
by_graph = lw.select(table, 25, neighbors=50)
by_sample = lw.select(table, 25, sample=500, random_state=0)
print(by_sample.bound)
# [end:fast]

# [start:rules]
source = np.arange(2000) % 4
fair = lw.select(table, 20, groups=source, per_group=5)
more = lw.select(table, 5, given=selection.rows)
cover = lw.select(table, 5, targets=table[:100])
cheap = lw.select(table, costs=1.0 + source, budget=30.0)
diverse = lw.select(table, 10, reward="log_det")
print(np.bincount(source[fair.rows]), len(cheap))
# [end:rules]

# [start:quotas]
region = source // 2  # regions of two sources each
both = lw.select(table, 12, groups=source, per_group={0: (4, 10), 3: 1}, exclude=range(100))
nested = lw.select(table, 12, groups=[region, source], per_group=[(5, 7), {0: (4, None)}])
costs = np.stack([1.0 + source, 2.0 - source % 2], axis=1)
limited = lw.select(table, 12, costs=costs, budget=[20.0, 15.0])
print(
    np.bincount(source[both.rows]),
    np.bincount(source[nested.rows]),
    costs[limited.rows].sum(axis=0),
)
# [end:quotas]

# [start:refine]
better = lw.select(table, 25, refine=True)
print(f"{selection.value:.1f} + {better.refined:.1f}")
# [end:refine]

# [start:rewards]
mixed = lw.select(table, 10, reward={"facility_location": 1.0, "graph_cut": 0.5})
far = lw.select(table, 10, reward="max_min")
kinds = lw.select(table, 4, reward=lambda rows: len({int(source[row]) for row in rows}))
print(far.bound)
print(kinds.value, kinds.bound)
# [end:rewards]

# [start:names]
named = lw.select(table, 25, ids=[f"row {row}" for row in range(2000)])
print(named.ids[:3], named.explain(0)["represents"])
print(named.assign().head(2))
# [end:names]

# [start:stream]
selector = lw.Selector(25, random_state=0).partial_fit(iter(np.split(table, 20)))
print(selector.n_seen_, len(selector.rows_), lw.Selector(25).fit_transform(table).shape)
# [end:stream]
