"""The greedy list with the reward in sight: what no learner can hope to beat by much."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from listwright._internal.arrays import Floats
from listwright.baselines.base import Baseline
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.selection.greedy import greedy


class Oracle(Baseline):
    """Clairvoyant greedy: it needs the reward of the problems that it predicts, and learns nothing.

    Parameters
    ----------
    length : int
        Number of items of a list.
    budget : float, optional
        Total size of a list, which takes the place of length. Items that do not fit are skipped.
    per_group : int, dict or None
        How many items of a group a list holds at most: see `Problems.capped`.

    Examples
    --------
    >>> import numpy as np
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=lw.rewards.AnySuccess([[0, 0, 1]]))
    >>> Oracle(length=1).fit(problems).predict(problems)[0]
    array([2])
    """

    needs_reward = True  # predict does not hide the reward from it

    def __init__(
        self,
        length: int = 5,
        *,
        budget: float | None = None,
        per_group: int | Mapping[Any, int] | None = None,
    ) -> None:
        self.length = length
        self.budget = budget
        self.per_group = per_group

    def _learns(self, problems: Problems) -> bool:
        return False

    def _lists(self, problems: Problems, steps: int, room: Floats | None) -> Lists:
        reward_of(problems, "Oracle")
        return greedy(problems, steps, room)
