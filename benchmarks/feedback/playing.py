"""A learner plays a stream of problems whose rewards are known to the simulation alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import listwright as lw
from listwright.evaluation.values import list_values, measure_lists
from listwright.feedback.bandit import ListBandit

WARM_UP = 200  # problems that scales are taken from, without their rewards


def play(learner: ListBandit, seen: lw.Problems, valued: lw.Problems | None = None) -> NDArray[np.float64]:
    """What each shown list is worth: shown, answered and learned from one after the other.

    Parameters
    ----------
    seen : with the reward that outcomes come from, such as drawn clicks.
    valued : the same problems with the reward that lists are measured by, such as click probabilities.
    """
    learner.begin(seen[: min(WARM_UP, len(seen))])
    rows = np.full((len(seen), learner.length), -1)
    for i in range(len(seen)):
        problem = seen[i]
        lists = learner.recommend(problem, list_ids=[str(i)])
        gains = measure_lists(lists, problem).gains
        assert gains is not None
        learner.feedback(str(i), np.clip(gains[0], 0.0, 1.0))
        rows[i, : lists.rows.shape[1]] = np.where(lists.rows[0] >= 0, lists.rows[0] + seen.offsets[i], -1)
    worth = seen if valued is None else valued
    return list_values(lw.Lists(worth, rows), worth)
