"""Ranked bandits, a baseline that learns a separate bandit for each slot (Radlinski et al. 2008)."""

from __future__ import annotations

from listwright._internal.parameters import clone
from listwright.features import Features, Identity
from listwright.feedback.bandit import ListBandit
from listwright.feedback.explore import Exploration, Own
from listwright.learners import Exp3, Experts, Learner, PerPosition
from listwright.learners.experts import n_items_of
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
