"""SCP: one policy that builds lists (Algorithm 2 of the paper)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sklearn.base import clone

from listwright._internal.arrays import RandomState
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.estimators.base import ListEstimator
from listwright.estimators.best_effort import best_features, best_learner
from listwright.estimators.tuning import tuned
from listwright.problems import Problems
from listwright.training.sources import Plan, Source

EFFORTS = ("fast", "best")
MOST_PASSES = 3  # of effort="best", whose features hold what more passes would find


@saved_as("SCP")
class SCP(ListEstimator):
    """Learns one policy that builds a list item by item, from problems whose lists can be measured.

    At every position of every list that the current policy builds, the candidates' marginal gains give a cost-sensitive
    example (v, c, w); a no-regret learner on these competes with the best sequence of policies.

    Parameters
    ----------
    length : int
        m, the number of items of a list.
    rival_length : int or None
        k, the length of the lists competed with; the same as length where None.
    budget : float or None
        Total size of a list; takes the place of length. Items that do not fit are skipped.
    learner
        "ridge", "gradient", "hinge_rank", "logistic_rank"; any of `listwright.learners`; or a scikit-learn
        estimator, which is trained on all examples so far.
    features
        What the policy sees: "auto", or any of `listwright.features`, which add up.
    weighting : str
        Of positions: "discounted" (1 - 1/k)^(m - i), "min_sum" (m - i) or "uniform".
    per_size : bool or str
        Learn gains per size; "auto": under a budget.
    n_passes : int
        Passes over the training problems.
    batch_size : int or str
        States between two updates; 1 with n_passes=1 is the paper's online algorithm.
    keep : str
        "last" policy, "best" round by a validation part of the training problems, or "mixture" over rounds: all of
        up to 256 states, and an even sample of more; 16 where policies are fitted estimators, which take memory.
    repeats : bool
        Whether an item may come twice in a list.
    skip_solved : bool or str
        Learn only from states where something is left to gain; elsewhere every choice costs the same.
        "auto": save in the paper's online form, which learns from every state.
    short_lists : bool
        Accept problems with fewer candidates than the length.
    effort : str
        "fast": the linear policy, in milliseconds. "best": a small policy over estimates of what each item still
        brings given the list, from forests, boosting and the fast policy, fitted out of fold; in seconds, and shown on
        the terminal as it goes.
    tune : bool
        Let `fit` choose features and penalty, where these are left at their defaults, by the value of lists in
        cross-validation on the training problems; `trials_` says what was tried.
    engine
        Where scans are learned from: "local" (threads), "ray", or one of `listwright.engines`.
    random_state : int, numpy.random.Generator or None
        Seed or numpy Generator.

    Examples
    --------
    >>> import numpy as np
    >>> import listwright as lw
    >>> rng = np.random.default_rng(0)
    >>> kind, quality = rng.integers(3, size=(200, 12)), rng.random((200, 12))
    >>> wanted = rng.integers(3, size=(200, 1))
    >>> features = np.concatenate([np.eye(3)[kind], quality[..., None]], axis=2)
    >>> reward = lw.rewards.AnySuccess((kind == wanted) & (quality > 0.5))
    >>> problems = lw.Problems.from_arrays(features, reward=reward)
    >>> model = lw.SCP(length=3, random_state=0).fit(problems[:150])
    >>> model.predict(problems[150:])
    Lists: 50 lists of 3 items
    >>> round(model.score(problems[150:]), 2)
    0.92
    """

    def __init__(
        self,
        length: int = 5,
        *,
        rival_length: int | None = None,
        budget: float | None = None,
        learner: Any = "ridge",
        features: Any = "auto",
        weighting: str = "discounted",
        per_size: bool | str = "auto",
        n_passes: int = 10,
        batch_size: int | str = "auto",
        keep: str = "last",
        repeats: bool = False,
        skip_solved: bool | str = "auto",
        short_lists: bool = False,
        effort: str = "fast",
        tune: bool = False,
        engine: Any = "local",
        random_state: RandomState = None,
    ) -> None:
        self.length = length
        self.rival_length = rival_length
        self.budget = budget
        self.learner = learner
        self.features = features
        self.weighting = weighting
        self.per_size = per_size
        self.n_passes = n_passes
        self.batch_size = batch_size
        self.keep = keep
        self.repeats = repeats
        self.skip_solved = skip_solved
        self.short_lists = short_lists
        self.effort = effort
        self.tune = tune
        self.engine = engine
        self.random_state = random_state

    def _plan(self, source: Source) -> Plan:
        """`tune` chooses features and learner first; `effort="best"` then builds on what was chosen."""
        chosen: ListEstimator = self
        about: dict[str, Any] = {}
        if self.tune:
            chosen, about["trials_"] = tuned(self._fast(), _in_memory(source))
        if self.effort == "fast":
            return replace(ListEstimator._plan(chosen, source), about=about)
        fast = self._fast().set_params(keep="last", features=chosen.features, learner=chosen.learner)
        n_passes = min(self.n_passes, MOST_PASSES)
        return Plan(best_features(source.example, fast), best_learner(source.example), n_passes, about)

    def _peeked(self) -> Iterator[str]:
        if self.tune:
            yield "tune=True chose features and penalty on the same states"
        if self.effort != "fast":
            yield f'effort="{self.effort}" fitted its estimates on the same states'
        yield from super()._peeked()

    def _fast(self) -> SCP:
        """The plain linear policy with these settings, to be fitted here."""
        return clone(self).set_params(effort="fast", tune=False, engine="local")

    def check(self, problems: Problems) -> None:
        """Refuses settings and problems that cannot be learned from, as `fit` does before it starts."""
        super().check(problems)
        if self.effort not in EFFORTS:
            raise InputError(f"effort must be one of {', '.join(EFFORTS)}. Got {self.effort!r}.")


def _in_memory(source: Source) -> Problems:
    if source.whole is None:
        raise InputError("tune=True learns from problems in memory. Pass scan.sample(), and fit what it chooses.")
    return source.whole
