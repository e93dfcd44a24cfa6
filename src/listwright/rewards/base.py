"""The interface of rewards, and what rewards that are made of arrays share."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from listwright._internal.arrays import Floats, Ints, Ragged, as_numbers, first_bad, per_problem
from listwright.errors import InputError

if TYPE_CHECKING:
    from listwright.problems import Problems


class Reward(ABC):
    """Base class of rewards: the paper's f_x, what a list is worth.

    A reward is a fold over growing lists, for all problems of a batch at once. `start` returns the state of empty
    lists, `gains` the marginal benefit b(s | L) of every row, `add` the state after at most one more pick per problem,
    and `value` what the lists are worth. States are immutable: `add` returns a new one, so a search can branch from any
    state.

    Use one of the ready-made rewards where one fits, and `Function` to try out an idea. Subclass `Reward` when a Python
    call per list is too slow, and test the subclass with `listwright.checks.check_reward`.

    Attributes
    ----------
    submodular : bool
        Whether gains never rise as a list grows. Lazy greedy relies on it, and so do the guarantees.
    bounded : bool
        Whether values stay within [0, 1], as the paper's bounds assume.

    See Also
    --------
    Function : A reward from a Python function.
    listwright.checks.check_reward : Looks for lists on which a reward breaks its laws.

    Notes
    -----
    The guarantees of the paper (Section 3) need f_x to be monotone, submodular and within [0, 1], with f_x of the empty
    list 0.

    Examples
    --------
    >>> import listwright as lw
    >>> class LongestWord(Reward):
    ...     def start(self, problems):
    ...         return problems.features[:, 0], problems.owners, np.zeros(len(problems))
    ...
    ...     def gains(self, state):
    ...         length, owners, longest = state
    ...         return np.maximum(length - longest[owners], 0.0)
    ...
    ...     def add(self, state, picks):
    ...         length, owners, longest = state
    ...         picked = picks >= 0
    ...         longest = longest.copy()
    ...         longest[picked] = np.maximum(longest[picked], length[picks[picked]])
    ...         return length, owners, longest
    ...
    ...     def value(self, state):
    ...         return state[2]
    >>> problems = lw.Problems.from_arrays([[0.2], [0.75], [0.5]], offsets=[0, 3], reward=LongestWord())
    >>> lists = lw.greedy(problems, length=2)
    >>> lists[0], lists.values
    (array([1, 0]), array([0.75]))
    """

    submodular = True  # whether gains can only fall as a list grows; lazy greedy relies on it
    bounded = True  # whether values stay within [0, 1]

    @abstractmethod
    def start(self, problems: Problems) -> Any:
        """Return the state of an empty list for every problem.

        Parameters
        ----------
        problems : Problems
            The batch; the reward must have been made for it.

        Returns
        -------
        object
            A state, to be passed to the other methods and never changed in place.
        """

    @abstractmethod
    def gains(self, state: Any) -> Floats:
        """Return what each row would add to its problem's list: b(s | L), an array of shape (rows,)."""

    @abstractmethod
    def add(self, state: Any, picks: Ints) -> Any:
        """Return the state after one more pick per problem.

        Parameters
        ----------
        state : object
            A state from `start` or `add`; it stays as it is.
        picks : ndarray of int, shape (problems,)
            The row picked in each problem, counted over the whole batch; -1 where a problem gets no item.
        """

    @abstractmethod
    def value(self, state: Any) -> Floats:
        """Return what each problem's list is worth: an array of shape (problems,)."""

    def gains_of(self, state: Any, rows: Ints) -> Floats:
        """Return the gains of the given rows only. Override it where that is cheaper than computing all gains."""
        return self.gains(state)[rows]

    def lazy_lists(self, problems: Problems, sizes: Floats, budgets: Floats, steps: int) -> tuple[Ints, Floats] | None:
        """Build lists by compiled lazy greedy, or returns None if this reward has no compiled form.

        Rows are ranked by gain per size. The result has two arrays of shape (problems, steps): the rows picked, -1
        after the end of a list, and their gains, 0 after the end.
        """
        return None

    def bind(self, offsets: Ints) -> Self:
        """Return this reward checked against the rows of its problems and laid out for them."""
        return self

    def take(self, which: Ints) -> Self:
        """Return this reward for a selection of the problems, given by index."""
        return self

    def join(self, others: Sequence[Self]) -> Self:
        """Return one reward for the problems of this one followed by those of the others."""
        if any(other is not self for other in others):
            raise InputError(f"{type(self).__name__} rewards of different problems cannot be joined.")
        return self


