"""What a selection is optimised for: each objective knows how to pick greedily by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from listwright._internal.arrays import Floats, Ints
from listwright._internal.progress import ProgressCallback
from listwright.rewards import Reward
from listwright.selection.by_reward import select_by_reward
from listwright.selection.constraints import RowConstraints
from listwright.selection.epochs import Epochs
from listwright.selection.facility import Blocks, value_curve
from listwright.selection.folds import SelectionFold, run_greedy
from listwright.selection.graph import neighbor_graph, select_on_graph
from listwright.selection.proof import CONFIDENCE, Proof, any_data, most_possible, of_these_data, prove, sampling_error
from listwright.selection.similarity import SimilarityMatrix
from listwright.selection.vectors import Vectors
from listwright.selection.volume import select_volume


class Solved(NamedTuple):
    """A greedy selection: the rows, what each added, bounds on further gains, and the value of the given rows."""

    rows: Ints  # the picks, in order
    gains: Floats  # what each pick added
    bounds: Floats  # upper bounds on what each row would add next to the picks
    before: float  # the value of the given rows

    @property
    def gain(self) -> float:
        """What all rows added together."""
        return float(self.gains.sum())


class Objective(ABC):
    """Base class of objectives: what a set of rows is worth."""

    submodular = True
    device = "cpu"

    @abstractmethod
    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        """Return the greedy picks. `constraints` are used up."""

    def share(self, constraints: RowConstraints) -> float | None:
        """Return the share of the best selection that `solve` reaches for any data; None if unknown."""
        return any_data(constraints, constraints.k)[0]

    def prove(self, constraints: RowConstraints, solved: Solved) -> Proof:
        """Return what is known about the picks; `constraints` as they were before the run."""
        if not self.submodular:
            return Proof("no bound: this reward is not submodular", None)
        most = most_possible(solved.gain, solved.bounds, constraints)
        return prove(constraints, len(solved.rows), solved.gain, most)


@dataclass(eq=False)
class FacilityObjective(Objective):
    """Sum over targets of weight times the highest similarity to a pick: exact, without the matrix.

    Attributes
    ----------
    similarity : SimilarityMatrix
        Of the candidates to the targets.
    weights : ndarray of float, shape (targets,)
        What each target counts.
    make_board : callable
        Makes the board of `Epochs` for the device.
    device : str
        Where the work is done.
    """

    similarity: SimilarityMatrix
    weights: Floats
    make_board: Callable[[SimilarityMatrix, Floats], Any] = Blocks
    device: str = "cpu"

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        """Run greedy by epochs."""
        board = self.make_board(self.similarity, self.weights)
        before = sum(float(board.lift(int(row))) for row in constraints.given)
        epochs = Epochs(board, constraints, board.gain_bounds(), tick)
        rows, gains = epochs.run()
        return Solved(rows, gains, epochs.bounds, float(before))

    def among(self, rows: Ints) -> FacilityObjective:
        """Return the same objective for some candidates."""
        return replace(self, similarity=self.similarity.among(rows))

    def gains_beside(self, picked: Ints, rows: Ints) -> Floats:
        """Return what each of some rows would add next to the picks, at 2 d operations per row and target."""
        both = np.concatenate([picked, rows])
        board = self.make_board(self.similarity.among(both), self.weights)
        for pick in range(len(picked)):
            board.lift(pick)
        at = np.arange(len(picked), len(both))
        return np.maximum(board.gains(at, np.full(len(at), -1, dtype=np.int32), np.zeros(len(at))), 0.0)


@dataclass(eq=False)
class NearestNeighbors(Objective):
    """Facility location in which a target counts only its nearest candidates."""

    similarity: SimilarityMatrix
    weights: Floats
    neighbors: int
    make_graph: Callable[[SimilarityMatrix, int, ProgressCallback], Any] = neighbor_graph
    device: str = "cpu"
    graph: Any = field(default=None, repr=False)

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        """Build the graph once, and runs lazy greedy on it."""
        if self.graph is None:
            self.graph = self.make_graph(self.similarity, self.neighbors, tick)
        return Solved(*select_on_graph(self.graph, self.weights, constraints))


@dataclass(eq=False)
class Graph(Objective):
    """Facility location on a matrix of similarities, CSR or dense, of shape (candidates, targets)."""

    graph: Any
    weights: Floats

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        """Run lazy greedy on the graph."""
        return Solved(*select_on_graph(self.graph, self.weights, constraints))


@dataclass(eq=False)
class Sampled(Objective):
    """Facility location measured on a random sample of the targets; the picks are measured on all of them."""

    on_sample: Objective  # the objective on the sample; its weights sum to those of all targets
    similarity: SimilarityMatrix  # to all targets
    weights: Floats  # what each target counts
    n_sampled: int  # size of the sample
    curve: Callable[[SimilarityMatrix, Floats, Ints], Floats] = value_curve  # measures the picks on all targets
    device: str = "cpu"  # where the work is done
    most: float = np.nan  # bound on what any selection adds, with confidence; set by `solve`

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        """Run greedy on the sample, and measure the picks on all targets."""
        first = constraints.copy()
        found = self.on_sample.solve(constraints, tick)
        self.most = self._most(first, found)
        order = np.concatenate([first.given, found.rows])
        values = np.concatenate([[0.0], self.curve(self.similarity, self.weights, order)])
        n_given = len(first.given)
        return Solved(found.rows, np.diff(values)[n_given:], found.bounds, float(values[n_given]))

    def _most(self, constraints: RowConstraints, found: Solved) -> float:
        """Return a bound on what the best selection adds on all targets, from greedy's bound on the sample plus its
        error.
        """
        known = self.on_sample.share(constraints)
        most = most_possible(found.gain, found.bounds, constraints)
        most = min(most, found.gain / known) if known else most
        error = sampling_error(self.similarity.ceiling * float(self.weights.max()), self.n_sampled, len(self.weights))
        return most + error * len(self.weights)

    def prove(self, constraints: RowConstraints, solved: Solved) -> Proof:
        """Return what holds with confidence over the draw of the sample."""
        what = any_data(constraints, len(solved.rows))[2]
        proof = of_these_data(solved.gain, self.most, None, "", what)
        return proof._replace(words=f"with {CONFIDENCE:.0%} confidence {proof.words}")


@dataclass(eq=False)
class LogDetObjective(Objective):
    """log det(I + scale * K), where K is the kernel of the picks.

    Attributes
    ----------
    vectors : Vectors
        The rows.
    gamma : float
        0 for dot products; above 0 for the rbf kernel.
    scale : float
        Multiplies the kernel.
    solver : callable
        `select_volume` of the device.
    device : str
        Where the work is done.
    """

    vectors: Vectors
    gamma: float
    scale: float
    solver: Callable[[Vectors, float, float, RowConstraints, ProgressCallback], tuple[Ints, Floats, Floats, float]] = (
        select_volume
    )
    device: str = "cpu"

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        """Run lazy greedy."""
        return Solved(*self.solver(self.vectors, self.gamma, self.scale, constraints, tick))

    def among(self, rows: Ints) -> LogDetObjective:
        """Return the same objective for some candidates."""
        return replace(self, vectors=self.vectors.only(rows))

    def gains_beside(self, picked: Ints, rows: Ints) -> Floats:
        """Return an upper bound on what each of some rows would add next to the picks: what it adds alone."""
        alone = self.vectors.squares[rows] if self.gamma == 0 else np.ones(len(rows))
        return np.log1p(self.scale * alone)


@dataclass(eq=False)
class FoldObjective(Objective):
    """Any objective that is measured by blocks while the selection grows."""

    make_fold: Callable[[], SelectionFold]
    monotone: bool = True

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        """Run greedy, lazily if the objective is submodular."""
        fold = self.make_fold()
        self.submodular = fold.submodular
        return Solved(*run_greedy(fold, constraints, tick))

    def prove(self, constraints: RowConstraints, solved: Solved) -> Proof:
        """Return what is known of monotone submodular objectives."""
        if not self.monotone:
            return Proof("no ratio is known: more rows may be worth less", None)
        return super().prove(constraints, solved)


@dataclass(eq=False)
class ByReward(Objective):
    """Any reward of `listwright.rewards`."""

    reward: Reward
    n: int

    @property
    def submodular(self) -> bool:  # type: ignore[override]
        """Whether the reward says that it is submodular."""
        return self.reward.submodular

    def solve(self, constraints: RowConstraints, tick: ProgressCallback) -> Solved:
        """Run greedy, lazily if the reward is submodular."""
        return Solved(*select_by_reward(self.reward, self.n, constraints, tick))
