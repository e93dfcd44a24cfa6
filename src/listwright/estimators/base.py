"""`ListEstimator`, the estimator that `SCP`, `ContextFreeSCP` and `ConSeqOpt` are settings of.

`fit` checks its input, opens a source of problems (memory, scan or frame), plans features and learner, and runs the
rounds of `training.loop`; the estimator's attributes change only once all rounds are done. What a fitted estimator can
do stands in `predicting`, `certifying` and `telling`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from listwright._internal.arrays import RandomState, as_generator, at_least_one
from listwright._internal.parameters import Parameters, clone
from listwright._internal.progress import fitting, outermost, progress_to
from listwright.checks.mistakes import warn_of_mistakes
from listwright.engines import as_engine
from listwright.errors import InputError
from listwright.estimators.certifying import Certifies
from listwright.estimators.held_out import check_each_once, held_back
from listwright.estimators.measured import measured
from listwright.estimators.predicting import Predicts
from listwright.estimators.telling import Tells
from listwright.estimators.wide import suited_features
from listwright.features import Features
from listwright.learners import Learner, WeightedMajority, as_learner
from listwright.learners.examples import position_weights
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.storage import save, warn_unsavable
from listwright.tables import Scan
from listwright.training.checkpoints import Checkpoints, Progress
from listwright.training.history import History
from listwright.training.keep import KEEPS, PolicyKeeper
from listwright.training.loaded import try_loaded
from listwright.training.loop import Run, learn
from listwright.training.round import Training
from listwright.training.signature import OfKnownKind, Signature
from listwright.training.sources import Fitted, Plan, Source, opened
from listwright.walk.limits import as_capped, as_room, check_problems


class ListEstimator(Certifies, Tells, Predicts, Parameters):
    """What all estimators share: fit, partial_fit, predict, score, save and certificates.

    Subclasses follow scikit-learn: their constructors only store parameters, and they override
    `_plan` to choose features, learner and number of passes. See `SCP` for what the parameters mean.

    Attributes
    ----------
    policy_ : Policy
        The learned policy, chosen by `keep`.
    training_ : Training
        The run: fitted features, the learner, position weights and the ledger of states visited.
    signature_ : Signature
        What the training problems look like; `predict` refuses problems of another kind.
    rounds_ : dict of arrays
        The columns behind `history_`.
    certified_ : HeldOutCertificate
        After `fit(..., certify=share)`: bounds on the value of its lists, from the problems held back.
    training_problems_ : Problems or None
        What was learned from, where it was in memory. It is not saved.

    See Also
    --------
    SCP : One policy for all positions; start here.
    ConSeqOpt : One policy per position.
    ContextFreeSCP : One distribution over a catalogue.
    """

    length: int
    comparator_length: int | None
    budget: float | None
    learner: Any
    features: Any
    weighting: str
    per_size: bool | str
    n_passes: int
    batch_size: int | str
    keep: str
    repeats: bool
    skip_saturated: bool | str
    allow_short: bool
    random_state: RandomState
    engine: Any = "local"
    verbose: int = 0
    per_group: int | Mapping[Any, int] | None = None

    not_saved: ClassVar[tuple[str, ...]] = ("training_problems_",)

    def fit(
        self,
        problems: Any,
        y: None = None,
        *,
        reward: Any = None,
        progress: Any = "auto",
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 1,
        resume: bool = False,
        certify: float | None = None,
        validation: Any = None,
        **columns: Any,
    ) -> Self:
        """Learn a policy from problems with a reward: in memory, from a scan, or from a frame.

        Parameters
        ----------
        problems : Problems, Scan, or a frame of pandas, polars or pyarrow
            What to learn from. A frame has one row per candidate.
        y : None
            Not used: what a list is worth is the problems' reward.
        reward : str or Reward, optional
            With a frame: what a list is worth, such as "any:clicked".
        progress : {"auto"}, bool or callable, default "auto"
            "auto" shows a line on a terminal. A callable is called as `progress(what, done, total)` after each round
            (on an engine: shard) that was learned from; `total` is 0 for steps that are not counted.
        checkpoint : path, optional
            A file to write the model to, with how far it is, after every `checkpoint_every` rounds.
        checkpoint_every : int
            Number of rounds between two checkpoints.
        resume : bool
            Go on from the checkpoint, to the same model as without a break.
        certify : float, optional
            A share of the problems to hold back, such as 0.2. The policy is learned from the others, and
            `certified_` is what `certify` says of it on those held back.
        validation : Problems or a frame, optional
            Problems with a reward that are not learned from. `history_` records what each round's policy is worth on
            them.
        **columns
            With a frame: `problem=`, `item=`, `size=` and the other options of `Problems.from_frame`, which name its
            columns. The model remembers them, and reads other frames by the names of their columns.

        Returns
        -------
        ListEstimator
            Itself, fitted. If an error is raised, it stays as it was.

        Raises
        ------
        InputError
            If `y` is given, the problems have no reward, or a parameter does not suit them.
        """
        if y is not None:
            raise InputError("fit takes no y: the value of lists is given by the problems' reward. Leave y out.")
        problems, read_as = self._from_frame(problems, reward, columns)
        validation = self._alike(validation, read_as)
        checkpoints, started = Checkpoints(checkpoint, checkpoint_every, resume), time.monotonic()
        with fitting(), progress_to(progress, lines=self.verbose > 0):
            if certify is None:
                self._fit(problems, checkpoints, validation)
            else:
                self._fit_and_certify(problems, certify, checkpoints, validation)
        self._remember(read_as)
        if self.verbose > 0 and (told := self.measured_within(time.monotonic() - started)) is not None:
            print(told, file=sys.stderr, flush=True)
        return self

    def _fit(self, problems: Problems | Scan, checkpoints: Checkpoints, validation: Problems | None = None) -> Self:
        """Learn from problems that are checked and read already; the part of `fit` that `certify` and trials reuse."""
        warn_unsavable(self)
        with self._source(problems, self.keep) as source:
            run = self._resumed(source, checkpoints) if checkpoints.resume else self._begun(source)
            if validation is not None:
                run.signature.check(validation, "validation")
                reward_of(validation, "validation")
            self._learn(source, run, self.keep, checkpoints, validation)
        for name in {"report_", "trials_"} - run.about.keys():
            self.__dict__.pop(name, None)  # of an earlier fit
        return self

    def partial_fit(self, problems: Problems | Scan) -> Self:
        """Learn from more problems of the same kind, in one pass; on an unfitted model this is the first pass.

        Use it for data that arrives over time. Features stay as they were first fitted.

        Parameters
        ----------
        problems : Problems, Scan or a frame
            New problems with a reward. A frame is read by the names of the columns that `fit` saw.

        Returns
        -------
        ListEstimator
            Itself.

        Notes
        -----
        `keep="mixture"` goes on over all rounds so far; `keep="best"` keeps the last policy, as nothing is held out.
        `effort="auto"` is the same as "fast" here.
        """
        problems = self._as_problems(problems, measured=True)
        keep = "mixture" if self.keep == "mixture" else "last"
        training = self.training_.for_new_problems() if hasattr(self, "training_") else None
        with self._source(problems, keep, training) as source:
            if training is None:
                run = replace(self._begun(source, in_parts=True), n_passes=1)
            else:
                seen = self.signature_ if source.whole is None else self.signature_.merged(Signature.of(source.whole))
                going_on = replace(training, budget=self.budget, per_group=self.per_group)
                run = Run(going_on, seen, 1, earlier=getattr(self, "rounds_", None))
            return self._learn(source, run, keep, Checkpoints())

    def _source(
        self, problems: Problems | Scan, keep: str, training: Training | None = None
    ) -> AbstractContextManager[Source]:
        """Open the problems as a source of batches, on the engine in use."""
        # With `training`, the run to continue, every part must match the known signature.
        settings = clone(self)
        settings.engine = "local"  # what workers check with has no workers of its own
        return opened(
            problems,
            as_engine(self.engine),
            check=settings.check if training is None else OfKnownKind(settings.check, self.signature_),
            batch_size=self.batch_size,
            hold_out=keep == "best",
            rng=self._generator(0 if training is None else training.ledger.rounds),
        )

    def _begun(self, source: Source, *, in_parts: bool = False) -> Run:
        """Start a run: features are fitted and nothing is learned yet."""
        if outermost():
            self._warn(source.example)
        plan = self._plan(source, in_parts=in_parts)
        fitted = source.fitted(plan)
        return Run(self._training(plan.learner, fitted), fitted.signature, plan.n_passes, plan.about)

    def _warn(self, problems: Problems) -> None:
        """Warn of what makes a model worse than it looks, such as a column that gives the reward away."""
        warn_of_mistakes(problems, None if self.budget is not None or self.repeats else self.length)

    def _resumed(self, source: Source, checkpoints: Checkpoints) -> Run:
        """Restore the run that a checkpoint was written by, with the source at the same place in the data."""
        found = checkpoints.earlier(self, source.data)
        progress = found.progress_
        source.go_on(progress)
        training = replace(found.training_, budget=self.budget, per_group=self.per_group)
        about = {name: value for name, value in vars(found).items() if name in ("trials_", "report_")}
        earlier = getattr(found, "rounds_", None)
        return Run(training, found.signature_, progress.n_passes or self.n_passes, about, progress, earlier)

    def _learn(
        self, source: Source, run: Run, keep: str, checkpoints: Checkpoints, validation: Problems | None = None
    ) -> Self:
        """Run the rounds, and update the estimator's attributes once all are done."""
        training, keeper, done, history = run.training, PolicyKeeper(keep), 0, History(run.earlier)
        keeper.go_on(getattr(self, "policy_", None), training.ledger.rounds - training.ledger.unlearned)
        if run.progress is not None:
            keeper.recall(run.progress)
            done = run.progress.done

        def after_round(number: int) -> None:
            if checkpoints.due(number):
                progress = Progress(0, source.data, number, n_passes=run.n_passes)
                keeper.note(progress)
                source.note(progress)
                checkpoints.write(self, progress, run.fitted(training.policy, history))

        learn(
            training,
            source,
            keeper,
            n_passes=run.n_passes,
            done=done,
            after_round=after_round,
            history=history,
            validation=validation,
        )
        for name in ("certified_", "measurement_"):
            self.__dict__.pop(name, None)  # it was about another policy
        self.__dict__.update(run.fitted(keeper.kept(training.policy), history))
        self.training_problems_ = source.whole
        return self

    def save(self, path: str | Path, *, slim: bool | None = None) -> None:
        """Write the fitted model to one file, which `listwright.load` reads and the service serves.

        Parameters
        ----------
        path : path
            The file to write.
        slim : bool, optional
            Leave out what only further training needs: see `storage.save`.
        """
        save(self, path, slim=slim)

    def check_loaded(self, own: Iterable[Any], parts: Iterable[Any]) -> None:
        """Build a list of a made-up problem with a model from a file, so that a damaged file is found when it is
        loaded.
        """
        training = getattr(self, "training_", None)
        if not isinstance(training, Training):
            raise InputError("it was never fitted")
        try_loaded(self, training.features, getattr(self, "policy_", None), own, parts)

    def try_out(self, problems: Problems) -> None:
        """Run what a model can do beyond building a list, after loading; there is nothing more by default."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "training_")

    def _fit_and_certify(
        self,
        problems: Problems | Scan,
        share: float,
        checkpoints: Checkpoints,
        validation: Problems | None,
    ) -> Self:
        """Learn from a part of the problems, and certifies and measure the model on the part held back."""
        if isinstance(problems, Scan):
            raise InputError("certify holds back problems in memory. Keep some files back, and call certify with them.")
        check_problems(problems)
        check_each_once(problems)
        learned, held = held_back(len(problems), share, np.random.default_rng(0))
        self._fit(problems[learned], checkpoints, validation)
        rivals = ("top_k",) if problems.catalogue is None else ("top_k", "static")
        self.certified_ = self.certify_own_split(problems[held], rivals)
        self.measurement_ = measured(self, problems[learned], problems[held], self.certified_)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leaves the training problems out of copies for other processes and files."""
        return {name: value for name, value in super().__getstate__().items() if name != "training_problems_"}

    @property
    def n_rounds_(self) -> int:
        """The paper's T: the number of states visited while learning."""
        return self.training_.ledger.rounds

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that its checks on arrays do not apply."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    def _generator(self, rounds: int) -> np.random.Generator:
        """Return the random generator of a run; with a seed, a run that continues after some rounds gets another
        stream.
        """
        rng = as_generator(self.random_state)
        seeded = isinstance(self.random_state, int | np.integer) and rounds > 0
        return np.random.default_rng([int(self.random_state), rounds]) if seeded else rng  # type: ignore[arg-type]

    def _is_online(self) -> bool:
        """Return whether these settings are the paper's online algorithm: one pass, one state between updates."""
        return self.batch_size == 1 and self.n_passes == 1

    def _plan(self, source: Source, *, in_parts: bool = False) -> Plan:
        """Choose features, learner and number of passes for a source; subclasses override this."""
        learner = as_learner(self.learner)
        if isinstance(learner, WeightedMajority) and learner.horizon is None:
            learner.horizon = self.n_passes * source.n_states
        return Plan(self.chosen_features(source.example), learner, self.n_passes)

    def chosen_features(self, problems: Problems) -> Features:
        """Return the features that the policy is to see, not yet fitted: those set, or for "auto" those that suit the
        problems.
        """
        if self.features == "auto":
            return suited_features(problems)
        if not isinstance(self.features, Features):
            raise InputError(f'features must be "auto" or come from listwright.features. Got {self.features!r}.')
        return clone(self.features)

    def _training(self, learner: Learner, fitted: Fitted) -> Training:
        """Make the `Training` of a run that starts: the learner's first policy, position weights, and limits."""
        length = self._list_length(fitted.mean_size, fitted.most)
        return Training(
            features=fitted.features,
            learner=learner,
            policy=learner.first_policy(),
            weights=position_weights(length, self.comparator_length, weighting=self.weighting),
            per_size=self.budget is not None if self.per_size == "auto" else bool(self.per_size),
            repeats=self.repeats,
            skip_saturated=not self._is_online() if self.skip_saturated == "auto" else bool(self.skip_saturated),
            training_features=fitted.training_features,
            budget=self.budget,
            per_group=self.per_group,
        )

    def _list_length(self, mean_size: float | None, most: int) -> int:
        """Return m: the length or, under a budget, about how many items of mean size fit."""
        if self.budget is None or mean_size is None:
            return self.length
        return max(1, round(min(self.budget / mean_size, float(most))))

    def check(self, problems: Problems) -> None:
        """Raise `InputError` for settings or problems that cannot be learned from, as `fit` does before it starts.

        Engines call it on every part of a scan, so that errors name the part.
        """
        check_problems(problems)
        reward_of(problems)
        at_least_one("length", self.length)
        if self.comparator_length is not None:
            at_least_one("comparator_length", self.comparator_length)
        at_least_one("n_passes", self.n_passes)
        if self.batch_size != "auto":
            at_least_one("batch_size", self.batch_size)
        if self.keep not in KEEPS:
            raise InputError(f"keep must be one of {', '.join(KEEPS)}. Got {self.keep!r}.")
        if self.budget is not None and np.ndim(self.budget):
            raise InputError("The budget for training must be one number. Pass budgets per problem to predict.")
        as_room(self.budget, problems)
        as_capped(problems, None, self.per_group)
        if self.budget is None:
            self._steps(problems, self.length, self.allow_short)
        for name in ("per_size", "skip_saturated"):
            if getattr(self, name) not in (True, False, "auto"):
                raise InputError(f'{name} must be True, False or "auto". Got {getattr(self, name)!r}.')
        if self.per_size is True and problems.sizes is None:
            raise InputError("per_size=True needs sizes, but these problems have none.")
