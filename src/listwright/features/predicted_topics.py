"""Predicted coverage of a candidate, topic by topic, and what of it the list leaves to be gained."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.ragged import pieces
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features.base import Scale, dense
from listwright.features.cross_fitting import CrossFitted
from listwright.features.outcomes import OutcomeModel, fresh_models
from listwright.features.topics import topics_of
from listwright.problems import Problems
from listwright.rewards import Reward

LEAST = 1e-4  # gains below this are told as this, so that logarithms stay finite


class TopicsSeen(NamedTuple):
    """By model: the reward on its predictions, with what the list has covered of them.

    Attributes
    ----------
    problems : Problems
        The problems.
    alone : ndarray of shape (rows, models)
        Gains of the empty list.
    states : tuple of (Reward, state)
        By model: the reward on predicted amounts, and its state.
    """

    problems: Problems
    alone: Floats  # (rows, models): gains of the empty list
    states: tuple[tuple[Reward, Any], ...]


@saved_as("features.PredictedTopics")
class PredictedTopics(CrossFitted):
    """The reward's own gain on predicted coverage, as logarithms: what `ExpectedGain` gives where candidates are known
    by their features.

    A topic is a column of the reward's table. Where it means the same in all problems (a genre), the models tell topics
    apart; where it does not, all topics are predicted alike, and no candidate loses more to the list than another. A
    reward without topics has one: what a candidate brings alone.

    Parameters
    ----------
    models : sequence of str | OutcomeModel
        Names of `listwright.features.outcomes.MODELS`, or outcome models; those that bear many rows are used.
    random_state : int
        Seed of the forests.
    """

    group = "expected gain"

    def __init__(self, models: Sequence[str | OutcomeModel], *, random_state: int = 0) -> None:
        self.models = models
        self.random_state = random_state

    def slimmed(self) -> Self:
        """A copy without the out-of-fold predictions for training problems."""
        twin = copy.copy(self)
        if hasattr(self, "training_"):
            twin.training_ = {name: table[:0] for name, table in self.training_.items()}
            twin.training_ids_ = {}
        return twin

    def fit(self, problems: Problems) -> Self:
        """Fits the models on the candidates of all training problems, and once without each fold."""
        self.n_items_ = 0 if problems.catalogue is None else int(problems.catalogue.max()) + 1
        self.scale_ = Scale.of(self._table(problems))
        self.topics_, y = topics_of(problems)
        x = self._view(problems)
        self.models_ = self._fitted(x, y)
        if not self.models_:
            raise InputError(f"Candidates without a catalogue need the model forest or ridge. Got {self.models!r}.")
        self._cross_fit(problems, x, y)
        return self

    def _fitted(self, x: Floats, y: Floats) -> dict[str, OutcomeModel]:
        models = {name: model.for_rows(len(x)) for name, model in fresh_models(self.models).items()}
        return {name: model.fit(x, y, self.random_state) for name, model in models.items() if model is not None}

    def _cross_fit(self, problems: Problems, x: Floats, y: Floats) -> None:
        """Stores out-of-fold predictions for the candidates of the training problems."""
        predicted = {name: np.zeros_like(y) for name in self.models_}
        for fold in self.folds(problems):
            held, rest = fold.held[problems.owners], fold.rest[problems.owners]
            for name, model in self._fitted(x[rest], y[rest]).items():
                predicted[name][held] = model.means(x[held])
        self.training_, self.training_offsets_ = predicted, problems.offsets
        self.training_ids_ = {problem: i for i, problem in enumerate(problems.problem_ids.tolist())}

    def _predicted(self, problems: Problems) -> dict[str, Any]:
        """By model: predicted amounts (rows, topics), out of fold for training problems."""
        if self.out_of_fold:
            which = np.array([self.training_ids_[problem] for problem in problems.problem_ids.tolist()])
            rows = pieces(self.training_offsets_, which)
            return {name: p[rows] for name, p in self.training_.items()}
        x = self._view(problems)
        return {name: model.means(x) for name, model in self.models_.items()}

    def _view(self, problems: Problems) -> Floats:
        return self.scale_.apply(self._table(problems)).astype(np.float64)

    def _table(self, problems: Problems) -> Floats32:
        """Own features, context and, where items recur, which item it is."""
        parts = [dense(problems.features)]
        if problems.context is not None:
            parts.append(problems.context[problems.owners])
        if self.n_items_ and problems.catalogue is not None:
            parts.append((problems.catalogue[:, None] == np.arange(self.n_items_)).astype(np.float32))
        return np.concatenate(parts, axis=1)

    def start(self, problems: Problems) -> TopicsSeen:
        """Rewards on the predicted amounts, with nothing covered yet."""
        rewards = [self.topics_.reward(p, problems.offsets) for p in self._predicted(problems).values()]
        states = tuple((reward, reward.start(problems)) for reward in rewards)
        return TopicsSeen(problems, _gains(states), states)

    def columns(self, seen: TopicsSeen) -> Floats32:
        """Logarithms of the gains given the list, then of the gains alone; one column per model each."""
        gains = np.concatenate([_gains(seen.states), seen.alone], axis=1)
        return np.log(np.maximum(gains, LEAST)).astype(np.float32)

    def add(self, seen: TopicsSeen, picks: Ints) -> TopicsSeen:
        """Covers what the picks are predicted to cover."""
        return seen._replace(states=tuple((reward, reward.add(state, picks)) for reward, state in seen.states))

    def names(self) -> list[str]:
        """One name per column."""
        names = list(self.models_)
        return [*(f"{name} gain given the list" for name in names), *(f"{name} gain alone" for name in names)]


def _gains(states: tuple[tuple[Reward, Any], ...]) -> Floats:
    return np.stack([reward.gains(state) for reward, state in states], axis=1)
