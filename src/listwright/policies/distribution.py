"""Items or policies drawn from one distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright._kernels.segments import best_rows
from listwright.errors import InputError
from listwright.features import Rows
from listwright.policies.base import Policy, draw_by_mass, shared_chances


@saved_as("policies.ItemDistribution")
@dataclass(frozen=True, eq=False)
class ItemDistribution(Policy):
    """Every position is drawn from one distribution over the catalogue (the paper's p_t), over the rows still open."""

    probabilities: Floats

    def flaw(self) -> str:
        """What is wrong with it, where it was read from a file."""
        return _flaw(self.probabilities)

    def score(self, rows: Rows) -> Floats:
        """The item's probability."""
        if rows.crossed is None:
            raise InputError("A distribution over items needs a catalogue, but these problems have none.")
        return self.probabilities[rows.crossed.items]

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """One draw per problem among its open rows; where they have no probability left, the lowest."""
        scores = self.score(rows)
        picks = draw_by_mass(np.where(open_rows, scores, 0.0), rows.offsets, rng)
        return np.where(picks >= 0, picks, best_rows(scores, open_rows, rows.offsets)), scores

    @property
    def certain(self) -> bool:
        """Every position is drawn."""
        return False

    def chances(self, rows: Rows, open_rows: Bools, position: int) -> Floats:
        """In proportion to the probabilities of the open rows."""
        return shared_chances(self.score(rows), open_rows, rows)


@saved_as("policies.PolicyDistribution")
@dataclass(frozen=True, eq=False)
class PolicyDistribution(Policy):
    """Every position is picked by a policy drawn from a distribution over a finite list of policies."""

    policies: tuple[Policy, ...]
    probabilities: Floats

    def flaw(self) -> str:
        """What is wrong with it, where it was read from a file."""
        few = "" if len(self.policies) == len(self.probabilities) else "there must be one probability per policy"
        return _flaw(self.probabilities) or few

    def score(self, rows: Rows) -> Floats:
        """Mean score; picks are drawn, see `pick`."""
        return np.tensordot(self.probabilities, np.stack([policy.score(rows) for policy in self.policies]), axes=1)

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Draws a policy for each problem, and takes its pick; the score of a row is the chance to be picked."""
        every = np.stack([policy.pick(rows, open_rows, position, rng)[0] for policy in self.policies])
        n_problems = every.shape[1]
        choice = rng.choice(len(self.policies), size=n_problems, p=self.probabilities)
        chances = np.zeros(len(rows.owners))
        for probability, picks in zip(self.probabilities, every, strict=True):
            np.add.at(chances, picks[picks >= 0], probability)
        return every[choice, np.arange(n_problems)], chances

    @property
    def certain(self) -> bool:
        """Every position draws its policy."""
        return False

    def chances(self, rows: Rows, open_rows: Bools, position: int) -> Floats:
        """The mean of the policies' chances.

        Examples
        --------
        >>> from listwright.policies import Linear, Random
        >>> rows = Rows(np.array([[1.0], [3.0]], dtype=np.float32), np.array([0, 0]), np.array([0, 2]))
        >>> both = PolicyDistribution((Linear(np.array([1.0])), Random()), np.array([0.8, 0.2]))
        >>> both.chances(rows, np.array([True, True]), 0)
        array([0.1, 0.9])
        """
        each = [policy.chances(rows, open_rows, position) for policy in self.policies]
        return np.tensordot(self.probabilities, np.stack(each), axes=1)


def _flaw(chances: Floats) -> str:
    sure = chances.ndim == 1 and not (chances < 0).any() and abs(float(chances.sum()) - 1.0) <= 1e-6
    return "" if sure else "probabilities must add up to 1"
