"""Problems: an immutable batch of contexts with their candidates, for which lists are built."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from narwhals.typing import IntoFrame
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from listwright._internal.arrays import Floats, Floats32, Ints, is_run, pieces, resolve_indices
from listwright._internal.intake import Intake, join_fields
from listwright._internal.pictures import html_table
from listwright._internal.quotas import Quotas, make_quotas
from listwright.errors import InputError
from listwright.query_terms import QueryTerms

if TYPE_CHECKING:
    from listwright.frames.columns import ColumnOptions, Columns
    from listwright.frames.table import ColumnTable

MOST_NAMED = 8  # most kinds of links that the repr names
SHOWN = 20  # features that a notebook shows
Gaps = tuple[tuple[int, int], ...]  # pairs of a column and the 0/1 column that marks its missing values
BY_ROW = ("features", "catalogue", "sizes", "item_ids", "vectors", "links", "aspects", "groups", "quotas")


class BoundReward(Protocol):
    """What `Problems` needs of a reward: to check that it fits the rows, and to follow a selection of problems."""

    def bind(self, offsets: Ints) -> Self: ...
    def take(self, which: Ints) -> Self: ...
    def join(self, others: Sequence[Self]) -> Self: ...


@dataclass(frozen=True, eq=False, repr=False)
class Problems:
    """An immutable batch of problems with their candidates.

    A problem is one thing that a list is built for (a query, a user, a document): the paper's state x. Its candidates
    are the items that the list can contain. Everything in listwright takes a batch of problems: `fit` learns from
    problems with a reward, `predict` builds lists for problems that need none.

    Make one with `from_frame` (one table row per candidate), `from_arrays`, or `listwright.read` for files. For data
    that do not fit into memory use `listwright.scan`. The class is not meant to be constructed directly.

    Attributes
    ----------
    features : ndarray of float32 or scipy CSR matrix, shape (rows, d)
        One row per candidate; the candidates of all problems one after the other.
    offsets : ndarray of int, shape (problems + 1,)
        `offsets[i]:offsets[i + 1]` are the rows of problem i.
    context, problem_ids : ndarray, shape (problems, ...)
        What is known of each problem as a whole, None if nothing; and its name.
    catalogue, sizes, item_ids, groups : ndarray, shape (rows,), or None
        What `from_arrays` was given, one entry per candidate.
    vectors, links, aspects, query_terms, feature_names, reward
        What `from_arrays` was given; tables have one row per candidate, and those of `links` are scipy CSR matrices.
    quotas : Quotas or None
        What lists must keep to: see `with_constraints`.
    numbered : bool
        Whether `problem_ids` are running numbers because no ids were given.
    backend : {"pandas", "polars", "pyarrow"} or None
        The library of the frame that the problems were read from, which `Lists.to_frame` returns too.

    See Also
    --------
    listwright.read : Problems from CSV, JSON lines or Parquet files.
    listwright.scan : Problems in Parquet files that are read in parts.
    Lists : What `predict` and `greedy` return.

    Examples
    --------
    >>> problems = Problems.from_arrays([[0.1], [0.9], [0.4]], offsets=[0, 2, 3], problem_ids=["a", "b"])
    >>> problems
    Problems: 2 problems, 3 candidates (1 to 2 each), 1 feature, no reward
    >>> problems["b" == problems.problem_ids].features
    array([[0.4]], dtype=float32)
    """

    features: Any
    offsets: Ints
    context: Floats32 | None
    catalogue: Ints | None
    sizes: Floats | None
    reward: Any
    problem_ids: NDArray[Any]
    item_ids: NDArray[Any] | None
    feature_names: tuple[str, ...] | None
    vectors: Any
    links: dict[str, Any] | None
    aspects: dict[str, Floats32] | None
    query_terms: QueryTerms | None
    groups: NDArray[Any] | None
    quotas: Quotas | None
    numbered: bool
    backend: str | None = None
    catalogue_names: tuple[str, ...] | None = None  # the item of each number of the catalogue, where a table named them
    gaps: tuple[Gaps, Gaps] = ((), ())  # of features and of context that a table had no value for

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
        query_terms: QueryTerms | None = None,
        groups: Sequence[Hashable] | NDArray[Any] | None = None,
        alternatives: Sequence[Hashable] | NDArray[Any] | None = None,
    ) -> Problems:
        """Make problems from arrays. C-contiguous float32 features are used without a copy.

        Parameters
        ----------
        features : array-like or scipy CSR matrix
            (rows, d) with `offsets`, (problems, items, d), or a scipy CSR matrix with `offsets`. May have no columns if
            `context` or `catalogue` is given.
        offsets : array-like of shape (problems + 1,), optional
            Where the rows of each problem start, and the end of the last: 0, ..., rows. Not needed for
            three-dimensional features.
        context : array-like of shape (problems, c), optional
            What is known of each problem as a whole.
        catalogue : array-like, optional
            Which item of a recurring set a row is (0, 1, ...): one entry per row, (problems, items), or (items,) if
            every problem has the same items.
        sizes : array-like, optional
            How much of a budget a row uses (bytes, tokens, seconds), in the shapes of `catalogue`.
        reward : Reward, optional
            What a list is worth, from `listwright.rewards`. Needed for training and evaluation only.
        problem_ids : sequence of hashables, optional
            The name of each problem; 0, 1, ... by default.
        item_ids : sequence, optional
            The name of each candidate, in the shapes of `catalogue`.
        feature_names : sequence of str, optional
            Names of the columns, used in messages and explanations.
        vectors : array-like or scipy CSR matrix, optional
            (rows, v) or (problems, items, v): what similarity between candidates is measured on (embeddings, tf-idf),
            where that is not `features`.
        links : dict of str to array-like or scipy CSR matrix, optional
            By name, how strongly a candidate is linked to the others of its problem (citations, mentions, shared
            words): (rows, w) or (problems, items, items). Column j is the problem's j-th candidate.
        aspects : dict of str to array-like, optional
            By name, how well a candidate answers each aspect (suggestion, sub-query) of its problem, from 0 to 1:
            (rows, a) or (problems, items, a). Aspects belong to their problem: the same column of two problems need not
            mean the same, and aspects that a problem lacks are 0. See `features.Aspects`.
        query_terms : QueryTerms, optional
            What each problem asks for, and which of it the parts of each candidate provide. See `QueryTerms`.
        groups : array-like, optional
            A label for each candidate, such as its source, author or section; same shapes as `catalogue`. With
            `per_group=` a list holds at most so many candidates of a group.
        alternatives : array-like, optional
            A label for each candidate, such as the solver of a time slice; same shapes as `catalogue`. Of one label, a
            larger candidate in the list makes those that are not larger worthless, so that they are not picked.

        Raises
        ------
        InputError
            If shapes do not agree, if numbers are not finite, if ids repeat, or if there is nothing to tell candidates
            apart. The message names the argument and, where it can, the problem and item.

        Examples
        --------
        >>> import listwright as lw
        >>> clicked = [[0, 1], [1, 0]]
        >>> Problems.from_arrays(
        ...     [[[3.0], [2.0]], [[5.0], [4.0]]], feature_names=["price"], reward=lw.rewards.AnySuccess(clicked)
        ... )
        Problems: 2 problems, 4 candidates (2 each), 1 feature, reward AnySuccess
        """
        intake = Intake.of(features, offsets, problem_ids, item_ids)
        if query_terms is not None:
            query_terms.check(intake.offsets)
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
            query_terms=query_terms,
            groups=intake.groups(groups),
            quotas=None,
            numbered=problem_ids is None,
        ).with_constraints(alternatives=intake.groups(alternatives))

    @classmethod
    def from_frame(
        cls,
        frame: IntoFrame,
        *,
        problem: str = "problem",
        item: str | None = "item",
        size: str | None = "size",
        group: str | None = None,
        features: Sequence[str] | None = None,
        context: str | Sequence[str] | None = "auto",
        vectors: str | Sequence[str] | None = None,
        links: str | Sequence[str] | None = None,
        catalogue: str | None = "auto",
        catalogue_names: Sequence[str] | None = None,
        categorical: Sequence[str] = (),
        levels: Mapping[str, Sequence[str]] | None = None,
        ignore: Sequence[str] = (),
        missing: str = "auto",
        alternatives: str | None = None,
        weight: str | None = None,
        reward: Any = None,
        references: Any = None,
        columns: Columns | None = None,
        new_levels: str = "error",
    ) -> Problems:
        """Make problems from a frame of pandas, polars, pyarrow or DuckDB with one row per candidate.

        Lazy frames are collected. Rows of a problem need not be contiguous; problems come in order of first appearance.
        Wherever several columns are named, patterns such as `"topic_*"` may stand for them.

        Parameters
        ----------
        problem, item, size
            The columns with the problem's id, the item's id, and what the item takes of a budget. The last two may be
            missing unless they are named.
        group : str or None
            The column with the item's group (source, author, section), for `per_group=`; it is no feature.
        features : sequence of str or None
            Columns of numbers; by default every numeric column that is nothing else.
        context : "auto", sequence of str or None
            Columns that say something of the problem as a whole, the same in all its rows. "auto" takes the features
            that have one value in every problem, and says so; None takes none.
        vectors : str, sequence of str or None
            What similarity is measured on: a column of lists of numbers, or several columns.
        links : str, sequence of str or None
            Columns that list the ids of other candidates of the same problem (citations, mentions), one kind of link
            per column. Ids of items that the problem does not offer are left out.
        catalogue : "auto", str or None
            The column that says which item of a recurring set a row is. "auto" takes the column of items where most
            problems offer the same ones and there is a context, and says so; None takes none.
        catalogue_names : sequence of str or None
            Names of the catalogue's items in the order of a trained model.
        categorical : sequence of str
            Columns of text that become a 0/1 feature (or context) for each level.
        levels : dict or None
            Levels of categorical columns, where not those of this table.
        ignore : sequence of str
            Columns that are not features.
        missing : {"auto", "error"}
            What to do with missing features: "auto" fills them with the median, adds a 0/1 column for those that are
            missing together, and says so (where a column had none in training, a model warns, and takes the training
            median); missing categories are none of the levels. "error" names all columns that have some.
        alternatives : str or None
            The column with what candidates are alternatives of, such as the solver of a time slice: of one value, a
            larger candidate in the list makes those that are not larger worthless.
        weight : str or None
            The column with the weight of each problem, the same in all its rows: how much it counts in learning and in
            mean values.
        reward
            What a list is worth, such as `"any:clicked"` or `"coverage:topics"`: see `tables.parse_reward`.
        references
            For `"rouge:..."`: a frame with columns problem and reference, or a dict of texts by problem.
        columns : Columns or None
            How an earlier table was read, instead of all column options above.
        new_levels : str
            What a level that is not known means, here and in later frames of the same model: "error", or "zeros" for
            none of the levels.

        Returns
        -------
        Problems
            One problem per id, with its candidates in the order of the frame, and with the reward if one was given.

        Raises
        ------
        InputError
            If a column is missing, a value is missing or of the wrong kind, an item occurs twice in a problem, or no
            feature is left. The message names the row, the column and the option that helps.

        See Also
        --------
        listwright.read : The same from files.
        listwright.scan : The same for Parquet files that do not fit in memory.

        Examples
        --------
        >>> import pyarrow as pa
        >>> frame = pa.table(
        ...     {"problem": ["q1", "q2", "q1"], "item": ["a", "a", "b"], "price": [3, 1, 2], "clicked": [0, 1, 1]}
        ... )
        >>> problems = Problems.from_frame(frame, reward="any:clicked")
        >>> problems
        Problems: 2 problems, 3 candidates (1 to 2 each), 1 feature, reward AnySuccess
        >>> problems.features.ravel(), problems.item_ids
        (array([3., 2., 1.], dtype=float32), array(['a', 'b', 'a'], dtype='<U1'))
        """
        from listwright.frames.columns import ColumnOptions  # only here: reading frames takes pyarrow
        from listwright.frames.frame import as_table, references_by_problem

        roles = problem, item, size, group, features, context, vectors, links, catalogue, catalogue_names
        values = categorical, levels, ignore, missing, alternatives, weight, columns
        options = ColumnOptions(*roles, *values, new_levels=new_levels)
        known = references_by_problem(references, problem)
        return build_problems(as_table(frame), options, reward=reward, references=known)[0]

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

    @property
    def n_items(self) -> int:
        """Size of the catalogue as far as these problems show: its highest number + 1, or 0 without a catalogue."""
        return 0 if self.catalogue is None else int(self.catalogue.max(initial=-1)) + 1

    @cached_property
    def counts(self) -> Ints:
        """Number of candidates of each problem, shape (problems,)."""
        return self.offsets[1:] - self.offsets[:-1]

    @cached_property
    def owners(self) -> Ints:
        """Index of the problem that each row belongs to, shape (rows,)."""
        return np.repeat(np.arange(len(self)), self.counts)

    def name_of(self, row: int) -> str:
        """Return how messages name a row, such as "item 7 of problem q17"."""
        owner = int(self.owners[row])
        item = row - int(self.offsets[owner]) if self.item_ids is None else self.item_ids[row]
        return f"item {item!s} of problem {self.problem_ids[owner]!s}"

    def without_reward(self) -> Problems:
        """Return the same problems without their reward, as a policy sees them."""
        return self if self.reward is None else self._with(reward=None)

    def with_reward(self, reward: BoundReward) -> Problems:
        """Return the same problems with another reward, from `listwright.rewards`. All arrays are shared.

        Examples
        --------
        >>> import listwright as lw
        >>> Problems.from_arrays(np.zeros((1, 2, 1))).with_reward(lw.rewards.AnySuccess([[0, 1]]))
        Problems: 1 problem, 2 candidates (2 each), 1 feature, reward AnySuccess
        """
        return self._with(reward=_bind(reward, self.offsets))

    def with_features(self, features: Floats32, names: Sequence[str] | None = None) -> Problems:
        """Return the same problems with other columns, shape (rows, d), for the same rows; names stay unless given.

        Examples
        --------
        >>> Problems.from_arrays(np.zeros((2, 3, 1))).with_features(np.ones((6, 2), dtype=np.float32), ["u", "v"])
        Problems: 2 problems, 6 candidates (3 each), 2 features, no reward
        """
        names = self.feature_names if names is None else tuple(names)
        return self._with(features=features, feature_names=names, gaps=((), self.gaps[1]))

    def with_nan(self) -> Problems:
        """Return the same problems with NaN, in place of medians, where their table had no value."""
        if not any(self.gaps):
            return self
        of_features, of_context = self.gaps
        return self._with(features=_nan_at(self.features, of_features), context=_nan_at(self.context, of_context))

    def with_catalogue(self, catalogue: Ints) -> Problems:
        """Return the same problems with the given catalogue item for each row."""
        return self._with(catalogue=catalogue, catalogue_names=None)

    def with_catalogue_order(self, known: Sequence[str]) -> Problems:
        """Return the same problems with their named items numbered as in `known`, new ones behind."""
        names = self.catalogue_names
        if self.catalogue is None or names is None or names == tuple(known):
            return self
        number = {name: i for i, name in enumerate(known)}
        for row in np.unique(self.catalogue):  # only items that occur get a number
            number.setdefault(names[row], len(number))
        codes = np.array([number.get(name, -1) for name in names], dtype=np.int64)
        return self._with(catalogue=codes[self.catalogue], catalogue_names=tuple(number))

    def with_constraints(
        self,
        *,
        per_group: Any = None,
        groups: Any = None,
        exclude: Any = None,
        pin: Any = None,
        budgets: Sequence[tuple[ArrayLike, ArrayLike]] | None = None,
        alternatives: Sequence[Hashable] | NDArray[Any] | None = None,
    ) -> Problems:
        """Return the same problems with constraints that every list of theirs keeps to; None leaves a part as it is.

        Whatever builds lists for these problems keeps to them: models, bandits, baselines, `greedy` and the service.

        Parameters
        ----------
        per_group : int, tuple, dict or list, optional
            How many rows of a group a list holds: at most a number, or (least, most), where None is no limit; the same
            for all groups, or by label, where groups without an entry are not limited. A problem with fewer rows of a
            group than its least need only use those. Under a budget, rows that groups need come first, and those that
            do not fit beside the first are left out. A list has one entry for each level of nested groups.
        groups : array-like or list of array-likes, optional
            The labels that `per_group` refers to, if not those of the problems; several for nested groups, from coarse
            to fine.
        exclude : array of int or bool, optional
            Rows that no list may hold.
        pin : array of int or bool, optional
            Rows that come first in the list of their problem, in this order.
        budgets : sequence of (array-like, float or array-like), optional
            Further budgets: what each row uses, and how much there is, for all problems or for each.
        alternatives : array-like, optional
            A label for each row, such as the solver of a time slice: after a row is in a list, rows of its label that
            are not larger are worthless, and are not picked. Needs sizes.

        Examples
        --------
        >>> import listwright as lw
        >>> reward = lw.rewards.Total([[4, 3, 2, 1]])
        >>> problems = Problems.from_arrays(np.zeros((1, 4, 1)), groups=["a", "a", "a", "b"], reward=reward)
        >>> lw.greedy(problems.with_constraints(per_group={"b": (1, None)}), 2)[0]
        array([0, 3])
        >>> lw.greedy(problems.with_constraints(exclude=[0], pin=[2]), 2)[0]
        array([2, 1])
        """
        if all(part is None for part in (per_group, exclude, pin, budgets, alternatives)):
            return self
        if alternatives is not None and self.sizes is None:
            raise InputError("alternatives differ in size, but these problems have no sizes. Pass sizes=, or size=.")
        labels = self.groups if groups is None else groups
        if per_group is not None and labels is None:
            way = "Name their column with group=, or pass groups= to Problems.from_arrays."
            raise InputError(f"per_group needs groups, but these problems have none. {way}")
        before = Quotas.free(self.n_rows) if self.quotas is None else self.quotas
        asked = (labels, per_group, exclude, pin, budgets, alternatives)
        return self._with(quotas=make_quotas(before, self.offsets, *asked))

    def _with(self, **changes: Any) -> Problems:
        return replace(self, **changes)

    def __getitem__(self, key: int | slice | ArrayLike) -> Problems:
        """Return a selection of the problems: by index, slice, boolean mask or list of indices. The reward follows."""
        which = resolve_indices(key, len(self))
        if is_run(which) and len(which) == len(self):
            return self
        run = slice(self.offsets[which[0]], self.offsets[which[-1] + 1])
        rows = run if is_run(which) else pieces(self.offsets, which)
        changes = {name: _at(getattr(self, name), rows) for name in BY_ROW}
        changes |= {name: _at(getattr(self, name), which) for name in ("context", "problem_ids")}
        return self._with(
            **changes,
            offsets=np.concatenate([[0], np.cumsum(self.counts[which])]),
            reward=None if self.reward is None else self.reward.take(which),
            query_terms=None if self.query_terms is None else self.query_terms.take(which, pieces(self.offsets, which)),
        )

    def take(self, indices: ArrayLike, axis: int = 0) -> Problems:
        """Return a selection of the problems by index. scikit-learn's splitters and searches call this, with an axis.

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
        """The problems themselves. scikit-learn looks for this name to find out that it can call `take`."""
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise InputError(
            "Problems are not an array: their rows belong to problems and have a reward. Tools that work on arrays, "
            "such as StandardScaler in a pipeline, cannot take them. listwright scales features itself; transform the "
            "features before Problems.from_arrays, or read problems.features."
        )

    def __iter__(self) -> Iterator[Problems]:
        return (self[i] for i in range(len(self)))

    def batches(self, size: int, rng: np.random.Generator | None = None) -> Iterator[Problems]:
        """Iterate over the problems in batches.

        Parameters
        ----------
        size : int
            Problems per batch; the last batch may be smaller.
        rng : numpy.random.Generator, optional
            Shuffles the problems first.

        Examples
        --------
        >>> [len(batch) for batch in Problems.from_arrays(np.zeros((5, 2, 1))).batches(2)]
        [2, 2, 1]
        """
        if size < 1:
            raise InputError(f"A batch holds at least 1 problem. Got size={size}.")
        order = np.arange(len(self)) if rng is None else rng.permutation(len(self))
        return (self[order[start : start + size]] for start in range(0, len(order), size))

    @staticmethod
    def concat(parts: Sequence[Problems]) -> Problems:
        """Join several batches into one.

        Parameters
        ----------
        parts : sequence of Problems
            Batches with the same columns and the same kinds of data, such as a context or a reward.

        Returns
        -------
        Problems
            The problems of all parts, in order. Where ids were given, they are kept and must be unique; else problems
            are numbered anew.

        Raises
        ------
        InputError
            If there are no parts, if they differ in kind, or if two have a problem of the same id.

        Examples
        --------
        >>> batch = Problems.from_arrays(np.zeros((2, 3, 1)))
        >>> len(Problems.concat([batch, batch]))
        4
        """
        if not parts:
            raise InputError("concat needs at least one Problems. Got none.")
        parts = [part.with_catalogue_order(parts[0].catalogue_names or ()) for part in parts]
        for i in range(1, len(parts)):
            parts[i] = parts[i].with_catalogue_order(parts[i - 1].catalogue_names or ())
        names = max((part.catalogue_names for part in parts), key=lambda names: len(names or ()))
        gaps = parts[0].gaps if all(part.gaps == parts[0].gaps for part in parts) else ((), ())
        return parts[0]._with(**join_fields(parts), catalogue_names=names, gaps=gaps)

    def __repr__(self) -> str:
        low, high = int(self.counts.min()), int(self.counts.max())
        each = f"{low} each" if low == high else f"{low} to {high} each"
        columns = _many(self.n_features, "feature") + (" (sparse)" if sparse.issparse(self.features) else "")
        parts = [_many(len(self), "problem"), f"{_many(self.n_rows, 'candidate')} ({each})", columns]
        parts += [] if self.context is None else [f"context of {self.context.shape[1]}"]
        parts += [] if self.catalogue is None else [f"catalogue of {self.n_items}"]
        parts += [] if self.sizes is None else [f"sizes {self.sizes.min():g} to {self.sizes.max():g}"]
        parts += [] if self.groups is None else [_many(len(set(self.groups.tolist())), "group")]
        if self.links is not None:
            few = len(self.links) <= MOST_NAMED
            parts.append(f"links by {', '.join(self.links)}" if few else f"{len(self.links)} kinds of links")
        parts += [] if self.aspects is None else [f"aspects by {', '.join(self.aspects)}"]
        parts += [] if self.query_terms is None else ["query terms"]
        parts.append("no reward" if self.reward is None else f"reward {type(self.reward).__name__}")
        return "Problems: " + ", ".join(parts)

    def _repr_html_(self) -> str:
        if sparse.issparse(self.features) or not self.n_features:
            return html_table(repr(self), [], [])
        names = self.feature_names or tuple(f"feature {i}" for i in range(self.n_features))
        columns = zip(names[:SHOWN], self.features.T[:SHOWN], strict=True)
        rows = [[name, float(x.min()), float(x.mean()), float(x.max())] for name, x in columns]
        note = f"The first {SHOWN} of {self.n_features:,} features." if self.n_features > SHOWN else ""
        return html_table(repr(self), ["feature", "least", "mean", "most"], rows, note=note)


