"""The chances that a policy itself gives: of learners that draw, such as Exp3 and Exp4, and of those that do not."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.segments import best_rows
from listwright.errors import InputError
from listwright.features import Rows
from listwright.feedback.explore.base import Exploration
from listwright.policies import ItemDistribution, Policy, PolicyDistribution, Random, Sequence
from listwright.policies.mixture import Drawn, Mixture
from listwright.policies.perturbed import ItemLeader, PolicyLeader


class Own(Exploration):
    """Nothing beyond what the policy draws itself."""

    def chances(self, policy: Policy, rows: Rows, options: Bools, position: int, learned: float) -> tuple[Floats, Ints]:
        """See `own_chances`; the likeliest row is the one that stands for no exploration."""
        chances = own_chances(policy, rows, options, position)
        return chances, best_rows(chances, options, rows.offsets)


def own_chances(policy: Policy, rows: Rows, options: Bools, position: int) -> Floats:
    """By row: the chance that the policy picks it, exact; 1 for the pick of a policy that draws nothing.

    >>> from listwright.policies import Linear
    >>> rows = Rows(np.array([[1.0], [3.0]], dtype=np.float32), np.array([0, 0]), np.array([0, 2]))
    >>> both = PolicyDistribution((Linear(np.array([1.0])), Random()), np.array([0.8, 0.2]))
    >>> own_chances(both, rows, np.array([True, True]), 0)
    array([0.1, 0.9])
    """
    if isinstance(policy, PolicyDistribution):
        parts = [own_chances(one, rows, options, position) for one in policy.policies]
        return np.tensordot(policy.probabilities, np.stack(parts), axes=1)
    if isinstance(policy, Sequence):
        return own_chances(policy.policies[min(position, len(policy.policies) - 1)], rows, options, position)
    if isinstance(policy, ItemDistribution):
        return _shares(policy.score(rows), options, rows)
    if isinstance(policy, Random):
        return _shares(np.ones(len(options)), options, rows)
    if isinstance(policy, Mixture | Drawn | ItemLeader | PolicyLeader):
        raise InputError(f"The chances of a {type(policy).__name__} policy are not known exactly. Use another learner.")
    return _certain(policy.score(rows), options, rows)


def _shares(mass: Floats, options: Bools, rows: Rows) -> Floats:
    """In proportion to the mass of the open rows; where there is none, the first of them."""
    mass = np.where(options, mass, 0.0)
    totals = np.add.reduceat(mass, rows.offsets[:-1])
    shares = mass / np.where(totals > 0, totals, 1.0)[rows.owners]
    return np.where((totals > 0)[rows.owners], shares, _certain(np.zeros(len(mass)), options, rows))


def _certain(scores: Floats, options: Bools, rows: Rows) -> Floats:
    picks = best_rows(scores, options, rows.offsets)
    chances = np.zeros(len(scores))
    chances[picks[picks >= 0]] = 1.0
    return chances
