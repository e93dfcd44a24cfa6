"""An exploration: from what a policy says of the open rows to the chance that each is shown."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from sklearn.base import BaseEstimator

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.draw import segment_chances
from listwright.features import Rows
from listwright.policies import Policy


class Exploration(BaseEstimator, ABC):
    """Gives every open row of a slot its chance, in order of rows; the chances of a problem add up to 1."""

    @abstractmethod
    def chances(self, policy: Policy, rows: Rows, options: Bools, position: int, learned: float) -> tuple[Floats, Ints]:
        """By row its chance; by problem the row that is shown where nothing is explored, -1 for none.

        `learned`: the number of lists that the policy has learned from.
        """

    def compiled(self, learned: float) -> tuple[int, float] | None:
        """The kind and strength that the compiled walk takes; None where it does not know this exploration."""
        return None


class ByScore(Exploration):
    """What looks at the policy's scores alone."""

    @abstractmethod
    def compiled(self, learned: float) -> tuple[int, float]:
        """The kind and strength of the kernel `fill_chances`."""

    def chances(self, policy: Policy, rows: Rows, options: Bools, position: int, learned: float) -> tuple[Floats, Ints]:
        """Through the same kernel as the compiled walk."""
        kind, strength = self.compiled(learned)
        return segment_chances(kind, strength, np.where(options, policy.score(rows), -np.inf), rows.offsets)
