"""Log det from vectors on the GPU, where every gain is updated after every pick."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from listwright._internal.arrays import Floats, Ints
from listwright._internal.progress import ProgressCallback
from listwright.selection.constraints import RowConstraints
from listwright.selection.gpu.device import must_fit_gpu
from listwright.selection.gpu.tables import on_gpu, width_of
from listwright.selection.vectors import Vectors


def select_volume(
    vectors: Vectors, gamma: float, scale: float, constraints: RowConstraints, tick: ProgressCallback
) -> tuple[Ints, Floats, Floats, float]:
    """Select rows by greedy on log det, as `selection.volume.select_volume` does."""
    steps = len(constraints.given) + constraints.k
    spanned = (Axes if gamma == 0 else Cholesky)(vectors, gamma, scale, steps)
    before = sum(spanned.add(int(row)) for row in constraints.given)
    costs = torch.from_numpy(constraints.costs).cuda()
    rows: list[int] = []
    gains: list[float] = []
    open_rows = torch.from_numpy(constraints.open).cuda()
    while not constraints.done:
        scores = torch.where(open_rows, spanned.remaining.log() / costs, -torch.inf)
        row = int(scores.argmax())
        gains.append(spanned.add(row))
        rows.append(row)
        constraints.take_row(row)
        open_rows[row] = False
        if constraints.closes:
            open_rows = torch.from_numpy(constraints.open).cuda()
        tick("picking", len(rows), constraints.k)
    bounds = spanned.remaining.log().cpu().numpy()
    return np.array(rows, dtype=np.int64), np.array(gains), bounds, float(before)


class Axes:
    """Log det for dot products: a pick is an axis of d numbers, as in `_kernels.lazy_volume`."""

    def __init__(self, vectors: Vectors, gamma: float, scale: float, steps: int) -> None:
        self.table, self.scale, self.n_picked = on_gpu(vectors, torch.float32), scale, 0
        self.remaining = 1.0 + scale * torch.from_numpy(vectors.squares).cuda()
        self.axes = torch.zeros((steps, width_of(vectors)), device="cuda", dtype=torch.float64)
        self.shares = torch.zeros(steps, device="cuda", dtype=torch.float64)

    def add(self, row: int) -> float:
        """Add a row, and return what it added."""
        t, x = self.n_picked, self.table[row].double()
        left = self.remaining[row].clone()
        self.shares[t] = self.scale / left
        self.axes[t] = x - (self.shares[:t] * (self.axes[:t] @ x)) @ self.axes[:t]
        part = (self.table @ self.axes[t].float()).double()
        self.remaining = (self.remaining - self.scale * self.shares[t] * part * part).clamp(min=1.0)
        self.n_picked += 1
        return float(left.log())


class Cholesky:
    """Log det for the rbf kernel: a pick is a column of the Cholesky factor."""

    def __init__(self, vectors: Vectors, gamma: float, scale: float, steps: int) -> None:
        must_fit_gpu(4 * len(vectors) * steps, "Ask for fewer rows, or use metric='cosine'.")
        self.table, self.scale, self.gamma, self.n_picked = on_gpu(vectors, torch.float32), scale, gamma, 0
        self.squares = torch.from_numpy(vectors.squares).cuda()
        self.remaining = torch.full_like(self.squares, 1.0 + scale)
        self.explained = torch.zeros((steps, len(vectors)), device="cuda")

    def add(self, row: int) -> float:
        """Add a row, and return what it added."""
        t, left = self.n_picked, self.remaining[row].clone()
        squared = self.squares + self.squares[row] - 2.0 * (self.table @ self.table[row]).double()
        part: Any = self.scale * torch.exp(-self.gamma * squared.clamp(min=0.0))
        part = part - (self.explained[:t, row] @ self.explained[:t]).double()
        part = part / left.sqrt()
        self.explained[t] = part.float()
        self.remaining = (self.remaining - part * part).clamp(min=1.0)
        self.n_picked += 1
        return float(left.log())
