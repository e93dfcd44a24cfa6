"""Follow the regularised leader on the squared loss, from sums of products alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, reduce
from typing import Self

import numpy as np

from listwright._internal.arrays import FOLDS, Floats, Ints, solve, starts_of
from listwright._internal.parameters import clone
from listwright._internal.saved import saved_as
from listwright._kernels.rows import center, crossed_scores
from listwright.errors import InputError
from listwright.features import Crossed, Rows
from listwright.learners.base import Learner
from listwright.learners.examples import Examples, center_by_state
from listwright.policies import Linear, Policy

ROWS_AT_ONCE = 25_000
PENALTIES = np.logspace(-1, 4, 6)


@saved_as("learners.RidgeFTRL")
class RidgeFTRL(Learner):
    """Predicts gains by ridge regression on all examples so far: exact, and no slower as data goes by.

    The default. Use it wherever a linear policy over the features will do, for streams and for small data alike. For
    gains that are not linear in the features take `Aggregate` with trees; to spend the weights on the best candidate
    only, `SoftmaxLeader`.

    Parameters
    ----------
    penalty : float or str
        Weight of |h|^2; "auto" takes the one that predicts held-out folds of the training problems best, chosen again
        whenever the number of rounds has grown fourfold. That needs only the sums of each fold.
    target : {"gain", "cost"}
        b(s), or minus the paper's c(s); the same where `center` is on.
    center : bool
        Compare the candidates of a state with each other only; False is the loss as the paper prints it.

    Attributes
    ----------
    sums_ : list of RidgeSums
        One per fold, or a single one where the penalty is given.
    penalty_ : float
        The penalty in use.
    policy_ : Linear
        The policy of the last round.
    loss_ : float
        Squared error of the policies in use, summed over the rounds.

    See Also
    --------
    SoftmaxLeader : Asks only which candidate is best.
    Aggregate : Any scikit-learn estimator.

    Notes
    -----
    The weighted squared loss w * sum_s (h . v(s) - target(s))^2 needs only sums of products, so an update costs the new
    rows, and a policy one linear solve. Only differences between the candidates of a state decide what is picked; so by
    default both sides are taken relative to the state's mean, which is the squared loss over pairs of candidates.
    Crossed columns stay as they are, as their blocks must not meet; where every state offers every item, the result is
    the same.

    Examples
    --------
    >>> import listwright as lw
    >>> x = np.random.default_rng(0).random((100, 5, 2))
    >>> problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7))
    >>> model = lw.SCP(length=2, learner=RidgeFTRL(penalty=1.0), random_state=0).fit(problems)
    >>> bool(model.score(problems) > 0.8)
    True
    """

    sums_: list[RidgeSums]
    loss_: float
    penalty_: float
    rounds_: int
    next_choice_: int

    def __init__(self, penalty: float | str = "auto", *, target: str = "gain", center: bool = True) -> None:
        self.penalty = penalty
        self.target = target
        self.center = center

    def learn(self, examples: Examples) -> None:
        if not hasattr(self, "sums_"):
            self._start(examples.rows)
        rows, offsets, ends = rows_by_fold(examples, self._folds(examples), len(self.sums_))
        if not len(rows):
            return
        table = examples.rows.table[rows].astype(np.float64)
        target = (examples.gains if self.target == "gain" else -examples.costs)[rows]
        if self.center:
            center(table, offsets, table)
            target = center_by_state(target, offsets)
        self.loss_ += examples.weight * float(np.sum((self._predictions(examples, table, rows) - target) ** 2))
        crossed, owners = examples.rows.crossed, examples.rows.owners[rows]
        for fold in np.flatnonzero(np.diff(ends)):
            mine = slice(ends[fold], ends[fold + 1])
            self.sums_[fold].add_rows(table[mine], target[mine], examples.weight)
            if crossed is not None:
                self.sums_[fold].take_in_crossed(
                    crossed, owners[mine], rows[mine], table[mine], target[mine], examples.weight
                )

    def _folds(self, examples: Examples) -> Ints:
        if examples.folds is None:
            return np.zeros(len(examples.rows.offsets) - 1, dtype=np.int64)
        return examples.folds % len(self.sums_)

    def fork(self) -> Self:
        twin = clone(self)
        if hasattr(self, "policy_"):
            twin.policy_ = self.policy_
        return twin

    def join(self, part: Self) -> None:
        if not hasattr(part, "sums_"):
            return
        if not hasattr(self, "sums_"):
            self.sums_, self.penalty_, self.loss_ = part.sums_, part.penalty_, part.loss_
            self.rounds_, self.next_choice_ = part.rounds_, part.next_choice_
            return
        self.sums_ = [mine.combine(theirs) for mine, theirs in zip(self.sums_, part.sums_, strict=True)]
        self.loss_ += part.loss_

    def batch_size(self, n_states: int, n_rows: int) -> int:
        """Four updates per pass, and more where so many rows at once would leave the processor's cache."""
        return max(1, min(n_states // 4, ROWS_AT_ONCE * n_states // n_rows))

    def policy(self) -> Policy:
        total = reduce(RidgeSums.combine, self.sums_)
        self.rounds_ += 1
        if len(self.sums_) > 1 and self.rounds_ >= self.next_choice_:
            self.penalty_, self.next_choice_ = best_penalty(self.sums_, total, self.penalty_), 4 * self.rounds_
        self.policy_ = Linear(*total.solve(self.penalty_))
        return self.policy_

    def _start(self, rows: Rows) -> None:
        if self.target not in ("gain", "cost"):
            raise InputError(f"target must be gain or cost. Got {self.target!r}.")
        if self.penalty != "auto" and not (isinstance(self.penalty, int | float) and self.penalty > 0):
            raise InputError(f'penalty must be above 0, or "auto". Got {self.penalty!r}.')
        self.sums_ = [RidgeSums.like(rows) for _ in range(FOLDS if self.penalty == "auto" else 1)]
        self.penalty_ = 1.0 if self.penalty == "auto" else float(self.penalty)
        self.loss_, self.rounds_, self.next_choice_ = 0.0, 0, 1

    def _predictions(self, examples: Examples, table: Floats, rows: Ints) -> Floats:
        policy: Linear | None = getattr(self, "policy_", None)
        if policy is None:
            return np.zeros(len(rows))
        crossed = examples.rows.crossed
        if crossed is None or policy.item_weights is None:
            return table @ policy.weights
        own = crossed_scores(crossed.items[rows], examples.rows.owners[rows], crossed.states, policy.item_weights)
        return table @ policy.weights + own

    def try_out(self, examples: Examples) -> None:
        """Learning would compile kernels that a model that only builds lists never needs."""
        fresh = RidgeSums.like(examples.rows)
        for sums in getattr(self, "sums_", []):
            if sums.shapes != fresh.shapes or sums.n_items < fresh.n_items:  # it may know more
                raise InputError(f"sums of shapes {sums.shapes} where {fresh.shapes} are seen")

    def surrogate_loss(self) -> float | None:
        return getattr(self, "loss_", None)

    def best_surrogate_loss(self) -> float | None:
        return reduce(RidgeSums.combine, self.sums_).smallest_loss() if hasattr(self, "sums_") else None

    def hindsight(self) -> str:
        return "The surrogate regret is exact, against the best of all weights, which follows from the sums."


def rows_by_fold(examples: Examples, folds: Ints, n_folds: int) -> tuple[Ints, Ints, Ints]:
    """Return the rows in use, sorted by fold; where each state with any starts among them; and where each fold does."""
    rows = np.flatnonzero(examples.row_mask)
    owners = examples.rows.owners[rows]
    of_row = folds[owners]
    if n_folds > 1:
        order = np.argsort(of_row.astype(np.uint16), kind="stable")  # by counting, as numpy sorts these
        rows, owners = rows[order], owners[order]
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    return rows, np.append(starts, len(rows)), starts_of(np.bincount(of_row, minlength=n_folds))


def best_penalty(parts: list[RidgeSums], total: RidgeSums, start: float) -> float:
    """Return the penalty whose weights, solved without a fold, have the smallest squared error on the folds."""
    held = [(part, total.combine(part, -1.0)) for part in parts if part.squares > 0]
    if len(held) < 2:
        return start

    @cache
    def error(at: int) -> float:
        if not 0 <= at < len(PENALTIES):
            return np.inf
        return sum(part.loss(*rest.solve(PENALTIES[at])) for part, rest in held)

    at = int(np.abs(np.log(PENALTIES / start)).argmin())
    while (least := min(at, at - 1, at + 1, key=error)) != at:
        at = least
    return float(PENALTIES[at])


@saved_as("learners.RidgeSums")
@dataclass(eq=False)
class RidgeSums:
    """Gram matrix and products with the targets, for the table's columns and for crossed columns block by block."""

    # Crossed columns of different items never meet in a row, so their Gram matrix is block diagonal; and while every
    # state offers every item, all blocks are the same and one is kept.

    gram: Floats  # (d, d)
    right: Floats  # (d,)
    squares: float  # y'Wy
    n_items: int  # size of the catalogue, 0 where nothing is crossed
    cross_gram: Floats  # (1 or items, z, z)
    between: Floats  # (items, d, z)
    cross_right: Floats  # (items, z)

    def validation_error(self) -> str:
        d, z = len(self.right), self.cross_gram.shape[-1] if self.cross_gram.ndim == 3 else -1
        right = self.right.ndim == 1 and self.gram.shape == (d, d) and self.between.shape == (self.n_items, d, z)
        blocks = self.cross_gram.shape in {(1, z, z), (self.n_items, z, z)}
        own = self.cross_right.shape == (self.n_items, z)
        return "" if right and blocks and own else "sums are of the wrong shape"

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        return self.gram.shape, self.between.shape[1:], self.cross_gram.shape[1:]

    @classmethod
    def like(cls, rows: Rows) -> RidgeSums:
        d = rows.table.shape[1]
        items, z = (0, 0) if rows.crossed is None else (rows.crossed.n_items, rows.crossed.states.shape[1])
        blocks = np.zeros((1, z, z)), np.zeros((items, d, z)), np.zeros((items, z))
        return cls(np.zeros((d, d)), np.zeros(d), 0.0, items, *blocks)

    def add_rows(self, table: Floats, target: Floats, weight: float) -> None:
        """Add rows with one weight. The cost is rows times columns squared; nothing added before is touched."""
        self.gram += weight * (table.T @ table)
        self.right += weight * (table.T @ target)
        self.squares += weight * float(target @ target)

    def take_in_crossed(
        self, crossed: Crossed, owners: Ints, rows: Ints, table: Floats, target: Floats, weight: float
    ) -> None:
        """Add the crossed columns of rows that `add_rows` has added; rows of a state must be contiguous."""
        new = np.ones(len(owners), dtype=bool)
        np.not_equal(owners[1:], owners[:-1], out=new[1:])
        learned, places = owners[new], np.cumsum(new) - 1
        states, items = crossed.states[learned].astype(np.float64), crossed.items[rows]
        by_item = np.zeros((len(learned), self.n_items))
        by_item[places, items] = target
        self.cross_right += weight * (by_item.T @ states)
        if len(rows) == by_item.size:
            self.cross_gram += weight * (states.T @ states)
            tables = np.empty((len(learned), self.n_items, table.shape[1]))
            tables[places, items] = table
            products = tables.reshape(len(learned), -1).T @ states
            self.between += weight * products.reshape(self.between.shape)
        else:
            self.take_in_blocks(states[places], items, table, weight)

    def take_in_blocks(self, states: Floats, items: Ints, table: Floats, weight: float) -> None:
        """Add crossed columns item by item, where some states do not offer all of them; `states` by row."""
        if len(self.cross_gram) == 1 and self.n_items > 1:
            self.cross_gram = np.repeat(self.cross_gram, self.n_items, axis=0)
        order = np.argsort(items, kind="stable")
        ends = np.searchsorted(items[order], np.arange(self.n_items + 1))
        for item in np.flatnonzero(np.diff(ends)):
            mine = order[ends[item] : ends[item + 1]]
            self.cross_gram[item] += weight * (states[mine].T @ states[mine])
            self.between[item] += weight * (table[mine].T @ states[mine])

    def solve(self, penalty: float) -> tuple[Floats, Floats | None]:
        """Weights that minimise squared error + penalty * |weights|^2, through the Schur complement of the blocks."""
        gram = self.gram + penalty * np.eye(len(self.gram))
        if not self.n_items:
            return solve(gram, self.right), None
        blocks = self.cross_gram + penalty * np.eye(self.cross_gram.shape[1])
        own, mixed = self._solve_blocks(blocks)
        schur = gram - np.einsum("idz,ize->de", self.between, mixed)
        right = self.right - np.einsum("idz,iz->d", self.between, own)
        weights = solve(schur, right)
        return weights, own - mixed @ weights

    def _solve_blocks(self, blocks: Floats) -> tuple[Floats, Floats]:
        """blocks^-1 @ (cross_right, between'), for each item."""
        d = len(self.gram)
        right = np.concatenate([self.cross_right[:, :, None], self.between.transpose(0, 2, 1)], axis=2)
        if len(blocks) == 1:
            z = blocks.shape[1]
            flat = right.transpose(1, 0, 2).reshape(z, self.n_items * (d + 1))
            weights = solve(blocks[0], flat).reshape(z, self.n_items, d + 1).transpose(1, 0, 2)
        else:
            weights = np.linalg.solve(blocks, right)
        return weights[:, :, 0], weights[:, :, 1:]

    def loss(self, weights: Floats, item_weights: Floats | None) -> float:
        fitted = 2.0 * float(self.right @ weights) - float(weights @ self.gram @ weights)
        if item_weights is not None:
            fitted += 2.0 * float((self.cross_right * item_weights).sum())
            fitted -= float(((item_weights[:, None] @ self.cross_gram)[:, 0] * item_weights).sum())
            fitted -= 2.0 * float(((weights @ self.between) * item_weights).sum())
        return self.squares - fitted

    def smallest_loss(self) -> float:
        """Squared error of the best weights without a penalty (a tiny one keeps the solve stable)."""
        tiny = 1e-9 * max(1.0, float(np.trace(self.gram)), float(np.trace(self.cross_gram, axis1=1, axis2=2).max()))
        return max(self.loss(*self.solve(tiny)), 0.0)

    def combine(self, other: RidgeSums, sign: float = 1.0) -> RidgeSums:
        """Return the sums of both, or with sign -1 those of this one without the other."""
        # In `cross_gram`, one block for all items joins many as each of them.
        sums = {name: value + sign * vars(other)[name] for name, value in vars(self).items() if name != "n_items"}
        return RidgeSums(n_items=self.n_items, **sums)
