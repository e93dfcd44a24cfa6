"""Selecting rows out of a table of vectors: representative, diverse, within limits."""

from __future__ import annotations

from typing import Any

from listwright._internal.arrays import RandomState, as_generator
from listwright.selection.intake import read_vectors
from listwright.selection.making import Wish, engine_of, make_objective
from listwright.selection.objectives import Objective, Solved
from listwright.selection.progress import Tick, as_tick
from listwright.selection.result import Selection
from listwright.selection.rules import Rules, make_rules


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
    gamma: float | None = None,
    scale: float = 1.0,
    alpha: float = 0.1,
) -> Selection:
    """Picks k rows of a table of vectors that stand for all of them, or that differ most from each other.

    Use it to choose training data, few-shot examples or a coreset out of embeddings. Nothing of the size n x n is ever
    held: n = 100,000 rows need little more memory than their vectors. The picks are those of the plain greedy
    algorithm, and the result says which share of the best possible value is proved for them.

    Parameters
    ----------
    vectors : array, CSR matrix, tensor, path, column or Problems
        One row per item: a numpy array (also memory-mapped), a scipy CSR matrix, a torch tensor, the path of a .npy or
        .parquet file, a column of lists of pyarrow, polars or pandas, or a `Problems` of one problem (its vectors, or
        else its features).
    k : int, optional
        Number of rows to pick. May be left out where there is a budget.
    reward : str, Reward or callable, default "facility_location"
        What a selection is worth:

        - "facility_location": sum over rows of the highest similarity to a pick. Picks stand for all rows.
        - "log_det": log det(I + scale * K) of the picks' kernel K, as in determinantal point processes. Picks differ.
        - "saturated_coverage": summed similarity to the picks, counted up to a share `alpha` of what all rows bring.
        - "feature_based": sum over columns of the square root of what the picks bring; numbers must be 0 or more.
        - a reward of `listwright.rewards` for these rows, or a function that makes one from the vectors, such as
          ``lambda x: lw.rewards.ConcaveCoverage(x, shape="log")``.
    metric : {"cosine", "dot", "rbf", "euclidean", "precomputed"}, default "cosine"
        Similarity of two rows; below 0 it counts as 0. "rbf" is exp(-gamma * squared distance). "euclidean" is a
        constant less the squared distance (as in apricot). With "precomputed", `vectors` is the matrix of similarities
        itself, dense or CSR: entry [i, j] says how well row i stands for row j.
    neighbors : int, optional
        Let each row count only its so many nearest rows, itself among them. The graph is exact; selecting on it is much
        faster than without.
    sample : int, optional
        Measure facility location on so many random rows. The value and gains of the result are over all rows, and its
        bound says what sampling may have lost.
    targets : same kinds as vectors, optional
        Rows to stand for, where these are other rows than those to pick from: what covers my evaluation set?
    given : array of int or bool, optional
        Rows that are selected already. Picks add to them; they count in their groups.
    groups, per_group : array and int or dict, optional
        A label for each row, and how many rows of a group there may be at most: one number, or one for each label.
    weights : array, optional
        How much each row to stand for counts (or each column, for "feature_based"); 1 by default.
    costs, budget : array and float, optional
        What each row costs, and what the picks may cost together. Rows go by gain per cost.
    device : {"auto", "cpu", "cuda"}, default "auto"
        "auto" takes a GPU where there is one and the work is large. Needs the extra `gpu`.
    engine : {"local", "ray"} or Engine, default "local"
        "ray" deals the rows out at random to the workers of a Ray cluster, picks k in each part, and k among those.
    progress : "auto", bool or callable, default "auto"
        "auto" shows a line on a terminal after a second. A function is called with (what, done, total).
    precision : {"fast", "exact"}, default "fast"
        On a GPU, "fast" multiplies in half precision and adds in float32; "exact" multiplies in float32. On a CPU both
        are float32 with float64 sums.
    random_state : int, Generator or None, optional
        Seed of the sample, and of how rows are dealt out.
    column : str, optional
        Column of a Parquet file with several columns of lists.
    gamma : float, optional
        For "rbf"; by default 1 over the sum of the columns' variances.
    scale : float, default 1.0
        For "log_det": the larger, the more length and difference count.
    alpha : float, default 0.1
        For "saturated_coverage".

    Returns
    -------
    Selection
        With `rows` in order, `gains`, `value`, `bound` and `ratio`, and `to_frame()`.

    See Also
    --------
    listwright.greedy : The same for many problems at once, each with its own reward.

    Notes
    -----
    Greedy picks are worth at least 1 - 1/e of the best selection [1]_, 1/2 under groups [2]_ and 0.427 under a budget
    [3]_. `Selection.ratio` is often higher: after the last pick, no selection can be worth more than the value plus the
    k highest gains that are left, and that is known.

    References
    ----------
    .. [1] Nemhauser, Wolsey & Fisher (1978). An analysis of approximations for maximizing submodular set functions.
    .. [2] Fisher, Nemhauser & Wolsey (1978). The same, part II.
    .. [3] Feldman, Nutov & Shoham (2021). Practical budgeted submodular maximization.

    Examples
    --------
    Two clusters and a row apart:

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
    wish = Wish(
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
        engine=engine_of(engine),
    )
    with as_tick(progress) as tick:
        table = read_vectors(vectors, column=column)
        costs = table.costs if costs is None and budget is not None else costs
        n = int(table.table.shape[0])
        rules = make_rules(n, k, given=given, groups=groups, per_group=per_group, costs=costs, budget=budget)
        objective = make_objective(wish, table, rules.k, as_generator(random_state))
        solved = best_of_two(objective, rules, tick)
    proof = objective.prove(rules, solved)
    ids = None if table.ids is None else table.ids[solved.rows]
    value = solved.before + solved.added
    return Selection(solved.rows, solved.gains, value, proof.words, proof.ratio, ids, objective.device)


def best_of_two(objective: Objective, rules: Rules, tick: Tick) -> Solved:
    """Greedy picks; under a budget alone, the single row that brings most where it brings more than all of them."""
    solved = objective.solve(rules.copy(), tick)
    if not rules.priced or rules.counted or rules.grouped or not objective.submodular:
        return solved
    single = objective.solve(rules.single(), tick)
    return single if single.added > solved.added else solved
