"""Follow the leader on the softmax loss within states: a conditional logit, solved in full after every round."""

from __future__ import annotations

from typing import Self

import numpy as np
import scipy

from listwright._internal.arrays import Floats, Floats32, Ints, pieces, starts_of
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.learners.base import RowKeeper, check_number
from listwright.learners.examples import Examples, sampled_states
from listwright.policies import Linear, Policy

CLOSE_ENOUGH = {"ftol": 1e-6, "gtol": 1e-6}  # relative; later digits change no list


@saved_as("learners.SoftmaxLeader")
class SoftmaxLeader(RowKeeper):
    """Linear weights under which a softmax over a state's candidates puts its mass where the gains are.

    A ridge spends its weights on predicting large gains well; this loss only asks which candidate is best, which is
    what a list needs. It is solved on all examples so far, so it suits few columns, and ignores those that are crossed
    with an item (`features.Identity`): where identity matters, use `RidgeFTRL`.

    Parameters
    ----------
    penalty : float
        Weight of |h - prior|^2 / 2, in states or, with `by="gains"`, in gains.
    prior : float or tuple of float
        The weights that the penalty pulls to: one number, or those of the first columns, 0 for the rest.
    by : {"states", "gains"}
        Weight of a state: the same for all, or the sum of its gains. With gains that are divided by the ideal of each
        problem (as `rewards.AlphaCoverage` divides them), problems count alike and early positions more.
    most_rows : int, optional
        Solves on an even sample of the states with about this many rows, where there are more.

    Attributes
    ----------
    coefficients_ : ndarray of shape (columns,)
        The solution of the last round.
    loss_ : float
        Loss of the weights in use, summed over the rounds.
    reach_ : float
        Norm of the longest weights in use.

    See Also
    --------
    RidgeFTRL : Squared loss; keeps sums and no rows.
    HingeLeader : Pairwise hinge within states.

    Notes
    -----
    The loss of a state is -sum_s q(s) log softmax(h . v)(s) with q in proportion to the gains: convex, and blind to
    what all candidates of a state share.

    Examples
    --------
    >>> import listwright as lw
    >>> features = np.random.default_rng(0).random((60, 8, 2))
    >>> problems = lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(features[..., 0] > 0.7))
    >>> model = lw.SCP(2, learner=SoftmaxLeader(by="gains"), random_state=0).fit(problems)
    >>> float(round(model.score(problems), 2))
    0.97
    """

    surrogate = "softmax"
    kept = ("tables_", "shares_", "counts_", "weights_")

    def __init__(
        self,
        penalty: float = 1.0,
        *,
        prior: float | tuple[float, ...] = 0.0,
        by: str = "states",
        most_rows: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.prior = prior
        self.by = by
        self.most_rows = most_rows

    def learn(self, examples: Examples) -> None:
        self._open(examples.rows.table.shape[1])
        gains = np.where(examples.row_mask, np.maximum(examples.gains, 0.0), 0.0)
        total = np.add.reduceat(gains, examples.rows.offsets[:-1])
        rows = np.flatnonzero(examples.row_mask & (total > 0)[examples.rows.owners])
        counts = np.bincount(examples.rows.owners[rows], minlength=len(total))
        shares, counted = gains[rows] / total[examples.rows.owners[rows]], counts > 0
        worth = total[counted] if self.by == "gains" else np.ones(int(counted.sum()))
        self._keep(examples.rows.table[rows], shares, counts[counted], examples.weight * worth)
        if len(rows):
            self.loss_ += _loss(self.in_use_, *self._data(slice(-1, None)), 0.0, self.in_use_)[0]

    def _open(self, n_columns: int) -> None:
        """Check the parameters and create the empty lists of rows before the first example."""
        if not hasattr(self, "tables_"):
            check_number("penalty", self.penalty, zero=True)
            if self.by not in ("states", "gains"):
                raise InputError(f"by must be states or gains. Got {self.by!r}.")
            if np.ndim(self.prior) > 1 or np.size(self.prior) > n_columns:
                raise InputError(
                    f"prior must be one number, or up to one per column ({n_columns}). Got {self.prior!r}."
                )
            self.tables_: list[Floats32] = []
            self.shares_: list[Floats] = []
            self.counts_: list[Ints] = []
            self.weights_: list[Floats] = []
            self.n_columns_ = n_columns
            self.in_use_: Floats = getattr(self, "in_use_", np.zeros(n_columns))
            self.loss_, self.reach_ = 0.0, 0.0

    def fork(self) -> Self:
        twin = super().fork()
        if hasattr(self, "in_use_"):
            twin.in_use_ = self.in_use_
        return twin

    def join(self, part: Self) -> None:
        if hasattr(part, "tables_"):
            self._open(part.n_columns_)
            super().join(part)
            self.loss_ += part.loss_

    def policy(self) -> Policy:
        prior = self._prior()
        data, start = self._data(slice(None), self.most_rows), getattr(self, "coefficients_", prior)
        if len(data[0]):
            penalty = self.penalty * len(data[0]) / sum(map(len, self.tables_))  # as much as on all rows
            args = (*data, penalty, prior)
            options = {"jac": True, "method": "L-BFGS-B", "options": CLOSE_ENOUGH}
            self.coefficients_ = scipy.optimize.minimize(_loss, start, args, **options).x
        self.in_use_ = self.coefficients_ if len(data[0]) else prior
        self.reach_ = max(self.reach_, float(np.linalg.norm(self.in_use_)))
        return Linear(self.in_use_)

    def _prior(self) -> Floats:
        if np.ndim(self.prior) == 0:
            return np.full(self.n_columns_, self.prior, dtype=np.float64)
        given = np.asarray(self.prior, dtype=np.float64)
        return np.pad(given, (0, self.n_columns_ - len(given)))

    def surrogate_loss(self) -> float | None:
        return getattr(self, "loss_", None)

    def best_surrogate_loss(self) -> float | None:
        """Lower bound on the loss of any fixed weights up to a norm: the longest in use, or that of the unpenalised
        solution.

        The loss is convex, so its gradient where the solver stops bounds how far that is from the least.
        """
        if not hasattr(self, "loss_") or not sum(map(len, self.tables_)):
            return self.surrogate_loss()
        args = (*self._data(slice(None)), 0.0, np.zeros(self.n_columns_))
        solved = scipy.optimize.minimize(_loss, self.in_use_, args, jac=True, method="L-BFGS-B")
        radius = max(self.reach_, float(np.linalg.norm(solved.x)))
        return max(float(solved.fun - solved.jac @ solved.x) - radius * float(np.linalg.norm(solved.jac)), 0.0)

    def hindsight(self) -> str:
        """Say against which weights the regret is meant, and that it is solved to the solver's precision."""
        return (
            "The surrogate regret is against the best of all weights no longer than those in use or those that solve "
            "the examples kept without a penalty, to the solver's precision."
        )

    def _data(self, which: slice, most_rows: int | None = None) -> tuple[Floats, Floats, Ints, Floats]:
        """Table, shares, offsets and row weights of some of the examples kept, or of an even sample of their states."""
        counts, weights = np.concatenate(self.counts_[which]), np.concatenate(self.weights_[which])
        table, shares = np.concatenate(self.tables_[which]), np.concatenate(self.shares_[which])
        if most_rows is not None and len(table) > most_rows:
            states = sampled_states(counts, most_rows)
            rows, counts, weights = pieces(starts_of(counts), states), counts[states], weights[states]
            table, shares = table[rows], shares[rows]
        return table.astype(np.float64), shares, starts_of(counts), np.repeat(weights, counts)


def _loss(
    h: Floats, table: Floats, shares: Floats, offsets: Ints, weights: Floats, penalty: float, prior: Floats
) -> tuple[float, Floats]:
    """Weighted softmax loss with penalty, and its gradient in h, in the form that `scipy.optimize.minimize` takes."""
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
