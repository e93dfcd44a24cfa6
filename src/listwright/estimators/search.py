"""Chooses between ways to learn by the value of lists that are built out of fold: the one-standard-error rule of
`evaluation.choice`.

`choose` tries the ways of `space` in order; its `Report` and `Trial` records become the attributes `report_` and
`trials_` of `SCP`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats
from listwright._internal.parameters import clone
from listwright._internal.progress import report_progress
from listwright._internal.saved import saved_as
from listwright.estimators.base import ListEstimator
from listwright.estimators.candidates import (
    CandidateMethod,
    CombinedMethod,
    EstimateMethod,
    PolicyMethod,
    candidates_seen,
    width,
)
from listwright.estimators.stacking import PASSES
from listwright.evaluation.values import best_of, highest, paired_difference, simplest
from listwright.features import BestColumn, Candidate, ExpectedGain, Identity, Similarity, Sum
from listwright.features.auto import auto_features
from listwright.features.identity import has_whole_catalogue
from listwright.features.outcomes import Forest
from listwright.learners import Aggregate, RidgeFTRL, SoftmaxLeader
from listwright.learners.boosting import Boosting
from listwright.problems import Problems
from listwright.rewards import AnySuccess

PENALTIES = (10.0, 100.0, 1000.0)
FEW = 30  # problems that say too little of which way is better
LEAST_SECONDS, TIMES_LINEAR = 20.0, 10.0  # the default time limit
QUICK_FOLDS = 3  # of what is tried to choose from
SPREAD_FOLDS = 2  # where nothing is chosen, and scores out of fold only say how far they spread
MOST_ROWS = 20_000  # that trees are grown on, and a softmax policy is solved on
MOST_KEPT = 1e8  # numbers that a learner may keep in memory to choose from
STATES = 50  # of a problem that a linear policy visits, about
# Where items recur: models of outcomes, and weights to start from: for success rates where the list failed by either
# forest, and for means given that failure by forest, ridge and kernel ridge. Chosen on aslib_dev.
MODELS = ("forest", "contrasts", "ridge", "kernel")
TRUST = (0.4, 0.4, 0.4, 0.1, 0.2)


@saved_as("Trial")
class Trial(NamedTuple):
    """How one way to learn did.

    Attributes
    ----------
    name : str
        The way to learn.
    value : float
        Mean value of its lists over the training problems, each built by what was learned without its fold; over all
        lengths up to the one asked for, as lists are used at any of them. Under a budget, of the whole list.
    behind : float
        How far its mean is behind that of the best way.
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
    """The way to learn that was chosen, why, and how far ahead of sorting it is.

    Attributes
    ----------
    chosen, value : str, float
        The way to learn, and the mean value of its lists out of fold.
    best, best_value : str, float
        The same for the way with the highest mean.
    lead, lead_error : float
        How far the best is ahead of the chosen one, and the standard error of that.
    sorting, ahead, ahead_error : str, float, float
        The best of the ways that only sort, how far the chosen one is ahead of it, and the standard error of that.
    untried : tuple of str
        Ways that would have taken more than the time limit.

    See Also
    --------
    Trial : The result of one method.
    SCP : `effort="auto"` makes the choice.

    Examples
    --------
    >>> report = Report("linear", 0.81, "boosted trees", 0.82, 0.01, 0.012, "one column", 0.09, 0.02)
    >>> print(report)
    Chosen: linear, whose lists are worth 0.810 out of fold. The best was boosted trees with 0.820, ahead by less
    than one standard error (0.012), which is too little to prefer it. Ahead of sorting (one column) by 0.090,
    standard error 0.020.
    """

    chosen: str
    value: float
    best: str
    best_value: float
    lead: float
    lead_error: float
    sorting: str = ""
    ahead: float = 0.0
    ahead_error: float = 0.0
    untried: tuple[str, ...] = ()

    def __str__(self) -> str:
        told = [f"Chosen: {self.chosen}, whose lists are worth {self.value:.3f} out of fold."]
        if self.best != self.chosen:
            told.append(
                f"The best was {self.best} with {self.best_value:.3f}, ahead by less than one standard error "
                f"({self.lead_error:.3f}), which is too little to prefer it."
            )
        if self.sorting and self.sorting != self.chosen:
            told.append(
                f"Ahead of sorting ({self.sorting}) by {self.ahead:.3f}, standard error {self.ahead_error:.3f}."
            )
        elif self.sorting:
            told.append("No method that looks at the list was clearly ahead of sorting.")
        if self.untried:
            told.append(f"Left out because of the time limit: {', '.join(self.untried)}.")
        return fill(" ".join(told), 110)


class Chosen(NamedTuple):
    """The way to learn that was chosen, and the record of how it was found; no trials where there was no choice."""

    way: CandidateMethod
    trials: list[Trial]
    report: Report | None


