"""The policy that draws its picks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright.features import Rows
from listwright.policies.base import Policy, draw_by_mass, shared_chances


@saved_as("policies.RandomPolicy")
@dataclass(frozen=True, eq=False)
class RandomPolicy(Policy):
    """Draws every position uniformly from the open rows.

    This is what a randomised learner uses before its first round. As a baseline for comparisons use
    `listwright.baselines.Random`.

    See Also
    --------
    Uniform : Picks the lowest open row, without drawing.

    Examples
    --------
    >>> rows = Rows(np.zeros((3, 1), dtype=np.float32), np.array([0, 0, 0]), np.array([0, 3]))
    >>> RandomPolicy().chances(rows, np.array([True, False, True]), 0)
    array([0.5, 0. , 0.5])
    """

    def score(self, rows: Rows) -> Floats:
        """Return 1 / number of candidates of the problem; picks are drawn, see `pick`."""
        return 1.0 / np.diff(rows.offsets)[rows.owners]

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Draw one row per problem; the score of a row is its probability to be picked."""
        counts = np.maximum(np.add.reduceat(open_rows.astype(np.int64), rows.offsets[:-1]), 1)
        chances = np.where(open_rows, 1.0 / counts[rows.owners], 0.0)
        return draw_by_mass(chances, rows.offsets, rng), chances

    @property
    def certain(self) -> bool:
        """False: every position is drawn."""
        return False

    def chances(self, rows: Rows, open_rows: Bools, position: int) -> Floats:
        """Return the same probability for all open rows of a problem."""
        return shared_chances(np.ones(len(open_rows)), open_rows, rows)
