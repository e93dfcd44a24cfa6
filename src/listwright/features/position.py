"""The position that the next item takes: a bias and the paper's first-position indicator."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats32, Ints
from listwright._internal.saved import saved_as
from listwright.features.base import Features
from listwright.problems import Problems


class PositionSeen(NamedTuple):
    """The problems, and the length of each list."""

    problems: Problems
    lengths: Ints


@saved_as("features.Position")
class Position(Features):
    """A bias of 1, and a flag that is 1 at the first position (the paper's indicator).

    Both columns are the same for all candidates of a problem. The default ridge learner compares candidates within a
    problem, so it gives them a weight of exactly 0. They act in learners that are not linear, such as boosted trees,
    and in `RidgeFTRL(center=False)`, the paper's printed loss.

    See Also
    --------
    FirstPosition : Products with the features, which do change a linear policy.

    Examples
    --------
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays([[1.0], [3.0]], offsets=[0, 2])
    >>> feature = Position()
    >>> feature.columns(feature.start(problems))
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """

    group = "position"

    def start(self, problems: Problems) -> PositionSeen:
        """All lists are empty."""
        return PositionSeen(problems, np.zeros(len(problems), dtype=np.int64))

    def columns(self, seen: PositionSeen) -> Floats32:
        """Bias and first-position flag, (rows, 2)."""
        table = np.ones((len(seen.problems.owners), 2), dtype=np.float32)
        table[:, 1] = (seen.lengths == 0)[seen.problems.owners]
        return table

    def add(self, seen: PositionSeen, picks: Ints) -> PositionSeen:
        """Lengthen the lists that have a pick by one."""
        return seen._replace(lengths=seen.lengths + (picks >= 0))

    def names(self) -> list[str]:
        """One name per column."""
        return ["bias", "first position"]
