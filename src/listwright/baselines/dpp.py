"""Determinantal point processes."""

from __future__ import annotations

from typing import Any

from listwright._internal.arrays import Floats
from listwright._internal.quotas import PerGroup
from listwright._internal.saved import saved_as
from listwright._kernels.dpp import dpp_lists
from listwright.baselines.base import as_lists
from listwright.baselines.mmr import Diverse, space_of, vectors_of
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.walk.constraints import Constraints


@saved_as("baselines.DPP")
class DPP(Diverse):
    """Greedy list of a determinantal point process with kernel q_i q_j cos(i, j).

    Each pick has the highest scale * relevance + log(squared length of its part outside the list's span), found by
    Cholesky updates. Use it to make lists diverse without training; unlike `MMR` it looks at the whole list, not only
    at the nearest item. Cosines are between `problems.vectors`, or features without them. Once the list spans all that
    is left, rows go by relevance.

    Parameters
    ----------
    scale : float
        How strongly relevance counts; 0 is diverse only. The quality q is exp(scale * relevance / 2).
    relevance : str, int, estimator or None
        None is the cosine to the mean direction of the problem's vectors. The name or number of a feature is used as it
        is. An estimator as in `TopK` predicts what an item gains, scaled from 0 to 1 within each problem.
    length, budget, per_group
        Limits of a list: see `Baseline`.

    See Also
    --------
    MMR : Compares with the nearest item of the list only.
    LearnedDPP : Learns the quality from rewards.

    References
    ----------
    Chen, Zhang and Zhou (2018), Fast greedy MAP inference for determinantal point process to improve recommendation
    diversity.

    Examples
    --------
    >>> vectors = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]
    >>> problems = Problems.from_arrays([[0.9], [0.8], [0.3]], offsets=[0, 3], vectors=vectors)
    >>> DPP(relevance=0, length=2).fit(problems).predict(problems)[0]
    array([0, 2])
    """

    def __init__(
        self,
        scale: float = 1.0,
        relevance: Any = None,
        length: int = 5,
        *,
        budget: float | None = None,
        per_group: PerGroup = None,
    ) -> None:
        super().__init__(relevance, length, budget=budget, per_group=per_group)
        self.scale = scale

    def _check_parameters(self, problems: Problems) -> None:
        if not self.scale >= 0:
            raise InputError(f"scale must be 0 (diverse only) or more. Got {self.scale!r}.")
        super()._check_parameters(problems)

    def _lists(self, problems: Problems, steps: int, budgets: Floats | None) -> Lists:
        space, limits = space_of(problems), Constraints(problems, budgets, steps).limits()
        quality, width = self.scale * self._relevance(problems, space), vectors_of(problems).shape[1]
        return as_lists(problems, *dpp_lists(problems.offsets, quality, space, width, limits, steps))