def choose(ways: Sequence[CandidateMethod], problems: Problems, *, time_limit: float | None = None) -> Chosen:
    """Return the first way whose lists are worth no less than those of the best, within one standard error."""
    if len(ways) < 2 or len(problems) < 2:
        return Chosen(ways[0], [], None)
    left = np.inf if time_limit is None else time_limit
    values: dict[CandidateMethod, Floats] = {}
    for way in ways:
        seconds = way.seconds(problems)
        if values and seconds > left:
            continue
        left -= seconds
        report_progress(f"trying {way.name}")
        values[way] = way.values(problems)
    at = simplest(list(values.values()))
    untried = tuple(way.name for way in ways if way not in values)
    return Chosen(list(values)[at], _trials(values), _report(values, at, untried))


def _trials(values: dict[CandidateMethod, Floats]) -> list[Trial]:
    """Compare each way with the best, problem by problem."""
    found = list(values.values())
    best = found[highest(found)]
    return [Trial(way.name, float(one.mean()), *paired_difference(best, one), way.sorts) for way, one in values.items()]


def _report(values: dict[CandidateMethod, Floats], at: int, untried: tuple[str, ...]) -> Report:
    """Describe the choice: the chosen way, the best one, and the best of those that only sort."""
    names, found = [way.name for way in values], list(values.values())
    best = highest(found)
    sorting = [i for i, way in enumerate(values) if way.sorts]
    told = (
        names[at],
        float(found[at].mean()),
        names[best],
        float(found[best].mean()),
        *paired_difference(found[best], found[at]),
    )
    if not sorting:
        return Report(*told, untried=untried)
    rival = best_of(sorting, lambda i: found[i])
    return Report(*told, names[rival], *paired_difference(found[at], found[rival]), untried)


def auto_methods(problems: Problems, plain: ListEstimator, time_limit: float = np.inf) -> list[CandidateMethod]:
    """Return the space of `effort="auto"`; parameters that the user has set stay as they are in all of its ways."""
    space = SearchSpace(problems, plain, QUICK_FOLDS)
    if len(problems) < FEW or plain.learner != "auto" or plain.features != "auto":
        return [space.linear()]
    return space.for_items(time_limit) if space.items_recur else space.for_candidates()


def time_to_try(problems: Problems, plain: ListEstimator) -> float:
    """Return the seconds that `effort="auto"` may take by default: ten fits of the linear policy, at least 20
    seconds.
    """
    return max(LEAST_SECONDS, TIMES_LINEAR * SearchSpace(problems, plain).linear().fit_seconds(problems))


def linear_methods(problems: Problems, plain: ListEstimator) -> list[CandidateMethod]:
    """Return the space of `tune=True`: other features where the user has left them open, else other penalties."""
    space = SearchSpace(problems, plain)
    others: list[CandidateMethod] = [*space.without_identity(), *space.by_item()] if plain.features == "auto" else []
    if not others and plain.learner in ("auto", "ridge"):
        others = [space.policy(f"penalty {one:g}", learner=RidgeFTRL(one)) for one in PENALTIES]
    return [space.linear(), *others]


def best_methods(problems: Problems, plain: ListEstimator) -> list[CandidateMethod]:
    """Return the space of `effort="best"`: all estimates that are known to help, combined by a small policy, and simple
    ways that take their place where they are clearly better, as with few columns that say much.
    """
    space = SearchSpace(problems, plain, SPREAD_FOLDS)
    if space.items_recur:
        gains = EstimateMethod("expected gains", plain, ExpectedGain(MODELS), TRUST)
        return [CombinedMethod([gains, space.linear(), *space.by_item()])]
    trees = [space.sorted_trees(100), space.boosted_trees()] if problems.n_features else []
    together = CombinedMethod([space.quick_linear(), *space.softmax(), *trees])
    return [together, *(space.simple() if len(problems) >= FEW else [])]


