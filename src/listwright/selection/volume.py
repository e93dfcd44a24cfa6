"""Log det from vectors: selects the rows that span the largest volume."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats, Ints
from listwright._internal.progress import ProgressCallback
from listwright._kernels.cosines import Space
from listwright._kernels.lazy_volume import VolumeState, lazy_volume
from listwright.selection.constraints import RowConstraints
from listwright.selection.vectors import Vectors


def select_volume(
    vectors: Vectors, gamma: float, scale: float, constraints: RowConstraints, tick: ProgressCallback
) -> tuple[Ints, Floats, Floats, float]:
    """Select rows by lazy greedy on log det(I + scale * K)."""
    n, n_given = len(vectors), len(constraints.given)
    steps = n_given + constraints.k
    order = np.full(steps, -1)
    order[:n_given] = constraints.given
    squares = vectors.squares.copy()
    volume = VolumeState(
        space=as_space(vectors),
        squares=squares,
        gamma=float(gamma),
        scale=float(scale),
        order=order,
        remaining=np.full(n, 1.0 + scale) if gamma > 0 else 1.0 + scale * squares,
        seen=np.zeros(n, dtype=np.int64),
        shares=np.zeros(steps),
        axes=np.zeros((0 if gamma > 0 else steps, vectors.width)),
        explained=np.zeros((n if gamma > 0 else 0, steps), dtype=np.float32),
    )
    picked, bounds, heap = np.zeros(steps), np.zeros(n), np.flatnonzero(constraints.open)
    tick("picking", 0, constraints.k)
    count = lazy_volume(
        volume, n_given, constraints.costs, constraints.budget, *constraints.quotas, heap, bounds, picked
    )
    return order[n_given:count], picked[n_given:count], bounds, float(picked[:n_given].sum())


def as_space(vectors: Vectors) -> Space:
    """Return the rows as compiled functions take them."""
    inverse = vectors.inverse.astype(np.float64)
    none, numbers = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
    table = vectors.table
    if sparse.issparse(table):
        starts, columns = table.indptr.astype(np.int64), table.indices.astype(np.int64)
        return Space(np.empty((0, 0), dtype=np.float32), starts, columns, table.data.astype(np.float32), inverse)
    dense = np.ascontiguousarray(table, dtype=np.float32)
    dense = dense if vectors.centre is None else dense - vectors.centre
    return Space(dense, none, none, numbers, inverse)
