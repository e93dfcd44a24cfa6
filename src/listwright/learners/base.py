"""A learner: a no-regret update on cost-sensitive examples (the paper's Update)."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator

from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.learners.examples import Examples
from listwright.policies import Policy, Uniform

LEARNS_NO_MORE = (
    "This model was saved with slim=True, or would have made a large file: it cannot learn on. Save it with "
    "slim=False, or fit again."
)


class Learner(BaseEstimator, ABC):
    """`learn` takes the examples of one position of one batch; `policy` ends the round and gives the next policy.

    A learner is cloned before it learns, so that the object that a user passes is never changed.
    """

    surrogate = "squared"  # the convex loss that stands for the cost, "" where the cost itself is learned
    keeps_rows = False  # whether it keeps all rows that it learns from, so that its memory grows with them

    @abstractmethod
    def learn(self, examples: Examples) -> None:
        """Takes in the examples of one position."""

    @abstractmethod
    def policy(self) -> Policy:
        """The policy after all examples so far."""

    def fork(self) -> Self:
        """A twin without examples, which learns a part of a round under the policy in use: see `join`."""
        raise InputError(f"{type(self).__name__} learns from problems in memory. Read them, or take another learner.")

    def join(self, part: Self) -> None:
        """Takes in what a fork has learned, as if the examples had come here. Parts are joined in a fixed order."""
        raise NotImplementedError(f"{type(self).__name__} forks but does not join.")

    def first_policy(self) -> Policy:
        """The policy before any example."""
        return Uniform()

    def batch_size(self, n_states: int, n_rows: int) -> int:
        """States between two updates, where the user leaves that open: four updates a pass."""
        return max(1, n_states // 4)

    def surrogate_loss(self) -> float | None:
        """Sum over the rounds of the surrogate loss of the policy that was in use, where it is counted."""
        return None

    def best_surrogate_loss(self) -> float | None:
        """The same sum for the best single policy in hindsight, or a lower bound on it, where there is one."""
        return None

    def slimmed(self) -> Learner:
        """What stands for this learner in a file without what only further learning needs."""
        used, best = self.surrogate_loss(), self.best_surrogate_loss()
        return SlimLearner(self.surrogate, used=used, best=best, words=self.hindsight())

    def try_out(self, examples: Examples) -> None:
        """Lets a copy learn, so that a learner from a file that does not fit its features fails at once."""
        copy.deepcopy(self).learn(examples)

    def hindsight(self) -> str:
        """In words: against whom the best in hindsight is meant and how it is known, or why it is not."""
        return "There is no surrogate regret: the learner does not count its surrogate loss."


@saved_as("learners.Spent")
class SlimLearner(Learner):
    """Stands for a learner whose data were left out of the file; it keeps what certificates need.

    Parameters
    ----------
    surrogate : str
        The learner's own.
    used, best : float, optional
        Its surrogate loss, and that of the best policy in hindsight, where they are known.
    words : str
        What the learner says of the latter.
    """

    def __init__(
        self, surrogate: str, *, used: float | None = None, best: float | None = None, words: str = ""
    ) -> None:
        self.surrogate = surrogate
        self.used = used
        self.best = best
        self.words = words

    def learn(self, examples: Examples) -> NoReturn:
        """Always an error."""
        raise InputError(LEARNS_NO_MORE)

    def policy(self) -> NoReturn:
        """Always an error."""
        raise InputError(LEARNS_NO_MORE)

    def slimmed(self) -> Learner:
        """Itself."""
        return self

    def try_out(self, examples: Examples) -> None:
        """There is nothing to try."""

    def surrogate_loss(self) -> float | None:
        """As it was."""
        return self.used

    def best_surrogate_loss(self) -> float | None:
        """As it was."""
        return self.best

    def hindsight(self) -> str:
        """As it was."""
        return self.words


def check_number(name: str, value: Any, *, zero: bool = False) -> None:
    """Refuses what is no finite number above 0, or from 0 where `zero` is allowed.

    Examples
    --------
    >>> check_number("rate", 0.1)
    """
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or value < 0 or (value == 0 and not zero):
        raise InputError(f"{name} must be a number {'from' if zero else 'above'} 0. Got {value!r}.")
