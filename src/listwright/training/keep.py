"""Which policy of a run is kept for prediction."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from listwright._internal.arrays import Ints
from listwright.policies import Mixture, Policy
from listwright.training.checkpoints import Progress

KEEPS = ("last", "best", "mixture")
VALIDATION = 0.2  # share of the training problems that chooses the best round, and is not learned from
RESERVOIR = 256  # most policies in a mixture
FEW = 16  # the same for fitted estimators, and for policies too large for MEMORY
MEMORY = 1 << 26  # bytes


def held_out(count: int, rng: np.random.Generator) -> Ints | None:
    """Return the indices of the problems (or shards) that choose the best round and are not learned from."""
    if count < 2:
        return None
    return np.sort(rng.permutation(count)[: max(1, int(VALIDATION * count))])


class PolicyKeeper:
    """Keeps the last policy, the best one on held-out problems, or the mixture over rounds.

    The mixture is uniform over rounds, as in the theorems. Up to 256 rounds all policies are kept, beyond that a
    uniform sample, so that lists drawn from it have the same distribution. Of policies that hold a fitted estimator, or
    millions of weights, the sample has 16 policies or a few more: the same in expectation over fits, with a higher
    variance from fit to fit.
    """

    def __init__(self, keep: str) -> None:
        self.keep = keep
        self.policies: list[Policy] = []
        self.rounds = 0
        self.best: tuple[float, Policy] | None = None

    def go_on(self, kept: Policy | None, rounds: int) -> None:
        """Take over the mixture over `rounds` earlier rounds of the same run, if there were any."""
        if self.keep == "mixture" and isinstance(kept, Mixture) and rounds:
            self.policies, self.rounds = list(kept.policies), rounds

    def before_round(self, policy: Policy, n_states: int, rng: np.random.Generator) -> None:
        """Add the policy that the round is walked with to the mixture, once per state of the round."""
        if self.keep != "mixture" or (n_states > 1 and not policy.has_learned):
            return
        most = most_kept(policy)
        if len(self.policies) > most:  # a uniform sample of a uniform sample is uniform
            stay = rng.choice(len(self.policies), size=most, replace=False)
            self.policies = [self.policies[slot] for slot in np.sort(stay)]
        for _ in range(n_states):
            every = len(self.policies) == self.rounds
            self.rounds += 1
            if every and len(self.policies) < most:
                self.policies.append(policy)
            elif (slot := rng.integers(self.rounds)) < len(self.policies):
                self.policies[slot] = policy

    def after_round(self, policy: Policy, value: Callable[[], float | None]) -> float | None:
        """Measure the policy if the best one is wanted, keep it if it is the best so far, and return its value."""
        worth = value() if self.keep == "best" else None
        if worth is not None and (self.best is None or worth > self.best[0]):
            self.best = worth, copy.copy(policy)
        return worth

    def note(self, progress: Progress) -> None:
        """Store what was kept so far in the progress of a checkpoint."""
        progress.policies, progress.states = tuple(self.policies), self.rounds
        progress.best_value, progress.best_policy = (None, None) if self.best is None else self.best

    def recall(self, progress: Progress) -> None:
        """Restore what was kept from the progress of a checkpoint."""
        self.policies, self.rounds = list(progress.policies), progress.states
        if progress.best_value is not None and progress.best_policy is not None:
            self.best = progress.best_value, progress.best_policy

    def kept(self, last: Policy) -> Policy:
        """Return the policy to predict with."""
        if self.policies:
            return Mixture(tuple(self.policies))
        return last if self.best is None else self.best[1]


def most_kept(policy: Policy) -> int:
    """Return how many such policies a mixture keeps, so that they use little memory."""
    held = policy.nbytes
    return FEW if held is None else max(FEW, min(RESERVOIR, MEMORY // max(held, 1)))
