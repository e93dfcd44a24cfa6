"""Features of the passages of a question: what each holds of the question, and how passages lead to each other.

`passage_features` describes one question, `question_problems` many as `Problems`, and `shortlist` narrows down very
many passages first. `reading` splits text and numbers the words, `question` finds terms and names, `columns` and
`links` compute columns and links. `listwright.context` packs contexts with these features.
"""

from listwright.text.passages.features import PassageFeatures, passage_features
from listwright.text.passages.problems import question_problems, shortlist

__all__ = ["PassageFeatures", "passage_features", "question_problems", "shortlist"]
