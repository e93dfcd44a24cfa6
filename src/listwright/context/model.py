"""The policy over passages: what it sees, how it is trained, and the model that is shipped with the package.

`ContextPacker` uses `shipped_model` until it is fitted; `fit` then calls `passage_model` with the trees of the model in
use as the starting point. `python -m listwright.experiments.shipped_models` trains the shipped model again from
HotpotQA.
"""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.needs import unmet_rows
from listwright._kernels.pack_walk import UNMET, pack_walk
from listwright.errors import DataWarning
from listwright.estimators.scp import SCP
from listwright.features import Candidate, Features, Links, UncoveredTerms
from listwright.learners import Aggregate, BoostingRanker
from listwright.loading import load
from listwright.problems import Problems
from listwright.text.passages import PassageFeatures

SHIPPED = Path(__file__).with_name("passages.listwright")
LENGTH = 5  # passages that lists of training questions have
PASSES = 3


def passage_policy_features() -> Features:
    """Return the features of the policy: own columns, strongest links, and what the list leaves uncovered."""
    return Candidate(standardize=False) + Links((), sums=False) + UncoveredTerms()


def passage_model(problems: Problems, start: tuple[Any, ...] = (), *, min_leaf: int = 10) -> SCP:
    """Train an `SCP` that ranks passages by boosted trees on questions with labelled passages."""
    model = SCP(
        LENGTH,
        learner=Aggregate(BoostingRanker(start=start, min_leaf=min_leaf)),
        features=passage_policy_features(),
        weighting="uniform",
        n_passes=PASSES,
        batch_size=len(problems),
        allow_short=True,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of columns that are made here and not by the user
        return model.fit(problems)


@cache
def shipped_model() -> SCP:
    """Load the model in the package; later calls return the same object, which must not be changed."""
    model: SCP = load(SHIPPED)
    return model


def kinds_of(model: SCP) -> list[str]:
    """Return the kinds of links that a model was trained with, in the order of its columns."""
    return next(list(part.kinds_) for part in model.training_.features.parts_ if isinstance(part, Links))


def scores_alone(model: SCP, found: PassageFeatures) -> Floats:
    """Return the policy's score of each passage with an empty list: no links to it, and every term uncovered."""
    terms, n = found.query_terms, len(found.table)
    uncovered = np.empty((n, UNMET), dtype=np.float32)
    nothing = np.zeros(1, dtype=np.uint64)
    unmet_rows(
        np.array([0, n]),
        terms.starts,
        terms.parts,
        terms.wholes,
        terms.weights,
        nothing,
        uncovered,
    )
    links = np.zeros((n, len(kinds_of(model))), dtype=np.float32)
    return model.policy_.estimator.predict(np.concatenate([found.table, links, uncovered], axis=1))


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
    terms = found.query_terms
    links = np.stack([found.links[kind] for kind in kinds_of(model)]).astype(np.float32)
    return pack_walk(
        found.table,
        links,
        (terms.starts, terms.parts, terms.wholes, terms.weights),
        trees,
        bonus,
        twins,
        (sizes, float(room), int(length), groups, int(per_group)),
    )
