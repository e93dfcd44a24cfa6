"""Items or policies drawn from one distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright._kernels.segments import best_rows
from listwright.errors import InputError
from listwright.features import Rows
from listwright.policies.base import Policy, draw_rows


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
        """One draw a problem among its open rows; where they have no probability left, the lowest."""
        scores = self.score(rows)
        picks = draw_rows(np.where(open_rows, scores, 0.0), rows.offsets, rng)
        return np.where(picks >= 0, picks, best_rows(scores, open_rows, rows.offsets)), scores


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
        """Draws a policy a problem, and takes its pick; the score of a row is the chance to be picked."""
        every = np.stack([policy.pick(rows, open_rows, position, rng)[0] for policy in self.policies])
        n_problems = every.shape[1]
        choice = rng.choice(len(self.policies), size=n_problems, p=self.probabilities)
        chances = np.zeros(len(rows.owners))
        for probability, picks in zip(self.probabilities, every, strict=True):
            np.add.at(chances, picks[picks >= 0], probability)
        return every[choice, np.arange(n_problems)], chances


def _flaw(chances: Floats) -> str:
    sure = chances.ndim == 1 and not (chances < 0).any() and abs(float(chances.sum()) - 1.0) <= 1e-6
    return "" if sure else "probabilities must add up to 1"
