"""Lists of passages by a learned policy: in one compiled function where the policy is made of boosted trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.needs import unmet_rows
from listwright._kernels.pack_walk import UNMET, pack_walk
from listwright.estimators.scp import SCP
from listwright.features import Links
from listwright.learners.boosting import Boosting
from listwright.policies import Estimator
from listwright.storage.boosters import Boosted
from listwright.text.passages import PassageFeatures


def trees_of(model: SCP) -> tuple[Any, ...] | None:
    """The trees of a policy as the compiled walk takes them; None where it is made of something else."""
    policy = model.policy_
    if not isinstance(policy, Estimator) or not isinstance(policy.estimator, Boosting):
        return None
    parts = policy.estimator.parts
    if not all(isinstance(part, Boosted) for part in parts):
        return None
    return tuple((part.trees.base, part.trees.arrays) for part in parts)


def kinds_of(model: SCP) -> list[str]:
    """The kinds of links that a model looks at, in order."""
    return next(list(part.kinds_) for part in model.training_.features.parts_ if isinstance(part, Links))


def scores_alone(model: SCP, found: PassageFeatures) -> Floats:
    """Scores of all passages before anything is picked."""
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
    """Rows picked, and their scores; `bonus` is added to the scores of each row, and `twins` of a pick are left out."""
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
