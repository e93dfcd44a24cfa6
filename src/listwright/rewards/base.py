"""What a reward is: a fold over the growing lists of a whole batch."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from listwright._internal.arrays import Floats, Ints, as_numbers, first_bad
from listwright._internal.ragged import Ragged, per_problem
from listwright.errors import InputError
from listwright.problems import Problems


class Reward(ABC):
    """What a list is worth: the paper's f_x, for training and evaluation only.

    A fold: `start` gives the state of empty lists, `gains` the marginal benefit b(s | L) of every row, `add` the state
    after one more pick a problem, `value` what the lists are worth. States are never changed in place.
    For one's own reward see `Function`, or subclass and pass `listwright.checks.check_reward`.
    """

    submodular = True  # whether gains can only fall as a list grows; lazy greedy relies on it
    bounded = True  # whether values stay within [0, 1]

    @abstractmethod
    def start(self, problems: Problems) -> Any:
        """State of an empty list for every problem."""

    @abstractmethod
    def gains(self, state: Any) -> Floats:
        """One number a row: what the row would add to its problem's list."""

    @abstractmethod
    def add(self, state: Any, picks: Ints) -> Any:
        """State after `picks`: one row a problem, counted over the whole batch, -1 for none."""

    @abstractmethod
    def value(self, state: Any) -> Floats:
        """One number a problem: what its list is worth."""

    def gains_of(self, state: Any, rows: Ints) -> Floats:
        """Gains of some rows only."""
        return self.gains(state)[rows]

    def lazy_lists(self, problems: Problems, sizes: Floats, room: Floats, steps: int) -> tuple[Ints, Floats] | None:
        """Lists by lazy greedy in a compiled function, and the gain of each pick; None where there is none for this.

        Rows go by gain per size; (problems, steps), with -1 and 0 behind the end.
        """
        return None

    def bind(self, offsets: Ints) -> Self:
        """This reward, checked against the rows of its problems and laid out for them."""
        return self

    def take(self, which: Ints) -> Self:
        """This reward for some of the problems."""
        return self

    def join(self, others: Sequence[Self]) -> Self:
        """This reward and others of its kind, for problems one after the other."""
        if any(other is not self for other in others):
            raise InputError(f"{type(self).__name__} rewards of different problems cannot be joined.")
        return self


class TableReward(Reward):
    """A reward whose data are arrays cut by problem, so that selecting and joining problems is the same for all."""

    _source: tuple[Any, ...] | None = None  # what the constructor got; None once laid out
    _tables: dict[str, Ragged] | None = None

    @abstractmethod
    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        """The tables, checked against offsets."""

    @property
    def tables(self) -> dict[str, Ragged]:
        """The data by name, each cut by problem."""
        if self._tables is None:
            raise InputError(f"{type(self).__name__} belongs to no problems yet. Pass it to Problems.from_arrays.")
        return self._tables

    def bind(self, offsets: Ints) -> Self:
        """Tables for the rows given; a reward that has them already only has to fit."""
        counts = np.diff(offsets)
        if self._tables is None:
            return self._with(self._lay_out(offsets) | {"counts": per_problem(counts)})
        self._must_fit(counts)
        return self

    def _must_fit(self, counts: Ints) -> None:
        mine = self.tables["counts"].values
        if len(mine) != len(counts):
            raise InputError(f"{type(self).__name__} is for {len(mine)} problems. Got {len(counts)}.")
        bad = first_bad(mine != counts)
        if bad is not None:
            name = f"{type(self).__name__} is for {mine[bad]} candidates in problem number {bad}"
            raise InputError(f"{name}. Got {counts[bad]}.")

    def take(self, which: Ints) -> Self:
        """The same reward for some of the problems."""
        return self._with({name: table.take(which) for name, table in self.tables.items()})

    def join(self, others: Sequence[Self]) -> Self:
        """One reward for the problems of all."""
        for other in others:
            if type(other) is not type(self) or other.settings != self.settings:
                raise InputError(f"Cannot join {self!r} with {other!r}.")
            if self._kinds() != other._kinds():
                raise InputError(f"Cannot join {type(self).__name__} rewards of different kinds of arrays.")
        parts = [self, *others]
        return self._with({name: Ragged.concat([part.tables[name] for part in parts]) for name in self.tables})

    @property
    def settings(self) -> dict[str, Any]:
        """The options, without the data."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def _kinds(self) -> dict[str, tuple[int, ...]]:
        """Names and widths of the tables."""
        return {name: table.values.shape[1:] for name, table in self.tables.items()}

    def _with(self, tables: dict[str, Ragged]) -> Self:
        twin = copy.copy(self)
        twin._source, twin._tables = None, tables
        return twin

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({options})"


def reward_of(problems: Problems, purpose: str = "fit") -> Reward:
    """The problems' reward, or the error that says who needs one."""
    if isinstance(problems.reward, Reward):
        return problems.reward
    hint = "Rewards may only be missing in predict." if problems.reward is None else "Subclass rewards.Reward."
    got = "none" if problems.reward is None else type(problems.reward).__name__
    raise InputError(f"{purpose} needs a reward, but these problems have {got}. {hint}")


def one_a_row(values: ArrayLike, offsets: Ints, name: str) -> Floats:
    """An array with one entry a row, also from (problems, items)."""
    array = as_numbers(values, name)
    counts = np.diff(offsets)
    if array.ndim == 2 and array.shape[0] == len(counts) and (counts == array.shape[1]).all():
        array = array.reshape(-1)
    if array.shape != (offsets[-1],):
        raise InputError(f"{name} must have one entry a row ({offsets[-1]}). Got shape {array.shape}.")
    return array


def rows_of(table: NDArray[Any], offsets: Ints, name: str) -> NDArray[Any]:
    """An array with one row a candidate, also from (problems, items, ...)."""
    counts = np.diff(offsets)
    if table.ndim == 3 and len(table) == len(counts) and (counts == table.shape[1]).all():
        table = table.reshape(offsets[-1], table.shape[2])
    if table.ndim != 2 or len(table) != offsets[-1]:
        raise InputError(f"{name} must have one row a candidate ({offsets[-1]}). Got shape {table.shape}.")
    return table


def place_of(row: int, offsets: Ints) -> str:
    """How messages name a row where ids are not known."""
    problem = int(np.searchsorted(offsets, row, side="right")) - 1
    return f"item {row - offsets[problem]} of problem number {problem}"


def check_range(
    values: NDArray[Any], rows: Callable[[], Ints], offsets: Ints, name: str, *, high: float = np.inf
) -> None:
    """Refuses numbers that are negative, above `high` or not finite, naming the problem and item they belong to.

    `rows` gives the row of each number, where one is refused.
    """
    if not values.size or (values.min() >= 0 and values.max() <= high and np.isfinite(values.max())):
        return
    bad = first_bad(~((values >= 0) & (values <= high) & np.isfinite(values)))
    limits = "0 or more" if np.isinf(high) else f"between 0 and {high:g}"
    assert bad is not None
    raise InputError(f"{name} must be {limits}. Got {values[bad]} for {place_of(int(rows()[bad]), offsets)}.")
