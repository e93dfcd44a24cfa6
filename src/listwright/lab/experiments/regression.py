"""The rival that looks at relevance only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from listwright.estimators.scp import SCP
from listwright.features import Candidate, Features
from listwright.learners import RidgeLeader
from listwright.lists import Lists
from listwright.problems import Problems


@dataclass
class Regression:
    """Success regressed from a candidate's own features, sorted: the policy of a list of one, used at every position.

    >>> import numpy as np
    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays(
    ...     [[[0.1], [0.9]], [[0.8], [0.2]]], reward=lw.rewards.AnySuccess([[0, 1], [1, 0]])
    ... )
    >>> list(Regression(2).fit(problems).predict(problems))
    [array([1, 0]), array([0, 1])]
    """

    length: int
    features: Features = field(default_factory=Candidate)
    penalty: float = 1.0

    def fit(self, problems: Problems) -> Self:
        """Ridge regression."""
        learner = RidgeLeader(self.penalty)
        self.model_ = SCP(1, features=self.features, learner=learner, random_state=0).fit(problems)
        return self

    def predict(self, problems: Problems) -> Lists:
        """The best candidates first."""
        return self.model_.predict(problems, length=self.length)
