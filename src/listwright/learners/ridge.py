"""Follow the regularised leader on the squared loss, from sums alone."""

from __future__ import annotations

import numpy as np

from listwright._arrays import Floats, Ints
from listwright._kernels.linear import crossed_scores
from listwright.errors import InputError
from listwright.examples import Examples, centered
from listwright.learners.base import Learner
from listwright.learners.sums import RidgeSums
from listwright.policies import Linear, Policy


class RidgeLeader(Learner):
    """Predicts gains by ridge regression on all examples so far: exact, and no slower as data goes by.

    The weighted squared loss w * sum_s (h . v(s) - target(s))^2 needs only sums of products, so an update costs the new
    rows, and a policy one linear solve. Only differences between the candidates of a state decide what is picked; so
    by default both sides are taken relative to the state's mean, which is the squared loss over pairs of candidates.
    (Crossed columns stay as they are, as their blocks must not meet; where every state offers every item, the result is
    the same.)

    Parameters
    ----------
    penalty : weight of |h|^2, above 0.
    target : "gain" (b(s)) or "cost" (minus the paper's c(s)); the same where `center` is on.
    center : compare the candidates of a state with each other only; False is the loss as the paper prints it.
    """

    def __init__(self, penalty: float = 1.0, *, target: str = "gain", center: bool = True) -> None:
        self.penalty = penalty
        self.target = target
        self.center = center

    def learn(self, examples: Examples) -> None:
        """Adds the rows to the sums."""
        if self.target not in ("gain", "cost"):
            raise InputError(f"target must be gain or cost. Got {self.target!r}.")
        if not self.penalty > 0:
            raise InputError(f"penalty must be above 0. Got {self.penalty!r}.")
        if not hasattr(self, "sums_"):
            self.sums_ = RidgeSums.like(examples.rows)
            self.loss_ = 0.0
        rows, offsets = examples.used_rows
        if not len(rows):
            return
        table = examples.rows.table[rows].astype(np.float64)
        target = (examples.gains if self.target == "gain" else -examples.costs)[rows]
        if self.center:
            table, target = centered(table, offsets), centered(target, offsets)
        self.loss_ += examples.weight * float(np.sum((self._foretold(examples, table, rows) - target) ** 2))
        self.sums_.take_in(table, target, examples.weight)
        if examples.rows.crossed is not None:
            self.sums_.take_in_crossed(
                examples.rows.crossed, examples.rows.owners[rows], rows, table, target, examples.weight
            )

    def policy(self) -> Policy:
        """Solves for the weights."""
        self.policy_ = Linear(*self.sums_.solve(self.penalty))
        return self.policy_

    def _foretold(self, examples: Examples, table: Floats, rows: Ints) -> Floats:
        """What the policy in use says of the rows."""
        policy: Linear | None = getattr(self, "policy_", None)
        if policy is None:
            return np.zeros(len(rows))
        crossed = examples.rows.crossed
        if crossed is None or policy.item_weights is None:
            return table @ policy.weights
        own = crossed_scores(crossed.items[rows], examples.rows.owners[rows], crossed.states, policy.item_weights)
        return table @ policy.weights + own

    def surrogate_loss(self) -> float | None:
        """Squared error of the policies in use."""
        return getattr(self, "loss_", None)

    def best_surrogate_loss(self) -> float | None:
        """Smallest squared error of any weights, from the sums."""
        return self.sums_.smallest_loss() if hasattr(self, "sums_") else None
