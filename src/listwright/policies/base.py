"""A policy picks the next item of every list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.segments import best_rows
from listwright.features import Rows


class Policy(ABC):
    """Scores candidates, a higher score is better; the best open row of each problem is picked, ties to the lowest."""

    has_learned: ClassVar[bool] = True  # False for what is played before anything is learned

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


def draw_rows(mass: Floats, offsets: Ints, rng: np.random.Generator) -> Ints:
    """One row of each problem, drawn in proportion to `mass` with one number a problem; -1 where there is no mass."""
    totals = np.add.reduceat(mass, offsets[:-1])
    shares = mass / np.repeat(np.where(totals > 0, totals, 1.0), np.diff(offsets))  # so that small masses count too
    cumulative = np.concatenate([[0.0], np.cumsum(shares)])
    low, high = cumulative[offsets[:-1]], cumulative[offsets[1:]]
    target = low + rng.random(len(low)) * (high - low)
    rows = np.searchsorted(cumulative, target, side="right") - 1
    with_mass = np.flatnonzero(mass > 0)
    last = with_mass[np.searchsorted(with_mass, offsets[1:]) - 1] if len(with_mass) else offsets[1:]
    return np.where(high > low, np.minimum(rows, last), -1)  # rounding must not draw a row without mass
