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
