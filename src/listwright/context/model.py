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

from listwright.errors import DataWarning
from listwright.estimators.scp import SCP
from listwright.features import Candidate, Features, Links, UncoveredTerms
from listwright.learners import Aggregate, BoostingRanker
from listwright.loading import load
from listwright.problems import Problems

SHIPPED = Path(__file__).with_name("passages.listwright")
LENGTH = 5  # passages that lists of training questions have
PASSES = 3


def passage_policy_features() -> Features:
    """Return the features of the policy: own columns, strongest links to the list, and what the list leaves unmet."""
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
