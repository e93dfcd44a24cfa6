"""A policy that explores, as the walk takes it; and lists that were shown before, walked again."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.draw import draw_rows
from listwright.features import Rows
from listwright.feedback.explore import Exploration
from listwright.policies import Policy


class Exploring(Policy):
    """Draws every slot from the chances that an exploration gives, in all slots of a list or in one of them.

    With `one_slot`, a slot of the list is drawn evenly and explores; the others take the best row. The chances are
    those given the picks before, so that their product is the chance of the whole list.

    One object walks once. It gives the chance of every row for its score.

    Parameters
    ----------
    numbers : (problems, positions) from 0 to 1, what is drawn with; None for lists that are given.
    given : (problems, positions), the rows that were shown, instead of draws; -1 behind the end.
    """

    def __init__(
        self,
        policy: Policy,
        exploration: Exploration,
        *,
        learned: float,
        length: int,
        one_slot: bool = False,
        numbers: Floats | None = None,
        given: Ints | None = None,
    ) -> None:
        self.policy = policy
        self.exploration = exploration
        self.learned = learned
        self.length = length
        self.one_slot = one_slot
        self.numbers = numbers
        self.given = given
        self._earlier: Floats | None = None  # by problem: see `mix_one_slot`; -1 once a pick was not the best

    def score(self, rows: Rows) -> Floats:
        """That of the policy that explores."""
        return self.policy.score(rows)

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """The rows drawn or given, and the chance of each row."""
        chances, best = self.exploration.chances(self.policy, rows, open_rows, position, self.learned)
        alone = np.where(best >= 0, chances[best], 0.0)
        if self.one_slot:
            chances = self._one_slot(chances, best, rows, position)
        if self.given is not None:
            picks = np.ascontiguousarray(self.given[:, position])
        else:
            assert self.numbers is not None
            picks = draw_rows(chances, rows.offsets, np.ascontiguousarray(self.numbers[:, position]))
        if self.one_slot:
            assert self._earlier is not None
            self._earlier = np.where((picks == best) & (self._earlier >= 0), self._earlier + alone, -1.0)
        return picks, chances

    def _one_slot(self, chances: Floats, best: Ints, rows: Rows, position: int) -> Floats:
        if self._earlier is None:
            self._earlier = np.zeros(len(best))
        left = np.maximum(self._earlier, 0.0) + self.length - position
        share = np.where(self._earlier >= 0, 1.0 / left, 0.0)
        mixed = chances * share[rows.owners]
        some = np.flatnonzero(best >= 0)
        mixed[best[some]] += 1.0 - share[some]
        return mixed
