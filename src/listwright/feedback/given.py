"""Lists that were shown before, as a policy: so that the walk goes over them again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright.features import Rows
from listwright.policies import Policy


@dataclass(frozen=True, eq=False)
class Given(Policy):
    """Picks what it is told, whatever is seen."""

    picks: Ints  # (problems, positions): rows of the batch, -1 behind the end

    def score(self, rows: Rows) -> Floats:
        """Nothing is scored."""
        return np.zeros(len(rows.owners))

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """The row given for the position."""
        return np.ascontiguousarray(self.picks[:, position]), self.score(rows)
