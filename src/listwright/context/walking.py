"""Builds lists of passages with a learned policy, in one compiled function.

The general walk calls the policy once per position from Python. For one question that overhead dominates, so that
trees, links and needs are handed to `_kernels.pack_walk`, which does the whole walk; only boosted trees are supported.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.needs import unmet_rows
from listwright._kernels.pack_walk import UNMET, pack_walk
from listwright.estimators.scp import SCP
from listwright.features import Links
from listwright.learners import Boosting, BoostingRanker
from listwright.policies import Estimator
from listwright.storage.boosters import Boosted
from listwright.text.passages import PassageFeatures


def trees_of(model: SCP) -> tuple[Any, ...] | None:
    """Returns the trees of a policy as `pack_walk` takes them, or None if the policy is not made of boosted trees.

    The trees of all parts are joined into one: the walk is compiled anew for every number of parts.
    """
    policy = model.policy_
    if not isinstance(policy, Estimator) or not isinstance(policy.estimator, Boosting | BoostingRanker):
        return None
    parts = policy.estimator.parts
    if not parts or not all(isinstance(part, Boosted) for part in parts):
        return None
    return sum(part.trees.base for part in parts), _joined([part.trees.arrays for part in parts])


def _joined(several: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Returns the arrays of several models as those of one: roots and children are counted on from model to model."""
    nodes, leaves, moved = 0, 0, []
    for roots, columns, thresholds, left, right, values in several:
        ends = (np.where(at >= 0, at + nodes, at - leaves) for at in (roots, left, right))
        moved.append((*ends, columns, thresholds, values))
        nodes, leaves = nodes + len(columns), leaves + len(values)
    roots, left, right, columns, thresholds, values = (np.concatenate(some) for some in zip(*moved, strict=True))
    return roots, columns, thresholds, left, right, values


def kinds_of(model: SCP) -> list[str]:
    """Returns the kinds of links that a model was trained with, in the order of its columns."""
    return next(list(part.kinds_) for part in model.training_.features.parts_ if isinstance(part, Links))


def scores_alone(model: SCP, found: PassageFeatures) -> Floats:
    """Returns the policy's score of each passage with an empty list: no links to it, and every need unmet."""
    needs, n = found.needs, len(found.table)
    unmet = np.empty((n, UNMET), dtype=np.float32)
    nothing = np.zeros(1, dtype=np.uint64)
    unmet_rows(np.array([0, n]), needs.starts, needs.parts, needs.wholes, needs.weights, nothing, unmet)
    links = np.zeros((n, len(kinds_of(model))), dtype=np.float32)
    return model.policy_.estimator.predict(np.concatenate([found.table, links, unmet], axis=1))


def walk_passages(
    model: SCP,
    found: PassageFeatures,
    sizes: Floats,
    *,
    room: float,
    length: int,
    groups: Ints,
    per_group: int,
    bonus: Floats,
    twins: Bools,
) -> tuple[Ints, Floats]:
    """Picks passages one at a time until nothing fits any more or the length is reached.

    Parameters
    ----------
    model : SCP
        With boosted trees: see `trees_of`.
    found : PassageFeatures
        Features, links and needs of the candidates.
    sizes : array of shape (passages,)
        Tokens of each passage.
    room : float
        Tokens that all picks may have together.
    length : int
        Largest number of picks.
    groups : array of shape (passages,)
        Number of the source of each passage.
    per_group : int
        Largest number of picks from one source.
    bonus : array of shape (passages,)
        Added to the policy's score of each passage at every position.
    twins : array of shape (passages, passages)
        `twins[i, j]`: passage i is left out once j is picked.

    Returns
    -------
    tuple of two arrays
        The rows picked, in order, and their scores when they were picked.
    """
    trees = trees_of(model)
    assert trees is not None
    needs = found.needs
    links = np.stack([found.links[kind] for kind in kinds_of(model)]).astype(np.float32)
    return pack_walk(
        found.table,
        links,
        (needs.starts, needs.parts, needs.wholes, needs.weights),
        trees,
        bonus,
        twins,
        (sizes, float(room), int(length), groups, int(per_group)),
    )
