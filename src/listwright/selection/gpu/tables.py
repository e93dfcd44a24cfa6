"""Vectors on the GPU: scaled or centred there, and padded to the width that the kernels need."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from listwright.errors import InputError
from listwright.selection.gpu.device import must_fit_gpu
from listwright.selection.vectors import Vectors

STEP = 64  # rows are padded with zeros to a multiple of this many numbers
BLOCK = 65_536  # rows copied at a time


def width_of(vectors: Vectors) -> int:
    """Return the numbers per row on the GPU: a multiple of `STEP`."""
    return -(-vectors.width // STEP) * STEP


def on_gpu(vectors: Vectors, dtype: Any) -> Any:
    """Return all rows as a tensor, or raises `InputError` if they do not fit."""
    if vectors.wide:
        raise InputError(
            f"Sparse vectors of {vectors.width:,} columns are only supported on the CPU. Pass device='cpu'."
        )
    size = len(vectors) * width_of(vectors) * dtype.itemsize
    must_fit_gpu(2 * size, "Pass sample= or neighbors=, or device='cpu'.")
    table = torch.zeros((len(vectors), width_of(vectors)), device="cuda", dtype=dtype)
    for low in range(0, len(vectors), BLOCK):
        rows = slice(low, min(low + BLOCK, len(vectors)))
        table[rows, : vectors.width] = _block(vectors, rows).to(dtype)
    return table


def _block(vectors: Vectors, rows: slice) -> Any:
    """Return some rows, copied as they are and then scaled or centred on the GPU."""
    if vectors.ready or not isinstance(vectors.table, np.ndarray):
        return torch.from_numpy(np.ascontiguousarray(vectors.take(rows))).cuda()
    block = np.ascontiguousarray(vectors.table[rows])
    numbers = torch.from_numpy(block if block.dtype.kind == "f" else block.astype(np.float32)).cuda().float()
    if vectors.centre is not None:
        return numbers - torch.from_numpy(vectors.centre).cuda()
    return numbers * torch.from_numpy(vectors.inverse[rows]).cuda()[:, None]


def floats(values: Any) -> Any:
    """Return numbers by row as a float32 tensor."""
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)).cuda()
