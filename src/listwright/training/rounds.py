"""The rounds of a streamed fit: each is one update, from some of the shards, all walked with one policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import PurePath
from typing import Any

import numpy as np

from listwright._internal.arrays import Ints
from listwright.engines.base import Crew
from listwright.learners import Learner
from listwright.policies import Policy
from listwright.problems import Problems
from listwright.tables import Scan
from listwright.training.keep import Keeper
from listwright.training.round import Training
from listwright.training.tasks import Found, Learn, Look, Worth

MOST = 16  # rounds a pass where the user leaves that open: each has shards for many workers

Tick = Callable[[int, int], None]


@dataclass
class Progress:
    """How far a streamed fit has come; with the training itself, all that is needed to go on to the same model."""

    seed: int
    data: str  # which shards
    done: int = 0  # rounds
    policies: tuple[Policy, ...] = ()  # of `keep="mixture"`, and over how many states
    states: int = 0
    best_value: float | None = None  # of `keep="best"`
    best_policy: Policy | None = None

    def note(self, keeper: Keeper) -> None:
        """Writes down what the keeper has seen."""
        self.policies, self.states = tuple(keeper.policies), keeper.rounds
        self.best_value, self.best_policy = (None, None) if keeper.best is None else keeper.best

    def recall(self, keeper: Keeper) -> None:
        """Tells the keeper what it had seen."""
        keeper.policies, keeper.rounds = list(self.policies), self.states
        if self.best_value is not None and self.best_policy is not None:
            keeper.best = self.best_value, self.best_policy


@dataclass
class Bar:
    """One progress bar for all workers: it counts shards."""

    tick: Tick | None
    total: int
    done: int = field(default=0)

    def __call__(self) -> None:
        self.done += 1
        if self.tick is not None:
            self.tick(self.done, self.total)


@dataclass(frozen=True)
class Schedule:
    """Which shards each round learns from.

    A round takes every n-th shard, so that it sees all parts of the files; later passes take the rounds in a drawn
    order. That depends on the shards and the seed alone, not on who works on them.

    >>> schedule = Schedule(np.arange(5), n_rounds=2, seed=0)
    >>> [schedule.shards_of(i).tolist() for i in range(2)]
    [[0, 2, 4], [1, 3]]
    """

    shards: Ints
    n_rounds: int  # a pass
    seed: int

    def shards_of(self, number: int) -> Ints:
        """The shards of a round, counted over all passes."""
        a_pass, at = divmod(number, self.n_rounds)
        order = np.arange(self.n_rounds) if a_pass == 0 else _order(self.seed, a_pass, self.n_rounds)
        return self.shards[order[at] :: self.n_rounds]

    def dealt(self) -> list[int]:
        """All shards, round by round: workers that take turns get their share of every round."""
        return [int(shard) for number in range(self.n_rounds) for shard in self.shards_of(number)]


def rounds_a_pass(scan: Scan, shards: Ints, learner: Learner, batch_size: int | str) -> int:
    """As many as the batch size asks for, of at least one shard each."""
    n_states = sum(scan.shards[shard].n_problems for shard in shards)
    if batch_size != "auto":
        return max(1, min(len(shards), n_states // int(batch_size)))
    n_rows = sum(scan.shards[shard].n_rows for shard in shards)
    return min(-(-n_states // learner.batch_size(n_states, n_rows)), MOST, len(shards))


def look(crew: Crew, shards: list[int], task: Look, bar: Bar) -> Found:
    """What must be known of all problems before learning starts."""
    parts = crew.each(task, shards, bar)
    found: Found = next(parts)
    for part in parts:
        found = found.merged(part)
    return found


@dataclass
class Run:
    """Goes through the rounds; the sums of their shards are added in the order of the shards."""

    crew: Crew
    scan: Scan
    training: Training
    keeper: Keeper
    schedule: Schedule
    progress: Progress
    budget: float | None
    share: float
    bar: Bar
    value: Callable[[Training, Problems], float]
    check: Callable[[Problems], None] | None = None

    def rounds(self, n_passes: int) -> Iterator[int]:
        """Does the rounds that are left, and gives the number done after each."""
        self.progress.recall(self.keeper)
        left = range(self.progress.done, n_passes * self.schedule.n_rounds)
        self.bar.done = self.bar.total - sum(len(self.schedule.shards_of(number)) for number in left)
        for number in left:
            shards = self.schedule.shards_of(number)
            n_states = sum(self.scan.shards[shard].n_problems for shard in shards)
            self.keeper.before_round(
                self.training.policy, n_states, np.random.default_rng([self.progress.seed, number])
            )
            self._learn(number, [int(shard) for shard in shards])
            self.keeper.after_round(self.training.policy, self._worth)
            self.progress.done = number + 1
            self.progress.note(self.keeper)
            yield self.progress.done

    def _learn(self, number: int, shards: list[int]) -> None:
        seed = self.progress.seed, number
        check = self.check if number < self.schedule.n_rounds else None
        task = Learn(self.training.fork(), self.budget, seed, self.share, check)
        for learner, ledger in self.crew.each(task, shards, self.bar):
            self.training.join(learner, ledger)
        self.training.update()

    def _worth(self, held: Any) -> float:
        """Mean value of the policy's lists on the shards that are held out."""
        slim = replace(self.training, learner=self.training.learner.fork())
        task = Worth(_Value(self.value, slim))
        parts = list(self.crew.each(task, [int(shard) for shard in held]))
        return sum(total for total, _ in parts) / sum(n for _, n in parts)


@dataclass(frozen=True)
class _Value:
    value: Callable[[Training, Problems], float]
    training: Training

    def __call__(self, block: Problems) -> float:
        return self.value(self.training, block)


def fingerprint(scan: Scan) -> str:
    """Says whether two scans have the same shards, wherever the files are."""
    text = [[(PurePath(piece.path).name, *piece[1:]) for piece in shard.pieces] for shard in scan.shards]
    return sha256(repr(text).encode()).hexdigest()


def kept_share(scan: Scan, learner: Learner, length: int, n_passes: int) -> float:
    """The share of the states whose rows a learner can keep in half of the memory, where it keeps all it sees."""
    if not learner.keeps_rows:
        return 1.0
    needed = 4.0 * (3 * scan.width + 4) * scan.n_rows * length * n_passes
    return min(1.0, scan.max_memory / 2.0 / needed)


def _order(seed: int, a_pass: int, n_rounds: int) -> Ints:
    return np.random.default_rng([seed, a_pass]).permutation(n_rounds)
