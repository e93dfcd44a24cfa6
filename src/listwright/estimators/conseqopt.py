"""`ConSeqOpt`: one learner per position (Dey et al. 2012), the predecessor that SCP improves on."""

from __future__ import annotations

from typing import Any

from listwright._internal.arrays import RandomState
from listwright._internal.quotas import PerGroup
from listwright._internal.saved import saved_as
from listwright.estimators.base import ListEstimator
from listwright.learners import PerPosition, as_learner
from listwright.training.loop import FitPlan, ProblemSource


@saved_as("ConSeqOpt")
class ConSeqOpt(ListEstimator):
    """Learns a separate policy for each position, each from the lists that the earlier ones build.

    It runs the same loop with the same features and learners as `SCP`; only the examples of different positions are not
    shared, so that each policy learns from a fraction of the data. Use it to compare with, or where positions of a list
    truly differ in kind and data is plentiful; otherwise use `SCP`. Positions beyond the trained length use the last
    policy.

    Parameters
    ----------
    length : int
        Number of items of a list, and of policies.
    comparator_length, budget, per_group, features, weighting, per_size, n_passes, batch_size, keep
        As in `SCP`.
    learner : str or learner
        As in `SCP`, cloned for each position.
    repeats, skip_saturated, allow_short, engine, random_state, verbose
        As in `SCP`.

    See Also
    --------
    SCP : One policy for all positions.

    References
    ----------
    Dey, Liu, Hebert and Bagnell (2012), Contextual sequence prediction with application to control library
    optimization.

    Examples
    --------
    >>> import numpy as np
    >>> import listwright as lw
    >>> rng = np.random.default_rng(0)
    >>> features = rng.random((100, 8, 2))
    >>> problems = lw.Problems.from_arrays(features, reward=lw.rewards.AnySuccess(features[..., 0] > 0.8))
    >>> ConSeqOpt(length=2, random_state=0).fit(problems).score(problems) > 0.8
    True
    """

    def __init__(
        self,
        length: int = 5,
        *,
        comparator_length: int | None = None,
        budget: float | None = None,
        per_group: PerGroup = None,
        learner: Any = "ridge",
        features: Any = "auto",
        weighting: str = "discounted",
        per_size: bool | str = "auto",
        n_passes: int = 10,
        batch_size: int | str = "auto",
        keep: str = "last",
        repeats: bool = False,
        skip_saturated: bool | str = "auto",
        allow_short: bool = False,
        engine: Any = "local",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.length = length
        self.comparator_length = comparator_length
        self.budget = budget
        self.per_group = per_group
        self.learner = learner
        self.features = features
        self.weighting = weighting
        self.per_size = per_size
        self.n_passes = n_passes
        self.batch_size = batch_size
        self.keep = keep
        self.repeats = repeats
        self.skip_saturated = skip_saturated
        self.allow_short = allow_short
        self.engine = engine
        self.random_state = random_state
        self.verbose = verbose

    def _plan(self, source: ProblemSource, *, in_parts: bool = False) -> FitPlan:
        return FitPlan(self.chosen_features(source.example), PerPosition(as_learner(self.learner)), self.n_passes)
