"""A policy picks the next item of every list."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from listwright._arrays import Bools, Floats, Ints
from listwright._kernels.segments import best_rows
from listwright.features import Rows


class Policy(ABC):
    """Scores candidates, a higher score is better; the best open row of each problem is picked, ties to the lowest."""

    @abstractmethod
    def score(self, rows: Rows) -> Floats:
        """One number a row."""

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """The row picked in each problem, -1 where none is open; and the score of every row."""
        scores = self.score(rows)
        return best_rows(scores, open_rows, rows.offsets), scores

    def drawn(self, n_problems: int, rng: np.random.Generator) -> Policy:
        """The policy to walk with; what is random for a whole list is drawn here."""
        return self
