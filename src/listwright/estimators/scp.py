"""`SCP`, Submodular Contextual Policy: one policy that builds lists (Algorithm 2 of the paper).

The class adds the choice of a way to learn (`effort`, `tune`) to `ListEstimator`, which does the learning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from listwright._internal.arrays import RandomState
from listwright._internal.parameters import clone
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.estimators.base import ListEstimator
from listwright.estimators.choosing import choose
from listwright.estimators.menu import best_way, linear_ways, time_to_try, ways_to_try
from listwright.estimators.small_policy import Scores
from listwright.estimators.ways import Way
from listwright.estimators.wide import WIDE
from listwright.problems import Problems
from listwright.training.sources import Plan, Source

EFFORTS = ("auto", "fast", "best")


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
    per_group : int, dict or None
        How many items of a group (source, author, section) a list holds at most: a number, or a dictionary with one
        for each label. The problems say which group an item is of: `Problems.from_arrays(groups=...)`.
    learner
        "auto" (ridge, unless `effort` chooses another), "ridge", "softmax", "gradient", "hinge_rank", "logistic_rank";
        any of `listwright.learners`; or a scikit-learn estimator, which is trained on all examples so far.
    features
        What the policy sees: "auto", or any of `listwright.features`, which add up.
    weighting : str
        Of positions: "discounted" (1 - 1/k)^(m - i); "min_sum" (m - i), which is for all lengths at once; or "uniform".
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
        "auto": except in the paper's online form, which learns from every state.
    short_lists : bool
        Accept problems with fewer candidates than the length.
    effort : {"auto", "fast", "best"}
        "auto": tries several ways to learn, from sorting by one column and linear policies to trees that see the list,
        and takes the simplest whose lists are worth as much as those of the best out of fold, within one standard
        error. `report_` says what was chosen, why, and how far ahead of sorting it is; `trials_` lists what was tried.
        Only what is left open is chosen: with `features`, `learner` or `batch_size` set, with `repeats`, with fewer
        than 30 problems or more than 200 columns, with problems that are read in parts, and in `partial_fit`, it is the
        same as "fast". "fast": the paper's linear policy, in milliseconds. "best": several ways together, each fitted
        out of fold, with a small policy on top; in seconds.
    time_limit : float, optional
        Of `effort="auto"`: about how many seconds trying may take; ways that would take longer are left out, and
        `report_` names them. None: ten times what the linear policy takes, and at least 20 seconds. The time is
        estimated from the size of the problems and not measured, so that the same seed gives the same model on every
        machine.
    tune : bool
        With `effort="fast"` and `"best"`: let `fit` choose the features of the linear policy or, where these are set,
        its penalty, in the same manner. "auto" does that by itself.
    engine
        Where scans are learned from: "local" (threads), "ray", or one of `listwright.engines`.
    random_state : int, numpy.random.Generator or None
        Seed or numpy Generator.
    verbose : int
        1 tells what each round brings, on standard error, and at the end what lists are worth on problems held out,
        beside sorting.

    Attributes
    ----------
    policy_ : Policy
        The learned policy.
    report_ : Report or None
        With `effort="auto"`: the way to learn that was chosen, and why.
    trials_ : list of Trial
        With `effort="auto"`: how each way that was tried did.
    weights_, history_, measured_
        Weights of a linear policy, what each round brought, and the value of lists on held-out problems.

    See Also
    --------
    ConSeqOpt : One policy per position.
    ContextFreeSCP : One distribution over a catalogue.
    listwright.baselines.TopK : Sorts, without looking at the list.

    Notes
    -----
    Use it where lists are measured as a whole and items overlap in what they bring. Where values of items simply add
    up, a regression of gains and sorting (`TopK`) is as good and simpler.

    For a monotone submodular reward, the policy's lists of length m are worth at least a factor 1 - exp(-m/k) of the
    best list of length k over sequences of policies, less the learner's average regret.

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
        per_group: int | Mapping[Any, int] | None = None,
        learner: Any = "auto",
        features: Any = "auto",
        weighting: str = "discounted",
        per_size: bool | str = "auto",
        n_passes: int = 10,
        batch_size: int | str = "auto",
        keep: str = "last",
        repeats: bool = False,
        skip_solved: bool | str = "auto",
        short_lists: bool = False,
        effort: str = "auto",
        time_limit: float | None = None,
        tune: bool = False,
        engine: Any = "local",
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.length = length
        self.rival_length = rival_length
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
        self.skip_solved = skip_solved
        self.short_lists = short_lists
        self.effort = effort
        self.time_limit = time_limit
        self.tune = tune
        self.engine = engine
        self.random_state = random_state
        self.verbose = verbose

    def _plan(self, source: Source, *, in_parts: bool = False) -> Plan:
        """Returns the plan of `effort` and `tune`; problems that are read in parts are learned by the linear policy."""
        if self.effort == "best":
            return self._best_plan(source)
        if self.tune and (self.effort == "fast" or source.whole is None):
            return self._chosen_plan(linear_ways(_in_memory(source), self._fast()), source)
        one_way = in_parts or self.batch_size != "auto" or self.repeats or source.example.n_features > WIDE
        if self.effort == "fast" or source.whole is None or one_way:
            return super()._plan(source)
        limit = time_to_try(source.whole, self._fast()) if self.time_limit is None else self.time_limit
        return self._chosen_plan(ways_to_try(source.whole, self._fast(), limit), source, limit)

    def _chosen_plan(self, ways: Sequence[Way], source: Source, time_limit: float | None = None) -> Plan:
        """Tries the ways and returns the plan of the one chosen, with report and trials."""
        way, trials, report = choose(ways, _in_memory(source), time_limit=time_limit)
        return replace(way.plan(_in_memory(source)), about={"trials_": trials, "report_": report})

    def _best_plan(self, source: Source) -> Plan:
        """Returns the plan of `effort="best"`, built on the linear policy that `tune` chooses where that is set."""
        if source.whole is None:
            raise InputError(
                "effort='best' must see all problems at once, so that it cannot be fitted part by part. Fit on "
                "problems in memory with engine='local' (of a scan: scan.sample()), or choose effort='fast'."
            )
        plain, about = self._fast(), {}
        if self.tune:
            chosen = self._chosen_plan(linear_ways(source.whole, plain), source)
            plain, about = plain.set_params(features=chosen.features, learner=chosen.learner), chosen.about
        return replace(best_way(source.whole, plain).plan(source.whole), about=about)

    def _peeked(self) -> Iterator[str]:
        """Adds to the breaches of the theorems that features, learner or estimates were chosen on the same states."""
        if getattr(self, "trials_", None):
            chooser = 'effort="auto"' if self.effort == "auto" else "tune=True"
            yield f"{chooser} chose features and learner on the same states"
        if isinstance(getattr(self.training_, "features", None), Scores):
            yield f'effort="{self.effort}" fitted its estimates on the same states'
        yield from super()._peeked()

    def _fast(self) -> SCP:
        """Returns the plain linear policy with these settings, to be fitted in this process."""
        return clone(self).set_params(effort="fast", tune=False, engine="local")

    def check(self, problems: Problems) -> None:
        """Raises `InputError` for settings or problems that cannot be learned from, as `fit` does before it starts."""
        super().check(problems)
        if self.effort not in EFFORTS:
            raise InputError(f"effort must be one of {', '.join(EFFORTS)}. Got {self.effort!r}.")
        if self.time_limit is not None and not (isinstance(self.time_limit, int | float) and self.time_limit > 0):
            raise InputError(f"time_limit must be a number of seconds above 0, or None. Got {self.time_limit!r}.")


def _in_memory(source: Source) -> Problems:
    """Returns the whole of the problems, or raises `InputError` where they come in parts."""
    if source.whole is None:
        raise InputError("tune=True learns from problems in memory. Pass scan.sample(), and fit what it chooses.")
    return source.whole
