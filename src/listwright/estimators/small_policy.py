"""A policy with few weights over scores and estimates that were learned beforehand: the top layer of stacking."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from listwright._internal.arrays import Floats32, Ints
from listwright._internal.saved import saved_as
from listwright.estimators.policy_score import PolicyScore
from listwright.features import Features, Sum
from listwright.learners import SoftmaxLeader
from listwright.problems import Problems
from listwright.training.signature import fingerprint
from listwright.training.sources import Plan

PASSES = 3  # the features hold what more passes would find


class Weighed(NamedTuple):
    """Fitted features (scores of policies: cross-fitted), and the weights that their columns start from."""

    features: Features
    weights: tuple[float, ...]


class FirstSeen(NamedTuple):
    """What the inner features have seen, and how long each list is."""

    problems: Problems
    seen: Any
    lengths: Ints


@saved_as("features.FirstApart")
class FirstApart(Features):
    """Columns of other features, and each once more for the first pick alone.

    An empty list leaves nothing to compare with, so that the first pick may need other weights than later ones.

    Parameters
    ----------
    part : Features
        Where the columns come from.
    """

    def __init__(self, part: Features) -> None:
        self.part = part

    @property
    def group(self) -> str:  # type: ignore[override]
        """The group of the inner features, under which reasons show these columns."""
        return self.part.group

    def fit(self, problems: Problems) -> Self:
        """Fits the inner features."""
        self.part_ = clone(self.part).fit(problems)
        return self

    def slimmed(self) -> Self:
        """Returns a copy with slimmed inner features."""
        twin = copy.copy(self)
        twin.part_ = self.part_.slimmed()
        return twin

    def for_training(self, problems: Problems) -> Self:
        """Returns a copy whose inner features score training problems out of fold."""
        twin = copy.copy(self)
        twin.part_ = self.part_.for_training(problems)
        return twin

    def start(self, problems: Problems) -> FirstSeen:
        """Starts with empty lists."""
        return FirstSeen(problems, self.part_.start(problems), np.zeros(len(problems), dtype=np.int64))

    def columns(self, seen: FirstSeen) -> Floats32:
        """Returns the inner columns, then the same again where the list is empty and 0 elsewhere."""
        columns = self.part_.columns(seen.seen)
        first = (seen.lengths == 0)[seen.problems.owners].astype(np.float32)
        return np.concatenate([columns, columns * first[:, None]], axis=1)

    def add(self, seen: FirstSeen, picks: Ints) -> FirstSeen:
        """Passes the picks on and counts them."""
        return FirstSeen(seen.problems, self.part_.add(seen.seen, picks), seen.lengths + (picks >= 0))

    def names(self) -> list[str]:
        """Returns the inner names, then the same with "first pick"."""
        return [*self.part_.names(), *(f"{name}, first pick" for name in self.part_.names())]


@saved_as("features.Scores")
class Scores(Sum):
    """A sum of features that were fitted to the training problems already, while the ways were tried.

    `fit` on the same problems therefore only fits what is missing: the policies on all problems.
    """

    @classmethod
    def of(cls, weighed: Sequence[Weighed], problems: Problems) -> Self:
        """Makes the sum from fitted features; scores of policies need only be cross-fitted until `fit`."""
        parts = [FirstApart(clone(one.features)) for one in weighed]
        scores = cls(list(parts))
        for part, one in zip(parts, weighed, strict=True):
            part.part_ = one.features
        scores.parts_, scores.fitted_to_ = list(parts), fingerprint(problems)
        return scores

    def fit(self, problems: Problems) -> Self:
        """Fits what is not yet fitted to these problems, or everything if they are other ones."""
        if getattr(self, "fitted_to_", None) != fingerprint(problems):
            return super().fit(problems)
        for part in self.parts_:
            if isinstance(part.part_, PolicyScore):
                part.part_.fit(problems)
        return self


def small_policy(weighed: Sequence[Weighed], problems: Problems, *, penalty: float) -> Plan:
    """Returns the plan of a softmax policy over few columns.

    Parameters
    ----------
    weighed : sequence of Weighed
        The columns, and the weights that they start from.
    problems : Problems
        What the columns were fitted to.
    penalty : float
        How firmly weights stay where they start. Few states leave them there, the same for all positions.
    """
    prior = tuple(weight for one in weighed for weight in (*one.weights, *(0.0 for _ in one.weights)))
    return Plan(Scores.of(weighed, problems), SoftmaxLeader(penalty, prior=prior), PASSES)
