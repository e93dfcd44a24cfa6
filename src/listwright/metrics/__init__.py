"""What lists are worth, and how well they cover and differ: means over problems with 95 % intervals."""

from listwright.metrics.distance import intra_list_distance
from listwright.metrics.evaluation import Evaluation, evaluate
from listwright.metrics.intervals import Estimate, estimate
from listwright.metrics.topics import alpha_ndcg, err_ia, subtopic_recall

__all__ = [
    "Estimate",
    "Evaluation",
    "alpha_ndcg",
    "err_ia",
    "estimate",
    "evaluate",
    "intra_list_distance",
    "subtopic_recall",
]
