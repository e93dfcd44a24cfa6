"""The walk of a linear policy over built-in features as one compiled function: the same lists, faster.

Scales are folded into the weights, so features are read as they are and no intermediate table is written. Scores agree
with those of the plain walk up to float32 rounding, and candidates with equal features get equal scores.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Ints
from listwright._internal.threads import in_parallel
from listwright._kernels.constraints import Limits
from listwright._kernels.rows import crossed_scores, linear_scores
from listwright._kernels.walk import NO_DRAWS, Draws, Weights, walk_lists
from listwright.features import Candidate, Distance, Features, Identity, Position, Sum
from listwright.features.scale import Scale
from listwright.policies import Linear, Policy
from listwright.problems import Problems
from listwright.walk.constraints import Constraints

KINDS = (Candidate, Distance, Position, Identity)
MANY = 2_000_000  # steps; with fewer, a second thread costs more than it saves
# Parts that a policy lacks. They are made once, because a short list takes little longer than to make them.
NO_WEIGHTS, NOT_HELD = np.zeros(0), np.zeros((0, 0))
NO_DISTANCES, NO_ITEMS = np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.int64)

Parts = dict[type[Features], tuple[Any, Floats]]  # by kind: the features, and the policy's weights for them


def compiled_walk(problems: Problems, features: Features, policy: Policy) -> CompiledWalk | None:
    """Return the compiled walk if it applies, else None."""
    if type(policy) is not Linear or sparse.issparse(problems.features):
        return None
    if problems.quotas is not None and (problems.quotas.pins or problems.quotas.needs):
        return None  # the compiled walk closes rows for good
    parts: Parts = {}
    at = 0
    for part in features.parts_ if type(features) is Sum else [features]:
        kind = type(part)
        if kind not in KINDS or kind in parts:
            return None
        width = _width(kind, part, problems)
        parts[kind] = part, policy.weights[at : at + width]
        at += width
    crossed = policy.item_weights is not None
    applies = at == len(policy.weights) and (Identity in parts) == crossed
    return CompiledWalk(problems, parts, policy) if applies else None


class CompiledWalk(NamedTuple):
    """A linear policy over built-in features, ready to build lists for some problems."""

    problems: Problems  # the problems, with dense features
    parts: Parts  # by kind of features: the fitted features, and the policy's weights for them
    policy: Linear  # the policy

    def lists(
        self, length: int, room: Floats | None, repeats: bool = False, draws: Draws = NO_DRAWS
    ) -> tuple[Ints, Floats, Floats]:
        """Return the rows of each list, their scores, and the probabilities of those drawn, by problem and position."""
        problems, weights, limits = self.problems, self.weights(), self.limits(room, length, repeats)
        lists, picked = np.full((len(problems), length), -1), np.zeros((len(problems), length))
        explores = draws is not NO_DRAWS
        chances = np.full((len(problems), length), np.nan) if explores else NOT_HELD
        most = problems.n_rows if len(problems) == 1 else int(np.diff(problems.offsets).max(initial=0))
        batch = problems.offsets, problems.features, weights, limits, draws, lists, picked, chances

        def some(low: int, high: int) -> None:
            space, least = np.empty((5 + explores, most)), np.empty((most, len(weights.smallest)), dtype=np.float32)
            walk_lists(low, high, *batch, space, least)

        in_parallel(some, problems.offsets, problems.n_rows * length * max(problems.n_features, 1) > MANY)
        return lists, picked, chances

    def limits(self, budgets: Floats | None, length: int, repeats: bool) -> Limits:
        """Return budgets, sizes and whether items may repeat, in the form the kernels take."""
        return Constraints(self.problems, budgets, length).limits(repeats=repeats)

    def weights(self) -> Weights:
        """Return the policy's weights folded with the features' scales, so that they apply to raw features."""
        problems = self.problems
        level, first, d = np.zeros(len(problems)), 0.0, problems.n_features
        candidate = identity = NO_WEIGHTS
        smallest = mean = NO_DISTANCES
        items, held = NO_ITEMS, NOT_HELD
        for kind, (part, mine) in self.parts.items():
            if kind is Candidate:
                candidate, shift = _unscale(part.scale_, mine[:d])
                level += shift
                if part.context_scale_ is not None:
                    level += linear_scores(part.context_scale_.apply(problems.context), mine[d:])
            elif kind is Distance:
                scaled = (mine.reshape(part.minimum + part.mean, d) / part.scale_.spread).astype(np.float32)
                smallest = scaled[0] if part.minimum else np.zeros(d, dtype=np.float32)
                mean = scaled[-1] if part.mean else np.zeros(d, dtype=np.float32)
            elif kind is Position:
                level += mine[0]
                first = float(mine[1])
            else:
                identity, items, held = _identity_scores(problems, part, self.policy)
        return Weights(level, first, candidate, smallest, mean, identity, items, held)


def _width(kind: type[Features], part: Any, problems: Problems) -> int:
    """Return the number of columns that a part of the features has."""
    if kind is Candidate:
        scale = None if problems.context is None else part.context_scale_
        return problems.n_features + (0 if scale is None else len(scale.mean))
    if kind is Distance:
        return problems.n_features * (part.minimum + part.mean)
    return 2 if kind is Position else 0


def _unscale(scale: Scale, weights: Floats) -> tuple[Floats, float]:
    """Return the weights for raw columns, and the constant to add, from w . (x - mean) / spread."""
    folded = np.divide(weights, scale.spread, dtype=np.float64)
    return folded, -float(np.add.reduce(folded * scale.mean))


def _identity_scores(problems: Problems, identity: Identity, policy: Linear) -> tuple[Floats, Ints, Floats]:
    """Return by row what the weights of its item give for the state; and items and weights if crossed with the list."""
    assert policy.item_weights is not None
    seen = identity.start(problems)
    items = identity.crossed(seen).items
    scores = crossed_scores(items, problems.owners, seen.states, policy.item_weights)
    if seen.in_list < 0:
        return scores, NO_ITEMS, NOT_HELD
    held = np.ascontiguousarray(policy.item_weights[:, seen.in_list : seen.in_list + identity.n_items_])
    return scores, items, held
