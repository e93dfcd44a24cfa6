"""A learner for each position: the reduction of ConSeqOpt."""

from __future__ import annotations

from sklearn.base import clone

from listwright.examples import Examples
from listwright.learners.base import Learner
from listwright.policies import Policy, Sequence, Uniform


class PerPosition(Learner):
    """Gives the examples of position i to learner i, and walks with the sequence of their policies.

    Parameters
    ----------
    learner : cloned for each position.
    """

    def __init__(self, learner: Learner) -> None:
        self.learner = learner

    @property
    def surrogate(self) -> str:  # type: ignore[override]
        """The learner's own."""
        return self.learner.surrogate

    def learn(self, examples: Examples) -> None:
        """To the position's learner."""
        if not hasattr(self, "learners_"):
            self.learners_: list[Learner] = []
            self.taught_: list[bool] = []
        while len(self.learners_) <= examples.position:
            self.learners_.append(clone(self.learner))
            self.taught_.append(False)
        self.taught_[examples.position] = True
        self.learners_[examples.position].learn(examples)

    def policy(self) -> Policy:
        """The sequence of the positions' policies."""
        pairs = zip(self.learners_, self.taught_, strict=True)
        return Sequence(tuple(learner.policy() if taught else Uniform() for learner, taught in pairs))
