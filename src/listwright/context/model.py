"""The policy over passages: what it sees, how it is trained, and the model that is shipped with the package.

`ContextPacker` uses `shipped_model` until it is fitted; `fit` then calls `passage_model` with the trees of the model in
use as the starting point. `python -m listwright.lab.shipped_models` trains the shipped model again from HotpotQA.
"""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

from listwright.errors import DataWarning
from listwright.estimators.scp import SCP
from listwright.features import Candidate, Features, Links, Unmet
from listwright.learners import Aggregate, BoostingRanker
from listwright.problems import Problems
from listwright.storage import load

SHIPPED = Path(__file__).with_name("passages.listwright")
LENGTH = 5  # passages that lists of training questions have
PASSES = 3


def passage_policy_features() -> Features:
    """Returns the features of the policy: own columns, strongest links to the list, and what the list leaves unmet.

    Columns are not standardised: trees do not need it, and the compiled walk reads the raw columns.
    """
    return Candidate(standardize=False) + Links((), sums=False) + Unmet()


def passage_model(problems: Problems, start: tuple[Any, ...] = (), *, min_leaf: int = 10) -> SCP:
    """Trains an `SCP` that ranks passages by boosted trees on questions with labelled passages.

    Three passes over all questions: each builds lists with the current trees, collects examples from all positions, and
    fits trees again to everything seen so far. All positions weigh the same.

    Parameters
    ----------
    problems : Problems
        From `text.question_problems`, with a reward.
    start : tuple
        Trees to continue from, as in `learners.BoostingRanker`; empty to start from nothing.
    min_leaf : int
        Smallest number of rows in a leaf.

    Returns
    -------
    SCP
        Fitted, with a policy of boosted trees.
    """
    model = SCP(
        LENGTH,
        learner=Aggregate(BoostingRanker(start=start, min_leaf=min_leaf)),
        features=passage_policy_features(),
        weighting="uniform",
        n_passes=PASSES,
        batch_size=len(problems),
        short_lists=True,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of columns that are made here and not by the user
        return model.fit(problems)


@cache
def shipped_model() -> SCP:
    """Loads the model in the package; later calls return the same object, which must not be changed."""
    model: SCP = load(SHIPPED)
    return model
