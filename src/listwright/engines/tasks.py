"""Tasks on shards that need no model, only a function of a block: building lists and measuring them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from listwright._internal.progress import report_progress
from listwright._internal.threads import one_thread
from listwright.engines.base import Crew, Engine, Shards
from listwright.lists import Lists
from listwright.problems import Problems


@dataclass
class Counter:
    """Reports the progress of all workers; call it once per part that is done."""

    what: str
    total: int = 0
    done: int = 0

    def __call__(self) -> None:
        """Count one more part, and report it."""
        self.done += 1
        report_progress(self.what, self.done, self.total)


@dataclass(frozen=True)
class Build:
    """Task: the lists of a shard as a table with one row per pick."""

    lists: Callable[[Problems, np.random.Generator], Lists]
    seed: int

    def __call__(self, blocks: Iterator[Problems], shard: int) -> pa.Table:
        """Return the lists of all blocks, with random numbers that depend on the seed and the shard."""
        rng = np.random.default_rng([self.seed, shard])
        return pa.concat_tables([pa.table(self.lists(block, rng).to_dict()) for block in blocks])


@dataclass(frozen=True)
class Worth:
    """Task: the summed value of a shard's lists, and how many there are."""

    value: Callable[[Problems], float]

    def __call__(self, blocks: Iterator[Problems], shard: int) -> tuple[float, int]:
        """Return the sum and the count over all blocks."""
        parts = [(self.value(block) * len(block), len(block)) for block in blocks]
        return sum(total for total, _ in parts), sum(n for _, n in parts)


def mean_worth(crew: Crew, value: Callable[[Problems], float], numbers: Iterable[int]) -> float:
    """Return the mean value over the problems of some shards."""
    parts = list(crew.each(Worth(value), [int(number) for number in numbers]))
    return sum(total for total, _ in parts) / sum(n for _, n in parts)


def mean_worth_of_all(engine: Engine, shards: Shards, value: Callable[[Problems], float]) -> float:
    """Return the mean over the problems of all shards, with workers of its own."""
    with one_thread(), engine.crew(shards) as crew:
        return mean_worth(crew, value, range(len(shards.shards)))
