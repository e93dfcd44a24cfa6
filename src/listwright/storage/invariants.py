"""What must hold of the parts of a model, whatever a file says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from listwright.features.base import Scale
from listwright.features.ranks import Ranks
from listwright.learners.sums import RidgeSums
from listwright.policies import (
    ItemDistribution,
    ItemLeader,
    Linear,
    Mixture,
    PolicyDistribution,
    PolicyLeader,
    Sequence,
)
from listwright.training.ranges import Span
from listwright.training.round import Training
from listwright.training.signature import Signature

MOST = 1 << 24  # columns, items and list positions that any model has


def broken(value: Any) -> str:
    """What is wrong with an object, "" where nothing is."""
    check = _CHECKS.get(type(value))
    return "" if check is None else check(value)


def _scale(scale: Scale) -> str:
    if scale.mean.ndim != 1 or scale.mean.shape != scale.spread.shape:
        return "means and spreads must be equally many"
    return "" if (scale.spread > 0).all() else "spreads must be above 0"


def _ranks(ranks: Ranks) -> str:
    knots = ranks.knots
    if knots.ndim != 2 or not len(knots):
        return "ranks must have knots"
    return "" if (np.diff(knots, axis=0) >= 0).all() else "knots must be sorted"


def _linear(policy: Linear) -> str:
    own = policy.item_weights
    return "" if policy.weights.ndim == 1 and (own is None or own.ndim == 2) else "weights are of the wrong shape"


def _chances(policy: ItemDistribution | PolicyDistribution) -> str:
    chances = policy.probabilities
    if chances.ndim != 1 or (chances < 0).any() or abs(float(chances.sum()) - 1.0) > 1e-6:
        return "probabilities must add up to 1"
    several = getattr(policy, "policies", None)
    return "" if several is None or len(several) == len(chances) else "there must be one probability a policy"


def _several(policy: Sequence | Mixture | PolicyLeader) -> str:
    gains = getattr(policy, "gains", None)
    if not policy.policies or (gains is not None and gains.shape != (len(policy.policies),)):
        return "policies are missing"
    return ""


def _leader(policy: ItemLeader) -> str:
    return "" if policy.gains.ndim == 1 else "gains are of the wrong shape"


def _sums(sums: RidgeSums) -> str:
    d, z = len(sums.right), sums.cross_gram.shape[-1] if sums.cross_gram.ndim == 3 else -1
    right = sums.right.ndim == 1 and sums.gram.shape == (d, d) and sums.between.shape == (sums.n_items, d, z)
    blocks = sums.cross_gram.shape in {(1, z, z), (sums.n_items, z, z)} and sums.cross_right.shape == (sums.n_items, z)
    return "" if right and blocks else "sums are of the wrong shape"


def _training(training: Training) -> str:
    return "" if training.weights.ndim == 1 and len(training.weights) > 0 else "position weights are missing"


def _signature(signature: Signature) -> str:
    numbers = (signature.n_features, signature.n_context, signature.n_items, signature.n_vector)
    if any(number is not None and not 0 <= number <= MOST for number in numbers):
        return "numbers of columns are out of range"
    named = signature.feature_names
    return "" if named is None or len(named) == signature.n_features else "there must be one name a feature"


def _span(span: Span) -> str:
    if span.low.ndim != 1 or span.low.shape != span.high.shape:
        return "the ends of ranges must be equally many"
    ends = np.stack([span.low, span.high])
    return "" if np.isfinite(ends).all() and (ends[0] <= ends[1]).all() else "ranges must be finite, from low to high"


_CHECKS: dict[type[Any], Callable[[Any], str]] = {
    ItemDistribution: _chances,
    ItemLeader: _leader,
    Linear: _linear,
    Mixture: _several,
    PolicyDistribution: _chances,
    PolicyLeader: _several,
    Ranks: _ranks,
    RidgeSums: _sums,
    Scale: _scale,
    Sequence: _several,
    Signature: _signature,
    Span: _span,
    Training: _training,
}
