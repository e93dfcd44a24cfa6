"""Policies of follow the perturbed leader: the leader after fresh noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright._kernels.rows import best_rows
from listwright.errors import InputError
from listwright.features import Rows
from listwright.policies.base import Policy


@saved_as("policies.ItemLeader")
@dataclass(frozen=True, eq=False)
class ItemLeader(Policy):
    """Picks the open item with the highest total gain after exponential noise, which is new at every position.

    With scale 0 there is no noise, and this is follow the leader. `learners.FollowPerturbedLeader` over items returns
    this policy; create one yourself only to write a learner. The problems need a catalogue.

    Attributes
    ----------
    gains : ndarray of float, shape (items,)
        The total gain of each item so far.
    scale : float
        Scale of the noise.

    See Also
    --------
    PolicyLeader : The same over policies.

    Examples
    --------
    >>> leader = ItemLeader(np.array([2.0, 1.0]), scale=1.0)
    >>> leader.probabilities.round(3)
    array([0.816, 0.184])

    Within a model:

    >>> import listwright as lw
    >>> works = np.random.default_rng(0).random((200, 3)) < [0.2, 0.7, 0.4]
    >>> problems = lw.Problems.from_arrays(
    ...     np.zeros((200, 3, 0)), catalogue=[0, 1, 2], reward=lw.rewards.AnySuccess(works)
    ... )
    >>> model = lw.ContextFreeSCP(2, learner="perturbed_leader", random_state=0).fit(problems)
    >>> int(model.policy_.gains.argmax())
    1
    """

    gains: Floats
    scale: float = 0.0

    def validation_error(self) -> str:
        return "" if self.gains.ndim == 1 else "gains are of the wrong shape"

    @property
    def probabilities(self) -> Floats:
        return leader_chances(self.gains, self.scale)

    def score(self, rows: Rows) -> Floats:
        if rows.crossed is None:
            raise InputError("A leader among items needs a catalogue, but these problems have none.")
        return self.gains[rows.crossed.items]

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        scores = self.score(rows)
        noisy = scores if self.scale == 0 else scores + self.scale * rng.exponential(size=len(scores))
        return best_rows(noisy, open_rows, rows.offsets), scores

    @property
    def certain(self) -> bool:  # type: ignore[override]
        return self.scale == 0


@saved_as("policies.PolicyLeader")
@dataclass(frozen=True, eq=False)
class PolicyLeader(Policy):
    """Lets every position be picked by the policy with the highest total gain, after fresh noise for every problem.

    Attributes
    ----------
    policies : tuple of Policy
        The policies.
    gains : ndarray of float, shape (policies,)
        The total gain of each so far.
    scale : float
        Scale of the exponential noise.

    See Also
    --------
    ItemLeader : The same over items.

    Examples
    --------
    >>> from listwright.policies import Linear
    >>> leader = PolicyLeader((Linear(np.array([1.0])), Linear(np.array([-1.0]))), np.array([1.0, 1.0]), scale=0.5)
    >>> leader.probabilities
    array([0.5, 0.5])
    """

    policies: tuple[Policy, ...]
    gains: Floats
    scale: float

    def validation_error(self) -> str:
        right = self.policies and self.gains.shape == (len(self.policies),)
        return "" if right else "policies are missing"

    @property
    def probabilities(self) -> Floats:
        return leader_chances(self.gains, self.scale)

    def score(self, rows: Rows) -> Floats:
        return self.policies[int(np.argmax(self.gains))].score(rows)

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Draw a leader per problem and take its pick; the score of a row is the number of policies that pick it."""
        n_problems = len(rows.offsets) - 1
        noise = rng.exponential(size=(n_problems, len(self.policies)))
        leaders = np.argmax(self.gains + self.scale * noise, axis=1)
        every = np.stack([policy.pick(rows, open_rows, position, rng)[0] for policy in self.policies])
        votes = np.bincount(every[every >= 0], minlength=len(rows.owners)).astype(np.float64)
        return every[leaders, np.arange(n_problems)], votes

    certain = False


def leader_chances(gains: Floats, scale: float) -> Floats:
    """Return the probability of each expert to lead after exponential noise is added to everyone's gains."""
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
