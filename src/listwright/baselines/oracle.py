"""Greedy lists that know the reward."""

from __future__ import annotations

from listwright._internal.arrays import Floats
from listwright.baselines.base import Baseline
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.selection.greedy import greedy


class Oracle(Baseline):
    """Clairvoyant greedy: it needs the reward of the problems that it predicts, and learns nothing.

    Use it to see how much there is to gain. For a monotone submodular reward, its lists are worth at least 1 - 1/e of
    the best lists of the same length. It is no competitor: it cannot be used, or saved, for problems without a reward.

    Parameters
    ----------
    length, budget, per_group
        Limits of a list: see `Baseline`.

    See Also
    --------
    listwright.greedy : The same as a function.

    Examples
    --------
    >>> import numpy as np
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=lw.rewards.AnySuccess([[0, 0, 1]]))
    >>> Oracle(length=1).fit(problems).predict(problems)[0]
    array([2])
    """

    needs_reward = True  # predict does not hide the reward from it

    @property
    def unsavable(self) -> str:
        """It needs a reward."""
        return "it learns nothing, and builds lists with the reward in sight, which no file of a model holds"

    def _learns(self, problems: Problems) -> bool:
        return False

    def _lists(self, problems: Problems, steps: int, budgets: Floats | None) -> Lists:
        reward_of(problems, "Oracle")
        return greedy(problems, steps, budgets)
