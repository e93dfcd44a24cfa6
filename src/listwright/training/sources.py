"""Sources of training problems: in memory, in memory on several workers, or a scan on an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np

from listwright._internal.arrays import Ints
from listwright._internal.threads import one_thread
from listwright.engines import Engine, Local
from listwright.engines.base import Counter, MemoryShard, MemoryShards, Shards, WorkerPool, mean_worth
from listwright.errors import InputError
from listwright.features import Features
from listwright.features.scale import merge
from listwright.learners import Learner
from listwright.problems import Problems
from listwright.tables import Scan
from listwright.training.loop import Check, CheckpointState, FitPlan, Fitted, ProblemSource, Round, held_out
from listwright.training.round import Ledger, Training, first_gains, states_of
from listwright.training.signature import Signature, fingerprint
from listwright.walk.constraints import check_problems


class InMemory:
    """Batches of problems in memory. The first pass takes them in the given order, later ones in a random order."""

    def __init__(
        self, problems: Problems, *, check: Check, batch_size: int | str, hold_out: bool, rng: np.random.Generator
    ) -> None:
        check(problems)
        self.example = problems
        self.whole: Problems | None = problems
        self.n_states = len(problems)
        self.problems, self.batch_size, self.hold_out, self.rng = problems, batch_size, hold_out, rng
        self.held: Ints | None = None
        self.order: Ints | None = None

    @cached_property
    def data(self) -> str:
        return fingerprint(self.problems)

    def fit_features(self, plan: FitPlan) -> Fitted:
        problems, features = self.problems, plan.features.fit(self.problems)
        mean_size = None if problems.sizes is None else float(problems.sizes.mean())
        most, view = int(problems.counts.max()), features.for_training(problems)
        return Fitted(features, Signature.of(problems), mean_size, most, view)

    def rounds(self, training: Training, n_passes: int, done: int = 0) -> Iterator[Round]:
        learned = self._training_problems(done)
        auto = training.learner.batch_size(len(learned), learned.n_rows)
        size = auto if self.batch_size == "auto" else int(self.batch_size)
        a_pass = -(-len(learned) // size)
        if not done:
            training.ledger.count_visits(states_of(learned, first_gains(learned)), n_passes)
        for number in range(done, n_passes * a_pass):
            a_pass_done, at = divmod(number, a_pass)
            if at == 0 or self.order is None:
                self.order = self.rng.permutation(len(learned)) if a_pass_done else np.arange(len(learned))
            batch = learned[self.order[at * size : (at + 1) * size]]
            yield Round(len(batch), self.rng, partial(self._teach, batch), n_passes * a_pass)

    def _teach(self, batch: Problems, training: Training) -> None:
        training.consume_batch(batch, self.rng)

    def _training_problems(self, done: int) -> Problems:
        if self.hold_out and not done:
            self.held = held_out(len(self.problems), self.rng)
        return self.problems if self.held is None else self.problems[np.delete(np.arange(self.n_states), self.held)]

    def value(self, training: Training) -> float | None:
        return None if self.held is None else training.value(self.problems[self.held])

    def note(self, progress: CheckpointState) -> None:
        progress.rng, progress.order, progress.held = self.rng, self.order, self.held

    def resume(self, progress: CheckpointState) -> None:
        self.rng = self.rng if progress.rng is None else progress.rng
        self.order, self.held = progress.order, progress.held


@contextmanager
def open_source(problems: Problems | Scan, engine: Engine, **settings: Any) -> Iterator[ProblemSource]:
    # Linear algebra is restricted to one thread, so that sums are added in one order.
    if not isinstance(problems, Scan):
        check_problems(problems)
    with one_thread():
        if isinstance(problems, Problems) and engine == Local():
            yield InMemory(problems, **settings)
            return
        shards = problems if isinstance(problems, Scan) else ProblemParts(problems)
        with engine.pool(shards) as pool:
            yield Sharded(shards, pool, **settings)


MOST = 16  # most rounds per pass for batch_size="auto", so that each has shards for many workers


class Sharded:
    """Shards of problems that are never all in memory; what they teach is added in the order of the shards."""

    def __init__(
        self,
        shards: Shards,
        pool: WorkerPool,
        *,
        check: Check,
        batch_size: int | str,
        hold_out: bool,
        rng: np.random.Generator,
    ) -> None:
        self.example = next(shards.blocks(0))
        check(self.example)
        self.whole = getattr(shards, "problems", None)
        self.n_states = sum(shard.n_problems for shard in shards.shards)
        self.shards, self.pool, self.check, self.checked = shards, pool, check, False
        self.batch_size, self.hold_out = batch_size, hold_out
        self.counter = Counter("shards")
        self._split(int(rng.integers(2**62)))

    def _split(self, seed: int) -> None:
        every = np.arange(len(self.shards.shards))
        self.seed = seed
        self.held = held_out(len(every), np.random.default_rng(seed)) if self.hold_out else None
        self.learned = every if self.held is None else np.delete(every, self.held)

    @property
    def data(self) -> str:
        return self.shards.fingerprint()

    def fit_features(self, plan: FitPlan) -> Fitted:
        plan.features.prefit(self.example if self.whole is None else self.whole)
        if not plan.features.streams():
            raise InputError(
                f"{plan.features!r:.60} must see all problems at once, so that it cannot be "
                "fitted part by part. Fit on problems in memory with engine='local' (of a scan: scan.sample()), or "
                "choose other features."
            )
        self.counter.total = self._steps(plan.n_passes)
        held = [] if self.held is None else self.held.tolist()
        shards = self._schedule(plan.learner).dealt() + held
        task = partial(summarize_shard, plan.features, self.check)
        every = reduce(ShardSummary.merge, self.pool.each(task, shards, self.counter))
        self.checked = True
        mean_size = every.size / self.shards.n_rows if every.size else None
        return Fitted(plan.features.fit_from_summary(every.summary), every.signature, mean_size, every.most)

    def _steps(self, n_passes: int) -> int:
        return len(self.shards.shards) + n_passes * len(self.learned)

    def _schedule(self, learner: Learner) -> Schedule:
        return Schedule(self.learned, rounds_a_pass(self.shards, self.learned, learner, self.batch_size), self.seed)

    def rounds(self, training: Training, n_passes: int, done: int = 0) -> Iterator[Round]:
        schedule = self._schedule(training.learner)
        share = kept_share(self.shards, training.learner, len(training.weights), n_passes)
        left = {number: schedule.shards_of(number).tolist() for number in range(done, n_passes * schedule.n_rounds)}
        self.counter.total = self._steps(n_passes)
        self.counter.done = self.counter.total - sum(map(len, left.values()))
        for number, shards in left.items():
            check = None if self.checked or number >= schedule.n_rounds else self.check
            n_states = sum(self.shards.shards[shard].n_problems for shard in shards)
            task = partial(LearnShard, seed=(self.seed, number), share=share, check=check)
            rng, total = np.random.default_rng([self.seed, number]), n_passes * schedule.n_rounds
            yield Round(n_states, rng, partial(self._teach, task, shards), total)

    def _teach(self, task: Callable[[Training], LearnShard], shards: list[int], training: Training) -> None:
        for learner, ledger in self.pool.each(task(training.fork()), shards, self.counter):
            training.join(learner, ledger)

    def value(self, training: Training) -> float | None:
        if self.held is None:
            return None
        slim = replace(training, learner=training.learner.fork())
        return mean_worth(self.pool, slim.value, self.held)

    def note(self, progress: CheckpointState) -> None:
        progress.seed = self.seed

    def resume(self, progress: CheckpointState) -> None:
        self._split(progress.seed)


@dataclass(frozen=True)
class Schedule:
    shards: Ints  # the shards to learn from
    n_rounds: int  # rounds per pass
    seed: int  # seed of the order in later passes

    def shards_of(self, number: int) -> Ints:
        a_pass, at = divmod(number, self.n_rounds)
        if a_pass:
            at = np.random.default_rng([self.seed, a_pass]).permutation(self.n_rounds)[at]
        return self.shards[at :: self.n_rounds]

    def dealt(self) -> list[int]:
        """Return all shards round by round, so that workers which take turns get their share of every round."""
        return [int(shard) for number in range(self.n_rounds) for shard in self.shards_of(number)]


def rounds_a_pass(shards: Shards, learned: Ints, learner: Learner, batch_size: int | str) -> int:
    n_states = sum(shards.shards[number].n_problems for number in learned)
    if batch_size != "auto":
        return max(1, min(len(learned), n_states // int(batch_size)))
    n_rows = sum(shards.shards[number].n_rows for number in learned)
    return min(-(-n_states // learner.batch_size(n_states, n_rows)), MOST, len(learned))


def kept_share(shards: Shards, learner: Learner, length: int, n_passes: int) -> float:
    """Return the share of states whose rows fit into half of the memory, for a learner that keeps all it sees."""
    if not learner.keeps_rows:
        return 1.0
    needed = 4.0 * (3 * shards.width + 4) * shards.n_rows * length * n_passes
    return min(1.0, shards.max_memory / 2.0 / needed)


@dataclass(frozen=True)
class ShardSummary:
    signature: Signature  # the kind of problems
    summary: dict[str, Any]  # sums that the features are fitted on
    most: int  # candidates of the largest problem
    size: float  # total size of all candidates

    def merge(self, other: ShardSummary) -> ShardSummary:
        return ShardSummary(
            self.signature.merge(other.signature),
            merge(self.summary, other.summary),
            max(self.most, other.most),
            self.size + other.size,
        )


def summarize_shard(features: Features, check: Check, blocks: Iterator[Problems], shard: int) -> ShardSummary:
    return reduce(ShardSummary.merge, (_summarize_block(features, check, block) for block in blocks))


def _summarize_block(features: Features, check: Check, block: Problems) -> ShardSummary:
    check(block)
    size = 0.0 if block.sizes is None else float(block.sizes.sum())
    return ShardSummary(Signature.of(block), features.summary(block), int(block.counts.max()), size)


@dataclass(frozen=True)
class LearnShard:
    """Task: builds lists with the current policy and learns from every position; returns sums, gradients or rows."""

    training: Training  # the state of the run, to fork
    seed: tuple[int, int]  # seed of the fit, and the number of the round
    share: float = 1.0  # share of the states to learn from, for learners that keep rows
    check: Check | None = None

    def __call__(self, blocks: Iterator[Problems], shard: int) -> tuple[Learner, Ledger]:
        """Return what the shard taught. Blocks are joined in order, so the sum does not depend on the worker."""
        rng = np.random.default_rng([*self.seed, shard])
        whole = self.training.fork()
        for block in blocks:
            if self.check is not None:
                self.check(block)
            part = self.training.fork()
            sampled = None if self.share >= 1.0 else rng.random(len(block)) < self.share
            part.consume_batch(block, rng, sampled)
            part.ledger.states.add(states_of(block, first_gains(block)))
            whole.join(part.learner, part.ledger)
        return whole.learner, whole.ledger


PARTS = 64  # enough parts for every round to keep many workers busy


@dataclass(frozen=True, eq=False)
class ProblemParts(MemoryShards):
    """Problems in memory, cut into runs of about equal size, with the interface of a scan."""

    problems: Problems

    @property
    def n_rows(self) -> int:
        return self.problems.n_rows

    @cached_property
    def ends(self) -> list[int]:
        return np.linspace(0, len(self.problems), min(PARTS, len(self.problems)) + 1).astype(np.int64).tolist()

    @cached_property
    def shards(self) -> tuple[MemoryShard, ...]:
        rows = np.diff(self.problems.offsets[self.ends]).tolist()
        return tuple(MemoryShard(i, self.ends[i + 1] - self.ends[i], n) for i, n in enumerate(rows))

    def blocks(self, number: int) -> Iterator[Problems]:
        yield self.problems[self.ends[number] : self.ends[number + 1]]

    def fingerprint(self) -> str:
        return f"{fingerprint(self.problems)} in {len(self.shards)} parts"
