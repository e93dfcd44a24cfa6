"""Rewards that sum over topics: coverage, probabilistic coverage and concave coverage."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from listwright._internal.arrays import Ints, Ragged
from listwright._kernels.topics import CAP, LOG, PROBABILITY, SQRT
from listwright.errors import InputError
from listwright.rewards.topics import TopicReward, as_topics, topic_tables

SHAPES = {"sqrt": SQRT, "log": LOG, "cap": CAP}


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

    Raises
    ------
    InputError
        When the reward is attached to problems, if `covers` has entries other than 0 and 1, or if a shape is wrong.

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
        Divide by what all candidates of the problem earn together.

    Raises
    ------
    InputError
        When the reward is attached to problems, if a probability lies outside [0, 1] or if a shape is wrong.

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

    kind = PROBABILITY

    def __init__(self, p: Any, weights: ArrayLike | None = None, *, normalize: bool = True) -> None:
        self._source = (p, weights)
        self.normalize = normalize

    def _lay_out(self, offsets: Ints) -> dict[str, Ragged]:
        assert self._source is not None
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
        """Return the topic tables, or raise if the shape is unknown or if caps do not belong to it."""
        assert self._source is not None
        covers, caps, weights = self._source
        if self.shape not in SHAPES:
            raise InputError(f"shape must be one of {', '.join(SHAPES)}. Got {self.shape!r}.")
        if caps is not None and self.kind != CAP:
            raise InputError(f"caps go with shape='cap'. Got shape={self.shape!r}.")
        return topic_tables(as_topics(covers, offsets), offsets, weights, caps, kind=self.kind)
