"""How lists are drawn: a policy that explores, as the walk takes it, and what is played at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright._internal.threads import one_thread
from listwright._kernels.draw import draw_rows
from listwright._kernels.explored_walk import Chance, explored_lists
from listwright.features import Features, Rows
from listwright.feedback.explore import Exploration
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.walk.compiled import compiled_walk
from listwright.walk.plain import walk


@dataclass(frozen=True, eq=False)
class Given(Policy):
    """Picks what it is told, whatever is seen."""

    picks: Ints  # (problems, positions): rows of the batch, -1 behind the end

    def score(self, rows: Rows) -> Floats:
        """Nothing is scored."""
        return np.zeros(len(rows.owners))

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """The row given for the position."""
        return np.ascontiguousarray(self.picks[:, position]), self.score(rows)


class Exploring(Policy):
    """Draws every slot from the chances that an exploration gives, in all slots of a list or in one of them.

    With `one_slot`, a slot of the list is drawn evenly and explores; the others take the best row. The chances are
    those given the picks before, so that their product is the chance of the whole list.

    One object walks once. It gives the chance of every row for its score.

    Parameters
    ----------
    numbers : ndarray of float or None
        (problems, positions) from 0 to 1, what is drawn with; None for lists that are given.
    given : ndarray of int or None
        (problems, positions), the rows that were shown, instead of draws; -1 behind the end.
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


@saved_as("feedback.Playing")
@dataclass(frozen=True, eq=False)
class Playing:
    """A policy and how much it has learned: replaced as one, so that drawing needs no lock."""

    policy: Policy
    version: int = 0  # lists learned from by feedback
    learned: float = 0.0  # the same, and what was known before
    eager: Policy | None = None  # what lists are drawn with, where that is not the policy: it likes what is new

    @property
    def drawn_with(self) -> Policy:
        """The policy that lists are drawn with."""
        return self.policy if self.eager is None else self.eager

    def draw(
        self,
        problems: Problems,
        features: Features,
        exploration: Exploration,
        *,
        numbers: Floats,
        room: Floats | None,
        one_slot: bool,
    ) -> tuple[Ints, Floats, Floats]:
        """Rows of each list, (problems, positions) with -1 behind the end; their scores, and the chance each had.

        `numbers`: (problems, positions) from 0 to 1, all that is random. In one compiled function where that applies.
        """
        compiled, kind = compiled_walk(problems, features, self.drawn_with), exploration.compiled(self.learned)
        if compiled is not None and kind is not None:
            rows, scores, chances = (np.full(numbers.shape, start) for start in (-1, 0.0, np.nan))
            weights, limits = compiled.weights(), compiled.limits(room, repeats=False)
            table, chance = problems.features, Chance(*kind, one_slot, numbers)
            explored_lists(problems.offsets, table, weights, limits, chance, rows, scores, chances)
            return np.where(rows >= 0, rows + problems.offsets[:-1, None], -1), scores, chances
        return self.draw_plainly(problems, features, exploration, numbers=numbers, room=room, one_slot=one_slot)

    def draw_plainly(
        self,
        problems: Problems,
        features: Features,
        exploration: Exploration,
        *,
        numbers: Floats,
        room: Floats | None,
        one_slot: bool,
    ) -> tuple[Ints, Floats, Floats]:
        """The same, slot by slot; the score of a pick is its chance where the policy has no scores."""
        length = numbers.shape[1]
        policy = self.drawn_with
        exploring = Exploring(
            policy, exploration, learned=self.learned, length=length, one_slot=one_slot, numbers=numbers
        )
        rows, scores, chances = (np.full(numbers.shape, start) for start in (-1, 0.0, np.nan))
        rng = np.random.default_rng(0)  # the walk asks for one; everything is drawn with the numbers
        with one_thread():
            for step in walk(problems, features, exploring, length=length, rng=rng, room=room):
                some = np.flatnonzero(step.picks >= 0)
                picks = step.picks[some]
                rows[some, step.position] = picks
                chances[some, step.position] = step.scores[picks]
                scores[some, step.position] = _scores(policy, step.rows, step.scores)[picks]
        return rows, scores, chances


@dataclass(frozen=True, eq=False)
class Likeliest(Policy):
    """At every slot the row that is shown where nothing is explored."""

    playing: Playing
    exploration: Exploration

    def score(self, rows: Rows) -> Floats:
        """That of the policy."""
        return self.playing.policy.score(rows)

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """The best row of each problem, and all chances."""
        chances, best = self.exploration.chances(self.playing.policy, rows, open_rows, position, self.playing.learned)
        return best, chances


def _scores(policy: Policy, rows: Rows, chances: Floats) -> Floats:
    return policy.score(rows) if policy.certain else chances
