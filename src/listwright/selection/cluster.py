"""Selection on a Ray cluster: greedy on random parts of the rows, and on the union of their picks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.progress import ProgressCallback, silent
from listwright.engines import Ray
from listwright.engines.base import Counter, MemoryShard, MemoryShards, WorkerPool
from listwright.errors import InputError
from listwright.selection.constraints import RowConstraints
from listwright.selection.facility import FacilityObjective
from listwright.selection.folds import LogDetObjective
from listwright.selection.objectives import Objective, Proof, Solved, any_data, most_possible, of_these_data
from listwright.selection.similarity import Vectors


@dataclass(eq=False)
class DistributedGreedy(Objective):
    """GreeDi (Mirzasoleiman et al. 2013) with random parts, each measured on all targets."""

    whole: FacilityObjective | LogDetObjective  # the objective on all rows
    engine: Ray  # the cluster
    rng: np.random.Generator  # distributes the rows

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        if constraints.n_needed:
            raise InputError("engine='ray' does not support minimums of groups. Pass only maximums in per_group=.")
        rows = np.flatnonzero(constraints.open)
        with self.engine.connection():
            n_parts = max(2, min(self.engine.n_workers(), len(rows) // constraints.k or 1))
            parts = RowParts(self.whole, np.array_split(self.rng.permutation(rows), n_parts))
            with self.engine.pool(parts) as pool:
                solved = list(pool.each(SolvePart(constraints), range(n_parts), Counter("parts", n_parts)))
                union = np.unique(np.concatenate([constraints.given, *(part.rows for part in solved)]))
                best = max([solve_part(self.whole, union, constraints), *solved], key=lambda part: part.gain)
                return best._replace(bounds=self._bounds(pool, constraints, best, parts.parts))

    def _bounds(self, pool: WorkerPool, constraints: RowConstraints, best: Solved, parts: Sequence[Ints]) -> Floats:
        picked, bounds = np.concatenate([constraints.given, best.rows]), np.zeros(len(constraints.open))
        measured = pool.each(MeasurePart(picked), range(len(parts)), Counter("proof", len(parts)))
        for part, gains in zip(parts, measured, strict=True):
            bounds[part] = gains
        bounds[best.rows] = 0.0
        return bounds

    def share(self, constraints: RowConstraints) -> float | None:
        return None

    def prove(self, constraints: RowConstraints, solved: Solved) -> Proof:
        known, why, what = any_data(constraints, len(solved.rows))
        known = None if known is None or constraints.has_costs else known / 2
        why = "" if known is None else f"in expectation ({why}) / 2 = {known:.3f}"
        return of_these_data(solved.gain, most_possible(solved.gain, solved.bounds, constraints), known, why, what)


def solve_part(objective: Any, rows: Ints, constraints: RowConstraints) -> Solved:
    solved = objective.among(rows).solve(constraints.among(rows), silent)
    return solved._replace(rows=rows[solved.rows])


@dataclass(frozen=True, eq=False)
class RowParts(MemoryShards):
    """Parts of the rows as shards: a block is the objective, which is sent once, with the rows of a part."""

    objective: Any
    parts: Sequence[Ints]

    @property
    def n_rows(self) -> int:
        return sum(map(len, self.parts))

    @property
    def shards(self) -> tuple[MemoryShard, ...]:
        return tuple(MemoryShard(number, 1, len(part)) for number, part in enumerate(self.parts))

    def blocks(self, number: int) -> Iterator[tuple[Any, Ints]]:
        yield self.objective, self.parts[number]

    def fingerprint(self) -> str:
        return ""

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpack, (_with_tables(self.objective, _to_file_name), self.parts)


def _unpack(objective: Any, parts: Sequence[Ints]) -> RowParts:
    return RowParts(_with_tables(objective, _to_memory_map), parts)


@dataclass(frozen=True, eq=False)
class SolvePart:
    """Task: greedy on the rows of a part and those given."""

    constraints: RowConstraints

    def __call__(self, blocks: Iterator[tuple[Any, Ints]], shard: int) -> Solved:
        objective, part = next(blocks)
        return solve_part(objective, np.sort(np.concatenate([part, self.constraints.given])), self.constraints)


@dataclass(frozen=True, eq=False)
class MeasurePart:
    """Task: what the rows of a part would add next to the picks."""

    picked: Ints

    def __call__(self, blocks: Iterator[tuple[Any, Ints]], shard: int) -> Floats:
        objective, part = next(blocks)
        return np.asarray(objective.gains_beside(self.picked, part))


def _with_tables(objective: Any, change: Any) -> Any:
    if isinstance(objective, LogDetObjective):
        return replace(objective, vectors=change(objective.vectors))
    similarity = objective.similarity
    if not hasattr(similarity, "of_targets"):
        return objective
    targets, same = change(similarity.of_targets), similarity.of_candidates is similarity.of_targets
    candidates = targets if same else change(similarity.of_candidates)
    return replace(objective, similarity=similarity.copy(of_targets=targets, of_candidates=candidates))


def _to_file_name(vectors: Vectors) -> Vectors:
    table = vectors.table
    whole = isinstance(table, np.memmap) and table.filename is not None and str(table.filename).endswith(".npy")
    return replace(vectors, table=str(table.filename)) if whole else vectors


def _to_memory_map(vectors: Vectors) -> Vectors:
    if not isinstance(vectors.table, str):
        return vectors
    return replace(vectors, table=np.load(vectors.table, mmap_mode="r", allow_pickle=False))
