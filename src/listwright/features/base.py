"""The interface of policy features: a fold over growing lists that never sees a reward."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from listwright._internal.arrays import FOLDS, Bools, Floats32, Ints, folds_of
from listwright._internal.parameters import Parameters, clone
from listwright._internal.progress import report_progress
from listwright._internal.saved import saved_as
from listwright.errors import InputError
from listwright.problems import Problems


class Crossed(NamedTuple):
    """Columns "this item x this number of the state", kept as factors and never written out."""

    items: Ints  # by row: which item; new ones, from `n_items` on, have no columns
    n_items: int  # size of the catalogue
    states: Floats32  # (problems, z)


@dataclass(frozen=True, eq=False)
class Rows:
    """What the policy sees of every candidate, given the list so far (the paper's v)."""

    table: Floats32  # the plain columns
    owners: Ints  # problem of each row
    offsets: Ints  # where the rows of each problem start, and the number of rows
    crossed: Crossed | None = None  # block-structured columns, where there are any

    def only(self, row: int) -> Rows:
        crossed, owner = self.crossed, self.owners[row]
        if crossed is not None:
            crossed = crossed._replace(items=crossed.items[[row]], states=crossed.states[[owner]])
        return Rows(self.table[[row]], np.zeros(1, dtype=self.owners.dtype), np.array([0, 1]), crossed)

    def written_out(self) -> Floats32:
        """All columns in one dense table, for arbitrary estimators."""
        if self.crossed is None:
            return self.table
        flags = np.zeros((len(self.owners), self.crossed.n_items), dtype=np.float32)
        known = np.flatnonzero(self.crossed.items < self.crossed.n_items)
        flags[known, self.crossed.items[known]] = 1.0
        return np.concatenate([self.table, self.crossed.states[self.owners], flags], axis=1)


class Features(Parameters, ABC):
    """Abstract base of policy features: a fold over the picks.

    `start` gives the state of empty lists, `columns` the numbers of every candidate in a state, and `add` the state
    after one more pick per problem. Subclass it to show a policy something that the built-in features do not; only
    `start` and `columns` are required. Features must be computable at prediction time, so they never see a reward then.
    They are combined by `a + b`.

    `fit` is `fit_from_summary(summary(problems))`: everything learned, such as scales or the catalogue, comes from a
    summary, so that problems that are never all in memory can be summarised part by part. Features that need all
    training problems at once override `fit` and cannot be streamed.

    Attributes
    ----------
    group : str
        Name under which reasons and importances report these columns.
    is_static : bool
        Whether no pick ever changes the columns.

    See Also
    --------
    Sum : Several features side by side.
    listwright.features.auto.auto_features : Chooses features by what the problems hold.

    Examples
    --------
    >>> from listwright.features import Candidate, Distance
    >>> features = Candidate() + Distance()
    >>> problems = Problems.from_arrays([[1.0], [3.0]], offsets=[0, 2])
    >>> features.fit(problems).names()
    ['feature 0', 'minimum distance in feature 0', 'mean distance in feature 0']
    >>> features.rows(features.start(problems)).table.shape
    (2, 3)
    """

    group: str  # how reasons call these columns
    is_static = False  # whether no pick changes the columns

    @abstractmethod
    def start(self, problems: Problems) -> Any:
        """Return the state of empty lists; anything that `columns` and `add` understand."""

    @abstractmethod
    def columns(self, seen: Any) -> Floats32:
        """(rows, d): the columns of every candidate given its problem's list."""

    def add(self, seen: Any, picks: Ints) -> Any:
        """Return the state after `picks`, one row index per problem, -1 for none; must not change `seen`."""
        return seen

    def fit(self, problems: Problems) -> Self:
        """Learn scales and similar statistics from training problems; return self."""
        return self.fit_from_summary(self.summary(problems))

    def summary(self, problems: Problems) -> dict[str, Any]:
        """Return what `fit_from_summary` must know of training problems; `features.scale.merge` joins parts."""
        return {}

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        """Learn from the summary of all training problems; return self."""
        return self

    def prefit(self, example: Problems) -> Self:
        """Learn from an example what must be known before problems are summarised part by part; return self."""
        return self

    def streams(self) -> bool:
        """Return whether summaries are enough to fit; False where `fit` needs all problems at once."""
        return type(self).fit is Features.fit

    def fitted_parts(self) -> list[Features]:
        """Return the features that stand side by side: these alone, or the fitted parts of a sum."""
        return [self]

    def without_training_state(self) -> Self:
        """These features without what only further learning needs, for small model files."""
        return self

    def uses_training_data(self) -> bool:
        """Return whether what a policy sees of one training problem depends on others, which certificates mention."""
        return bool(getattr(self, "standardize", False)) or not self.streams()

    def for_training(self, problems: Problems) -> Self:
        """Return the view of training problems: out of fold, where features learn from rewards."""
        return self

    def names(self) -> list[str]:
        """One name per column, once fitted."""
        return []

    def cross_columns(self, seen: Any) -> Crossed | None:
        """Block-structured columns, None where there are none."""
        return None

    def rows(self, seen: Any) -> Rows:
        """Columns, crossed columns and layout of a state, as learners and policies take them."""
        problems = self.problems_of(seen)
        return Rows(self.columns(seen), problems.owners, problems.offsets, self.cross_columns(seen))

    def problems_of(self, seen: Any) -> Problems:
        """Return the problems that a state belongs to."""
        return seen.problems

    def parts_seen(self, seen: Any) -> Iterator[tuple[Features, Any]]:
        """Pairs of a feature and its own state, in the order of the columns."""
        yield self, seen

    def __add__(self, other: Features) -> Sum:
        return Sum([*_parts(self), *_parts(other)])


@saved_as("features.Sum")
class Sum(Features):
    """Several features side by side; what `a + b` makes."""

    group = "sum"

    def __init__(self, parts: list[Features]) -> None:
        self.parts = parts

    def fit(self, problems: Problems) -> Self:
        self.parts_ = [clone(part).fit(problems) for part in self.parts]
        return self

    def summary(self, problems: Problems) -> dict[str, Any]:
        return {"parts": [part.summary(problems) for part in self.parts]}

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        self.parts_ = [
            clone(part).fit_from_summary(own) for part, own in zip(self.parts, summary["parts"], strict=True)
        ]
        return self

    @property
    def is_static(self) -> bool:  # type: ignore[override]
        return all(part.is_static for part in self.parts)

    def streams(self) -> bool:
        return all(part.streams() for part in self.parts)

    def fitted_parts(self) -> list[Features]:
        return self.parts_

    def uses_training_data(self) -> bool:
        return any(part.uses_training_data() for part in self.parts)

    def for_training(self, problems: Problems) -> Self:
        twin = copy.copy(self)
        twin.parts_ = [part.for_training(problems) for part in self.parts_]
        return twin

    def start(self, problems: Problems) -> tuple[Any, ...]:
        return tuple(part.start(problems) for part in self.parts_)

    def columns(self, seen: tuple[Any, ...]) -> Floats32:
        return np.concatenate([part.columns(state) for part, state in zip(self.parts_, seen, strict=True)], axis=1)

    def cross_columns(self, seen: tuple[Any, ...]) -> Crossed | None:
        blocks = [part.cross_columns(state) for part, state in zip(self.parts_, seen, strict=True)]
        blocks = [state for state in blocks if state is not None]
        if len(blocks) > 1:
            raise InputError("Only one part of a sum can be crossed. Put all crosses into one Identity.")
        return blocks[0] if blocks else None

    def add(self, seen: tuple[Any, ...], picks: Ints) -> tuple[Any, ...]:
        return tuple(part.add(state, picks) for part, state in zip(self.parts_, seen, strict=True))

    def names(self) -> list[str]:
        return [name for part in self.parts_ for name in part.names()]

    def parts_seen(self, seen: tuple[Any, ...]) -> Iterator[tuple[Features, Any]]:
        return zip(self.parts_, seen, strict=True)

    def problems_of(self, seen: tuple[Any, ...]) -> Problems:
        return self.parts_[0].problems_of(seen[0])


class TableSeen(NamedTuple):
    problems: Problems
    table: Floats32


class StaticFeatures(Features):
    """Base of features whose columns no pick changes: `start` gives them, as a `TableSeen`."""

    is_static = True

    def columns(self, seen: TableSeen) -> Floats32:
        return seen.table


class Wrapper(Features):
    """Base of features that see problems in another form: those of `inner`, which `fit` makes `inner_`."""

    inner: Features
    inner_: Features

    def summary(self, problems: Problems) -> dict[str, Any]:
        return self.inner.summary(problems)

    def fit_from_summary(self, summary: dict[str, Any]) -> Self:
        self.inner_ = clone(self.inner).fit_from_summary(summary)
        return self

    def without_training_state(self) -> Self:
        return self._around(self.inner_.without_training_state())

    def _around(self, inner: Features) -> Self:
        twin = copy.copy(self)
        twin.inner_ = inner
        return twin

    def columns(self, seen: Any) -> Floats32:
        return self.inner_.columns(seen)

    def cross_columns(self, seen: Any) -> Crossed | None:
        return self.inner_.cross_columns(seen)

    def rows(self, seen: Any) -> Rows:
        return self.inner_.rows(seen)

    def add(self, seen: Any, picks: Ints) -> Any:
        return self.inner_.add(seen, picks)

    def names(self) -> list[str]:
        return self.inner_.names()

    def parts_seen(self, seen: Any) -> Iterator[tuple[Features, Any]]:
        return self.inner_.parts_seen(seen)

    def problems_of(self, seen: Any) -> Problems:
        return self.inner_.problems_of(seen)


@saved_as("features.WithNaN")
class WithNaN(Wrapper):
    """Other features, with NaN where the table of the problems had no value: for learners that take NaN."""

    group = "relevance"

    def __init__(self, inner: Features) -> None:
        self.inner = inner

    def fit(self, problems: Problems) -> Self:
        self.inner_ = clone(self.inner).fit(problems)
        return self

    @property
    def is_static(self) -> bool:  # type: ignore[override]
        return self.inner_.is_static

    def streams(self) -> bool:
        return self.inner.streams()

    def uses_training_data(self) -> bool:
        return self.inner.uses_training_data()

    def for_training(self, problems: Problems) -> Self:
        return self._around(self.inner_.for_training(problems))

    def start(self, problems: Problems) -> Any:
        return self.inner_.start(problems.with_nan())


def _parts(features: Features) -> list[Features]:
    return features.parts if isinstance(features, Sum) else [features]


class CrossFold(NamedTuple):
    number: int  # index of the fold
    held: Bools  # by problem: whether it is in this fold
    rest: Bools  # by problem: whether its fold may learn from it


class CrossFitted(Features):
    """Base of features that learn from rewards and would otherwise know their training problems too well.

    A policy that learns on top of such features must see training problems as it will see new ones: through what was
    learned from the other folds. `fit` learns once from everything and once for each of `folds(problems)`;
    `for_training` gives a twin whose `out_of_fold` is true.
    """

    out_of_fold_: bool  # set on twins made by `for_training`
    n_folds: int = FOLDS  # number of folds

    @property
    def out_of_fold(self) -> bool:
        """Whether problems passed in are training problems, to be seen through models fitted without them."""
        return bool(vars(self).get("out_of_fold_", False))

    def folds(self, problems: Problems) -> Iterator[CrossFold]:
        # If all problems fall into one fold there are no others to learn from, so that fold learns from itself.
        numbers = folds_of(problems.problem_ids, self.n_folds)
        present = np.unique(numbers)
        for number in present.tolist():
            held = numbers == number
            report_progress(f"{self.group}, without fold {number + 1} of {self.n_folds}")
            yield CrossFold(number, held, ~held if len(present) > 1 else held)

    def for_training(self, problems: Problems) -> Self:
        twin = copy.copy(self)
        twin.out_of_fold_ = True
        return twin
