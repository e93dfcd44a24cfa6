"""One of several policies, drawn anew for each list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features import Rows
from listwright.policies.base import Policy


@saved_as("policies.Mixture")
@dataclass(frozen=True, eq=False)
class Mixture(Policy):
    """Uniform over rounds (the paper's pi-bar): each list is built with one policy, drawn at its start."""

    policies: tuple[Policy, ...]

    def flaw(self) -> str:
        """What is wrong with it, where it was read from a file."""
        return "" if self.policies else "policies are missing"

    def score(self, rows: Rows) -> Floats:
        """Depends on the draw: see `drawn`."""
        raise InputError("A mixture of policies has no score of its own. Use drawn.")

    def drawn(self, n_problems: int, rng: np.random.Generator) -> Policy:
        """Draws a policy for each problem."""
        choice = rng.integers(len(self.policies), size=n_problems)
        return Drawn(self.policies, choice)

    @property
    def certain(self) -> bool:
        """Every list draws its policy."""
        return False


@dataclass(frozen=True, eq=False)
class Drawn(Policy):
    """Policy `choice[i]` for problem i."""

    policies: tuple[Policy, ...]
    choice: Ints

    def score(self, rows: Rows) -> Floats:
        """Each problem's rows by its own policy."""
        scores = np.empty(len(rows.owners))
        chosen = self.choice[rows.owners]
        for i in np.unique(self.choice):
            scores[chosen == i] = self.policies[i].score(rows)[chosen == i]
        return scores

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Each problem's pick by its own policy."""
        picks, scores = np.full(len(self.choice), -1), np.zeros(len(rows.owners))
        for i in np.unique(self.choice):
            mine = self.choice == i
            i_picks, i_scores = self.policies[i].pick(rows, open_rows & mine[rows.owners], position, rng)
            picks[mine] = i_picks[mine]
            scores[mine[rows.owners]] = i_scores[mine[rows.owners]]
        return picks, scores

    def of_problem(self, i: int) -> Policy:
        """The one that was drawn."""
        return self.policies[self.choice[i]]

    @property
    def certain(self) -> bool:
        """The draw was the mixture's."""
        return False


@saved_as("policies.Uniform")
@dataclass(frozen=True, eq=False)
class Uniform(Policy):
    """Every open row is as good as any other; ties go to the lowest row. The policy before anything is learned."""

    has_learned: ClassVar[bool] = False

    def score(self, rows: Rows) -> Floats:
        """Zeros."""
        return np.zeros(len(rows.owners))
