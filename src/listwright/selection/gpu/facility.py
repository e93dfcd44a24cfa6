"""Facility location from vectors on the GPU: the board of `Epochs`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from listwright._internal.arrays import Floats, Ints
from listwright.selection.epochs import Marks
from listwright.selection.gpu.arithmetic import DOT, EUCLIDEAN, RBF
from listwright.selection.gpu.kernels import Kind, falls, lift
from listwright.selection.gpu.tables import floats, on_gpu
from listwright.selection.similarity import NOISE, Distances, Dots, SimilarityMatrix

GATHERING = 256  # gathering the vectors of changed targets costs as much as this many candidates
NEAR = 3e-4  # tiles are summed in float32, so small gains have only this relative precision
ROWS = 65_536  # rows per block


class Tiles:
    """Best similarities on the GPU. Memory: the vectors, one number per target and mark, and the active rows."""

    def __init__(self, similarity: SimilarityMatrix, weights: Floats, *, exact: bool) -> None:
        assert isinstance(similarity, Dots | Distances)
        self.similarity = similarity
        gamma = 0.0 if isinstance(similarity, Dots) else similarity.gamma
        code = DOT if isinstance(similarity, Dots) else RBF if gamma > 0 else EUCLIDEAN
        self.kind = Kind(code, similarity.ceiling, gamma, similarity.noise)
        dtype = torch.float32 if exact or code != DOT else torch.float16
        self.targets = on_gpu(similarity.of_targets, dtype)
        same = similarity.of_candidates is similarity.of_targets
        self.candidates = self.targets if same else on_gpu(similarity.of_candidates, dtype)
        self.target_squares = floats(similarity.of_targets.squares)
        self.squares = floats(similarity.of_candidates.squares)
        self.all_weights, self.weights = weights, None if (weights == 1).all() else floats(weights)
        self.best = torch.zeros(similarity.n_targets, device="cuda")
        self.marks: list[Any] = []
        self.active: tuple[Any, Any] = (self.candidates[:0], self.squares[:0])
        self.near = NEAR if exact else 0.0
        self.doubles = DoublesOnGPU(self)

    def gain_bounds(self) -> Floats:
        """Return upper bounds on all gains, as `Dots.gain_bounds` does."""
        if self.kind.code != DOT:
            return self.similarity.gain_bounds(self.all_weights)
        w = torch.from_numpy(self.all_weights).cuda()
        total = torch.zeros(self.targets.shape[1], device="cuda", dtype=torch.float64)
        gram = torch.zeros((len(total), len(total)), device="cuda", dtype=torch.float64)
        for low in range(0, len(self.targets), ROWS):
            rows = self.targets[low : low + ROWS].double()
            weighted = rows * w[low : low + ROWS, None]
            total += weighted.sum(dim=0)
            gram += weighted.T @ rows
        bounds = [_bound(self.candidates[low : low + ROWS].double(), total, gram, w.sum())
                  for low in range(0, len(self.candidates), ROWS)]  # fmt: skip
        noise = NOISE * self.similarity.ceiling * self.all_weights.sum()
        return np.asarray(torch.cat(bounds).cpu().numpy() * (1 + NOISE) + noise)

    def gains(self, rows: Ints, since: Marks, known: Floats) -> Floats:
        """Return what each of the rows would add now, given its gain `known` at the mark `since` (-1 if unknown)."""
        gains, anew = known.copy(), since < 0
        for last in np.unique(since[~anew]):
            some, changed = since == last, torch.nonzero(self.best > self.marks[last]).squeeze(1)
            if len(changed) * (some.sum() + GATHERING) > len(self.best) * some.sum():
                anew |= some
            else:
                gains[some] -= self._fell(rows[some], changed, self.marks[last], self.best)
        if anew.any():
            gains[anew] = self._fell(rows[anew], None, self.best, torch.full_like(self.best, torch.inf))
        return gains

    def mark(self) -> int:
        """Store the current best similarities, and return the number of the mark."""
        self.marks.append(self.best.clone())
        return len(self.marks) - 1

    def activate(self, rows: Ints) -> None:
        """Gathers the vectors of the active rows."""
        at = torch.from_numpy(rows).cuda()
        self.active = (self.candidates[at], self.squares[at])

    def pick(self, row: int) -> tuple[float, Floats]:
        """Pick a row; return what it adds, and by how much the gains of the active rows decrease."""
        old = self.best
        brought = self.lift(row)
        changed = torch.nonzero(self.best > old).squeeze(1)
        both = torch.cat([brought[None], self._sums(*self.active, changed, old, self.best)]).cpu().numpy()
        return float(both[0]), both[1:]

    def lift(self, row: int) -> Any:
        """Pick a row; return what it adds."""
        self.doubles.picked.append(row)
        squares = (self.target_squares, self.squares[row : row + 1])
        self.best, brought = lift(self.targets, self.candidates[row], squares, self.best, self.weights, self.kind)
        return brought

    def exact_gains(self, rows: Ints) -> Floats:
        """Return what each of a few rows would add now, in float64."""
        return self.doubles.gains(rows)

    def _fell(self, rows: Ints, changed: Any, old: Any, new: Any) -> Floats:
        """Return by row how much its gain decreases, on the CPU."""
        at = torch.from_numpy(rows).cuda()
        return self._sums(self.candidates[at], self.squares[at], changed, old, new).cpu().numpy()

    def _sums(self, candidates: Any, squares: Any, changed: Any, old: Any, new: Any) -> Any:
        """Return how much the candidates' gains decrease when the best of the changed targets (None: all) goes from old
        to new.
        """
        if changed is not None and not len(changed):
            return torch.zeros(len(candidates), device="cuda", dtype=torch.float64)
        targets = self.targets if changed is None else self.targets[changed]
        both = (self.target_squares, squares)
        return falls(targets, candidates, both, changed, old, new, self.weights, self.kind)


class DoublesOnGPU:
    """Best similarities in float64, as in `selection.facility.Doubles`."""

    def __init__(self, board: Tiles) -> None:
        self.board, self.weights = board, torch.from_numpy(board.all_weights).cuda()
        self.of_targets, self.of_candidates = (
            torch.from_numpy(vectors.squares).cuda()
            for vectors in (board.similarity.of_targets, board.similarity.of_candidates)
        )
        self.best = torch.zeros(len(board.targets), device="cuda", dtype=torch.float64)
        self.picked: list[int] = []

    def gains(self, rows: Ints) -> Floats:
        """Return what each of the rows would add, at 2 d operations per target and row, or row picked since."""
        board, new = self.board, len(self.picked)
        at = torch.tensor([*self.picked, *rows.tolist()], device="cuda")
        total, both = (
            torch.zeros(len(rows), device="cuda", dtype=torch.float64),
            _doubles(board.candidates[at], self.of_candidates[at]),
        )
        for low in range(0, len(board.targets), ROWS):
            block = slice(low, low + ROWS)
            product = _doubles(board.targets[block], self.of_targets[block]) @ both.T
            similar = from_products(board.similarity, product, self.of_targets[block], self.of_candidates[at])
            if new:
                self.best[block] = torch.maximum(self.best[block], similar[:, :new].max(dim=1).values)
            total += self.weights[block] @ (similar[:, new:] - self.best[block, None]).clamp(min=0.0)
        self.picked = []
        return np.asarray(total.cpu().numpy())


def _doubles(rows: Any, squares: Any) -> Any:
    """Return rows in float64 with corrected lengths, as `Vectors.doubles` does."""
    rows = rows.double()
    lengths = (rows * rows).sum(dim=1)
    return rows * torch.sqrt(squares / torch.where(lengths > 0, lengths, 1.0))[:, None]


def _bound(rows: Any, total: Any, gram: Any, weight: Any) -> Any:
    """Return the bounds of some rows by Cauchy and Schwarz, from the weighted moments of the targets."""
    square = ((rows @ gram) * rows).sum(dim=1).clamp(min=0.0)
    return 0.5 * (rows @ total + torch.sqrt(weight * square))


def value_curve(similarity: SimilarityMatrix, weights: Floats, rows: Ints) -> Floats:
    """Return the value of the first 1, 2, ... of the rows over all targets, in float32 with float64 sums."""
    board = Tiles(similarity, weights, exact=True)
    at = torch.from_numpy(rows).cuda()
    picked, squares, w = board.candidates[at], board.squares[at], torch.from_numpy(weights).cuda()
    total = torch.zeros(len(rows), device="cuda", dtype=torch.float64)
    for low in range(0, len(board.targets), ROWS):
        block = slice(low, low + ROWS)
        product = board.targets[block] @ picked.T
        similar = from_products(similarity, product, board.target_squares[block], squares)
        total += w[block] @ similar.clamp(min=0.0).cummax(dim=1).values.double()
    return np.asarray(total.cpu().numpy())


def from_products(similarity: SimilarityMatrix, product: Any, squares: Any, others: Any) -> Any:
    """Return similarities of shape (targets, candidates) from dot products, computed in place."""
    if not isinstance(similarity, Distances):
        return product
    squared = product.mul_(-2.0).add_(squares[:, None]).add_(others).clamp_(min=0.0)
    return squared.mul_(-similarity.gamma).exp_() if similarity.gamma > 0 else similarity.ceiling - squared
