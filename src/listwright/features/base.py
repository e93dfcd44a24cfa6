"""What a policy may see: a fold over the growing lists, always available, never in touch with a reward."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from listwright._internal.arrays import Floats32, Ints
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.features.moments import Distinct, Moments
from listwright.problems import Problems


class Crossed(NamedTuple):
    """Columns "this item x this number of the state", block by block; never written out."""

    items: Ints  # by row: which known item
    n_items: int
    states: Floats32  # (problems, z)


@dataclass(frozen=True, eq=False)
class Rows:
    """What the policy sees of every candidate, given the list so far (the paper's v)."""

    table: Floats32
    owners: Ints
    offsets: Ints
    crossed: Crossed | None = None

    def written_out(self) -> Floats32:
        """All columns in one table, crossed ones as their state's numbers with the item's flags, for any estimator."""
        if self.crossed is None:
            return self.table
        flags = np.zeros((len(self.owners), self.crossed.n_items), dtype=np.float32)
        flags[np.arange(len(flags)), self.crossed.items] = 1.0
        return np.concatenate([self.table, self.crossed.states[self.owners], flags], axis=1)


class Features(BaseEstimator, ABC):
    """A fold: `start` sees empty lists, `rows` gives the columns, `add` sees one more pick a problem.

    `fit` learns what belongs to the model (scales, catalogue) from training problems: `settle` from a `summary` of
    them, so that problems that are never all in memory can be summed up part by part. Features add up: `a + b`.
    """

    group: str  # how reasons call these columns
    still = False  # whether no pick changes the columns

    @abstractmethod
    def start(self, problems: Problems) -> Any:
        """What is seen of empty lists."""

    @abstractmethod
    def columns(self, seen: Any) -> Floats32:
        """(rows, d): the columns of every candidate given its problem's list."""

    def add(self, seen: Any, picks: Ints) -> Any:
        """What is seen after `picks`: one row per problem, -1 for none."""
        return seen

    def fit(self, problems: Problems) -> Self:
        """Learns scales from training problems; returns self."""
        return self.settle(self.summary(problems))

    def summary(self, problems: Problems) -> dict[str, Any]:
        """What `settle` needs to know of some of the training problems; see `features.summaries.merged`."""
        return {}

    def settle(self, summary: dict[str, Any]) -> Self:
        """Learns from the summary of all training problems; returns self."""
        return self

    def begun(self, example: Problems) -> Self:
        """Learns what must be known before problems are summed up part by part, from some of them; returns self."""
        return self

    def streams(self) -> bool:
        """Whether summaries are enough: not where `fit` looks at all problems at once."""
        return type(self).fit is Features.fit

    def fitted_parts(self) -> list[Features]:
        """The features that stand side by side: these alone, or the fitted parts of a sum."""
        return [self]

    def slimmed(self) -> Self:
        """These features without what only further learning needs."""
        return self

    def peeks(self) -> bool:
        """Whether `fit` makes what a policy sees of one problem depend on the others, as scales do."""
        return bool(getattr(self, "standardize", False)) or not self.streams()

    def for_training(self, problems: Problems) -> Self:
        """How the policy is to see the training problems: through what was learned without them, where that differs."""
        return self

    def names(self) -> list[str]:
        """One name per column, once fitted."""
        return []

    def crossed(self, seen: Any) -> Crossed | None:
        """Block-structured columns, where there are any."""
        return None

    def rows(self, seen: Any) -> Rows:
        """What the policy sees."""
        problems = self.problems_of(seen)
        return Rows(self.columns(seen), problems.owners, problems.offsets, self.crossed(seen))

    def problems_of(self, seen: Any) -> Problems:
        """The problems that `seen` belongs to."""
        return seen.problems

    def parts_seen(self, seen: Any) -> Iterator[tuple[Features, Any]]:
        """The features that these are made of, in the order of their columns, with what each has seen."""
        yield self, seen

    def __add__(self, other: Features) -> Sum:
        return Sum([*_parts(self), *_parts(other)])


@saved_as("features.Sum")
class Sum(Features):
    """Several features side by side.

    Examples
    --------
    >>> from listwright.features import Candidate, Position
    >>> Candidate() + Position()
    Sum(parts=[Candidate(), Position()])
    """

    group = "sum"

    def __init__(self, parts: list[Features]) -> None:
        self.parts = parts

    def fit(self, problems: Problems) -> Self:
        """Fits every part."""
        self.parts_ = [clone(part).fit(problems) for part in self.parts]
        return self

    def summary(self, problems: Problems) -> dict[str, Any]:
        """Every part's summary."""
        return {"parts": [part.summary(problems) for part in self.parts]}

    def settle(self, summary: dict[str, Any]) -> Self:
        """Settles every part."""
        self.parts_ = [clone(part).settle(one) for part, one in zip(self.parts, summary["parts"], strict=True)]
        return self

    @property
    def still(self) -> bool:  # type: ignore[override]
        """Whether no pick changes any part."""
        return all(part.still for part in self.parts)

    def streams(self) -> bool:
        """Whether all parts do."""
        return all(part.streams() for part in self.parts)

    def fitted_parts(self) -> list[Features]:
        """The parts as they were fitted."""
        return self.parts_

    def peeks(self) -> bool:
        """Whether any part does."""
        return any(part.peeks() for part in self.parts)

    def for_training(self, problems: Problems) -> Self:
        """Every part's view of the training problems."""
        twin = copy.copy(self)
        twin.parts_ = [part.for_training(problems) for part in self.parts_]
        return twin

    def start(self, problems: Problems) -> tuple[Any, ...]:
        """Every part's view of empty lists."""
        return tuple(part.start(problems) for part in self.parts_)

    def columns(self, seen: tuple[Any, ...]) -> Floats32:
        """All columns side by side."""
        return np.concatenate([part.columns(one) for part, one in zip(self.parts_, seen, strict=True)], axis=1)

    def crossed(self, seen: tuple[Any, ...]) -> Crossed | None:
        """The crossed columns of the one part that has some."""
        found = [part.crossed(one) for part, one in zip(self.parts_, seen, strict=True)]
        found = [one for one in found if one is not None]
        if len(found) > 1:
            raise InputError("Only one part of a sum can be crossed. Put all crosses into one Identity.")
        return found[0] if found else None

    def add(self, seen: tuple[Any, ...], picks: Ints) -> tuple[Any, ...]:
        """Every part sees the picks."""
        return tuple(part.add(one, picks) for part, one in zip(self.parts_, seen, strict=True))

    def names(self) -> list[str]:
        """The parts' names in order."""
        return [name for part in self.parts_ for name in part.names()]

    def parts_seen(self, seen: tuple[Any, ...]) -> Iterator[tuple[Features, Any]]:
        """All parts."""
        return zip(self.parts_, seen, strict=True)

    def problems_of(self, seen: tuple[Any, ...]) -> Problems:
        """The same for all parts."""
        return self.parts_[0].problems_of(seen[0])


def _parts(features: Features) -> list[Features]:
    return features.parts if isinstance(features, Sum) else [features]


@saved_as("features.Scale")
class Scale(NamedTuple):
    """Means and spreads of training columns, part of the model."""

    mean: Floats32
    spread: Floats32

    def flaw(self) -> str:
        """What is wrong with it, where it was read from a file."""
        if self.mean.ndim != 1 or self.mean.shape != self.spread.shape:
            return "means and spreads must be equally many"
        return "" if (self.spread > 0).all() else "spreads must be above 0"

    @classmethod
    def of(cls, table: Any, *, standardize: bool = True) -> Scale:
        """Spread 1 where a column is constant, so that it divides."""
        return cls.from_moments(Moments.of(dense(table)), standardize=standardize)

    @classmethod
    def from_moments(cls, moments: Moments, *, standardize: bool = True) -> Scale:
        """The same where the table was summed up."""
        if not standardize:
            return cls(np.zeros(len(moments.mean), np.float32), np.ones(len(moments.mean), np.float32))
        mean, spread = moments.mean, np.sqrt(moments.squares / moments.n_rows)
        flat = spread <= 1e-6 * np.maximum(np.abs(mean), 1e-30)
        return cls(mean.astype(np.float32), np.where(flat, 1.0, spread).astype(np.float32))

    def apply(self, table: Any) -> Floats32:
        """(table - mean) / spread in float32, in rows whatever the layout given: kernels sum in that order."""
        return np.ascontiguousarray((dense(table) - self.mean) / self.spread, dtype=np.float32)


def telling(table: Floats32) -> Ints:
    """The columns that vary over the training problems and do not repeat an earlier one.

    Examples
    --------
    >>> telling(np.array([[1, 5, 1, 2], [1, 6, 1, 2], [1, 5, 1, 3]]).astype(np.float32)[:, [0, 1, 1, 3]])
    array([1, 3])
    """
    return Distinct.of(table).telling()


def dense(table: Any, limit: float = 8e9) -> Floats32:
    """A sparse table written out, where that stays within `limit` bytes."""
    if not sparse.issparse(table):
        return table
    if 4.0 * table.shape[0] * table.shape[1] > limit:
        raise InputError(
            f"Sparse features of {table.shape[0]} x {table.shape[1]} are too large for these policy features. "
            "Reduce the columns first, for example with scikit-learn's TruncatedSVD."
        )
    return table.toarray()
