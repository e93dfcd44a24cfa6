"""Failure of methods at every length of a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, Self

import numpy as np

from listwright._internal.arrays import Floats
from listwright.evaluation.values import measured
from listwright.lists import Lists
from listwright.problems import Problems


class Method(Protocol):
    """What is compared: SCP, ConSeqOpt or a baseline."""

    def fit(self, problems: Problems) -> Self:
        """Learn."""
        ...

    def predict(self, problems: Problems) -> Lists:
        """Build lists."""
        ...


def failures(lists: Lists, problems: Problems) -> Floats:
    """(problems, lengths): the probability that nothing in the first item, two items, ... succeeds.

    >>> import listwright as lw
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 3, 1)), reward=lw.rewards.AnySuccess([[0.5, 0.5, 0]]))
    >>> failures(lw.greedy(problems, 3), problems)
    array([[0.5 , 0.25, 0.25]])
    """
    gains = measured(lists, problems).picked_gains
    assert gains is not None
    return np.maximum(0.0, 1.0 - gains.cumsum(axis=1))


def failure_by_length(make: Callable[[int], Method], lengths: Sequence[int], train: Problems, test: Problems) -> Floats:
    """Mean failure at each length up to the last of `lengths`, for each of which the method is fitted anew.

    A list of a length between two of them is the beginning of the longer one.
    """
    by_length: list[Floats] = []
    for length in lengths:
        failed = failures(make(length).fit(train).predict(test), test).mean(axis=0)
        by_length += [failed[sum(map(len, by_length)) :]]
    return np.concatenate(by_length)
