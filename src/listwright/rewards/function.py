"""One's own reward, from a Python function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards.base import Reward


@dataclass(frozen=True)
class FunctionState:
    """The list of each problem, as positions within the problem."""

    problems: tuple[Problems, ...]
    offsets: Ints
    items: tuple[tuple[int, ...], ...]
    values: Floats
    known: dict[tuple[int, tuple[int, ...]], float] = field(default_factory=dict, repr=False)


class Function(Reward):
    """Any Python callable `f(problem, items) -> float` as a reward.

    It is called with one problem (a `Problems` of length 1) and the positions of the list's items within it, in order;
    it should be monotone, submodular, within [0, 1] and 0 for an empty list: `listwright.checks.check_reward` tells.

    Parameters
    ----------
    f : callable
        The callable. `problem.problem_ids[0]` says which problem it is.
    submodular : bool
        Whether its gains only fall as a list grows; lazy greedy and the bound of `greedy` rely on it.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = Function(lambda problem, items: len({i % 2 for i in items}) / 2)
    >>> problems = lw.Problems.from_arrays(np.zeros((1, 4, 1)), reward=reward)
    >>> lw.greedy(problems, length=2)[0]
    array([0, 1])
    """

    def __init__(self, f: Callable[[Problems, list[int]], float], *, submodular: bool = True) -> None:
        self.f = f
        self.submodular = submodular

    def start(self, problems: Problems) -> FunctionState:
        """Empty lists, measured."""
        singles = tuple(problems.without_reward())
        values = np.array([self._measure(problem, ()) for problem in singles])
        return FunctionState(singles, problems.offsets, ((),) * len(singles), values)

    def gains(self, state: FunctionState) -> Floats:
        """Difference of values, for every row."""
        return self.gains_of(state, np.arange(state.offsets[-1]))

    def gains_of(self, state: FunctionState, rows: Ints) -> Floats:
        """The same for some rows."""
        owners = np.searchsorted(state.offsets, rows, side="right") - 1
        after = [self._after(state, int(owner), int(row)) for owner, row in zip(owners, rows, strict=True)]
        # Differences of values carry rounding noise; without it, equal gains stay equal along a list.
        return np.round(np.array(after, dtype=np.float64) - state.values[owners], 12)

    def add(self, state: FunctionState, picks: Ints) -> FunctionState:
        """The picks go to the end of the lists."""
        items, values = list(state.items), state.values.copy()
        for owner in np.flatnonzero(picks >= 0):
            values[owner] = self._after(state, int(owner), int(picks[owner]))
            items[owner] = (*items[owner], int(picks[owner] - state.offsets[owner]))
        return FunctionState(state.problems, state.offsets, tuple(items), values, state.known)

    def value(self, state: FunctionState) -> Floats:
        """What f said of the lists."""
        return state.values

    def _after(self, state: FunctionState, owner: int, row: int) -> float:
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
