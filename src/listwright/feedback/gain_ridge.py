"""Ridge regression of gains on what was shown alone."""

from __future__ import annotations

from functools import reduce

import numpy as np

from listwright._internal.arrays import Floats
from listwright.features import Rows
from listwright.learners import RidgeLeader
from listwright.learners.ridge import best_penalty
from listwright.learners.sums import RidgeSums
from listwright.policies import Linear, Policy


class GainRidge(RidgeLeader):
    """`RidgeLeader` for partial feedback: each row comes alone, with the gain that it was seen to bring.

    Nothing is known of the other candidates of a state, so rows are not taken relative to them. The penalty "auto" is
    chosen as there, by folds of lists.
    """

    def open(self, rows: Rows) -> None:
        """Empty sums, for rows of this shape."""
        self._start(rows)
        for sums in self.sums_:
            sums.cross_gram = np.repeat(sums.cross_gram, max(1, sums.n_items), axis=0)

    def inherit(self, other: RidgeLeader, share: float) -> None:
        """Goes on from the sums of a leader that saw all candidates; they count `share` times."""
        self.sums_ = [_scaled(sums, share) for sums in other.sums_]
        self.penalty_ = other.penalty_ * share  # so that the first policy is the other's
        self.rounds_, self.next_choice_, self.loss_ = other.rounds_, other.next_choice_, 0.0

    def reveal(self, rows: Rows, gains: Floats, weights: Floats, fold: int) -> None:
        """Adds one list: rows of states of their own, the gain that each brought, and its weight.

        Cost: the rows times the columns squared, whatever came before.
        """
        sums, roots = self.sums_[fold % len(self.sums_)], np.sqrt(weights)
        table, target = rows.table.astype(np.float64) * roots[:, None], gains * roots
        sums.take_in(table, target, 1.0)
        if rows.crossed is not None:
            states = rows.crossed.states * roots[:, None]
            for item, state, own, gain in zip(rows.crossed.items, states, table, target, strict=True):
                sums.cross_gram[item] += np.outer(state, state)
                sums.cross_right[item] += gain * state
                sums.between[item] += np.outer(own, state)
        self.rounds_ += 1
        if len(self.sums_) > 1 and self.rounds_ >= self.next_choice_:
            total = reduce(RidgeSums.combined, self.sums_)
            self.penalty_, self.next_choice_ = best_penalty(self.sums_, total, self.penalty_), 4 * self.rounds_

    def policy(self) -> Policy:
        """Solves for the weights; asking twice changes nothing."""
        return Linear(*reduce(RidgeSums.combined, self.sums_).solve(self.penalty_))


def _scaled(sums: RidgeSums, share: float) -> RidgeSums:
    blocks = sums.cross_gram if len(sums.cross_gram) >= sums.n_items else sums.cross_gram.repeat(sums.n_items, axis=0)
    return RidgeSums(
        sums.gram * share,
        sums.right * share,
        sums.squares * share,
        sums.n_items,
        blocks * share,
        sums.between * share,
        sums.cross_right * share,
    )
