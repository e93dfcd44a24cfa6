"""Linear algebra that several packages need: a robust symmetric solve, and rows of unit length."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import lapack

from listwright._internal.arrays import Floats


def solve(matrix: Floats, right: Floats) -> Floats:
    """matrix^-1 @ right for a symmetric positive definite matrix, regardless of the scales of its columns."""
    if not len(matrix):
        return right.copy()
    scale = 1.0 / np.sqrt(np.maximum(np.diag(matrix), np.finfo(np.float64).tiny))
    scaled, right = matrix * scale[:, None] * scale, (right.T * scale).T
    _, answer, failed = lapack.dposv(scaled.T, right)  # symmetric, and LAPACK takes the columns first
    if failed:
        answer = linalg.pinvh(scaled, rtol=1e-12) @ right
    return (answer.T * scale).T


def unit_rows(vectors: Any) -> Any:
    """Rows scaled to Euclidean length 1 in float64, CSR if they were sparse; rows of zeros stay zero."""
    if sparse.issparse(vectors):
        table = sparse.csr_array(vectors, dtype=np.float64)
        rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
        lengths = np.sqrt(np.bincount(rows, table.data**2, minlength=table.shape[0]))
        scaled = table.data / np.where(lengths > 0, lengths, 1.0)[rows]
        return sparse.csr_array((scaled, table.indices, table.indptr), shape=table.shape)
    table = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths > 0, lengths, 1.0)
