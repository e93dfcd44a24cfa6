"""Problems in shards, on the workers of an engine: a round is one update from some of the shards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from listwright._internal.arrays import Ints
from listwright.engines.base import Crew, Shards
from listwright.engines.tasks import Counter, mean_worth
from listwright.errors import InputError
from listwright.learners import Learner
from listwright.training.checkpoints import Progress
from listwright.training.keep import held_out
from listwright.training.round import Training
from listwright.training.sources.base import Check, Fitted, Plan, Round, Source
from listwright.training.sources.tasks import Learn, Look, looked

MOST = 16  # most rounds per pass for batch_size="auto", so that each has shards for many workers


class Sharded(Source):
    """Shards of problems that are never all in memory; what they teach is added in the order of the shards."""

    def __init__(
        self,
        shards: Shards,
        crew: Crew,
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
        self.shards, self.crew, self.check, self.checked = shards, crew, check, False
        self.batch_size, self.hold_out = batch_size, hold_out
        self.counter = Counter("shards")
        self._split(int(rng.integers(2**62)))

    def _split(self, seed: int) -> None:
        """Set the seed, and with it the shards that are held out."""
        every = np.arange(len(self.shards.shards))
        self.seed = seed
        self.held = held_out(len(every), np.random.default_rng(seed)) if self.hold_out else None
        self.learned = every if self.held is None else np.delete(every, self.held)

    @property
    def data(self) -> str:
        """The fingerprint of the shards."""
        return self.shards.fingerprint()

    def fitted(self, plan: Plan) -> Fitted:
        """Read all shards, and fit the features on the summaries found in them."""
        plan.features.begun(self.example if self.whole is None else self.whole)
        if not plan.features.streams():
            raise InputError(
                f"{plan.features!r:.60} must see all problems at once (as effort='best' does), so that it cannot be "
                "fitted part by part. Fit on problems in memory with engine='local' (of a scan: scan.sample()), or "
                "choose other features."
            )
        self.counter.total = self._steps(plan.n_passes)
        held = [] if self.held is None else self.held.tolist()
        found = looked(
            self.crew, self._schedule(plan.learner).dealt() + held, Look(plan.features, self.check), self.counter
        )
        self.checked = True
        mean_size = found.size / self.shards.n_rows if found.size else None
        return Fitted(plan.features.fit_from_summary(found.summary), found.signature, mean_size, found.most)

    def _steps(self, n_passes: int) -> int:
        """Return the length of the progress bar: the shards to read, and to learn from in every pass."""
        return len(self.shards.shards) + n_passes * len(self.learned)

    def _schedule(self, learner: Learner) -> Schedule:
        """Return which shards each round learns from."""
        return Schedule(self.learned, rounds_a_pass(self.shards, self.learned, learner, self.batch_size), self.seed)

    def rounds(self, training: Training, n_passes: int, done: int = 0) -> Iterator[Round]:
        """Yield rounds, each of some of the shards."""
        schedule = self._schedule(training.learner)
        share = kept_share(self.shards, training.learner, len(training.weights), n_passes)
        left = {number: schedule.shards_of(number).tolist() for number in range(done, n_passes * schedule.n_rounds)}
        self.counter.total = self._steps(n_passes)
        self.counter.done = self.counter.total - sum(map(len, left.values()))
        for number, shards in left.items():
            check = None if self.checked or number >= schedule.n_rounds else self.check
            n_states = sum(self.shards.shards[shard].n_problems for shard in shards)
            task = partial(Learn, seed=(self.seed, number), share=share, check=check)
            rng, total = np.random.default_rng([self.seed, number]), n_passes * schedule.n_rounds
            yield Round(n_states, rng, partial(self._teach, task, shards), total)

    def _teach(self, task: Callable[[Training], Learn], shards: list[int], training: Training) -> None:
        """Let the workers learn from these shards, and add what they learned in order."""
        for learner, ledger in self.crew.each(task(training.fork()), shards, self.counter):
            training.join(learner, ledger)

    def value(self, training: Training) -> float | None:
        """Return the mean value on the held-out shards, measured by the workers; None if there are none."""
        if self.held is None:
            return None
        slim = replace(training, learner=training.learner.fork())
        return mean_worth(self.crew, slim.value, self.held)

    def note(self, progress: Progress) -> None:
        """Store the seed, from which everything else follows."""
        progress.seed = self.seed

    def go_on(self, progress: Progress) -> None:
        """Restore the seed, so that the same shards are held out."""
        self._split(progress.seed)


@dataclass(frozen=True)
class Schedule:
    """Which shards each round learns from."""

    shards: Ints  # the shards to learn from
    n_rounds: int  # rounds per pass
    seed: int  # seed of the order in later passes

    def shards_of(self, number: int) -> Ints:
        """Return the shards of a round, counted over all passes."""
        a_pass, at = divmod(number, self.n_rounds)
        if a_pass:
            at = np.random.default_rng([self.seed, a_pass]).permutation(self.n_rounds)[at]
        return self.shards[at :: self.n_rounds]

    def dealt(self) -> list[int]:
        """Return all shards round by round, so that workers which take turns get their share of every round."""
        return [int(shard) for number in range(self.n_rounds) for shard in self.shards_of(number)]


def rounds_a_pass(shards: Shards, learned: Ints, learner: Learner, batch_size: int | str) -> int:
    """Return the number of rounds per pass that the batch size gives, with at least one shard each."""
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
