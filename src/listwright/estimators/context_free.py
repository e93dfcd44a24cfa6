"""`ContextFreeSCP`: lists drawn from one distribution over a catalogue (Algorithm 1 of the paper)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self, Unpack

import numpy as np
from narwhals.typing import IntoFrame
from numpy.typing import ArrayLike

from listwright._internal.arrays import Floats, Ints, RandomState
from listwright._internal.parameters import check_fitted
from listwright._internal.quotas import PerGroup
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.estimators.base import ListEstimator
from listwright.evaluation.values import list_values
from listwright.features import Identity
from listwright.frames.columns import FrameKeywords, with_column_options
from listwright.learners import Experts
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.tables import Scan
from listwright.training.loop import Checkpoints, FitPlan, ProblemSource
from listwright.training.signature import rows_of_items, with_catalogue
from listwright.walk.constraints import Constraints, as_budgets, check_problems

TRIED = 32  # lists drawn from what was learned, of which the best on the training problems is kept


@saved_as("ContextFreeSCP")
class ContextFreeSCP(ListEstimator):
    """Learns one distribution over a catalogue, such that lists drawn from it compete with the best fixed list.

    Use it where nothing is known of a problem except which items there are, or to study the paper's theory. With
    features or a context, `SCP` can do better; for the best fixed list without the online theory,
    `baselines.StaticList` is simpler.

    Problems need a catalogue; without one, equally long problems are taken to list the same items in the same order.
    Lists are drawn with replacement, as in the theory; `predict(best_list=True)` gives the best fixed list found.

    Parameters
    ----------
    length : int
        m, the number of draws of a list.
    comparator_length : int or None
        k, the length of the lists competed with; the same as length where None.
    learner : str or learner
        "majority", "leader", "perturbed_leader", "exp3", or a learner over items.
    weighting, n_passes, batch_size, keep, random_state, verbose
        As in `SCP`; one pass, state by state, is the paper's.

    Attributes
    ----------
    probabilities_ : array of shape (items,)
        The learned distribution.
    best_list_ : array of int
        Items of the best fixed list found.

    See Also
    --------
    SCP : Sees the features of candidates and of the list.
    listwright.baselines.StaticList : The greedy list on the mean reward.

    Examples
    --------
    >>> import listwright as lw
    >>> success = np.random.default_rng(0).random((500, 4)) < [0.1, 0.8, 0.1, 0.2]
    >>> problems = lw.Problems.from_arrays(np.zeros((500, 4, 1)), reward=lw.rewards.AnySuccess(success))
    >>> model = ContextFreeSCP(length=2, random_state=0).fit(problems)
    >>> int(model.probabilities_.argmax()), model.best_list_[:1]
    (1, array([1]))
    """

    budget = None
    features = "auto"
    per_size = False
    repeats = True
    skip_saturated = False
    allow_short = False

    def __init__(
        self,
        length: int = 5,
        *,
        comparator_length: int | None = None,
        learner: Any = "majority",
        weighting: str = "discounted",
        n_passes: int = 1,
        batch_size: int | str = 1,
        keep: str = "last",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.length = length
        self.comparator_length = comparator_length
        self.learner = learner
        self.weighting = weighting
        self.n_passes = n_passes
        self.batch_size = batch_size
        self.keep = keep
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, problems: Problems | Scan, checkpoints: Checkpoints, validation: Problems | None = None) -> Self:
        problems = with_catalogue(problems)
        super()._fit(problems, checkpoints, None if validation is None else with_catalogue(validation))
        self.best_list_ = self._best_list(problems)
        return self

    def _warn(self, problems: Problems) -> None:
        """Features are not looked at, so they cannot mislead."""

    @with_column_options
    def partial_fit(
        self, problems: Problems | Scan | IntoFrame, *, reward: Any = None, **columns: Unpack[FrameKeywords]
    ) -> Self:
        """Learn from more problems with the same catalogue, in one pass, and look for the best fixed list on these."""
        problems = with_catalogue(self._more_problems(problems, reward, dict(columns)))
        super().partial_fit(problems)
        self.best_list_ = self._best_list(problems)
        return self

    def predict(  # type: ignore[override]
        self,
        problems: Problems | IntoFrame,
        *,
        length: int | None = None,
        budget: ArrayLike | None = None,
        allow_short: bool | None = None,
        per_group: PerGroup = None,
        new_levels: str | None = None,
        best_list: bool = False,
    ) -> Lists:
        """Draw lists from the learned distribution, or repeat the best fixed list for every problem.

        Parameters
        ----------
        problems : Problems or a frame
            With the catalogue that was learned from.
        length, budget, allow_short, per_group, new_levels
            As in `SCP.predict`.
        best_list : bool
            Return the best fixed list found instead of draws; items that a problem does not offer are skipped.

        Returns
        -------
        Lists
            One list per problem.
        """
        problems = self._as_problems(problems, new_levels=new_levels)
        check_problems(problems)
        problems = with_catalogue(problems).with_constraints(per_group=per_group)
        if not best_list:
            return super().predict(problems, length=length, budget=budget, allow_short=allow_short)
        check_fitted(self)
        self.signature_.check(problems, "predict")
        steps = self._steps(problems, self.length if length is None and budget is None else length, True)
        rows = rows_of_items(problems, self.best_list_[:steps])
        return Lists(problems.without_reward(), _that_fit(problems, rows, as_budgets(budget, problems)))

    @property
    def probabilities_(self) -> Floats:
        """The learned distribution over the catalogue; of a mixture, that of the last round."""
        kept: Any = self.policy_ if hasattr(self.policy_, "probabilities") else self.training_.policy
        return kept.probabilities

    def _plan(self, source: ProblemSource, *, in_parts: bool = False) -> FitPlan:
        plan = super()._plan(source)
        if not isinstance(plan.learner, Experts) or plan.learner.policies is not None:
            raise InputError(f"A context-free learner is one over items, such as majority. Got {self.learner!r}.")
        return replace(plan, features=Identity())

    def _best_list(self, problems: Problems) -> Ints:
        rng, chances = np.random.default_rng(0), self.probabilities_
        drawn = [rng.choice(len(chances), size=self.length, p=chances) for _ in range(TRIED)]
        distinct = (list(dict.fromkeys(items.tolist())) for items in drawn)
        tried = [np.argsort(-chances, kind="stable")[: self.length], *map(np.array, distinct)]
        values = [list_values(Lists(problems, rows_of_items(problems, items)), problems).mean() for items in tried]
        return tried[int(np.argmax(values))]


def _that_fit(problems: Problems, rows: Ints, budgets: Floats | None) -> Ints:
    """Drop the rows that do not fit what is left of the budget, and move the others up in their order."""
    kept, limits = rows.copy(), Constraints(problems, budgets, rows.shape[1])
    for column in kept.T:
        column[~limits.fits()[column]] = -1
        limits.take(column)
    return np.take_along_axis(kept, np.argsort(kept < 0, axis=1, kind="stable"), axis=1)
