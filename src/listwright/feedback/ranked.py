"""Ranked bandits: a bandit of its own for every slot."""

from __future__ import annotations

from sklearn.base import clone

from listwright._internal.arrays import RandomState
from listwright.features import Features, Identity
from listwright.feedback.bandit import ListBandit
from listwright.feedback.explore import Exploration, Own
from listwright.learners import Exp3, Experts, Learner, PerPosition
from listwright.learners.experts import n_items_of
from listwright.policies import Policy, Sequence
from listwright.problems import Problems


class RankedBandits(ListBandit):
    """An Exp3 over the catalogue for every slot, each learning what its own item added (Radlinski et al. 2008).

    Slots draw among the items that no slot before has taken, so that each learns from what it shows. Contexts and
    features are not looked at: the baseline that learning one policy from all slots is compared with.

    Parameters
    ----------
    length, cascade, short_lists, memory, random_state
        As in `OnlineSCP`.

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

    def __init__(
        self,
        length: int = 5,
        *,
        cascade: bool = False,
        short_lists: bool = False,
        memory: int = 100_000,
        random_state: RandomState = None,
    ) -> None:
        self.length = length
        self.cascade = cascade
        self.short_lists = short_lists
        self.memory = memory
        self.random_state = random_state

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
    """`PerPosition` with all its bandits there from the start: a slot that nobody has looked at yet explores."""

    def open(self, length: int, n_items: int) -> None:
        """A fresh learner for every slot."""
        self.learners_ = [clone(self.learner) for _ in range(length)]
        self.taught_ = [True] * length
        for learner in self.learners_:
            assert isinstance(learner, Experts)
            learner.start(n_items)

    def policy(self) -> Policy:
        """The sequence of the slots' policies."""
        return Sequence(tuple(learner.policy() for learner in self.learners_))
