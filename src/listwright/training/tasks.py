"""What workers do with a shard: look at it, learn from it, measure or build its lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from listwright.features import Features
from listwright.features.moments import merged
from listwright.learners import Learner
from listwright.lists import Lists
from listwright.problems import Problems
from listwright.training.round import Ledger, Training
from listwright.training.signature import Signature
from listwright.walk.limits import as_room


@dataclass(frozen=True)
class Found:
    """What must be known of all problems before a fit starts."""

    signature: Signature
    summary: dict[str, Any]
    most: int  # candidates of the largest problem
    size: float  # of all candidates together

    def merged(self, other: Found) -> Found:
        """Of the problems of both."""
        return Found(
            self.signature.merged(other.signature),
            merged(self.summary, other.summary),
            max(self.most, other.most),
            self.size + other.size,
        )


@dataclass(frozen=True)
class Look:
    """Checks a shard's problems, and sums up what features are fitted on."""

    features: Features
    check: Callable[[Problems], None]

    def __call__(self, blocks: Iterator[Problems], shard: int) -> Found:
        """One finding for the shard."""
        parts = [self._block(block) for block in blocks]
        found = parts[0]
        for part in parts[1:]:
            found = found.merged(part)
        return found

    def _block(self, block: Problems) -> Found:
        self.check(block)
        size = 0.0 if block.sizes is None else float(block.sizes.sum())
        return Found(Signature.of(block), self.features.summary(block), int(block.counts.max()), size)


@dataclass(frozen=True)
class Learn:
    """Builds lists with the policy in use and learns from every position; gives sums, gradients or rows."""

    training: Training
    budget: float | None
    seed: tuple[int, int]  # of the fit, and which round of it
    share: float = 1.0  # of the states, where rows are kept
    check: Callable[[Problems], None] | None = None

    def __call__(self, blocks: Iterator[Problems], shard: int) -> tuple[Learner, Ledger]:
        """What the shard taught. Blocks are joined in order, so that the sum does not depend on who does it."""
        rng = np.random.default_rng([*self.seed, shard])
        whole = self.training.fork()
        for block in blocks:
            if self.check is not None:
                self.check(block)
            part = self.training.fork()
            sampled = None if self.share >= 1.0 else rng.random(len(block)) < self.share
            part.take_in(block, as_room(self.budget, block), rng, sampled)
            whole.join(part.learner, part.ledger)
        return whole.learner, whole.ledger


@dataclass(frozen=True)
class Worth:
    """The summed value of a shard's lists, and how many there are."""

    value: Callable[[Problems], float]

    def __call__(self, blocks: Iterator[Problems], shard: int) -> tuple[float, int]:
        """Over all blocks."""
        parts = [(self.value(block) * len(block), len(block)) for block in blocks]
        return sum(total for total, _ in parts), sum(n for _, n in parts)


@dataclass(frozen=True)
class Build:
    """A shard's lists as a table, one row a pick."""

    lists: Callable[[Problems, np.random.Generator], Lists]
    seed: int

    def __call__(self, blocks: Iterator[Problems], shard: int) -> pa.Table:
        """All blocks, one after the other."""
        rng = np.random.default_rng([self.seed, shard])
        return pa.concat_tables([pa.table(self.lists(block, rng).to_dict()) for block in blocks])
