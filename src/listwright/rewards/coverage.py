"""Rewards that sum over topics: coverage, with probabilities, and concave."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from listwright._internal.arrays import Floats, Ints, Ragged, as_numbers, starts_of
from listwright._kernels import topics as kernels
from listwright.errors import InputError
from listwright.rewards.base import TableReward, check_range, rows_of

if TYPE_CHECKING:
    from listwright.problems import Problems


class Topics(NamedTuple):
    """Which topics each row touches and by how much, in CSR form; topics are numbered from 0 within their problem."""

    owners: Ints  # the problem of each row
    row_starts: Ints  # where the entries of each row start
    topics: Ints  # the topic of each entry, numbered within its problem
    amounts: Floats  # how much of the topic the row contributes
    topic_starts: Ints  # where the topics of each problem start


class TopicState(NamedTuple):
    """State of a topic reward: the data, the level of each topic, and what each list is worth so far."""

    layout: Topics  # which topics each row touches
    weights: Floats  # weight and cap of each topic
    caps: Floats
    totals: Floats  # what values are divided by and may not exceed
    levels: Floats  # what the list contributes to each topic
    list_values: Floats  # the value of each list before the division
    extra: tuple[Any, ...] = ()  # data of a subclass


class TopicReward(TableReward):
    """Base class of rewards of the form sum over topics of weight * shape(level of the topic)."""

    normalize: bool

    bounded = property(lambda self: self.normalize)

    @property
    @abstractmethod
    def kind(self) -> int:
        """The number of the shape in `listwright._kernels.topics`."""

    def start(self, problems: Problems) -> TopicState:
        tables = self.bind(problems.offsets).tables
        touched, weights = starts_of(tables["touched"].values), tables["weights"]
        entries = tables["topics"].values, tables["amounts"].values
        layout = Topics(problems.owners, touched, *entries, weights.offsets)
        totals = tables["totals"].values if self.normalize else np.ones(len(problems))
        nothing = np.zeros(len(weights.values)), np.zeros(len(problems))
        return TopicState(layout, weights.values, tables["caps"].values, totals, *nothing)

    def gains(self, state: TopicState) -> Floats:
        return self.gains_of(state, np.arange(len(state.layout.owners)))

    def gains_of(self, state: TopicState, rows: Ints) -> Floats:
        owners = state.layout.owners[rows]
        raw = kernels.topic_gains(rows, *state.layout, state.weights, state.caps, state.levels, self.kind)
        if self.normalize:  # with repeats, concave sums can exceed the value of all items: clip
            raw = np.minimum(raw, np.maximum(state.totals - state.list_values, 0.0)[owners])
        return raw / state.totals[owners]

    def add(self, state: TopicState, picks: Ints) -> TopicState:
        some = np.flatnonzero(picks >= 0)
        list_values, levels = state.list_values.copy(), state.levels.copy()
        list_values[some] += self.gains_of(state, picks[some]) * state.totals[some]
        kernels.raise_levels(picks, *state.layout, levels, self.kind)
        return state._replace(levels=levels, list_values=list_values)

    def lazy_lists(self, problems: Problems, sizes: Floats, budgets: Floats, steps: int) -> tuple[Ints, Floats] | None:
        """Build lists by compiled lazy greedy; None for a subclass that overrides `gains_of` or `add`."""
        if type(self).gains_of is not TopicReward.gains_of or type(self).add is not TopicReward.add:
            return None
        state, offsets = self.start(problems), problems.offsets
        _, row_starts, topics, amounts, topic_starts = state.layout
        gains, most = self.gains(state), state.totals if self.normalize else np.full(len(problems), np.inf)
        rows, picked = np.full((len(problems), steps), -1), np.zeros((len(problems), steps))
        what = (row_starts, topics, amounts, topic_starts, state.weights, state.caps, self.kind, state.totals, most)
        kernels.lazy_topics(offsets, gains, sizes, *what, budgets, rows, picked)
        return rows, picked

    def value(self, state: TopicState) -> Floats:
        return state.list_values / state.totals


def as_topics(covers: Any, offsets: Ints, name: str = "covers", *, high: float = np.inf) -> sparse.csr_array:
    if not sparse.issparse(covers):
        covers = rows_of(as_numbers(covers, name), offsets, name)
    if covers.ndim != 2 or covers.shape[0] != offsets[-1]:
        raise InputError(f"{name} must have one row per candidate ({offsets[-1]}). Got shape {covers.shape}.")
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
        "weights": Ragged(_one_per_topic(weights, problems, columns, shape, "weights"), topic_starts),
        "caps": Ragged(_one_per_topic(caps, problems, columns, shape, "caps"), topic_starts),
    }
    return tables | {"totals": Ragged(_totals(tables, owners, kind), np.arange(len(offsets)))}


def number_topics(
    owners: Ints, columns: NDArray[Any], n_problems: int, n_columns: int
) -> tuple[Ints, Ints, Ints, Ints]:
    """Numbers the topics of each problem from 0, in the order of their columns."""
    if n_problems * n_columns <= 4 * len(columns) + 1_000_000:  # a small table of all pairs beats a sort
        pairs, local, counts = kernels.number_columns(owners, columns, n_problems, n_columns)
        topic_starts = starts_of(counts)
    else:
        pairs, numbers = np.unique(owners * n_columns + columns, return_inverse=True)
        topic_starts = starts_of(np.bincount(pairs // max(n_columns, 1), minlength=n_problems))
        local = numbers - topic_starts[owners]
    return pairs // max(n_columns, 1), pairs % max(n_columns, 1), local, topic_starts


def _one_per_topic(values: Any, problems: Ints, columns: Ints, shape: tuple[int, int], name: str) -> Floats:
    """Return one number per topic in use, from a single number, (topics,) or (problems, topics); 1 each for None."""
    if values is None:
        return np.ones(len(columns))
    array = as_numbers(values, name)
    if array.ndim == 0:
        array = np.full(shape[1], float(array))
    if array.shape not in {shape[1:], shape}:
        raise InputError(
            f"{name} must have one entry per topic ({shape[1]}), or one row per problem. Got {array.shape}."
        )
    if not ((array >= 0) & np.isfinite(array)).all():
        raise InputError(f"{name} must be 0 or more. Got {array[~((array >= 0) & np.isfinite(array))][0]}.")
    return array[columns] if array.ndim == 1 else array[problems, columns]


def _totals(tables: dict[str, Ragged], owners: Ints, kind: int) -> Floats:
    """Return what all candidates of each problem are worth together, or 1 where that is 0, so that it can divide."""
    topics, weights = tables["topics"], tables["weights"]
    if kind == kernels.PROBABILITY:
        full = np.ones(len(weights.values))
    else:
        slots = topics.values + weights.offsets[owners]
        everything: Any = np.bincount(slots, tables["amounts"].values, minlength=len(weights.values))
        if kind == kernels.CAP:
            full = np.minimum(everything, tables["caps"].values)
        else:
            full = np.sqrt(everything) if kind == kernels.SQRT else np.log1p(everything)
    problem_of = np.repeat(np.arange(len(weights)), np.diff(weights.offsets))
    totals = np.bincount(problem_of, weights.values * full, minlength=len(weights))
    return np.where(totals > 0, totals, 1.0)


SHAPES = {"sqrt": kernels.SQRT, "log": kernels.LOG, "cap": kernels.CAP}


class Coverage(TopicReward):
    """Weighted share of a problem's topics that at least one item of the list covers.

    Use it where items have known labels and naming a label twice is worth nothing: subtopics of a query, skills of a
    team, labels of a training sample. If items cover topics only with some probability, use `ProbabilisticCoverage`; if
    more of the same topic still helps a little, use `ConcaveCoverage` or `AlphaCoverage`.

    Parameters
    ----------
    covers : array-like or scipy CSR matrix of shape (rows, topics)
        1 where the item covers the topic, else 0. Also (problems, items, topics). Topics belong to their problem: the
        same column of two problems is a topic of each.
    weights : array-like of shape (topics,) or (problems, topics), optional
        What each topic is worth; 1 by default.
    normalize : bool, default True
        Divide by the total weight of the topics that the problem's candidates cover.

    See Also
    --------
    ProbabilisticCoverage : Items cover topics with a probability.
    ConcaveCoverage : Further items on a topic help less and less.
    AlphaCoverage : The diminishing gains of alpha-DCG.

    Examples
    --------
    >>> import listwright as lw
    >>> import numpy as np
    >>> reward = Coverage([[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    >>> problems = lw.Problems.from_arrays([[0.0]] * 3, offsets=[0, 3], reward=reward)
    >>> state = reward.add(reward.start(problems), np.array([1]))
    >>> reward.gains(state).round(3), reward.value(state).round(3)
    (array([0.   , 0.   , 0.333]), array([0.667]))
    """

    kind = kernels.PROBABILITY  # of 0 and 1

    def __init__(self, covers: Any, weights: ArrayLike | None = None, *, normalize: bool = True) -> None:
        self._source = (covers, weights)
        self.normalize = normalize

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        covers = as_topics(self._source[0], offsets, high=1.0)
        if not (covers.data == 1).all():
            raise InputError("Coverage takes 0/1 entries. For shares see ProbabilisticCoverage and ConcaveCoverage.")
        return topic_tables(covers, offsets, self._source[1], kind=self.kind)


class ProbabilisticCoverage(TopicReward):
    """Expected weighted share of topics covered, when items cover topics independently with known probabilities.

    A topic t is covered with probability 1 - prod over the list of (1 - p[i, t]). Use it where a model estimates how
    likely an item is to satisfy an intent, as in ERR-IA or diversified search. With 0/1 probabilities it equals
    `Coverage`.

    Parameters
    ----------
    p : array-like or scipy CSR matrix of shape (rows, topics)
        Probability that the item covers the topic, between 0 and 1. Also (problems, items, topics).
    weights : array-like of shape (topics,) or (problems, topics), optional
        What each topic is worth; 1 by default.
    normalize : bool, default True
        Divide by what all candidates of the problem are worth together.

    See Also
    --------
    Coverage : Items cover a topic or do not.
    AnySuccess : The same with a single topic.

    Examples
    --------
    >>> import listwright as lw
    >>> import numpy as np
    >>> reward = ProbabilisticCoverage([[0.5, 0.0], [0.5, 1.0]])
    >>> problems = lw.Problems.from_arrays([[0.0]] * 2, offsets=[0, 2], reward=reward)
    >>> state = reward.add(reward.start(problems), np.array([0]))
    >>> reward.value(state), reward.gains(state)
    (array([0.25]), array([0.125, 0.625]))
    """

    kind = kernels.PROBABILITY

    def __init__(self, p: Any, weights: ArrayLike | None = None, *, normalize: bool = True) -> None:
        self._source = (p, weights)
        self.normalize = normalize

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        p, weights = self._source
        return topic_tables(as_topics(p, offsets, "p", high=1.0), offsets, weights, kind=self.kind)


class ConcaveCoverage(TopicReward):
    """Sum over topics of a concave function of how much of the topic the list contains.

    Use it where amounts matter (words, minutes, counts) and where more of the same topic is worth less and less, but
    not nothing. With `shape="cap"` a topic counts in full up to a cap, which is how ROUGE clips counts.

    Parameters
    ----------
    covers : array-like or scipy CSR matrix of shape (rows, topics)
        How much of each topic an item contains: 0 or more. Also (problems, items, topics).
    shape : {"sqrt", "log", "cap"}, default "sqrt"
        The concave function of a topic's amount x: sqrt(x), log(1 + x) or min(x, cap).
    caps : float or array-like of shape (topics,) or (problems, topics), optional
        The caps of `shape="cap"`; 1 by default.
    weights : array-like of shape (topics,) or (problems, topics), optional
        What each topic is worth; 1 by default.
    normalize : bool, default True
        Divide by the value of all candidates together. A list with repeated items never exceeds 1.

    Raises
    ------
    InputError
        When the reward is attached to problems, if `shape` is unknown, if `caps` are given for another shape than
        "cap", or if an amount is negative.

    See Also
    --------
    Coverage : Each topic counts once.
    Rouge : Capped counts of the n-grams of reference texts.

    Examples
    --------
    >>> import listwright as lw
    >>> import numpy as np
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
        """The number of the shape in `listwright._kernels.topics`."""
        return SHAPES[self.shape]

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        covers, caps, weights = self._source
        if self.shape not in SHAPES:
            raise InputError(f"shape must be one of {', '.join(SHAPES)}. Got {self.shape!r}.")
        if caps is not None and self.kind != kernels.CAP:
            raise InputError(f"caps go with shape='cap'. Got shape={self.shape!r}.")
        return topic_tables(as_topics(covers, offsets), offsets, weights, caps, kind=self.kind)
