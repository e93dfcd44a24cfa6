"""Summaries without learning: the first sentences, or the most central ones."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats
from listwright.baselines.base import Baseline, lists_by_score
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.problems import Problems


class _ByColumn(Baseline):
    """Base class: sorts sentences by one quality feature, and skips those that do not fit."""

    column: str

    def _learns(self, problems: Problems) -> bool:
        """False: nothing is learned."""
        return False

    def _check_parameters(self, problems: Problems) -> None:
        """Raise `InputError` if the problems lack the feature."""
        if self.column not in (problems.feature_names or ()):
            raise InputError(f"{type(self).__name__} needs the feature {self.column!r}. See summary_problems.")

    def _lists(self, problems: Problems, steps: int, room: Floats | None) -> Lists:
        """Return the lists in decreasing order of the feature."""
        scores = problems.features[:, (problems.feature_names or ()).index(self.column)]
        return lists_by_score(problems, np.asarray(scores, dtype=np.float64), steps, room)


class Lead(_ByColumn):
    """The first sentence of every document, then every second one, and so on."""

    column = "inverse_position"


class LexRank(_ByColumn):
    """The sentences that are most central in the graph of similar sentences (Erkan and Radev 2004)."""

    column = "lexrank"
