"""The ways to learn that `SCP` tries for problems of each kind, in the order of preference.

Order matters: of ways that are equally good within one standard error, the first is taken: the simplest of
`effort="auto"`, the combination of all of `effort="best"`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from listwright._internal.parameters import clone
from listwright.estimators.base import ListEstimator
from listwright.estimators.small_policy import PASSES
from listwright.estimators.ways import CandidateMethod, Expected, Learned, Together, candidates_seen, width
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


def ways_to_try(problems: Problems, plain: ListEstimator, time_limit: float = np.inf) -> list[CandidateMethod]:
    """Return the menu of `effort="auto"`; parameters that the user has set stay as they are in all of its ways."""
    menu = SearchSpace(problems, plain, QUICK_FOLDS)
    if len(problems) < FEW or plain.learner != "auto" or plain.features != "auto":
        return [menu.linear()]
    return menu.for_items(time_limit) if menu.items_recur else menu.for_candidates()


def time_to_try(problems: Problems, plain: ListEstimator) -> float:
    """Return the seconds that `effort="auto"` may take by default: ten fits of the linear policy, at least 20
    seconds.
    """
    return max(LEAST_SECONDS, TIMES_LINEAR * SearchSpace(problems, plain).linear().fit_seconds(problems))


def linear_ways(problems: Problems, plain: ListEstimator) -> list[CandidateMethod]:
    """Return the menu of `tune=True`: other features where the user has left them open, else other penalties."""
    menu = SearchSpace(problems, plain)
    others: list[CandidateMethod] = [*menu.without_identity(), *menu.by_item()] if plain.features == "auto" else []
    if not others and plain.learner in ("auto", "ridge"):
        others = [menu.learned(f"penalty {one:g}", learner=RidgeFTRL(one)) for one in PENALTIES]
    return [menu.linear(), *others]


def best_ways(problems: Problems, plain: ListEstimator) -> list[CandidateMethod]:
    """Return the menu of `effort="best"`: all estimates that are known to help, combined by a small policy, and simple
    ways that take their place where they are clearly better, as with few columns that say much.
    """
    menu = SearchSpace(problems, plain, SPREAD_FOLDS)
    if menu.items_recur:
        gains = Expected("expected gains", plain, ExpectedGain(MODELS), TRUST)
        return [Together([gains, menu.linear(), *menu.by_item()])]
    trees = [menu.sorted_trees(100), menu.boosted_trees()] if problems.n_features else []
    together = Together([menu.quick_linear(), *menu.softmax(), *trees])
    return [together, *(menu.simple() if len(problems) >= FEW else [])]


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
        gains = Expected("expected gains", self.plain, ExpectedGain((Forest(100),)), (0.5, 0.5))
        together = Together([gains, linear, *by_item])
        if self.can_keep(PASSES, 6) and together.seconds(self.problems) <= time_limit:
            return [static, together]
        return [static, linear, *by_item]

    def for_candidates(self) -> list[CandidateMethod]:
        """Return the ways for candidates that are known by their features only."""
        linear, trees = self.linear(), []
        if self.problems.n_features and self.can_keep(2, 2 * width(self.problems)):
            trees = [self.sorted_trees(100), self.boosted_trees()]
        together = [Together([linear, *trees[:1]]), Together([linear, *trees])] if trees else []
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

    def learned(self, name: str, **changes: Any) -> Learned:
        """Return a way that fits the plain estimator with some parameters changed."""
        return Learned(name, self.plain, n_folds=self.n_folds, **changes)

    def linear(self) -> Learned:
        """Return the plain estimator as it is."""
        return self.learned("linear")

    def quick_linear(self) -> Learned:
        """Return the plain estimator with fewer passes where lists are long, as a pass over long lists visits more
        states.
        """
        return self.learned("linear", n_passes=max(2, min(self.plain.n_passes, STATES // self.plain.length)))

    def static_list(self) -> Learned:
        """Return one list for all problems."""
        return self.learned("static list", sorts=True, features=Identity(), n_passes=3)

    def one_column(self) -> list[CandidateMethod]:
        """Sort by the column that predicts the gains best."""
        if not self.problems.n_features:
            return []
        return [self.learned("one column", sorts=True, features=BestColumn(), n_passes=1)]

    def sorted_linear(self) -> list[CandidateMethod]:
        """Sort by a linear function of a candidate's own features, or use one list for all where there are none."""
        if not self.problems.n_features:
            return [self.static_list()] if self.problems.catalogue is not None else []
        return [self.learned("linear, sorted", sorts=True, features=Candidate(), n_passes=2)]

    def one_column_and_likeness(self) -> list[CandidateMethod]:
        """Does what maximal marginal relevance (MMR) does, with learned weights."""
        if not self.problems.n_features or self.problems.vectors is None:
            return []
        features = Sum([BestColumn(), Similarity()])
        return [self.learned("one column and likeness", features=features, learner="softmax", n_passes=2)]

    def softmax(self) -> list[CandidateMethod]:
        """Return the linear policy with a softmax loss; not for catalogues, as it supports no weights per item."""
        if self.problems.catalogue is not None or not self.can_keep(2, 2 * width(self.problems)):
            return []
        return [self.learned("softmax", learner=SoftmaxLeader(by="gains", most_rows=MOST_ROWS), n_passes=2)]

    def without_identity(self) -> list[CandidateMethod]:
        """Return a linear policy that does not know which item a candidate is."""
        if self.problems.catalogue is None or not self.problems.n_features:
            return []
        return [self.learned("linear, no identity", features=Sum(self._no_identity()))]

    def by_item(self) -> list[CandidateMethod]:
        """Return a linear policy with separate weights per item for all that is known of the problem and the list."""
        if self.problems.catalogue is None or not self.problems.n_features:
            return []
        if not has_whole_catalogue(self.problems, self.problems.n_items):
            return []
        crosses = ("candidates", "list") if self.problems.context is None else ("context", "candidates", "list")
        return [self.learned("linear by item", features=Sum([*self._no_identity(), Identity(crosses)]), n_passes=3)]

    def _no_identity(self) -> list[Any]:
        """Return the automatic features without `Identity`."""
        return [part for part in auto_features(self.problems).parts if not isinstance(part, Identity)]

    def sorted_trees(self, n_trees: int) -> Learned:
        """Sort by extra-trees that predict what a candidate gains alone."""
        from sklearn.ensemble import ExtraTreesRegressor  # here: it takes a second to import

        trees = ExtraTreesRegressor(n_trees, min_samples_leaf=2, max_features=0.5, random_state=0)
        own: dict[str, Any] = {"length": 1, "budget": None, "features": Candidate(), "n_passes": 1}
        learner = Aggregate(trees, most_rows=MOST_ROWS)
        return self.learned("trees, sorted", sorts=True, learner=learner, **own)

    def boosted_trees(self) -> Learned:
        """Return gradient boosting on all that the policy sees, trained on lists that it builds itself."""
        return self.learned("boosted trees", learner=Aggregate(Boosting(), most_rows=MOST_ROWS), n_passes=2)
