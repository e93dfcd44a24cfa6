"""Parts as a user would write them, in a module of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

import listwright as lw
from listwright import features, learners, policies, rewards
from listwright.problems import Problems


class Powers(features.Features):
    """Powers of one column, less their means over the training problems."""

    group = "powers"

    def __init__(self, column: int = 0, *, highest: int = 2) -> None:
        self.column = column
        self.highest = highest

    def fit(self, problems: Problems) -> Self:
        self.means_ = self._powers(problems).mean(axis=0)
        return self

    def start(self, problems: Problems) -> Any:
        return problems

    def problems_of(self, seen: Problems) -> Problems:
        return seen

    def columns(self, seen: Problems) -> Any:
        return (self._powers(seen) - self.means_).astype(np.float32)

    def names(self) -> list[str]:
        return [f"power {i + 1}" for i in range(self.highest)]

    def _powers(self, problems: Problems) -> Any:
        return problems.features[:, [self.column]] ** np.arange(1, self.highest + 1)


@dataclass(frozen=True, eq=False)
class Sharpest(policies.Policy):
    """Scores by one weighted column."""

    column: int
    weight: float

    def score(self, rows: Any) -> Any:
        return rows.table[:, self.column].astype(np.float64) * self.weight


class Correlation(learners.Learner):
    """Scores by the column that goes best with gains."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale

    def learn(self, examples: Any) -> None:
        table = examples.rows.written_out()
        centred = table - table.mean(axis=0)
        self.sums_ = getattr(self, "sums_", np.zeros(table.shape[1])) + centred.T @ examples.gains

    def policy(self) -> policies.Policy:
        best = int(np.argmax(np.abs(self.sums_)))
        return Sharpest(best, self.scale * float(np.sign(self.sums_[best])))


class HalfSuccess(rewards.Reward):
    """Half of another reward: a reward that a feature may hold."""

    def __init__(self, share: float = 0.5) -> None:
        self.share = share

    def start(self, problems: Problems) -> Any:
        return np.zeros(len(problems))

    def gains(self, state: Any) -> Any:
        return np.full(1, self.share)

    def add(self, state: Any, picks: Any) -> Any:
        return state + self.share * (picks >= 0)

    def value(self, state: Any) -> Any:
        return state


class WithReward(Powers):
    """A feature that holds a reward."""

    def __init__(self, reward: rewards.Reward, column: int = 0, *, highest: int = 2) -> None:
        super().__init__(column, highest=highest)
        self.reward = reward


class Centroid(RegressorMixin, BaseEstimator):
    """An estimator with scikit-learn's manners."""

    def __init__(self, shrink: float = 1.0) -> None:
        self.shrink = shrink

    def fit(self, x: Any, y: Any) -> Self:
        self.direction_ = (np.asarray(x, dtype=np.float64) * (np.asarray(y) - np.mean(y))[:, None]).mean(axis=0)
        return self

    def predict(self, x: Any) -> Any:
        return np.asarray(x, dtype=np.float64) @ self.direction_ * self.shrink


class Forgetful(features.Position):
    """Keeps something under a name that a file does not know."""

    def __init__(self) -> None:
        super().__init__()
        self.when = 3


class MySCP(lw.SCP):
    """A model of one's own."""
