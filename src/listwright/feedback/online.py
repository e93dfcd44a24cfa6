"""OnlineSCP: one policy for all slots of a list, learned from clicks."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from listwright._internal.arrays import RandomState
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.estimators.base import ListEstimator
from listwright.features import Features, Identity
from listwright.features.auto import auto_features
from listwright.feedback.bandit import ListBandit
from listwright.feedback.drawing import Playing
from listwright.feedback.explore import Epsilon, Exploration, InverseGap, Own
from listwright.feedback.gain_ridge import GainRidge
from listwright.feedback.importance import importance, warn_missing
from listwright.feedback.log import Log
from listwright.learners import Exp3, Exp4, Experts, Learner, RidgeLeader
from listwright.learners.experts import n_items_of
from listwright.policies import Policy
from listwright.problems import Problems

EXPLORE = ("igw", "epsilon", "exp4", "exp3")


@saved_as("OnlineSCP")
class OnlineSCP(ListBandit):
    """Learns one policy that builds lists, from what users do with the lists that it shows (partial feedback).

    At every slot it foretells what each candidate would add to the list so far, and draws the item to show; what came
    back for the shown items is all that it learns from.

    Parameters
    ----------
    length : number of items of a list.
    budget : total size of a list; takes the place of length.
    explore : "igw": a ridge regression of gains, with inverse gap weighting at each slot. "epsilon": the same
        regression, and even exploration for a share of slots. "exp4": exponential weights over `policies`. "exp3":
        exponential weights over the items of the catalogue. Or an object of `listwright.feedback.explore`.
    slots : "all" slots of a list explore, or "one" of them, drawn evenly, while the others show what seems best.
    cascade : users look at one item after the other and stop at the first click. What comes after it is not learned
        from. Otherwise every position's outcome is the gain of its item.
    features : what the policy sees: "auto", or any of `listwright.features`.
    penalty : of the regression: above 0, or "auto".
    leverage : float or None
        The most leverage that one list may have on the regression, so that no single event can overturn it; see
        `listwright.feedback.gain_ridge.GainRidge`. None: no bound.
    policies : the experts of "exp4".
    weighting : of positions, as in `SCP`.
    short_lists : accept problems with fewer candidates than the length.
    memory : lists that can wait for feedback at a time; the oldest are forgotten first.
    random_state : seed or numpy Generator.

    >>> import listwright as lw
    >>> rng = np.random.default_rng(0)
    >>> learner = OnlineSCP(length=2, random_state=0)
    >>> for i in range(300):  # users click on items with a large second feature
    ...     problem = lw.Problems.from_arrays(rng.random((1, 10, 3)))
    ...     lists = learner.recommend(problem, list_ids=[str(i)])
    ...     liked = problem.features[lists[0], 1] > 0.8
    ...     _ = learner.feedback(lists.list_ids, [liked])
    >>> lists
    Recommendations: 1 list of 2 items, version 299
    >>> problem.features[learner.predict(problem)[0], 1]
    array([0.97..., 0.94...], dtype=float32)
    """

    def __init__(
        self,
        length: int = 5,
        *,
        budget: float | None = None,
        explore: Any = "igw",
        slots: str = "all",
        cascade: bool = False,
        features: Any = "auto",
        penalty: float | str = "auto",
        leverage: float | None = None,
        policies: Sequence[Policy] | None = None,
        weighting: str = "discounted",
        short_lists: bool = False,
        memory: int = 100_000,
        random_state: RandomState = None,
    ) -> None:
        self.length = length
        self.budget = budget
        self.explore = explore
        self.slots = slots
        self.cascade = cascade
        self.features = features
        self.penalty = penalty
        self.leverage = leverage
        self.policies = policies
        self.weighting = weighting
        self.short_lists = short_lists
        self.memory = memory
        self.random_state = random_state

    @classmethod
    def from_model(
        cls,
        model: ListEstimator | OnlineSCP,
        *,
        explore: Any = "igw",
        trust: float = 1.0,
        random_state: RandomState = None,
        **options: Any,
    ) -> OnlineSCP:
        """Goes on learning from clicks where a fitted model stands: its features, and all that its ridge learned.

        Parameters
        ----------
        model : a fitted `SCP` whose learner is ridge, or an `OnlineSCP`, whose own `explore` and `trust` stay.
        explore : "igw", "epsilon", or an exploration by score.
        trust : how much the model's training counts: 1 as much as clicks on as many lists, with all candidates seen.
        options : other parameters of `OnlineSCP`.
        """
        if isinstance(model, OnlineSCP):
            return model._continued(random_state, options)
        if not isinstance(model, ListEstimator):
            raise InputError(f"model must be a fitted SCP. Got {type(model).__name__}.")
        check_is_fitted(model, "training_")
        training = model.training_
        if not isinstance(training.learner, RidgeLeader) or not hasattr(training.learner, "sums_"):
            raise InputError(
                "Learning goes on from a model whose learner is ridge, saved whole. Got "
                f"{type(training.learner).__name__}."
            )
        if not 0 < trust < np.inf:
            raise InputError(f"trust must be above 0. Got {trust!r}.")
        kept = {name: getattr(model, name) for name in ("length", "budget", "features", "weighting", "short_lists")}
        online = cls(**(kept | {"explore": explore, "random_state": random_state} | options))
        online._check_parameters()
        online.exploration_ = online._make_exploration()
        if not isinstance(made := online._make_learner(), GainRidge):
            raise InputError(f'A warm start needs explore="igw" or "epsilon". Got {explore!r}.')
        share = trust / max(training.ledger.most_visits, 1)
        made.inherit(training.learner, share)
        online.learner_, online.features_ = made, training.features
        online._settle(model.signature_, per_size=training.per_size)
        online.playing_ = Playing(made.policy(), learned=share * training.ledger.rounds)
        return online

    def _continued(self, random_state: RandomState, options: dict[str, Any]) -> OnlineSCP:
        """A copy that goes on by itself, with other parameters and another seed."""
        self._check_begun()
        twin = copy.copy(self).set_params(random_state=random_state, **options)
        twin._check_parameters()
        twin.learner_ = copy.deepcopy(self.learner_)
        if isinstance(twin.learner_, GainRidge):
            twin.learner_.bound(twin.leverage)
        twin._settle(self.signature_, per_size=self.per_size_)
        return twin

    def fit_log(self, log: Log, *, cap: float = 10.0) -> Self:
        """Learns from a log alone, whoever drew its lists, in the order shown; goes on where learning stands.

        The regression weighs each shown item by 1 / (open items * propensity), as if all candidates had been equally
        likely, which is what learning from full information sees.

        Parameters
        ----------
        cap : the largest such weight; smaller ones trade variance for bias.
        """
        records = list(log.records())
        if not hasattr(self, "playing_"):
            self.begin(log.answered().problems)
        if not isinstance(self.learner_, GainRidge):
            return self.update(records)  # which weighs by propensities itself
        missing = sum(bool(np.isnan(record.propensities).any()) for record in records)
        if missing:
            warn_missing(missing, len(records), "count as if all their items had been equally likely")
        return self._update(records, [importance(record, cap) for record in records])

    def _make_exploration(self) -> Exploration:
        if isinstance(self.explore, Exploration):
            return clone(self.explore)
        if self.explore not in EXPLORE:
            raise InputError(f"explore must be one of {', '.join(EXPLORE)}, or an Exploration. Got {self.explore!r}.")
        return {"igw": InverseGap, "epsilon": Epsilon}.get(self.explore, Own)()

    def _make_learner(self) -> Learner:
        if self.explore == "exp3":
            return Exp3()
        if self.explore == "exp4":
            if not self.policies:
                raise InputError('explore="exp4" chooses among policies. Pass policies=[...].')
            return Exp4(self.policies)
        if self.leverage is not None and not 0 < self.leverage < np.inf:
            raise InputError(f"leverage must be above 0, or None for no bound. Got {self.leverage!r}.")
        return GainRidge(self.penalty, center=False, leverage=self.leverage)

    def _make_features(self, problems: Problems) -> Features:
        if self.features == "auto":
            return Identity() if self.explore == "exp3" else auto_features(problems)
        if not isinstance(self.features, Features):
            raise InputError(f'features must be "auto" or come from listwright.features. Got {self.features!r}.')
        return clone(self.features)

    def _open(self, learner: Learner, problems: Problems) -> None:
        rows = self.features_.rows(self.features_.start(problems))
        if isinstance(learner, GainRidge):
            learner.open(rows)
        elif isinstance(learner, Experts):
            learner.start(n_items_of(rows) if learner.policies is None else len(learner.policies))
