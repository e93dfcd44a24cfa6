"""Random lists."""

from __future__ import annotations

from listwright._internal.arrays import Floats, RandomState, as_generator
from listwright._internal.quotas import PerGroup
from listwright._internal.saved import saved_as
from listwright.baselines.base import Baseline, lists_by_score
from listwright.lists import Lists
from listwright.problems import Problems


@saved_as("baselines.Random")
class Random(Baseline):
    """Lists drawn evenly from the candidates, no item twice.

    Parameters
    ----------
    length, budget, per_group
        Limits of a list: see `Baseline`.
    random_state : int, numpy.random.Generator or None
        Seed or numpy Generator; with a seed, every call draws the same lists.

    See Also
    --------
    Oracle : The upper reference.

    Examples
    --------
    >>> import numpy as np
    >>> problems = Problems.from_arrays(np.zeros((4, 10, 1)))
    >>> Random(length=3, random_state=0).fit(problems).predict(problems)
    Lists: 4 lists of 3 items
    """

    def __init__(
        self,
        length: int = 5,
        *,
        budget: float | None = None,
        per_group: PerGroup = None,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(length, budget=budget, per_group=per_group)
        self.random_state = random_state

    def _learns(self, problems: Problems) -> bool:
        return False

    def _lists(self, problems: Problems, steps: int, budgets: Floats | None) -> Lists:
        rng = as_generator(self.random_state)
        return lists_by_score(problems, rng.random(problems.n_rows), steps, budgets)
