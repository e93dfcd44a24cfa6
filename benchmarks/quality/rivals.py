"""Rivals whose one setting is chosen on training problems, as a user would choose it."""

from __future__ import annotations

from itertools import product
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

import listwright as lw
from listwright.baselines import DPP, MMR
from listwright.baselines.base import lists_by_score
from listwright.evaluation.values import list_values
from listwright.features import Aspects, Candidate, Sum
from listwright.features.links import cosines
from listwright.features.scale import dense
from listwright.learners.examples import center_by_state
from listwright.policies import Linear
from listwright.rewards import FacilityLocation
from listwright.walk.constraints import as_budgets
from listwright.walk.lists import build_lists

MIXES = tuple(round(0.1 * step, 1) for step in range(1, 11))


class Tuned(BaseEstimator):
    """Takes the one of several rivals whose lists are worth most on the training problems."""

    choices: tuple[Any, ...]

    def fit(self, problems: lw.Problems) -> Self:
        """Tries every setting."""
        models = [self._made(value).fit(problems) for value in self.choices]
        worth = [self._worth(model, problems) for model in models]
        self.model_ = models[worth.index(max(worth))]
        return self

    def _worth(self, model: Any, problems: lw.Problems) -> float:
        return float(list_values(model.predict(problems.without_reward(), allow_short=True), problems).mean())

    def _made(self, value: Any) -> Any:
        raise NotImplementedError

    def predict(self, problems: lw.Problems, **limits: Any) -> lw.Lists:
        """Lists of the chosen one."""
        return self.model_.predict(problems, **limits)


class TunedMMR(Tuned):
    """MMR with the best diversity and the best relevance: the centre of the problem, or its best column."""

    def __init__(self, length: int = 5, budget: float | None = None) -> None:
        self.length = length
        self.budget = budget

    def fit(self, problems: lw.Problems) -> Self:
        """Finds the best column first."""
        columns = [SortedBy(self.length, self.budget).fit(problems).column_] if problems.n_features else []
        self.choices = tuple(product((0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), (None, *columns)))
        return super().fit(problems)

    def _made(self, value: Any) -> Any:
        return MMR(value[0], value[1], self.length, budget=self.budget)


class SortedBy(BaseEstimator):
    """Sorts by the single column, up or down, whose lists are worth most on the training problems."""

    def __init__(self, length: int = 5, budget: float | None = None) -> None:
        self.length = length
        self.budget = budget

    def fit(self, problems: lw.Problems) -> Self:
        """Tries the columns, the more promising ones first, and those only."""
        table = center_by_state(dense(problems.features).astype(np.float64), problems.offsets)
        gains = center_by_state(problems.reward.gains(problems.reward.start(problems)), problems.offsets)
        likeness = gains @ table / np.maximum(np.sqrt((table**2).sum(axis=0)), 1e-12)
        ways = [(int(column), float(np.sign(likeness[column]))) for column in np.argsort(-np.abs(likeness))[:10]]
        limits = (self.length, None) if self.budget is None else (None, self.budget)
        worth = [float(list_values(self._sorted(problems, *way, *limits), problems).mean()) for way in ways]
        self.column_, self.sign_ = ways[worth.index(max(worth))]
        return self

    def _sorted(
        self, problems: lw.Problems, column: int, sign: float, length: int | None, budget: float | None = None
    ) -> lw.Lists:
        scores = sign * dense(problems.features)[:, column].astype(np.float64)
        steps = int(problems.counts.max()) if length is None else min(length, int(problems.counts.max()))
        return lists_by_score(problems, scores, steps, as_budgets(budget, problems))

    def predict(
        self,
        problems: lw.Problems,
        *,
        length: int | None = None,
        budget: float | None = None,
        allow_short: bool = False,
    ) -> lw.Lists:
        """Lists by that column."""
        length = self.length if length is None and budget is None else length
        return self._sorted(problems, self.column_, self.sign_, length, budget)


class GivenOrder(BaseEstimator):
    """The candidates in the order given: what the search engine says."""

    def fit(self, problems: lw.Problems) -> Self:
        """Nothing to learn."""
        return self

    def predict(self, problems: lw.Problems, *, length: int = 5, allow_short: bool = False) -> lw.Lists:
        """The first candidates of each problem."""
        return lists_by_score(problems, -np.arange(problems.n_rows, dtype=np.float64), length, None)


class Explicit(BaseEstimator):
    """Lists by a given weighted sum of columns: the candidates' own, and what the list leaves uncovered of aspects."""

    def __init__(self, weights: tuple[tuple[str, float], ...], length: int = 5) -> None:
        self.weights = weights
        self.length = length

    def fit(self, problems: lw.Problems) -> Self:
        """Learns nothing but the names of the columns."""
        self.features_ = Sum([Candidate(), Aspects((1.0,))]).fit(problems)
        return self

    def predict(self, problems: lw.Problems, *, length: int | None = None, allow_short: bool = False) -> lw.Lists:
        """Greedy lists by the sum."""
        names = self.features_.names()
        weights = np.zeros(len(names))
        for name, weight in self.weights:
            weights[names.index(name)] = weight
        policy = Linear(weights)
        return build_lists(problems, self.features_, policy, length=length or self.length, rng=np.random.default_rng(0))


class TunedXQuAD(Tuned):
    """xQuAD (Santos et al. 2010) with the best mix of relevance and uncovered suggestions.

    Relevance is the search engine's score, BM25, or the best column, in standard deviations.
    """

    def __init__(self, length: int = 5) -> None:
        self.length = length

    def fit(self, problems: lw.Problems) -> Self:
        """Finds the best column first."""
        best = SortedBy(self.length).fit(problems)
        columns = (("ind_mm", 1.0), ("bq_mm", 1.0), (problems.feature_names[best.column_], best.sign_))
        self.choices = tuple(product((*MIXES, 0.95, 0.98), columns))
        return super().fit(problems)

    def _made(self, value: Any) -> Any:
        mix, (relevance, sign) = value
        return Explicit(((relevance, sign * (1.0 - mix)), ("uncovered suggestions, power 1", mix)), self.length)


class TunedPM2(Tuned):
    """PM-2 (Dang and Croft 2012) with the best mix of the suggestion whose turn it is and the others."""

    choices = MIXES

    def __init__(self, length: int = 5) -> None:
        self.length = length

    def _made(self, value: Any) -> Any:
        mine, others = "next seat by suggestions", "other seats by suggestions"
        return Explicit(((mine, value), (others, 1.0 - value)), self.length)


class TunedDPP(Tuned):
    """DPP with the best scale of relevance."""

    choices = (0.5, 1.0, 2.0, 4.0, 8.0)

    def __init__(self, length: int = 5) -> None:
        self.length = length

    def _made(self, value: Any) -> Any:
        return DPP(value, None, self.length)


class FacilityGreedy(BaseEstimator):
    """Greedy facility location on the cosines of the vectors; learns nothing."""

    def __init__(self, length: int = 5) -> None:
        self.length = length

    def fit(self, problems: lw.Problems) -> Self:
        """Nothing to learn."""
        return self

    def predict(self, problems: lw.Problems, *, length: int | None = None, allow_short: bool = False) -> lw.Lists:
        """The lists that stand best for all candidates."""
        measured = problems.with_reward(FacilityLocation(cosines(problems)))
        return lw.greedy(measured, length=length or self.length)
