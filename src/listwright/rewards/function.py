"""Rewards from a Python function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright.errors import InputError
from listwright.rewards.base import Reward

if TYPE_CHECKING:
    from listwright.problems import Problems


@dataclass(frozen=True)
class FunctionState:
    """State of `Function`: the list of each problem as positions within it, and every value measured so far."""

    problems: tuple[Problems, ...]
    offsets: Ints
    items: tuple[tuple[int, ...], ...]
    values: Floats
    known: dict[tuple[int, tuple[int, ...]], float] = field(default_factory=dict, repr=False)


class Function(Reward):
    """A reward from any Python function `f(problem, items) -> float`.

    Use it to try out an idea, or where a value comes from elsewhere (a simulator, a scoring script). Each gain is a
    call of `f`, so training on many candidates is slow; for speed, subclass `Reward`. The function should be monotone,
    submodular, within [0, 1] and 0 for an empty list, which `listwright.checks.check_reward` tests.

    Parameters
    ----------
    f : callable
        Called with one problem (a `Problems` of length 1, without its reward) and the positions of the list's items
        within it, in order. `problem.problem_ids[0]` tells which problem it is.
    submodular : bool, default True
        Whether gains never rise as a list grows. Lazy greedy and the guarantee of `greedy` rely on it; pass False if in
        doubt.
    bounded : bool, default True
        Whether values stay within [0, 1] on all problems. If not, certificates claim nothing against greedy or others.

    See Also
    --------
    Reward : The base class, for rewards that compute all gains at once.
    listwright.checks.check_reward : Tests the laws that a reward should obey.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = Function(lambda problem, items: len({i % 2 for i in items}) / 2)
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 4, 1)), reward=reward)
    >>> lw.greedy(problems, length=2)[0]
    array([0, 1])
    """

    def __init__(
        self, f: Callable[[Problems, list[int]], float], *, submodular: bool = True, bounded: bool = True
    ) -> None:
        self.f = f
        self.submodular = submodular
        self.bounded = bounded

    def start(self, problems: Problems) -> FunctionState:
        singles = tuple(problems.without_reward())
        values = np.array([self._measure(problem, ()) for problem in singles])
        return FunctionState(singles, problems.offsets, ((),) * len(singles), values)

    def gains(self, state: FunctionState) -> Floats:
        return self.gains_of(state, np.arange(state.offsets[-1]))

    def gains_of(self, state: FunctionState, rows: Ints) -> Floats:
        owners = np.searchsorted(state.offsets, rows, side="right") - 1
        after = [self._after(state, int(owner), int(row)) for owner, row in zip(owners, rows, strict=True)]
        # Rounding removes the noise of subtraction, so that equal gains stay equal along a list.
        return np.round(np.array(after, dtype=np.float64) - state.values[owners], 12)

    def add(self, state: FunctionState, picks: Ints) -> FunctionState:
        items, values = list(state.items), state.values.copy()
        for owner in np.flatnonzero(picks >= 0):
            values[owner] = self._after(state, int(owner), int(picks[owner]))
            items[owner] = (*items[owner], int(picks[owner] - state.offsets[owner]))
        return FunctionState(state.problems, state.offsets, tuple(items), values, state.known)

    def value(self, state: FunctionState) -> Floats:
        return state.values

    def _after(self, state: FunctionState, owner: int, row: int) -> float:
        """Return the value of a problem's list with one row appended; each list is measured once."""
        items = (*state.items[owner], row - int(state.offsets[owner]))
        if (owner, items) not in state.known:
            state.known[owner, items] = self._measure(state.problems[owner], items)
        return state.known[owner, items]

    def _measure(self, problem: Problems, items: tuple[int, ...]) -> float:
        value = float(self.f(problem, list(items)))
        if not np.isfinite(value):
            name = problem.problem_ids[0]
            raise InputError(f"The reward function gave {value} for items {list(items)} of problem {name!s}.")
        return value

    def __repr__(self) -> str:
        return f"Function({getattr(self.f, '__name__', self.f)})"
