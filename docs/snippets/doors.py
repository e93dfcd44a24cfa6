# [start:frame]
import pandas as pd

import listwright as lw

past = pd.DataFrame(lw.simulate.readers.table(500, random_state=1))  # one row per article
new = pd.DataFrame(lw.simulate.readers.table(500, first=500, random_state=2))
model = lw.SCP(length=3, random_state=0).fit(past, reward="any:clicked")
print(model.report_)
print("Score on new readers:", model.score(new))
print(model.predict(new).to_frame()[["problem", "position", "item"]].head(3).to_string())
print(model.certify(new, rivals=["top_k"]))
# [end:frame]

# [start:texts]
import listwright as lw

passages = [
    "Aliens is a film of 1986, directed by James Cameron.",
    "Alien is a film of 1979, directed by Ridley Scott.",
    "Alien was a success and won an Academy Award.",
    "Ridley Scott was born in South Shields in 1937.",
]
packed = lw.ContextPacker().pack("Where was the director of Alien born?", passages, budget=45)
print(packed.text())
# [end:texts]

# [start:vectors]
import numpy as np

import listwright as lw

vectors = np.random.default_rng(0).normal(size=(10_000, 64)).astype(np.float32)
selection = lw.select(vectors, 100, random_state=0)
print(selection.rows[:5], f"worth {selection.ratio:.0%} of the upper bound")
# [end:vectors]
