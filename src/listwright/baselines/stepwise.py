"""Builds lists step by step from scores that change with the list; used by `LearnedDPP` and `SubMod`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._kernels.segments import best_rows
from listwright.baselines.base import as_lists
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.walk.limits import Room

Scored = Callable[[], tuple[Floats, Bools]]  # one score per row, and which rows may be taken at all
Added = Callable[[Ints], None]  # called with the picks: one row per problem, -1 for none


def stepwise_lists(problems: Problems, steps: int, room: Floats | None, scored: Scored, added: Added) -> Lists:
    """Pick the row with the highest score that fits, again and again, for all problems at once."""
    left, untaken = Room(problems, room), np.ones(problems.n_rows, dtype=bool)
    rows, scores = [], []
    for _ in range(steps):
        values, allowed = scored()
        picks = best_rows(values, untaken & allowed & left.fits(), problems.offsets)
        some = picks >= 0
        if not some.any():
            break
        untaken[picks[some]] = False
        left.take(picks)
        added(picks)
        rows.append(picks)
        scores.append(np.where(some, values[picks], 0.0))
    if not rows:
        return as_lists(problems, np.full((len(problems), 1), -1), np.zeros((len(problems), 1)))
    return as_lists(problems, np.stack(rows, axis=1), np.stack(scores, axis=1))
