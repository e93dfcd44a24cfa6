"""The graph of nearest neighbours, computed on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse

from listwright._internal.progress import ProgressCallback
from listwright.selection.gpu.facility import from_products
from listwright.selection.gpu.tables import floats, on_gpu
from listwright.selection.graph import as_graph
from listwright.selection.similarity import Distances, Dots, SimilarityMatrix

NUMBERS = 1 << 30  # similarities stored at a time


def neighbor_graph(
    similarity: SimilarityMatrix, neighbors: int, tick: ProgressCallback, *, exact: bool
) -> sparse.csr_array:
    """Return the graph as on the CPU: CSR of shape (candidates, targets)."""
    assert isinstance(similarity, Dots | Distances)
    dots = isinstance(similarity, Dots)
    dtype = torch.float32 if exact or not dots else torch.float16
    targets = on_gpu(similarity.of_targets, dtype)
    same = similarity.of_candidates is similarity.of_targets
    candidates = targets if same else on_gpu(similarity.of_candidates, dtype)
    squares, others = floats(similarity.of_targets.squares), floats(similarity.of_candidates.squares)
    shape, step = (similarity.n_targets, neighbors), max(1, NUMBERS // similarity.n)
    rows, values = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.float32)
    for low in range(0, similarity.n_targets, step):
        block = slice(low, min(low + step, similarity.n_targets))
        found = from_products(similarity, _product(targets[block], candidates), squares[block], others)
        best, at = found.topk(neighbors, dim=1)
        rows[block], values[block] = at.cpu().numpy(), best.cpu().numpy()
        tick("neighbours", block.stop, similarity.n_targets)
    return as_graph(rows, values, similarity.n)


def _product(targets: Any, candidates: Any) -> Any:
    """Return dot products in float32, also of vectors in half precision."""
    if targets.dtype == torch.float32:
        return targets @ candidates.T
    return torch.mm(targets, candidates.T, out_dtype=torch.float32)
