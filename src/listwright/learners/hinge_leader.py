"""Follow the leader on the pairwise hinge: a ranking SVM, solved in full after every round."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Floats32, Ints, starts_of
from listwright._internal.saved import saved_as
from listwright.learners.base import RowKeeper, check_number
from listwright.learners.examples import Examples
from listwright.learners.losses import least_hinge
from listwright.policies import Linear, Policy


@saved_as("learners.HingeLeader")
class HingeLeader(RowKeeper):
    """The linear weights with the least pairwise hinge loss on all examples so far.

    This is the paper's reduction to ranking: of two candidates of a state, the cheaper one must score higher by a
    margin, and a miss counts by the difference in cost. The pairs are never listed, so a state with n candidates takes
    n log n steps. Every round solves from the start on all rows, so it suits data that fit into memory. Gradient
    descent on the same loss (`learner="hinge_rank"`) takes the rows one round at a time.

    Parameters
    ----------
    penalty : float
        Weight of |h|^2 / 2 against the summed loss; above 0.

    Attributes
    ----------
    tables_, costs_, counts_ : list of ndarray
        Rows kept, their weighted costs, and the number of rows of each state; one entry per call of `learn`.
    items_, states_ : list of ndarray
        The same for crossed columns, where there are any.
    n_items_ : int
        Size of the catalogue that columns are crossed with, 0 for none.

    See Also
    --------
    GradientDescent : The same loss, one step per round.
    SoftmaxLeader : A smooth loss within states, solved in full too.

    Examples
    --------
    >>> import listwright as lw
    >>> x = np.random.default_rng(0).random((100, 5, 2))
    >>> problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7))
    >>> model = lw.SCP(length=2, learner="hinge", random_state=0).fit(problems)
    >>> round(model.score(problems), 2)
    0.87
    """

    surrogate = "hinge_rank"
    tables_: list[Floats32]
    costs_: list[Floats]
    counts_: list[Ints]
    items_: list[Ints]
    states_: list[Floats32]
    kept = ("tables_", "costs_", "counts_", "items_", "states_")

    def __init__(self, penalty: float = 1.0) -> None:
        self.penalty = penalty

    def learn(self, examples: Examples) -> None:
        if not hasattr(self, "tables_"):
            check_number("penalty", self.penalty)
        crossed, (rows, offsets) = examples.rows.crossed, examples.used_rows
        self.n_items_ = 0 if crossed is None else crossed.n_items
        costs = examples.weight * examples.costs[rows]  # the loss is linear in the costs
        own = () if crossed is None else (crossed.items[rows], crossed.states[examples.rows.owners[rows]])
        self._keep(examples.rows.table[rows], costs, np.diff(offsets), *own)

    def join(self, part: Self) -> None:
        if hasattr(part, "n_items_"):
            self.n_items_ = part.n_items_
        super().join(part)

    def policy(self) -> Policy:
        table, costs = np.concatenate(self.tables_), np.concatenate(self.costs_)
        offsets, d = starts_of(np.concatenate(self.counts_)), table.shape[1]
        if not self.n_items_:
            return Linear(least_hinge(table, costs, offsets, penalty=self.penalty))
        together = sparse.hstack([sparse.csr_array(table), self._cross_columns()], format="csr")
        weights = least_hinge(together, costs, offsets, penalty=self.penalty)
        return Linear(weights[:d], weights[d:].reshape(self.n_items_, -1))

    def _cross_columns(self) -> sparse.csr_array:
        """CSR (rows, items * z): the columns "this item x this number of the state", nonzero in one block per row."""
        items, states = np.concatenate(self.items_), np.concatenate(self.states_)
        n, z = states.shape
        columns = items[:, None] * z + np.arange(z)
        shape = (n, self.n_items_ * z)
        return sparse.csr_array((states.ravel(), columns.ravel(), np.arange(n + 1) * z), shape=shape)

    def hindsight(self) -> str:
        return "There is no surrogate regret: the learner does not count the hinge loss of the policies in use."
