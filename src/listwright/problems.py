"""Problems: what a list is to be built for. An immutable batch of states and their candidates."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from listwright._internal.arrays import Floats, Floats32, Ints
from listwright._internal.border import provided
from listwright._internal.intake import Intake
from listwright._internal.ragged import is_run, pieces
from listwright.errors import InputError
from listwright.needs import Needs

MOST_NAMED = 8  # kinds of links that are named when problems are shown


class BoundReward(Protocol):
    """What Problems asks of a reward: to fit the rows, and to follow a selection of problems."""

    def bind(self, offsets: Ints) -> Self: ...
    def take(self, which: Ints) -> Self: ...
    def join(self, others: Sequence[Self]) -> Self: ...


@dataclass(frozen=True, eq=False, repr=False)
class Problems:
    """A batch of problems (the paper's states x) with their candidates, made by `from_arrays`.

    The candidates of all problems are rows, one after the other; `offsets[i]:offsets[i + 1]` are the rows of problem i.

    Examples
    --------
    >>> problems = Problems.from_arrays([[0.1], [0.9], [0.4]], offsets=[0, 2, 3], problem_ids=["a", "b"])
    >>> problems
    Problems: 2 problems, 3 candidates (1 to 2 each), 1 feature, no reward
    >>> problems["b" == problems.problem_ids].features
    array([[0.4]], dtype=float32)
    """

    features: Any  # float32, (rows, d): an array or a scipy CSR matrix
    offsets: Ints
    context: Floats32 | None
    catalogue: Ints | None
    sizes: Floats | None
    reward: Any  # a listwright.rewards.Reward, or None
    problem_ids: NDArray[Any]
    item_ids: NDArray[Any] | None
    feature_names: tuple[str, ...] | None
    vectors: Any  # float32, (rows, v) or CSR: what similarity is measured on, or None
    links: dict[str, Any] | None  # by name: CSR, (rows, w); column j is the problem's j-th candidate
    aspects: dict[str, Floats32] | None  # by name: (rows, a); column j is the j-th aspect of the row's problem
    needs: Needs | None  # what each problem asks for, and which of it each row brings
    numbered: bool  # whether problem_ids are just numbers that nobody gave

    @classmethod
    def from_arrays(
        cls,
        features: ArrayLike | sparse.csr_matrix | sparse.csr_array,
        *,
        offsets: ArrayLike | None = None,
        context: ArrayLike | None = None,
        catalogue: ArrayLike | None = None,
        sizes: ArrayLike | None = None,
        reward: BoundReward | None = None,
        problem_ids: Sequence[Hashable] | NDArray[Any] | None = None,
        item_ids: Sequence[Any] | NDArray[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        vectors: ArrayLike | sparse.csr_matrix | sparse.csr_array | None = None,
        links: Mapping[str, ArrayLike | sparse.csr_matrix | sparse.csr_array] | None = None,
        aspects: Mapping[str, ArrayLike] | None = None,
        needs: Needs | None = None,
    ) -> Problems:
        """Problems from arrays; float32 C-contiguous features are used as they are, without a copy.

        Parameters
        ----------
        features : array-like, sparse.csr_matrix or sparse.csr_array
            (rows, d) with `offsets`, or (problems, items, d), or a scipy CSR matrix with `offsets`.
            May have no columns where context or catalogue says what there is to know.
        offsets : array-like or None
            Where each problem's rows start, and the end of the last: 0, ..., rows.
        context : array-like or None
            (problems, c), what is known of each problem as a whole.
        catalogue : array-like or None
            Which item of a recurring set a row is (0, 1, ...): one a row, (problems, items), or (items,).
        sizes : array-like or None
            What a row takes of a budget (bytes, tokens, seconds); same shapes as catalogue.
        reward : BoundReward or None
            What a list is worth, from `listwright.rewards`; for training and evaluation only.
        problem_ids, item_ids
            Names; item_ids in the same shapes as catalogue.
        feature_names : sequence of str or None
            Names of the columns, used in messages and reasons.
        vectors : array-like, sparse.csr_matrix, sparse.csr_array or None
            (rows, v) or (problems, items, v), dense or CSR: what similarity between candidates is measured on
            (embeddings, tf-idf), where that is not the features.
        links : dict or None
            By name, how strongly a candidate is linked to the others of its problem (citations, mentions, shared
            words): (rows, w) or (problems, items, items), dense or CSR; column j is the problem's j-th candidate.
        aspects : dict or None
            By name, how well a candidate answers each aspect (suggestion, sub-query) of its problem, from 0 to 1:
            (rows, a) or (problems, items, a). Aspects belong to their problem: the same column of two problems need not
            mean the same; those that a problem lacks are 0. See `features.Aspects`.
        needs : Needs or None
            What each problem asks for, and which of it the parts of each candidate bring. See `Needs`.
        """
        intake = Intake.of(features, offsets, problem_ids, item_ids)
        if needs is not None:
            needs.check(intake.offsets)
        table = intake.features()
        rows_context, rows_catalogue = intake.context(context), intake.catalogue(catalogue)
        if table.shape[1] == 0 and rows_context is None and rows_catalogue is None:
            raise InputError("features has no columns. Pass context or catalogue, or features with columns.")
        return cls(
            features=table,
            offsets=intake.offsets,
            context=rows_context,
            catalogue=rows_catalogue,
            sizes=intake.sizes(sizes),
            reward=_bind(reward, intake.offsets),
            problem_ids=intake.problem_ids,
            item_ids=intake.item_ids,
            feature_names=intake.names(feature_names),
            vectors=intake.vectors(vectors),
            links=intake.links(links),
            aspects=intake.aspects(aspects),
            needs=needs,
            numbered=problem_ids is None,
        )

    @classmethod
    def from_frame(cls, frame: Any, **options: Any) -> Problems:
        """Problems from a frame of pandas, polars or pyarrow with one row per candidate.

        Parameters
        ----------
        frame : DataFrame or Table
            Of pandas, polars or pyarrow.
        **options
            Which column is what, and the reward: see `listwright.tables.from_frame`.

        Examples
        --------
        >>> import pyarrow as pa
        >>> frame = pa.table({"problem": [1, 1, 2], "price": [3.0, 2.0, 5.0], "clicked": [0, 1, 1]})
        >>> Problems.from_frame(frame, reward="any:clicked")
        Problems: 2 problems, 3 candidates (1 to 2 each), 1 feature, reward AnySuccess
        """
        found: Problems = provided("from_frame")(frame, **options)
        return found

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_rows(self) -> int:
        """Number of candidates of all problems together."""
        return int(self.offsets[-1])

    @property
    def n_features(self) -> int:
        """Number of columns of `features`."""
        return int(self.features.shape[1])

    @cached_property
    def counts(self) -> Ints:
        """Number of candidates of each problem."""
        return np.diff(self.offsets)

    @cached_property
    def owners(self) -> Ints:
        """Which problem each row belongs to."""
        return np.repeat(np.arange(len(self)), self.counts)

    def name_of(self, row: int) -> str:
        """How messages name a row: its item and its problem."""
        owner = int(self.owners[row])
        item = row - int(self.offsets[owner]) if self.item_ids is None else self.item_ids[row]
        return f"item {item!s} of problem {self.problem_ids[owner]!s}"

    def without_reward(self) -> Problems:
        """The same problems as a policy may see them."""
        return self if self.reward is None else self._with(reward=None)

    def with_reward(self, reward: BoundReward) -> Problems:
        """The same problems, measured by another reward."""
        return self._with(reward=_bind(reward, self.offsets))

    def with_catalogue(self, catalogue: Ints) -> Problems:
        """The same problems, with a known item for each row."""
        return self._with(catalogue=catalogue)

    def _with(self, **changes: Any) -> Problems:
        return Problems(**(self._fields() | changes))

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __getitem__(self, key: int | slice | ArrayLike) -> Problems:
        """Some of the problems: by index, slice, mask or list of indices. Rewards follow."""
        which = _chosen(key, len(self))
        if is_run(which) and len(which) == len(self):
            return self
        rows: Any = slice(self.offsets[which[0]], self.offsets[which[-1] + 1])
        if not is_run(which):
            rows = pieces(self.offsets, which)
        counts = self.counts[which]
        return self._with(
            features=self.features[rows],
            offsets=np.concatenate([[0], np.cumsum(counts)]),
            context=None if self.context is None else self.context[which],
            catalogue=None if self.catalogue is None else self.catalogue[rows],
            sizes=None if self.sizes is None else self.sizes[rows],
            reward=None if self.reward is None else self.reward.take(which),
            problem_ids=self.problem_ids[which],
            item_ids=None if self.item_ids is None else self.item_ids[rows],
            vectors=None if self.vectors is None else self.vectors[rows],
            links=None if self.links is None else {name: table[rows] for name, table in self.links.items()},
            aspects=None if self.aspects is None else {name: table[rows] for name, table in self.aspects.items()},
            needs=None if self.needs is None else self.needs.take(which, pieces(self.offsets, which)),
        )

    def take(self, indices: ArrayLike, axis: int = 0) -> Problems:
        """Some of the problems by index, as scikit-learn asks for them: so its splits and searches work on problems.

        Examples
        --------
        >>> from sklearn.model_selection import train_test_split
        >>> train, test = train_test_split(Problems.from_arrays(np.zeros((5, 2, 1))), test_size=2, shuffle=False)
        >>> len(train), test.problem_ids
        (3, array([3, 4]))
        """
        return self[indices]

    @property
    def iloc(self) -> Problems:
        """The problems by position: the sign by which scikit-learn knows that there is a `take`."""
        return self

    def __iter__(self) -> Iterator[Problems]:
        return (self[i] for i in range(len(self)))

    def batches(self, size: int, rng: np.random.Generator | None = None) -> Iterator[Problems]:
        """The problems in batches of `size`, shuffled when a generator is given.

        Examples
        --------
        >>> problems = Problems.from_arrays(np.zeros((5, 2, 1)))
        >>> [len(batch) for batch in problems.batches(2)]
        [2, 2, 1]
        """
        if size < 1:
            raise InputError(f"A batch holds at least 1 problem. Got size={size}.")
        order = np.arange(len(self)) if rng is None else rng.permutation(len(self))
        return (self[order[start : start + size]] for start in range(0, len(order), size))

    @staticmethod
    def concat(parts: Sequence[Problems]) -> Problems:
        """Several batches as one. All must have the same columns and kinds of data.

        Examples
        --------
        >>> one = Problems.from_arrays(np.zeros((2, 3, 1)))
        >>> len(Problems.concat([one, one]))
        4
        """
        if not parts:
            raise InputError("concat needs at least one Problems. Got none.")
        first = parts[0]
        for part in parts[1:]:
            _same_shape(first, part)
        ids, numbered = _joined_ids(parts)
        return first._with(
            features=_stack([part.features for part in parts]),
            offsets=np.concatenate([[0], np.cumsum(np.concatenate([part.counts for part in parts]))]),
            context=_joined([part.context for part in parts]),
            catalogue=_joined([part.catalogue for part in parts]),
            sizes=_joined([part.sizes for part in parts]),
            reward=None if first.reward is None else first.reward.join([part.reward for part in parts[1:]]),
            problem_ids=ids,
            item_ids=_joined([part.item_ids for part in parts]),
            vectors=None if first.vectors is None else _stack([part.vectors for part in parts]),
            links=_joined_links([part.links for part in parts]),
            aspects=_joined_aspects([part.aspects for part in parts]),
            needs=None if first.needs is None else first.needs.join([_present(part.needs) for part in parts[1:]]),
            numbered=numbered,
        )

    def __repr__(self) -> str:
        low, high = int(self.counts.min()), int(self.counts.max())
        each = f"{low} each" if low == high else f"{low} to {high} each"
        parts = [f"{_many(len(self), 'problem')}, {_many(self.n_rows, 'candidate')} ({each})"]
        parts.append(_many(self.n_features, "feature") + (" (sparse)" if sparse.issparse(self.features) else ""))
        if self.context is not None:
            parts.append(f"context of {self.context.shape[1]}")
        if self.catalogue is not None:
            parts.append(f"catalogue of {int(self.catalogue.max()) + 1}")
        if self.sizes is not None:
            parts.append(f"sizes {self.sizes.min():g} to {self.sizes.max():g}")
        if self.links is not None:
            few = len(self.links) <= MOST_NAMED
            parts.append(f"links by {', '.join(self.links)}" if few else f"{len(self.links)} kinds of links")
        if self.aspects is not None:
            parts.append(f"aspects by {', '.join(self.aspects)}")
        if self.needs is not None:
            parts.append("needs")
        parts.append("no reward" if self.reward is None else f"reward {type(self.reward).__name__}")
        return "Problems: " + ", ".join(parts)


def _bind(reward: BoundReward | None, offsets: Ints) -> BoundReward | None:
    if reward is not None and not hasattr(reward, "bind"):
        raise InputError(
            f"reward must come from listwright.rewards. Got {type(reward).__name__}. See rewards.Function."
        )
    return None if reward is None else reward.bind(offsets)


def _chosen(key: int | slice | ArrayLike, length: int) -> Ints:
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        if not -length <= key < length:
            raise IndexError(f"There are {length} problems. Got index {key}.")
        return np.array([int(key) % length])
    array = np.arange(length)[key] if isinstance(key, slice) else np.asarray(key)
    if array.dtype == bool:
        if array.shape != (length,):
            raise IndexError(f"A mask needs one entry a problem ({length}). Got shape {array.shape}.")
        array = np.flatnonzero(array)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise InputError(f"A selection must name at least one problem by index or mask. Got {key!r}.")
    if array.min() < -length or array.max() >= length:
        raise IndexError(f"There are {length} problems. Got indices {array.min()} to {array.max()}.")
    return array.astype(np.int64) % length


def _same_shape(first: Problems, other: Problems) -> None:
    if first.n_features != other.n_features:
        raise InputError(f"Cannot concat problems of {first.n_features} and {other.n_features} features.")
    if first.feature_names != other.feature_names:
        raise InputError(f"Cannot concat features named {first.feature_names} and {other.feature_names}.")
    for field in ("context", "catalogue", "sizes", "reward", "item_ids", "vectors", "links", "aspects", "needs"):
        if (getattr(first, field) is None) != (getattr(other, field) is None):
            raise InputError(f"Cannot concat problems with and without {field}.")
    if first.context is not None and other.context is not None and first.context.shape[1] != other.context.shape[1]:
        raise InputError(f"Cannot concat contexts of {first.context.shape[1]} and {other.context.shape[1]} columns.")
    for field in ("links", "aspects"):
        mine, theirs = getattr(first, field), getattr(other, field)
        if mine is not None and theirs is not None and set(mine) != set(theirs):
            raise InputError(f"Cannot concat {field} named {', '.join(mine)} and {', '.join(theirs)}.")


def _stack(tables: list[Any]) -> Any:
    if any(sparse.issparse(table) for table in tables):
        return sparse.vstack(tables, format="csr", dtype=np.float32)
    return np.concatenate(tables)


def _joined(arrays: list[Any]) -> Any:
    return None if arrays[0] is None else np.concatenate(arrays)


def _joined_links(parts: list[dict[str, Any] | None]) -> dict[str, Any] | None:
    """Tables are as wide as the largest problem, so the narrower ones are widened."""
    tables = [part for part in parts if part is not None]
    return {name: _widened([part[name] for part in tables]) for name in tables[0]} if tables else None


def _widened(tables: list[Any]) -> Any:
    width = max(table.shape[1] for table in tables)
    wide = [sparse.csr_array((t.data, t.indices, t.indptr), shape=(t.shape[0], width)) for t in tables]
    return sparse.vstack(wide, format="csr", dtype=np.float32)


def _present(needs: Needs | None) -> Needs:
    assert needs is not None  # the parts have the same kinds of data
    return needs


def _joined_aspects(parts: list[dict[str, Floats32] | None]) -> dict[str, Floats32] | None:
    tables = [part for part in parts if part is not None]
    if not tables:
        return None
    width = {name: max(part[name].shape[1] for part in tables) for name in tables[0]}
    return {
        name: np.concatenate([np.pad(part[name], ((0, 0), (0, most - part[name].shape[1]))) for part in tables])
        for name, most in width.items()
    }


def _joined_ids(parts: Sequence[Problems]) -> tuple[NDArray[Any], bool]:
    ids = np.concatenate([part.problem_ids for part in parts])
    numbered = all(part.numbered for part in parts)
    names, counts = np.unique(ids, return_counts=True) if ids.dtype != object else _counted(ids)
    if (counts == 1).all():
        return ids, numbered
    if numbered:
        return np.arange(len(ids)), True
    raise InputError(f"Problem {names[counts > 1][0]!s} is in two of the parts. Give each problem its own id.")


def _counted(ids: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    counts: dict[Any, int] = {}
    for name in ids:
        counts[name] = counts.get(name, 0) + 1
    names = np.empty(len(counts), dtype=object)
    names[:] = list(counts)
    return names, np.array(list(counts.values()))


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
