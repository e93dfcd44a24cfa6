"""Problems in memory as shards, for the workers of an engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from listwright.problems import Problems
from listwright.training.signature import fingerprint

PARTS = 64  # enough parts for every round to keep many workers busy
ENDLESS = 1 << 62  # bytes: the problems are in memory already


@dataclass(frozen=True)
class Part:
    """A run of consecutive problems."""

    number: int
    n_problems: int
    n_rows: int

    def __str__(self) -> str:
        return f"part {self.number} of the problems"


@dataclass(frozen=True, eq=False)
class Parts:
    """Problems in memory, cut into runs of about equal size, with the interface of a scan."""

    problems: Problems  # the problems
    # what an engine asks of shards; here so that nothing is limited, because the problems are in memory already
    max_memory: int = ENDLESS
    width: int = 1
    row_bytes: int = 0
    block_bytes: int = 1

    @property
    def n_rows(self) -> int:
        """Number of candidates of all problems together."""
        return self.problems.n_rows

    @cached_property
    def ends(self) -> list[int]:
        """Where the parts start, and where the last one ends."""
        return np.linspace(0, len(self.problems), min(PARTS, len(self.problems)) + 1).astype(np.int64).tolist()

    @cached_property
    def shards(self) -> tuple[Part, ...]:
        """The parts."""
        rows = np.diff(self.problems.offsets[self.ends]).tolist()
        return tuple(Part(i, self.ends[i + 1] - self.ends[i], n) for i, n in enumerate(rows))

    def blocks(self, number: int) -> Iterator[Problems]:
        """Yield the problems of a part as a single block."""
        yield self.problems[self.ends[number] : self.ends[number + 1]]

    def fingerprint(self) -> str:
        """Return a hash of the problems and the number of parts, because the rounds differ from those of batches in
        memory.
        """
        return f"{fingerprint(self.problems)} in {len(self.shards)} parts"
