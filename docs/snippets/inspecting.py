# [start:fit]
import numpy as np
import pandas as pd

import listwright as lw

rng = np.random.default_rng(0)
rows = 300 * 8
frame = pd.DataFrame(
    {
        "problem": np.repeat(np.arange(300), 8),
        "item": np.tile(np.arange(8), 300),
        "quality": rng.random(rows),
        "sport": rng.integers(2, size=rows),
        "age": rng.random(rows),
    }
)
likes_sport = np.repeat(rng.integers(2, size=300), 8)  # nobody knows who likes what
frame["clicked"] = (frame.quality > 0.7) & (frame.sport == likes_sport)

model = lw.SCP(length=2, effort="fast", random_state=0).fit(frame, reward="any:clicked")
print(model.measured_)
# [end:fit]

# [start:weights]
print(model.weights_)
# [end:weights]

# [start:importance]
print(lw.importance(model, frame))
# [end:importance]

# [start:history]
held_out = frame[frame.problem >= 240]
model.fit(frame[frame.problem < 240], reward="any:clicked", validation=held_out)
print(model.history_.where(round=1))
print(model.history_.where(round=40))
# [end:history]
