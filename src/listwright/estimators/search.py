"""What `SCP` tries for problems of each kind, in order of preference, and how it chooses.

It takes the first that is not behind the best by more than one standard error; by more than two where items recur,
because there the first method was the best on most data that settings were chosen on, and where problems are few.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, folds_of
from listwright._internal.parameters import clone
from listwright._internal.pictures import html_text
from listwright._internal.progress import report_progress
from listwright._internal.saved import saved_as
from listwright.estimators.base import ListEstimator
from listwright.estimators.candidates import (
    OUTCOMES,
    TREES,
    CandidateMethod,
    CombinedMethod,
    EstimateMethod,
    PolicyMethod,
    candidates_seen,
    width,
)
from listwright.estimators.measurement import FEWEST, Measurement, measurement_of, rival_values
from listwright.estimators.stacking import PASSES, StaticRank
from listwright.estimators.wide import WIDE, compress
from listwright.evaluation.values import highest, paired_difference, simplest, values_of_choice
from listwright.features import BestColumn, Candidate, ExpectedGain, Identity, Similarity, Sum
from listwright.features.auto import auto_features
from listwright.features.identity import has_whole_catalogue
from listwright.features.outcomes import Forest
from listwright.learners import Aggregate, RidgeFTRL, SoftmaxLeader
from listwright.learners.boosting import Boosting
from listwright.problems import Problems
from listwright.rewards import AnySuccess
from listwright.walk.constraints import as_constrained

PENALTIES = (10.0, 100.0, 1000.0)
SHOWN = 3  # columns that a report names
FEW = 30  # problems up to which only a clear difference says which method is better
LEAST_SECONDS, TIMES_LINEAR = 20.0, 10.0  # the default time limit
OVERHEAD = 0.1  # seconds that no estimate counts
QUICK_FOLDS = 3  # of what is tried to choose from
MOST_ROWS = 20_000  # that trees are grown on, and a softmax policy is solved on
MOST_KEPT = 1e8  # numbers that a learner may keep in memory to choose from
# Where items recur: models of outcomes, and weights to start from: for success rates where the list failed by either
# forest, and for means given that failure by forest, ridge and kernel ridge. Chosen on aslib_dev.
MODELS = ("forest", "contrasts", "ridge", "kernel")
WEIGHTS = (0.4, 0.4, 0.4, 0.1, 0.2)
SURE = 2.0  # standard errors by which something else must be ahead of what is usually best
ALONE = f"Nothing was compared: it takes {FEWEST} problems ({FEW} where items recur), features and learner left open."
PASSES_TO_COMPARE = 3  # of the linear policies that tell whether gains are to be divided by sizes


@saved_as("Trial")
class Trial(NamedTuple):
    """How one method did.

    Attributes
    ----------
    name : str
        The method.
    value : float
        Mean value of its lists, of the length or budget asked for, over the training problems; each list is built by
        what was learned without its problem's fold.
    behind : float
        How far its mean is behind that of the best method.
    error : float
        Standard error of that difference, problem by problem.
    sorts : bool
        Whether it sorts the candidates without looking at the list.

    See Also
    --------
    Report : The method that was chosen.

    Examples
    --------
    >>> Trial("linear", value=0.81, behind=0.01, error=0.012, sorts=False).value
    0.81
    """

    name: str
    value: float
    behind: float
    error: float
    sorts: bool


@saved_as("Report")
@dataclass(frozen=True)
class Report:
    """The method that was chosen, what its lists are worth beside other ways to build them, and why it was chosen.

    Attributes
    ----------
    chosen : str
        The method.
    measured : Measurement or None
        What lists of the length or budget asked for are worth out of fold, beside rivals, if the method is chosen by
        other problems; the best of several methods on the problems that chose it is partly luck. None without a choice.
    best : str
        The method with the highest value.
    lead, lead_error : float
        How far the best is ahead of the chosen one, and the standard error of that.
    untried : tuple of str
        Methods that would have taken more than the time limit.
    filled : tuple of str
        Columns of the frame whose missing values were filled with the median, and marked by 0/1 columns.
    shorter : bool
        Whether the best was not chosen because its shorter lists are behind by more than a standard error.
    late : float
        Seconds past the time limit that trying took: the quickest method is always tried and measured.

    See Also
    --------
    Trial : The result of one method.
    SCP : `effort="auto"` makes the choice.

    Examples
    --------
    >>> measured = Measurement(0.81, 0.77, 0.85, 200, "3 items", (), out_of_fold=True)
    >>> print(Report("linear", measured, "boosted trees", lead=0.01, lead_error=0.012))
    Chosen: linear. Lists of 3 items are worth 0.810 (0.770 to 0.850) on 200 problems out of fold.
    The best was boosted trees, ahead by 0.010 with a standard error of 0.012: too little to prefer it.
    """

    chosen: str
    measured: Measurement | None
    best: str
    lead: float
    lead_error: float
    untried: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    shorter: bool = False
    late: float = 0.0

    @property
    def value(self) -> float:
        """Mean value of the chosen method's lists, out of fold; NaN where it is not known."""
        return float("nan") if self.measured is None else self.measured.value

    def __str__(self) -> str:
        found = ALONE if self.measured is None else " ".join(str(self.measured).split())
        return "\n".join([fill(f"Chosen: {self.chosen}. {found}", 110), *self._notes()])

    def _notes(self) -> Iterator[str]:
        if self.best != self.chosen:
            error = f"a standard error of {self.lead_error:.3f}"
            why = "; but its shorter lists are clearly behind" if self.shorter else ": too little to prefer it"
            yield f"The best was {self.best}, ahead by {self.lead:.3f} with {error}{why}."
        if self.untried:
            yield f"Left out because of the time limit: {', '.join(self.untried)}."
        if self.late:
            yield f"Trying took {self.late:,.1f} s more than the time limit, which the quickest methods need."
        if self.filled:
            more = f" and {len(self.filled) - SHOWN:,} more" if len(self.filled) > SHOWN else ""
            shown = ", ".join(self.filled[:SHOWN]) + more
            yield f"Missing values were filled with the median, and marked, in {shown}."

    def _repr_html_(self) -> str:
        if self.measured is None:
            return html_text(str(self))
        return html_text(" ".join([f"Chosen: {self.chosen}.", *self._notes()])) + self.measured._repr_html_()


