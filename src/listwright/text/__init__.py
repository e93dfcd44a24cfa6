"""Text: sentences, tokens, tf-idf vectors, passages of questions, document clusters, summaries and ROUGE.

For summaries, `read_duc`, `read_jsonl` or `read_cluster_folders` give `Cluster` objects, whose sentences are the
candidates; `tf_idf`, `quality_features` and `lexrank` describe them, `sizes` and `Budget` limit them, `summarize`
chooses, and `rouge` scores the result. For questions, `question_problems` and `passage_features` describe passages.
"""

from listwright._internal.tokens import stem_token, tokens
from listwright.text.budget import Budget, parse_budget, sizes, truncate
from listwright.text.clusters import Cluster
from listwright.text.duc import read_duc
from listwright.text.passages import PassageFeatures, passage_features, question_problems, shortlist
from listwright.text.quality import quality_features
from listwright.text.readers import read_cluster_folder, read_cluster_folders, read_jsonl
from listwright.text.scores import rouge
from listwright.text.sentences import split_sentences
from listwright.text.summaries import summarize, summary_model
from listwright.text.vectors import cosine_similarity, hashed_tf_idf, lexrank, tf_idf

__all__ = [
    "Budget",
    "Cluster",
    "PassageFeatures",
    "cosine_similarity",
    "hashed_tf_idf",
    "lexrank",
    "parse_budget",
    "passage_features",
    "quality_features",
    "question_problems",
    "read_cluster_folder",
    "read_cluster_folders",
    "read_duc",
    "read_jsonl",
    "rouge",
    "shortlist",
    "sizes",
    "split_sentences",
    "stem_token",
    "summarize",
    "summary_model",
    "tf_idf",
    "tokens",
    "truncate",
]
