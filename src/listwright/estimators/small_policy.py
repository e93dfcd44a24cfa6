"""A policy with few weights over scores of policies and estimates that were learned beforehand."""

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
    """Features that are fitted (scores of policies: cross-fitted), and the weights that their columns start from."""

    features: Features
    weights: tuple[float, ...]


class FirstSeen(NamedTuple):
    """What the features see, and how long each list is."""

    problems: Problems
    seen: Any
    lengths: Ints


@saved_as("features.FirstApart")
class FirstApart(Features):
    """Columns, and each once more for the first pick alone: what an empty list needs is weighed by itself.

    Parameters
    ----------
    part : Features
        Where the columns come from.
    """

    def __init__(self, part: Features) -> None:
        self.part = part

    @property
    def group(self) -> str:  # type: ignore[override]
        """That of the part."""
        return self.part.group

    def fit(self, problems: Problems) -> Self:
        """Fits the part."""
        self.part_ = clone(self.part).fit(problems)
        return self

    def slimmed(self) -> Self:
        """With the part slimmed."""
        twin = copy.copy(self)
        twin.part_ = self.part_.slimmed()
        return twin

    def for_training(self, problems: Problems) -> Self:
        """The part's view of training problems."""
        twin = copy.copy(self)
        twin.part_ = self.part_.for_training(problems)
        return twin

    def start(self, problems: Problems) -> FirstSeen:
        """All lists are empty."""
        return FirstSeen(problems, self.part_.start(problems), np.zeros(len(problems), dtype=np.int64))

    def columns(self, seen: FirstSeen) -> Floats32:
        """The part's columns, then the same at the first pick and 0 later."""
        columns = self.part_.columns(seen.seen)
        first = (seen.lengths == 0)[seen.problems.owners].astype(np.float32)
        return np.concatenate([columns, columns * first[:, None]], axis=1)

    def add(self, seen: FirstSeen, picks: Ints) -> FirstSeen:
        """The part sees the picks."""
        return FirstSeen(seen.problems, self.part_.add(seen.seen, picks), seen.lengths + (picks >= 0))

    def names(self) -> list[str]:
        """The part's names twice."""
        return [*self.part_.names(), *(f"{name}, first pick" for name in self.part_.names())]


@saved_as("features.Scores")
class Scores(Sum):
    """Features side by side that have been fitted to the training problems while they were tried."""

    @classmethod
    def of(cls, weighed: Sequence[Weighed], problems: Problems) -> Self:
        """Of fitted features; scores of policies need be cross-fitted only, until `fit`."""
        parts = [FirstApart(clone(one.features)) for one in weighed]
        scores = cls(list(parts))
        for part, one in zip(parts, weighed, strict=True):
            part.part_ = one.features
        scores.parts_, scores.fitted_to_ = list(parts), fingerprint(problems)
        return scores

    def fit(self, problems: Problems) -> Self:
        """Fits what is not yet fitted to these problems."""
        if getattr(self, "fitted_to_", None) != fingerprint(problems):
            return super().fit(problems)
        for part in self.parts_:
            if isinstance(part.part_, PolicyScore):
                part.part_.fit(problems)
        return self


def small_policy(weighed: Sequence[Weighed], problems: Problems, *, penalty: float) -> Plan:
    """A softmax over few columns; few states leave it at the weights it starts from, the same for all positions."""
    prior = tuple(weight for one in weighed for weight in (*one.weights, *(0.0 for _ in one.weights)))
    return Plan(Scores.of(weighed, problems), SoftmaxLeader(penalty, prior=prior), PASSES)
