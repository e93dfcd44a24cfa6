"""Policies learned beforehand as features of another: what `effort="best"` is made of."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.folds import FOLDS, folds_of
from listwright._internal.progress import tell
from listwright._internal.ragged import pieces
from listwright._internal.saved import saved_as
from listwright.estimators.base import ListEstimator
from listwright.features import ExpectedGain, Features, Sum
from listwright.features.cross_fitting import CrossFitted
from listwright.learners import Aggregate, Learner, SoftmaxLeader
from listwright.learners.examples import centered
from listwright.problems import Problems
from listwright.rewards import AnySuccess

# Where items recur: models of outcomes, and weights to start from, for success rates where the list failed by either
# forest, means given that failure by forest and ridge, and the fast policy's score in its spreads. Chosen by
# cross-validation on training parts of ASlib scenarios, motion paths and the trajectory data, as is how freely they
# are left.
MODELS = ("forest", "contrasts", "ridge")
TRUST = (0.5, 0.5, 0.0, 0.1, 0.5)


class Part(NamedTuple):
    """Some problems, as one model sees them."""

    model: ListEstimator
    which: Ints
    rows: Ints
    problems: Problems
    seen: Any


class ScoreSeen(NamedTuple):
    """The problems, shared out among the models that may see them."""

    problems: Problems
    parts: tuple[Part, ...]


@saved_as("features.PolicyScore")
class PolicyScore(CrossFitted):
    """The score that a policy learned beforehand gives a candidate, given the list.

    Training problems are scored by a model that was fitted without them (five folds), so that a policy on top learns
    how far the score can be trusted.

    Parameters
    ----------
    model : ListEstimator
        An estimator such as `SCP`, cloned and fitted.
    """

    group = "learned score"

    def __init__(self, model: ListEstimator) -> None:
        self.model = model

    def slimmed(self) -> Self:
        """Without the models that only see training problems."""
        twin = copy.copy(self)
        if hasattr(self, "fold_models_"):
            twin.fold_models_ = []
        return twin

    def fit(self, problems: Problems) -> Self:
        """Fits the model on all problems, and once without each fold."""
        tell(self.names()[0])
        self.model_ = clone(self.model).fit(problems)
        self.fold_models_ = [self.model_] * FOLDS
        for fold in self.folds(problems):
            self.fold_models_[fold.number] = clone(self.model).fit(problems[fold.rest])
        self.spread_ = 1.0
        seen = self.for_training(problems).start(problems)
        self.spread_ = max(float(centered(self._scores(seen), problems.offsets).std()), 1e-9)
        return self

    def start(self, problems: Problems) -> ScoreSeen:
        """Every model starts on its problems."""
        if not self.out_of_fold:
            everything = [(self.model_, np.arange(len(problems)))]
        else:
            folds = folds_of(problems.problem_ids)
            everything = [(self.fold_models_[fold], np.flatnonzero(folds == fold)) for fold in np.unique(folds)]
        return ScoreSeen(problems, tuple(_part(model, which, problems) for model, which in everything))

    def columns(self, seen: ScoreSeen) -> Floats32:
        """One column, in spreads within training problems."""
        return (self._scores(seen) / self.spread_).astype(np.float32)[:, None]

    def _scores(self, seen: ScoreSeen) -> Floats:
        scores: Floats = np.zeros(seen.problems.n_rows)
        for part in seen.parts:
            training = part.model.training_
            scores[part.rows] = part.model.policy_.score(training.features.rows(part.seen))
        return scores

    def add(self, seen: ScoreSeen, picks: Ints) -> ScoreSeen:
        """Every model sees the picks of its problems."""
        parts = []
        for part in seen.parts:
            moved = part.problems.offsets[:-1] - seen.problems.offsets[part.which]
            mine = np.where(picks[part.which] >= 0, picks[part.which] + moved, -1)
            parts.append(part._replace(seen=part.model.training_.features.add(part.seen, mine)))
        return seen._replace(parts=tuple(parts))

    def names(self) -> list[str]:
        """One name."""
        learner = self.model.learner
        return [f"score of {learner if isinstance(learner, str) else type(learner).__name__}"]


def _part(model: ListEstimator, which: Ints, problems: Problems) -> Part:
    some = problems[which].without_reward()
    return Part(model, which, pieces(problems.offsets, which), some, model.training_.features.start(some))


def best_features(problems: Problems, fast: ListEstimator) -> Features:
    """Estimates of what each item brings given the list: expected gains where items recur and one success is enough,
    and scores of policies learned beforehand: the fast one and, where candidates have features, trees."""
    if items_recur(problems):
        return Sum([ExpectedGain(MODELS), PolicyScore(fast)])
    trees = [forest(), boosted_trees()] if problems.n_features else []
    grown = [clone(fast).set_params(learner=learner, n_passes=2, batch_size=len(problems)) for learner in trees]
    return Sum([PolicyScore(policy) for policy in (fast, *grown)])


def best_learner(problems: Problems) -> Learner:
    """A small policy with shared weights. Few states leave it at those it starts from: `TRUST` where items recur, else
    the same for all scores."""
    return SoftmaxLeader(100.0, prior=TRUST) if items_recur(problems) else SoftmaxLeader(10.0, prior=0.5)


def items_recur(problems: Problems) -> bool:
    """Whether what an item brought in other problems tells what it brings here."""
    return problems.catalogue is not None and isinstance(problems.reward, AnySuccess)


def forest() -> Aggregate:
    """Extra-trees on everything the policy sees."""
    return Aggregate(ExtraTreesRegressor(100, min_samples_leaf=3, max_features=0.3, random_state=0))


def boosted_trees() -> Aggregate:
    """Gradient boosting on everything the policy sees: LightGBM where it is installed, else scikit-learn's."""
    try:
        from lightgbm import LGBMRegressor
    except ImportError:
        from sklearn.ensemble import HistGradientBoostingRegressor

        return Aggregate(HistGradientBoostingRegressor(max_iter=100, max_leaf_nodes=15, random_state=0))
    return Aggregate(
        LGBMRegressor(n_estimators=100, num_leaves=15, min_child_samples=10, random_state=0, n_jobs=1, verbose=-1)
    )
