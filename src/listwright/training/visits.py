"""Counts how often a run visited each state. States are recognised by their data, in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from listwright._internal.arrays import Bools, Floats, Hashes, Ints
from listwright._internal.saved import saved_as
from listwright._kernels.rows import row_keys
from listwright.problems import Problems
from listwright.rewards import reward_of

Keys = Hashes
ODD = np.uint64(0x9E3779B97F4A7C15)
MIXED = np.uint64(0)  # in place of a reward's key, where the same state was seen with different rewards


class States(NamedTuple):
    """Keys of some states: hashes of what can be seen of each, and of what its items gain."""

    seen: Keys
    gains: Keys


@saved_as("Visits")
@dataclass
class Visits:
    """How often each state was visited, independently of order, slices and batches."""

    # keys of the states, sorted by `seen`; the key of the gains is 0 for data that came with different ones
    seen: Keys = field(default_factory=lambda: np.zeros(0, np.uint64))
    gains: Keys = field(default_factory=lambda: np.zeros(0, np.uint64))
    counts: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # visits to each
    summed: bool = True  # whether there is one entry per state

    def add(self, states: States, counts: Ints | None = None) -> None:
        """Counts one visit to each of these states, or `counts` visits."""
        each = np.ones(len(states.seen), np.int64) if counts is None else counts
        self.seen = np.concatenate([self.seen, states.seen])
        self.gains = np.concatenate([self.gains, states.gains])
        self.counts = np.concatenate([self.counts, each])
        self.summed = not len(self.seen)

    def _sum_up(self) -> None:
        """Merge all entries of a state into one."""
        # This is deferred until a count is needed, because parts of a run add up quickly.
        if self.summed:
            return
        order = np.lexsort((self.gains, self.seen))
        seen, gains, counts = self.seen[order], self.gains[order], self.counts[order]
        first = np.flatnonzero(np.concatenate([[True], seen[1:] != seen[:-1]]))
        last = np.concatenate([first[1:], [len(seen)]]) - 1
        self.seen, self.counts = seen[first], np.add.reduceat(counts, first)
        self.gains = np.where(gains[first] == gains[last], gains[first], MIXED)
        self.summed = True

    def join(self, other: Visits) -> None:
        """Add the visits of another part of the run."""
        self.add(States(other.seen, other.gains), other.counts)

    def validation_error(self) -> str:
        """Return what is wrong with visits that were read from a file; "" if nothing is."""
        arrays = (self.seen, self.gains, self.counts)
        as_written = [array.dtype.name for array in arrays] == ["uint64", "uint64", "int64"]
        alike = {array.shape for array in arrays} == {(len(self.seen),)}
        return "" if as_written and alike else "its visits to states do not fit each other"

    @property
    def most(self) -> int:
        """Visits to the state that was visited most often, among those that their data identify."""
        self._sum_up()
        return int(self.counts[self.gains != MIXED].max(initial=1 if len(self.counts) else 0))

    @property
    def n_states(self) -> int:
        """Number of different states."""
        self._sum_up()
        known = self.gains != MIXED
        return int(known.sum() + self.counts[~known].sum())

    def knows(self, states: States) -> Bools:
        """Return which of these states were visited."""
        self._sum_up()
        if not len(self.seen):
            return np.zeros(len(states.seen), dtype=bool)
        at = np.minimum(np.searchsorted(self.seen, states.seen), len(self.seen) - 1)
        return (self.seen[at] == states.seen) & (self.gains[at] == states.gains)


def first_gains(problems: Problems) -> Floats:
    """Return what each item gains in the empty list."""
    reward = reward_of(problems)
    return reward.gains(reward.start(problems))


def states_of(problems: Problems, gains: Floats) -> States:
    """Return the keys of the problems, given what each of their items gains in the empty list."""
    rows = _row_keys(problems.features)
    for salt, column in enumerate((problems.catalogue, problems.sizes)):
        if column is not None:
            rows += _scrambled(_words(column) + np.uint64(salt + 1))
    if problems.vectors is not None:
        rows += _scrambled(_row_keys(problems.vectors))
    seen = _by_problem(_scrambled(rows), problems.offsets)
    if problems.context is not None:
        seen += _scrambled(_row_keys(problems.context))
    earned = _by_problem(_scrambled(rows ^ _scrambled(_words(np.round(gains, 12)))), problems.offsets)
    return States(_scrambled(seen), np.maximum(_scrambled(earned + ODD), np.uint64(1)))


def _row_keys(table: Any) -> Keys:
    """Return one hash per row, which depends on every entry and its column."""
    factors = np.random.default_rng(0).integers(1, 2**63, size=table.shape[1], dtype=np.uint64) * np.uint64(2) + ODD
    if not sparse.issparse(table):
        return row_keys(_bits(table), factors)
    words = _bits(table.data[:, None]).ravel() * factors[table.indices]
    before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(words, dtype=np.uint64)])
    return before[table.indptr[1:]] - before[table.indptr[:-1]]


def _words(values: NDArray[Any]) -> Keys:
    """Return a hash of each number; 0.0 and -0.0 give the same."""
    return _scrambled((np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64))


def _bits(table: NDArray[Any]) -> NDArray[np.uint32]:
    """Return the bits of float32 numbers; 0.0 and -0.0 give the same."""
    return (np.ascontiguousarray(table, dtype=np.float32) + np.float32(0.0)).view(np.uint32)


def _scrambled(keys: Keys) -> Keys:
    """Apply the finaliser of splitmix64: every bit of the key changes half of the bits."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def _by_problem(keys: Keys, offsets: Ints) -> Keys:
    """Sum the keys of each problem's rows, with wrap-around."""
    return np.add.reduceat(keys, offsets[:-1])
