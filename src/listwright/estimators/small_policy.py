"""A policy with few weights over scores and estimates that were learned beforehand: the top layer of stacking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

from listwright._internal.parameters import clone
from listwright._internal.saved import saved_as
from listwright.estimators.policy_score import PolicyScore
from listwright.features import Features, Sum
from listwright.learners import SoftmaxLeader
from listwright.problems import Problems
from listwright.training.signature import fingerprint
from listwright.training.sources import Plan

# Weights that were learned freely lost on aslib_dev and questions: they stay within a hair of those to start from.
FIRM, PASSES = 1e5, 1


class StackedInput(NamedTuple):
    """Fitted features (scores of policies: cross-fitted), and the weights that their columns start from."""

    features: Features
    weights: tuple[float, ...]


@saved_as("features.Scores")
class Scores(Sum):
    """A sum of features that were fitted to the training problems already, while the ways were tried."""

    fitted_to_: str  # fingerprint of the problems

    @classmethod
    def of(cls, weighed: Sequence[StackedInput], problems: Problems) -> Self:
        """Make the sum from fitted features; scores of policies need only be cross-fitted until `fit`."""
        scores = cls([clone(one.features) for one in weighed])
        scores.parts_, scores.fitted_to_ = [one.features for one in weighed], fingerprint(problems)
        return scores

    def fit(self, problems: Problems) -> Self:
        """Fit what is not yet fitted to these problems, or everything if they are other ones."""
        if getattr(self, "fitted_to_", None) != fingerprint(problems):
            return super().fit(problems)
        for part in self.parts_:
            if isinstance(part, PolicyScore):
                part.fit(problems)
        return self


def small_policy(weighed: Sequence[StackedInput], problems: Problems) -> Plan:
    """Return the plan of a softmax policy over few columns."""
    prior = tuple(weight for one in weighed for weight in one.weights)
    return Plan(Scores.of(weighed, problems), SoftmaxLeader(FIRM, prior=prior), PASSES)
