"""Features of the passages of a question: what each holds of the question, and how passages lead to each other."""

from listwright.text.passages.features import PassageFeatures, passage_features
from listwright.text.passages.problems import question_problems, shortlist

__all__ = ["PassageFeatures", "passage_features", "question_problems", "shortlist"]