def choose(
    methods: Sequence[CandidateMethod],
    problems: Problems,
    *,
    time_limit: float | None = None,
    deadline: float = np.inf,
    errors: float = 1.0,
) -> tuple[CandidateMethod, list[Trial], Report]:
    """Return the first method that is not clearly behind the best, at the limit asked for and over all lengths."""
    # The time limit holds for estimated seconds, the same everywhere; nothing more is begun that, at the pace so far,
    # would not be done by the deadline.
    if len(methods) < 2 or len(problems) < 2:
        return methods[0], [], Report(methods[0].name, None, methods[0].name, 0.0, 0.0)
    left, began, expected = np.inf if time_limit is None else time_limit, time.monotonic(), 0.0
    fallback = min(methods, key=lambda method: method.seconds(problems))  # tried whatever the limit
    values: dict[CandidateMethod, Floats] = {}
    for method in methods:
        seconds, now = method.seconds(problems), time.monotonic()
        pace = max(1.0, (now - began) / (expected + OVERHEAD))
        if (seconds <= left and now + pace * seconds <= deadline) or method is fallback:
            left, expected = left - min(seconds, left), expected + seconds
            report_progress(f"trying {method.name}")
            values[method] = method.values(problems)
    tried, whole = list(values), [table[:, -1] for table in values.values()]
    over_lengths = [table.mean(axis=1) for table in values.values()]
    at = simplest(whole, over_lengths, errors=errors)
    best = max(
        (at, highest(whole)), key=lambda place: round(float(whole[place].mean()), 12)
    )  # the chosen of equal ones
    trials = [
        Trial(method.name, float(own.mean()), *paired_difference(whole[best], own), method.sorts)
        for method, own in zip(tried, whole, strict=True)
    ]
    untried = tuple(method.name for method in methods if method not in values)
    own = values_of_choice(whole, over_lengths, errors=errors)
    measured = _measure_method(tried[at], own, problems, min(left, deadline - time.monotonic()))
    lead, late = paired_difference(whole[best], whole[at]), max(0.0, time.monotonic() - deadline)
    shorter = best < at  # simpler, but behind over all lengths
    report = Report(tried[at].name, measured, tried[best].name, *lead, untried, shorter=shorter, late=late)
    return tried[at], trials, report


