"""Evaluated policies: what each would show in place of logged lists, slot by slot."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.threads import one_thread
from listwright._kernels.draw import uniforms
from listwright._kernels.rows import best_rows
from listwright.errors import InputError
from listwright.estimators.base import ListEstimator
from listwright.features import Features
from listwright.feedback.answered import AnsweredLists
from listwright.feedback.bandit import ListBandit
from listwright.feedback.drawing import Exploring
from listwright.feedback.explore import Best, Own
from listwright.feedback.recommendations import draw_keys
from listwright.lists import Lists
from listwright.predictor import Predictor
from listwright.problems import Problems
from listwright.walk.lists import walk

DRAWN_ROWS = 2_000_000  # candidates to draw lists from, in all, to learn how often an item is shown in a slot
DRAWS = 10  # lists drawn per problem at most


class Target(ABC):
    """A policy under evaluation."""

    def suit(self, problems: Problems) -> Target:
        """Return the target ready for these problems; raise if they are of another kind than its own."""
        return self

    @abstractmethod
    def chances(self, logged: AnsweredLists) -> Iterator[Floats]:
        """Yield by position the chance of each candidate to be shown next, given the logged items before."""

    @abstractmethod
    def lists(self, logged: AnsweredLists) -> OwnLists:
        """Return the lists that the policy builds on its own."""


@dataclass(frozen=True, eq=False)
class OwnLists:
    """Lists that a policy builds for the logged problems, padded to the log's (lists, positions)."""

    rows: Ints  # one list for each problem, -1 behind the end
    slots: Floats  # (lists, slots, positions): the chance that the policy shows each logged item in each slot

    @staticmethod
    def certain(rows: Ints, logged: AnsweredLists) -> OwnLists:
        alike = (rows[:, :, None] == logged.rows[:, None, :]) & (logged.rows >= 0)[:, None, :]
        return OwnLists(rows, alike.astype(np.float64))

    @staticmethod
    def drawn(lists: list[Ints], logged: AnsweredLists, target: Target) -> OwnLists:
        """Average the chances along several drawn lists, which tells far more than which items happened to be drawn."""
        slots = np.zeros((*logged.rows.shape, logged.rows.shape[1]))
        for rows in lists:
            for slot, chances in enumerate(target.chances(replace(logged, rows=rows))):
                slots[:, slot] += np.where(logged.rows >= 0, chances[logged.rows], 0.0) / len(lists)
        return OwnLists(lists[0], slots)

    @property
    def same_slot(self) -> Floats:
        return np.einsum("ijj->ij", self.slots)

    def any_slot(self, looks: Floats | None = None) -> Floats:
        """Return the chance that the policy shows the logged item in any slot; slots count by `looks` where given."""
        return self.slots.sum(axis=1) if looks is None else np.einsum("ijk,j->ik", self.slots, looks)


