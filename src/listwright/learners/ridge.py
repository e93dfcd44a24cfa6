"""Follow the regularised leader on the squared loss, from sums alone."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from listwright._arrays import Floats
from listwright.examples import Examples
from listwright.learners.base import Learner
from listwright.learners.sums import RidgeSums
from listwright.policies import Linear, Policy, Uniform


class RidgeLeader(Learner):
    """Predicts each item's gain by ridge regression on all examples so far: exact, and no slower as data goes by.

    The weighted squared loss w * sum_s (h . v(s) - target(s))^2 needs only sums of products, so an update costs the new
    rows, and a policy one linear solve.

    Parameters
    ----------
    penalty : weight of |h|^2.
    target : "gain" (b(s)) or "cost" (minus the paper's c(s): how far behind the best option).
    """

    def __init__(self, penalty: float = 1.0, *, target: str = "gain") -> None:
        self.penalty = penalty
        self.target = target

    def learn(self, examples: Examples) -> None:
        """Adds the rows to the sums."""
        targets = examples.gains if self.target == "gain" else -examples.costs
        if not hasattr(self, "sums_"):
            self.sums_ = RidgeSums.like(examples.rows)
            self.loss_ = 0.0
        self.loss_ += self._loss(examples, targets)
        self.sums_.take_in(examples, targets)

    def policy(self) -> Policy:
        """Solves for the weights."""
        weights, item_weights = self.sums_.solve(self.penalty)
        self.policy_ = Linear(weights, item_weights)
        return self.policy_

    def _loss(self, examples: Examples, targets: Floats) -> float:
        policy: Policy = getattr(self, "policy_", Uniform())
        errors = (policy.score(examples.rows) - targets)[examples.used]
        return float(examples.weight * (errors @ errors))

    def surrogate_loss(self) -> float | None:
        """Squared error of the policies in use."""
        return getattr(self, "loss_", None)

    def best_surrogate_loss(self) -> float | None:
        """Smallest squared error of any weights, from the sums."""
        return self.sums_.smallest_loss() if hasattr(self, "sums_") else None
