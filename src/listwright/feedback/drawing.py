"""Drawing lists: policies that explore, that replay shown lists, and the policy in use."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright._internal.threads import one_thread
from listwright._kernels.draw import draw_rows
from listwright._kernels.walk import SlotDraws
from listwright.features import Features, Rows
from listwright.feedback.explore import Exploration
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.walk.lists import compiled_walk, walk


@dataclass(frozen=True, eq=False)
class ReplayPolicy(Policy):
    """Policy that replays given picks, to recompute what was seen along lists that were shown."""

    picks: Ints  # (problems, positions): rows of the batch, -1 behind the end
    replays: ClassVar[bool] = True  # lists that are there already, whatever groups need

    def score(self, rows: Rows) -> Floats:
        return np.zeros(len(rows.owners))

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        return np.ascontiguousarray(self.picks[:, position]), self.score(rows)


@dataclass(eq=False)
class Exploring(Policy):
    """Draws every slot from the chances of an exploration, in all slots of a list or in one of them."""

    policy: Policy
    exploration: Exploration
    _: KW_ONLY
    learned: float
    length: int
    one_slot: bool = False
    numbers: Floats | None = None  # to draw with
    given: Ints | None = None  # rows to walk along, in place of drawing
    _earlier: Floats | None = None  # by problem: see `_one_slot`; -1 once a pick was not the best

    @property
    def replays(self) -> bool:
        return self.given is not None

    def score(self, rows: Rows) -> Floats:
        return self.policy.score(rows)

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
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
        """Mix the chances with certainty of the best row, by the posterior chance that this slot explores."""
        if self._earlier is None:
            self._earlier = np.zeros(len(best))
        left = np.maximum(self._earlier, 0.0) + self.length - position
        share = np.where(self._earlier >= 0, 1.0 / left, 0.0)
        mixed = chances * share[rows.owners]
        some = np.flatnonzero(best >= 0)
        mixed[best[some]] += 1.0 - share[some]
        return mixed


@saved_as("feedback.Playing")
@dataclass(frozen=True, eq=False)
class Playing:
    """The policy in use and how much it has learned; replaced as a whole, so that drawing needs no lock."""

    policy: Policy
    version: int = 0  # lists learned from by feedback
    learned: float = 0.0  # the same, and what was known before
    eager: Policy | None = None  # what lists are drawn with, where that is not the policy: it likes what is new

    @property
    def drawn_with(self) -> Policy:
        return self.policy if self.eager is None else self.eager

    def likeliest(self, exploration: Exploration) -> Policy:
        """Return the policy without exploration: the one in use or, if it draws, its most likely picks."""
        return self.policy if self.policy.certain else Likeliest(self, exploration)

    def draw(
        self,
        problems: Problems,
        features: Features,
        exploration: Exploration,
        *,
        numbers: Floats,
        budgets: Floats | None,
        one_slot: bool,
    ) -> tuple[Ints, Floats, Floats]:
        compiled, kind = compiled_walk(problems, features, self.drawn_with), exploration.kernel_arguments(self.learned)
        if compiled is not None and kind is not None:
            return compiled.lists(numbers.shape[1], budgets, draws=SlotDraws(*kind, one_slot, numbers))
        policy, length = self.drawn_with, numbers.shape[1]
        exploring = Exploring(
            policy, exploration, learned=self.learned, length=length, one_slot=one_slot, numbers=numbers
        )
        rows, scores, chances = (np.full(numbers.shape, start) for start in (-1, 0.0, np.nan))
        rng = np.random.default_rng(0)  # the walk asks for one; everything is drawn with the numbers
        with one_thread():
            for step in walk(problems, features, exploring, length=length, rng=rng, budgets=budgets):
                some = np.flatnonzero(step.picks >= 0)
                picks = step.picks[some]
                rows[some, step.position] = picks
                chances[some, step.position] = step.scores[picks]
                scores[some, step.position] = (policy.score(step.rows) if policy.certain else step.scores)[picks]
        return rows, scores, chances


@dataclass(frozen=True, eq=False)
class Likeliest(Policy):
    """Picks at every slot the row that is shown without exploration."""

    playing: Playing
    exploration: Exploration

    def score(self, rows: Rows) -> Floats:
        return self.playing.policy.score(rows)

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        chances, best = self.exploration.chances(self.playing.policy, rows, open_rows, position, self.playing.learned)
        return best, chances
