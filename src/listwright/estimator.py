"""The estimator that SCP, its context-free form and ConSeqOpt are settings of."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from listwright._arrays import Floats, RandomState, as_generator, as_numbers
from listwright._signature import Signature
from listwright._threads import one_thread
from listwright.errors import InputError
from listwright.evaluation import list_values
from listwright.examples import position_weights
from listwright.features import Features
from listwright.features.auto import auto_features
from listwright.guarantees import Certificate, certify
from listwright.keeping import KEEPS, Keeper
from listwright.learners import Learner, WeightedMajority, as_learner
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.reasons import Explainer
from listwright.rewards import reward_of
from listwright.rollout import build_lists
from listwright.training import Training

Tick = Callable[[int, int], None]


class ListEstimator(BaseEstimator):
    """What all of them share: fit, partial_fit, predict, score, certificate."""

    length: int
    rival_length: int | None
    budget: float | None
    learner: Any
    features: Any
    weighting: str
    per_size: bool | str
    n_passes: int
    batch_size: int | str
    keep: str
    repeats: bool
    skip_solved: bool
    short_lists: bool
    random_state: RandomState

    def fit(self, problems: Problems, *, tick: Tick | None = None) -> Self:
        """Learns a policy from problems with a reward. `tick(done, total)` hears of each batch that is learned from."""
        self._check(problems)
        with one_thread():
            return self._run(problems, self._begin(problems), Signature.of(problems), self._n_passes(), self.keep, tick)

    def partial_fit(self, problems: Problems) -> Self:
        """One more pass of learning, over new problems of the same kind; where nothing is fitted yet, the first.

        `keep="mixture"` goes on over all rounds so far; `keep="best"` keeps the last policy, as nothing is held out.
        """
        self._check(problems)
        keep = "mixture" if self.keep == "mixture" else "last"
        if not hasattr(self, "training_"):
            with one_thread():
                return self._run(problems, self._begin(problems), Signature.of(problems), 1, keep)
        self.signature_.check(problems, "partial_fit")
        training = copy.deepcopy(self.training_)  # an error leaves the fitted state as it was
        training.training_features = training.features  # these problems are new to it
        with one_thread():
            return self._run(problems, training, self.signature_, 1, keep)

    def _run(
        self,
        problems: Problems,
        training: Training,
        signature: Signature,
        n_passes: int,
        keep: str,
        tick: Tick | None = None,
    ) -> Self:
        rng = as_generator(self.random_state)
        keeper = Keeper(keep, problems, rng)
        keeper.go_on(getattr(self, "policy_", None), training.ledger.rounds)
        learned = keeper.problems
        auto = training.learner.batch_size(len(learned), learned.n_rows)
        size = auto if self.batch_size == "auto" else int(self.batch_size)
        a_pass = -(-len(learned) // size)
        for number in range(n_passes):
            order = rng if number else None  # the first pass in the order given
            for done, batch in enumerate(learned.batches(size, order), start=1):
                keeper.before_round(training.policy, len(batch), rng)
                training.round(batch, as_room(self.budget, batch), rng)
                keeper.after_round(training.policy, lambda part: self._value(training, part))
                if tick is not None:
                    tick(number * a_pass + done, n_passes * a_pass)
        training.ledger.passes = max(training.ledger.passes, n_passes)
        self.training_, self.policy_, self.signature_ = training, keeper.kept(training.policy), signature
        self.n_features_in_ = problems.n_features
        return self

    def predict(
        self,
        problems: Problems,
        *,
        length: int | None = None,
        budget: ArrayLike | None = None,
        short_lists: bool | None = None,
    ) -> Lists:
        """Lists for problems whose reward need not be known.

        Parameters
        ----------
        length, budget : another length or budget than trained; both together hold both.
        short_lists : accept problems with fewer candidates than the length.
        """
        check_is_fitted(self, "training_")
        self.signature_.check(problems, "predict")
        if length is None and budget is None:
            length, budget = (self.length, None) if self.budget is None else (None, self.budget)
        steps = self._steps(problems, length, self.short_lists if short_lists is None else short_lists)
        rng, room, features = as_generator(self.random_state), as_room(budget, problems), self.training_.features
        policy = self.policy_.drawn(len(problems), rng)
        lists = build_lists(
            problems.without_reward(), features, policy, length=steps, rng=rng, room=room, repeats=self.repeats
        )
        return replace(lists, explainer=Explainer(features, policy, self.repeats, room))

    def score(self, problems: Problems) -> float:
        """Mean value of the lists that `predict` builds, under the problems' reward."""
        reward_of(problems, "score")
        return float(list_values(self.predict(problems), problems).mean())

    def save(self, path: str | Path, *, slim: bool = False) -> None:
        """Writes the fitted model to one file, which `listwright.load` reads: see `storage.save`."""
        import_module("listwright.storage").save(self, path, slim=slim)  # by name: storage stands above this room

    def certificate(self, delta: float = 0.05) -> Certificate:
        """What is proved of the learned policy, from the regret measured while learning."""
        check_is_fitted(self, "training_")
        ledger = self.training_.ledger
        return certify(
            self.training_.learner,
            rounds=ledger.rounds,
            loss=ledger.loss,
            value=ledger.value,
            passes=ledger.passes,
            length=len(self.training_.weights),
            rival_length=self.rival_length,
            delta=delta,
            bounded=ledger.bounded,
            submodular=ledger.submodular,
            budgeted=self.budget is not None,
            discounted=self.weighting == "discounted",
        )

    @property
    def n_rounds_(self) -> int:
        """The paper's T: states visited while learning."""
        return self.training_.ledger.rounds

    def __sklearn_tags__(self) -> Any:
        """Tells scikit-learn that its checks on arrays do not apply."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    def _n_passes(self) -> int:
        return self.n_passes

    def _make_features(self, problems: Problems) -> Features:
        if self.features == "auto":
            return auto_features(problems)
        if not isinstance(self.features, Features):
            raise InputError(f'features must be "auto" or come from listwright.features. Got {self.features!r}.')
        return clone(self.features)

    def _make_learner(self, problems: Problems) -> Learner:
        learner = as_learner(self.learner)
        if isinstance(learner, WeightedMajority) and learner.horizon is None:
            learner.horizon = self.n_passes * len(problems)
        return learner

    def _begin(self, problems: Problems) -> Training:
        learner = self._make_learner(problems)
        features = self._make_features(problems).fit(problems)
        return Training(
            features=features,
            training_features=features.for_training(problems),
            learner=learner,
            policy=learner.first_policy(),
            weights=position_weights(self._list_length(problems), self.rival_length, weighting=self.weighting),
            per_size=self.budget is not None if self.per_size == "auto" else bool(self.per_size),
            repeats=self.repeats,
            skip_solved=self.skip_solved,
        )

    def _list_length(self, problems: Problems) -> int:
        """m: the length, or about how many items fit the budget."""
        if self.budget is None or problems.sizes is None:
            return self.length
        return max(1, round(min(self.budget / float(problems.sizes.mean()), float(problems.counts.max()))))

    def _value(self, training: Training, problems: Problems) -> float:
        """Mean value of the current policy's lists, for `keep="best"`."""
        length = len(training.weights) if self.budget is None else None
        lists = build_lists(
            problems,
            training.features,
            training.policy,
            length=length,
            rng=np.random.default_rng(0),
            room=as_room(self.budget, problems),
            repeats=self.repeats,
        )
        return float(list_values(lists, problems).mean())

    def _steps(self, problems: Problems, length: int | None, short_lists: bool) -> int | None:
        if length is None:
            return None
        _at_least_one("length", length)
        short = np.flatnonzero(problems.counts < length)
        if len(short) and not short_lists and not self.repeats:
            name, count = problems.problem_ids[short[0]], problems.counts[short[0]]
            raise InputError(
                f"Problem {name!s} has {count} candidates but length={length}. "
                "Pass short_lists=True to accept shorter lists."
            )
        return length

    def _check(self, problems: Problems) -> None:
        if not isinstance(problems, Problems):
            raise InputError(f"Give listwright.Problems, not {type(problems).__name__}. See Problems.from_arrays.")
        reward_of(problems)
        _at_least_one("length", self.length)
        if self.rival_length is not None:
            _at_least_one("rival_length", self.rival_length)
        _at_least_one("n_passes", self.n_passes)
        if self.batch_size != "auto":
            _at_least_one("batch_size", self.batch_size)
        if self.keep not in KEEPS:
            raise InputError(f"keep must be one of {', '.join(KEEPS)}. Got {self.keep!r}.")
        if self.budget is not None and np.ndim(self.budget):
            raise InputError("The budget to learn with is one number. Budgets by problem go to predict.")
        as_room(self.budget, problems)
        if self.budget is None:
            self._steps(problems, self.length, self.short_lists)
        if self.per_size not in (True, False, "auto"):
            raise InputError(f'per_size must be True, False or "auto". Got {self.per_size!r}.')
        if self.per_size is True and problems.sizes is None:
            raise InputError("per_size=True needs sizes, but these problems have none.")


def as_room(budget: ArrayLike | None, problems: Problems) -> Floats | None:
    """The budget of each problem, checked."""
    if budget is None:
        return None
    if problems.sizes is None:
        raise InputError("A budget needs sizes, but these problems have none. Pass sizes to Problems.from_arrays.")
    room = as_numbers(budget, "budget")
    if room.shape not in {(), (len(problems),)} or not (room > 0).all():
        raise InputError(f"budget must be above 0: one number, or one a problem ({len(problems)}). Got {budget!r}.")
    return np.broadcast_to(room, len(problems)).copy()


def _at_least_one(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} must be at least 1. Got {value!r}.")
