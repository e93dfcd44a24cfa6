"""Clairvoyant greedy: lists built with full knowledge of the reward, which learned policies are compared with."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Bools, Floats, Ints, RandomState, as_generator, at_least_one
from listwright._internal.quotas import Quotas
from listwright._kernels.rows import best_rows
from listwright.errors import InputError
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.rewards import Reward, reward_of
from listwright.rewards.base import HAIR, NEGATIVE, RISING, WORTH, Watched
from listwright.walk.constraints import Constraints, as_budgets

METHODS = ("lazy", "naive", "stochastic")
Pick = Callable[[Any, Bools], tuple[Ints, Floats]]  # (reward state, open rows) -> (one row per problem, its gains)


def greedy(
    problems: Problems,
    length: int | None = None,
    budget: ArrayLike | None = None,
    *,
    per_group: Any = None,
    method: str = "lazy",
    epsilon: float = 0.1,
    random_state: RandomState = None,
) -> Lists:
    """Build a list for every problem greedily by its reward, without repeated items; ties go to the lowest row.

    This is the clairvoyant greedy algorithm that the paper's guarantees refer to (Section 3). Use it if the reward is
    known when the list is built, and as the reference for learned policies. It cannot build lists for new problems
    whose reward is unknown: train `SCP` for these. To pick rows from a single table of vectors, use `select`, which
    needs no matrix.

    With a budget, items are ranked by gain per size, items that no longer fit are skipped, and the best single item is
    returned if it is worth more. A problem with fewer candidates than `length` gets them all; one where nothing fits
    gets an empty list.

    Parameters
    ----------
    problems : Problems
        Problems with a reward.
    length : int, optional
        Number of items.
    budget : float or array-like of shape (problems,), optional
        Total size; may be combined with `length`. Needs problems with sizes.
    per_group : int, tuple, dict or list, optional
        How many items of a group a list holds, as in `Problems.with_constraints`, which also excludes and pins items
        and adds budgets. The list is then worth at least 1/2 of the best one within the groups (Fisher, Nemhauser &
        Wolsey 1978); under a budget, or several, no ratio is known.
    method : {"lazy", "naive", "stochastic"}, default "lazy"
        "lazy" gives the same lists as "naive" with fewer evaluations. "stochastic" takes the best of a random sample at
        each pick; it is for rewards without a compiled lazy greedy, such as `LogDet` and `Function`.
    epsilon : float, default 0.1
        What "stochastic" may lose in expectation, between 0 and 1.
    random_state : int, numpy.random.Generator or None, optional
        Seed of "stochastic".

    Returns
    -------
    Lists
        With `gains` and `values`, and in `bound` and `ratio` what is proved for this method.

    Raises
    ------
    InputError
        If there is neither length nor budget, or if the problems have no reward or, for a budget, no sizes.

    See Also
    --------
    listwright.select : Selects rows from a table of vectors.
    listwright.SCP : Learns to build lists for problems whose reward is unknown.

    Notes
    -----
    For a monotone submodular reward, greedy lists of k items are worth at least 1 - 1/e of the best list of k items.
    The guarantee is withdrawn if gains are seen to be negative or to rise.

    Examples
    --------
    >>> import listwright as lw
    >>> covers = [[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1]]
    >>> problems = lw.Problems.from_arrays([[0.0]] * 3, offsets=[0, 3], reward=lw.rewards.Coverage(covers))
    >>> lists = greedy(problems, length=2)
    >>> lists[0], lists.values
    (array([1, 2]), array([1.]))
    """
    if not isinstance(problems, Problems):
        raise InputError(
            f"greedy builds lists for Problems. Got {type(problems).__name__}: to pick rows out of an array of "
            "vectors, use lw.select(vectors, k)."
        )
    problems = problems.with_constraints(per_group=per_group)
    reward = reward_of(problems, "greedy")
    if length is None and budget is None:
        raise InputError("greedy needs a length or a budget. Got neither.")
    if length is not None:
        at_least_one("length", length)
    constraints = Constraints(problems, as_budgets(budget, problems), length)
    weights = np.ones(problems.n_rows) if budget is None or problems.sizes is None else problems.sizes
    steps = int(problems.counts.max()) if length is None else min(length, int(problems.counts.max()))
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}. Got {method!r}.")
    if method == "stochastic" and reward.lazy_lists(problems, weights, constraints.left, 1) is not None:
        raise InputError(
            f'method="stochastic" is not offered for {type(reward).__name__}: the lazy greedy of this reward is '
            'compiled, faster, and gives greedy\'s own lists. Use method="lazy".'
        )
    lazy = method == "lazy" and reward.submodular and problems.quotas is None
    compiled = reward.lazy_lists(problems, weights, constraints.left, steps) if lazy else None
    broken: set[str] = set()
    if compiled is None:
        reward = watched = Watched(reward, problems)
        make = _lazy if method == "lazy" and reward.submodular else _naive
        if method == "stochastic":
            make = partial(_stochastic, steps=steps, epsilon=epsilon, rng=as_generator(random_state))
        rows, gains = _build(problems, reward, make(problems, reward, weights), constraints, steps)
        broken = watched.laws.broken & {NEGATIVE, RISING, WORTH}
    else:
        used = max(1, int((compiled[0] >= 0).any(axis=0).sum()))
        rows, gains = compiled[0][:, :used], compiled[1][:, :used]
    if budget is not None:
        alone = Constraints(problems, as_budgets(budget, problems))
        rows, gains = _or_best_single(problems, reward, alone, rows, gains)
    bound, ratio = _prove_bound(reward, method, epsilon, length, budget, problems.quotas)
    if broken:
        bound, ratio = f"no bound: {'; '.join(sorted(broken))}", None
    return Lists(problems.without_reward(), rows, gains, bound=bound, ratio=ratio)


def _build(
    problems: Problems, reward: Watched, pick: Pick, constraints: Constraints, steps: int
) -> tuple[Ints, Floats]:
    """Build lists with `pick`, position by position; return rows and gains, shape (problems, longest list)."""
    state = reward.start(problems)
    untaken = np.ones(problems.n_rows, dtype=bool)
    rows, gains = [], []
    for _ in range(steps):
        picks, picked_gains = pick(state, untaken & constraints.fits())
        taken = picks[picks >= 0]
        if not len(taken):
            break
        untaken[taken] = False
        constraints.take(picks)
        state = reward.add(state, picks)
        if problems.quotas is not None and problems.quotas.alternatives.shape[1]:
            paying = reward.gains(state)[untaken & constraints.worthless()] > HAIR
            reward.laws.broken |= {WORTH} if paying.any() else set()
        rows.append(picks)
        gains.append(picked_gains)
    if not rows:
        return np.full((len(problems), 1), -1), np.zeros((len(problems), 1))
    return np.stack(rows, axis=1), np.stack(gains, axis=1)


def _naive(problems: Problems, reward: Reward, weights: Floats) -> Pick:
    def pick(state: Any, open_rows: Bools) -> tuple[Ints, Floats]:
        gains = reward.gains(state)
        picks = best_rows(gains / weights, open_rows, problems.offsets)
        return picks, np.where(picks >= 0, gains[picks], 0.0)

    return pick


def _lazy(problems: Problems, reward: Reward, weights: Floats) -> Pick:
    gains = reward.gains(reward.start(problems))
    bounds = gains / weights

    def pick(state: Any, open_rows: Bools) -> tuple[Ints, Floats]:
        fresh = np.zeros(problems.n_rows, dtype=bool)
        while True:
            picks = best_rows(bounds, open_rows, problems.offsets)
            stale = picks[(picks >= 0) & ~fresh[picks]]
            if not len(stale):
                return picks, np.where(picks >= 0, gains[picks], 0.0)
            gains[stale] = reward.gains_of(state, stale)
            bounds[stale] = gains[stale] / weights[stale]
            fresh[stale] = True

    return pick


def _stochastic(
    problems: Problems, reward: Reward, weights: Floats, steps: int, epsilon: float, rng: np.random.Generator
) -> Pick:
    if not 0 < epsilon < 1:
        raise InputError(f"epsilon must be between 0 and 1. Got {epsilon}.")
    sample = np.ceil(problems.counts / steps * math.log(1 / epsilon))

    def pick(state: Any, open_rows: Bools) -> tuple[Ints, Floats]:
        rows = np.flatnonzero(open_rows)
        rows = rows[np.lexsort((rng.random(len(rows)), problems.owners[rows]))]
        owners = problems.owners[rows]
        rank = np.arange(len(rows)) - np.searchsorted(owners, owners)
        drawn = np.sort(rows[rank < sample[owners]])
        gains = np.zeros(problems.n_rows)
        gains[drawn] = reward.gains_of(state, drawn)
        chosen = np.zeros(problems.n_rows, dtype=bool)
        chosen[drawn] = True
        picks = best_rows(gains / weights, chosen, problems.offsets)
        return picks, np.where(picks >= 0, gains[picks], 0.0)

    return pick


def _or_best_single(
    problems: Problems, reward: Reward, constraints: Constraints, rows: Ints, gains: Floats
) -> tuple[Ints, Floats]:
    alone = reward.gains(reward.start(problems))
    single = best_rows(alone, constraints.fits(), problems.offsets)
    better = (single >= 0) & (alone[single] > gains.sum(axis=1))
    if problems.quotas is not None:
        better &= problems.quotas.free_problems(problems.offsets)
    rows, gains = rows.copy(), gains.copy()
    rows[better], gains[better] = -1, 0.0
    rows[better, 0], gains[better, 0] = single[better], alone[single[better]]
    return rows, gains


def _prove_bound(
    reward: Reward, method: str, epsilon: float, length: int | None, budget: Any, quotas: Quotas | None
) -> tuple[str | None, float | None]:
    """Return the bound that is proved for this method, in words and as a number; (text, None) if there is none."""
    if not reward.submodular:
        return "no bound: this reward is not submodular", None
    grouped = quotas is not None and quotas.groups.shape[1] > 0
    if quotas is not None and quotas.budgets.shape[1]:
        return "no ratio is known for several budgets", None
    pinned = quotas is not None and quotas.pins
    if pinned and budget is not None:
        return "no ratio is known for a budget with pinned rows", None
    within = " within the groups" if grouped else ""
    within = " within the constraints" if quotas is not None and quotas.pinned.any() else within
    if grouped and (budget is not None or method == "stochastic"):
        return f"no ratio is known for {'a budget' if budget is not None else 'this method'} with groups", None
    # The sets that can be completed within nested quotas, from below and above, are a matroid, also with the length as
    # one more limit: Fisher, Nemhauser & Wolsey (1978); El Halabi et al. (2020).
    if grouped:
        return f"at least 1/2 of the best list of this length{within}", 0.5
    full = 1 - 1 / math.e
    if budget is None and method == "stochastic":
        ratio = full - epsilon
        claim = f"in expectation at least 1 - 1/e - {epsilon:g} = {ratio:.3f}"
        return f"{claim} of the best list of this length{within}", ratio
    if budget is None:
        return f"at least 1 - 1/e = {full:.3f} of the best list of this length{within}", full
    if method == "stochastic" or length is not None:
        return "no bound is proved for this method under a budget", None
    # The better of the density greedy and the best single item: Feldman, Nutov & Shoham (2021) prove 0.427.
    return f"at least 0.427 of the best list within the {'constraints' if within else 'budget'}", 0.427