def _measure_method(method: CandidateMethod, values: Floats, problems: Problems, seconds: float) -> Measurement:
    problems = as_constrained(problems, None, method.settings.per_group)
    trees = TREES * problems.n_rows * (QUICK_FOLDS - 1) <= seconds
    rivals = rival_values(problems, method.limits, QUICK_FOLDS, trees=trees)
    return measurement_of(values, rivals, problems, method.limits)


def divide_by_sizes(problems: Problems, plain: ListEstimator) -> bool:
    """Return whether to learn gains per size: unless plain gains give better lists by two standard errors."""
    quick = {"learner": "ridge", "keep": "last", "n_passes": min(plain.n_passes, PASSES_TO_COMPARE)}
    settings = (clone(plain).set_params(per_size=option, **quick) for option in (True, False))
    methods = (PolicyMethod("linear", model, n_folds=QUICK_FOLDS) for model in settings)
    per_size, by_gain = (method.values(problems)[:, -1] for method in methods)
    ahead, error = paired_difference(by_gain, per_size)
    return ahead <= SURE * error


def auto_methods(problems: Problems, plain: ListEstimator) -> list[CandidateMethod]:
    """Return what `effort="auto"` tries; parameters that the user has set stay as they are in all of its methods."""
    space = SearchSpace(problems, plain, QUICK_FOLDS)
    if plain.learner != "auto" or plain.features != "auto":
        return [space.linear()]
    if len(problems) < FEW:
        return space.for_few()
    return space.for_items() if items_recur(problems) else space.for_candidates()


def items_recur(problems: Problems) -> bool:
    return problems.catalogue is not None and isinstance(problems.reward, AnySuccess)


def time_to_try(problems: Problems, plain: ListEstimator) -> float:
    ten_fits = TIMES_LINEAR * SearchSpace(problems, plain).linear().fit_seconds(problems)
    return max(LEAST_SECONDS, ten_fits, auto_methods(problems, plain)[0].seconds(problems))


def linear_methods(problems: Problems, plain: ListEstimator) -> list[CandidateMethod]:
    """Return what `tune=True` tries: other features where the user has left them open, else other penalties."""
    space = SearchSpace(problems, plain)
    others: list[CandidateMethod] = [*space.without_identity(), *space.by_item()] if plain.features == "auto" else []
    if not others and plain.learner in ("auto", "ridge"):
        others = [space.policy(f"penalty {penalty:g}", learner=RidgeFTRL(penalty)) for penalty in PENALTIES]
    return [space.linear(), *others]


