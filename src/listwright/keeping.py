"""Which of the policies of a run is kept."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from listwright.policies import Mixture, Policy
from listwright.problems import Problems

KEEPS = ("last", "best", "mixture")
VALIDATION = 0.2  # share of the training problems that chooses the best round, and is not learned from
RESERVOIR = 256  # policies that stand for the mixture over all rounds


class Keeper:
    """Keeps the last policy, the best on a validation part of the training problems, or the mixture over rounds.

    The mixture is uniform over rounds, as in the theorems. Up to 256 rounds all policies are kept; of more, a uniform
    sample, so that lists drawn from it have the same distribution.
    """

    def __init__(self, keep: str, problems: Problems, rng: np.random.Generator) -> None:
        self.keep = keep
        self.problems = problems
        self.validation: Problems | None = None
        if keep == "best" and len(problems) > 1:
            order = rng.permutation(len(problems))
            held = max(1, int(VALIDATION * len(problems)))
            self.validation, self.problems = problems[np.sort(order[:held])], problems[np.sort(order[held:])]
        self.policies: list[Policy] = []
        self.rounds = 0
        self.best: tuple[float, Policy] | None = None

    def go_on(self, kept: Policy | None, rounds: int) -> None:
        """Takes over the mixture over `rounds` earlier rounds of the same run; a run that starts has none."""
        if self.keep == "mixture" and isinstance(kept, Mixture) and rounds:
            self.policies, self.rounds = list(kept.policies), rounds

    def before_round(self, policy: Policy, n_states: int, rng: np.random.Generator) -> None:
        """Notes the policy that the round is walked with, once for each of its states."""
        if self.keep != "mixture":
            return
        for _ in range(n_states):
            self.rounds += 1
            if len(self.policies) < RESERVOIR:
                self.policies.append(policy)
            elif (slot := rng.integers(self.rounds)) < RESERVOIR:
                self.policies[slot] = policy

    def after_round(self, policy: Policy, value: Callable[[Problems], float]) -> None:
        """Measures the policy on the validation part."""
        if self.validation is None:
            return
        worth = value(self.validation)
        if self.best is None or worth > self.best[0]:
            self.best = worth, copy.copy(policy)

    def kept(self, last: Policy) -> Policy:
        """The policy to predict with."""
        if self.policies:
            return Mixture(tuple(self.policies))
        return last if self.best is None else self.best[1]