def build_problems(
    table: ColumnTable, options: ColumnOptions, *, reward: Any = None, references: Any = None
) -> tuple[Problems, Columns]:
    from listwright.frames.frame import table_arrays

    arrays, columns = table_arrays(table, options, reward=reward, references=references)
    names = columns.catalogue_names if columns.catalogue is not None else None
    known = {"backend": table.backend, "catalogue_names": names or None}
    gaps = columns.gaps(columns.features), columns.gaps(columns.context)
    return Problems.from_arrays(**arrays)._with(**known, gaps=gaps), columns


def _bind(reward: BoundReward | None, offsets: Ints) -> BoundReward | None:
    if reward is not None and not hasattr(reward, "bind"):
        got = type(reward).__name__
        raise InputError(f"reward must come from listwright.rewards. Got {got}. See rewards.Function.")
    return None if reward is None else reward.bind(offsets)


def _nan_at(table: Any, gaps: Gaps) -> Any:
    if gaps:
        columns, marks = np.array(gaps).T
        table = table.copy()
        table[:, columns] = np.where(table[:, marks] > 0, np.nan, table[:, columns])
    return table


def _at(values: Any, which: Any) -> Any:
    if isinstance(values, dict):
        return {name: table[which] for name, table in values.items()}
    return None if values is None else values[which]


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
