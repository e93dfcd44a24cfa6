"""Ridge regression of gains on shown items only, with sums per fold of lists: exact revisions, tunable penalties."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from listwright._internal.arrays import Floats, Ints
from listwright._internal.saved import saved_as
from listwright.features import Rows
from listwright.learners import Learner, RidgeFTRL
from listwright.learners.ridge import RidgeSums, best_penalty
from listwright.policies import Linear, Policy

LARGEST = 2.0**40  # growth after which sums are scaled down


class GainLearner(Learner):
    """Interface of learners from the gains of shown items; nothing is known of the other candidates."""

    @abstractmethod
    def open(self, rows: Rows) -> None:
        """Prepare for rows of this shape, forgetting what was learned."""

    @abstractmethod
    def reveal(self, rows: Rows, gains: Floats, weights: Floats, fold: int, share: float = 1.0) -> None:
        """Learn from one list, which counts for a `share` of what it otherwise would."""

    @abstractmethod
    def revise(
        self, rows: Rows, earlier: Floats, gains: Floats, weights: Floats, fold: int, share: float = 1.0
    ) -> None:
        """Replace the gains of a list that was revealed before, from `earlier` to `gains`."""

    @abstractmethod
    def reveal_many(self, rows: Rows, gains: Floats, weights: Floats, numbers: Ints, folds: Ints) -> None:
        """Learn from many lists at once, in order."""


@saved_as("feedback.GainRidge")
class GainRidge(RidgeFTRL, GainLearner):
    """`RidgeFTRL` for partial feedback: each row comes alone, with the gain that was observed."""

    growth_: float  # weight of a list that is revealed now
    anchor_: Floats  # R with R'R = G + penalty, as it was when last taken; without crossed columns
    next_anchor_: int

    def __init__(
        self,
        penalty: float | str = "auto",
        *,
        target: str = "gain",
        center: bool = True,
        leverage: float | None = None,
        half_life: float | None = None,
    ) -> None:
        super().__init__(penalty, target=target, center=center)
        self.leverage = leverage
        self.half_life = half_life

    def open(self, rows: Rows) -> None:
        self._start(rows)
        for sums in self.sums_:
            sums.cross_gram = np.repeat(sums.cross_gram, max(1, sums.n_items), axis=0)
        self.growth_ = 1.0
        self._take_anchor()

    def inherit(self, other: RidgeFTRL, share: float) -> None:
        """Continue from the sums of a leader that saw all candidates, each counting `share` times."""
        self.sums_ = [_scale_sums(sums, share) for sums in other.sums_]
        self.penalty_ = other.penalty_ * share  # so that the first policy is the other's
        self.rounds_, self.next_choice_, self.loss_, self.growth_ = other.rounds_, other.next_choice_, 0.0, 1.0
        self._take_anchor()

    def bound(self, leverage: float | None) -> None:
        self.leverage = leverage
        self._take_anchor()

    def reveal(self, rows: Rows, gains: Floats, weights: Floats, fold: int, share: float = 1.0) -> None:
        self._make_room(rows)
        roots = np.sqrt(share * self._limit_leverage(rows, weights * self._next_weight()))
        sums = self.sums_[fold % len(self.sums_)]  # only now: what is faded is replaced
        table, target = rows.table.astype(np.float64) * roots[:, None], gains * roots
        sums.add_rows(table, target, 1.0)
        if rows.crossed is not None:
            states = rows.crossed.states * roots[:, None]
            for item, state, own, gain in zip(rows.crossed.items, states, table, target, strict=True):
                sums.cross_gram[item] += np.outer(state, state)
                sums.cross_right[item] += gain * state
                sums.between[item] += np.outer(own, state)
        self._end_round(1)

    def reveal_many(self, rows: Rows, gains: Floats, weights: Floats, numbers: Ints, folds: Ints) -> None:
        """Add many lists: the same sums as one by one, up to rounding, except that leverage is not bounded."""
        self._make_room(rows)
        if self.half_life is not None:
            self._fade(0.5 ** (len(folds) / self.half_life) / self._now)
            self.growth_ = 1.0
            weights = weights * 0.5 ** ((len(folds) - 1 - numbers) / self.half_life)
        roots, by_row = np.sqrt(weights), folds[numbers] % len(self.sums_)
        table, target = rows.table.astype(np.float64) * roots[:, None], gains * roots
        for fold, sums in enumerate(self.sums_):
            mine = np.flatnonzero(by_row == fold)
            sums.add_rows(table[mine], target[mine], 1.0)
            if rows.crossed is not None:
                states = rows.crossed.states[mine].astype(np.float64) * roots[mine, None]
                items = rows.crossed.items[mine]
                sums.take_in_blocks(states, items, table[mine], 1.0)
                np.add.at(sums.cross_right, items, target[mine, None] * states)
        self._end_round(len(folds))

    def _make_room(self, rows: Rows) -> None:
        asked = 0 if rows.crossed is None else int(rows.crossed.items.max(initial=-1)) + 1
        if asked > self.sums_[0].n_items:
            self.grow(asked)

    def _next_weight(self) -> float:
        if self.half_life is not None:
            self.growth_ = self._now * 2.0 ** (1.0 / self.half_life)
            if self.growth_ > LARGEST:
                self._fade(1.0 / LARGEST)
                self.growth_ /= LARGEST
        return self._now

    @property
    def _now(self) -> float:
        """Current weight of a list; 1 for files of earlier versions, which do not store it."""
        return float(vars(self).get("growth_", 1.0))

    def _fade(self, share: float) -> None:
        self.sums_ = [_scale_sums(sums, share) for sums in self.sums_]
        self.next_anchor_ = 0

    def _end_round(self, count: int) -> None:
        """Count the lists, and choose the penalty anew when there are four times as many as at the last choice."""
        self.rounds_ += count
        if len(self.sums_) > 1 and self.rounds_ >= self.next_choice_:
            sums = self.sums_ if self._now == 1.0 else [_scale_sums(block, 1.0 / self._now) for block in self.sums_]
            total = reduce(RidgeSums.combine, sums)
            self.penalty_, self.next_choice_ = best_penalty(sums, total, self.penalty_), 4 * self.rounds_

    def revise(
        self, rows: Rows, earlier: Floats, gains: Floats, weights: Floats, fold: int, share: float = 1.0
    ) -> None:
        sums, weights = self.sums_[fold % len(self.sums_)], share * self._limit_leverage(rows, weights * self._now)
        change = weights * (gains - earlier)
        sums.right += rows.table.astype(np.float64).T @ change
        sums.squares += float(weights @ (gains**2 - earlier**2))
        if rows.crossed is not None:
            np.add.at(sums.cross_right, rows.crossed.items, change[:, None] * rows.crossed.states)

    def _limit_leverage(self, rows: Rows, weights: Floats) -> Floats:
        if self.leverage is None:
            return weights
        if self.rounds_ >= self.next_anchor_:
            self._take_anchor()
        total = 0.0
        if len(self.anchor_):
            reach = solve_triangular(self.anchor_, rows.table.astype(np.float64).T, trans="T", check_finite=False)
            total = float(weights @ (reach**2).sum(axis=0))
        if rows.crossed is not None:
            blocks: Floats = reduce(np.add, [sums.cross_gram[rows.crossed.items] for sums in self.sums_])
            blocks = blocks + self._now * self.penalty_ * np.eye(rows.crossed.states.shape[1])
            states = rows.crossed.states.astype(np.float64)[:, :, None]
            total += float(weights @ (states * np.linalg.solve(blocks, states)).sum(axis=(1, 2)))
        return weights * min(1.0, self.leverage / max(total, np.finfo(np.float64).tiny))

    def _take_anchor(self) -> None:
        gram: Floats = reduce(np.add, [sums.gram for sums in self.sums_])
        gram = gram + self._now * self.penalty_ * np.eye(len(gram))
        self.anchor_ = np.zeros((0, 0)) if self.leverage is None else np.ascontiguousarray(np.linalg.cholesky(gram).T)
        self.next_anchor_ = self.rounds_ + max(1, len(gram) // 16)

    def policy(self) -> Policy:
        return Linear(*reduce(RidgeSums.combine, self.sums_).solve(self._now * self.penalty_))

    def times_shown(self) -> Floats:
        """Return how often each item of the catalogue was shown, weighted and discounted like the lists."""
        return sum((sums.cross_gram[:, 0, 0] for sums in self.sums_), np.zeros(self.sums_[0].n_items)) / self._now

    def typical_gain(self) -> float:
        """Return the root mean square of the gains of catalogue items; 0 before any gain."""
        squares = sum(sums.squares for sums in self.sums_) / self._now
        return float(np.sqrt(squares / max(float(self.times_shown().sum()), 1e-9))) if squares > 0 else 0.0

    def grow(self, n_items: int) -> None:
        self.sums_ = [_pad_sums(sums, n_items - sums.n_items) for sums in self.sums_]


@saved_as("feedback.GainCorrection")
class GainCorrection(GainRidge):
    """Ridge regression of what a fixed policy leaves unexplained: the policy is the prior, to which penalties pull."""

    base_: Policy

    def start_from(self, base: Policy, rows: Rows) -> None:
        self.base_ = base
        self.open(rows)

    def reveal(self, rows: Rows, gains: Floats, weights: Floats, fold: int, share: float = 1.0) -> None:
        super().reveal(rows, gains - self.base_.score(rows), weights, fold, share)

    def reveal_many(self, rows: Rows, gains: Floats, weights: Floats, numbers: Ints, folds: Ints) -> None:
        super().reveal_many(rows, gains - self.base_.score(rows), weights, numbers, folds)

    def revise(
        self, rows: Rows, earlier: Floats, gains: Floats, weights: Floats, fold: int, share: float = 1.0
    ) -> None:
        own = self.base_.score(rows)
        super().revise(rows, earlier - own, gains - own, weights, fold, share)

    def policy(self) -> Policy:
        correction = super().policy()
        assert isinstance(correction, Linear)
        return Corrected(self.base_, correction)


@saved_as("feedback.Corrected")
@dataclass(frozen=True, eq=False)
class Corrected(Policy):
    base: Policy
    correction: Linear

    def score(self, rows: Rows) -> Floats:
        return self.base.score(rows) + self.correction.score(rows)


def _pad_sums(sums: RidgeSums, more: int) -> RidgeSums:
    names = ("cross_gram", "between", "cross_right")
    padded: dict[str, Any] = {
        n: np.pad(getattr(sums, n), [(0, more)] + [(0, 0)] * (getattr(sums, n).ndim - 1)) for n in names
    }
    return replace(sums, n_items=sums.n_items + more, **padded)


def _scale_sums(sums: RidgeSums, share: float) -> RidgeSums:
    blocks = sums.cross_gram if len(sums.cross_gram) >= sums.n_items else sums.cross_gram.repeat(sums.n_items, axis=0)
    others = ("gram", "right", "squares", "between", "cross_right")
    return replace(sums, cross_gram=blocks * share, **{name: getattr(sums, name) * share for name in others})
