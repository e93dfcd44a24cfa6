"""What lists are drawn with at a time, and the drawing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.threads import one_thread
from listwright._kernels.explored_walk import Chance, explored_lists
from listwright.features import Features, Rows
from listwright.feedback.explore import Exploration
from listwright.feedback.exploring import Exploring
from listwright.policies import Linear, Policy
from listwright.problems import Problems
from listwright.walk.compiled import folded, fused_parts, limits_of
from listwright.walk.plain import walk


@dataclass(frozen=True, eq=False)
class Playing:
    """A policy and how much it has learned: replaced as one, so that drawing needs no lock."""

    policy: Policy
    version: int = 0  # lists learned from by feedback
    learned: float = 0.0  # the same, and what was known before

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
        parts, kind = fused_parts(problems, features, self.policy), exploration.compiled(self.learned)
        if parts is not None and kind is not None and isinstance(self.policy, Linear):
            rows, scores, chances = (np.full(numbers.shape, start) for start in (-1, 0.0, np.nan))
            weights, limits = folded(problems, parts, self.policy), limits_of(problems, room, False)
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
        exploring = Exploring(
            self.policy, exploration, learned=self.learned, length=length, one_slot=one_slot, numbers=numbers
        )
        rows, scores, chances = (np.full(numbers.shape, start) for start in (-1, 0.0, np.nan))
        rng = np.random.default_rng(0)  # the walk asks for one; everything is drawn with the numbers
        with one_thread():
            for step in walk(problems, features, exploring, length=length, rng=rng, room=room):
                some = np.flatnonzero(step.picks >= 0)
                picks = step.picks[some]
                rows[some, step.position] = picks
                chances[some, step.position] = step.scores[picks]
                scores[some, step.position] = _scores(self.policy, step.rows, step.scores)[picks]
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
    return policy.score(rows) if isinstance(policy, Linear) else chances
