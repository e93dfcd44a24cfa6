"""OnlineSCP: one list-building policy for all slots, learned from clicks, with room for new items."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, Unpack

import numpy as np
from narwhals.typing import IntoFrame
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Floats, RandomState, folds_of
from listwright._internal.parameters import check_fitted, clone
from listwright._internal.saved import saved_as
from listwright._internal.threads import one_thread
from listwright.errors import InputError
from listwright.estimators.base import ListEstimator
from listwright.estimators.scp import SCP
from listwright.estimators.stacking import PolicyScore, Scores
from listwright.estimators.wide import WIDE
from listwright.features import BestColumn, Candidate, Distance, Features, Identity, Position, Sum
from listwright.features.auto import auto_features
from listwright.feedback.answered import AnsweredLists, runs
from listwright.feedback.bandit import ListBandit
from listwright.feedback.drawing import Playing
from listwright.feedback.explore import Epsilon, Exploration, InverseGap, Own
from listwright.feedback.gain_ridge import Corrected, GainCorrection, GainLearner, GainRidge
from listwright.feedback.gain_trees import GainTrees
from listwright.feedback.log import Log
from listwright.feedback.log_frames import roles
from listwright.feedback.off_policy.estimates import EvidenceWarning, importance, warn_missing
from listwright.feedback.off_policy.examination import looks
from listwright.feedback.off_policy.propensities import ESTIMATED, check_propensity, with_propensities
from listwright.feedback.update_queue import shown_items
from listwright.frames.columns import ColumnOptions, FrameKeywords, with_column_options
from listwright.frames.frame import as_table, is_frame
from listwright.learners import Exp3, Exp4, Experts, Learner, RidgeFTRL
from listwright.learners.experts import n_items_of
from listwright.policies import Linear, Policy
from listwright.policies.mixture import Sequence as SequencePolicy
from listwright.predictor import check_reward_named
from listwright.problems import Problems, build_problems
from listwright.training.signature import made_up, some_group

SPREAD_OVER = 16  # problems made up within the ranges of the training data, for scales
MOST_NEW = 10_000  # items that a catalogue may grow by at a time


class GrowingBandit(ListBandit):
    """A bandit that, with a ridge regression of gains, accepts new items and explores rarely shown ones."""

    optimism: float
    new_items = True

    def _as_problems(self, given: Any, **options: Any) -> Problems:
        columns = getattr(self, "columns_", None)
        if columns is None or not is_frame(given):
            return super()._as_problems(given, **options)
        table = as_table(given)
        named = roles(table.names, {"list": columns.problem if columns.problem in table.names else None}, table.source)
        problem = named.get("list", columns.problem)
        item = columns.item if columns.item in table.names else named.get("item")
        columns = replace(columns, problem=problem, item=item, catalogue_names=())
        wanted = ColumnOptions(columns=columns, new_levels=options.get("new_levels"))
        reward = options.get("reward")
        if reward is None and options.get("measured"):
            reward = getattr(self, "reward_spec_", None) or vars(self).get("reward_function_")
            check_reward_named(reward)
        return self._by_names(build_problems(table, wanted, reward=reward)[0])

    @property
    def _ridge(self) -> GainRidge | None:
        """The regression that knows how often each item was shown; None where items have no columns of their own."""
        ridge = getattr(self.learner_, "ridge_", self.learner_)
        return ridge if isinstance(ridge, GainRidge) and ridge.sums_[0].n_items else None

    def _play(self, policy: Policy, version: int, learned: float) -> Playing:
        return Playing(policy, version, learned, self._eager(policy))

    def _eager(self, policy: Policy, n_items: int = 0) -> Policy | None:
        """Return the policy with a bonus for rarely shown items; if it is not linear, for those new to it only."""
        ridge = self._ridge
        if not self.optimism or ridge is None:
            return None
        shown, sums = ridge.times_shown(), ridge.sums_[0]
        bonus = np.zeros((max(n_items, self.signature_.n_items or 0, len(shown)), sums.cross_gram.shape[1]))
        bonus[:, 0] = self.optimism * ridge.typical_gain() / np.sqrt(1.0 + np.pad(shown, (0, len(bonus) - len(shown))))
        if isinstance(policy, Linear) and policy.item_weights is not None:
            bonus[: len(policy.item_weights)] += policy.item_weights
            return Linear(policy.weights, bonus)
        parts = getattr(self.features_, "inner_", self.features_).fitted_parts()
        bonus[: next(part.n_items_ for part in parts if isinstance(part, Identity))] = 0.0
        return Corrected(policy, Linear(np.zeros(len(sums.gram)), bonus)) if bonus.any() else None

    def _view(self, problems: Problems, purpose: str) -> tuple[Features, Playing]:
        # At most `MOST_NEW` are accepted at a time, so that one wrong item number cannot exhaust the memory.
        known, asked = self.signature_.n_items, problems.n_items
        if known is None or asked <= known or not isinstance(self.learner_, GainLearner):
            return super()._view(problems, purpose)
        if asked > known + MOST_NEW:
            raise InputError(
                f"{purpose}: catalogue item {asked - 1} is new, and far beyond the {known} items that the model knows. "
                "Number new items from there on."
            )
        replace(self.signature_, n_items=asked).check(problems, purpose)
        return self.features_, replace(self.playing_, eager=self._eager(self.playing_.policy, asked))

    def _make_room(self, problems: Iterable[Problems]) -> None:
        largest = max(problems, key=lambda problem: problem.n_items, default=None)
        known = self.signature_.n_items
        if largest is not None and known is not None and largest.n_items > known:
            names = largest.catalogue_names
            self.signature_ = replace(self.signature_, n_items=largest.n_items, catalogue_names=names)
            self.playing_ = replace(self.playing_, eager=self._eager(self.playing_.policy))

    def _fit_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        blocks = max((len(sums) for name, sums in state.items() if name.endswith("sums_.0.cross_right")), default=0)
        ridge, known = self._ridge, self.signature_.n_items
        if ridge is not None and known is not None and ridge.sums_[0].n_items < blocks <= known + MOST_NEW:
            ridge.grow(blocks)
            self.signature_ = replace(self.signature_, n_items=max(known, blocks))


def _check_scoring(policy: Policy) -> None:
    """Raise if a policy that is to be corrected by feedback draws its lists."""
    if not policy.certain or isinstance(policy, SequencePolicy):
        raise InputError(
            f"from_model needs a model that scores items. Got {type(policy).__name__}, which can be served but cannot "
            "learn. Fit an SCP with its default learner."
        )


def _beside_score(model: ListEstimator, example: Problems) -> Sum:
    """Return fitted features: the score of a model that looks at few columns, and beside it all columns."""
    score = PolicyScore(clone(model))
    score.model_, score.spread_ = model, 1.0
    rng, many, ranges = np.random.default_rng(0), Problems.concat([example] * SPREAD_OVER), model.signature_.ranges
    drawn = {
        name: rng.uniform(span.low, span.high, getattr(many, name).shape).astype(np.float32)
        for name in ("features", "context")
        if (span := getattr(ranges, name, None)) is not None
    }
    kinds = (Candidate, Position, Identity) if many.n_features > WIDE else (Candidate, Distance, Position, Identity)
    parts = [part for part in auto_features(many).parts if isinstance(part, kinds)]
    features = Sum([score, *parts])
    features.parts_ = [score, *(part.fit(many._with(**drawn)) for part in parts)]
    return features


EXPLORE = ("igw", "epsilon", "exp4", "exp3")
OBJECTIVES = ("gain", "off_policy")
PENALTIES = ("auto", 1.0, 10.0, 100.0, 1000.0)  # that objective="off_policy" tries, each with and without CAP
CAP = 10.0
SHARED = ("length", "budget", "features", "weighting", "allow_short")  # parameters that SCP has too


@saved_as("OnlineSCP")
class OnlineSCP(GrowingBandit):
    """Learns one list-building policy from partial feedback, such as clicks on the lists that it shows.

    At every slot it predicts what each candidate would add to the list so far, turns the predictions into chances, and
    draws the item to show. Only the outcomes of shown items are learned from. Use it where the value of a list becomes
    known only by showing it. Where the reward of any list can be computed in training, `SCP` learns faster; combine
    both with `from_model` or `fit`. Call `recommend` and `feedback` in turn (in any order and with any delay), and
    `predict` for lists without exploration.

    Parameters
    ----------
    length : int
        Number of items per list.
    budget : float or None
        Total size of a list; replaces `length`.
    explore : {"igw", "epsilon", "exp4", "exp3"} or Exploration
        "igw" is a regression of gains with inverse gap weighting at each slot. "epsilon" is the same regression with a
        share of slots drawn evenly. "exp4" is exponential weights over `policies`, "exp3" over the items of the
        catalogue. Or an object of `listwright.feedback.explore`.
    slots : {"all", "one"}
        Explore in all slots of a list, or in one that is drawn evenly while the others show what seems best.
    cascade : bool
        Users examine items in order and stop at the first click; later positions are not learned from. Otherwise the
        outcome of every position is the gain of its item.
    features : "auto" or Features
        What the policy sees of a candidate and of the list so far; any of `listwright.features`.
    penalty : float or "auto"
        Ridge penalty, above 0; "auto" chooses it by cross-validation over lists.
    learner : {"ridge", "boosting"} or regressor
        How gains are predicted with explore="igw" and "epsilon": ridge regression, boosted trees, or any scikit-learn
        regressor. Trees are retrained in the background as feedback arrives, and on everything at once by `fit_log`.
    half_life : float or None
        Number of lists after which a list counts half as much, so that the model follows changing tastes; exploration
        then does not fade out either. None: every list counts the same.
    optimism : float
        Bonus for rarely shown items of a catalogue while exploring: their gain is taken to be higher by
        optimism * r / sqrt(1 + times shown), with r the root mean square of all gains so far.
    leverage : float or None
        The most leverage that one list may have on the regression, so that no single event can overturn it. None: no
        bound.
    policies : sequence of Policy or None
        The experts of "exp4".
    weighting : str
        Weights of positions, as in `SCP`.
    allow_short : bool
        Accept problems with fewer candidates than `length`.
    memory : int
        How many lists may wait for feedback; the oldest are forgotten first.
    random_state : int, numpy.random.Generator or None
        Seed of the draws.

    Attributes
    ----------
    version : int
        Number of lists learned from by feedback.
    features_, learner_, exploration_ : objects
        What the policy sees, what has been learned, and how slots are drawn.
    n_features_in_ : int
        Number of features per candidate.

    See Also
    --------
    SCP : Learns from problems whose lists can be measured.
    Log : Stores shown lists; train on it with `fit_log`.
    evaluate : Estimates what a policy's lists are worth before anyone sees them.

    Notes
    -----
    The paper assumes that the gain b(s | L) of every candidate is known in training. Here only the gains of shown items
    are, so costs of the others are replaced by a regression, or reweighted by propensities ("exp3", "exp4").

    Examples
    --------
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
        learner: Any = "ridge",
        half_life: float | None = None,
        optimism: float = 1.0,
        leverage: float | None = None,
        policies: Sequence[Policy] | None = None,
        weighting: str = "discounted",
        allow_short: bool = False,
        memory: int = 100_000,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(length, cascade=cascade, allow_short=allow_short, memory=memory, random_state=random_state)
        self.budget = budget
        self.explore = explore
        self.slots = slots
        self.features = features
        self.penalty = penalty
        self.learner = learner
        self.half_life = half_life
        self.optimism = optimism
        self.leverage = leverage
        self.policies = policies
        self.weighting = weighting

    @classmethod
    def from_model(
        cls,
        model: ListEstimator | OnlineSCP,
        *,
        explore: Any = "igw",
        prior_weight: float = 1.0,
        random_state: RandomState = None,
        **options: Any,
    ) -> OnlineSCP:
        """Continue a fitted model from clicks, with its features and everything that its ridge regression learned.

        Parameters
        ----------
        model : SCP or OnlineSCP
            A fitted `SCP`. If its learner is ridge, its training counts as feedback; otherwise its scores stay, and
            feedback learns a linear correction of them, over all columns. Or an `OnlineSCP`, which is copied and keeps
            its own `explore` and `prior_weight`.
        explore : str or Exploration
            "igw", "epsilon", or an exploration by score.
        prior_weight : float
            How much the model's training counts, above 0; at 1, as much as clicks on as many lists with all candidates
            seen.
        random_state : int, numpy.random.Generator or None
            Seed of the draws.
        **options
            Other parameters of `OnlineSCP`.

        Returns
        -------
        OnlineSCP
            Its first `predict` builds the lists of `model`.

        Raises
        ------
        InputError
            If the model draws its lists, or the exploration needs another learner.
        """
        if isinstance(model, OnlineSCP):
            return model._copy_with(random_state, options)
        if not isinstance(model, ListEstimator):
            instead = f"Got {type(model).__name__}, which can be served but cannot learn."
            raise InputError(f"OnlineSCP.from_model takes a fitted SCP or an OnlineSCP. {instead}")
        check_fitted(model)
        training = model.training_
        if not 0 < prior_weight < np.inf:
            raise InputError(f"prior_weight must be above 0. Got {prior_weight!r}.")
        kept = {name: getattr(model, name) for name in SHARED}
        online = cls(**(kept | {"explore": explore, "random_state": random_state} | options))
        made = online._warm_learner()
        share = prior_weight / max(training.ledger.most_visits, 1)
        features, policy = training.features, model.policy_
        parts = getattr(features, "inner_", features).fitted_parts()
        chosen = isinstance(features, Scores) or any(isinstance(part, BestColumn) for part in parts)
        if isinstance(training.learner, RidgeFTRL) and hasattr(training.learner, "sums_") and not chosen:
            made.inherit(training.learner, share)
        else:
            made = GainCorrection(made.penalty, center=False, leverage=made.leverage, half_life=made.half_life)
            example = made_up(model.signature_, whole=True, group=some_group(model.per_group))
            _check_scoring(policy)
            if chosen:
                features = _beside_score(model, example)
                policy = Linear(np.eye(1, features.rows(features.start(example)).table.shape[1])[0])
            made.start_from(policy, features.rows(features.start(example)))
        online.learner_, online.features_ = made, features
        online._set_up(model.signature_, per_size=training.per_size)
        online.playing_ = online._play(made.policy(), 0, share * training.ledger.rounds)
        return online

    def _warm_learner(self) -> GainRidge:
        self._check_parameters()
        self.exploration_ = self._make_exploration()
        made = self._make_learner()
        if not isinstance(made, GainRidge):
            raise InputError(
                'Starting from problems or from a model needs learner="ridge" and explore="igw" or "epsilon". Got '
                f"learner={self.learner!r} and explore={self.explore!r}, which learn from a log (fit_log) or from "
                "feedback alone."
            )
        return made

    def _copy_with(self, random_state: RandomState, options: dict[str, Any]) -> OnlineSCP:
        self._check_begun()
        twin = copy.copy(self).set_params(random_state=random_state, **options)
        twin._check_parameters()
        twin.learner_ = copy.deepcopy(self.learner_)
        if isinstance(twin.learner_, GainRidge):
            twin.learner_.bound(twin.leverage)
        twin._set_up(self.signature_, per_size=self.per_size_)
        return twin

    @with_column_options
    def fit(
        self,
        problems: Problems | IntoFrame,
        y: None = None,
        *,
        reward: Any = None,
        **columns: Unpack[FrameKeywords],
    ) -> Self:
        """Learn a first model from problems whose lists can be measured; clicks then improve it.

        The same as fitting an `SCP` with these settings and passing it to `from_model`. It forgets what was learned
        before.

        Parameters
        ----------
        problems : Problems, or a frame of pandas, polars or pyarrow
            Problems with a reward. A frame has one row per candidate.
        y : None
            Not used: what a list is worth is the problems' reward.
        reward : str or Reward, optional
            With a frame: what a list is worth, such as "any:clicked".
        problem, item, size and the rest
            With a frame: the options of `Problems.from_frame`, which name its columns.

        Raises
        ------
        InputError
            If the learner is not ridge or the exploration needs another one: these learn from clicks only.

        See Also
        --------
        fit_log : Learns from lists that were shown.

        Examples
        --------
        >>> import listwright as lw
        >>> x = np.random.default_rng(0).random((100, 5, 2))
        >>> problems = lw.Problems.from_arrays(x, reward=lw.rewards.AnySuccess(x[..., 0] > 0.7))
        >>> round(OnlineSCP(length=2, random_state=0).fit(problems).score(problems), 2)
        0.87
        """
        if y is not None:
            raise InputError("fit takes no y: the value of lists is given by the problems' reward. Leave y out.")
        copy.copy(self)._warm_learner()  # raises before any work is done
        problems, read_as = self._from_frame(problems, reward, dict(columns))
        shared = {name: getattr(self, name) for name in SHARED}
        start = SCP(effort="fast", random_state=self.random_state, **shared).fit(problems)
        begun = OnlineSCP.from_model(start, **self.get_params(deep=False))
        self._adopt(begun)._remember(read_as)
        return self

    def fit_log(
        self, log: Log, *, cap: float | None = None, propensity: str = "logged", objective: str = "gain"
    ) -> Self:
        """Learn from a log, whichever policy built its lists, in the order shown, on top of what was learned before.

        Parameters
        ----------
        log : Log
            Lists that were shown, with outcomes.
        cap : float, optional
            Weighs each shown item by 1 / (open items * propensity), up to `cap`, as if all candidates had been equally
            likely to be shown. That takes the preferences of the old policy out of the regression, but the lists that
            say most about good items then count least: in simulations it cost up to a tenth of the clicks, so
            by default every shown item counts the same.
        propensity : {"logged", "frequency", "model", "examination"}
            Where the chances of the shown items come from, for `cap`; see `evaluate`. Lists of which they are not known
            count as if all their items had been equally likely, with a warning. "examination" corrects for position
            bias: the gain of an item is its outcome divided by how often users look at its position, as
            `feedback.examination` estimates it.
        objective : {"gain", "off_policy"}
            "gain" predicts what each item adds. "off_policy" fits such models with several penalties and weights, and
            keeps the one whose lists have the highest lower bound by `evaluate` on the log, out of fold: pessimistic,
            and in need of a log with propensities.

        Examples
        --------
        >>> import listwright as lw
        >>> rng = np.random.default_rng(0)
        >>> problems = lw.Problems.from_arrays(rng.random((500, 10, 2)))
        >>> shown = lw.OnlineSCP(length=3, random_state=0).recommend(problems, list_ids=[str(i) for i in range(500)])
        >>> log = Log()
        >>> log.append(shown)
        >>> _ = log.feedback(shown.list_ids, problems.features[shown.rows, 1] > 0.7)
        >>> model = OnlineSCP(length=3, random_state=0).fit_log(log)
        >>> problems.features[model.predict(problems)[0], 1].round(2)
        array([0.94, 0.91, 0.73], dtype=float32)
        """
        check_propensity(propensity)
        if objective not in OBJECTIVES:
            raise InputError(f"objective must be one of {', '.join(OBJECTIVES)}. Got {objective!r}.")
        if objective == "off_policy":
            return self._adopt(best_by_log(self, log, propensity))
        logged = log.answered_lists()
        if not hasattr(self, "playing_"):
            self.begin(logged.problems)
        self._remember({"columns_": log.columns or getattr(self, "columns_", None)})
        logged = replace(logged, problems=self._by_names(logged.problems))
        if not isinstance(self.learner_, GainLearner):
            return self.update(log.updates())  # which weighs by propensities itself
        looked = looks(logged) if propensity == "examination" else np.ones(logged.rows.shape[1])
        weights = np.ones(logged.rows.shape) if cap is None else self._even_weights(logged, cap, propensity)
        return self._learn_lists(logged, weights * looked, np.nan_to_num(logged.outcomes) / looked)

    def _adopt(self, other: OnlineSCP) -> Self:
        self.__dict__.update({name: value for name, value in vars(other).items() if name.endswith("_")})
        self.__dict__.pop("_waiting", None)
        return self

    def _even_weights(self, logged: AnsweredLists, cap: float, propensity: str) -> Floats:
        logged = with_propensities(logged, propensity) if propensity in ESTIMATED else logged
        unknown: Bools = np.any(np.isnan(logged.propensities) & (logged.rows >= 0), axis=1)
        if unknown.any() and propensity == "logged":
            warn_missing(int(unknown.sum()), len(logged), "count as if all their items had been equally likely")
        return importance(logged, cap)

    def _learn_lists(self, logged: AnsweredLists, weights: Floats, gains: Floats) -> Self:
        learner = self.learner_
        assert isinstance(learner, GainLearner)
        self._view(logged.problems, "fit_log")
        weights = weights * self._weights(weights.shape[1])
        folds = folds_of(logged.list_ids)
        with self._memory.lock, one_thread():
            self._make_room([logged.problems])
            for which in runs(logged.problems):
                some = logged.take(which)
                shown = shown_items(self.features_, some, ~np.isnan(some.outcomes))
                at = which[shown.numbers], shown.positions
                units = np.ones(len(shown.numbers))
                if self.per_size_ and some.problems.sizes is not None:
                    units = some.problems.sizes[some.rows[shown.numbers, shown.positions]]
                learner.reveal_many(shown.rows, gains[at] / units, weights[at], shown.numbers, folds[which])
            self._advance(learner.policy(), len(logged))
        return self

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
        for name in ("leverage", "half_life"):
            if getattr(self, name) is not None and not 0 < getattr(self, name) < np.inf:
                raise InputError(f"{name} must be above 0, or None for none. Got {getattr(self, name)!r}.")
        bounds: dict[str, Any] = {"leverage": self.leverage, "half_life": self.half_life}
        if isinstance(self.learner, str) and self.learner == "ridge":
            return GainRidge(self.penalty, center=False, **bounds)
        if self.learner != "boosting" and not (hasattr(self.learner, "fit") and hasattr(self.learner, "predict")):
            raise InputError(f'learner must be "ridge", "boosting" or a regressor. Got {self.learner!r}.')
        return GainTrees(self.learner, penalty=self.penalty, **bounds)

    def _make_features(self, problems: Problems) -> Features:
        if self.features == "auto":
            return Identity() if self.explore == "exp3" else auto_features(problems)
        if not isinstance(self.features, Features):
            raise InputError(f'features must be "auto" or come from listwright.features. Got {self.features!r}.')
        return clone(self.features)

    def _open(self, learner: Learner, problems: Problems) -> None:
        rows = self.features_.rows(self.features_.start(problems))
        if isinstance(learner, GainLearner):
            learner.open(rows)
        elif isinstance(learner, Experts):
            learner.start(n_items_of(rows) if learner.policies is None else len(learner.policies))


def best_by_log(model: OnlineSCP, log: Log, propensity: str) -> OnlineSCP:
    """Return the model of several whose lower bound by the log is the highest, fitted to all of it."""
    from listwright.feedback.off_policy.evaluate import evaluate  # which takes learners, and so comes after them

    learned_on, judged_on = log.halves()
    known = propensity if propensity in ESTIMATED else "logged"

    def fit_part(part: Log, penalty: float | str, cap: float | None) -> OnlineSCP:
        twin = OnlineSCP(**(model.get_params(deep=False) | {"penalty": penalty}))
        return twin.fit_log(part, cap=cap, propensity=propensity)

    def bound(way: tuple[float | str, float | None]) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvidenceWarning)
            ends = [
                evaluate(other, fit_part(part, *way).predict, propensity=known).cascade_dr.low
                for part, other in ((learned_on, judged_on), (judged_on, learned_on))
            ]
        return float(np.mean(np.nan_to_num(ends, nan=-1.0)))

    ways = [(penalty, cap) for penalty in PENALTIES for cap in (None, CAP)]
    return fit_part(log, *max(ways, key=bound))