@dataclass(frozen=True)
class SearchSpace:
    """The methods for some problems, with the settings of a plain estimator."""

    problems: Problems  # what to learn from
    plain: ListEstimator  # the linear policy with the user's settings, which each method changes in some respects
    n_folds: int = 5  # parts of the problems that are held out in turn

    def for_few(self) -> list[CandidateMethod]:
        """Return the linear policy, and trees for gains that are far from linear: few problems can show no more."""
        in_one_fold = len(np.unique(folds_of(self.problems.problem_ids, self.n_folds))) == 1
        if len(self.problems) < FEWEST or in_one_fold or items_recur(self.problems):
            return [self.linear()]
        return [self.linear(), *self.sorted_trees()]

    def for_items(self) -> list[CandidateMethod]:
        """Return the methods for items that recur; expected gains come first, as the best on most of aslib_dev."""
        linear, by_item = self.linear(), self.by_item()
        if not self.can_keep(PASSES, 6):
            return [linear, *by_item, self.static_list()]
        gains = EstimateMethod("expected gains", self.plain, ExpectedGain((Forest(100),)), (0.5, 0.5))
        more = EstimateMethod("gains by four models", self.plain, ExpectedGain(MODELS), WEIGHTS, cost=3 * OUTCOMES)
        together = [CombinedMethod([estimates, linear, *by_item]) for estimates in (gains, more)]
        return [together[0], linear, self.static_list(), *by_item, together[1]]

    def for_candidates(self) -> list[CandidateMethod]:
        """Return the methods for candidates that are known by their features only, the simplest first."""
        linear, softmax = self.linear(), self.softmax()
        trees = self.sorted_trees()
        if trees:
            trees += [self.policy("boosted trees", learner=Aggregate(Boosting(), most_rows=MOST_ROWS), n_passes=2)]
        sums: list[list[CandidateMethod]] = []
        if trees:
            sums = [[linear, *trees[:1]], [linear, *trees], *([[linear, *softmax, *trees]] if softmax else [])]
        static = [] if self.problems.catalogue is None else [self.static_list()]
        simple = [*static, *self.one_column(), *self.one_column_and_likeness(), *self.sorted_linear()]
        return [*simple, linear, *softmax, *trees, *(CombinedMethod(parts) for parts in sums)]

    def can_keep(self, n_passes: int, columns: int) -> bool:
        """Return whether a learner that keeps every example it has seen stays within memory."""
        model = clone(self.plain).set_params(n_passes=n_passes)
        return candidates_seen(model, self.problems) * columns <= MOST_KEPT

    def policy(self, name: str, **changes: Any) -> PolicyMethod:
        return PolicyMethod(name, self.plain, n_folds=self.n_folds, **changes)

    def linear(self) -> PolicyMethod:
        return self.policy("linear")

    def static_list(self) -> CandidateMethod:
        return EstimateMethod("static list", self.plain, StaticRank(), (1.0,), sorts=True, cost=0.0)

    def one_column(self) -> list[CandidateMethod]:
        if not self.problems.n_features or sparse.issparse(self.problems.features):
            return []
        return [self.policy("one column", sorts=True, features=BestColumn(), n_passes=1)]

    def sorted_linear(self) -> list[CandidateMethod]:
        if not self.problems.n_features:
            return []
        own = compress(Candidate(), self.problems)
        return [self.policy("linear, sorted", sorts=True, features=own, n_passes=2)]

    def one_column_and_likeness(self) -> list[CandidateMethod]:
        """Does what maximal marginal relevance (MMR) does, with learned weights."""
        if not self.one_column() or self.problems.vectors is None:
            return []
        features = Sum([BestColumn(), Similarity()])
        return [self.policy("one column and likeness", features=features, learner="softmax", n_passes=2)]

    def softmax(self) -> list[CandidateMethod]:
        """Return the linear policy with a softmax loss; not for catalogues, as it supports no weights per item."""
        if self.problems.catalogue is not None or not self.can_keep(2, 2 * width(self.problems)):
            return []
        return [self.policy("softmax", learner=SoftmaxLeader(by="gains", most_rows=MOST_ROWS), n_passes=2)]

    def without_identity(self) -> list[CandidateMethod]:
        if self.problems.catalogue is None or not 0 < self.problems.n_features <= WIDE:
            return []
        return [self.policy("linear, no identity", features=Sum(self._no_identity()))]

    def by_item(self) -> list[CandidateMethod]:
        """Return a linear policy with separate weights per item for all that is known of the problem and the list."""
        if self.problems.catalogue is None or not 0 < self.problems.n_features <= WIDE:
            return []
        if not has_whole_catalogue(self.problems, self.problems.n_items):
            return []
        crosses = ("candidates", "list") if self.problems.context is None else ("context", "candidates", "list")
        return [self.policy("linear by item", features=Sum([*self._no_identity(), Identity(crosses)]), n_passes=3)]

    def _no_identity(self) -> list[Any]:
        return [part for part in auto_features(self.problems).parts if not isinstance(part, Identity)]

    def sorted_trees(self) -> list[CandidateMethod]:
        """Sort by extra-trees that predict what a candidate gains alone."""
        if not self.problems.n_features or not self.can_keep(2, 2 * width(self.problems)):
            return []
        from sklearn.ensemble import ExtraTreesRegressor  # here: it takes a second to import

        trees = ExtraTreesRegressor(100, min_samples_leaf=2, max_features=0.5, random_state=0)
        own: dict[str, Any] = {"features": compress(Candidate(), self.problems)}
        if self.problems.quotas is None and self.plain.per_group is None:
            own |= {"length": 1, "budget": None}
        learner = Aggregate(trees, most_rows=MOST_ROWS)
        return [self.policy("trees, sorted", sorts=True, learner=learner, n_passes=1, **own)]
