"""Lists by a fitted model: a walk with the learned policy, which cannot reach a reward."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike

from listwright._internal.arrays import RandomState, as_generator
from listwright._internal.parameters import check_fitted, clone
from listwright.engines import as_engine
from listwright.engines.streamed import StreamedLists, streamed_lists
from listwright.engines.tasks import mean_worth_of_all
from listwright.evaluation.values import list_values
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.reasons.explain import Explainer
from listwright.rewards import reward_of
from listwright.tables import Scan
from listwright.tables.frames_in import TakesFrames
from listwright.training.signature import Signature
from listwright.walk.limits import as_capped, as_limits, as_room, check_length
from listwright.walk.plain import build_lists

UNUSED = np.random.default_rng(0)  # for policies that draw nothing: making one takes longer than a short list


class Predicts(TakesFrames):
    """Mixin with `predict` and `score` of an estimator that has learned a policy."""

    length: int
    budget: float | None
    per_group: int | Mapping[Any, int] | None
    repeats: bool
    allow_short: bool
    random_state: RandomState
    engine: Any
    policy_: Any  # listwright.policies.Policy
    signature_: Signature
    training_: Any  # the run, listwright.training.round.Training

    @overload
    def predict(
        self,
        problems: Problems,
        *,
        length: int | None = None,
        budget: ArrayLike | None = None,
        allow_short: bool | None = None,
        per_group: int | Mapping[Any, int] | None = None,
    ) -> Lists: ...

    @overload
    def predict(
        self,
        problems: Scan,
        *,
        length: int | None = None,
        budget: ArrayLike | None = None,
        allow_short: bool | None = None,
        per_group: int | Mapping[Any, int] | None = None,
    ) -> StreamedLists: ...

    def predict(
        self,
        problems: Problems | Scan,
        *,
        length: int | None = None,
        budget: ArrayLike | None = None,
        allow_short: bool | None = None,
        per_group: int | Mapping[Any, int] | None = None,
    ) -> Lists | StreamedLists:
        """Build lists for problems whose reward need not be known; lists of a scan are built lazily, part by part."""
        if not hasattr(self, "training_"):  # scikit-learn's own check takes longer than a short list
            check_fitted(self)
        if not isinstance(problems, Problems | Scan):
            problems = self._as_problems(problems)
        length, budget = as_limits(length, budget, self.length, self.budget)
        short = self.allow_short if allow_short is None else allow_short
        if isinstance(problems, Scan):
            lists_of = partial(
                self._slim()._lists, length=length, budget=budget, allow_short=short, per_group=per_group
            )
            seed = int(as_generator(self.random_state).integers(2**62))
            return streamed_lists(problems, as_engine(self.engine), lists_of, seed)
        rng = UNUSED if self.policy_.certain else as_generator(self.random_state)
        return self._lists(problems, rng, length=length, budget=budget, allow_short=short, per_group=per_group)

    def _slim(self) -> Self:
        """Return a copy with only what workers need to build lists: no learner state, and the local engine."""
        twin = copy.copy(self)
        twin.training_, twin.engine = replace(self.training_, learner=clone(self.training_.learner)), "local"
        return twin

    def _lists(
        self,
        problems: Problems,
        rng: np.random.Generator,
        *,
        length: int | None,
        budget: ArrayLike | None,
        allow_short: bool,
        per_group: int | Mapping[Any, int] | None = None,
    ) -> Lists:
        """Build the lists of problems in memory: checks the signature, draw a policy per problem (mixtures),
        and walks.
        """
        self.signature_.check(problems, "predict")
        problems = as_capped(problems, per_group, self.per_group)
        steps = self._steps(problems, length, allow_short)
        room, features = as_room(budget, problems), self.training_.features
        policy = self.policy_.drawn(len(problems), rng)
        lists = build_lists(
            problems.without_reward(), features, policy, length=steps, rng=rng, room=room, repeats=self.repeats
        )
        return replace(lists, explainer=Explainer(features, policy, self.repeats, room))

    def score(self, problems: Problems | Scan, y: None = None) -> float:
        """Return the mean value of the lists that `predict` builds, under the problems' reward."""
        problems = self._as_problems(problems, measured=True)
        if isinstance(problems, Scan):
            return mean_worth_of_all(as_engine(self.engine), problems, self._slim().score)
        reward_of(problems, "score")
        return float(list_values(self.predict(problems), problems).mean())

    def _steps(self, problems: Problems, length: int | None, allow_short: bool) -> int | None:
        """Return the number of positions to fill, None where only a budget limits lists."""
        if length is None:
            return None
        check_length(length, problems, allow_short=allow_short or self.repeats)
        return length
