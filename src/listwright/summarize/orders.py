"""Summaries that need no learning: the first sentences, or the most central ones."""

from __future__ import annotations

import numpy as np

from listwright._internal.arrays import Floats
from listwright.baselines.base import Baseline, lists_by_score
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.problems import Problems


class _ByColumn(Baseline):
    """Sorts by one quality feature; what does not fit is skipped."""

    column: str

    def __init__(self, length: int = 5, *, budget: float | None = None) -> None:
        self.length = length
        self.budget = budget

    def _learns(self, problems: Problems) -> bool:
        return False

    def _check_parameters(self, problems: Problems) -> None:
        if self.column not in (problems.feature_names or ()):
            raise InputError(f"{type(self).__name__} needs the feature {self.column!r}. See summary_problems.")

    def _lists(self, problems: Problems, steps: int, room: Floats | None) -> Lists:
        scores = problems.features[:, (problems.feature_names or ()).index(self.column)]
        return lists_by_score(problems, np.asarray(scores, dtype=np.float64), steps, room)


class Lead(_ByColumn):
    """The first sentence of every document, then every second one, and so on."""

    column = "inverse_position"


class LexRank(_ByColumn):
    """The sentences most central in the graph of like sentences (Erkan & Radev 2004)."""

    column = "lexrank"
