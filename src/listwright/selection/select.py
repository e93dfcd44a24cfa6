"""Selects rows of a table of vectors: representative or diverse, under constraints."""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from listwright._internal.arrays import Bools, Floats, Floats32, Ints, RandomState, as_generator
from listwright._internal.progress import ProgressCallback, progress_to
from listwright._kernels.tiles import swap_gains
from listwright.errors import InputError
from listwright.selection.constraints import RowConstraints, make_constraints
from listwright.selection.facility import FacilityObjective
from listwright.selection.graph import Graph, select_on_graph
from listwright.selection.intake import must_fit, read_vectors
from listwright.selection.objectives import Objective, Solved
from listwright.selection.result import Selection
from listwright.selection.similarity import Given, SimilarityMatrix
from listwright.selection.spec import SelectionSpec, engine_of, make_objective, make_similarity

NOTHING = 1e-9  # share of the largest gain


def select(
    vectors: Any,
    k: int | None = None,
    *,
    reward: Any = "facility_location",
    metric: str = "cosine",
    neighbors: int | None = None,
    sample: int | None = None,
    targets: Any = None,
    given: Any = None,
    exclude: Any = None,
    groups: Any = None,
    per_group: Any = None,
    weights: Any = None,
    costs: Any = None,
    budget: float | None = None,
    device: str = "auto",
    engine: Any = "local",
    progress: Any = "auto",
    precision: str = "fast",
    random_state: RandomState = None,
    column: str | None = None,
    ids: Any = None,
    gamma: float | None = None,
    scale: float = 1.0,
    alpha: float = 0.1,
    redundancy: float = 0.5,
    refine: bool | float = False,
) -> Selection:
    """Pick k rows of a table of vectors that represent all of them, or that differ most from each other.

    Use it to choose training data, few-shot examples or a coreset from embeddings. No n x n matrix is ever stored: n =
    100,000 rows need little more memory than their vectors. The picks are those of the plain greedy algorithm, and the
    result says which share of the best possible value is proved for them. For many small problems, each with its own
    reward, use `greedy`; to *learn* what to pick, use `SCP`.

    Parameters
    ----------
    vectors : array, CSR matrix, tensor, path, column, frame or Problems
        One row per item: a numpy array (also memory-mapped), a scipy CSR matrix, a torch tensor, the path of a .npy or
        .parquet file, a pyarrow, polars or pandas column of lists, a frame with such a column or with columns of
        numbers, or a `Problems` with one problem (its vectors, or else its features).
    k : int, optional
        Number of rows to pick. May be omitted if there is a budget.
    reward : str, dict, Reward or callable, default "facility_location"
        What a selection is worth:

        - "facility_location": sum over rows of the highest similarity to a pick. Picks represent all rows.
        - "log_det": log det(I + scale * K) of the picks' kernel K, as in determinantal point processes. Picks differ.
        - "saturated_coverage": summed similarity to the picks, counted up to a share `alpha` of the sum over all rows.
        - "feature_based": sum over columns of the square root of the picks' sum; numbers must be 0 or more.
        - "graph_cut": summed similarity to all rows, minus `redundancy` times that among the picks.
        - "max_min": k-center. The first open row, then always the row that is farthest from all picks; the value is
          minus the largest distance of a row to its pick.
        - "disparity_min", "disparity_sum": the smallest distance between two picks, and the sum of all of them.
          "dispersion": the sum over picks of the distance to the nearest other one.
        - a dictionary of these (without distances) and of rewards with their weights: the weighted sum.
        - a reward of `listwright.rewards` for these rows, or a function that makes one from the vectors, such as
          ``lambda x: lw.rewards.ConcaveCoverage(x, shape="log")``.
        - any function of an array of row numbers that returns a number. It is called about n times for each pick.
    metric : {"cosine", "dot", "rbf", "euclidean", "precomputed"}, default "cosine"
        Similarity of two rows; negative values count as 0. "rbf" is exp(-gamma * squared distance). "euclidean" is a
        constant minus the squared distance (as in apricot). With "precomputed", `vectors` is the matrix of similarities
        itself, dense or CSR: entry [i, j] says how well row i represents row j.
    neighbors : int, optional
        Count for each row only this many nearest rows, itself included. The graph is exact, and selecting on it is much
        faster.
    sample : int, optional
        Measure facility location on this many random rows. The value and gains of the result are over all rows, and its
        bound accounts for what sampling may have lost.
    targets : same kinds as vectors, optional
        Rows to represent, if these are not the rows to pick from: which rows cover my evaluation set?
    given : array of int or bool, optional
        Rows that are already selected. Picks add to them; they count in their groups.
    exclude : array of int or bool, optional
        Rows that may not be picked. As targets, they still count.
    groups : array-like of shape (n,) or list of these, optional
        A label for each row; needs `per_group`. Several for nested groups, from coarse to fine.
    per_group : int, tuple, dict or list, optional
        How many rows of a group are picked: at most a number, or (least, most), where None is no limit; the same for
        all groups, or by label, where groups without an entry are not limited. For nested groups a list of these.
    weights : array-like, optional
        How much each row to represent counts (or each column, for "feature_based"); 1 by default.
    costs : array-like of shape (n,) or (n, budgets), optional
        What each row costs; needs `budget`. Rows are ranked by gain per cost, the first if there are several.
    budget : float or sequence of float, optional
        What the picks may cost together; one number for each column of `costs`. Under a budget, the least rows of
        groups are picked first.
    device : {"auto", "cpu", "cuda"}, default "auto"
        "auto" uses a GPU if there is one and the work is large. Needs the extra `gpu`.
    engine : {"local", "ray"} or Engine, default "local"
        "ray" distributes the rows at random to the workers of a Ray cluster, picks k in each part, and k from those.
    progress : {"auto"}, bool or callable, default "auto"
        "auto" shows a line on a terminal after a second. A function is called with (what, done, total).
    precision : {"fast", "exact"}, default "fast"
        On a GPU, "fast" multiplies in half precision and adds in float32; "exact" multiplies in float32. On a CPU both
        are float32 with float64 sums.
    random_state : int, numpy.random.Generator or None, optional
        Seed of the sample, and of how rows are distributed.
    column : str, optional
        Column of a frame or Parquet file that has several columns of lists.
    ids : str or array-like of shape (n,), optional
        Names of the rows, or the column of a frame or Parquet file that holds them. By default the column "id", if
        there is one, or the index of a pandas frame.
    gamma : float, optional
        For "rbf"; by default 1 divided by the sum of the columns' variances.
    scale : float, default 1.0
        For "log_det": the larger, the more length and difference count.
    alpha : float, default 0.1
        For "saturated_coverage".
    redundancy : float, default 0.5
        For "graph_cut". Above 0.5, more rows may be worth less, and no ratio is known.
    refine : bool or float, default False
        For "facility_location": exchange picks for other rows after greedy, until no exchange pays or so many seconds
        are over. The value never falls; `Selection.refined` is what it gained. Groups keep their numbers.

    Returns
    -------
    Selection
        With `rows` in order, `gains`, `value`, `bound` and `ratio`, and `to_frame()`.

    Raises
    ------
    InputError
        If vectors are not finite or have the wrong shape, if options do not go together, if fewer than k rows can be
        picked, or if memory would not suffice.
    MissingExtra
        If `device="cuda"` or `engine="ray"` needs a package that is not installed.

    See Also
    --------
    listwright.greedy : The same for many problems at once, each with its own reward.

    Notes
    -----
    For monotone submodular rewards, greedy picks are worth at least 1 - 1/e of the best selection [1]_, 1/2 under
    quotas of groups, nested or from below too [2]_ [4]_, and 0.427 under one budget [3]_; for several budgets, and for
    a budget with groups or with k, no ratio is known. `Selection.ratio` is often higher: no selection can be worth more
    than the value plus the k highest gains that are left after the last pick, and these are known.

    References
    ----------
    .. [1] Nemhauser, Wolsey & Fisher (1978). An analysis of approximations for maximizing submodular set functions.
    .. [2] Fisher, Nemhauser & Wolsey (1978). The same, part II.
    .. [3] Feldman, Nutov & Shoham (2021). Practical has_costs submodular maximization.
    .. [4] El Halabi, Mitrovic, Norouzi-Fard, Tardos & Tarnawski (2020). Fairness in streaming submodular maximization.

    Examples
    --------
    Two clusters and a single row:

    >>> import numpy as np
    >>> import listwright as lw
    >>> table = np.array([[1, 0, 0.1], [1, 0.1, 0], [0.9, 0, 0], [0, 1, 0.1], [0, 0.9, 0], [0, 0, 1]])
    >>> selection = lw.select(table, 3)
    >>> selection.rows, selection.gains.round(2)
    (array([1, 3, 5]), array([3.18, 1.9 , 0.9 ]))
    >>> lw.select(table, 2, given=[1]).rows
    array([3, 5])
    >>> lw.select(table, 1, targets=table[3:5]).rows
    array([3])
    """
    wish = SelectionSpec(
        targets=targets,
        reward=reward,
        metric=metric,
        neighbors=neighbors,
        sample=sample,
        weights=weights,
        device=device,
        precision=precision,
        gamma=gamma,
        scale=scale,
        alpha=alpha,
        redundancy=redundancy,
        engine=engine_of(engine),
    )
    with progress_to(progress) as tick:
        table = read_vectors(vectors, column=column, ids=ids)
        costs = table.costs if costs is None and budget is not None else costs
        n = int(table.table.shape[0])
        constraints = make_constraints(
            n, k, given=given, exclude=exclude, groups=groups, per_group=per_group, costs=costs, budget=budget
        )
        objective = make_objective(wish, table, constraints.k, as_generator(random_state))
        solved, gained = _refine(solve(objective, constraints, tick), objective, constraints, refine)
    proof = objective.prove(constraints, solved)
    names = None if table.ids is None else table.ids[solved.rows]
    value = solved.before + solved.gain
    _warn_of_nothing(solved.gains, k)
    similar = partial(make_similarity, wish, table)
    found = (solved.rows, solved.gains, value, proof.words, proof.ratio, names, objective.device, gained)
    return Selection(*found, table.table, similar)


