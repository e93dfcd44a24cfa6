"""`ListEstimator`, the estimator that `SCP`, `ContextFreeSCP` and `ConSeqOpt` are settings of."""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self, Unpack, overload

import numpy as np
from narwhals.typing import IntoFrame
from numpy.typing import ArrayLike

from listwright._internal.arrays import RandomState, as_generator, at_least_one
from listwright._internal.extras import warn
from listwright._internal.parameters import check_fitted, clone, takes_nan
from listwright._internal.pictures import bars, lines
from listwright._internal.progress import fitting, outermost, progress_to
from listwright._internal.quotas import PerGroup, absent_groups
from listwright.checks.mistakes import warn_of_mistakes
from listwright.engines import as_engine
from listwright.engines.base import StreamedLists, mean_worth_of_all, streamed_lists
from listwright.errors import DataWarning, InputError
from listwright.estimators.certification import Rivals, as_certification, certify_model, check_each_once, read_draws
from listwright.estimators.measurement import Measurement, measure_held_out, measure_out_of_fold, split_held_out
from listwright.estimators.wide import Compressed, compress
from listwright.evaluation.explain import Explainer
from listwright.evaluation.importance import importance, weights_table
from listwright.evaluation.table import Table
from listwright.features import Features
from listwright.features.auto import auto_features
from listwright.features.base import WithNaN
from listwright.frames.columns import FrameKeywords, with_column_options
from listwright.guarantees import Certificate, HeldOutCertificate
from listwright.guarantees import certify as certificate_of_run
from listwright.learners import WeightedMajority, as_learner
from listwright.learners.examples import position_weights
from listwright.lists import Lists
from listwright.policies import Policy
from listwright.predictor import Predictor, UnsetAttribute
from listwright.problems import Problems
from listwright.rewards import reward_of
from listwright.storage import warn_unsavable
from listwright.tables import Scan
from listwright.training.loop import (
    KEEPS,
    Checkpoints,
    CheckpointState,
    FitPlan,
    Fitted,
    History,
    PolicyKeeper,
    ProblemSource,
    Run,
    display_columns,
    learn,
)
from listwright.training.round import Training
from listwright.training.signature import OfKnownKind, Signature, made_up, try_loaded
from listwright.training.sources import open_source
from listwright.walk.constraints import as_budgets, as_constrained, check_length, check_problems
from listwright.walk.lists import build_lists

ABOUT = {"report_", "trials_", "per_size_"}  # attributes that say what a fit chose
LONG = 5.0  # seconds of learning, past which nothing is learned once more only to measure it
BARS = 20  # features that are drawn
UNUSED = np.random.default_rng(0)  # for policies that draw nothing: making one takes longer than a short list


