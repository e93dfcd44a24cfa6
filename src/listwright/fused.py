"""The walk of a linear policy over built-in features as one compiled function: the same lists, sooner.

Scales are folded into the weights, so that the features are read as they are and nothing is written out. Scores agree
with those of the plain walk to float32 rounding, and candidates that look the same score the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from listwright._arrays import Floats, Ints
from listwright._kernels.linear import crossed_scores, linear_scores
from listwright._kernels.walk import Limits, Weights, walk_lists
from listwright._threads import in_parallel
from listwright.features import Candidate, Distance, Features, Identity, Position, Sum
from listwright.features.base import Scale
from listwright.policies import Linear, Policy
from listwright.problems import Problems

KINDS = (Candidate, Distance, Position, Identity)
MANY = 2_000_000  # steps below which a second thread costs more than it brings

Parts = dict[type[Features], Any]


def fused_parts(problems: Problems, features: Features, policy: Policy) -> Parts | None:
    """The features by kind, where the compiled walk applies: at most one of each built-in kind, dense, and linear."""
    parts = features.parts_ if isinstance(features, Sum) else [features]
    by_kind: Parts = {type(part): part for part in parts}
    if type(policy) is not Linear or sparse.issparse(problems.features) or len(by_kind) < len(parts):
        return None
    if any(kind not in KINDS for kind in by_kind) or (Identity in by_kind) != (policy.item_weights is not None):
        return None
    widths = [_width(part, problems) for part in parts]
    return by_kind if sum(widths) == len(policy.weights) else None


def fused_lists(
    problems: Problems, parts: Parts, policy: Linear, length: int, room: Floats | None, repeats: bool
) -> tuple[Ints, Floats]:
    """Rows of each list, (problems, longest list) with -1 behind the end, and their scores."""
    weights = _folded(problems, parts, policy)
    limits = Limits(np.zeros(0), np.full(len(problems), np.inf), repeats)
    if room is not None and problems.sizes is not None:
        limits = Limits(problems.sizes, room, repeats)
    lists, picked = np.full((len(problems), length), -1), np.zeros((len(problems), length))

    def some(low: int, high: int) -> None:
        walk_lists(low, high, problems.offsets, problems.features, weights, limits, lists, picked)

    in_parallel(some, problems.offsets, problems.n_rows * length * max(problems.n_features, 1) > MANY)
    used = lists[:, : max(1, int((lists >= 0).any(axis=0).sum()))]
    return np.where(used >= 0, used + problems.offsets[:-1, None], -1), picked[:, : used.shape[1]]


def _width(part: Features, problems: Problems) -> int:
    """Number of columns."""
    if isinstance(part, Candidate):
        scale = None if problems.context is None else part.context_scale_
        return problems.n_features + (0 if scale is None else len(scale.mean))
    if isinstance(part, Distance):
        return problems.n_features * (part.minimum + part.mean)
    return 2 if isinstance(part, Position) else 0


def _folded(problems: Problems, parts: Parts, policy: Linear) -> Weights:
    """The policy's weights, for features as they are."""
    none, level, first, d = np.zeros(0), np.zeros(len(problems)), 0.0, problems.n_features
    candidate = smallest = mean = identity = none
    items, held, at = np.zeros(0, dtype=np.int64), np.zeros((0, 0)), 0
    for part in parts.values():
        width = _width(part, problems)
        mine = policy.weights[at : at + width]
        at += width
        if isinstance(part, Candidate):
            candidate, shift = _unscaled(part.scale_, mine[:d])
            level += shift
            if part.context_scale_ is not None:
                level += linear_scores(part.context_scale_.apply(problems.context), mine[d:])
        elif isinstance(part, Distance):
            spread = part.scale_.spread.astype(np.float64)
            smallest = mine[:d] / spread if part.minimum else np.zeros(d)
            mean = mine[-d:] / spread if part.mean else np.zeros(d)
        elif isinstance(part, Position):
            level += mine[0]
            first = float(mine[1])
        else:
            identity, items, held = _crossed(problems, part, policy)
    return Weights(level, first, candidate, smallest, mean, identity, items, held)


def _unscaled(scale: Scale, weights: Floats) -> tuple[Floats, float]:
    """Weights for columns as they are, and what is to be added: w . (x - mean) / spread."""
    folded = weights / scale.spread.astype(np.float64)
    return folded, -float((folded * scale.mean).sum())


def _crossed(problems: Problems, identity: Identity, policy: Linear) -> tuple[Floats, Ints, Floats]:
    """By row what its item's weights say of the state; and items and weights where they are crossed with the list."""
    assert policy.item_weights is not None
    seen = identity.start(problems)
    items = identity.crossed(seen).items
    scores = crossed_scores(items, problems.owners, seen.states, policy.item_weights)
    if seen.in_list < 0:
        return scores, np.zeros(0, dtype=np.int64), np.zeros((0, 0))
    held = np.ascontiguousarray(policy.item_weights[:, seen.in_list : seen.in_list + identity.n_items_])
    return scores, items, held
