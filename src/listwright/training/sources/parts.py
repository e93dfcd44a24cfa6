"""Problems in memory as shards, for the workers of an engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from listwright.problems import Problems
from listwright.training.signature import fingerprint

PARTS = 64  # that problems are cut into: enough for every round to keep many workers busy
ENDLESS = 1 << 62  # bytes: the problems are in memory already


@dataclass(frozen=True)
class Part:
    """A run of problems."""

    number: int
    n_problems: int
    n_rows: int

    def __str__(self) -> str:
        return f"part {self.number} of the problems"


@dataclass(frozen=True, eq=False)
class Parts:
    """Problems in memory, cut into runs of about equally many: to a `Sharded` source the same as a scan.

    Examples
    --------
    >>> parts = Parts(Problems.from_arrays(np.zeros((100, 3, 1))))
    >>> len(parts.shards), next(parts.blocks(0))
    (64, Problems: 1 problem, 3 candidates (3 each), 1 feature, no reward)
    """

    problems: Problems
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
        """Where parts start, and the last one ends."""
        return np.linspace(0, len(self.problems), min(PARTS, len(self.problems)) + 1).astype(np.int64).tolist()

    @cached_property
    def shards(self) -> tuple[Part, ...]:
        """The parts."""
        rows = np.diff(self.problems.offsets[self.ends]).tolist()
        return tuple(Part(i, self.ends[i + 1] - self.ends[i], n) for i, n in enumerate(rows))

    def blocks(self, number: int) -> Iterator[Problems]:
        """One block."""
        yield self.problems[self.ends[number] : self.ends[number + 1]]

    def fingerprint(self) -> str:
        """By the problems' data and reward, and by the parts: rounds are others than those of one batch in memory."""
        return f"{fingerprint(self.problems)} in {len(self.shards)} parts"
