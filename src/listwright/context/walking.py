"""Builds lists of passages with a learned policy, in one compiled function.

The general walk calls the policy once per position from Python. For one question that overhead dominates, so that
trees, links and needs are handed to `_kernels.pack_walk`, which does the whole walk; only boosted trees are supported.
"""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.needs import unmet_rows
from listwright._kernels.pack_walk import UNMET, pack_walk
from listwright.estimators.scp import SCP
from listwright.features import Links
from listwright.text.passages import PassageFeatures


def kinds_of(model: SCP) -> list[str]:
    """Return the kinds of links that a model was trained with, in the order of its columns."""
    return next(list(part.kinds_) for part in model.training_.features.parts_ if isinstance(part, Links))


def scores_alone(model: SCP, found: PassageFeatures) -> Floats:
    """Return the policy's score of each passage with an empty list: no links to it, and every need unmet."""
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
    """Pick passages one at a time until nothing fits any more or the length is reached."""
    trees = model.policy_.boosted_trees()
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