@dataclass(frozen=True)
class SearchSpace:
    """The ways to learn from some problems, with the settings of a plain estimator."""

    problems: Problems  # what to learn from
    plain: ListEstimator  # the linear policy with the user's settings, which each way changes in some respects
    n_folds: int = 5  # parts of the problems that are held out in turn

    def for_items(self, time_limit: float) -> list[CandidateMethod]:
        """Return the ways for items that recur, where what an item gained in other problems predicts what it gains
        here.
        """
        static, linear, by_item = self.static_list(), self.linear(), self.by_item()
        gains = EstimateMethod("expected gains", self.plain, ExpectedGain((Forest(100),)), (0.5, 0.5))
        together = CombinedMethod([gains, linear, *by_item])
        if self.can_keep(PASSES, 6) and together.seconds(self.problems) <= time_limit:
            return [static, together]
        return [static, linear, *by_item]

    def for_candidates(self) -> list[CandidateMethod]:
        """Return the ways for candidates that are known by their features only."""
        linear, trees = self.linear(), []
        if self.problems.n_features and self.can_keep(2, 2 * width(self.problems)):
            trees = [self.sorted_trees(100), self.boosted_trees()]
        together = [CombinedMethod([linear, *trees[:1]]), CombinedMethod([linear, *trees])] if trees else []
        return [*self.simple(), linear, *self.softmax(), *trees, *together]

    def simple(self) -> list[CandidateMethod]:
        """Return the ways with few weights: sorting, and what MMR does."""
        return [*self.one_column(), *self.one_column_and_likeness(), *self.sorted_linear()]

    def can_keep(self, n_passes: int, columns: int) -> bool:
        """Return whether a learner that keeps every example it has seen stays within memory."""
        model = clone(self.plain).set_params(n_passes=n_passes)
        return candidates_seen(model, self.problems) * columns <= MOST_KEPT

    @property
    def items_recur(self) -> bool:
        """Whether the same items come up again and one success is enough."""
        return self.problems.catalogue is not None and isinstance(self.problems.reward, AnySuccess)

    def policy(self, name: str, **changes: Any) -> PolicyMethod:
        """Return a way that fits the plain estimator with some parameters changed."""
        return PolicyMethod(name, self.plain, n_folds=self.n_folds, **changes)

    def linear(self) -> PolicyMethod:
        """Return the plain estimator as it is."""
        return self.policy("linear")

    def quick_linear(self) -> PolicyMethod:
        """Return the plain estimator with fewer passes where lists are long, as a pass over long lists visits more
        states.
        """
        return self.policy("linear", n_passes=max(2, min(self.plain.n_passes, STATES // self.plain.length)))

    def static_list(self) -> PolicyMethod:
        """Return one list for all problems."""
        return self.policy("static list", sorts=True, features=Identity(), n_passes=3)

    def one_column(self) -> list[CandidateMethod]:
        """Sort by the column that predicts the gains best."""
        if not self.problems.n_features:
            return []
        return [self.policy("one column", sorts=True, features=BestColumn(), n_passes=1)]

    def sorted_linear(self) -> list[CandidateMethod]:
        """Sort by a linear function of a candidate's own features, or use one list for all where there are none."""
        if not self.problems.n_features:
            return [self.static_list()] if self.problems.catalogue is not None else []
        return [self.policy("linear, sorted", sorts=True, features=Candidate(), n_passes=2)]

    def one_column_and_likeness(self) -> list[CandidateMethod]:
        """Does what maximal marginal relevance (MMR) does, with learned weights."""
        if not self.problems.n_features or self.problems.vectors is None:
            return []
        features = Sum([BestColumn(), Similarity()])
        return [self.policy("one column and likeness", features=features, learner="softmax", n_passes=2)]

    def softmax(self) -> list[CandidateMethod]:
        """Return the linear policy with a softmax loss; not for catalogues, as it supports no weights per item."""
        if self.problems.catalogue is not None or not self.can_keep(2, 2 * width(self.problems)):
            return []
        return [self.policy("softmax", learner=SoftmaxLeader(by="gains", most_rows=MOST_ROWS), n_passes=2)]

    def without_identity(self) -> list[CandidateMethod]:
        """Return a linear policy that does not know which item a candidate is."""
        if self.problems.catalogue is None or not self.problems.n_features:
            return []
        return [self.policy("linear, no identity", features=Sum(self._no_identity()))]

    def by_item(self) -> list[CandidateMethod]:
        """Return a linear policy with separate weights per item for all that is known of the problem and the list."""
        if self.problems.catalogue is None or not self.problems.n_features:
            return []
        if not has_whole_catalogue(self.problems, self.problems.n_items):
            return []
        crosses = ("candidates", "list") if self.problems.context is None else ("context", "candidates", "list")
        return [self.policy("linear by item", features=Sum([*self._no_identity(), Identity(crosses)]), n_passes=3)]

    def _no_identity(self) -> list[Any]:
        """Return the automatic features without `Identity`."""
        return [part for part in auto_features(self.problems).parts if not isinstance(part, Identity)]

    def sorted_trees(self, n_trees: int) -> PolicyMethod:
        """Sort by extra-trees that predict what a candidate gains alone."""
        from sklearn.ensemble import ExtraTreesRegressor  # here: it takes a second to import

        trees = ExtraTreesRegressor(n_trees, min_samples_leaf=2, max_features=0.5, random_state=0)
        own: dict[str, Any] = {"length": 1, "budget": None, "features": Candidate(), "n_passes": 1}
        learner = Aggregate(trees, most_rows=MOST_ROWS)
        return self.policy("trees, sorted", sorts=True, learner=learner, **own)

    def boosted_trees(self) -> PolicyMethod:
        """Return gradient boosting on all that the policy sees, trained on lists that it builds itself."""
        return self.policy("boosted trees", learner=Aggregate(Boosting(), most_rows=MOST_ROWS), n_passes=2)
