"""Facility location: how well a list represents all items of its problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Ints, Ragged, as_numbers, first_bad, per_problem, starts_of
from listwright._internal.threads import in_parallel
from listwright._kernels import facility as kernels
from listwright._kernels.constraints import NO_QUOTAS
from listwright.errors import InputError
from listwright.rewards.base import TableReward, place_of

if TYPE_CHECKING:
    from listwright.problems import Problems

MANY = 1000  # rows; with fewer, a second thread costs more than it saves
ROUNDING = 1e-9  # relative error that a sum may have


class FacilityState(NamedTuple):
    """State of `FacilityLocation`: for each item, its highest similarity to an item of the list so far."""

    owners: Ints  # the problem of each row, and where the rows of each problem start
    offsets: Ints
    similarity: tuple[Any, ...]  # (values, block starts) if dense; (row starts, columns, values) if sparse
    totals: Floats  # what values are divided by
    best: Floats  # the highest similarity of each row's item to the list
    list_values: Floats  # the value of each list


class FacilityLocation(TableReward):
    """Sum over all items of a problem of the highest similarity to an item of the list.

    Use it to pick items that represent the others: exemplars of clusters, a core set for training, the sentences that
    summarise a document. The matrices need memory quadratic in the candidates of a problem. For one large set of
    embeddings use `listwright.select`, which computes the same function without a matrix. `LogDet` spreads items apart
    instead, and so prefers outliers.

    Parameters
    ----------
    similarity : array-like, list of array-likes or scipy CSR matrix
        Similarities within each problem: a matrix for a single problem, a list of matrices or (problems, items, items),
        or a block-diagonal CSR matrix. Entry [i, j] says how well candidate i represents item j; negative entries count
        as 0.
    normalize : bool, default True
        Divide by the value of all candidates together.

    See Also
    --------
    LogDet : Rewards spread instead of representation.
    listwright.select : Facility location on embeddings, for one large set.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = FacilityLocation([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> problems = lw.Problems.from_arrays([[0.0]] * 3, offsets=[0, 3], reward=reward)
    >>> state = reward.add(reward.start(problems), np.array([0]))
    >>> reward.value(state).round(3), reward.gains(state).round(3)
    (array([0.6]), array([0.   , 0.067, 0.333]))
    """

    def __init__(self, similarity: Any, *, normalize: bool = True) -> None:
        self._source = (similarity,)
        self.normalize = normalize

    bounded = property(lambda self: self.normalize)

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        similarity = self._source[0]
        tables = _sparse_tables(similarity, offsets) if sparse.issparse(similarity) else _dense(similarity, offsets)
        totals = _totals(tables, offsets) if self.normalize else np.ones(len(offsets) - 1)
        return tables | {"totals": per_problem(totals)}

    def start(self, problems: Problems) -> FacilityState:
        tables = self.bind(problems.offsets).tables
        similarity, totals = _similarity(tables), tables["totals"].values
        best = np.zeros(problems.n_rows, dtype=similarity[-1 if len(similarity) == 3 else 0].dtype)
        return FacilityState(problems.owners, problems.offsets, similarity, totals, best, np.zeros(len(problems)))

    def gains(self, state: FacilityState) -> Floats:
        return self.gains_of(state, np.arange(len(state.owners)))

    def gains_of(self, state: FacilityState, rows: Ints) -> Floats:
        kernel: Any = kernels.dense_gains if len(state.similarity) == 2 else kernels.sparse_gains
        raw = np.empty(len(rows))

        def some(low: int, high: int) -> None:
            raw[low:high] = kernel(rows[low:high], state.owners, state.offsets, *state.similarity, state.best)

        in_parallel(some, np.arange(len(rows) + 1), len(rows) > MANY)
        return raw / state.totals[state.owners[rows]]

    def add(self, state: FacilityState, picks: Ints) -> FacilityState:
        some = np.flatnonzero(picks >= 0)
        list_values, best = state.list_values.copy(), state.best.copy()
        list_values[some] += self.gains_of(state, picks[some])
        kernel: Any = kernels.dense_add if len(state.similarity) == 2 else kernels.sparse_add
        kernel(picks, state.offsets, *state.similarity, best)
        return state._replace(best=best, list_values=list_values)

    def lazy_lists(self, problems: Problems, sizes: Floats, budgets: Floats, steps: int) -> tuple[Ints, Floats] | None:
        if type(self) is not FacilityLocation:
            return None
        state, offsets = self.start(problems), problems.offsets
        rows, picked = np.full((len(problems), steps), -1), np.zeros((len(problems), steps))
        if len(state.similarity) == 3:
            _lazy_on_graphs(state, sizes, budgets, rows, picked)
            return rows, picked
        similarity, blocks = state.similarity
        alone = self.bind(offsets).tables["alone"].values / state.totals[state.owners]
        bounds = alone / sizes * (1.0 + ROUNDING)

        def some(low: int, high: int) -> None:
            tables = offsets, bounds, sizes, similarity, blocks, state.totals, budgets
            kernels.lazy_facility(low, high, *tables, np.empty(0), *NO_QUOTAS, rows, picked)

        in_parallel(some, offsets, problems.n_rows > MANY)
        return rows, picked

    def value(self, state: FacilityState) -> Floats:
        return state.list_values


def _lazy_on_graphs(state: FacilityState, sizes: Floats, budgets: Floats, rows: Ints, picked: Floats) -> None:
    """Fill `rows` and `picked` with lists and their gains, by lazy greedy on sparse similarities."""
    row_starts, columns, values = state.similarity

    def some(low: int, high: int) -> None:
        for i in range(low, high):
            start, end = state.offsets[i], state.offsets[i + 1]
            first, last, n = row_starts[start], row_starts[end], end - start
            graph = row_starts[start : end + 1] - first, columns[first:last], values[first:last], np.ones(n)
            limits = sizes[start:end], budgets[i], *NO_QUOTAS
            lists = np.arange(n), np.zeros(n), rows[i], picked[i]
            kernels.lazy_graph(*graph, state.totals[i], np.zeros(n), *limits, *lists)
        chosen = rows[low:high]
        chosen += np.where(chosen >= 0, state.offsets[low:high, None], 0)

    in_parallel(some, state.offsets, len(state.owners) > MANY)


def _similarity(tables: dict[str, Ragged]) -> tuple[Any, ...]:
    """Return the arrays of the kernels: (values, block starts) if dense, (row starts, columns, values) if sparse."""
    if "similarity" in tables:
        return tables["similarity"].values, tables["similarity"].offsets
    return starts_of(tables["stored"].values), tables["columns"].values, tables["values"].values


def _dense(similarity: Any, offsets: Ints) -> dict[str, Ragged]:
    counts = np.diff(offsets)
    rows_of_numbers = isinstance(similarity, list) and bool(similarity) and np.ndim(similarity[0]) == 1
    single = rows_of_numbers or getattr(similarity, "ndim", None) == 2
    blocks = [similarity] if single else list(similarity)
    if len(blocks) != len(counts):
        raise InputError(f"similarity must have one matrix per problem ({len(counts)}). Got {len(blocks)}.")
    checked = [_square(block, int(n), i) for i, (block, n) in enumerate(zip(blocks, counts, strict=True))]
    values = checked[0].reshape(-1) if len(checked) == 1 else np.concatenate([block.reshape(-1) for block in checked])
    starts = starts_of(counts**2)
    return {"similarity": Ragged(values, starts), "alone": Ragged(_alone(values, starts, offsets), offsets)}


def _alone(values: Any, blocks: Ints, offsets: Ints) -> Floats:
    """Return what each row would add to an empty list."""
    owners, alone = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), np.empty(offsets[-1])

    def some(low: int, high: int) -> None:
        kernels.dense_alone(low, high, owners, offsets, values, blocks, alone)

    in_parallel(some, np.arange(len(alone) + 1), len(alone) > MANY)
    row = first_bad(~np.isfinite(alone))
    if row is not None:
        problem, at = owners[row], row - offsets[owners[row]]
        n = offsets[problem + 1] - offsets[problem]
        similar = values[blocks[problem] + at * n :][:n]
        item = int(np.argmax(~np.isfinite(similar)))
        raise InputError(f"similarity of items {at} and {item} of problem number {problem} is {similar[item]}.")
    return alone


def _square(block: Any, n: int, problem: int) -> Any:
    """Return one problem's matrix of shape (n, n); float32 and float64 arrays keep their type and are not copied."""
    kept = getattr(block, "dtype", None) in (np.float32, np.float64)
    matrix = as_numbers(block, "similarity", block.dtype.type if kept else np.float64)
    if matrix.shape != (n, n):
        raise InputError(f"similarity of problem number {problem} must be {n} x {n}. Got shape {matrix.shape}.")
    return matrix


def _sparse_tables(similarity: Any, offsets: Ints) -> dict[str, Ragged]:
    """Return the tables of a block-diagonal CSR matrix, with columns numbered within their problem."""
    matrix = sparse.csr_array(similarity, dtype=np.float64)
    if matrix.shape != (offsets[-1], offsets[-1]):
        raise InputError(f"similarity must be {offsets[-1]} x {offsets[-1]}. Got shape {matrix.shape}.")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    bad = first_bad(~np.isfinite(matrix.data))
    if bad is not None:
        row = int(np.searchsorted(matrix.indptr, bad, side="right")) - 1
        raise InputError(f"similarity must be finite. Got {matrix.data[bad]} for {place_of(row, offsets)}.")
    stored = np.diff(matrix.indptr).astype(np.int64)
    owner_of_row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    owners = np.repeat(owner_of_row, stored)
    if (owner_of_row[matrix.indices] != owners).any():
        i = int(np.flatnonzero(owner_of_row[matrix.indices] != owners)[0])
        raise InputError(f"similarity must stay within problems, but problem number {owners[i]} reaches into another.")
    starts = matrix.indptr[offsets].astype(np.int64)
    return {
        "stored": Ragged(stored, offsets),
        "columns": Ragged(matrix.indices - offsets[owners], starts),
        "values": Ragged(matrix.data, starts),
    }


def _totals(tables: dict[str, Ragged], offsets: Ints) -> Floats:
    """Return the value of all candidates of each problem together, or 1 where that is 0, so that it can divide."""
    best = np.zeros(offsets[-1])
    if "similarity" in tables:
        table = tables["similarity"]
        for i, n in enumerate(np.diff(offsets)):
            block = table.values[table.offsets[i] : table.offsets[i + 1]].reshape(n, n)
            best[offsets[i] : offsets[i + 1]] = np.maximum(block.max(axis=0), 0.0)
    else:
        starts = tables["columns"].offsets
        columns = tables["columns"].values + np.repeat(offsets[:-1], np.diff(starts))
        np.maximum.at(best, columns, tables["values"].values)
    totals = np.add.reduceat(best, offsets[:-1])
    return np.where(totals > 0, totals, 1.0)
