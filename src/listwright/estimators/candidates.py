"""Methods that `SCP` chooses from: each says what its lists are worth out of fold, and gives a plan to fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from listwright._internal.arrays import FOLDS, Floats
from listwright._internal.parameters import clone
from listwright.estimators.base import ListEstimator
from listwright.estimators.measurement import limits_of
from listwright.estimators.stacking import PolicyScore, StackedInput, small_policy
from listwright.estimators.wide import NEW, WIDE, compression_seconds
from listwright.evaluation.values import cumulative_values, measure_lists
from listwright.features import Features, Sum
from listwright.learners import as_learner
from listwright.lists import Lists
from listwright.policies import Linear
from listwright.problems import Problems
from listwright.training.loop import FitPlan
from listwright.walk.constraints import as_budgets, as_constrained
from listwright.walk.lists import build_lists

SHARE = 0.5  # weight of a policy's score to start from
# Seconds per candidate and visit, about: in any case, for each column, and for each kind of link to the list.
VISIT, COLUMN, LINK = 3e-7, 1e-8, 6e-7
TREES = 1e-4  # seconds per candidate that trees are grown on, about
OUTCOMES = 4e-5  # seconds per candidate that models of outcomes are fitted on, and root of the columns, about
FORESTS = 15_000  # candidates and roots of columns that count in any case: forests take time to grow on a few, too


class CandidateMethod(ABC):
    """A method, for lists of the length or budget of `settings`."""

    # `values` are out of fold: the list of each training problem is built by what was learned without it, so that
    # complex methods have no advantage from overfitting.

    name: str
    sorts = False  # whether it sorts the candidates, without a look at the list

    def __init__(self, settings: ListEstimator) -> None:
        self.settings, self.limits = settings, limits_of(settings)

    @abstractmethod
    def seconds(self, problems: Problems) -> float:
        """Estimate how long `values` takes from the size of the problems, the same on every machine."""

    @abstractmethod
    def inputs(self, problems: Problems) -> list[StackedInput]:
        """Return its columns in a policy over several methods, cross-fitted, with the weights to start from."""

    def plan(self, problems: Problems) -> FitPlan:
        """Return what to fit where this method is chosen."""
        return small_policy(self.inputs(problems), problems)

    def values(self, problems: Problems) -> Floats:
        """Return what each problem's list is worth up to each position, out of fold: shape (problems, positions)."""
        parts = self.inputs(problems)
        problems = as_constrained(problems, None, self.settings.per_group)
        view = Sum([clone(part.features) for part in parts])
        view.parts_ = [part.features.for_training(problems) for part in parts]
        policy = Linear(np.array([weight for part in parts for weight in part.weights]))
        length, budgets = self.limits["length"], as_budgets(self.limits["budget"], problems)
        rng = np.random.default_rng(0)
        lists = build_lists(problems.without_reward(), view, policy, length=length, rng=rng, budgets=budgets)
        return self._list_values(lists, problems)

    def _list_values(self, lists: Lists, problems: Problems) -> Floats:
        """Return the values up to each position, or under a budget of the whole lists only."""
        values = cumulative_values(measure_lists(lists, problems))
        if self.settings.budget is not None:
            return values[:, -1:]
        missing = max(self.settings.length - values.shape[1], 0)
        return np.pad(values, ((0, 0), (0, missing)), mode="edge")


class PolicyMethod(CandidateMethod):
    def __init__(
        self, name: str, settings: ListEstimator, *, n_folds: int = FOLDS, sorts: bool = False, **changes: Any
    ) -> None:
        super().__init__(settings)
        self.name, self.sorts, self.changes = name, sorts, changes
        self.score = PolicyScore(clone(settings).set_params(**{"keep": "last"} | changes), n_folds)

    def values(self, problems: Problems) -> Floats:
        values = np.zeros((len(problems), 1 if self.settings.budget is not None else self.settings.length))
        for which, model in self.score.cross_fit(problems).held_out(problems):
            some = problems[which]
            lists = model.predict(some.without_reward(), allow_short=True, **self.limits)
            values[which] = self._list_values(lists, some)
        return values

    def seconds(self, problems: Problems) -> float:
        return 0.0 if self.score.has_seen(problems) else (self.score.n_folds - 1) * self.fit_seconds(problems)

    def fit_seconds(self, problems: Problems) -> float:
        """Estimate one fit: visits of candidates, and the growth of trees where the learner grows them."""
        model = self.score.model
        seen = candidates_seen(model, problems)
        most = getattr(model.learner, "most_rows", None)
        grown = 0.0 if most is None else min(seen, model.n_passes * most)
        kinds = len(problems.links or {}) + (0 if problems.vectors is None else 5)
        visit = VISIT + COLUMN * width(problems) + LINK * kinds
        return seen * visit + TREES * grown + compression_seconds(problems)

    def plan(self, problems: Problems) -> FitPlan:
        """Return the estimator's own plan, or its score as a single feature where more than that differs."""
        if not set(self.changes) <= {"features", "learner", "n_passes"}:
            return super().plan(problems)
        model = self.score.model
        return FitPlan(model.chosen_features(problems), as_learner(model.learner), model.n_passes)

    def inputs(self, problems: Problems) -> list[StackedInput]:
        return [StackedInput(self.score.cross_fit(problems), (SHARE,))]


class EstimateMethod(CandidateMethod):
    """Estimates that cross-fit themselves, summed up with given weights."""

    def __init__(
        self,
        name: str,
        settings: ListEstimator,
        features: Features,
        weights: tuple[float, ...],
        *,
        sorts: bool = False,
        cost: float = OUTCOMES,
    ) -> None:
        super().__init__(settings)
        self.name, self.features, self.weights, self.sorts, self.cost = name, features, weights, sorts, cost
        self.fitted: Features | None = None

    def seconds(self, problems: Problems) -> float:
        return 0.0 if self.fitted is not None else self.cost * (FORESTS + problems.n_rows * np.sqrt(width(problems)))

    def inputs(self, problems: Problems) -> list[StackedInput]:
        if self.fitted is None:
            self.fitted = clone(self.features).fit(problems)
        return [StackedInput(self.fitted, self.weights)]


class CombinedMethod(CandidateMethod):
    def __init__(self, methods: Sequence[CandidateMethod], name: str | None = None) -> None:
        super().__init__(methods[0].settings)
        self.methods = methods
        self.name = " + ".join(method.name for method in methods) if name is None else name

    def seconds(self, problems: Problems) -> float:
        return sum(method.seconds(problems) for method in self.methods)

    def inputs(self, problems: Problems) -> list[StackedInput]:
        return [part for method in self.methods for part in method.inputs(problems)]


def candidates_seen(model: ListEstimator, problems: Problems) -> float:
    steps = float(model.length)
    if model.budget is not None and problems.sizes is not None:
        steps = min(model.budget / float(problems.sizes.mean()), float(problems.counts.max()))
    return model.n_passes * steps * problems.n_rows


def width(problems: Problems) -> int:
    """Return the number of columns known of a candidate and its problem, after compression where they are many."""
    own = problems.n_features if problems.n_features <= WIDE else NEW
    return 1 + own + (0 if problems.context is None else problems.context.shape[1])
