"""The interface of all learners: a no-regret update on cost-sensitive examples (the paper's Update)."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from listwright._internal.parameters import Parameters, clone
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.learners.examples import Examples
from listwright.policies import Policy, Uniform

LEARNS_NO_MORE = (
    "This model was saved with slim=True, or would have made a large file: it cannot learn on. Save it with "
    "slim=False, or fit again."
)


class Learner(Parameters, ABC):
    """Abstract base: `learn` takes the examples of one position of one batch; `policy` ends the round.

    Subclass it to plug a learning rule of your own into `SCP`. Only `learn` and `policy` are required. To train on
    streamed or parallel parts, add `fork` and `join`; to appear in regret certificates, add `surrogate_loss` and
    `best_surrogate_loss`. A learner is cloned before it learns, so that the object that a user passes is never changed.

    Attributes
    ----------
    surrogate : str
        Name of the convex loss that replaces the cost; "" where the cost itself is learned from.
    keeps_rows : bool
        Whether all rows learned from are kept, so that memory grows with the data.

    See Also
    --------
    listwright.learners.as_learner : Makes a learner from a name or an estimator.
    listwright.learners.RidgeFTRL : The default.

    Notes
    -----
    By the paper's Theorems 1 (items) and 2 (policies) the regret R on the weighted costs bounds what the lists are
    worth: with probability at least 1 - delta,

        F(policy, m) >= (1 - exp(-m/k)) F(best list of k) - R/T - 2 sqrt(2 ln(1/delta) / T).

    Any learner whose regret grows slower than T therefore yields near-optimal lists.

    Examples
    --------
    One vote per column, up if gains rise with it and down if they fall; `checks.check_learner` tests it:

    >>> import listwright as lw
    >>> from listwright.learners.examples import center_by_state
    >>> class Signs(Learner):
    ...     def learn(self, examples):
    ...         rows, offsets = examples.used_rows  # of states in which something can be gained
    ...         if len(rows):
    ...             gains = center_by_state(examples.gains[rows], offsets)
    ...             self.votes_ = getattr(self, "votes_", 0.0) + examples.weight * gains @ examples.rows.table[rows]
    ...
    ...     def policy(self):
    ...         return lw.policies.Linear(np.sign(self.votes_))
    >>> lw.checks.check_learner(Signs())
    """

    surrogate = "squared"  # the convex loss that stands for the cost, "" where the cost itself is learned
    keeps_rows = False  # whether it keeps all rows that it learns from, so that its memory grows with them

    @abstractmethod
    def learn(self, examples: Examples) -> None:
        """Take in the examples of one position of the current round."""

    @abstractmethod
    def policy(self) -> Policy:
        """End the round: the policy after all examples so far."""

    def after_restore(self) -> None:
        """Called after a saved state was put into the attributes; there is nothing to do by default."""

    def fork(self) -> Self:
        """Return a twin without examples that learns part of a round under the policy in use; see `join`.

        Raises
        ------
        InputError
            If the learner needs all problems in memory, which is the default.
        """
        raise InputError(f"{type(self).__name__} learns from problems in memory. Read them, or take another learner.")

    def join(self, part: Self) -> None:
        """Take in what a fork has learned; parts are joined in a fixed order, whatever the number of threads."""
        raise NotImplementedError(f"{type(self).__name__} forks but does not join.")

    def first_policy(self) -> Policy:
        """Return the policy before any example: `Uniform`, unless a subclass has a better one."""
        return Uniform()

    def batch_size(self, n_states: int, n_rows: int) -> int:
        """States between two updates where the user leaves that open.

        Parameters
        ----------
        n_states : int
            Training problems in one pass.
        n_rows : int
            Their candidates in all.

        Returns
        -------
        int
            At least 1; by default a quarter of the states, that is four updates per pass.
        """
        return max(1, n_states // 4)

    def surrogate_loss(self) -> float | None:
        """Surrogate loss of the policies that were in use, summed over the rounds; None where it is not counted."""
        return None

    def best_surrogate_loss(self) -> float | None:
        """Return that of the best single policy in hindsight, or a lower bound; None where unknown."""
        return None

    def without_training_state(self) -> Learner:
        """Return the stand-in for this learner in a file without training data: it reports regrets but cannot learn."""
        used, best = self.surrogate_loss(), self.best_surrogate_loss()
        return SlimLearner(self.surrogate, used=used, best=best, words=self.hindsight())

    def try_out(self, examples: Examples) -> None:
        """Let a deep copy learn from `examples`, so that a learner that does not match its features fails at once."""
        copy.deepcopy(self).learn(examples)

    def hindsight(self) -> str:
        """One sentence: the class of the best policy in hindsight, and how its loss is known, or why not."""
        return "There is no surrogate regret: the learner does not count its surrogate loss."


class RowKeeper(Learner):
    """Base of learners that keep all rows, in lists with one entry per call of `learn`."""

    keeps_rows = True
    kept: ClassVar[tuple[str, ...]]  # names of the lists

    def _keep(self, *entries: Any) -> None:
        for name, entry in zip(self.kept, entries, strict=False):
            vars(self).setdefault(name, []).append(entry)

    def fork(self) -> Self:
        return clone(self)

    def join(self, part: Self) -> None:
        if hasattr(part, self.kept[0]):
            for name in self.kept:
                vars(self).setdefault(name, []).extend(getattr(part, name, ()))

    def batch_size(self, n_states: int, n_rows: int) -> int:
        return n_states


@saved_as("learners.SlimLearner")
class SlimLearner(Learner):
    """Stands for a learner whose training data were left out of the file; it keeps what certificates need."""

    def __init__(
        self, surrogate: str, *, used: float | None = None, best: float | None = None, words: str = ""
    ) -> None:
        self.surrogate = surrogate
        self.used = used
        self.best = best
        self.words = words

    def learn(self, examples: Examples) -> NoReturn:
        raise InputError(LEARNS_NO_MORE)

    def policy(self) -> NoReturn:
        raise InputError(LEARNS_NO_MORE)

    def without_training_state(self) -> Learner:
        return self

    def try_out(self, examples: Examples) -> None:
        """Does nothing: there are no sums or rows to check."""

    def surrogate_loss(self) -> float | None:
        return self.used

    def best_surrogate_loss(self) -> float | None:
        return self.best

    def hindsight(self) -> str:
        return self.words


def check_number(name: str, value: Any, *, zero: bool = False) -> None:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or value < 0 or (value == 0 and not zero):
        raise InputError(f"{name} must be a number {'from' if zero else 'above'} 0. Got {value!r}.")
