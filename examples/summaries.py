# %% [markdown]
# # Summaries: sentences of several reports, within 665 bytes
#
# Reports of one event say the same things in other words. A summary of the best sentences says one thing four times.
# The reward is ROUGE-1 recall against summaries by hand, which counts a word once.

# %%
import listwright as lw
from listwright.simulate.corpus import corpus
from listwright.text import Budget, summarize
from listwright.text.summary_problems import size_limit, summary_features, summary_problems

# %% [markdown]
# ## The data
#
# Made-up reports of floods, elections, accidents, with four summaries each. `listwright.text.read_cluster_folders`
# reads yours.

# %%
clusters = corpus(36)
budget = Budget(665, "bytes")
problems = summary_problems(clusters, need_references=True)
print(problems)

# %% [markdown]
# ## Ways to summarise

# %%
limit = size_limit(budget)
methods = {
    "SCP": lw.SCP(budget=limit, features=summary_features(), random_state=0),
    "sorted by a regression": lw.baselines.TopK("ridge"),
    "MMR": lw.baselines.MMR(0.3),
    "random": lw.baselines.Random(random_state=0),
}
comparison = lw.compare(methods, problems, folds=3, budgets=(limit // 2, limit))
print(comparison)

# %% [markdown]
# ## One summary, and where its sentences are from

# %%
model = lw.SCP(budget=limit, features=summary_features(), random_state=0).fit(problems[:-1])
(summary,) = summarize(clusters[-1:], budget, model=model)
for sentence in summary.sentences:
    print(f"[{sentence.document}, sentence {sentence.position}] {sentence.text}")

# %% [markdown]
# ## The picture: recall of the words of the summaries by hand

# %%
chart = comparison.plot().properties(width=420, height=260)
chart.save("summaries.png", scale_factor=2)
