"""Follow the leader on the softmax loss within states."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from listwright._arrays import Floats, Floats32, Ints, starts_of
from listwright.examples import Examples
from listwright.learners.base import Learner
from listwright.policies import Linear, Policy


class SoftmaxLeader(Learner):
    """Linear weights under which a softmax over a state's candidates puts its mass where the gains are.

    The loss of a state is -sum_s q(s) log softmax(h . v)(s) with q in proportion to the gains: convex, and blind to
    what all candidates of a state share. It is solved on all examples so far, so it suits few columns.

    Parameters
    ----------
    penalty : weight of |h - prior|^2 / 2, in states.
    prior : the weights that the penalty pulls to; one number, or one a column.
    """

    surrogate = "softmax"

    def __init__(self, penalty: float = 1.0, *, prior: float | tuple[float, ...] = 0.0) -> None:
        self.penalty = penalty
        self.prior = prior

    def learn(self, examples: Examples) -> None:
        """Keeps the rows of the states where something can be gained."""
        if not hasattr(self, "tables_"):
            self.tables_: list[Floats32] = []
            self.shares_: list[Floats] = []
            self.counts_: list[Ints] = []
            self.weights_: list[Floats] = []
            self.n_columns_ = examples.rows.table.shape[1]
        gains = np.where(examples.used, np.maximum(examples.gains, 0.0), 0.0)
        total = np.add.reduceat(gains, examples.rows.offsets[:-1])
        rows = np.flatnonzero(examples.used & (total > 0)[examples.rows.owners])
        counts = np.bincount(examples.rows.owners[rows], minlength=len(total))
        self.tables_.append(examples.rows.table[rows])
        self.shares_.append(gains[rows] / total[examples.rows.owners[rows]])
        self.counts_.append(counts[counts > 0])
        self.weights_.append(np.full(int((counts > 0).sum()), examples.weight))

    def batch_size(self, n_states: int, n_rows: int) -> int:
        """All states at once: a round solves from the start."""
        return n_states

    def policy(self) -> Policy:
        """Solves for the weights, from where they were."""
        prior = np.broadcast_to(np.asarray(self.prior, dtype=np.float64), self.n_columns_).copy()
        data: list[Any] = [np.concatenate(parts) for parts in (self.tables_, self.shares_, self.counts_, self.weights_)]
        if not len(data[0]):
            return Linear(prior)
        start = getattr(self, "coefficients_", prior)
        solved = minimize(_loss, start, args=(*_prepared(*data), self.penalty, prior), jac=True, method="L-BFGS-B")
        self.coefficients_ = solved.x
        return Linear(solved.x)


def _prepared(table: Floats32, shares: Floats, counts: Ints, weights: Floats) -> tuple[Any, ...]:
    return table.astype(np.float64), shares, starts_of(counts), np.repeat(weights, counts)


def _loss(
    h: Floats, table: Floats, shares: Floats, offsets: Ints, weights: Floats, penalty: float, prior: Floats
) -> tuple[float, Floats]:
    """Weighted softmax loss and its gradient."""
    counts = np.diff(offsets)
    scores = table @ h
    scores -= np.repeat(np.maximum.reduceat(scores, offsets[:-1]), counts)
    exps = np.exp(scores)
    sums = np.add.reduceat(exps, offsets[:-1])
    chances = exps / np.repeat(sums, counts)
    loss = float(weights @ (shares * (np.repeat(np.log(sums), counts) - scores)))
    gradient = table.T @ (weights * (chances - shares))
    away = h - prior
    return loss + 0.5 * penalty * float(away @ away), gradient + penalty * away
