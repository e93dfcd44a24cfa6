"""The leader after fresh noise: what follow the perturbed leader plays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright._kernels.segments import best_rows
from listwright.errors import InputError
from listwright.features import Rows
from listwright.policies.base import Policy


@saved_as("policies.ItemLeader")
@dataclass(frozen=True, eq=False)
class ItemLeader(Policy):
    """The open item with the highest gains so far, after noise of the given scale that is new at every position.

    The noise is exponential. With scale 0 there is none, and this is the leader itself.
    """

    gains: Floats  # by item of the catalogue
    scale: float = 0.0

    def flaw(self) -> str:
        """What is wrong with it, where it was read from a file."""
        return "" if self.gains.ndim == 1 else "gains are of the wrong shape"

    @property
    def probabilities(self) -> Floats:
        """Chance of each item to lead."""
        return leader_chances(self.gains, self.scale)

    def score(self, rows: Rows) -> Floats:
        """The item's gains so far, without noise."""
        if rows.crossed is None:
            raise InputError("A leader among items needs a catalogue, but these problems have none.")
        return self.gains[rows.crossed.items]

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """The best open row after noise; the scores are the gains without it."""
        scores = self.score(rows)
        noisy = scores if self.scale == 0 else scores + self.scale * rng.exponential(size=len(scores))
        return best_rows(noisy, open_rows, rows.offsets), scores

    @property
    def certain(self) -> bool:
        """Not with noise."""
        return self.scale == 0


@saved_as("policies.PolicyLeader")
@dataclass(frozen=True, eq=False)
class PolicyLeader(Policy):
    """Every position is picked by the policy with the highest gains so far, after fresh noise for every problem."""

    policies: tuple[Policy, ...]
    gains: Floats  # by policy
    scale: float

    def flaw(self) -> str:
        """What is wrong with it, where it was read from a file."""
        right = self.policies and self.gains.shape == (len(self.policies),)
        return "" if right else "policies are missing"

    @property
    def probabilities(self) -> Floats:
        """Chance of each policy to lead."""
        return leader_chances(self.gains, self.scale)

    def score(self, rows: Rows) -> Floats:
        """The score of the leader without noise."""
        return self.policies[int(np.argmax(self.gains))].score(rows)

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Draws a leader for each problem, and takes its pick; the score of a row is how many policies pick it."""
        n_problems = len(rows.offsets) - 1
        noise = rng.exponential(size=(n_problems, len(self.policies)))
        leaders = np.argmax(self.gains + self.scale * noise, axis=1)
        every = np.stack([policy.pick(rows, open_rows, position, rng)[0] for policy in self.policies])
        votes = np.bincount(every[every >= 0], minlength=len(rows.owners)).astype(np.float64)
        return every[leaders, np.arange(n_problems)], votes

    @property
    def certain(self) -> bool:
        """Every problem draws its leader."""
        return False


def leader_chances(gains: Floats, scale: float) -> Floats:
    """Chance of each expert to lead after exponential noise of the given scale is added to every one's gains.

    With q = exp((gains - max) / scale), the chance of s is q(s) times the integral over u from 0 to 1 of the product
    over the others of (1 - q u): a polynomial, so that Gauss-Legendre with half as many points as experts is exact.

    Examples
    --------
    >>> leader_chances(np.array([1.0, 1.0]), 0.5)
    array([0.5, 0.5])
    >>> leader_chances(np.array([0.0, np.log(2.0)]), 1.0)  # P(a > b + ln 2) = 1/4 for exponential a, b
    array([0.25, 0.75])
    """
    if scale == 0:
        return np.eye(len(gains))[int(np.argmax(gains))]
    q = np.exp((gains - gains.max()) / scale)
    points, weights = _quadrature(min((len(q) + 1) // 2, 256))
    left = 1.0 - points[:, None] * q
    others = np.exp(np.log(left).sum(axis=1))[:, None] / left
    chances = q * (weights @ others)
    return chances / chances.sum()


@lru_cache(maxsize=8)
def _quadrature(n: int) -> tuple[Floats, Floats]:
    points, weights = np.polynomial.legendre.leggauss(n)
    return (points + 1.0) / 2.0, weights / 2.0
