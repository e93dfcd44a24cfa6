"""What lists are worth on problems whose reward is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from listwright._internal.arrays import Floats
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.rewards import reward_of


def measured(lists: Lists, problems: Problems) -> Lists:
    """The same lists with the gain of each pick under the problems' reward."""
    if not np.array_equal(lists.problems.offsets, problems.offsets):
        raise InputError(f"These lists are for other problems: {lists.problems!r}. Got {problems!r}.")
    reward = reward_of(problems, "Measuring lists")
    state = reward.start(problems)
    gains, before = np.zeros(lists.rows.shape), reward.value(state)
    for position, picks in enumerate(lists.rows.T):
        state = reward.add(state, np.ascontiguousarray(picks))
        after = reward.value(state)
        gains[:, position], before = after - before, after
    return replace(lists, picked_gains=gains)


def list_values(lists: Lists, problems: Problems) -> Floats:
    """What each list is worth."""
    values = measured(lists, problems).values
    assert values is not None
    return values


def earned(lists: Lists) -> Floats:
    """(problems, positions): what each measured list is worth up to a position."""
    assert lists.picked_gains is not None
    return np.cumsum(np.where(lists.rows >= 0, lists.picked_gains, 0.0), axis=1)
