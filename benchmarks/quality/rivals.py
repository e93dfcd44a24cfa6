"""Rivals whose one setting is chosen on training problems, as a user would choose it."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

import listwright as lw
from listwright.baselines import DPP, MMR
from listwright.evaluation.values import list_values
from listwright.features.links import cosines
from listwright.rewards import FacilityLocation


class Tuned(BaseEstimator):
    """Takes the one of several rivals whose lists are worth most on the training problems."""

    choices: tuple[float, ...]

    def fit(self, problems: lw.Problems) -> Self:
        """Tries every setting."""
        models = [self._made(value).fit(problems) for value in self.choices]
        worth = [self._worth(model, problems) for model in models]
        self.model_ = models[worth.index(max(worth))]
        return self

    def _worth(self, model: Any, problems: lw.Problems) -> float:
        return float(list_values(model.predict(problems.without_reward(), short_lists=True), problems).mean())

    def _made(self, value: float) -> Any:
        raise NotImplementedError

    def predict(self, problems: lw.Problems, **limits: Any) -> lw.Lists:
        """Lists of the chosen one."""
        return self.model_.predict(problems, **limits)


class TunedMMR(Tuned):
    """MMR with the best diversity."""

    choices = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)

    def __init__(self, relevance: Any = None, length: int = 5) -> None:
        self.relevance = relevance
        self.length = length

    def _made(self, value: float) -> Any:
        return MMR(value, self.relevance, self.length)


class TunedDPP(Tuned):
    """DPP with the best scale of relevance."""

    choices = (0.5, 1.0, 2.0, 4.0, 8.0)

    def __init__(self, relevance: Any = None, length: int = 5) -> None:
        self.relevance = relevance
        self.length = length

    def _made(self, value: float) -> Any:
        return DPP(value, self.relevance, self.length)


class FacilityGreedy(BaseEstimator):
    """Greedy facility location on the cosines of the vectors; learns nothing."""

    def __init__(self, length: int = 5) -> None:
        self.length = length

    def fit(self, problems: lw.Problems) -> Self:
        """Nothing to learn."""
        return self

    def predict(self, problems: lw.Problems, *, length: int | None = None, short_lists: bool = False) -> lw.Lists:
        """The lists that stand best for all candidates."""
        measured = problems.with_reward(FacilityLocation(cosines(problems)))
        return lw.greedy(measured, length=length or self.length)
