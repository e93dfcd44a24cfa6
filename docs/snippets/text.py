import listwright as lw
from listwright.simulate.corpus import corpus
from listwright.text import (
    Budget,
    Cluster,
    quality_features,
    sizes,
    split_sentences,
    summarize,
    summary_model,
    tokens,
)

# [start:summaries]
reports = [
    "Floods cut off two villages in the north on Monday. The river rose three metres in a day.",
    "Two villages in the north were cut off by floods. Rescue teams reached them by boat.",
    "The weather service expects more rain. A farmer lost his cattle. Floods cut off villages.",
]
cluster = Cluster.from_documents("floods", [split_sentences(report) for report in reports])
(summary,) = summarize([cluster], Budget(100, "bytes"))  # by the model that is shipped
print(summary.text)
# [end:summaries]

# [start:own]
# made-up reports with summaries by hand; read_jsonl and read_cluster_folders read yours
clusters = corpus(12)
model = summary_model(clusters[:9], budget=Budget(300, "bytes"))
print(summarize(clusters[9:10], Budget(300, "bytes"), model=model)[0].text)
# [end:own]

# [start:reward]
cluster = clusters[0]
features, names = quality_features(cluster)
problems = lw.Problems.from_arrays(
    features,
    offsets=[0, len(features)],
    feature_names=names,
    sizes=sizes(cluster.sentences, "words"),
    reward=lw.rewards.Rouge(
        [tokens(s) for s in cluster.sentences], [[tokens(r) for r in cluster.references]]
    ),
)
best = lw.greedy(problems, budget=60)
print(best.gains[0].round(3))  # what each sentence added to the recall
# [end:reward]
