"""Which of the policies of a run is kept."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from listwright._internal.arrays import Ints
from listwright.policies import Mixture, Policy
from listwright.training.checkpoints import Progress

KEEPS = ("last", "best", "mixture")
VALIDATION = 0.2  # share of the training problems that chooses the best round, and is not learned from
RESERVOIR = 256  # policies that stand for the mixture over all rounds
FEW = 16  # the same for policies that hold a fitted estimator, or so many weights that more would not fit MEMORY
MEMORY = 1 << 26  # bytes


def held_out(count: int, rng: np.random.Generator) -> Ints | None:
    """Which of so many problems (or shards) choose the best round, and are not learned from; None of a single one.

    Examples
    --------
    >>> held_out(10, np.random.default_rng(0))
    array([4, 6])
    """
    if count < 2:
        return None
    return np.sort(rng.permutation(count)[: max(1, int(VALIDATION * count))])


class Keeper:
    """Keeps the last policy, the best on problems held out of the training, or the mixture over rounds.

    The mixture is uniform over rounds, as in the theorems. Up to 256 rounds all policies are kept; of more, a uniform
    sample, so that lists drawn from it have the same distribution. Of policies that hold a fitted estimator, or weights
    by the million, the sample is of 16 or a few more: the same in expectation over fits, with a higher variance from
    fit to fit.
    """

    def __init__(self, keep: str) -> None:
        self.keep = keep
        self.policies: list[Policy] = []
        self.rounds = 0
        self.best: tuple[float, Policy] | None = None

    def go_on(self, kept: Policy | None, rounds: int) -> None:
        """Takes over the mixture over `rounds` earlier rounds of the same run; a run that starts has none."""
        if self.keep == "mixture" and isinstance(kept, Mixture) and rounds:
            self.policies, self.rounds = list(kept.policies), rounds

    def before_round(self, policy: Policy, n_states: int, rng: np.random.Generator) -> None:
        """Notes the policy that the round is walked with, once for each of its states."""
        if self.keep != "mixture" or (n_states > 1 and not policy.has_learned):
            return
        most = most_kept(policy)
        if len(self.policies) > most:  # an even sample of an even sample is one
            stay = rng.choice(len(self.policies), size=most, replace=False)
            self.policies = [self.policies[slot] for slot in np.sort(stay)]
        for _ in range(n_states):
            every = len(self.policies) == self.rounds
            self.rounds += 1
            if every and len(self.policies) < most:
                self.policies.append(policy)
            elif (slot := rng.integers(self.rounds)) < len(self.policies):
                self.policies[slot] = policy

    def after_round(self, policy: Policy, value: Callable[[], float | None]) -> None:
        """Measures the policy, where the best one is wanted."""
        worth = value() if self.keep == "best" else None
        if worth is not None and (self.best is None or worth > self.best[0]):
            self.best = worth, copy.copy(policy)

    def note(self, progress: Progress) -> None:
        """Writes down what it has seen."""
        progress.policies, progress.states = tuple(self.policies), self.rounds
        progress.best_value, progress.best_policy = (None, None) if self.best is None else self.best

    def recall(self, progress: Progress) -> None:
        """Takes that back."""
        self.policies, self.rounds = list(progress.policies), progress.states
        if progress.best_value is not None and progress.best_policy is not None:
            self.best = progress.best_value, progress.best_policy

    def kept(self, last: Policy) -> Policy:
        """The policy to predict with."""
        if self.policies:
            return Mixture(tuple(self.policies))
        return last if self.best is None else self.best[1]


def most_kept(policy: Policy) -> int:
    """How many such policies stand for a mixture, so that they take little memory.

    Examples
    --------
    >>> from listwright.policies import Estimator, Linear
    >>> most_kept(Linear(np.zeros(100))), most_kept(Estimator(None)), most_kept(Linear(np.zeros(100_000)))
    (256, 16, 83)
    """
    held = policy.nbytes
    return FEW if held is None else max(FEW, min(RESERVOIR, MEMORY // max(held, 1)))
