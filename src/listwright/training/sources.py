"""Sources of training problems: in memory, in memory on several workers, or a scan on an engine.

Learners from feedback have a source of their own, in `listwright.feedback`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

import numpy as np

from listwright._internal.arrays import Ints
from listwright._internal.threads import one_thread
from listwright.engines import Engine, Local
from listwright.problems import Problems
from listwright.tables import Scan
from listwright.training.checkpoints import CheckpointState
from listwright.training.loop import Check, FitPlan, Fitted, ProblemSource, Round, held_out
from listwright.training.round import Training, first_gains, states_of
from listwright.training.sharded import ProblemParts, Sharded
from listwright.training.signature import Signature, fingerprint
from listwright.walk.constraints import check_problems


class InMemory(ProblemSource):
    """Batches of problems in memory. The first pass takes them in the given order, later ones in a random order."""

    def __init__(
        self,
        problems: Problems,
        *,
        check: Check,
        batch_size: int | str,
        hold_out: bool,
        rng: np.random.Generator,
    ) -> None:
        check(problems)
        self.example = self.whole = problems
        self.n_states = len(problems)
        self.problems, self.batch_size, self.hold_out, self.rng = problems, batch_size, hold_out, rng
        self.held: Ints | None = None
        self.order: Ints | None = None

    @cached_property
    def data(self) -> str:
        """The fingerprint of the problems."""
        return fingerprint(self.problems)

    def fit_features(self, plan: FitPlan) -> Fitted:
        """Fit the features on all problems at once."""
        problems, features = self.problems, plan.features.fit(self.problems)
        mean_size = None if problems.sizes is None else float(problems.sizes.mean())
        most, view = int(problems.counts.max()), features.for_training(problems)
        return Fitted(features, Signature.of(problems), mean_size, most, view)

    def rounds(self, training: Training, n_passes: int, done: int = 0) -> Iterator[Round]:
        """Yield one round per batch, of the size that the learner prefers if `batch_size` is "auto"."""
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
        """Learn from one batch."""
        training.consume_batch(batch, self.rng)

    def _training_problems(self, done: int) -> Problems:
        """Return the problems that are not held out."""
        if self.hold_out and not done:
            self.held = held_out(len(self.problems), self.rng)
        return self.problems if self.held is None else self.problems[np.delete(np.arange(self.n_states), self.held)]

    def value(self, training: Training) -> float | None:
        """Return the mean value on the held-out problems; None if there are none."""
        return None if self.held is None else training.value(self.problems[self.held])

    def note(self, progress: CheckpointState) -> None:
        """Store the generator, the order of the pass and the held-out problems."""
        progress.rng, progress.order, progress.held = self.rng, self.order, self.held

    def resume(self, progress: CheckpointState) -> None:
        """Restore them, so that the same random numbers follow."""
        self.rng = self.rng if progress.rng is None else progress.rng
        self.order, self.held = progress.order, progress.held


@contextmanager
def open_source(problems: Problems | Scan, engine: Engine, **settings: Any) -> Iterator[ProblemSource]:
    """Provide the source of these problems, with the engine's workers if it needs some."""
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
