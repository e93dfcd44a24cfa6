"""Rewards that add up over topics: coverage, its probabilistic form, and concave shapes of it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from listwright._internal.arrays import Floats, Ints, as_numbers, starts_of
from listwright._internal.ragged import Ragged
from listwright._kernels.topics import (
    CAP,
    LOG,
    PROBABILITY,
    SQRT,
    lazy_topics,
    number_columns,
    raise_levels,
    topic_gains,
)
from listwright.errors import InputError
from listwright.problems import Problems
from listwright.rewards.base import TableReward, check_range, rows_of

SHAPES = {"sqrt": SQRT, "log": LOG, "cap": CAP}


class Topics(NamedTuple):
    """Which topics each row touches, and how much; topics are numbered within their problem."""

    owners: Ints
    row_starts: Ints
    topics: Ints
    amounts: Floats
    topic_starts: Ints


class TopicState(NamedTuple):
    """How far each topic of each problem is covered."""

    layout: Topics
    weights: Floats
    caps: Floats
    totals: Floats  # by problem: what the value is divided by, and held below
    levels: Floats
    earned: Floats  # by problem
    extra: tuple[Any, ...] = ()  # what a subclass keeps beside


class TopicReward(TableReward):
    """Sum over topics of weight * shape(what the list brings to the topic). Subclasses lay out the tables."""

    normalize: bool

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Whether values are shares of what there is."""
        return self.normalize

    @property
    @abstractmethod
    def kind(self) -> int:
        """Code of the shape in the compiled functions."""

    def start(self, problems: Problems) -> TopicState:
        """No topic covered."""
        tables = self.bind(problems.offsets).tables
        layout = Topics(
            problems.owners,
            starts_of(tables["touched"].values),
            tables["topics"].values,
            tables["amounts"].values,
            tables["weights"].offsets,
        )
        totals = tables["totals"].values if self.normalize else np.ones(len(problems))
        weights = tables["weights"].values
        return TopicState(
            layout, weights, tables["caps"].values, totals, np.zeros(len(weights)), np.zeros(len(problems))
        )

    def gains(self, state: TopicState) -> Floats:
        """Weighted rise over the topics of each row."""
        return self.gains_of(state, np.arange(len(state.layout.owners)))

    def gains_of(self, state: TopicState, rows: Ints) -> Floats:
        """The same for some rows."""
        owners = state.layout.owners[rows]
        raw = topic_gains(rows, *state.layout, state.weights, state.caps, state.levels, self.kind)
        if self.normalize:  # a list with repeats may pass the value of all items together; it is held there
            raw = np.minimum(raw, np.maximum(state.totals - state.earned, 0.0)[owners])
        return raw / state.totals[owners]

    def add(self, state: TopicState, picks: Ints) -> TopicState:
        """Raises the topics of the picked rows."""
        some = np.flatnonzero(picks >= 0)
        earned, levels = state.earned.copy(), state.levels.copy()
        earned[some] += self.gains_of(state, picks[some]) * state.totals[some]
        raise_levels(picks, *state.layout, levels, self.kind)
        return state._replace(levels=levels, earned=earned)

    def lazy_lists(self, problems: Problems, sizes: Floats, room: Floats, steps: int) -> tuple[Ints, Floats] | None:
        """Compiled for the rewards here; a subclass with gains of its own goes without."""
        if type(self).gains_of is not TopicReward.gains_of or type(self).add is not TopicReward.add:
            return None
        state, offsets = self.start(problems), problems.offsets
        _, row_starts, topics, amounts, topic_starts = state.layout
        gains, most = self.gains(state), state.totals if self.normalize else np.full(len(problems), np.inf)
        rows, picked = np.full((len(problems), steps), -1), np.zeros((len(problems), steps))
        what = (row_starts, topics, amounts, topic_starts, state.weights, state.caps, self.kind, state.totals, most)
        lazy_topics(offsets, gains, sizes, *what, room, rows, picked)
        return rows, picked

    def value(self, state: TopicState) -> Floats:
        """Share (or sum) of what there is to cover."""
        return state.earned / state.totals


