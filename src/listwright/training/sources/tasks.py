"""What workers do with a shard during a fit: read it once, and learn from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from listwright.engines.base import Crew, Done
from listwright.features import Features
from listwright.features.moments import merged
from listwright.learners import Learner
from listwright.problems import Problems
from listwright.training.round import Ledger, Training
from listwright.training.signature import Signature
from listwright.training.visits import first_gains, states_of


@dataclass(frozen=True)
class Found:
    """What must be known of all problems before a fit starts."""

    signature: Signature  # the kind of problems
    summary: dict[str, Any]  # sums that the features are fitted on
    most: int  # candidates of the largest problem
    size: float  # total size of all candidates

    def merged(self, other: Found) -> Found:
        """Return the same for the problems of both."""
        return Found(
            self.signature.merged(other.signature),
            merged(self.summary, other.summary),
            max(self.most, other.most),
            self.size + other.size,
        )


@dataclass(frozen=True)
class Look:
    """Task: checks a shard's problems, and summarises what features are fitted on."""

    features: Features
    check: Callable[[Problems], None]

    def __call__(self, blocks: Iterator[Problems], shard: int) -> Found:
        """Return one result for the shard."""
        return reduce(Found.merged, map(self._block, blocks))

    def _block(self, block: Problems) -> Found:
        """Return the result for one block."""
        self.check(block)
        size = 0.0 if block.sizes is None else float(block.sizes.sum())
        return Found(Signature.of(block), self.features.summary(block), int(block.counts.max()), size)


def looked(crew: Crew, shards: list[int], look: Look, done: Done) -> Found:
    """Return the result for all shards, merged in the given order."""
    return reduce(Found.merged, crew.each(look, shards, done))


@dataclass(frozen=True)
class Learn:
    """Task: builds lists with the current policy and learns from every position; returns sums, gradients or rows."""

    training: Training  # the state of the run, to fork
    seed: tuple[int, int]  # seed of the fit, and the number of the round
    share: float = 1.0  # share of the states to learn from, for learners that keep rows
    check: Callable[[Problems], None] | None = None  # raises `InputError` for problems that cannot be learned from

    def __call__(self, blocks: Iterator[Problems], shard: int) -> tuple[Learner, Ledger]:
        """Return what the shard taught. Blocks are joined in order, so the sum does not depend on the worker."""
        rng = np.random.default_rng([*self.seed, shard])
        whole = self.training.fork()
        for block in blocks:
            if self.check is not None:
                self.check(block)
            part = self.training.fork()
            sampled = None if self.share >= 1.0 else rng.random(len(block)) < self.share
            part.take_in(block, rng, sampled)
            part.ledger.states.add(states_of(block, first_gains(block)))
            whole.join(part.learner, part.ledger)
        return whole.learner, whole.ledger
