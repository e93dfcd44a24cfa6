import numpy as np
import pandas as pd

import listwright as lw

rng = np.random.default_rng(0)  # 300 readers with 20 articles each: what is known of each article, and the clicks
table = pd.DataFrame({"reader": np.repeat(np.arange(300), 20), "quality": rng.random(6000)})
table["kind"] = pd.Categorical(rng.choice(["food", "music", "sport"], 6000))
wanted = rng.choice(["food", "music", "sport"], 300)  # nobody tells us
table["clicked"] = (table["kind"] == wanted[table["reader"]]) & (table["quality"] > 0.7)
past, new = table[table["reader"] < 200], table[table["reader"] >= 200]
model = lw.SCP(length=3, effort="fast", random_state=0).fit(past, reward="any:clicked", problem="reader")
lists = model.predict(new)
print(lists.to_frame().head(3), lists.explain(0), model.certify(new, rivals=["top_k"]), sep="\n\n")