class Coverage(TopicReward):
    """Weight of the topics that some item of the list covers, as a share of all topics of the problem.

    Parameters
    ----------
    covers
        (rows, topics), scipy CSR or dense, 0/1; also (problems, items, topics). Topics belong to their problem:
        the same column in two problems counts for each.
    weights : array-like or None
        One a topic (column), or (problems, topics); 1 each by default.
    normalize : bool
        Divide by the total weight of the topics that the problem's candidates cover.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = Coverage([[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    >>> problems = lw.Problems.from_arrays([[0.0]] * 3, offsets=[0, 3], reward=reward)
    >>> state = reward.add(reward.start(problems), np.array([1]))
    >>> reward.gains(state).round(3), reward.value(state).round(3)
    (array([0.   , 0.   , 0.333]), array([0.667]))
    """

    kind = PROBABILITY  # of 0 and 1

    def __init__(self, covers: Any, weights: ArrayLike | None = None, *, normalize: bool = True) -> None:
        self._source = (covers, weights)
        self.normalize = normalize

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        assert self._source is not None
        covers = as_topics(self._source[0], offsets, high=1.0)
        if not (covers.data == 1).all():
            raise InputError("Coverage takes 0/1 entries. For shares see ProbabilisticCoverage and ConcaveCoverage.")
        return topic_tables(covers, offsets, self._source[1], kind=self.kind)


class ProbabilisticCoverage(TopicReward):
    """Expected weight of the covered topics when item i covers topic t with probability p[i, t], independently.

    Parameters
    ----------
    p
        (rows, topics), scipy CSR or dense, between 0 and 1.
    weights, normalize
        As in `Coverage`.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = ProbabilisticCoverage([[0.5, 0.0], [0.5, 1.0]])
    >>> problems = lw.Problems.from_arrays([[0.0]] * 2, offsets=[0, 2], reward=reward)
    >>> state = reward.add(reward.start(problems), np.array([0]))
    >>> reward.value(state), reward.gains(state)
    (array([0.25]), array([0.125, 0.625]))
    """

    kind = PROBABILITY

    def __init__(self, p: Any, weights: ArrayLike | None = None, *, normalize: bool = True) -> None:
        self._source = (p, weights)
        self.normalize = normalize

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        assert self._source is not None
        p, weights = self._source
        return topic_tables(as_topics(p, offsets, "p", high=1.0), offsets, weights, kind=self.kind)


class ConcaveCoverage(TopicReward):
    """Sum over topics of a concave function of what the list brings: more of the same topic is worth less and less.

    Parameters
    ----------
    covers
        (rows, topics), scipy CSR or dense, 0 or more.
    shape : str
        "sqrt", "log" (log(1 + x)) or "cap" (min(x, cap)).
    caps : array-like or None
        For "cap": one number, one a topic, or (problems, topics); 1 by default.
    weights : array-like or None
        As in `Coverage`.
    normalize : bool
        Divide by the value of all candidates together; a list with repeats is held at 1.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = ConcaveCoverage([[4.0], [5.0], [7.0]], shape="sqrt")
    >>> problems = lw.Problems.from_arrays([[0.0]] * 3, offsets=[0, 3], reward=reward)
    >>> state = reward.add(reward.start(problems), np.array([0]))
    >>> reward.value(state), reward.gains(state).round(3)
    (array([0.5]), array([0.207, 0.25 , 0.329]))
    """

    def __init__(
        self,
        covers: Any,
        shape: str = "sqrt",
        caps: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        *,
        normalize: bool = True,
    ) -> None:
        self._source = (covers, caps, weights)
        self.shape = shape
        self.normalize = normalize

    @property
    def kind(self) -> int:
        """Code of the shape in the compiled functions."""
        return SHAPES[self.shape]

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        assert self._source is not None
        covers, caps, weights = self._source
        if self.shape not in SHAPES:
            raise InputError(f"shape must be one of {', '.join(SHAPES)}. Got {self.shape!r}.")
        if caps is not None and self.kind != CAP:
            raise InputError(f"caps go with shape='cap'. Got shape={self.shape!r}.")
        return topic_tables(as_topics(covers, offsets), offsets, weights, caps, kind=self.kind)


