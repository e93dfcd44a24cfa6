"""Baselines: a bandit per slot (Radlinski et al. 2008), and optimism about linear gains (Yue & Guestrin 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints, RandomState, solve
from listwright._internal.parameters import clone
from listwright._kernels.rows import linear_scores
from listwright.errors import InputError
from listwright.features import Features, Identity, Rows
from listwright.features.scale import dense
from listwright.feedback.bandit import ListBandit
from listwright.feedback.explore import Exploration, Own
from listwright.feedback.gain_ridge import GainRidge
from listwright.learners import Exp3, Experts, Learner, PerPosition
from listwright.learners.experts import n_items_of
from listwright.learners.ridge import RidgeSums
from listwright.policies import Policy, Sequence
from listwright.problems import Problems


class RankedBandits(ListBandit):
    """One Exp3 bandit per slot over the items of a catalogue (Radlinski, Kleinberg & Joachims 2008).

    A baseline: use it to measure what learning one policy from all slots (`OnlineSCP`) gains. It ignores contexts and
    features, so it fits problems that all have the same catalogue of items and no context. Each slot draws among the
    items that earlier slots left and learns from the gain of the item that it shows.

    Parameters
    ----------
    length : int
        Number of items per list, and of bandits.
    cascade : bool
        Whether users stop at the first click.
    allow_short : bool
        Accept problems with fewer candidates than `length`.
    memory : int
        How many lists may wait for feedback; the oldest are forgotten first.
    random_state : int, numpy.random.Generator or None
        Seed of the draws.

    See Also
    --------
    OnlineSCP : One policy for all slots.
    LSBGreedy : Another baseline, with features.

    Examples
    --------
    >>> import numpy as np
    >>> import listwright as lw
    >>> problem = lw.Problems.from_arrays(np.zeros((1, 4, 1)), catalogue=[0, 1, 2, 3])
    >>> bandits = RankedBandits(length=2, random_state=0)
    >>> for _ in range(500):
    ...     lists = bandits.recommend(problem)
    ...     _ = bandits.feedback(lists.list_ids, [lists[0] == 2])  # everybody likes item 2
    >>> bandits.predict(problem)[0][:1]
    array([2])
    """

    weighting = "uniform"

    def _make_features(self, problems: Problems) -> Features:
        return Identity()

    def _make_learner(self) -> Learner:
        return Slots(Exp3())

    def _make_exploration(self) -> Exploration:
        return Own()

    def _open(self, learner: Learner, problems: Problems) -> None:
        assert isinstance(learner, Slots)
        learner.open(self.length, n_items_of(self.features_.rows(self.features_.start(problems))))


class Slots(PerPosition):
    """`PerPosition` whose bandits all exist from the start, so that a slot without any feedback explores evenly."""

    def open(self, length: int, n_items: int) -> None:
        self.learners_ = [clone(self.learner) for _ in range(length)]
        self.taught_ = [True] * length
        for learner in self.learners_:
            assert isinstance(learner, Experts)
            learner.start(n_items)

    def policy(self) -> Policy:
        return Sequence(tuple(learner.policy() for learner in self.learners_))


class CoverageWeights(NamedTuple):
    """The state of `TopicGains`: what share of each topic a list leaves uncovered."""

    problems: Problems
    topics: Floats32  # (rows, topics), from 0 to 1
    left: Floats32  # (problems, topics)


class TopicGains(Features):
    """What a candidate adds to the coverage of each topic, with coverage 1 - prod(1 - share) over the list."""

    group = "coverage"

    def start(self, problems: Problems) -> CoverageWeights:
        topics = dense(problems.features if problems.vectors is None else problems.vectors)
        if topics.size and (topics.min() < 0 or topics.max() > 1):
            raise InputError(
                f"LSBGreedy takes features (or vectors) as shares of topics from 0 to 1. Got {topics.min()} to "
                f"{topics.max()}."
            )
        return CoverageWeights(problems, topics, np.ones((len(problems), topics.shape[1]), dtype=np.float32))

    def columns(self, seen: CoverageWeights) -> Floats32:
        owners, context = seen.problems.owners, seen.problems.context
        gains = seen.topics * seen.left[owners]
        if context is None:
            return gains
        crossed = gains[:, :, None] * context[owners][:, None, :]
        return np.ascontiguousarray(crossed.reshape(len(gains), -1))

    def add(self, seen: CoverageWeights, picks: Ints) -> CoverageWeights:
        left, some = seen.left.copy(), np.flatnonzero(picks >= 0)
        left[some] *= 1.0 - seen.topics[picks[some]]
        return seen._replace(left=left)


@dataclass(frozen=True, eq=False)
class Optimist(Policy):
    """Scores a row by its predicted gain plus `alpha` times its uncertainty, w'v + alpha * sqrt(v' M^-1 v)."""

    weights: Floats
    inverse: Floats
    alpha: float

    def score(self, rows: Rows) -> Floats:
        table = rows.table.astype(np.float64)
        width = np.sqrt(np.maximum(np.einsum("ij,ij->i", table @ self.inverse, table), 0.0))
        return linear_scores(rows.table, self.weights) + self.alpha * width


class OptimisticRidge(GainRidge):
    alpha_: float

    def policy(self) -> Policy:
        sums = reduce(RidgeSums.combine, self.sums_)
        inverse = solve(sums.gram + self.penalty_ * np.eye(len(sums.gram)), np.eye(len(sums.gram)))
        return Optimist(inverse @ sums.right, inverse, self.alpha_)


class LSBGreedy(ListBandit):
    """Linear submodular bandit: greedy on an upper confidence bound of each candidate's gain (Yue & Guestrin 2011).

    A baseline for items described by topics. Gains are modelled as linear in what a candidate adds to the coverage of
    each topic. Features (or vectors, if there are any) are shares of topics from 0 to 1; with a context, there is a
    separate set of weights for each of its numbers. Nothing is drawn at random, so propensities are 1 and its logs say
    little about other policies; use `OnlineSCP` where the log is to be evaluated.

    Parameters
    ----------
    length : int
        Number of items per list.
    alpha : float
        Weight of the uncertainty.
    penalty : float
        Ridge penalty.
    cascade, allow_short, memory, random_state
        As in `OnlineSCP`.

    See Also
    --------
    OnlineSCP : Randomised exploration with any features.
    RankedBandits : A baseline without features.

    Examples
    --------
    >>> import listwright as lw
    >>> rng, greedy = np.random.default_rng(0), LSBGreedy(length=2)
    >>> for _ in range(100):
    ...     problem = lw.Problems.from_arrays(rng.random((1, 6, 3)))
    ...     lists = greedy.recommend(problem)
    ...     _ = greedy.feedback(lists.list_ids, [problem.features[lists[0], 1] > 0.7])
    >>> greedy.playing_.policy.weights.argmax()
    np.int64(1)
    """

    weighting = "uniform"

    def __init__(
        self,
        length: int = 5,
        *,
        alpha: float = 0.5,
        penalty: float = 1.0,
        cascade: bool = False,
        allow_short: bool = False,
        memory: int = 100_000,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(length, cascade=cascade, allow_short=allow_short, memory=memory, random_state=random_state)
        self.alpha = alpha
        self.penalty = penalty

    def _make_features(self, problems: Problems) -> Features:
        return TopicGains()

    def _make_learner(self) -> Learner:
        learner = OptimisticRidge(self.penalty, center=False)
        learner.alpha_ = float(self.alpha)
        return learner

    def _make_exploration(self) -> Exploration:
        return Own()

    def _open(self, learner: Learner, problems: Problems) -> None:
        assert isinstance(learner, GainRidge)
        learner.open(self.features_.rows(self.features_.start(problems)))
