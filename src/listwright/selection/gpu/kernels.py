"""Triton kernels: similarities are made, used and forgotten inside a tile."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from listwright.selection.gpu.arithmetic import CANDIDATES, DOT, RBF, ROWS, parts_of

STEP = {torch.float16: 64, torch.float32: 32}  # columns that are multiplied at a time


@triton.jit(do_not_specialize=["n", "c", "each"])  # or else it would be compiled again for other sizes
def _falls(  # type: ignore[no-untyped-def]
    targets,
    candidates,
    of_targets,
    of_candidates,
    low,
    most,
    weights,
    parts,
    n,
    c,
    each,
    ceiling,
    gamma,
    D: tl.constexpr,
    KIND: tl.constexpr,
    WEIGHTED: tl.constexpr,
    PRECISION: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    """parts[p, j] = sum over the targets i of part p of w_i min(max(s_ij - low_i, 0), most_i)."""
    row_tiles = tl.make_tensor_descriptor(targets, [n, D], [D, 1], [BM, BK])
    candidate_tiles = tl.make_tensor_descriptor(candidates, [c, D], [D, 1], [BN, BK])
    block, part = tl.program_id(0), tl.program_id(1)
    columns = block * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for tile in range(part * each, min((part + 1) * each, tl.cdiv(n, BM))):
        similar = tl.zeros((BM, BN), tl.float32)
        for k in range(0, D, BK):
            rows = row_tiles.load([tile * BM, k])
            similar = tl.dot(rows, candidate_tiles.load([block * BN, k]).T, similar, input_precision=PRECISION)
        at = tile * BM + tl.arange(0, BM)
        if KIND > 0:
            squares = tl.load(of_targets + at, mask=at < n, other=0.0)
            others = tl.load(of_candidates + columns, mask=columns < c, other=0.0)
            similar = tl.maximum(squares[:, None] + others[None, :] - 2.0 * similar, 0.0)
            similar = tl.exp(-gamma * similar) if KIND == 2 else ceiling - similar
        lowest = tl.load(low + at, mask=at < n, other=float("inf"))
        highest = tl.load(most + at, mask=at < n, other=0.0)
        fallen = tl.minimum(tl.maximum(similar - lowest[:, None], 0.0), highest[:, None])
        if WEIGHTED:
            fallen *= tl.load(weights + at, mask=at < n, other=0.0)[:, None]
        sums += fallen
    tl.store(parts + part * c + columns, tl.sum(sums, axis=0), mask=columns < c)


@triton.jit(do_not_specialize=["n"])
def _column(table, row, found, n, D: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr):  # type: ignore[no-untyped-def]
    """found[i] = dot product of row i of the table with `row`, in float32."""
    at = tl.program_id(0) * BM + tl.arange(0, BM)
    total = tl.zeros((BM,), tl.float32)
    for k in range(0, D, BK):
        columns = k + tl.arange(0, BK)
        place = at[:, None].to(tl.int64) * D + columns[None, :]
        rows = tl.load(table + place, mask=at[:, None] < n, other=0.0).to(tl.float32)
        total += tl.sum(rows * tl.load(row + columns).to(tl.float32)[None, :], axis=1)
    tl.store(found + at, total, mask=at < n)


def _workspace(size: int, alignment: int, stream: int | None) -> Any:
    return torch.empty(size, device="cuda", dtype=torch.int8)


def falls(
    targets: Any,
    candidates: Any,
    squares: tuple[Any, Any],
    low: Any,
    most: Any,
    weights: Any,
    kind: int,
    ceiling: float,
    gamma: float,
) -> Any:
    """By candidate, the sum that `arithmetic.falls` defines, in float64.

    Every part adds up its tiles in order and the parts are added in order, so that the result is always the same. Cost:
    2 d operations for each pair; nothing is kept but one number for each part and candidate.
    """
    (n, d), c = targets.shape, candidates.shape[0]
    n_parts, each = parts_of(n, c)
    parts = torch.empty((n_parts, c), device="cuda", dtype=torch.float32)
    exact = targets.dtype == torch.float32
    triton.set_allocator(_workspace)
    rows, columns, warps, stages = (ROWS // 2, CANDIDATES // 2, 4, 3) if exact else (ROWS, CANDIDATES, 8, 3)
    each = each * ROWS // rows
    _falls[(triton.cdiv(c, columns), n_parts)](
        targets,
        candidates,
        *squares,
        low,
        most,
        low if weights is None else weights,
        parts,
        n,
        c,
        each,
        ceiling,
        gamma,
        D=d,
        KIND=kind,
        WEIGHTED=weights is not None,
        PRECISION="tf32x3" if exact else "tf32",
        BM=rows,
        BN=columns,
        BK=STEP[targets.dtype],
        num_warps=warps,
        num_stages=stages,
    )
    return parts.sum(dim=0, dtype=torch.float64)


def column(table: Any, row: Any, squares: tuple[Any, Any], kind: int, ceiling: float, gamma: float) -> Any:
    """Similarities of one candidate to all targets, in float32. Cost: one read of the table."""
    found = torch.empty(table.shape[0], device="cuda", dtype=torch.float32)
    _column[(triton.cdiv(table.shape[0], 64),)](table, row, found, table.shape[0], D=table.shape[1], BM=64, BK=64)
    if kind == DOT:
        return found
    squared = (squares[0] + squares[1] - 2.0 * found).clamp(min=0.0)
    return torch.exp(-gamma * squared) if kind == RBF else ceiling - squared