def solve(objective: Objective, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
    """Return the greedy picks: under a budget, first the rows that quotas ask for."""
    if not (constraints.n_needed and (constraints.has_costs or constraints.several_budgets)):
        return _or_single(objective, constraints, tick)
    first = objective.solve(constraints.for_needs(), tick)
    others = objective.solve(constraints.after(first.rows), tick)
    rows, gains = np.concatenate([first.rows, others.rows]), np.concatenate([first.gains, others.gains])
    return Solved(rows, gains, others.bounds, first.before)


def _or_single(objective: Objective, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
    """Return the greedy picks or, under one budget alone, the best single row if it adds more than all of them."""
    solved = objective.solve(constraints.copy(), tick)
    alone = constraints.has_costs and not (constraints.counted or constraints.has_groups or constraints.several_budgets)
    if not alone or not objective.submodular:
        return solved
    single = objective.solve(constraints.single(), tick)
    return single if single.gain > solved.gain else solved


def _refine(
    solved: Solved, objective: Objective, constraints: RowConstraints, refine: bool | float
) -> tuple[Solved, float]:
    """Return the picks after exchanges, and what these added."""
    if refine is False:
        return solved, 0.0
    known = isinstance(objective, FacilityObjective) or (isinstance(objective, Graph) and not issparse(objective.graph))
    if not known or constraints.has_costs or constraints.several_budgets:
        raise InputError("refine= is for facility_location of all rows, without a budget, neighbors=, sample= or Ray.")
    if not (refine is True or refine > 0):
        raise InputError(f"refine must be True, False or a number of seconds. Got {refine!r}.")
    assert isinstance(objective, FacilityObjective | Graph)
    similarity = objective.similarity if isinstance(objective, FacilityObjective) else Given(objective.graph)
    seconds = np.inf if refine is True else float(refine)
    rows, gains, gained = refine_picks(similarity, objective.weights, solved.rows, constraints, seconds)
    return solved._replace(rows=rows, gains=gains), gained


def _warn_of_nothing(gains: Any, k: int | None) -> None:
    """Warn of picks that add nothing, such as copies of others."""
    nothing = int((np.abs(gains) <= NOTHING * np.abs(gains).max(initial=0.0)).sum())
    if k is not None and nothing and len(gains) > 1 and (np.diff(gains) <= 0).all():
        warnings.warn(f"{nothing} of {len(gains)} picks add nothing: fewer are worth as much.", stacklevel=3)


CANDIDATES, TARGETS = 256, 4096  # size of a tile
PAYS = 1e-7  # share of the value that an exchange must add


class Exchange:
    """Picks whose nearest and second nearest targets are known, so that all exchanges are measured in one read.

    An exchange is worth the same for all picks but the one that leaves (Schubert & Rousseeuw 2021, FasterPAM).
    """

    def __init__(self, similarity: SimilarityMatrix, weights: Floats, fixed: Ints, rows: Ints) -> None:
        self.similarity, self.weights, self.n_fixed = similarity, weights, len(fixed)
        self.rows = np.concatenate([fixed, rows])
        size = 4 * len(self.rows) * similarity.n_targets
        must_fit(size, f"refine= of {len(rows):,} picks", "Ask for fewer rows, or leave refine= out.")
        self.table: Floats32 = np.empty((len(self.rows), similarity.n_targets), dtype=np.float32)
        self.best, self.second = (np.zeros(similarity.n_targets, dtype=np.float32) for _ in range(2))
        self.owner = np.zeros(similarity.n_targets, dtype=np.int64)
        gathered = similarity.candidates(self.rows)
        for low in range(0, similarity.n_targets, TARGETS):
            block = slice(low, min(low + TARGETS, similarity.n_targets))
            self.table[:, block] = np.maximum(similarity.tile(gathered, similarity.targets(block)), 0.0)
            self._find_best(np.arange(block.start, block.stop))

    def _find_best(self, targets: Ints) -> None:
        """Find the most similar pick of some targets, and the similarity of the second."""
        some = self.table[:, targets]
        self.owner[targets] = some.argmax(axis=0)
        self.best[targets] = some.max(axis=0)
        some = some.copy()
        some[self.owner[targets], np.arange(len(targets))] = 0.0
        self.second[targets] = some.max(axis=0)

    def measure(self, rows: Ints) -> Floats:
        """Return what each exchange of a pick (column) for a row would add."""
        added, kept = np.zeros(len(rows)), np.zeros((len(rows), len(self.rows)))
        gathered = self.similarity.candidates(rows)
        for low in range(0, self.similarity.n_targets, TARGETS):
            block = slice(low, min(low + TARGETS, self.similarity.n_targets))
            tile = self.similarity.tile(gathered, self.similarity.targets(block))
            state = self.best[block], self.second[block], self.owner[block], self.weights[block]
            swap_gains(np.ascontiguousarray(tile, dtype=np.float32), *state, added, kept)
        lost = np.bincount(self.owner, self.weights * (self.best - self.second), minlength=len(self.rows))
        return added[:, None] + kept - lost

    def exchange(self, place: int, row: int) -> None:
        """Put a row in the place of a pick."""
        gathered = self.similarity.candidates(np.array([row]))
        new = np.empty(self.similarity.n_targets, dtype=np.float32)
        for low in range(0, len(new), TARGETS):
            block = slice(low, min(low + TARGETS, len(new)))
            new[block] = np.maximum(self.similarity.tile(gathered, self.similarity.targets(block))[0], 0.0)
        old, self.table[place], self.rows[place] = self.table[place].copy(), new, row
        self._find_best(np.flatnonzero((new > self.second) | (old >= self.second)))

    @property
    def value(self) -> float:
        """The value of all picks."""
        return float(self.weights @ self.best.astype(np.float64))


def refine_picks(
    similarity: SimilarityMatrix, weights: Floats, rows: Ints, constraints: RowConstraints, seconds: float
) -> tuple[Ints, Floats, float]:
    """Return better picks in greedy order, what each adds, and what the exchanges added; never worse than before."""
    state, until = Exchange(similarity, weights, constraints.given, rows), time.monotonic() + seconds
    before, labels = state.value, constraints.finest
    candidates, since, at = np.setdiff1d(np.flatnonzero(constraints.open), rows), 0, 0
    n_blocks = -(-len(candidates) // CANDIDATES)
    while since < n_blocks and time.monotonic() < until:
        block = candidates[at * CANDIDATES : (at + 1) * CANDIDATES]
        at, since = (at + 1) % n_blocks, since + 1
        block = block[~np.isin(block, state.rows)]
        gains = (
            np.where(_swaps(state, block, labels), state.measure(block), -np.inf) if len(block) else np.zeros((0, 1))
        )
        if gains.size and gains.max() > PAYS * before:
            row, place = np.unravel_index(int(gains.argmax()), gains.shape)
            candidates = np.append(candidates, state.rows[place])
            state.exchange(int(place), int(block[row]))
            n_blocks, since = -(-len(candidates) // CANDIDATES), 0
    return *_in_greedy_order(state, weights), state.value - before


def _swaps(state: Exchange, block: Ints, labels: Ints | None) -> Bools:
    """Return which pick may go for which row: not those that are given, and only within a group."""
    allowed = np.ones((len(block), len(state.rows)), dtype=bool)
    allowed[:, : state.n_fixed] = False
    return allowed if labels is None else allowed & (labels[block][:, None] == labels[state.rows])


def _in_greedy_order(state: Exchange, weights: Floats) -> tuple[Ints, Floats]:
    """Return the picks in the order in which greedy would pick them from each other, and what each adds."""
    k, fixed = len(state.rows), np.arange(state.n_fixed)
    order, gains, _, _ = select_on_graph(state.table, weights, RowConstraints.free(k, k - len(fixed), fixed))
    return state.rows[order], gains
