"""Coverage with the gains of alpha-DCG."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, Ints, Ragged, as_numbers, first_bad, per_problem
from listwright.errors import InputError
from listwright.rewards.coverage import ProbabilisticCoverage, as_topics, topic_tables


class AlphaCoverage(ProbabilisticCoverage):
    """Coverage in which each further item on a topic is worth `1 - alpha` times the one before.

    The n-th item of a list that covers a topic gains (1 - alpha)^(n - 1) for it (Clarke et al. 2008). This equals
    probabilistic coverage in which an item covers each of its topics with probability alpha, so the reward is monotone
    and submodular.

    Use it to train for alpha-nDCG or ERR-IA. Pass `ideal` to divide gains by the best achievable value, so that
    problems with few good candidates count as much as the others. If a second item on the same topic should be worth
    nothing, use `Coverage`.

    Parameters
    ----------
    covers : array-like or scipy CSR matrix of shape (rows, topics)
        1 where the item is judged to cover the topic, else 0. Also (problems, items, topics).
    alpha : float, default 0.5
        How much a topic loses each time it is covered: above 0 and at most 1.
    ideal : array-like of shape (problems, depth), optional
        Cumulative alpha-DCG of the best ranking of *all* judged items, candidates or not, for ranks 1 to depth. Gains
        are divided by its last entry. Without it they are divided by `n_topics / alpha`, so that values are shares
        between 0 and 1.
    n_topics : array-like of shape (problems,), optional
        Number of judged topics of each problem. By default, the topics that its candidates cover.

    Raises
    ------
    InputError
        If `alpha` is out of range; or, once the reward is attached to problems, if `covers` has entries other than 0
        and 1 or if an array has the wrong shape.

    See Also
    --------
    Coverage : Counts each topic once.
    listwright.evaluation.alpha_ndcg : The metric, which takes `ideal` from this reward.

    Examples
    --------
    >>> import listwright as lw
    >>> reward = AlphaCoverage([[1, 0], [1, 1], [1, 0]], ideal=[[2.0, 2.5]])
    >>> problems = lw.Problems.from_arrays([[0.0]] * 3, offsets=[0, 3], reward=reward)
    >>> state = problems.reward.add(problems.reward.start(problems), np.array([1]))
    >>> problems.reward.value(state), problems.reward.gains(state)
    (array([0.8]), array([0.2, 0.4, 0.2]))
    """

    def __init__(
        self, covers: Any, alpha: float = 0.5, *, ideal: ArrayLike | None = None, n_topics: ArrayLike | None = None
    ) -> None:
        if not 0.0 < alpha <= 1.0:
            raise InputError(f"alpha must be above 0 and at most 1. Got {alpha!r}.")
        self._source = (covers, ideal, n_topics)
        self.alpha = float(alpha)
        self.normalize = False  # gains are divided by the ideal, which is part of the weights
        self.has_ideal = ideal is not None

    # an ideal is discounted by rank, so that values may exceed 1
    bounded = property(lambda self: not self.has_ideal)

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        """Build the topic tables with `alpha` as every amount, and add the judged topics and the ideal."""
        covers, ideal, n_topics = self._source
        table = as_topics(covers, offsets, high=1.0)
        if not (table.data == 1).all():
            raise InputError("AlphaCoverage takes 0/1 entries. For shares see ProbabilisticCoverage.")
        table.data = np.full(len(table.data), self.alpha)
        tables = topic_tables(table, offsets, kind=self.kind)
        return tables | self._judge(tables, ideal, n_topics)

    def _judge(self, tables: dict[str, Ragged], ideal: Any, n_topics: Any) -> dict[str, Ragged]:
        topics, n = tables["weights"].offsets, len(tables["weights"])
        judged = {"n_topics": per_problem(_topic_numbers(n_topics, np.diff(topics)))}
        scale = judged["n_topics"].values / self.alpha  # what infinitely many items on every topic gain
        if ideal is not None:
            judged["ideal"] = per_problem(_ideals(ideal, n))
            scale = judged["ideal"].values[:, -1]
        worth = 1.0 / (self.alpha * np.where(scale > 0, scale, 1.0))
        return judged | {"weights": Ragged(np.repeat(worth, np.diff(topics)), topics)}


def _ideals(ideal: Any, n_problems: int) -> Floats:
    table = as_numbers(ideal, "ideal")
    if table.ndim != 2 or len(table) != n_problems or not table.shape[1]:
        raise InputError(f"ideal must have one row per problem ({n_problems}) and a rank each. Got {table.shape}.")
    falls = np.diff(table, axis=1, prepend=0.0) < -1e-9
    bad = first_bad(falls.any(axis=1) | ~np.isfinite(table).all(axis=1))
    if bad is not None:
        raise InputError(f"ideal must be 0 or more and must not fall with rank. See problem number {bad}.")
    return table


def _topic_numbers(n_topics: Any, covered: Ints) -> Ints:
    if n_topics is None:
        return covered
    numbers = as_numbers(n_topics, "n_topics")
    if numbers.shape != covered.shape:
        raise InputError(f"n_topics must have one entry per problem ({len(covered)}). Got shape {numbers.shape}.")
    bad = first_bad(~(numbers >= covered) | (numbers != np.floor(numbers)))
    if bad is not None:
        raise InputError(
            f"n_topics of problem number {bad} is {numbers[bad]:g}, but its candidates cover {covered[bad]} topics."
        )
    return numbers.astype(np.int64)
