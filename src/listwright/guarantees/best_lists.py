"""Upper bounds on the best list of each problem, and the laws that its reward is seen to break."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.rewards.base import Laws


def bound_best_lists(
    problems: Problems, lists: Iterable[Ints], *, length: int | None, budget: Floats | None
) -> tuple[Floats, set[str]]:
    """Return an upper bound on the best list of each problem, and the laws that gains along these lists break.

    No list adds more to a prefix than its largest gains do, one by one, if the reward is monotone and submodular; so
    for every prefix P of any list, the best list is worth at most f(P) plus the sum of these gains. Under a budget the
    sum is that of the fractional knapsack. `lists` are rows by problem and position, with -1 where a list has ended.
    """
    reward = reward_of(problems)
    best, broken = np.full(len(problems), np.inf), set()
    for rows in lists:
        state = reward.start(problems)
        laws = Laws(problems.n_rows, reward.value(state))
        for picks in [*rows.T, None]:
            values = reward.value(state)
            laws.check_values(values)
            gains = laws.watch(reward.gains(state))
            best = np.minimum(best, values + _most_addable(problems, gains, length, budget))
            if picks is not None:
                state = reward.add(state, picks)
        broken |= laws.broken
    return best, broken


def _most_addable(problems: Problems, gains: Floats, length: int | None, budget: Floats | None) -> Floats:
    """Return by problem the largest sum of gains within the length and, in fractions of items, within the budget."""
    gains, most = np.maximum(gains, 0.0), np.full(len(problems), np.inf)
    if length is not None:
        order = np.lexsort((-gains, problems.owners))
        rank = np.arange(len(order)) - np.repeat(problems.offsets[:-1], problems.counts)
        most = np.add.reduceat(np.where(rank < length, gains[order], 0.0), problems.offsets[:-1])
    if budget is not None and problems.sizes is not None:
        sizes = np.maximum(problems.sizes.astype(np.float64), 1e-300)
        order = np.lexsort((-gains / sizes, problems.owners))
        filled = np.cumsum(sizes[order]) - sizes[order]
        filled -= np.repeat(filled[problems.offsets[:-1]], problems.counts)
        share = np.clip((np.repeat(budget, problems.counts) - filled) / sizes[order], 0.0, 1.0)
        most = np.minimum(most, np.add.reduceat(share * gains[order], problems.offsets[:-1]))
    return most