def as_topics(covers: Any, offsets: Ints, name: str = "covers", *, high: float = np.inf) -> sparse.csr_array:
    """A CSR matrix with one row a candidate, without stored zeros, checked."""
    if not sparse.issparse(covers):
        covers = rows_of(as_numbers(covers, name), offsets, name)
    if covers.ndim != 2 or covers.shape[0] != offsets[-1]:
        raise InputError(f"{name} must have one row a candidate ({offsets[-1]}). Got shape {covers.shape}.")
    matrix = sparse.csr_array(covers, dtype=np.float64)
    if not matrix.has_canonical_format or not matrix.data.all():
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    check_range(
        matrix.data, lambda: np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), offsets, name, high=high
    )
    return matrix


def topic_tables(
    covers: sparse.csr_array, offsets: Ints, weights: Any = None, caps: Any = None, *, kind: int
) -> dict[str, Ragged]:
    """Tables of a topic reward: topics numbered within their problem, and only those that some candidate touches."""
    counts = np.diff(covers.indptr)
    nnz_starts = covers.indptr[offsets].astype(np.int64)
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(nnz_starts))
    problems, columns, local, topic_starts = number_topics(owners, covers.indices, len(offsets) - 1, covers.shape[1])
    shape = (len(offsets) - 1, covers.shape[1])
    tables = {
        "touched": Ragged(counts.astype(np.int64), offsets),
        "topics": Ragged(local, nnz_starts),
        "amounts": Ragged(covers.data, nnz_starts),
        "columns": Ragged(columns, topic_starts),
        "weights": Ragged(_one_a_topic(weights, problems, columns, shape, "weights"), topic_starts),
        "caps": Ragged(_one_a_topic(caps, problems, columns, shape, "caps"), topic_starts),
    }
    return tables | {"totals": Ragged(_totals(tables, owners, kind), np.arange(len(offsets)))}


def number_topics(
    owners: Ints, columns: NDArray[Any], n_problems: int, n_columns: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Numbers the topics of each problem from 0: (problem, column) of each, number of each entry, problem starts."""
    if n_problems * n_columns <= 4 * len(columns) + 1_000_000:  # a table of all pairs is smaller than a sort is slow
        pairs, local, counts = number_columns(owners, columns, n_problems, n_columns)
        topic_starts = starts_of(counts)
    else:
        pairs, numbers = np.unique(owners * n_columns + columns, return_inverse=True)
        topic_starts = starts_of(np.bincount(pairs // max(n_columns, 1), minlength=n_problems))
        local = numbers - topic_starts[owners]
    return pairs // max(n_columns, 1), pairs % max(n_columns, 1), local, topic_starts


def _one_a_topic(values: Any, problems: Ints, columns: Ints, shape: tuple[int, int], name: str) -> Floats:
    """Entries of (topics,) or `shape` (problems, topics), or one number, for the (problem, column) pairs in use."""
    if values is None:
        return np.ones(len(columns))
    array = as_numbers(values, name)
    if array.ndim == 0:
        array = np.full(shape[1], float(array))
    if array.shape not in {shape[1:], shape}:
        raise InputError(f"{name} must have one entry a topic ({shape[1]}), or a row a problem. Got {array.shape}.")
    if not ((array >= 0) & np.isfinite(array)).all():
        raise InputError(f"{name} must be 0 or more. Got {array[~((array >= 0) & np.isfinite(array))][0]}.")
    return array[columns] if array.ndim == 1 else array[problems, columns]


def _totals(tables: dict[str, Ragged], owners: Ints, kind: int) -> Floats:
    """What there is to earn in each problem (1 where that is nothing, so that it divides)."""
    topics, weights = tables["topics"], tables["weights"]
    if kind == PROBABILITY:
        full = np.ones(len(weights.values))
    else:
        slots = topics.values + weights.offsets[owners]
        everything: Any = np.bincount(slots, tables["amounts"].values, minlength=len(weights.values))
        full = _shaped(everything, tables, kind)
    problem_of = np.repeat(np.arange(len(weights)), np.diff(weights.offsets))
    totals = np.bincount(problem_of, weights.values * full, minlength=len(weights))
    return np.where(totals > 0, totals, 1.0)


def _shaped(everything: Floats, tables: dict[str, Ragged], kind: int) -> Floats:
    if kind == CAP:
        return np.minimum(everything, tables["caps"].values)
    return np.sqrt(everything) if kind == SQRT else np.log1p(everything)
