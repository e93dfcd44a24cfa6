"""The policy over passages: what it sees, how it learns, and the one that is shipped.

Write the shipped model anew with `python -m listwright.lab.shipped_models`, where the questions are.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from listwright.estimators.scp import SCP
from listwright.features import Candidate, Features, Links, Unmet
from listwright.learners import Aggregate
from listwright.learners.boosting import Boosting
from listwright.problems import Problems
from listwright.storage import load

SHIPPED = Path(__file__).with_name("passages.listwright")
LENGTH = 5  # passages that lists of training questions have
PASSES = 3


def passage_policy_features() -> Features:
    """A passage's own columns, its strongest links to the list, and what the list leaves uncovered of the question."""
    return Candidate(standardize=False) + Links((), sums=False) + Unmet()


def passage_model(problems: Problems, start: tuple[Any, ...] = (), *, min_leaf: int = 10) -> SCP:
    """A policy learned from questions with labelled passages, from the trees of another model on where there are some.

    Parameters
    ----------
    problems : Problems
        From `text.question_problems`, with a reward.
    start : tuple
        Trees to start from, as in `learners.Boosting`.
    min_leaf : int
        Least rows in a leaf of the trees.
    """
    model = SCP(
        LENGTH,
        learner=Aggregate(Boosting(start=start, min_leaf=min_leaf)),
        features=passage_policy_features(),
        weighting="uniform",
        n_passes=PASSES,
        batch_size=len(problems),
        short_lists=True,
        random_state=0,
    )
    return model.fit(problems)


@cache
def shipped_model() -> SCP:
    """The model in the package, read once."""
    model: SCP = load(SHIPPED)
    return model
