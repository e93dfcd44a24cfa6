"""Selection on a Ray cluster: rows are distributed at random, and greedy runs in each part and on the union of the
picks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numba
import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.progress import ProgressCallback, silent
from listwright.engines import Ray
from listwright.errors import InputError
from listwright.selection.constraints import RowConstraints
from listwright.selection.objectives import FacilityLocation, LogDet, Objective, Solved
from listwright.selection.proof import Proof, any_data, most_possible, of_these_data
from listwright.selection.vectors import Vectors

RETRIES = 20  # retries after a worker died


@dataclass(eq=False)
class DistributedGreedy(Objective):
    """GreeDi (Mirzasoleiman et al. 2013) with random parts, each measured on all targets."""

    whole: FacilityLocation | LogDet  # the objective on all rows
    engine: Ray  # the cluster
    rng: np.random.Generator  # distributes the rows

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        """Run each part as a task; if a worker dies, its part goes to another."""
        if constraints.n_needed:
            raise InputError("engine='ray' does not take the least rows of a group. Pass the most alone in per_group=.")
        with self.engine.connection():
            crew = Crew(self.engine, self.whole)
            rows = np.flatnonzero(constraints.open)
            dealt = np.array_split(self.rng.permutation(rows), max(2, min(crew.size, len(rows) // constraints.k or 1)))
            parts = [np.sort(np.concatenate([part, constraints.given])) for part in dealt]
            found = list(crew.each(solve_part, [(part, constraints) for part in parts], tick, "parts"))
            union = np.unique(np.concatenate([constraints.given, *(one.rows for one in found)]))
            best = max([solve_part(self.whole, union, constraints), *found], key=lambda one: one.added)
            return best._replace(bounds=self._bounds(crew, constraints, best, dealt, tick))

    def _bounds(
        self, crew: Crew, constraints: RowConstraints, best: Solved, dealt: Sequence[Ints], tick: ProgressCallback
    ) -> Floats:
        """Return what each row could still add next to the picks, measured by the workers."""
        picked, bounds = np.concatenate([constraints.given, best.rows]), np.zeros(len(constraints.open))
        asked = [(picked, part) for part in dealt]
        for part, gains in zip(dealt, crew.each(measure_part, asked, tick, "proof"), strict=True):
            bounds[part] = gains
        bounds[best.rows] = 0.0
        return bounds

    def share(self, constraints: RowConstraints) -> float | None:
        """Return None: the guarantee holds only in expectation."""
        return None

    def prove(self, constraints: RowConstraints, solved: Solved) -> Proof:
        """Return half of greedy's guarantee, in expectation, or what these data show."""
        known, why, what = any_data(constraints, len(solved.rows))
        known = None if known is None or constraints.budgeted else known / 2
        why = "" if known is None else f"in expectation ({why}) / 2 = {known:.3f}"
        return of_these_data(solved.added, most_possible(solved.added, solved.bounds, constraints), known, why, what)


def solve_part(objective: Any, rows: Ints, constraints: RowConstraints) -> Solved:
    """Run greedy on some of the rows."""
    solved = objective.among(rows).solve(constraints.among(rows), silent)
    return solved._replace(rows=rows[solved.rows])


def measure_part(objective: Any, picked: Ints, rows: Ints) -> Floats:
    """Return what some rows would add next to the picks."""
    return np.asarray(objective.gains_beside(picked, rows))


class Crew:
    """The workers of a cluster, with the objective in the shared memory of each machine."""

    def __init__(self, engine: Ray, objective: Any) -> None:
        ray: Any = import_module("ray")
        self.ray, self.size = ray, engine.workers or int(ray.cluster_resources().get("CPU", 1))
        self.shared = ray.put(portable(objective))
        self.task = ray.remote(num_cpus=1, max_retries=RETRIES, scheduling_strategy="SPREAD")(do_part)

    def each(self, work: Any, asked: Sequence[tuple[Any, ...]], tick: ProgressCallback, what: str) -> Iterator[Any]:
        """Yield the results in order; a task whose worker dies is repeated."""
        running = [self.task.remote(work, self.shared, *one) for one in asked]
        for done, reference in enumerate(running, start=1):
            try:
                yield self.ray.get(reference)
            except self.ray.exceptions.RayTaskError as error:
                raise error.cause from None
            tick(what, done, len(running))


def do_part(work: Any, objective: Any, *asked: Any) -> Any:
    """Run a task on a worker, with one core."""
    numba.set_num_threads(1)
    return work(unpacked(objective), *asked)


def portable(objective: Any) -> Any:
    """Return the objective in the form to send: a memory-mapped table is replaced by the name of its file."""
    return _with_tables(objective, _named)


def unpacked(objective: Any) -> Any:
    """Return the objective as it was before `portable`."""
    return _with_tables(objective, _opened)


def _with_tables(objective: Any, change: Any) -> Any:
    """Return a copy of the objective whose vectors are changed by `change`."""
    if isinstance(objective, LogDet):
        return replace(objective, vectors=change(objective.vectors))
    similarity = objective.similarity
    if not hasattr(similarity, "of_targets"):
        return objective
    twin = similarity.copy()
    same = similarity.of_candidates is similarity.of_targets
    twin.of_targets = change(similarity.of_targets)
    twin.of_candidates = twin.of_targets if same else change(similarity.of_candidates)
    return replace(objective, similarity=twin)


def _named(vectors: Vectors) -> Vectors:
    """Replace a memory-mapped .npy table by its file name."""
    table = vectors.table
    whole = isinstance(table, np.memmap) and table.filename is not None and str(table.filename).endswith(".npy")
    return replace(vectors, table=str(table.filename)) if whole else vectors


def _opened(vectors: Vectors) -> Vectors:
    """Replace a file name by the memory-mapped table."""
    if not isinstance(vectors.table, str):
        return vectors
    return replace(vectors, table=np.load(vectors.table, mmap_mode="r", allow_pickle=False))
