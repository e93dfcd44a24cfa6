# [start:fit]
import pandas as pd

import listwright as lw

frame = pd.DataFrame(lw.simulate.readers.table(300, random_state=0))
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
held_out = pd.DataFrame(lw.simulate.readers.table(100, first=300, random_state=1))
watched = lw.SCP(length=2, effort="fast", random_state=0)
watched.fit(frame, reward="any:clicked", validation=held_out)
print(watched.history_.where(round=1))
print(watched.history_.where(round=40))
# [end:history]
