"""Selects rows of a table of vectors: representative or diverse, under constraints."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, RandomState, as_generator
from listwright._internal.progress import ProgressCallback, progress_to, silent
from listwright.errors import InputError
from listwright.selection.constraints import RowConstraints, make_constraints
from listwright.selection.facility import Sampled
from listwright.selection.intake import as_numbers_of, read_vectors
from listwright.selection.objectives import Objective, Solved
from listwright.selection.result import NOTHING, Selection
from listwright.selection.spec import SelectionSpec, engine_of, make_objective, make_similarity


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
    budget: ArrayLike | None = None,
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
        - a dictionary of these (without distances), of rewards and functions with their weights: the weighted sum.
        - a reward of `listwright.rewards` for these rows, or a function that makes one from the vectors, such as
          ``lambda x: lw.rewards.ConcaveCoverage(x, shape="log")``.
        - any function of row numbers, in an array or else in a set, that returns a number. It is called about n times
          for each pick.
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
        Rows to represent, if these are not the rows to pick from: which rows cover my evaluation set? With
        "precomputed", "columns" says that the columns of the matrix are such rows.
    given : array of int, bool or str, optional
        Rows that are already selected, by number or, as text, by name. Picks add to them; they count in their groups.
    exclude : array of int, bool or str, optional
        Rows that may not be picked, likewise. As targets, they still count.
    groups : array-like of shape (n,) or list of these, optional
        A label for each row; needs `per_group`. Several for nested groups, from coarse to fine.
    per_group : int, tuple, dict or list, optional
        How many rows of a group are picked: at most a number, or (least, most), where None is no limit; the same for
        all groups, or by label, where groups without an entry are not limited. For nested groups a list of these. A
        group with fewer rows than the least of all groups gives those it has; a least by label must be met.
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
        Names of the rows, or the column of a frame or Parquet file that holds them. By default the column "id", the
        only column whose name ends in "_id", or the index of a pandas frame.
    gamma : float, optional
        For "rbf"; by default 1 divided by the sum of the columns' variances.
    scale : float, default 1.0
        For "log_det": the larger, the more length and difference count.
    alpha : float, default 0.1
        For "saturated_coverage".
    redundancy : float, default 0.5
        For "graph_cut". Above 0.5 (or half of the lowest of `weights`), and with targets, more rows may be worth less,
        and no ratio is known.
    refine : bool or float, default False
        Exchange picks for other rows after greedy, until no exchange pays or so many seconds are over. The value never
        falls, and constraints are kept; `Selection.refined` is what it gained. Not with `sample` or `engine="ray"`.

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
    .. [3] Feldman, Nutov & Shoham (2021). Practical budgeted submodular maximization.
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
    options = targets, reward, metric, neighbors, sample, weights, device, precision, gamma, scale, alpha, redundancy
    wish = SelectionSpec(*options, engine_of(engine))
    with progress_to(progress) as tick:
        table = read_vectors(vectors, column=column, ids=ids)
        costs = table.costs if costs is None and budget is not None else costs
        n = int(table.table.shape[0])
        given, exclude = as_numbers_of(given, table.ids, "given"), as_numbers_of(exclude, table.ids, "exclude")
        constraints = make_constraints(
            n, k, given=given, exclude=exclude, groups=groups, per_group=per_group, costs=costs, budget=budget
        )
        objective = make_objective(wish, table, constraints.k, as_generator(random_state))
        solved, gained = _refine(solve(objective, constraints, tick), objective, constraints, refine)
    proof = objective.prove(constraints, solved)
    names = None if table.ids is None else table.ids[solved.rows]
    if k is not None:
        _warn_of_nothing(solved.gains, trailing=not objective.submodular)
    value, similar = solved.before + solved.gain, partial(make_similarity, wish, table)
    public = (solved.rows, solved.gains, value, proof.words, proof.ratio, names, objective.device, gained)
    return Selection(*public, table.home, table.table, similar, constraints.given)


def solve(objective: Objective, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
    """Return the greedy picks: under a budget, first the rows that quotas ask for."""
    if not (constraints.n_needed and constraints.has_costs):
        return _or_single(objective, constraints, tick)
    needed = constraints.for_needs()
    first = objective.solve(needed.copy(), tick)
    if len(first.rows) < constraints.n_needed:  # the budget is used up: take the cheapest rows
        first = objective.solve(needed.copy(open=needed.open & needed.cheapest()), tick)
    later = constraints.after(first.rows)
    others = objective.solve(later.copy(), tick)
    rows, gains = np.concatenate([first.rows, others.rows]), np.concatenate([first.gains, others.gains])
    # Rows that were closed by then have no bounds. They add at most what they add alone.
    alone = objective.solve(constraints.single(), silent)
    alone.bounds[alone.rows] = alone.gains
    return Solved(rows, gains, np.where(later.open, others.bounds, alone.bounds), first.before)


def _or_single(objective: Objective, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
    """Return the greedy picks or, under one budget alone, the best single row if it adds more than all of them."""
    solved = objective.solve(constraints.copy(), tick)
    alone = constraints.has_costs and not (constraints.counted or constraints.has_groups or constraints.several_budgets)
    if not alone or not objective.submodular:
        return solved
    single = objective.solve(constraints.single(), tick)
    return single if single.gain > solved.gain else solved


def _refine(solved: Solved, objective: Objective, constraints: RowConstraints, refine: Any) -> tuple[Solved, float]:
    if refine is False or refine is None:
        return solved, 0.0
    if not (refine is True or (isinstance(refine, int | float | np.number) and refine > 0)):
        raise InputError(f"refine must be True, False or a number of seconds. Got {refine!r}.")
    if isinstance(objective, Sampled) or hasattr(objective, "engine"):
        raise InputError("refine= works on all rows in one process. Leave out sample= and engine='ray', or refine=.")
    return objective.refine(solved, constraints, np.inf if refine is True else float(refine))


def _warn_of_nothing(gains: Floats, *, trailing: bool) -> None:
    """Warn of picks that add nothing, such as copies of others; with `trailing`, only of those at the end."""
    some = np.abs(gains) > NOTHING * np.abs(gains).max(initial=0.0)
    nothing = int(np.argmax(some[::-1])) if trailing and some.any() else int((~some).sum())
    if nothing and len(gains) > 1:
        warnings.warn(f"{nothing} of {len(gains)} picks add nothing: fewer are worth as much.", stacklevel=3)
