"""Triton kernels in which similarities are computed, used and discarded within a tile."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from listwright.selection.gpu.device import CANDIDATES, ROWS, parts_of

STEP = {torch.float16: 64, torch.float32: 32}  # columns multiplied at a time

LIFTED = 64  # targets per program of _lift


@triton.jit
def _halves(tile, BM: tl.constexpr, BN: tl.constexpr):  # type: ignore[no-untyped-def]
    """Return every other eight rows of a tile, and those between: each thread has rows of both, so nothing moves."""
    return tl.split(tl.permute(tl.reshape(tile, (BM // 16, 2, 8, BN)), (0, 2, 3, 1)))


@triton.jit(do_not_specialize=["n", "c", "each"])  # otherwise it would be compiled again for other sizes
def _falls(  # type: ignore[no-untyped-def]
    targets, candidates, of_targets, of_candidates, index, old, new, weights, parts,
    n, c, each, noise, ceiling, gamma,
    D: tl.constexpr, KIND: tl.constexpr, INDEXED: tl.constexpr, WEIGHTED: tl.constexpr, PRECISION: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """parts[p, j] = sum over the targets i of part p of w_i min(max(s_ij - old_i - noise, 0), new_i - old_i)."""
    row_tiles = tl.make_tensor_descriptor(targets, [n, D], [D, 1], [BM, BK])
    candidate_tiles = tl.make_tensor_descriptor(candidates, [c, D], [D, 1], [BN, BK])
    block, part = tl.program_id(0), tl.program_id(1)
    columns = block * BN + tl.arange(0, BN)
    sums = tl.zeros((BM // 16, 8, BN), tl.float32)
    for tile in tl.range(part * each, min((part + 1) * each, tl.cdiv(n, BM)), flatten=True):
        # Loaded before the product, which takes longer than the loads.
        at = tile * BM + tl.arange(0, BM)
        inside = at < n
        if INDEXED:
            at = tl.load(index + at, mask=inside, other=0)
        before = tl.load(old + at, mask=inside, other=0.0)
        most = tl.minimum(tl.load(new + at, mask=inside, other=0.0), 2.0 * ceiling) - before
        # min(max(x, 0), most) is most times x / most, held between 0 and 1, which takes a single instruction.
        share = 1.0 / tl.maximum(most, 1e-30)
        start = -(before + noise) * share
        if WEIGHTED:
            most *= tl.load(weights + at, mask=inside, other=0.0)
        similar = tl.zeros((BM, BN), tl.float32)
        for k in range(0, D, BK):
            rows = row_tiles.load([tile * BM, k])
            similar = tl.dot(rows, candidate_tiles.load([block * BN, k]).T, similar, input_precision=PRECISION)
        if KIND > 0:
            squares = tl.load(of_targets + at, mask=inside, other=0.0)
            others = tl.load(of_candidates + columns, mask=columns < c, other=0.0)
            similar = tl.maximum(squares[:, None] + others[None, :] - 2.0 * similar, 0.0)
            similar = tl.exp(-gamma * similar) if KIND == 2 else ceiling - similar
        fallen = tl.inline_asm_elementwise(
            "fma.rn.sat.f32 $0, $1, $2, $3;",
            "=f,f,f,f",
            [similar, share[:, None], start[:, None]],
            dtype=tl.float32,
            is_pure=True,
            pack=1,
        )
        even, odd = _halves(fallen, BM, BN)
        of_even, of_odd = _halves(tl.broadcast_to(most[:, None], (BM, BN)), BM, BN)
        sums = odd * of_odd + (even * of_even + sums)
    tl.store(parts + part * c + columns, tl.sum(tl.sum(sums, axis=0), axis=0), mask=columns < c)


@triton.jit(do_not_specialize=["n"])
def _lift(  # type: ignore[no-untyped-def]
    table, row, of_targets, of_row, best, weights, similar, rises, n, noise, ceiling, gamma,
    D: tl.constexpr, KIND: tl.constexpr, WEIGHTED: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """similar[i] = similarity of `row` to target i where it is above best[i], else best[i]; rises by program."""
    at = tl.program_id(0) * BM + tl.arange(0, BM)
    inside = at < n
    near = tl.zeros((BM,), tl.float32)
    for k in range(0, D, BK):
        columns = k + tl.arange(0, BK)
        place = at[:, None].to(tl.int64) * D + columns[None, :]
        rows = tl.load(table + place, mask=inside[:, None], other=0.0).to(tl.float32)
        near += tl.sum(rows * tl.load(row + columns).to(tl.float32)[None, :], axis=1)
    if KIND > 0:
        squares = tl.load(of_targets + at, mask=inside, other=0.0)
        near = tl.maximum(squares + tl.load(of_row) - 2.0 * near, 0.0)
        near = tl.exp(-gamma * near) if KIND == 2 else ceiling - near
    before = tl.load(best + at, mask=inside, other=float("inf"))
    rise = tl.where(near - before > noise, near - before, 0.0)
    tl.store(similar + at, tl.where(rise > 0, near, before), mask=inside)
    if WEIGHTED:
        rise *= tl.load(weights + at, mask=inside, other=0.0)
    tl.store(rises + tl.program_id(0), tl.sum(rise))


def _workspace(size: int, alignment: int, stream: int | None) -> Any:
    return torch.empty(size, device="cuda", dtype=torch.int8)


class Kind(NamedTuple):
    """How a similarity follows from a dot product."""

    code: int  # DOT, EUCLIDEAN or RBF
    ceiling: float  # parameters of EUCLIDEAN and RBF
    gamma: float
    noise: float  # rises up to this are rounding


def falls(
    targets: Any, candidates: Any, squares: tuple[Any, Any], index: Any, old: Any, new: Any, weights: Any, kind: Kind
) -> Any:
    (n, d), c, exact = targets.shape, candidates.shape[0], targets.dtype == torch.float32
    n_parts, each = parts_of(n, c)
    rows, columns, warps = (ROWS // 2, CANDIDATES // 2, 4) if exact else (ROWS, CANDIDATES, 8)
    parts = torch.empty((n_parts, c), device="cuda", dtype=torch.float32)
    triton.set_allocator(_workspace)
    _falls[(triton.cdiv(c, columns), n_parts)](
        targets, candidates, *squares, old if index is None else index, old, new, old if weights is None else weights,
        parts, n, c, each * ROWS // rows, kind.noise, kind.ceiling, kind.gamma,
        D=d, KIND=kind.code, INDEXED=index is not None, WEIGHTED=weights is not None,
        PRECISION="tf32x3" if exact else "tf32", BM=rows, BN=columns, BK=STEP[targets.dtype],
        num_warps=warps, num_stages=3,
    )  # fmt: skip
    return parts.sum(dim=0, dtype=torch.float64)


def lift(table: Any, row: Any, squares: tuple[Any, Any], best: Any, weights: Any, kind: Kind) -> tuple[Any, Any]:
    """Return the best similarities with one more row, and the weighted sum of the rises, with one read of the table."""
    n, d = table.shape
    similar = torch.empty(n, device="cuda", dtype=torch.float32)
    rises = torch.empty(triton.cdiv(n, LIFTED), device="cuda", dtype=torch.float32)
    _lift[(len(rises),)](
        table, row, *squares, best, best if weights is None else weights, similar, rises,
        n, kind.noise, kind.ceiling, kind.gamma,
        D=d, KIND=kind.code, WEIGHTED=weights is not None, BM=LIFTED, BK=64,
    )  # fmt: skip
    return similar, rises.sum(dtype=torch.float64)
