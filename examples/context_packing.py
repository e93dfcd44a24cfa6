# %% [markdown]
# # Context packing: passages for a question, within a budget of tokens
#
# A question often needs two passages that lead to each other, among others that only look alike. Retrieval by
# similarity to the question finds the first and misses the second. The policy here sees which passages are in the
# context already.

# %%
import json
import os
from pathlib import Path

import numpy as np

import listwright as lw

PUBLISHED = "LISTWRIGHT_DATA" in os.environ  # or True: HotpotQA is downloaded then, once

# %% [markdown]
# ## The data
#
# HotpotQA: questions with ten paragraphs each, of which two support the answer. Without it, made-up questions of the
# same form: "Where was the director of X born?" needs the page of the film and the page of its director.


# %%
def made_up(n: int, seed: int = 0) -> list[dict]:
    """Questions whose second passage can only be found through the first."""
    rng = np.random.default_rng(seed)
    cities = ["Arlon", "Bregenz", "Cadiz", "Dundee", "Evora", "Fano", "Ghent", "Halle"]
    records = []
    for i in range(n):
        films, people = [f"Film {i}-{j}" for j in range(5)], [f"Director {i}-{j}" for j in range(5)]
        made_by = rng.permutation(5)
        pages = [
            {
                "title": film,
                "sentences": [
                    f"{film} is a film by {people[made_by[j]]}.",
                    "It was shown in many towns. " * int(rng.integers(4)),
                ],
                "supporting": j == 0,
            }
            for j, film in enumerate(films)
        ] + [
            {
                "title": person,
                "sentences": [
                    f"{person} was born in {rng.choice(cities)}.",
                    "Early work was for the stage. " * int(rng.integers(4)),
                ],
                "supporting": bool(j == made_by[0]),
            }
            for j, person in enumerate(people)
        ]
        order = rng.permutation(len(pages))
        question = f"Where was the director of {films[0]} born?"
        records.append({"id": f"q{i}", "question": question, "paragraphs": [pages[k] for k in order]})
    return records


if PUBLISHED:
    questions = lw.datasets.read_questions("multihop_qa")
else:
    Path("questions.jsonl").write_text("\n".join(map(json.dumps, made_up(90))), encoding="utf8")
    questions = lw.datasets.read_questions("questions.jsonl")
print(questions)

# %% [markdown]
# ## Three ways to fill the budget
#
# `Links` lets the policy see how a passage is linked to those that are in the context: whether one names the other.

# %%
features = lw.features.Candidate() + lw.features.Links() + lw.features.Distance() + lw.features.Position()
budgets = (100, 200, 300, 400) if questions.sizes.mean() > 50 else (25, 35, 50, 65)
methods = {
    "SCP with links to the list": lw.SCP(budget=budgets[2], features=features, random_state=0),
    "sorted by a regression": lw.baselines.TopK("ridge"),
    "similarity to the question and MMR": lw.baselines.MMR(0.3, "bm25"),
}
comparison = lw.compare(methods, questions, folds=5, budgets=budgets)
print(comparison)

# %% [markdown]
# ## One context, with reasons

# %%
model = lw.SCP(budget=budgets[2], features=features, random_state=0).fit(questions[:-1])
print(model.predict(questions[-1:]).explain(0))

# %% [markdown]
# ## The picture: share of the supporting passages that are in the context

# %%
chart = comparison.plot().properties(width=420, height=260)
chart.save("context_packing.png", scale_factor=2)
