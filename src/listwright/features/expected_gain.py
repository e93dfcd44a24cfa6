"""Expected marginal gain of a candidate given the list, under learned models of outcomes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

from listwright._internal.arrays import Floats32, Ints
from listwright._internal.saved import saved_as
from listwright.features.base import Features
from listwright.features.given_failure import GivenFailure
from listwright.features.outcomes import OutcomeModel
from listwright.features.predicted_topics import PredictedTopics
from listwright.problems import Problems
from listwright.rewards import AnySuccess


@saved_as("features.ExpectedGain")
class ExpectedGain(Features):
    """Expected marginal gain given the list, under models of outcomes: a column for each model and kind of estimate.

    Use it where data are enough to predict outcomes well; the policy then weighs the predictions of several models. It
    costs a cross-fit of every model, keeps all training problems in memory, and cannot be streamed.

    Parameters
    ----------
    models : sequence of str or OutcomeModel
        Names of `listwright.features.outcomes.MODELS`, or outcome models. Candidates seen by their own features can use
        those that scale to many rows: "forest" and "ridge".
    random_state : int
        Seed of the forests.

    Attributes
    ----------
    view_ : GivenFailure or PredictedTopics
        The fitted features that do the work.

    See Also
    --------
    Candidate : The features that predictions are made from.
    ExpectedCoverage : For summaries learned with `Rouge`.

    Notes
    -----
    Where items recur (a catalogue) and one success is enough, the columns are logits of P(item succeeds | state,
    everything in the list failed). Else the amount of each topic that a candidate covers is predicted from its own
    features, and the columns are logarithms of the reward's own gain on the predictions. Training problems are seen
    through models fitted without them. Prediction never sees the reward.

    Examples
    --------
    >>> import numpy as np
    >>> import listwright as lw
    >>> context = np.random.default_rng(0).random((60, 1))
    >>> works = np.concatenate([context < 0.5, context >= 0.5], axis=1)
    >>> problems = lw.Problems.from_arrays(
    ...     np.zeros((60, 2, 0)), context=context, catalogue=[0, 1], reward=lw.rewards.AnySuccess(works)
    ... )
    >>> ExpectedGain(models=["neighbours"]).fit(problems).names()
    ['neighbours success where the list failed']
    """

    group = "expected gain"

    def __init__(
        self,
        models: Sequence[str | OutcomeModel] = ("static", "forest", "neighbours", "ridge", "kernel"),
        *,
        random_state: int = 0,
    ) -> None:
        self.models = models
        self.random_state = random_state

    def fit(self, problems: Problems) -> Self:
        recurs = problems.catalogue is not None and isinstance(problems.reward, AnySuccess)
        kind = GivenFailure if recurs else PredictedTopics
        self.view_: Features = kind(self.models, random_state=self.random_state).fit(problems)
        return self

    def for_training(self, problems: Problems) -> Self:
        twin = copy.copy(self)
        twin.view_ = self.view_.for_training(problems)
        return twin

    def start(self, problems: Problems) -> Any:
        return self.view_.start(problems)

    def columns(self, seen: Any) -> Floats32:
        return self.view_.columns(seen)

    def add(self, seen: Any, picks: Ints) -> Any:
        return self.view_.add(seen, picks)

    def names(self) -> list[str]:
        return self.view_.names()
