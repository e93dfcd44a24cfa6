"""Predicted coverage of a candidate, topic by topic, and what of it the list leaves to be gained."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints, pieces
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features.base import CrossFitted
from listwright.features.outcomes import OutcomeModel, fresh_models
from listwright.features.scale import Scale, dense
from listwright.problems import Problems
from listwright.rewards import AnySuccess, ConcaveCoverage, Coverage, ProbabilisticCoverage, Reward, reward_of

MOST_TOPICS = 64  # topics that are distinguished; all others are taken together
NO_CAP = 1e30
LEAST = 1e-4  # gains below this count as this, so that logarithms stay finite


@saved_as("features.LearnedTopics")
class LearnedTopics(NamedTuple):
    shape: str  # "probability", or one of `ConcaveCoverage`
    weights: Floats  # by topic: mean share of its problems' worth
    caps: Floats  # mean amount from which on more brings nothing, for shape "cap"

    def reward(self, amounts: Floats, offsets: Ints) -> Reward:
        if self.shape == "probability":
            return ProbabilisticCoverage(np.clip(amounts, 0.0, 1.0), self.weights, normalize=False).bind(offsets)
        caps = self.caps if self.shape == "cap" else None
        amounts = np.maximum(amounts, 0.0)
        return ConcaveCoverage(amounts, self.shape, caps, self.weights, normalize=False).bind(offsets)


def topics_of(problems: Problems) -> tuple[LearnedTopics, Floats]:
    reward = reward_of(problems, "ExpectedGain")
    if isinstance(reward, Coverage | ProbabilisticCoverage):
        return _by_column(reward, problems, "probability")
    if isinstance(reward, ConcaveCoverage):
        return _by_column(reward, problems, reward.shape)
    alone = reward.gains(reward.start(problems))[:, None]
    shape = "probability" if isinstance(reward, AnySuccess) else "cap"
    return LearnedTopics(shape, np.ones(1), np.full(1, NO_CAP)), alone


def _by_column(reward: Any, problems: Problems, shape: str) -> tuple[LearnedTopics, Floats]:
    """Topics and amounts (rows, topics) of a coverage reward, from the sparse layout of its state."""
    state, columns = reward.start(problems), reward.tables["columns"]
    layout = state.layout
    counts = np.diff(layout.row_starts)
    entry_slots = layout.topics + np.repeat(layout.topic_starts[problems.owners], counts)
    number = _renumber(columns.values, entry_slots)
    n_topics = int(number.max(initial=0)) + 1
    amounts = np.zeros((problems.n_rows, n_topics))
    rows = np.repeat(np.arange(problems.n_rows), counts)
    np.add.at(amounts, (rows, number[entry_slots]), layout.amounts)
    owners = np.repeat(np.arange(len(problems)), np.diff(columns.offsets))
    worth = state.weights / reward.tables["totals"].values[owners]
    topics = LearnedTopics(shape, _means(worth, number, n_topics), _means(state.caps, number, n_topics))
    return topics, np.minimum(amounts, 1.0) if shape == "probability" else amounts


def _renumber(columns: Ints, entry_slots: Ints) -> Ints:
    """By (problem, topic): the topic's number, most covered first; those past the limit share the last."""
    names, codes = np.unique(columns, return_inverse=True)
    covered = np.bincount(codes[entry_slots], minlength=len(names))
    rank = np.empty(len(names), dtype=np.int64)
    rank[np.argsort(-covered, kind="stable")] = np.arange(len(names))
    return np.minimum(rank, MOST_TOPICS - 1)[codes]


def _means(values: Floats, groups: Ints, n_groups: int) -> Floats:
    return np.bincount(groups, values, minlength=n_groups) / np.maximum(np.bincount(groups, minlength=n_groups), 1)


class TopicsSeen(NamedTuple):
    problems: Problems  # the problems
    alone: Floats  # (rows, models): gains of the empty list
    states: tuple[tuple[Reward, Any], ...]  # by model: the reward on predicted amounts, and its state


