"""Objectives of vectors on the GPU: the board of `Epochs`, similarities, exchanges, and log det."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.progress import ProgressCallback
from listwright._kernels.tiles import Marks, sort_by_mark
from listwright.errors import InputError
from listwright.selection.constraints import RowConstraints
from listwright.selection.gpu.device import DOT, EUCLIDEAN, RBF, must_fit_gpu
from listwright.selection.gpu.kernels import Kind, falls, lift
from listwright.selection.graph import Exchange, as_graph
from listwright.selection.similarity import NOISE, Distances, Dots, SimilarityMatrix, Vectors, cut

STEP = 64  # rows are padded with zeros to a multiple of this many numbers
ROWS = 65_536  # rows per block
GATHERING = 256  # gathering the vectors of changed targets costs as much as this many candidates
NEAR = 3e-4  # tiles are summed in float32, so small gains have only this relative precision
NUMBERS = 1 << 30  # similarities stored at a time


def width_of(vectors: Vectors) -> int:
    return -(-vectors.width // STEP) * STEP


def on_gpu(vectors: Vectors, dtype: Any) -> Any:
    if vectors.wide:
        raise InputError(
            f"Sparse vectors of {vectors.width:,} columns are only supported on the CPU. Pass device='cpu'."
        )
    size = len(vectors) * width_of(vectors) * dtype.itemsize
    must_fit_gpu(2 * size, "Pass sample= or neighbors=, or device='cpu'.")
    table = torch.zeros((len(vectors), width_of(vectors)), device="cuda", dtype=dtype)
    for rows in cut(len(vectors), ROWS):
        table[rows, : vectors.width] = _block(vectors, rows).to(dtype)
    return table


def _block(vectors: Vectors, rows: slice) -> Any:
    """Return some rows, copied as they are and then scaled or centred on the GPU."""
    if vectors.ready or not isinstance(vectors.table, np.ndarray):
        return torch.from_numpy(np.ascontiguousarray(vectors.take(rows))).cuda()
    block = np.ascontiguousarray(vectors.table[rows])
    numbers = torch.from_numpy(block if block.dtype.kind == "f" else block.astype(np.float64)).cuda()
    if vectors.centre is not None:
        return (numbers - torch.from_numpy(vectors.centre).cuda()).float()
    return numbers.float() * torch.from_numpy(vectors.inverse[rows]).cuda()[:, None]


def floats(values: Any) -> Any:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)).cuda()


class Tiles:
    """Best similarities on the GPU. Memory: the vectors, one number per target and mark, and the active rows."""

    batch = 1024

    def __init__(self, similarity: Dots | Distances, weights: Floats, *, exact: bool) -> None:
        tables = SimilarityOnGPU(similarity, exact=exact)
        gamma = similarity.gamma if isinstance(similarity, Distances) else 0.0
        self.similarity, self.targets, self.candidates = similarity, tables.of_targets, tables.of_candidates
        self.target_squares, self.squares = tables.squares, tables.others
        code = DOT if isinstance(similarity, Dots) else RBF if gamma > 0 else EUCLIDEAN
        self.kind = Kind(code, similarity.ceiling, gamma, similarity.noise)
        self.all_weights, self.weights = weights, None if (weights == 1).all() else floats(weights)
        self.best = torch.zeros(similarity.n_targets, device="cuda")
        self.marks: list[Any] = []
        self.active: tuple[Any, Any] = (self.candidates[:0], self.squares[:0])
        self.near = NEAR if exact else 0.0
        self.doubles = DoublesOnGPU(self)

    def gain_bounds(self) -> Floats:
        if self.kind.code != DOT:
            return self.similarity.gain_bounds(self.all_weights)
        w = torch.from_numpy(self.all_weights).cuda()
        total = torch.zeros(self.targets.shape[1], device="cuda", dtype=torch.float64)
        gram = torch.zeros((len(total), len(total)), device="cuda", dtype=torch.float64)
        for block in cut(len(self.targets), ROWS):
            rows = self.targets[block].double()
            weighted = rows * w[block, None]
            total += weighted.sum(dim=0)
            gram += weighted.T @ rows
        blocks = cut(len(self.candidates), ROWS)
        bounds = [_bound(self.candidates[block].double(), total, gram, w.sum()) for block in blocks]
        noise = NOISE * self.similarity.ceiling * self.all_weights.sum()
        return np.asarray(torch.cat(bounds).cpu().numpy() * (1 + NOISE) + noise)

    def gains(self, rows: Ints, since: Marks, known: Floats) -> Floats:
        order, ends = sort_by_mark(since, len(self.marks))
        rows, gains, anew = rows[order], known[order], [np.arange(ends[0])]
        for last in np.flatnonzero(np.diff(ends)):
            some, count = slice(ends[last], ends[last + 1]), ends[last + 1] - ends[last]
            changed = torch.nonzero(self.best > self.marks[last]).squeeze(1)
            if len(changed) * (count + GATHERING) > len(self.best) * count:
                anew.append(np.arange(some.start, some.stop))
            else:
                gains[some] -= self._fell(rows[some], changed, self.marks[last], self.best)
        at = np.concatenate(anew)
        if len(at):
            gains[at] = self._fell(rows[at], None, self.best, torch.full_like(self.best, torch.inf))
        known = np.empty_like(gains)
        known[order] = gains
        return known

    def mark(self) -> int:
        self.marks.append(self.best.clone())
        return len(self.marks) - 1

    def activate(self, rows: Ints) -> None:
        at = torch.from_numpy(rows).cuda()
        self.active = (self.candidates[at], self.squares[at])

    def pick(self, row: int) -> tuple[float, Floats]:
        old = self.best
        brought = self.lift(row)
        changed = torch.nonzero(self.best > old).squeeze(1)
        both = torch.cat([brought[None], self._sums(*self.active, changed, old, self.best)]).cpu().numpy()
        return float(both[0]), both[1:]

    def lift(self, row: int) -> Any:
        self.doubles.picked.append(row)
        squares = (self.target_squares, self.squares[row : row + 1])
        self.best, brought = lift(self.targets, self.candidates[row], squares, self.best, self.weights, self.kind)
        return brought

    def _fell(self, rows: Ints, changed: Any, old: Any, new: Any) -> Floats:
        at = torch.from_numpy(rows).cuda()
        return self._sums(self.candidates[at], self.squares[at], changed, old, new).cpu().numpy()

    def _sums(self, candidates: Any, squares: Any, changed: Any, old: Any, new: Any) -> Any:
        """Return how much gains decrease when the best of the changed targets (None: all) goes from old to new."""
        if changed is not None and not len(changed):
            return torch.zeros(len(candidates), device="cuda", dtype=torch.float64)
        targets = self.targets if changed is None else self.targets[changed]
        both = (self.target_squares, squares)
        return falls(targets, candidates, both, changed, old, new, self.weights, self.kind)


class DoublesOnGPU:
    """Best similarities in float64, as in `selection.facility.Doubles`."""

    def __init__(self, board: Tiles) -> None:
        self.board, self.weights = board, torch.from_numpy(board.all_weights).cuda()
        self.of_targets = torch.from_numpy(board.similarity.of_targets.squares).cuda()
        self.of_candidates = torch.from_numpy(board.similarity.of_candidates.squares).cuda()
        self.best = torch.zeros(len(board.targets), device="cuda", dtype=torch.float64)
        self.picked: list[int] = []

    def gains(self, rows: Ints) -> Floats:
        board, new = self.board, len(self.picked)
        at = torch.tensor([*self.picked, *rows.tolist()], device="cuda")
        total = torch.zeros(len(rows), device="cuda", dtype=torch.float64)
        both = _doubles(board.candidates[at], self.of_candidates[at])
        for block in cut(len(board.targets), ROWS):
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
    square = ((rows @ gram) * rows).sum(dim=1).clamp(min=0.0)
    return 0.5 * (rows @ total + torch.sqrt(weight * square))


def value_curve(similarity: SimilarityMatrix, weights: Floats, rows: Ints) -> Floats:
    """Return the value of the first 1, 2, ... of the rows over all targets, in float32 with float64 sums."""
    on_device, w = SimilarityOnGPU(similarity, exact=True), torch.from_numpy(weights).cuda()
    at, total = torch.from_numpy(rows).cuda(), torch.zeros(len(rows), device="cuda", dtype=torch.float64)
    for block in cut(similarity.n_targets, ROWS):
        total += w[block] @ on_device.tile(block, at).clamp(min=0.0).cummax(dim=1).values.double()
    return np.asarray(total.cpu().numpy())


def from_products(similarity: SimilarityMatrix, product: Any, squares: Any, others: Any) -> Any:
    """Return similarities of shape (targets, candidates) from dot products, computed in place."""
    if not isinstance(similarity, Distances):
        return product
    squared = product.mul_(-2.0).add_(squares[:, None]).add_(others).clamp_(min=0.0)
    return squared.mul_(-similarity.gamma).exp_() if similarity.gamma > 0 else similarity.ceiling - squared


class SimilarityOnGPU:
    """The work of a similarity on the GPU; all else is asked of the similarity itself."""

    batch = 1024

    def __init__(self, similarity: SimilarityMatrix, *, exact: bool) -> None:
        assert isinstance(similarity, Dots | Distances)
        self.similarity = similarity
        dtype = torch.float32 if exact or isinstance(similarity, Distances) else torch.float16
        self.of_targets = on_gpu(similarity.of_targets, dtype)
        same = similarity.of_candidates is similarity.of_targets
        self.of_candidates = self.of_targets if same else on_gpu(similarity.of_candidates, dtype)
        self.squares, self.others = floats(similarity.of_targets.squares), floats(similarity.of_candidates.squares)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.similarity, name)

    def tile(self, targets: slice, candidates: Any) -> Any:
        """Return similarities of shape (targets, candidates) in float32."""
        rows, columns = self.of_targets[targets], self.of_candidates[candidates]
        wide = {} if rows.dtype == torch.float32 else {"out_dtype": torch.float32}
        product = torch.mm(rows, columns.T, **wide)
        return from_products(self.similarity, product, self.squares[targets], self.others[candidates])

    def column_on_gpu(self, row: int) -> Any:
        return self.tile(slice(None), slice(row, row + 1))[:, 0]

    def column(self, row: int) -> Any:
        return self.column_on_gpu(row).cpu().numpy()

    def capped_sums(self, rows: Ints, capacity: Floats, weights: Floats) -> Floats:
        at, caps, w = (torch.from_numpy(numbers).cuda() for numbers in (rows, capacity, weights))
        sums = torch.zeros(len(rows), device="cuda", dtype=torch.float64)
        for block in cut(self.n_targets, NUMBERS // (4 * len(rows))):
            capped = torch.minimum(self.tile(block, at).clamp_(min=0.0).double(), caps[block, None])
            sums += w[block] @ capped
        return np.asarray(sums.cpu().numpy())

    def totals(self) -> Floats:
        tiles = (self.tile(block, slice(None)).clamp_(min=0.0) for block in cut(self.n_targets, NUMBERS // self.n))
        return np.concatenate([tile.sum(dim=1, dtype=torch.float64).cpu().numpy() for tile in tiles])


def neighbor_graph(
    similarity: SimilarityMatrix, neighbors: int, tick: ProgressCallback, *, exact: bool
) -> sparse.csr_array:
    on_device, shape = SimilarityOnGPU(similarity, exact=exact), (similarity.n_targets, neighbors)
    rows, values = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.float32)
    for block in cut(similarity.n_targets, NUMBERS // similarity.n):
        best, at = on_device.tile(block, slice(None)).topk(neighbors, dim=1)
        rows[block], values[block] = at.cpu().numpy(), best.cpu().numpy()
        tick("neighbours", block.stop, similarity.n_targets)
    return as_graph(rows, values, similarity.n)


class ExchangeOnGPU(Exchange):
    """Exchanges of picks measured on the GPU, in float32 with float64 sums."""

    block = 2048
    similarity: Any
    best: Any
    second: Any
    owner: Any

    def __init__(self, similarity: SimilarityMatrix, weights: Floats, fixed: Ints, rows: Ints) -> None:
        self.similarity, self.weights, self.n_fixed = SimilarityOnGPU(similarity, exact=True), weights, len(fixed)
        self.rows, self.on_gpu = np.concatenate([fixed, rows]), torch.from_numpy(weights).cuda()
        n, k = similarity.n_targets, len(self.rows)
        must_fit_gpu(4 * k * n, "Ask for fewer rows, or leave refine= out.")
        self.picks, at = torch.empty((k, n), device="cuda"), torch.from_numpy(self.rows).cuda()
        self.best, self.second = torch.zeros(n, device="cuda"), torch.zeros(n, device="cuda")
        self.owner = torch.zeros(n, device="cuda", dtype=torch.int64)
        for block in cut(n, NUMBERS // k):
            self.picks[:, block] = self.similarity.tile(block, at).clamp_(min=0.0).T
            self._find_best(block)

    def _find_best(self, targets: Any) -> None:
        some = self.picks[:, targets]
        best, owner = some.topk(min(2, len(some)), dim=0)
        self.best[targets], self.owner[targets] = best[0], owner[0]
        self.second[targets] = best[1] if len(best) > 1 else 0.0

    def measure(self, rows: Ints) -> Floats:
        at, numbers = torch.from_numpy(rows).cuda(), torch.arange(len(self.rows), device="cuda")
        gains = torch.zeros((len(self.rows), len(rows)), device="cuda", dtype=torch.float64)
        for block in cut(len(self.best), ROWS):
            tile, best, second = self.similarity.tile(block, at), self.best[block, None], self.second[block, None]
            w = self.on_gpu[block]
            gains += w @ (tile - best).clamp_(min=0.0).double()
            kept = (torch.minimum(tile, best) - second).clamp_(min=0.0).double() - (best - second).double()
            owner, order = self.owner[block].sort(stable=True)
            sums = torch.nn.functional.pad((kept * w[:, None])[order].cumsum(dim=0), (0, 0, 1, 0))
            gains += sums[torch.searchsorted(owner, numbers, right=True)] - sums[torch.searchsorted(owner, numbers)]
        return np.asarray(gains.T.cpu().numpy())

    def exchange(self, place: int, row: int) -> None:
        new = self.similarity.column_on_gpu(row).clamp_(min=0.0)
        old, self.picks[place], self.rows[place] = self.picks[place].clone(), new, row
        self._find_best(torch.nonzero((new > self.second) | (old >= self.second)).squeeze(1))

    @property
    def table(self) -> Floats32:  # type: ignore[override]
        return np.asarray(self.picks.cpu().numpy())

    @property
    def value(self) -> float:
        return float(self.on_gpu @ self.best.double())


def select_volume(
    vectors: Vectors, gamma: float, scale: float, constraints: RowConstraints, tick: ProgressCallback
) -> tuple[Ints, Floats, Floats, float]:
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
        t, left = self.n_picked, self.remaining[row].clone()
        squared = self.squares + self.squares[row] - 2.0 * (self.table @ self.table[row]).double()
        part: Any = self.scale * torch.exp(-self.gamma * squared.clamp(min=0.0))
        part = part - (self.explained[:t, row] @ self.explained[:t]).double()
        part = part / left.sqrt()
        self.explained[t] = part.float()
        self.remaining = (self.remaining - part * part).clamp(min=1.0)
        self.n_picked += 1
        return float(left.log())
