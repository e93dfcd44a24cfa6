"""A policy with few weights over scores and estimates that were learned beforehand: the top layer of stacking."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import FOLDS, Floats, Floats32, Ints, folds_of, pieces
from listwright._internal.parameters import clone
from listwright._internal.progress import report_progress
from listwright._internal.saved import saved_as
from listwright.baselines import StaticList
from listwright.baselines.weighted_cover import items_of
from listwright.estimators.base import ListEstimator
from listwright.features import Features, Sum
from listwright.features.base import CrossFitted, TableSeen
from listwright.learners import SoftmaxLeader
from listwright.learners.examples import center_by_state
from listwright.problems import Problems
from listwright.training.loop import FitPlan
from listwright.training.signature import fingerprint

# Weights that were learned freely lost on aslib_dev and questions: they stay within a hair of those to start from.
FIRM, PASSES = 1e5, 1


@saved_as("features.StaticRank")
class StaticRank(CrossFitted):
    """The place of an item in the greedy list on the mean reward, first ones highest: what `StaticList` sorts by."""

    group = "identity"
    is_static = True

    def fit(self, problems: Problems) -> Self:
        self.order_ = StaticList().fit(problems).order_
        self.fold_orders_ = np.tile(self.order_, (self.n_folds, 1))
        for fold in self.folds(problems):
            order = StaticList().fit(problems[fold.rest]).order_
            self.fold_orders_[fold.number] = np.concatenate([order, np.setdiff1d(self.order_, order)])
        return self

    def start(self, problems: Problems) -> TableSeen:
        orders = self.fold_orders_ if self.out_of_fold else self.order_[None]
        folds = folds_of(problems.problem_ids, self.n_folds) if self.out_of_fold else np.zeros(len(problems), np.int64)
        places = np.pad(np.argsort(orders, axis=1), ((0, 0), (0, 1)), constant_values=orders.shape[1])
        items = np.minimum(items_of(problems), orders.shape[1])  # new ones behind all others
        return TableSeen(problems, -places[folds[problems.owners], items].astype(np.float32)[:, None])

    def columns(self, seen: TableSeen) -> Floats32:
        return seen.table

    def names(self) -> list[str]:
        return ["place in the static list"]


class StackedInput(NamedTuple):
    """Fitted features (scores of policies: cross-fitted), and the weights that their columns start from."""

    features: Features
    weights: tuple[float, ...]


@saved_as("features.Scores")
class Scores(Sum):
    """A sum of features that were fitted to the training problems already, while the ways were tried."""

    fitted_to_: str  # fingerprint of the problems

    @classmethod
    def of(cls, inputs: Sequence[StackedInput], problems: Problems) -> Self:
        """Make the sum from fitted features; scores of policies need only be cross-fitted until `fit`."""
        scores = cls([clone(part.features) for part in inputs])
        scores.parts_, scores.fitted_to_ = [part.features for part in inputs], fingerprint(problems)
        return scores

    def fit(self, problems: Problems) -> Self:
        if getattr(self, "fitted_to_", None) != fingerprint(problems):
            return super().fit(problems)
        for part in self.parts_:
            if isinstance(part, PolicyScore):
                part.fit(problems)
        return self


def small_policy(inputs: Sequence[StackedInput], problems: Problems) -> FitPlan:
    prior = tuple(weight for part in inputs for weight in part.weights)
    return FitPlan(Scores.of(inputs, problems), SoftmaxLeader(FIRM, prior=prior), PASSES)


class FoldPart(NamedTuple):
    model: ListEstimator
    which: Ints
    rows: Ints
    problems: Problems
    seen: Any
    scores: Floats | None  # where no pick changes them


class ScoreSeen(NamedTuple):
    """The problems, divided among the models that may score them: by fold in training, all to one model otherwise."""

    problems: Problems
    parts: tuple[FoldPart, ...]


@saved_as("features.PolicyScore")
class PolicyScore(CrossFitted):
    """The score that a policy learned beforehand gives a candidate, given the list."""

    # Training problems are scored by a model that was fitted without them, so that a policy on top learns how far the
    # score can be trusted.

    group = "learned score"

    def __init__(self, model: ListEstimator, n_folds: int = FOLDS) -> None:
        self.model = model
        self.n_folds = n_folds

    def without_training_state(self) -> Self:
        twin = copy.copy(self)
        if hasattr(self, "fold_models_"):
            twin.fold_models_ = []
        return twin

    def fit(self, problems: Problems) -> Self:
        self.cross_fit(problems)
        report_progress(self.names()[0])
        self.model_ = clone(self.model).fit(problems)
        return self

    def cross_fit(self, problems: Problems) -> Self:
        """Fit the model once without each fold, which is enough to score the training problems."""
        # Scores are divided by their standard deviation within problems, so that weights of different policies compare.
        if self.has_seen(problems):
            return self
        self.fold_models_: list[ListEstimator | None] = [None] * self.n_folds
        for fold in self.folds(problems):
            self.fold_models_[fold.number] = clone(self.model).fit(problems[fold.rest])
        self.spread_ = 1.0
        seen = self.for_training(problems).start(problems)
        self.spread_ = max(float(center_by_state(self._scores(seen), problems.offsets).std()), 1e-9)
        self.cross_fitted_to_ = fingerprint(problems)
        return self

    def has_seen(self, problems: Problems) -> bool:
        return hasattr(self, "cross_fitted_to_") and self.cross_fitted_to_ == fingerprint(problems)

    def held_out(self, problems: Problems) -> Iterator[tuple[Ints, ListEstimator]]:
        folds = folds_of(problems.problem_ids, self.n_folds)
        for fold in np.unique(folds):
            model = self.fold_models_[fold]
            assert model is not None
            yield np.flatnonzero(folds == fold), model

    def start(self, problems: Problems) -> ScoreSeen:
        everyone = np.arange(len(problems))
        parts = self.held_out(problems) if self.out_of_fold else [(everyone, self.model_)]
        return ScoreSeen(problems, tuple(_part(model, which, problems) for which, model in parts))

    def columns(self, seen: ScoreSeen) -> Floats32:
        return (self._scores(seen) / self.spread_).astype(np.float32)[:, None]

    def _scores(self, seen: ScoreSeen) -> Floats:
        scores: Floats = np.zeros(seen.problems.n_rows)
        for part in seen.parts:
            scores[part.rows] = _policy_scores(part.model, part.seen) if part.scores is None else part.scores
        return scores

    def add(self, seen: ScoreSeen, picks: Ints) -> ScoreSeen:
        parts = []
        for part in seen.parts:
            if part.scores is None:
                moved = part.problems.offsets[:-1] - seen.problems.offsets[part.which]
                mine = np.where(picks[part.which] >= 0, picks[part.which] + moved, -1)
                part = part._replace(seen=part.model.training_.features.add(part.seen, mine))
            parts.append(part)
        return seen._replace(parts=tuple(parts))

    def names(self) -> list[str]:
        learner = getattr(self.model.learner, "estimator", self.model.learner)
        return [f"score of {learner if isinstance(learner, str) else type(learner).__name__}"]


def _part(model: ListEstimator, which: Ints, problems: Problems) -> FoldPart:
    """Start one model on some problems; where its scores do not depend on the list, they are computed here once."""
    some, features = problems[which].without_reward(), model.training_.features
    seen = features.start(some)
    scores = _policy_scores(model, seen) if features.is_static else None
    return FoldPart(model, which, pieces(problems.offsets, which), some, seen, scores)


def _policy_scores(model: ListEstimator, seen: Any) -> Floats:
    return model.policy_.score(model.training_.features.rows(seen))
