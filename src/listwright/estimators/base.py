"""The estimator that SCP, its context-free form and ConSeqOpt are settings of."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from listwright._internal.arrays import RandomState, as_generator
from listwright._internal.limits import at_least_one
from listwright._internal.threads import one_thread
from listwright.engines import Local, as_engine
from listwright.errors import InputError
from listwright.evaluation.values import list_values
from listwright.features import Features
from listwright.features.auto import auto_features
from listwright.guarantees import Certificate, certify
from listwright.learners import Learner, WeightedMajority, as_learner
from listwright.learners.examples import position_weights
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.reasons.explain import Explainer
from listwright.rewards import reward_of
from listwright.tables import Scan
from listwright.training.fitting import Checkpoints, fit_scan, partial_fit_scan
from listwright.training.keep import KEEPS, Keeper
from listwright.training.round import Training
from listwright.training.signature import Signature, fingerprint
from listwright.training.streamed import StreamedLists, mean_worth, streamed_lists
from listwright.walk.limits import as_room, check_length, check_problems
from listwright.walk.plain import build_lists

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
    skip_solved: bool | str
    short_lists: bool
    random_state: RandomState
    engine: Any = "local"

    def fit(
        self,
        problems: Problems | Scan,
        *,
        tick: Tick | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 1,
        resume: bool = False,
    ) -> Self:
        """Learns a policy from problems with a reward, in memory or from a scan.

        Parameters
        ----------
        tick : `tick(done, total)` hears of each batch (of a scan: shard) that is learned from.
        checkpoint : for scans: a file to write the model to, with how far it is, after every `checkpoint_every` rounds.
        resume : go on from the checkpoint, to the same model as without a break.
        """
        if isinstance(problems, Scan):
            saved = Checkpoints(checkpoint, checkpoint_every, resume)
            fit_scan(self, problems, keep=self.keep, n_passes=self._n_passes(), checkpoints=saved, tick=tick)
            return self
        if checkpoint is not None or resume or as_engine(self.engine) != Local():
            raise InputError("Checkpoints and engines are for files: pass listwright.scan(...) in place of Problems.")
        self.check(problems)
        with one_thread():
            return self._run(problems, self._begin(problems), Signature.of(problems), self._n_passes(), self.keep, tick)

    def partial_fit(self, problems: Problems | Scan) -> Self:
        """One more pass of learning, over new problems of the same kind; where nothing is fitted yet, the first.

        `keep="mixture"` goes on over all rounds so far; `keep="best"` keeps the last policy, as nothing is held out.
        """
        keep = "mixture" if self.keep == "mixture" else "last"
        if isinstance(problems, Scan):
            if hasattr(self, "training_"):
                partial_fit_scan(self, problems, keep=keep)
            else:
                fit_scan(self, problems, keep=keep, n_passes=1, checkpoints=Checkpoints())
            return self
        self.check(problems)
        if not hasattr(self, "training_"):
            with one_thread():
                return self._run(problems, self._begin(problems), Signature.of(problems), 1, keep)
        self.signature_.check(problems, "partial_fit")
        with one_thread():
            signature = self.signature_.merged(Signature.of(problems))
            return self._run(problems, self.training_.for_new_problems(), signature, 1, keep)

    def _run(
        self,
        problems: Problems,
        training: Training,
        signature: Signature,
        n_passes: int,
        keep: str,
        tick: Tick | None = None,
    ) -> Self:
        rng = self._generator(training.ledger.rounds)
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
        training.ledger.visited(fingerprint(problems), n_passes)
        self.training_, self.policy_, self.signature_ = training, keeper.kept(training.policy), signature
        self.n_features_in_ = problems.n_features
        return self

    @overload
    def predict(
        self,
        problems: Problems,
        *,
        length: int | None = None,
        budget: ArrayLike | None = None,
        short_lists: bool | None = None,
    ) -> Lists: ...

    @overload
    def predict(
        self,
        problems: Scan,
        *,
        length: int | None = None,
        budget: ArrayLike | None = None,
        short_lists: bool | None = None,
    ) -> StreamedLists: ...

    def predict(
        self,
        problems: Problems | Scan,
        *,
        length: int | None = None,
        budget: ArrayLike | None = None,
        short_lists: bool | None = None,
    ) -> Lists | StreamedLists:
        """Lists for problems whose reward need not be known; those of a scan are built as they are asked for.

        Parameters
        ----------
        length, budget : another length or budget than trained; both together hold both.
        short_lists : accept problems with fewer candidates than the length.
        """
        if not hasattr(self, "training_"):  # scikit-learn's own check takes longer than a short list
            check_is_fitted(self, "training_")
        if length is None and budget is None:
            length, budget = (self.length, None) if self.budget is None else (None, self.budget)
        short = self.short_lists if short_lists is None else short_lists
        rng = as_generator(self.random_state)
        if isinstance(problems, Scan):
            lists_of = partial(self._slim()._lists, length=length, budget=budget, short_lists=short)
            return streamed_lists(problems, as_engine(self.engine), lists_of, int(rng.integers(2**62)))
        return self._lists(problems, rng, length=length, budget=budget, short_lists=short)

    def _slim(self) -> Self:
        """What workers need to build lists."""
        twin = copy.copy(self)
        twin.training_, twin.engine = replace(self.training_, learner=clone(self.training_.learner)), "local"
        return twin

    def _lists(
        self,
        problems: Problems,
        rng: np.random.Generator,
        *,
        length: int | None,
        budget: ArrayLike | None,
        short_lists: bool,
    ) -> Lists:
        self.signature_.check(problems, "predict")
        steps = self._steps(problems, length, short_lists)
        room, features = as_room(budget, problems), self.training_.features
        policy = self.policy_.drawn(len(problems), rng)
        lists = build_lists(
            problems.without_reward(), features, policy, length=steps, rng=rng, room=room, repeats=self.repeats
        )
        return replace(lists, explainer=Explainer(features, policy, self.repeats, room))

    def score(self, problems: Problems | Scan, y: None = None) -> float:
        """Mean value of the lists that `predict` builds, under the problems' reward."""
        if isinstance(problems, Scan):
            return mean_worth(as_engine(self.engine), problems, self._slim().score)
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
            per_size=self.training_.per_size,
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

    def _generator(self, rounds: int) -> np.random.Generator:
        """The run's own; a run that goes on after some rounds must not draw the same numbers again."""
        rng = as_generator(self.random_state)
        seeded = isinstance(self.random_state, int | np.integer) and rounds > 0
        return np.random.default_rng([int(self.random_state), rounds]) if seeded else rng  # type: ignore[arg-type]

    def _n_passes(self) -> int:
        return self.n_passes

    def _is_online(self) -> bool:
        """Whether this is the paper's algorithm to the letter."""
        return self.batch_size == 1 and self.n_passes == 1

    def _make_features(self, problems: Problems) -> Features:
        if self.features == "auto":
            return auto_features(problems)
        if not isinstance(self.features, Features):
            raise InputError(f'features must be "auto" or come from listwright.features. Got {self.features!r}.')
        return clone(self.features)

    def _make_learner(self, problems: Problems | Scan) -> Learner:
        learner = as_learner(self.learner)
        if isinstance(learner, WeightedMajority) and learner.horizon is None:
            learner.horizon = self.n_passes * len(problems)
        return learner

    def _begin(self, problems: Problems) -> Training:
        learner = self._make_learner(problems)
        features = self._make_features(problems).fit(problems)
        mean_size = None if problems.sizes is None else float(problems.sizes.mean())
        training = self._training(learner, features, mean_size, int(problems.counts.max()))
        return replace(training, training_features=features.for_training(problems))

    def _training(self, learner: Learner, features: Features, mean_size: float | None, most: int) -> Training:
        """A run that starts, with features that are fitted; `most` candidates has the largest problem."""
        length = self._list_length(mean_size, most)
        return Training(
            features=features,
            learner=learner,
            policy=learner.first_policy(),
            weights=position_weights(length, self.rival_length, weighting=self.weighting),
            per_size=self.budget is not None if self.per_size == "auto" else bool(self.per_size),
            repeats=self.repeats,
            skip_solved=not self._is_online() if self.skip_solved == "auto" else bool(self.skip_solved),
        )

    def _list_length(self, mean_size: float | None, most: int) -> int:
        """m: the length, or about how many items fit the budget."""
        if self.budget is None or mean_size is None:
            return self.length
        return max(1, round(min(self.budget / mean_size, float(most))))

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
        check_length(length, problems, short_lists=short_lists or self.repeats)
        return length

    def check(self, problems: Problems) -> None:
        """Refuses settings and problems that cannot be learned from, as `fit` does before it starts."""
        check_problems(problems)
        reward_of(problems)
        at_least_one("length", self.length)
        if self.rival_length is not None:
            at_least_one("rival_length", self.rival_length)
        at_least_one("n_passes", self.n_passes)
        if self.batch_size != "auto":
            at_least_one("batch_size", self.batch_size)
        if self.keep not in KEEPS:
            raise InputError(f"keep must be one of {', '.join(KEEPS)}. Got {self.keep!r}.")
        if self.budget is not None and np.ndim(self.budget):
            raise InputError("The budget to learn with is one number. Budgets by problem go to predict.")
        as_room(self.budget, problems)
        if self.budget is None:
            self._steps(problems, self.length, self.short_lists)
        for name in ("per_size", "skip_solved"):
            if getattr(self, name) not in (True, False, "auto"):
                raise InputError(f'{name} must be True, False or "auto". Got {getattr(self, name)!r}.')
        if self.per_size is True and problems.sizes is None:
            raise InputError("per_size=True needs sizes, but these problems have none.")
