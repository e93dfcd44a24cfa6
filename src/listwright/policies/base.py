"""The interface of policies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from listwright._internal.arrays import Bools, Floats, Ints
from listwright._internal.saved import saved_as
from listwright._kernels.draw import draw_rows
from listwright._kernels.rows import best_rows
from listwright.errors import InputError
from listwright.features import Rows

if TYPE_CHECKING:
    from listwright.policies.linear import Linear


class Contributions(NamedTuple):
    """What every column adds to the scores; `columns`, `crossed` and `base` sum to the scores."""

    columns: Floats  # what each column of the table that the policy sees adds
    crossed: Floats | None = None  # what the columns add that are crossed with the item
    crossed_names: tuple[str, ...] = ()  # their names
    base: Floats | None = None  # what no column explains
    note: str = ""  # what to know about the contributions


class Policy(ABC):
    """Base class of policies, which score candidates and pick the best open row of each problem.

    A policy is the paper's pi(x, L): it sees the features of all candidates given the list so far. Higher scores are
    better, and ties go to the lowest row. Learners make policies; you need this class only to write your own learner,
    or to let `learners.WeightedMajority` choose among rules of your own. Implement `score`. If the policy draws its
    picks, also implement `pick`, set `certain` to False, and implement `chances` if they are known exactly.

    Attributes
    ----------
    has_learned : bool
        False for policies that are used before anything is learned.
    certain : bool
        Whether picks depend only on what is seen, so that nothing is drawn.

    See Also
    --------
    Linear : A weighted sum of the features.
    Estimator : Any fitted scikit-learn estimator.

    Examples
    --------
    >>> from listwright.features import Rows
    >>> class Highest(Policy):
    ...     def score(self, rows):
    ...         return rows.table[:, 0].astype(np.float64)
    >>> rows = Rows(np.array([[1.0], [3.0], [2.0]], dtype=np.float32), np.array([0, 0, 1]), np.array([0, 2, 3]))
    >>> picks, scores = Highest().pick(rows, np.ones(3, dtype=bool), 0, np.random.default_rng(0))
    >>> picks
    array([1, 2])

    To build lists with such rules, let a learner find out which is best; `rows.table` then has one row per candidate
    and the columns of `features`. Define the classes at the top level of a module, so that the model can be saved:

        experts = lw.learners.WeightedMajority([Highest(), Lowest()])
        model = lw.SCP(length=2, features=lw.features.Candidate(), learner=experts).fit(problems)
    """

    has_learned: ClassVar[bool] = True
    certain: ClassVar[bool] = True

    @abstractmethod
    def score(self, rows: Rows) -> Floats:
        """Return one number per row; higher is better."""

    def pick(self, rows: Rows, open_rows: Bools, position: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Pick a row of each problem.

        Parameters
        ----------
        rows : Rows
            What the policy sees of all candidates, given the lists so far.
        open_rows : ndarray of bool, shape (rows,)
            Which rows may be picked.
        position : int
            Position in the list, from 0.
        rng : numpy.random.Generator
            For policies that draw.

        Returns
        -------
        tuple of ndarray
            The picked row of each problem, -1 if none is open; and the score of every row.
        """
        scores = self.score(rows)
        return best_rows(scores, open_rows, rows.offsets), scores

    def drawn(self, n_problems: int, rng: np.random.Generator) -> Policy:
        """Return the policy to build lists with, after drawing what is random for a whole list."""
        return self

    def at_position(self, position: int) -> Policy:
        """Return the policy that picks at a position of the list, counted from 0."""
        return self

    def of_problem(self, i: int) -> Policy:
        """Return the policy that was drawn for problem i."""
        return self

    def chances(self, rows: Rows, open_rows: Bools, position: int) -> Floats:
        """Return the exact probability of each row to be picked; for a policy that draws nothing, 1 for its pick.

        Off-policy evaluation and exploration need these.

        Raises
        ------
        InputError
            If the policy draws its picks and does not know their probabilities.
        """
        if not self.certain:
            raise InputError(
                f"The chances of a {type(self).__name__} policy are not known exactly. Use another learner."
            )
        return certain_chances(self.score(rows), open_rows, rows)

    def linear(self) -> list[Linear] | None:
        """Return the linear policy that this one is, or one per position; None if it is not linear."""
        return None

    def boosted_trees(self) -> tuple[Any, ...] | None:
        """Return the trees whose sum the scores are, as `_kernels.trees.tree_sums` takes them, or None."""
        return None

    def arrays(self) -> dict[str, Floats] | None:
        """Return the arrays that a policy consists of, by name; None if it is more than arrays."""
        return None

    def contributions(self, rows: Rows) -> Contributions | None:
        """Return what every column adds to the scores, or None if this is not known."""
        return None

    @property
    def nbytes(self) -> int | None:
        """Memory of the policy's arrays in bytes; None if unknown."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))


@saved_as("policies.Uniform")
@dataclass(frozen=True, eq=False)
class Uniform(Policy):
    """Gives every row the same score, so that the lowest open row is picked.

    The policy of deterministic learners before anything is learned.

    See Also
    --------
    RandomPolicy : Draws open rows at random.

    Examples
    --------
    >>> rows = Rows(np.zeros((3, 1), dtype=np.float32), np.array([0, 0, 0]), np.array([0, 3]))
    >>> Uniform().pick(rows, np.array([False, True, True]), 0, np.random.default_rng(0))[0]
    array([1])
    """

    has_learned: ClassVar[bool] = False

    def score(self, rows: Rows) -> Floats:
        return np.zeros(len(rows.owners))


def certain_chances(scores: Floats, open_rows: Bools, rows: Rows) -> Floats:
    picks = best_rows(scores, open_rows, rows.offsets)
    chances = np.zeros(len(scores))
    chances[picks[picks >= 0]] = 1.0
    return chances


def shared_chances(mass: Floats, open_rows: Bools, rows: Rows) -> Floats:
    """Return probabilities in proportion to the mass of the open rows; without mass, 1 for the first."""
    mass = np.where(open_rows, mass, 0.0)
    totals = np.add.reduceat(mass, rows.offsets[:-1])
    shares = mass / np.where(totals > 0, totals, 1.0)[rows.owners]
    return np.where((totals > 0)[rows.owners], shares, certain_chances(np.zeros(len(mass)), open_rows, rows))


def draw_by_mass(mass: Floats, offsets: Ints, rng: np.random.Generator) -> Ints:
    """Draw one row per problem in proportion to `mass`, with one random number per problem; -1 if there is no mass."""
    totals = np.add.reduceat(mass, offsets[:-1])
    # Shares, so that small masses are not lost in the cumulative sum.
    shares = mass / np.repeat(np.where(totals > 0, totals, 1.0), np.diff(offsets))
    return draw_rows(shares, offsets, rng.random(len(totals)))
