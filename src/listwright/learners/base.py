"""A learner: a no-regret update on cost-sensitive examples (the paper's Update)."""

from __future__ import annotations

from abc import ABC, abstractmethod

from sklearn.base import BaseEstimator

from listwright.examples import Examples
from listwright.policies import Policy, Uniform


class Learner(BaseEstimator, ABC):
    """`learn` takes the examples of one position of one batch; `policy` ends the round and gives the next policy.

    A learner is cloned before it learns, so that the object that a user passes is never changed.
    """

    surrogate = "squared"  # the convex loss that stands for the cost, "" where the cost itself is learned

    @abstractmethod
    def learn(self, examples: Examples) -> None:
        """Takes in the examples of one position."""

    @abstractmethod
    def policy(self) -> Policy:
        """The policy after all examples so far."""

    def first_policy(self) -> Policy:
        """The policy before any example."""
        return Uniform()

    def batch_size(self, n_states: int, n_rows: int) -> int:
        """States between two updates, where the user leaves that open: four updates a pass."""
        return max(1, n_states // 4)

    def surrogate_loss(self) -> float | None:
        """Sum over the rounds of the surrogate loss of the policy that was in use, where it is counted."""
        return None

    def best_surrogate_loss(self) -> float | None:
        """The same sum for the best single policy in hindsight, where it can be computed."""
        return None
