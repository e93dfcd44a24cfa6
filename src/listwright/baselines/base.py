"""What all baselines share: fit, predict, score and save, and lists from one score per row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self, Unpack

import numpy as np
from narwhals.typing import IntoFrame
from numpy.typing import ArrayLike

from listwright._internal.arrays import Bools, Floats, Ints, at_least_one
from listwright._internal.parameters import check_fitted
from listwright._internal.quotas import PerGroup
from listwright._kernels.losses import fill, sort_within
from listwright._kernels.rows import best_rows
from listwright.errors import InputError
from listwright.frames.columns import FrameKeywords, with_column_options
from listwright.lists import Lists
from listwright.predictor import Predictor, check_reward_named
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.training.signature import Signature, try_predicting
from listwright.walk.constraints import Constraints, as_budgets, as_constrained, check_length, check_problems

Score = Callable[[], tuple[Floats, Bools]]  # one score per row, and which rows may be taken at all
Add = Callable[[Ints], None]  # called with the picks: one row per problem, -1 for none


class Baseline(Predictor):
    """Base class of the baselines, with scikit-learn's interface.

    Subclasses implement `_lists`, and `_learn` where there is something to learn; `_learns` says whether `fit` needs a
    reward. Checks of limits, frames and signatures are done here, so that all baselines refuse the same mistakes.

    Parameters
    ----------
    length : int
        Number of items of a list.
    budget : float, optional
        Total size of a list, which takes the place of length. Items that do not fit are skipped.
    per_group : int, tuple, dict, list or None
        How many items of a group a list holds: see `Problems.with_constraints`.
    """

    learns_budget: ClassVar[bool] = False  # whether what is learned depends on the budget
    needs_reward: ClassVar[bool] = False  # whether lists are built with the reward in sight
    not_saved: ClassVar[tuple[str, ...]] = ("training_problems_",)

    def __init__(self, length: int = 5, *, budget: float | None = None, per_group: PerGroup = None) -> None:
        self.length = length
        self.budget = budget
        self.per_group = per_group

    @with_column_options
    def fit(
        self, problems: Problems | IntoFrame, y: None = None, *, reward: Any = None, **columns: Unpack[FrameKeywords]
    ) -> Self:
        """Learn what there is to learn from the problems; a method that learns needs their reward."""
        if y is not None:
            raise InputError("fit takes no y: the value of lists is given by the problems' reward. Leave y out.")
        problems, read_as = self._from_frame(problems, reward, dict(columns), measured=False)
        check_problems(problems)
        seen = as_constrained(self._view(problems), None, self.per_group)
        self._check_limits(seen)
        self._check_parameters(seen)
        if self._learns(seen):
            if read_as:
                check_reward_named(reward)
            reward_of(seen)
            self._learn(seen)
            self.training_problems_ = problems
        self.signature_ = Signature.of(seen)
        self.n_features_in_ = problems.n_features
        self._remember(read_as)
        return self

    def predict(
        self,
        problems: Problems | IntoFrame,
        *,
        length: int | None = None,
        budget: ArrayLike | None = None,
        allow_short: bool | None = None,
        per_group: PerGroup = None,
        new_levels: str | None = None,
    ) -> Lists:
        """Return lists for problems whose reward need not be known."""
        if not hasattr(self, "signature_"):  # scikit-learn's own check takes longer than a short list
            check_fitted(self)
        problems = self._as_problems(problems, measured=self.needs_reward, new_levels=new_levels)
        check_problems(problems)
        seen = as_constrained(self._view(problems), per_group, self.per_group)
        self.signature_.check(seen, "predict")
        length, budget = self._limits(length, budget)
        return self._lists(seen, n_steps(seen, length, allow_short=bool(allow_short)), as_budgets(budget, seen))

    @property
    def unsavable(self) -> str:
        """Why a file cannot hold the model; "" where it can."""
        return ""

    def check_loaded(self, own: Iterable[Any], parts: Iterable[Any]) -> None:
        """Build a list of a made-up problem, so that a damaged file is found when it is loaded."""
        try_predicting(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "signature_")

    def __getstate__(self) -> dict[str, Any]:
        """Leaves the training problems, which `certify_best` refuses, out of copies for other processes and files."""
        return {name: value for name, value in super().__getstate__().items() if name not in self.not_saved}

    def _check_limits(self, problems: Problems) -> None:
        if self.budget is None:
            at_least_one("length", self.length)
        elif np.ndim(self.budget):
            raise InputError("The budget for training must be one number. Pass budgets per problem to predict.")
        as_budgets(self.budget, problems)

    @abstractmethod
    def _lists(self, problems: Problems, steps: int, budgets: Floats | None) -> Lists:
        """Build lists of at most `steps` items, within `budgets` where they are not None."""

    def _learns(self, problems: Problems) -> bool:
        return True

    def _learn(self, problems: Problems) -> None:
        """Set the attributes that are learned; called only if `_learns`."""

    def _check_parameters(self, problems: Problems) -> None:
        """Raise `InputError` for parameters that are invalid or do not suit the problems."""

    def _view(self, problems: Problems) -> Problems:
        """Return the problems as the method sees them, such as with a catalogue filled in."""
        return problems


def lists_by_score(problems: Problems, scores: Floats, steps: int, budgets: Floats | None) -> Lists:
    constraints = Constraints(problems, budgets, steps)
    if constraints.stepwise:
        every = np.ones(problems.n_rows, dtype=bool)
        return stepwise_lists(problems, steps, budgets, lambda: (scores, every), lambda picks: None)
    order = sort_within(-np.asarray(scores, dtype=np.float64), problems.offsets)
    rows = fill(order, problems.offsets, constraints.limits(), steps)
    return as_lists(problems, rows, np.where(rows >= 0, scores[rows], 0.0))


def as_lists(problems: Problems, rows: Ints, scores: Floats) -> Lists:
    """Wrap picked rows, shape (problems, steps), -1 for none, as `Lists`, without columns that no list reaches."""
    used = rows.shape[1] if rows[:, -1].max() >= 0 else max(1, int((rows >= 0).sum(axis=1).max()))
    return Lists(problems.without_reward(), rows[:, :used], picked_scores=scores[:, :used])


def n_steps(problems: Problems, length: int | None, *, allow_short: bool) -> int:
    """Return how many positions there are at most: the length, or all candidates if only a budget limits lists."""
    if length is None:
        return int(problems.counts.max())
    check_length(length, problems, allow_short=allow_short)
    return min(length, int(problems.counts.max()))


def stepwise_lists(problems: Problems, steps: int, budgets: Floats | None, score: Score, add: Add) -> Lists:
    left, untaken = Constraints(problems, budgets, steps), np.ones(problems.n_rows, dtype=bool)
    rows, scores = [], []
    for _ in range(steps):
        values, allowed = score()
        picks = best_rows(values, untaken & allowed & left.fits(), problems.offsets)
        some = picks >= 0
        if not some.any():
            break
        untaken[picks[some]] = False
        left.take(picks)
        add(picks)
        rows.append(picks)
        scores.append(np.where(some, values[picks], 0.0))
    if not rows:
        return as_lists(problems, np.full((len(problems), 1), -1), np.zeros((len(problems), 1)))
    return as_lists(problems, np.stack(rows, axis=1), np.stack(scores, axis=1))
