"""Online gradient descent (AdaGrad) on a convex stand-in for the cost; losses come from `learners.losses`."""

from __future__ import annotations

from typing import Self

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.parameters import clone
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features import Rows
from listwright.learners.base import Learner, check_number
from listwright.learners.examples import Examples
from listwright.learners.losses import LOSSES
from listwright.policies import Linear, Policy


@saved_as("learners.GradientDescent")
class GradientDescent(Learner):
    """Linear weights by AdaGrad: one step per round along the gradient of the round's weighted loss.

    Use it for the ranking losses, for streams too large to keep, or where memory must not grow. `RidgeFTRL` minimises
    the squared loss exactly and needs no rate; `HingeLeader` solves the hinge in full where rows fit into memory.

    Parameters
    ----------
    loss : {"squared", "hinge_rank"}
        "squared" predicts minus the cost; the other two compare every pair of candidates, weighted by the difference of
        their costs.
    rate : float
        Length of a step in each direction, before it is divided by the root of the squared gradients seen there.
    penalty : float
        Weight of |h|^2 / 2 in every round.

    Attributes
    ----------
    weights_ : ndarray of shape (columns,)
        The current weights.
    item_weights_ : ndarray of shape (items, z) or None
        Weights of the crossed columns, where there are any.
    loss_ : float
        Loss of the weights in use, summed over the rounds.
    tangent_ : float
        Sum over the rounds of <g_t, w_t>.
    reach_ : float
        Norm of the longest weights in use.

    See Also
    --------
    RidgeFTRL : The squared loss, solved exactly.
    HingeLeader : The pairwise hinge, solved in full.

    Examples
    --------
    >>> from listwright.learners import as_learner
    >>> as_learner("hinge_rank")
    GradientDescent(loss='hinge_rank')
    """

    loss_: float
    tangent_: float  # sum over the rounds of <g_t, w_t>
    reach_: float  # length of the longest weights in use

    def __init__(self, loss: str = "squared", *, rate: float = 0.1, penalty: float = 0.0) -> None:
        self.loss = loss
        self.rate = rate
        self.penalty = penalty

    @property
    def surrogate(self) -> str:  # type: ignore[override]
        return self.loss

    def learn(self, examples: Examples) -> None:
        if not hasattr(self, "weights_"):
            self._start(examples.rows)
        rows, offsets = examples.used_rows
        if not len(rows):
            return
        scores = Linear(self.weights_, self.item_weights_).score(examples.rows)[rows]
        losses, slopes = LOSSES[self.loss](scores, examples.costs[rows], offsets)
        self.loss_ += examples.weight * float(losses.sum())
        self._add_gradient(examples.rows, rows, examples.weight * slopes)
        self.states_: int = max(self.states_, len(offsets) - 1)

    def policy(self) -> Policy:
        self.tangent_ += self._level()
        for (weights, gradient, squares), slope in zip(self._blocks(), self.slopes_, strict=True):
            slope += gradient
            step = gradient / max(self.states_, 1) + self.penalty * weights
            squares += step**2
            weights -= self.rate * step / np.sqrt(squares + 1e-12)
            gradient[:] = 0.0
        self.states_ = 0
        self.reach_ = max(self.reach_, _length([weights for weights, _, _ in self._blocks()]))
        item_weights = None if self.item_weights_ is None else self.item_weights_.copy()
        return Linear(self.weights_.copy(), item_weights)

    def fork(self) -> Self:
        twin = clone(self)
        if hasattr(self, "weights_"):
            twin._open(self.weights_, self.item_weights_)
        return twin

    def join(self, part: Self) -> None:
        if not hasattr(part, "weights_"):
            return
        if not hasattr(self, "weights_"):
            self._open(part.weights_, part.item_weights_)
        for mine, theirs in zip(self.gradients_, part.gradients_, strict=True):
            mine += theirs
        self.loss_ += part.loss_
        self.states_ += part.states_

    def batch_size(self, n_states: int, n_rows: int) -> int:
        return max(1, min(8, n_states // 16))

    def surrogate_loss(self) -> float | None:
        return getattr(self, "loss_", None)

    def best_surrogate_loss(self) -> float | None:
        """Lower bound on the loss of any fixed weights w no longer than the learner's own ever were.

        Losses are convex, so that the sum of C_t(w) is at least that of C_t(w_t) + <g_t, w - w_t>, which is least for w
        opposite to the summed gradients g_t. That takes these sums and no examples.
        """
        if not hasattr(self, "weights_"):
            return None
        slope = _length([slope + gradient for slope, gradient in zip(self.slopes_, self.gradients_, strict=True)])
        return max(self.loss_ - self.tangent_ - self._level() - self.reach_ * slope, 0.0)

    def hindsight(self) -> str:
        return (
            "The surrogate regret is a bound from the gradients seen, against the best of all weights of length up to "
            f"{getattr(self, 'reach_', 0.0):.3g}, the longest in use."
        )

    def _start(self, rows: Rows) -> None:
        if self.loss not in LOSSES:
            raise InputError(f"loss must be one of {', '.join(LOSSES)}. Got {self.loss!r}.")
        check_number("rate", self.rate)
        check_number("penalty", self.penalty, zero=True)
        crossed = rows.crossed
        own = None if crossed is None else np.zeros((crossed.n_items, crossed.states.shape[1]))
        self._open(np.zeros(rows.table.shape[1]), own)

    def _open(self, weights: Floats, item_weights: Floats | None) -> None:
        self.weights_, self.item_weights_ = weights, item_weights
        kept = [self.weights_] if self.item_weights_ is None else [self.weights_, self.item_weights_]
        self.gradients_ = [np.zeros_like(weights) for weights in kept]
        self.squares_ = [np.zeros_like(weights) for weights in kept]
        self.slopes_ = [np.zeros_like(weights) for weights in kept]  # summed gradients of all rounds
        self.loss_, self.tangent_, self.reach_, self.states_ = 0.0, 0.0, 0.0, 0

    def _level(self) -> float:
        return sum(float((gradient * weights).sum()) for weights, gradient, _ in self._blocks())

    def _blocks(self) -> list[tuple[Floats, Floats, Floats]]:
        kept = [self.weights_] if self.item_weights_ is None else [self.weights_, self.item_weights_]
        return list(zip(kept, self.gradients_, self.squares_, strict=True))

    def _add_gradient(self, rows: Rows, used: Ints, slopes: Floats) -> None:
        self.gradients_[0] += rows.table[used].astype(np.float64).T @ slopes
        if rows.crossed is not None:
            by_item = np.zeros((rows.crossed.n_items, len(rows.crossed.states)))
            by_item[rows.crossed.items[used], rows.owners[used]] = slopes
            self.gradients_[1] += by_item @ rows.crossed.states.astype(np.float64)


def _length(parts: list[Floats]) -> float:
    return float(np.sqrt(sum(float((part * part).sum()) for part in parts)))
