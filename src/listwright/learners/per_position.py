"""One learner per list position: the reduction of ConSeqOpt (Dey et al. 2012)."""

from __future__ import annotations

from typing import Self

from listwright._internal.parameters import clone
from listwright._internal.saved import saved_as
from listwright.learners.base import Learner
from listwright.learners.examples import Examples
from listwright.policies import Policy, Sequence, Uniform


@saved_as("learners.PerPosition")
class PerPosition(Learner):
    """Gives the examples of position i to learner i; the policy is the sequence of theirs.

    `ConSeqOpt` uses it. A policy per position can treat each position differently, but each learner sees only its own
    position's examples, where `SCP` learns one policy from the examples of all positions.

    Parameters
    ----------
    learner : Learner
        Cloned for each position.

    Attributes
    ----------
    learners_ : list of Learner
        One per position seen so far.
    taught_ : list of bool
        Whether the position's learner has had examples.

    See Also
    --------
    listwright.features.FirstPosition : Lets one linear policy treat the first position differently.

    Examples
    --------
    >>> from listwright.learners import RidgeFTRL
    >>> PerPosition(RidgeFTRL())
    PerPosition(learner=RidgeFTRL())
    """

    def __init__(self, learner: Learner) -> None:
        self.learner = learner

    @property
    def surrogate(self) -> str:  # type: ignore[override]
        return self.learner.surrogate

    def learn(self, examples: Examples) -> None:
        self._grow(examples.position + 1)
        self.taught_[examples.position] = True
        self.learners_[examples.position].learn(examples)

    def _grow(self, n_positions: int) -> None:
        self.learners_: list[Learner] = getattr(self, "learners_", [])
        self.taught_: list[bool] = getattr(self, "taught_", [])
        self.learners_ += [clone(self.learner) for _ in range(len(self.learners_), n_positions)]
        self.taught_ += [False] * (n_positions - len(self.taught_))

    @property
    def keeps_rows(self) -> bool:  # type: ignore[override]
        return self.learner.keeps_rows

    def fork(self) -> Self:
        twin = clone(self)
        twin.learners_ = [learner.fork() for learner in getattr(self, "learners_", [])]
        twin.taught_ = [False] * len(twin.learners_)
        return twin

    def join(self, part: Self) -> None:
        self._grow(len(part.learners_))
        for position, (learner, taught) in enumerate(zip(part.learners_, part.taught_, strict=True)):
            if taught:
                self.learners_[position].join(learner)
                self.taught_[position] = True

    def policy(self) -> Policy:
        pairs = zip(self.learners_, self.taught_, strict=True)
        return Sequence(tuple(learner.policy() if taught else Uniform() for learner, taught in pairs))

    def try_out(self, examples: Examples) -> None:
        """Does nothing: the positions' learners are checked one by one elsewhere."""

    def surrogate_loss(self) -> float | None:
        return _sum_losses([learner.surrogate_loss() for learner in self._taught()])

    def best_surrogate_loss(self) -> float | None:
        return _sum_losses([learner.best_surrogate_loss() for learner in self._taught()])

    def hindsight(self) -> str:
        words = next((learner.hindsight() for learner in self._taught()), self.learner.hindsight())
        return words if self.surrogate_loss() is None else f"{words} Each position has its own best."

    def _taught(self) -> list[Learner]:
        pairs = zip(getattr(self, "learners_", []), getattr(self, "taught_", []), strict=True)
        return [learner for learner, taught in pairs if taught]


def _sum_losses(losses: list[float | None]) -> float | None:
    known = [loss for loss in losses if loss is not None]
    return sum(known) if known and len(known) == len(losses) else None
