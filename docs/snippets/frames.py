import numpy as np
import pandas as pd
import polars as pl

import listwright as lw

# [start:fit]
rng = np.random.default_rng(0)
table = pd.DataFrame(
    {
        "question": np.repeat([f"q{i}" for i in range(200)], 10),
        "passage": np.tile([f"p{j}" for j in range(10)], 200),
        "retriever_score": rng.random(2000),
        "source": pd.Categorical(rng.choice(["wiki", "news", "blog"], 2000)),
        "tokens": rng.integers(50, 200, 2000),
    }
)
wanted = rng.choice(["wiki", "news", "blog"], 200).repeat(10)
table["helps"] = (table["source"] == wanted) & (table["retriever_score"] > 0.6)
past, new = table[:1500], table[1500:]

names = {"problem": "question", "item": "passage", "size": "tokens"}
model = lw.SCP(length=3, effort="fast", random_state=0).fit(past, reward="any:helps", **names)
print(model.columns_.features)
# [end:fit]

# [start:predict]
lists = model.predict(new.drop(columns="helps"))
print(lists.to_frame().head(3))

shuffled = pl.from_pandas(new[new.columns[::-1]])  # polars, columns in another order
print(model.predict(shuffled) == lists, round(model.score(shuffled), 2))
try:
    model.predict(new.drop(columns="retriever_score"))
except lw.errors.InputError as error:
    print(error)
# [end:predict]

# [start:rivals]
for rival in (
    lw.baselines.TopK("retriever_score", length=3),
    lw.baselines.MMR(0.3, "retriever_score", length=3),
):
    print(
        type(rival).__name__, round(rival.fit(past, reward="any:helps", **names).score(new), 2)
    )
# [end:rivals]

# [start:budget]
under = lw.SCP(budget=300, effort="fast", random_state=0).fit(
    past, reward="share:helps<=2", **names
)
print(under.predict(new).to_frame("polars").head(2))
# [end:budget]

# [start:control]
problems = lw.Problems.from_frame(
    past, features=["retriever_score"], reward="any:helps", **names
)
print(problems)
# [end:control]
