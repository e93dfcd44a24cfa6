"""`SCP`, Submodular Contextual Policy: one policy that builds lists (Algorithm 2 of the paper)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from listwright._internal.arrays import RandomState
from listwright._internal.parameters import clone
from listwright._internal.quotas import PerGroup
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.estimators.base import ListEstimator
from listwright.estimators.candidates import CandidateMethod
from listwright.estimators.search import (
    FEW,
    SURE,
    auto_methods,
    choose,
    divide_by_sizes,
    items_recur,
    linear_methods,
    time_to_try,
)
from listwright.estimators.stacking import Scores
from listwright.predictor import UnsetAttribute
from listwright.problems import Problems
from listwright.training.loop import FitPlan, ProblemSource
from listwright.training.sources import InMemory

EFFORTS = ("auto", "fast")
UNCHOSEN = (
    'fit did not choose between methods (effort="{model.effort}"). effort="auto" chooses where it can: on problems in '
    "memory, and with features, learner and batch_size left open. tune=True chooses too."
)


@saved_as("SCP")
class SCP(ListEstimator):
    """Learns one policy that builds a list item by item, from problems whose lists can be measured.

    Use it if lists are measured as a whole and items overlap in what they add to a list. If the values of items simply
    add up, predicting gains and sorting (`baselines.TopK`) is as good and simpler. If the reward is known for new
    problems too, use `greedy`; if only the outcomes of shown lists are known, use `OnlineSCP`.

    At every position of every list that the current policy builds, the candidates' marginal gains give a cost-sensitive
    example (v, c, w); a no-regret learner on these examples competes with the best sequence of policies.

    Parameters
    ----------
    length : int, default 5
        m, the number of items of a list.
    comparator_length : int, optional
        k, the length of the lists that the guarantee compares with; `length` by default.
    budget : float, optional
        Total size of a list, instead of a length. Items that do not fit are skipped.
    per_group : int, tuple, dict or list, optional
        Largest number of items of one group (source, author, section) in a list, or (least, most): for all groups, or
        by label, as in `Problems.with_constraints`. Groups are part of problems: `Problems.from_arrays(groups=...)`.
    learner : str, Learner or estimator, default "auto"
        "auto" (ridge, unless `effort` chooses another), "ridge", "softmax", "hinge", "gradient" or
        "hinge_rank"; an object of `listwright.learners`; or a scikit-learn estimator, which is retrained on all
        examples so far.
    features : "auto" or Features, default "auto"
        What the policy sees. Objects of `listwright.features` can be combined with `+`.
    weighting : {"discounted", "min_sum", "uniform"}, default "discounted"
        Weights of the positions i: (1 - 1/k)^(m - i), which the guarantee requires; m - i, which suits all lengths at
        once; or 1.
    per_size : bool or "auto", default "auto"
        Whether to learn gains per unit of size. "auto" does so under a budget, unless plain gains give clearly better
        lists out of fold; `per_size_` says which.
    n_passes : int, default 10
        Number of passes over the training problems.
    batch_size : int or "auto", default "auto"
        Number of states between two updates. 1 with `n_passes=1` is the paper's online algorithm.
    keep : {"last", "best", "mixture"}, default "last"
        Which policy to keep: the last one, the best one on a validation part of the training problems, or a uniform
        mixture over the rounds. The mixture keeps up to 256 policies (16 if they are fitted estimators, which need more
        memory), and a uniform sample of more.
    repeats : bool, default False
        Whether a list may contain an item more than once.
    skip_saturated : bool or "auto", default "auto"
        Whether to learn only from states in which something is left to gain; in the others every choice costs the same.
        "auto" is True except in the paper's online form, which learns from every state.
    allow_short : bool, default False
        Whether to accept problems with fewer candidates than `length`.
    effort : {"auto", "fast"}, default "auto"
        "fast" trains the paper's linear policy, in under a second. "auto" cross-validates several methods, from the
        static list and sorting by one column over linear policies to trees and to sums of several, and keeps the first
        one that is not behind the best by more than one standard error (two, where items recur), at the length asked
        for and over all lengths up to it; `report_` says what was chosen and what its lists are worth, and `trials_`
        lists what was tried. With fewer than 30 problems it tries the linear policy and sorting by trees, and takes the
        latter only if it is ahead by more than two standard errors.
        "auto" only chooses what is left open: it equals "fast" if `features`, `learner` or `batch_size` is set, with
        `repeats`, with fewer than 5 problems, with fewer than 30 where items recur, with an `engine` of several
        workers, for problems that are read in parts, and in `partial_fit`.
    time_limit : float, optional
        With `effort="auto"`: about how many seconds to spend on trying methods. Methods that would take longer are left
        out, and `report_` names them; the quickest is always tried, and `report_` says if that took longer. With a
        limit, the model may depend on the speed of the machine. By default the limit is ten times what the linear
        policy takes, at least 20 seconds, and enough for the method that is preferred; this time is estimated from the
        size of the problems and not measured, so that the same seed gives the same model on every machine.
    tune : bool, default False
        With `effort="fast"`: choose the features of the linear policy by cross-validation or, if features are set, its
        penalty. "auto" does that anyway.
    engine : {"local", "ray"} or Engine, default "local"
        Where scans are processed: on the threads of this machine or on a Ray cluster.
    random_state : int, numpy.random.Generator or None, default None
        Seed or generator of the random numbers.
    verbose : int, default 0
        1 prints the progress of each round to standard error, and at the end the value of lists on held-out problems
        compared with other methods.

    Attributes
    ----------
    policy_ : Policy
        The learned policy.
    report_ : Report
        With `effort="auto"` or `tune=True`: the method that was chosen, and what its lists are worth, or why nothing
        was compared.
    trials_ : list of Trial
        With `effort="auto"` or `tune=True`: the result of each method that was tried.
    weights_ : Table
        Weights of a linear policy.
    history_ : Table
        One row per round of training.
    measured_ : Measurement
        Value of lists on problems that were not learned from, compared with other ways to build them.

    See Also
    --------
    ConSeqOpt : One policy per position.
    ContextFreeSCP : One distribution over a catalogue.
    OnlineSCP : Learns from clicks on the lists that were shown.
    listwright.baselines.TopK : Sorts, without looking at the list.

    Notes
    -----
    For a monotone submodular reward, the policy's lists of length m are worth at least a factor of 1 - exp(-m/k) of the
    best list of length k over sequences of policies, minus the learner's average regret.

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

    report_: Any = UnsetAttribute(UNCHOSEN)
    trials_: Any = UnsetAttribute(UNCHOSEN)

    def __init__(
        self,
        length: int = 5,
        *,
        comparator_length: int | None = None,
        budget: float | None = None,
        per_group: PerGroup = None,
        learner: Any = "auto",
        features: Any = "auto",
        weighting: str = "discounted",
        per_size: bool | str = "auto",
        n_passes: int = 10,
        batch_size: int | str = "auto",
        keep: str = "last",
        repeats: bool = False,
        skip_saturated: bool | str = "auto",
        allow_short: bool = False,
        effort: str = "auto",
        time_limit: float | None = None,
        tune: bool = False,
        engine: Any = "local",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.length = length
        self.comparator_length = comparator_length
        self.budget = budget
        self.per_group = per_group
        self.learner = learner
        self.features = features
        self.weighting = weighting
        self.per_size = per_size
        self.n_passes = n_passes
        self.batch_size = batch_size
        self.keep = keep
        self.repeats = repeats
        self.skip_saturated = skip_saturated
        self.allow_short = allow_short
        self.effort = effort
        self.time_limit = time_limit
        self.tune = tune
        self.engine = engine
        self.random_state = random_state
        self.verbose = verbose

    def _plan(self, source: ProblemSource, *, in_parts: bool = False) -> FitPlan:
        if self.tune and source.whole is None:
            raise InputError("tune=True learns from problems in memory. Pass scan.sample(), and fit what it chooses.")
        tuned = self.tune and self.effort == "fast"
        if not isinstance(source, InMemory) or source.whole is None or (in_parts and not tuned):
            return super()._plan(source)
        problems, began = source.whole, time.monotonic()
        about: dict[str, Any] = {}
        plain = clone(self).set_params(effort="fast", tune=False, engine="local", verbose=0)
        if self.budget is not None and self.per_size == "auto" and len(problems) >= FEW:
            about["per_size_"] = divide_by_sizes(problems, plain)
            plain.set_params(per_size=about["per_size_"])
        if tuned:
            return self._choose_plan(linear_methods(problems, plain), problems, None, about)
        if self.effort == "fast" or self.batch_size != "auto" or self.repeats:
            return replace(super()._plan(source), about=about)
        methods = auto_methods(problems, plain)
        if self.time_limit is None:
            return self._choose_plan(methods, problems, time_to_try(problems, plain), about)
        return self._choose_plan(methods, problems, self.time_limit, about, began + self.time_limit)

    def _choose_plan(
        self,
        methods: Sequence[CandidateMethod],
        problems: Problems,
        limit: float | None,
        about: dict[str, Any],
        deadline: float = np.inf,
    ) -> FitPlan:
        errors = SURE if limit is not None and (items_recur(problems) or len(problems) < FEW) else 1.0
        method, trials, report = choose(methods, problems, time_limit=limit, deadline=deadline, errors=errors)
        about = about | {"trials_": trials, "report_": report}
        if report.measured is not None:
            about["measurement_"] = report.measured
        return replace(method.plan(problems), about=about)

    def _breaches(self) -> Iterator[str]:
        if getattr(self, "trials_", None):
            chooser = "tune=True" if self.tune and self.effort != "auto" else f'effort="{self.effort}"'
            yield f"{chooser} chose features and learner on the same states"
        if isinstance(getattr(self.training_, "features", None), Scores):
            yield f'effort="{self.effort}" fitted its estimates on the same states'
        yield from super()._breaches()

    def check(self, problems: Problems) -> None:
        super().check(problems)
        if self.effort not in EFFORTS:
            way = ' What "best" did is part of "auto".' if self.effort == "best" else ""
            raise InputError(f"effort must be one of {', '.join(EFFORTS)}. Got {self.effort!r}.{way}")
        if self.time_limit is not None and not (isinstance(self.time_limit, int | float) and self.time_limit > 0):
            raise InputError(f"time_limit must be a number of seconds above 0, or None. Got {self.time_limit!r}.")