@saved_as("features.PredictedTopics")
class PredictedTopics(CrossFitted):
    """The reward's own gain on predicted coverage, as logarithms, for `ExpectedGain` without a catalogue."""

    group = "expected gain"

    def __init__(self, models: Sequence[str | OutcomeModel], *, random_state: int = 0) -> None:
        self.models = models
        self.random_state = random_state

    def without_training_state(self) -> Self:
        twin = copy.copy(self)
        if hasattr(self, "training_"):
            twin.training_ = {name: table[:0] for name, table in self.training_.items()}
            twin.training_ids_ = {}
        return twin

    def fit(self, problems: Problems) -> Self:
        self.n_items_ = problems.n_items
        self.scale_ = Scale.of(self._table(problems))
        self.topics_, y = topics_of(problems)
        x = self._view(problems)
        self.models_ = self._fit_models(x, y)
        if not self.models_:
            raise InputError(f"Candidates without a catalogue need the model forest or ridge. Got {self.models!r}.")
        self._cross_fit(problems, x, y)
        return self

    def _fit_models(self, x: Floats, y: Floats) -> dict[str, OutcomeModel]:
        models = {name: model.for_rows(len(x)) for name, model in fresh_models(self.models).items()}
        return {name: model.fit(x, y, self.random_state) for name, model in models.items() if model is not None}

    def _cross_fit(self, problems: Problems, x: Floats, y: Floats) -> None:
        predicted = {name: np.zeros_like(y) for name in self.models_}
        for fold in self.folds(problems):
            held, rest = fold.held[problems.owners], fold.rest[problems.owners]
            for name, model in self._fit_models(x[rest], y[rest]).items():
                predicted[name][held] = model.means(x[held])
        self.training_, self.training_offsets_ = predicted, problems.offsets
        self.training_ids_ = {problem: i for i, problem in enumerate(problems.problem_ids.tolist())}

    def _predict(self, problems: Problems) -> dict[str, Any]:
        if self.out_of_fold:
            which = np.array([self.training_ids_[problem] for problem in problems.problem_ids.tolist()])
            rows = pieces(self.training_offsets_, which)
            return {name: p[rows] for name, p in self.training_.items()}
        x = self._view(problems)
        return {name: model.means(x) for name, model in self.models_.items()}

    def _view(self, problems: Problems) -> Floats:
        return self.scale_.apply(self._table(problems)).astype(np.float64)

    def _table(self, problems: Problems) -> Floats32:
        parts = [dense(problems.features)]
        if problems.context is not None:
            parts.append(problems.context[problems.owners])
        if self.n_items_ and problems.catalogue is not None:
            parts.append((problems.catalogue[:, None] == np.arange(self.n_items_)).astype(np.float32))
        return np.concatenate(parts, axis=1)

    def start(self, problems: Problems) -> TopicsSeen:
        rewards = [self.topics_.reward(p, problems.offsets) for p in self._predict(problems).values()]
        states = tuple((reward, reward.start(problems)) for reward in rewards)
        return TopicsSeen(problems, _gains(states), states)

    def columns(self, seen: TopicsSeen) -> Floats32:
        gains = np.concatenate([_gains(seen.states), seen.alone], axis=1)
        return np.log(np.maximum(gains, LEAST)).astype(np.float32)

    def add(self, seen: TopicsSeen, picks: Ints) -> TopicsSeen:
        return seen._replace(states=tuple((reward, reward.add(state, picks)) for reward, state in seen.states))

    def names(self) -> list[str]:
        names = list(self.models_)
        return [*(f"{name} gain given the list" for name in names), *(f"{name} gain alone" for name in names)]


def _gains(states: tuple[tuple[Reward, Any], ...]) -> Floats:
    return np.stack([reward.gains(state) for reward, state in states], axis=1)