class ListEstimator(Predictor):
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

    comparator_length: int | None
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
    per_group: PerGroup = None

    policy_: Any
    training_: Any
    rounds_: dict[str, Any]
    measurement_: Measurement
    report_: Any
    certified_: Any = UnsetAttribute(
        "no problems were held back. fit(..., certify=0.2) holds some back and certifies the model on them; "
        "certify(problems) does so on problems that you have held back."
    )

    not_saved: ClassVar[tuple[str, ...]] = ("training_problems_", "reward_function_")

    @with_column_options
    def fit(
        self,
        problems: Problems | Scan | IntoFrame,
        y: None = None,
        *,
        reward: Any = None,
        progress: Any = "auto",
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 1,
        resume: bool = False,
        certify: float | None = None,
        validation: Any = None,
        **columns: Unpack[FrameKeywords],
    ) -> Self:
        """Learn a policy from problems with a reward: in memory, from a scan, or from a frame.

        Parameters
        ----------
        problems : Problems, Scan, or a frame of pandas, polars, pyarrow or DuckDB
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
        problem, item, size and the rest
            With a frame: the options of `Problems.from_frame`, which name its columns. The model remembers them, and
            reads other frames by the names of their columns.

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
        problems, read_as = self._from_frame(problems, reward, dict(columns))
        validation = self._alike(validation, read_as)
        checkpoints, started = Checkpoints(checkpoint, checkpoint_every, resume), time.monotonic()
        with fitting(), progress_to(progress, lines=self.verbose > 0):
            if outermost() and isinstance(problems, Problems) and problems.groups is not None and not problems.quotas:
                absent = absent_groups(self.per_group, problems.groups)
                if absent:
                    warn(absent, DataWarning)  # an error would end a cross-validation where a fold lacks a group
            if certify is None:
                self._fit(problems, checkpoints, validation)
            else:
                self._fit_and_certify(problems, certify, checkpoints, validation)
        self._remember(read_as)
        if read_as and read_as["columns_"].marks and vars(self).get("report_") is not None:
            self.report_ = replace(self.report_, filled=tuple(read_as["columns_"].marks))
        if self.verbose > 0 and (measurement := self.measured_within(time.monotonic() - started)) is not None:
            print(measurement, file=sys.stderr, flush=True)
        return self

    @with_column_options
    def partial_fit(
        self, problems: Problems | Scan | IntoFrame, *, reward: Any = None, **columns: Unpack[FrameKeywords]
    ) -> Self:
        """Learn from more problems of the same kind, in one pass; on an unfitted model this is the first pass.

        Use it for data that arrives over time. Features stay as they were first fitted.

        Parameters
        ----------
        problems : Problems, Scan or a frame
            New problems with a reward. A frame is read by the names of the columns that were seen first.
        reward : str or Reward, optional
            With the first frame: what a list is worth, such as "any:clicked".
        problem, item, size and the rest
            With the first frame: the options of `Problems.from_frame`, which name its columns.

        Returns
        -------
        ListEstimator
            Itself.

        Notes
        -----
        `keep="mixture"` goes on over all rounds so far; `keep="best"` keeps the last policy, as nothing is held out.
        `effort="auto"` is the same as "fast" here.
        """
        problems = self._more_problems(problems, reward, dict(columns))
        keep = "mixture" if self.keep == "mixture" else "last"
        training = self.training_.for_new_problems() if hasattr(self, "training_") else None
        with fitting(), self._source(problems, keep, training) as source:
            if training is None:
                run = replace(self._start_run(source, in_parts=True), n_passes=1)
            else:
                seen = self.signature_ if source.whole is None else self.signature_.merge(Signature.of(source.whole))
                going_on = replace(training, budget=self.budget, per_group=self.per_group)
                run = Run(going_on, seen, 1, earlier=getattr(self, "rounds_", None))
            return self._learn(source, run, keep, Checkpoints())

    @overload
    def predict(
        self,
        problems: Problems | IntoFrame,
        *,
        length: int | None = None,
        budget: ArrayLike | None = None,
        allow_short: bool | None = None,
        per_group: PerGroup = None,
        new_levels: str | None = None,
    ) -> Lists: ...

    @overload
    def predict(
        self,
        problems: Scan,
        *,
        length: int | None = None,
        budget: ArrayLike | None = None,
        allow_short: bool | None = None,
        per_group: PerGroup = None,
    ) -> StreamedLists: ...

    def predict(
        self,
        problems: Problems | Scan | IntoFrame,
        *,
        length: int | None = None,
        budget: ArrayLike | None = None,
        allow_short: bool | None = None,
        per_group: PerGroup = None,
        new_levels: str | None = None,
    ) -> Lists | StreamedLists:
        """Build lists for problems whose reward need not be known; lists of a scan are built lazily, part by part."""
        if not hasattr(self, "training_"):  # scikit-learn's own check takes longer than a short list
            check_fitted(self)
        if new_levels is not None or not isinstance(problems, Scan):
            problems = self._as_problems(problems, new_levels=new_levels)
        length, budget = self._limits(length, budget)
        short = self.allow_short if allow_short is None else allow_short
        if isinstance(problems, Scan):
            lists_of = partial(
                self._slim()._lists, length=length, budget=budget, allow_short=short, per_group=per_group
            )
            seed = int(as_generator(self.random_state).integers(2**62))
            return streamed_lists(problems, as_engine(self.engine), lists_of, seed)
        rng = UNUSED if self.policy_.certain else as_generator(self.random_state)
        return self._lists(problems, rng, length=length, budget=budget, allow_short=short, per_group=per_group)

    def score(
        self,
        problems: Problems | Scan | IntoFrame,
        y: None = None,
        *,
        reward: Any = None,
        length: int | None = None,
        budget: ArrayLike | None = None,
        new_levels: str | None = None,
    ) -> float:
        """Return the mean value of the lists that `predict` builds; a scan is measured part by part."""
        options: dict[str, Any] = {"reward": reward, "length": length, "budget": budget, "new_levels": new_levels}
        if isinstance(problems, Scan):
            score = partial(self._slim().score, **options)
            return mean_worth_of_all(as_engine(self.engine), problems, score)
        return super().score(problems, **options)

    def certify(
        self,
        held_out: Problems | IntoFrame,
        delta: float = 0.05,
        *,
        rivals: Rivals = (),
        length: int | None = None,
        budget: float | None = None,
        per_group: Any = None,
        training: Problems | None = None,
        cluster: Any = None,
        weight: Any = None,
    ) -> HeldOutCertificate:
        """Return what is certain of the lists that `predict` builds, from problems that the model has not seen.

        Parameters
        ----------
        held_out : Problems or frame
            Problems with a reward, drawn independently from the same source; those that the model has learned from
            are refused. Their order does not matter.
        delta : float, default 0.05
            Probability that one of the statements is wrong.
        rivals : sequence or mapping
            What to compare with: "static", "top_k", "mmr", or fitted models.
        length, budget, per_group : optional
            Limits of the lists; those of the model by default.
        training : Problems, optional
            What rivals that are only named learn from; by default the training problems, while the model has them.
        cluster : str or array-like, optional
            Problems that belong together, such as several of one user: a column of the frame, or one entry per
            problem. Clusters are then the independent draws, and each counts the same.
        weight : str or array-like, optional
            Weights of the problems: a column of the frame, or one number per problem. No weight that can occur may be
            larger than the largest one here.

        Returns
        -------
        HeldOutCertificate
            The bounds; printing it states them. `update` goes on with further problems.

        See Also
        --------
        certify_best : For a model that is chosen by its certificate.
        """
        check_fitted(self)
        if isinstance(held_out, list | tuple | dict):
            raise InputError(
                f"certify takes held-out problems or a frame. Got a {type(held_out).__name__}. To certify the best of "
                "several models, use lw.certify_best(models, held_out)."
            )
        problems = self._as_problems(held_out, measured=True)
        limits = self._limits(length, budget)
        certification = as_certification(self, rivals, limits=limits, per_group=per_group, training=training)
        draws = read_draws(cluster, weight, held_out, problems, self)
        return certify_model(certification, problems, *draws, delta=delta)

    def certify_own_split(self, held: Problems, rivals: Rivals = ()) -> HeldOutCertificate:
        """Certify the model on problems that `fit` itself held back, where alike ones may be on both sides."""
        return certify_model(as_certification(self, rivals, own_split=True), held, delta=0.05)

    def online_certificate(self, delta: float = 0.05) -> Certificate:
        """Return what the paper's theorems prove of the run, from the regret measured while learning."""
        check_fitted(self)
        ledger = self.training_.ledger
        kept = len(getattr(self.policy_, "policies", ())) if self.keep == "mixture" else 0
        certificate = certificate_of_run(
            self.training_.learner,
            rounds=ledger.rounds,
            loss=ledger.loss,
            value=ledger.value,
            passes=ledger.most_visits,
            states=ledger.n_states,
            left_out=ledger.unlearned,
            left_out_value=ledger.unlearned_value,
            keep=self.keep,
            also=[*ledger.breaches, *self._breaches()],
            length=len(self.training_.weights),
            comparator_length=self.comparator_length,
            delta=delta,
            bounded=ledger.bounded,
            submodular=ledger.submodular,
            budgeted=self.budget is not None,
            grouped=self.training_.per_group is not None,
            per_size=self.training_.per_size,
            discounted=self.weighting == "discounted",
        )
        return replace(certificate, n_kept=kept if 0 < kept < ledger.rounds - ledger.unlearned else None)

    @property
    def weights_(self) -> Table:
        """The weights of a linear policy: a table with one row per column that the policy sees.

        `feature` and `group` say what the column is, as reasons do; `weight` is what one spread (standard deviation
        over the training candidates) more of it adds to the score. Of `keep="mixture"` it is the mean over rounds; a
        model with a policy for each position has a column `position` too. `to_frame()` makes a frame of the table.
        """
        check_fitted(self)
        linear = self.policy_.linear()
        if linear is None:
            raise AttributeError(
                f"The policy of this {type(self).__name__} ({type(self.policy_).__name__}) has no weights. "
                "See listwright.importance."
            )
        items = getattr(getattr(self, "columns_", None), "catalogue_names", ())
        items = list(items) or [f"item {i}" for i in range(self.signature_.n_items or 0)]
        table = weights_table(linear, self.training_.features, made_up(self.signature_, whole=True), items)
        return replace(table, backend=self._backend())

    @property
    def history_(self) -> Table:
        """What each round of learning brought: a table with one row per round.

        `states` that were visited, `training_value`: the mean value of the lists built while learning, and
        `held_out_value`: that of the policy after the round on problems that were not learned from, with `keep="best"`
        or `fit(..., validation=...)`; else it is NaN. Past 2,000 rounds, several are merged into one row.
        """
        check_fitted(self)
        if not hasattr(self, "rounds_"):
            raise AttributeError(f"This {type(self).__name__} has no history: an older version wrote its file.")
        return Table(display_columns(self.rounds_), self._backend())

    def _backend(self) -> str | None:
        return getattr(getattr(self, "training_problems_", None), "backend", None)

    @property
    def measured_(self) -> Measurement:
        """What lists are worth on problems that were not learned from, beside the static list, sorting and MMR.

        After `fit(..., certify=0.2)` it is about this very model, on the problems held back. Otherwise copies are
        fitted without one fifth of the training problems each, and measured on these, when this is first asked for; a
        fit that chose between methods has measured them already.
        """
        check_fitted(self)
        if hasattr(self, "measurement_"):
            return self.measurement_
        problems = getattr(self, "training_problems_", None)
        if problems is None:
            raise AttributeError(
                f"This {type(self).__name__} no longer has its training problems. Use certify with others, or fit with "
                "certify=0.2."
            )
        self.measurement_ = measure_out_of_fold(self, problems)
        return self.measurement_

    def plot(self, what: str = "value", problems: Any = None) -> Any:
        """Draw the model as an altair chart.

        Parameters
        ----------
        what : {"value", "history", "weights", "importance"}, default "value"
            "value": how far its lists are ahead of other methods, from `measured_`. "history": the value of lists round
            by round. "weights": the largest weights of a linear policy. "importance": what lists lose without a
            feature, on `problems`.
        problems : Problems or a frame, optional
            With "importance": problems with a reward.

        Returns
        -------
        altair.Chart
            The chart; `chart.save("model.html")` writes it.

        Raises
        ------
        InputError
            If `what` is unknown, or problems are missing.
        MissingExtra
            If altair is not installed (extra `plots`).
        """
        known = ["value", "history", "weights", *([] if problems is None else ["importance"])]
        if not isinstance(what, str) or what not in known:
            got = repr(what) if isinstance(what, str) else f"a {type(what).__name__}"
            raise InputError(f'what must be "value", "history", "weights", or "importance" with problems=. Got {got}.')
        if what == "value":
            return self.measured_.plot()
        if what == "history":
            return history_chart(self.history_)
        if what == "weights":
            return feature_bars(self.weights_, "weight", "weight per spread")
        return feature_bars(importance(self, problems), "importance", "value lost without the feature")

    def measured_within(self, seconds: float) -> Measurement | None:
        """Return `measured_`, or None where it is not there or would take as long as a slow fit."""
        if seconds > LONG and not hasattr(self, "measurement_"):
            return None
        return getattr(self, "measured_", None)

    def _fit(self, problems: Problems | Scan, checkpoints: Checkpoints, validation: Problems | None = None) -> Self:
        """Learn from problems that are checked and read already; the part of `fit` that `certify` and trials reuse."""
        warn_unsavable(self)
        with self._source(problems, self.keep) as source:
            run = self._resume_run(source, checkpoints) if checkpoints.resume else self._start_run(source)
            if validation is not None:
                run.signature.check(validation, "validation")
                reward_of(validation, "validation")
            self._learn(source, run, self.keep, checkpoints, validation)
        for name in ABOUT - run.about.keys():
            self.__dict__.pop(name, None)  # of an earlier fit
        return self

    def _source(
        self, problems: Problems | Scan, keep: str, training: Training | None = None
    ) -> AbstractContextManager[ProblemSource]:
        # With `training`, the run to continue, every part must match the known signature.
        settings = clone(self)
        settings.engine = "local"  # what workers check with has no workers of its own
        return open_source(
            problems,
            as_engine(self.engine),
            check=settings.check if training is None else OfKnownKind(settings.check, self.signature_),
            batch_size=self.batch_size,
            hold_out=keep == "best",
            rng=self._generator(0 if training is None else training.ledger.rounds),
        )

    def _start_run(self, source: ProblemSource, *, in_parts: bool = False) -> Run:
        if outermost():
            self._warn(source.example)
        plan = self._plan(source, in_parts=in_parts)
        fitted = source.fit_features(plan)
        return Run(self._training(plan, fitted), fitted.signature, plan.n_passes, plan.about)

    def _warn(self, problems: Problems) -> None:
        warn_of_mistakes(problems, None if self.budget is not None or self.repeats else self.length)

    def _resume_run(self, source: ProblemSource, checkpoints: Checkpoints) -> Run:
        earlier = checkpoints.earlier(self, source.data)
        progress = earlier.progress_
        source.resume(progress)
        training = replace(earlier.training_, budget=self.budget, per_group=self.per_group)
        about = {name: value for name, value in vars(earlier).items() if name in {*ABOUT, "measurement_"}}
        rounds = getattr(earlier, "rounds_", None)
        return Run(training, earlier.signature_, progress.n_passes, about, progress, rounds)

    def _learn(
        self, source: ProblemSource, run: Run, keep: str, checkpoints: Checkpoints, validation: Problems | None = None
    ) -> Self:
        training, keeper, done, history = run.training, PolicyKeeper(keep), 0, History(run.earlier)
        keeper.resume(getattr(self, "policy_", None), training.ledger.rounds - training.ledger.unlearned)
        if run.progress is not None:
            keeper.recall(run.progress)
            done = run.progress.done

        def after_round(number: int) -> None:
            if checkpoints.due(number):
                progress = CheckpointState(0, source.data, number, n_passes=run.n_passes)
                keeper.note(progress)
                source.note(progress)
                checkpoints.write(self, progress, run.attributes(training.policy, history))

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
        self.__dict__.update(run.attributes(keeper.kept(training.policy), history))
        self.training_problems_ = source.whole
        return self

    def _slim(self) -> Self:
        """Return a copy with only what workers need to build lists: no learner state, and the local engine."""
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
        allow_short: bool,
        per_group: PerGroup = None,
    ) -> Lists:
        self.signature_.check(problems, "predict")
        problems = as_constrained(problems, per_group, self.per_group)
        steps = self._steps(problems, length, allow_short)
        budgets, features = as_budgets(budget, problems), self.training_.features
        policy = self.policy_.drawn(len(problems), rng)
        limits: dict[str, Any] = {"length": steps, "budgets": budgets, **self.training_.picking}
        lists = build_lists(problems.without_reward(), features, policy, rng=rng, **limits)
        explainer = Explainer(features, policy, self.repeats, budgets)
        return Lists(lists.problems, lists.rows, picked_scores=lists.picked_scores, explainer=explainer)

    def _steps(self, problems: Problems, length: int | None, allow_short: bool) -> int | None:
        """Return the number of positions to fill, None where only a budget limits lists."""
        if length is None:
            return None
        check_length(length, problems, allow_short=allow_short or self.repeats)
        return length

    def check_loaded(self, own: Iterable[Any], parts: Iterable[Any]) -> None:
        """Build a list of a made-up problem, so that a damaged file is found when it is loaded."""
        training = getattr(self, "training_", None)
        if not isinstance(training, Training):
            raise InputError("it was never fitted")
        try_loaded(self, training.features, getattr(self, "policy_", None), own, parts)

    def try_out(self, problems: Problems) -> None:
        """Run what a model can do beyond building a list, after loading; there is nothing more by default."""

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "training_")

    def _fit_and_certify(
        self, problems: Problems | Scan, share: float, checkpoints: Checkpoints, validation: Problems | None
    ) -> Self:
        if isinstance(problems, Scan):
            raise InputError("certify holds back problems in memory. Keep some files back, and call certify with them.")
        check_problems(problems)
        check_each_once(problems)
        learned, held = split_held_out(len(problems), share, np.random.default_rng(0))
        self._fit(problems[learned], checkpoints, validation)
        rivals = ("top_k",) if problems.catalogue is None else ("top_k", "static")
        self.certified_ = self.certify_own_split(problems[held], rivals)
        self.measurement_ = measure_held_out(self, problems[learned], problems[held], self.certified_)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave the training problems and functions out of copies for other processes and files."""
        return {name: value for name, value in super().__getstate__().items() if name not in self.not_saved}

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
        """Return the random generator of a run; one that goes on after some rounds gets another stream."""
        rng = as_generator(self.random_state)
        seeded = isinstance(self.random_state, int | np.integer) and rounds > 0
        return np.random.default_rng([int(self.random_state), rounds]) if seeded else rng  # type: ignore[arg-type]

    def _is_online(self) -> bool:
        """Return whether these settings are the paper's online algorithm: one pass, one state between updates."""
        return self.batch_size == 1 and self.n_passes == 1

    def _plan(self, source: ProblemSource, *, in_parts: bool = False) -> FitPlan:
        learner = as_learner(self.learner)
        if isinstance(learner, WeightedMajority) and learner.horizon is None:
            learner.horizon = self.n_passes * source.n_states
        return FitPlan(self.chosen_features(source.example), learner, self.n_passes)

    def chosen_features(self, problems: Problems) -> Features:
        """Return the features that the policy is to see, not yet fitted: those set, or those that suit the problems."""
        if self.features != "auto" and not isinstance(self.features, Features):
            raise InputError(f'features must be "auto" or come from listwright.features. Got {self.features!r}.')
        features = compress(auto_features(problems), problems) if self.features == "auto" else clone(self.features)
        return WithNaN(features) if any(problems.gaps) and self._takes_nan(features) else features

    def _takes_nan(self, features: Features) -> bool:
        return takes_nan(getattr(self.learner, "estimator", self.learner)) and not isinstance(features, Compressed)

    def _training(self, plan: FitPlan, fitted: Fitted) -> Training:
        length, learner = self._list_length(fitted.mean_size, fitted.most), plan.learner
        per_size = plan.about.get("per_size_", self.budget is not None) if self.per_size == "auto" else self.per_size
        return Training(
            features=fitted.features,
            learner=learner,
            policy=learner.first_policy(),
            weights=position_weights(length, self.comparator_length, weighting=self.weighting),
            per_size=bool(per_size),
            repeats=self.repeats,
            skip_saturated=not self._is_online() if self.skip_saturated == "auto" else bool(self.skip_saturated),
            training_features=fitted.training_features,
            budget=self.budget,
            per_group=self.per_group,
            last_by_gain=bool(per_size) and learner.surrogate == "squared",  # else scores are no gains
        )

    def _list_length(self, mean_size: float | None, most: int) -> int:
        """Return m: the length or, under a budget, about how many items of mean size fit."""
        if self.budget is None or mean_size is None:
            return self.length
        return max(1, round(min(self.budget / mean_size, float(most))))

    def _breaches(self) -> Iterator[str]:
        """Yield, in words, what saw states before the online pass over them, which the theorems do not allow."""
        if self.training_.features.uses_training_data():
            yield "features were scaled or fitted on all states beforehand (standardize=False leaves them as they are)"
        if getattr(getattr(self, "columns_", None), "fills", None):
            yield "missing values were filled with medians of all states"
        experts = getattr(self.training_.learner, "policies", None)  # None for items, which are blind
        blind = self.repeats and self.training_.features.is_static
        if experts is not None and not (blind and all(type(policy).pick is Policy.pick for policy in experts)):
            yield (
                "the policies look at the list, and the theorem's rivals do not (repeats=True, and no features of the "
                "list)"
            )

    def check(self, problems: Problems) -> None:
        """Raise `InputError`, as `fit` does before it starts; engines call it on every part, which errors name."""
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
        as_budgets(self.budget, problems)
        as_constrained(problems, None, self.per_group)
        if self.budget is None:
            self._steps(problems, self.length, self.allow_short)
        for name in ("per_size", "skip_saturated"):
            if getattr(self, name) not in (True, False, "auto"):
                raise InputError(f'{name} must be True, False or "auto". Got {getattr(self, name)!r}.')
        if self.per_size is True and problems.sizes is None:
            raise InputError("per_size=True needs sizes, but these problems have none.")


def history_chart(history: Table) -> Any:
    kinds = {"training_value": "while learning", "held_out_value": "not learned from"}
    usual = np.median(history["states"]) / 2.0  # the last batch of a pass may have a few states left, and says little
    records = [record for record in history.records() if record["states"] >= usual]
    pairs = ((record, column) for record in records for column in kinds)
    points = [{"round": record["round"], "kind": kinds[column], "value": record[column]} for record, column in pairs]
    return lines(points, "round", "mean value of lists")


def feature_bars(table: Table, value: str, title: str) -> Any:
    records = sorted(table.records(), key=lambda record: -abs(record[value]))[:BARS]
    for record in (some for some in records if "position" in some):  # which has a policy of its own
        record["feature"] += f", position {record['position']}"
    return bars(records, "feature", value, title)
