"""A policy picks the next item of every list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.draw import draw_rows
from listwright._kernels.segments import best_rows
from listwright.errors import InputError
from listwright.features import Rows


class Contributions(NamedTuple):
    """What every column adds to the scores: together with `crossed` and `base` they add up to them."""

    columns: Floats  # (rows, columns of the table that is seen)
    crossed: Floats | None = None  # (rows, names) of columns that are crossed with the item
    crossed_names: tuple[str, ...] = ()
    base: Floats | None = None  # by row: what no column explains
    note: str = ""


class Policy(ABC):
    """Scores candidates, a higher score is better; the best open row of each problem is picked, ties to the lowest.

    A policy of your own gives `score`. Where it draws its picks, it also gives `pick`, says that it is not `certain`,
    and gives the exact `chances` if it knows them.
    """

    has_learned: ClassVar[bool] = True  # False for what is played before anything is learned

    @abstractmethod
    def score(self, rows: Rows) -> Floats:
        """One number per row."""

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """The row picked in each problem, -1 where none is open; and the score of every row."""
        scores = self.score(rows)
        return best_rows(scores, open_rows, rows.offsets), scores

    def drawn(self, n_problems: int, rng: np.random.Generator) -> Policy:
        """The policy to walk with; what is random for a whole list is drawn here."""
        return self

    def at_position(self, position: int) -> Policy:
        """The policy that picks at a position of the list."""
        return self

    def of_problem(self, i: int) -> Policy:
        """The policy that was drawn for problem i."""
        return self

    @property
    def certain(self) -> bool:
        """Whether what is seen decides the picks, so that nothing is drawn."""
        return True

    def chances(self, rows: Rows, open_rows: Bools, position: int) -> Floats:
        """By row: the exact chance to be picked; 1 for the pick of a policy that draws nothing."""
        if not self.certain:
            raise InputError(
                f"The chances of a {type(self).__name__} policy are not known exactly. Use another learner."
            )
        return certain_chances(self.score(rows), open_rows, rows)

    def contributions(self, rows: Rows) -> Contributions | None:
        """What every column adds to the scores; None where the policy cannot tell."""
        return None

    @property
    def nbytes(self) -> int | None:
        """Memory that its arrays take; None where that is not known."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))


def certain_chances(scores: Floats, open_rows: Bools, rows: Rows) -> Floats:
    """1 for the best open row of each problem, else 0."""
    picks = best_rows(scores, open_rows, rows.offsets)
    chances = np.zeros(len(scores))
    chances[picks[picks >= 0]] = 1.0
    return chances


def shared_chances(mass: Floats, open_rows: Bools, rows: Rows) -> Floats:
    """In proportion to the mass of the open rows; where there is none, the first of them."""
    mass = np.where(open_rows, mass, 0.0)
    totals = np.add.reduceat(mass, rows.offsets[:-1])
    shares = mass / np.where(totals > 0, totals, 1.0)[rows.owners]
    return np.where((totals > 0)[rows.owners], shares, certain_chances(np.zeros(len(mass)), open_rows, rows))


def draw_by_mass(mass: Floats, offsets: Ints, rng: np.random.Generator) -> Ints:
    """One row of each problem, drawn in proportion to `mass` with one number per problem; -1 where there is no mass."""
    totals = np.add.reduceat(mass, offsets[:-1])
    shares = mass / np.repeat(np.where(totals > 0, totals, 1.0), np.diff(offsets))  # so that small masses count too
    return draw_rows(shares, offsets, rng.random(len(totals)))