class TableReward(Reward):
    """Base class of rewards whose data are arrays that can be cut by problem."""

    _source: tuple[Any, ...] = ()  # what the constructor got, until it is laid out
    _tables: dict[str, Ragged] | None = None

    @abstractmethod
    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        """Return the reward's data as named tables, checked against the rows of the problems."""

    @property
    def tables(self) -> dict[str, Ragged]:
        """The data by name, each table cut by problem. Raises `InputError` until the reward is attached to problems."""
        if self._tables is None:
            raise InputError(
                f"{type(self).__name__} is not attached to problems yet. Pass it to Problems.from_arrays(reward=...)."
            )
        return self._tables

    def bind(self, offsets: Ints) -> Self:
        """Return the reward laid out for these rows. If it already is, only checks that the candidate counts agree."""
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
        return self._with({name: table.take(which) for name, table in self.tables.items()})

    def join(self, others: Sequence[Self]) -> Self:
        """Return one reward for all the problems, or raise if settings or shapes differ."""
        for other in others:
            if type(other) is not type(self) or other.settings != self.settings:
                raise InputError(f"Cannot join {self!r} with {other!r}.")
            if self._kinds() != other._kinds():
                raise InputError(f"Cannot join {type(self).__name__} rewards of different kinds of arrays.")
        parts = [self, *others]
        return self._with({name: Ragged.concat([part.tables[name] for part in parts]) for name in self.tables})

    @property
    def settings(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def _kinds(self) -> dict[str, tuple[int, ...]]:
        return {name: table.values.shape[1:] for name, table in self.tables.items()}

    def _with(self, tables: dict[str, Ragged]) -> Self:
        twin = copy.copy(self)
        twin._source, twin._tables = (), tables
        return twin

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({options})"


def reward_of(problems: Problems, purpose: str = "fit") -> Reward:
    if isinstance(problems.reward, Reward):
        return problems.reward
    way = 'Pass reward=, such as "any:clicked".' if problems.backend else "Rewards may only be missing in predict."
    hint = way if problems.reward is None else "Subclass rewards.Reward."
    got = "none" if problems.reward is None else type(problems.reward).__name__
    raise InputError(f"{purpose} needs a reward, but these problems have {got}. {hint}")


def one_per_row(values: ArrayLike, offsets: Ints, name: str) -> Floats:
    """Return `values` as one float per row, from (rows,) or, where problems are alike in size, (problems, items)."""
    array = as_numbers(values, name)
    counts = np.diff(offsets)
    if array.ndim == 2 and array.shape[0] == len(counts) and (counts == array.shape[1]).all():
        array = array.reshape(-1)
    if array.shape != (offsets[-1],):
        raise InputError(f"{name} must have one entry per row ({offsets[-1]}). Got shape {array.shape}.")
    return array


def rows_of(table: NDArray[Any], offsets: Ints, name: str) -> NDArray[Any]:
    """Return `table` as (rows, columns); (problems, items, columns) is accepted where problems have equal counts."""
    counts = np.diff(offsets)
    if table.ndim == 3 and len(table) == len(counts) and (counts == table.shape[1]).all():
        table = table.reshape(offsets[-1], table.shape[2])
    if table.ndim != 2 or len(table) != offsets[-1]:
        raise InputError(f"{name} must have one row per candidate ({offsets[-1]}). Got shape {table.shape}.")
    return table


def place_of(row: int, offsets: Ints) -> str:
    problem = int(np.searchsorted(offsets, row, side="right")) - 1
    return f"item {row - offsets[problem]} of problem number {problem}"


def check_range(
    values: NDArray[Any], rows: Callable[[], Ints], offsets: Ints, name: str, *, high: float = np.inf
) -> None:
    if not values.size or (values.min() >= 0 and values.max() <= high and np.isfinite(values.max())):
        return
    bad = first_bad(~((values >= 0) & (values <= high) & np.isfinite(values)))
    limits = "0 or more" if np.isinf(high) else f"between 0 and {high:g}"
    assert bad is not None
    raise InputError(f"{name} must be {limits}. Got {values[bad]} for {place_of(int(rows()[bad]), offsets)}.")


HAIR = 1e-9  # tolerance for rounding
EMPTY = "the empty list is worth something under this reward"
NEGATIVE = "an item lowered the value of a list under this reward"
RISING = "the gain of an item rose as its list grew, so this reward is not submodular"
WORTH = "an alternative to an item of a list still added something under this reward"
PAST_ONE = "a list was worth more than 1 under this reward"


class Laws:
    """What the theorems assume of a reward, checked on the lists of one batch as they grow.

    The guarantees need gains that are never negative and never rise, values of at most 1, and value 0 for the empty
    list. A reward of the user's own may break these silently. `broken` collects, in words, the assumptions that were
    seen to fail.
    """

    def __init__(self, n_rows: int, empty: Floats) -> None:
        self.empty = empty
        self.lowest = np.full(n_rows, np.inf)  # by row: its gain when it was last seen
        self.broken = {EMPTY} if np.abs(empty).max(initial=0.0) > HAIR else set()

    def watch(self, gains: Floats, rows: Ints | slice = slice(None)) -> Floats:
        if gains.min(initial=0.0) < -HAIR:
            self.broken.add(NEGATIVE)
        if (gains > self.lowest[rows] + HAIR).any():
            self.broken.add(RISING)
        self.lowest[rows] = gains
        return gains

    def check_values(self, values: Floats) -> Floats:
        """Return what lists of these values add to the empty list, and record if a value exceeds 1."""
        if values.max(initial=0.0) > 1 + HAIR:
            self.broken.add(PAST_ONE)
        return values - self.empty


class Watched(Reward):
    """A reward that behaves like the given one and records in `laws` what its gains reveal."""

    def __init__(self, reward: Reward, problems: Problems) -> None:
        self.reward = reward
        self.laws = Laws(problems.n_rows, reward.value(reward.start(problems)))
        self.submodular, self.bounded = reward.submodular, reward.bounded

    def start(self, problems: Problems) -> Any:
        return self.reward.start(problems)

    def gains(self, state: Any) -> Floats:
        return self.laws.watch(self.reward.gains(state))

    def gains_of(self, state: Any, rows: Ints) -> Floats:
        return self.laws.watch(self.reward.gains_of(state, rows), rows)

    def add(self, state: Any, picks: Ints) -> Any:
        return self.reward.add(state, picks)

    def value(self, state: Any) -> Floats:
        return self.reward.value(state)