@dataclass(frozen=True, eq=False)
class Walked(Target):
    features: Features
    exploring: Callable[[Ints, int], Exploring]  # (rows given, length): the policy that walks along them
    draw: Callable[[Problems, int, Floats | None, int], Ints]  # (problems, length, budgets, number): lists of its own
    draws: bool  # whether two lists of one problem may differ
    model: Predictor
    make: Callable[[Any], Target]  # the target of another model

    def suit(self, problems: Problems) -> Target:
        named, model, known = self.model._by_names(problems), self.model, self.model.signature_.n_items
        if isinstance(model, ListBandit) and model.new_items and known is not None and named.n_items > known:
            model = copy.deepcopy(model)
            model._make_room([named])
        model.signature_.check(named, "evaluate")
        return self if model is self.model else self.make(model)

    def chances(self, logged: AnsweredLists) -> Iterator[Floats]:
        length = logged.rows.shape[1]
        logged = replace(logged, problems=self.model._by_names(logged.problems))
        rng = np.random.default_rng(0)  # the walk asks for one; given lists draw nothing
        exploring = self.exploring(logged.rows, length)
        steps = walk(logged.problems, self.features, exploring, length=length, rng=rng, budgets=logged.budgets)
        with one_thread():
            for step in steps:
                yield step.scores

    def lists(self, logged: AnsweredLists) -> OwnLists:
        length, problems = logged.rows.shape[1], self.model._by_names(logged.problems)
        count = int(np.clip(DRAWN_ROWS // problems.n_rows, 2, DRAWS)) if self.draws else 1
        drawn = [_fit_length(self.draw(problems, length, logged.budgets, number), length) for number in range(count)]
        return OwnLists.drawn(drawn, logged, self) if self.draws else OwnLists.certain(drawn[0], logged)


@dataclass(frozen=True, eq=False)
class Predicted(Target):
    predict: Callable[[Problems], Lists]

    def chances(self, logged: AnsweredLists) -> Iterator[Floats]:
        rows = self._rows(logged)
        rank = np.full(logged.problems.n_rows, np.inf)
        listed = rows >= 0
        rank[rows[listed]] = np.nonzero(listed)[1]
        for position in range(logged.rows.shape[1]):
            picks = best_rows(-rank, np.isfinite(rank), logged.problems.offsets)
            chances = np.zeros(len(rank))
            chances[picks[picks >= 0]] = 1.0
            yield chances
            shown = logged.rows[:, position]
            rank[shown[shown >= 0]] = np.inf

    def lists(self, logged: AnsweredLists) -> OwnLists:
        return OwnLists.certain(_fit_length(self._rows(logged), logged.rows.shape[1]), logged)

    def _rows(self, logged: AnsweredLists) -> Ints:
        lists = self.predict(logged.problems)
        if not isinstance(lists, Lists):
            raise InputError(f"The policy must return listwright.Lists. Got {type(lists).__name__}.")
        longest = logged.rows.shape[1]
        if lists.rows.shape[1] < longest and ((logged.rows >= 0).sum(axis=1) > lists.rows.shape[1]).any():
            raise InputError(
                f"The policy's lists have {lists.rows.shape[1]} items, those of the log {longest}. Ask for as many."
            )
        return lists.rows


@dataclass(frozen=True, eq=False)
class LoggedChances(Target):
    """A policy of which only the chances of the logged items are known."""

    column: str  # of the log's other columns

    def chances(self, logged: AnsweredLists) -> Iterator[Floats]:
        known = self._column(logged)
        for position in range(logged.rows.shape[1]):
            chances, picks = np.zeros(logged.problems.n_rows), logged.rows[:, position]
            chances[picks[picks >= 0]] = known[picks >= 0, position]
            yield chances

    def _column(self, logged: AnsweredLists) -> Floats:
        name = self.column
        if name not in logged.others:
            there = ", ".join(map(repr, logged.others)) or "none"
            raise InputError(f"The log has no column {name!r} of chances. Its other columns of numbers: {there}.")
        known = logged.others[name]
        if not ((known >= 0) & (known <= 1))[logged.rows >= 0].all():
            raise InputError(f"chances must be from 0 to 1 for every shown item. See column {name!r:.40}.")
        return known

    def lists(self, logged: AnsweredLists) -> OwnLists:
        return OwnLists.certain(logged.rows, logged)


def _fit_length(rows: Ints, length: int) -> Ints:
    return np.pad(rows[:, :length], ((0, 0), (0, max(0, length - rows.shape[1]))), constant_values=-1)


def as_target(policy: Any, seed: int = 0) -> Target:
    if isinstance(policy, Target):
        return policy
    if isinstance(policy, ListBandit):
        return _of_bandit(policy, seed)
    owner = getattr(policy, "__self__", None)
    if isinstance(owner, ListBandit) and policy == owner.predict:
        return _without_exploration(owner)
    if isinstance(owner, ListEstimator) and policy == owner.predict:
        return _of_estimator(owner)
    if isinstance(policy, ListEstimator):
        return _of_estimator(policy)
    predict = getattr(policy, "predict", policy)
    if not callable(predict):
        raise InputError(f"policy must have predict, or be a function from problems to lists. Got {predict!r}.")
    return Predicted(predict)


def _of_bandit(bandit: ListBandit, seed: int) -> Target:
    bandit._check_begun()
    playing, exploration, one_slot = bandit.playing_, bandit.exploration_, bandit.slots == "one"

    def exploring(rows: Ints, length: int) -> Exploring:
        slots = bandit.length if one_slot else length
        return Exploring(
            playing.drawn_with, exploration, learned=playing.learned, length=slots, one_slot=one_slot, given=rows
        )

    def draw(problems: Problems, length: int, budgets: Floats | None, number: int) -> Ints:
        numbers = uniforms(draw_keys(seed, [f"{number}:{i}" for i in range(len(problems))]), length)
        seen = bandit.features_
        return playing.draw(problems, seen, exploration, numbers=numbers, budgets=budgets, one_slot=one_slot)[0]

    return Walked(bandit.features_, exploring, draw, draws=True, model=bandit, make=lambda twin: _of_bandit(twin, seed))


def _predicted_by(model: ListBandit | ListEstimator) -> Callable[[Problems, int, Floats | None, int], Ints]:
    def draw(problems: Problems, length: int, budgets: Floats | None, number: int) -> Ints:
        return model.predict(problems, length=length, budget=budgets, allow_short=True).rows

    return draw


def _without_exploration(bandit: ListBandit) -> Target:
    bandit._check_begun()
    playing = bandit.playing_
    greedy = playing.likeliest(bandit.exploration_)

    def exploring(rows: Ints, length: int) -> Exploring:
        return Exploring(playing.policy, Best(greedy), learned=playing.learned, length=length, given=rows)

    return Walked(
        bandit.features_, exploring, _predicted_by(bandit), draws=False, model=bandit, make=_without_exploration
    )


def _of_estimator(model: ListEstimator) -> Target:
    if not hasattr(model, "training_"):
        raise InputError(f"This {type(model).__name__} is not fitted yet. Call fit first.")

    def exploring(rows: Ints, length: int) -> Exploring:
        return Exploring(model.policy_, Own(), learned=0.0, length=length, given=rows)

    return Walked(
        model.training_.features, exploring, _predicted_by(model), draws=False, model=model, make=_of_estimator
    )
