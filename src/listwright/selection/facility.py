"""Facility location from vectors on the CPU: tiles by BLAS in float32, sums in float64."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.threads import one_thread
from listwright._kernels.tiles import falls
from listwright.selection.epochs import Marks
from listwright.selection.similarity import TARGETS, SimilarityMatrix, column, sweep

GATHERED = 2048  # targets per tile in float64
GATHERING = 64  # gathering the vectors of changed targets costs as much as this many candidates


class Blocks:
    """The board of `Epochs` on the CPU. It keeps a few numbers per target and mark, and the tiles in use."""

    near = 1e-5  # tiles are in float32, and added up in float64

    def __init__(self, similarity: SimilarityMatrix, weights: Floats) -> None:
        self.similarity, self.weights = similarity, weights
        self.best = np.zeros(similarity.n_targets, dtype=np.float32)
        self.marks: list[Floats32] = []
        self.active = np.empty(0, dtype=np.int64)
        self.doubles = Doubles(similarity, weights)

    def gain_bounds(self) -> Floats:
        """Return upper bounds on the gains of all candidates for an empty selection."""
        return self.similarity.gain_bounds(self.weights)

    def gains(self, rows: Ints, since: Marks, known: Floats) -> Floats:
        """Return what each of the rows would add now."""
        # A row that was measured at a mark only needs the targets that changed since then, unless these are so many
        # that measuring it anew is cheaper.
        gains, anew = known.copy(), since < 0
        for last in np.unique(since[~anew]):
            some, changed = since == last, np.flatnonzero(self.best > self.marks[last])
            if len(changed) * (some.sum() + GATHERING) > len(self.best) * some.sum():
                anew |= some
            else:
                gains[some] -= self._fell(rows[some], changed, self.marks[last][changed], self.best[changed])
        gains[anew] = self._fell(rows[anew], None, self.best, np.full_like(self.best, np.inf))
        return gains

    def mark(self) -> int:
        """Store the current best similarities, and return the number of the mark."""
        self.marks.append(self.best.copy())
        return len(self.marks) - 1

    def activate(self, rows: Ints) -> None:
        """Set the rows whose decreases `pick` returns."""
        self.active = rows

    def pick(self, row: int) -> tuple[float, Floats]:
        """Pick a row; return what it adds, and by how much the gains of the active rows decrease."""
        brought, changed, before = self._raise_best(row)
        return brought, self._fell(self.active, changed, before, self.best[changed])

    def lift(self, row: int) -> float:
        """Pick a row; return what it adds."""
        return self._raise_best(row)[0]

    def exact_gains(self, rows: Ints) -> Floats:
        """Return what each of a few rows would add now, in float64."""
        return self.doubles.gains(rows)

    def _raise_best(self, row: int) -> tuple[float, Ints, Floats32]:
        """Pick a row; return what it adds, the targets whose best similarity rose, and what that was before."""
        similar = column(self.similarity, row)
        self.doubles.picked.append(row)
        changed = np.flatnonzero(similar - self.best > np.float32(self.similarity.noise))
        before = self.best[changed]
        rises = (similar[changed] - before).astype(np.float64)
        self.best[changed] = similar[changed]
        return float(self.weights[changed] @ rises), changed, before

    def _fell(self, rows: Ints, changed: Ints | None, old: Floats32, new: Floats32) -> Floats:
        """Return by row how much its gain decreases when the best similarities of the changed targets go from `old` to
        `new`.
        """
        weights = self.weights if changed is None else self.weights[changed]

        def measure(tile: Floats32, low: int, high: int, sums: Floats) -> None:
            falls(tile, old[low:high], new[low:high], weights[low:high], self.similarity.noise, sums)

        return sweep(self.similarity, rows, changed, measure)


class Doubles:
    """Best similarities in float64, for the few rows between which float32 cannot decide."""

    def __init__(self, similarity: SimilarityMatrix, weights: Floats) -> None:
        self.similarity, self.weights = similarity, weights
        self.best = np.zeros(similarity.n_targets)
        self.picked: list[int] = []

    def gains(self, rows: Ints) -> Floats:
        """Return what each of the rows would add, at 2 d operations per target and row, or row picked since."""
        both = self.similarity.candidates(np.concatenate([np.array(self.picked, dtype=np.int64), rows]), np.float64)
        new, starts = len(self.picked), range(0, self.similarity.n_targets, GATHERED)
        parts = np.zeros((len(starts), len(rows)))

        def work(part: int) -> None:
            block = slice(starts[part], min(starts[part] + GATHERED, self.similarity.n_targets))
            tile = self.similarity.tile(both, self.similarity.targets(block, np.float64))
            best = self.best[block] = np.maximum(self.best[block], tile[:new].max(axis=0, initial=0.0))
            parts[part] = np.maximum(tile[new:] - best, 0.0) @ self.weights[block]

        with one_thread(), ThreadPoolExecutor(numba.get_num_threads()) as pool:
            list(pool.map(work, range(len(starts))))
        self.picked = []
        return parts.sum(axis=0)


def value_curve(similarity: SimilarityMatrix, weights: Floats, rows: Ints) -> Floats:
    """Return the value of the first 1, 2, ... of the rows over all targets."""
    starts, gathered = range(0, similarity.n_targets, TARGETS), similarity.candidates(rows)
    parts = np.zeros((len(starts), len(rows)))

    def work(part: int) -> None:
        block = slice(starts[part], min(starts[part] + TARGETS, similarity.n_targets))
        tile = similarity.tile(gathered, similarity.targets(block))
        best = np.maximum.accumulate(np.maximum(tile, np.float32(0.0)), axis=0)
        parts[part] = best.astype(np.float64) @ weights[block]

    with one_thread(), ThreadPoolExecutor(numba.get_num_threads()) as pool:
        list(pool.map(work, range(len(starts))))
    return parts.sum(axis=0)
