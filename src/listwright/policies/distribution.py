"""Policies that draw rows, items or policies from one distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright._kernels.rows import best_rows
from listwright.errors import InputError
from listwright.features import Rows
from listwright.policies.base import Policy, draw_by_mass, shared_chances


@saved_as("policies.ItemDistribution")
@dataclass(frozen=True, eq=False)
class ItemDistribution(Policy):
    """Draws every position from one distribution over the catalogue, restricted to the rows that are open.

    This is the p_t of the context-free algorithm (Algorithm 1). `ContextFreeSCP` with a Weighted Majority learner makes
    it; it needs problems with a catalogue.

    Attributes
    ----------
    probabilities : ndarray of float, shape (items,)
        The probability of each item.

    See Also
    --------
    PolicyDistribution : A distribution over policies.

    Examples
    --------
    >>> from listwright.features import Crossed
    >>> crossed = Crossed(np.array([0, 1]), 2, np.ones((1, 1), dtype=np.float32))
    >>> rows = Rows(np.zeros((2, 0), dtype=np.float32), np.array([0, 0]), np.array([0, 2]), crossed)
    >>> ItemDistribution(np.array([0.25, 0.75])).chances(rows, np.array([True, True]), 0)
    array([0.25, 0.75])
    """

    probabilities: Floats

    def validation_error(self) -> str:
        return _flaw(self.probabilities)

    def score(self, rows: Rows) -> Floats:
        if rows.crossed is None:
            raise InputError("A distribution over items needs a catalogue, but these problems have none.")
        return self.probabilities[rows.crossed.items]

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Draw one open row per problem; if the open rows have no probability left, take the lowest."""
        scores = self.score(rows)
        picks = draw_by_mass(np.where(open_rows, scores, 0.0), rows.offsets, rng)
        return np.where(picks >= 0, picks, best_rows(scores, open_rows, rows.offsets)), scores

    certain = False

    def chances(self, rows: Rows, open_rows: Bools, position: int) -> Floats:
        return shared_chances(self.score(rows), open_rows, rows)


@saved_as("policies.PolicyDistribution")
@dataclass(frozen=True, eq=False)
class PolicyDistribution(Policy):
    """Draws a policy for every position from a distribution over a finite list of policies.

    Weighted Majority over experts (`learners.Experts`) makes it: the context-dependent counterpart of
    `ItemDistribution`.

    Attributes
    ----------
    policies : tuple of Policy
        The policies.
    probabilities : ndarray of float, shape (policies,)
        The probability of each.

    See Also
    --------
    PolicyMixture : Draws one policy per list instead of one per position.

    Examples
    --------
    >>> from listwright.policies import Linear
    >>> rows = Rows(np.array([[1.0], [3.0]], dtype=np.float32), np.array([0, 0]), np.array([0, 2]))
    >>> both = PolicyDistribution((Linear(np.array([1.0])), Linear(np.array([-1.0]))), np.array([0.75, 0.25]))
    >>> both.chances(rows, np.array([True, True]), 0)
    array([0.25, 0.75])
    """

    policies: tuple[Policy, ...]
    probabilities: Floats

    def validation_error(self) -> str:
        few = "" if len(self.policies) == len(self.probabilities) else "there must be one probability per policy"
        return _flaw(self.probabilities) or few

    def score(self, rows: Rows) -> Floats:
        return np.tensordot(self.probabilities, np.stack([policy.score(rows) for policy in self.policies]), axes=1)

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Draw a policy per problem and take its pick; the score of a row is its probability to be picked."""
        every = np.stack([policy.pick(rows, open_rows, position, rng)[0] for policy in self.policies])
        n_problems = every.shape[1]
        choice = rng.choice(len(self.policies), size=n_problems, p=self.probabilities)
        chances = np.zeros(len(rows.owners))
        for probability, picks in zip(self.probabilities, every, strict=True):
            np.add.at(chances, picks[picks >= 0], probability)
        return every[choice, np.arange(n_problems)], chances

    certain = False

    def chances(self, rows: Rows, open_rows: Bools, position: int) -> Floats:
        each = [policy.chances(rows, open_rows, position) for policy in self.policies]
        return np.tensordot(self.probabilities, np.stack(each), axes=1)


def _flaw(chances: Floats) -> str:
    sure = chances.ndim == 1 and not (chances < 0).any() and abs(float(chances.sum()) - 1.0) <= 1e-6
    return "" if sure else "probabilities must add up to 1"


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
        return 1.0 / np.diff(rows.offsets)[rows.owners]

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        counts = np.maximum(np.add.reduceat(open_rows.astype(np.int64), rows.offsets[:-1]), 1)
        chances = np.where(open_rows, 1.0 / counts[rows.owners], 0.0)
        return draw_by_mass(chances, rows.offsets, rng), chances

    certain = False

    def chances(self, rows: Rows, open_rows: Bools, position: int) -> Floats:
        return shared_chances(np.ones(len(open_rows)), open_rows, rows)
