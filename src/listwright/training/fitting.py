"""Fitting an estimator on a scan: look at all shards once, then go through the rounds, with checkpoints."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from listwright._internal.arrays import as_generator
from listwright._internal.limits import at_least_one
from listwright._internal.threads import one_thread
from listwright.engines.base import Crew, as_engine
from listwright.errors import InputError
from listwright.features import Features
from listwright.learners import Learner
from listwright.problems import Problems
from listwright.tables import Scan
from listwright.training.keep import Keeper
from listwright.training.round import Training
from listwright.training.rounds import (
    Bar,
    Progress,
    Run,
    Schedule,
    Tick,
    fingerprint,
    kept_share,
    look,
    rounds_a_pass,
)
from listwright.training.signature import Signature
from listwright.training.tasks import Look

NOT_SET = ("engine", "random_state")  # parameters that may differ when a fit goes on


@dataclass(frozen=True)
class Checkpoints:
    """Where a fit writes how far it is, how often, and whether it goes on from there."""

    path: str | Path | None = None
    every: int = 1  # rounds
    resume: bool = False

    def __post_init__(self) -> None:
        at_least_one("checkpoint_every", self.every)
        if self.resume and self.path is None:
            raise InputError("resume needs the file to go on from. Pass checkpoint.")

    def write(self, model: Any, training: Training, signature: Signature, progress: Progress) -> None:
        """The model so far, which can be loaded like any other, with its progress."""
        if self.path is None or progress.done % self.every:
            return
        twin = copy.copy(model)
        twin.training_, twin.policy_, twin.signature_ = training, training.policy, signature
        twin.n_features_in_, twin.progress_ = signature.n_features, progress
        import_module("listwright.storage").save(twin, self.path)  # by name: storage stands above this room

    def earlier(self, model: Any, scan: Scan) -> Any:
        """The model of the checkpoint, after a check that it belongs to this fit; None for a fit from the start."""
        if not self.resume:
            return None
        if not Path(str(self.path)).exists():
            raise InputError(f"There is no checkpoint {self.path} to go on from. Start without resume.")
        found = import_module("listwright.storage").load(self.path)
        if not isinstance(getattr(found, "progress_", None), Progress):
            raise InputError(f"{self.path} is a model and no checkpoint. Name the file that checkpoint wrote.")
        if type(found) is not type(model) or _settings(found) != _settings(model):
            raise InputError(f"{self.path} is the checkpoint of another fit: {found!r:.80}. Use the same parameters.")
        if found.progress_.data != fingerprint(scan):
            raise InputError(f"{self.path} is the checkpoint of a fit on other shards. Use the same files and options.")
        return found


def fit_scan(
    model: Any, scan: Scan, *, keep: str, n_passes: int, checkpoints: Checkpoints, tick: Tick | None = None
) -> None:
    """Fits the model from the start, or from its checkpoint on."""
    model.check(next(scan.blocks(0)))
    earlier = checkpoints.earlier(model, scan)
    seed = _seed(model) if earlier is None else earlier.progress_.seed
    keeper = Keeper(keep, np.arange(len(scan.shards)), np.random.default_rng(seed))
    bar = Bar(tick, n_passes * len(keeper.problems) + len(scan.shards))
    with _crew(model, scan) as crew:
        if earlier is None:
            start = Progress(seed, fingerprint(scan)), *_begin(model, scan, crew, keeper, bar)
        else:
            start = earlier.progress_, earlier.training_, earlier.signature_
        _go(model, scan, crew, keeper, start, bar, n_passes=n_passes, checkpoints=checkpoints)


def partial_fit_scan(model: Any, scan: Scan, *, keep: str) -> None:
    """One more pass, over problems of the kind that the model knows."""
    training = model.training_.for_new_problems()
    seed = _seed(model)
    keeper = Keeper(keep, np.arange(len(scan.shards)), np.random.default_rng(seed))
    keeper.go_on(getattr(model, "policy_", None), training.ledger.rounds)
    progress = Progress(seed, fingerprint(scan))
    progress.note(keeper)
    start = progress, training, model.signature_
    check, bar = _Check(model.signature_, _for_workers(model).check), Bar(None, len(scan.shards))
    with _crew(model, scan) as crew:
        _go(model, scan, crew, keeper, start, bar, n_passes=1, checkpoints=Checkpoints(), check=check)


@dataclass(frozen=True)
class _Check:
    """Problems must be of the kind that the model knows, and such that they can be learned from."""

    signature: Signature
    check: Callable[[Problems], None]

    def __call__(self, block: Problems) -> None:
        self.signature.check(block, "partial_fit")
        self.check(block)


@contextmanager
def _crew(model: Any, scan: Scan) -> Iterator[Crew]:
    """The model's workers; linear algebra keeps to one thread, so that it adds up in one order."""
    with one_thread(), as_engine(model.engine).crew(scan) as crew:
        yield crew


def _begin(model: Any, scan: Scan, crew: Crew, keeper: Keeper, bar: Bar) -> tuple[Training, Signature]:
    """Looks at all shards, and fits the features on what it has found."""
    features: Features = model._make_features(next(scan.blocks(0)))
    if not features.streams():
        raise InputError(
            f"{features!r:.60} must see all problems at once (as effort='best' does), so that it cannot be fitted on a "
            "scan. Fit on scan.sample(), or choose other features."
        )
    learner = model._make_learner(scan)
    schedule = _schedule(model, scan, keeper, learner, 0)
    held = [] if keeper.validation is None else [int(shard) for shard in keeper.validation]
    found = look(crew, schedule.dealt() + held, Look(features, _for_workers(model).check), bar)
    mean_size = found.size / scan.n_rows if found.size else None
    return model._training(learner, features.settle(found.summary), mean_size, found.most), found.signature


def _schedule(model: Any, scan: Scan, keeper: Keeper, learner: Learner, seed: int) -> Schedule:
    shards = np.asarray(keeper.problems)
    return Schedule(shards, rounds_a_pass(scan, shards, learner, model.batch_size), seed)


def _go(
    model: Any,
    scan: Scan,
    crew: Crew,
    keeper: Keeper,
    start: tuple[Progress, Training, Signature],
    bar: Bar,
    *,
    n_passes: int,
    checkpoints: Checkpoints,
    check: Callable[[Problems], None] | None = None,
) -> None:
    """Does the rounds that are left, and hands the result to the model."""
    progress, training, signature = start
    run = Run(
        crew=crew,
        scan=scan,
        training=training,
        keeper=keeper,
        schedule=_schedule(model, scan, keeper, training.learner, progress.seed),
        progress=progress,
        budget=model.budget,
        share=kept_share(scan, training.learner, len(training.weights), n_passes),
        bar=bar,
        value=_for_workers(model)._value,
        check=check,
    )
    for _ in run.rounds(n_passes):
        checkpoints.write(model, training, signature, progress)
    training.ledger.passes = max(training.ledger.passes, n_passes)
    model.training_, model.policy_, model.signature_ = training, keeper.kept(training.policy), signature
    model.n_features_in_ = signature.n_features


def _for_workers(model: Any) -> Any:
    """The model's settings; workers have no workers of their own."""
    twin = clone(model)
    twin.engine = "local"
    return twin


def _seed(model: Any) -> int:
    return int(as_generator(model.random_state).integers(2**62))


def _settings(model: Any) -> dict[str, str]:
    """The parameters that a fit depends on, in words."""
    return {name: repr(value) for name, value in model.get_params(deep=False).items() if name not in NOT_SET}
