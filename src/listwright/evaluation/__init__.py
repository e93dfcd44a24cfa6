"""Evaluation of lists: values, metrics, confidence intervals and comparisons of methods."""

from listwright.evaluation.compare import compare
from listwright.evaluation.comparison import Comparison
from listwright.evaluation.evaluate import Evaluation, evaluate
from listwright.evaluation.importance import importance
from listwright.evaluation.intervals import Estimate, estimate
from listwright.evaluation.metrics import alpha_ndcg, err_ia, intra_list_distance, subtopic_recall
from listwright.evaluation.table import Table
from listwright.evaluation.values import list_values, measure_lists

__all__ = [
    "Comparison",
    "Estimate",
    "Evaluation",
    "Table",
    "alpha_ndcg",
    "compare",
    "err_ia",
    "estimate",
    "evaluate",
    "importance",
    "intra_list_distance",
    "list_values",
    "measure_lists",
    "subtopic_recall",
]
