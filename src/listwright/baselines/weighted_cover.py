"""Greedy cover on the training problems that resemble the new one: the base of `NearestCover` and `ForestCover`."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.threads import one_thread
from listwright.baselines.base import Baseline, as_lists
from listwright.baselines.cover import FoldCover, cover_lists, cover_of, static_order
from listwright.baselines.states import state_table
from listwright.features.scale import Scale
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.training.catalogue import with_catalogue
from listwright.walk.limits import Room

CELLS = 4_000_000  # training outcomes looked at in one go


class WeightedCover(Baseline):
    """Builds lists that gain most over weighted training problems; subclasses say how much each of these counts.

    New problems are processed in chunks, so that the table of weights and gains stays small.
    """

    @property
    def unsavable(self) -> str:
        """Why a file cannot hold the fitted model: with another reward than `AnySuccess` its training problems would
        be needed.
        """
        if not isinstance(getattr(self, "cover_", None), FoldCover):
            return ""
        return "it keeps its training problems with their reward. Only with AnySuccess is a table of successes enough"

    @abstractmethod
    def _learn_weights(self, states: Floats, problems: Problems) -> None:
        """Sets what `_weights` needs, from one row of scaled columns per training problem."""

    @abstractmethod
    def _weights(self, states: Floats) -> Floats:
        """Returns weights of shape (states, training problems)."""

    def _view(self, problems: Problems) -> Problems:
        return with_catalogue(problems)

    def _learn(self, problems: Problems) -> None:
        self.cover_ = cover_of(problems)
        self.order_ = static_order(self.cover_)
        table = state_table(problems, self.cover_.n_items)
        self.scale_ = Scale.of(table)
        with one_thread():
            self._learn_weights(self.scale_.apply(table).astype(np.float64), problems)

    def _lists(self, problems: Problems, steps: int, room: Floats | None) -> Lists:
        states = self.scale_.apply(state_table(problems, self.cover_.n_items)).astype(np.float64)
        size = max(1, CELLS // (self.cover_.n_problems * self.cover_.n_items))
        rows, scores = [], []
        with one_thread():
            for start in range(0, len(problems), size):
                here = slice(start, start + size)
                some, left = problems[here], Room(problems[here], None if room is None else room[here])
                lists = cover_lists(self.cover_, self._weights(states[here]), self.order_, some, left, steps)
                rows.append(np.where(lists[0] >= 0, lists[0] + problems.offsets[start], -1))
                scores.append(lists[1])
        return as_lists(problems, np.concatenate(rows), np.concatenate(scores))
