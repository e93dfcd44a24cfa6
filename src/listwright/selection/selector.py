"""Selection as an estimator, and from streams that are read once."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from listwright._internal.arrays import Bools, Floats, Floats32, Ints, as_generator, at_least_one
from listwright._internal.parameters import Parameters, check_fitted
from listwright._kernels.tiles import first_above
from listwright.errors import InputError
from listwright.selection.intake import collect_frame, read_vectors
from listwright.selection.select import select
from listwright.selection.similarity import as_dense, lengths_of, make_vectors

STREAMED = ("facility_location", "log_det")


class Selector(Parameters):
    """Picks k rows of a table, or of a stream of which every row is seen once.

    `fit` calls `select`. `partial_fit` takes one chunk of rows after the other, or an iterator over chunks (a
    generator, a Parquet reader, slices of a memory-mapped file), keeps a few candidate selections and forgets all other
    rows: sieve streaming [1]_, whose best selection is worth at least 1/2 - epsilon of the best k rows of the whole
    stream, measured on the targets. `transform` returns the picked rows of a table or frame, so that it can stand in a
    pipeline that chooses training data.

    Parameters
    ----------
    k : int, default 10
        Number of rows.
    reward : str, dict, Reward or callable, default "facility_location"
        What a selection is worth, as in `select`; streams take "facility_location" and "log_det".
    metric : str, default "cosine"
        Similarity of two rows, as in `select`; streams take "cosine" and "dot".
    targets : array-like, optional
        Rows to represent. A stream without targets represents a sample of its first rows.
    epsilon : float, default 0.1
        Precision of a stream: smaller is slower and uses more memory.
    sample : int, default 2000
        Size of that sample, which is drawn from the first chunks that have so many rows together.
    scale : float, default 1.0
        For "log_det".
    options : dict, optional
        Further arguments of `select`, for `fit`.
    random_state : int, numpy.random.Generator or None, optional
        Seed of the sample.

    Attributes
    ----------
    rows_ : ndarray of int
        Numbers of the picked rows; in a stream, counted from its first row.
    vectors_ : ndarray of float32
        The picked rows themselves.
    ids_ : ndarray or None
        Their names, if the input has names.
    value_ : float
        What they are worth.
    n_seen_ : int
        Number of rows seen.
    n_features_in_ : int
        Number of columns.
    selection_ : Selection
        After `fit`: the result of `select`.

    See Also
    --------
    select : The same as a function, for tables in memory.

    References
    ----------
    .. [1] Badanidiyuru, Mirzasoleiman, Karbasi & Krause (2014). Streaming submodular maximization.

    Examples
    --------
    >>> import numpy as np
    >>> chunks = np.random.default_rng(0).random((5, 100, 8))
    >>> selector = Selector(4, reward="log_det")
    >>> for chunk in chunks:
    ...     selector = selector.partial_fit(chunk)
    >>> (
    ...     len(selector.rows_),
    ...     selector.n_seen_,
    ...     bool(selector.value_ > 0.5 * select(chunks.reshape(-1, 8), 4).value / 500),
    ... )
    (4, 500, True)
    >>> Selector(2).fit_transform(np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]))
    array([[0.9, 0.1],
           [0. , 1. ]])
    """

    _largest: float  # value of the best single row so far
    _targets: Floats32 | None  # rows to represent; None while they are not known
    _waiting: list[tuple[Floats32, Floats32, Any]]  # chunks, scaled and as they were passed, and names of their rows
    _held: dict[int, tuple[Floats32, Any]]  # the rows that a sieve holds, and their names
    _best: StreamPicks | None  # None while it has to be found
    sieves_: dict[int, Sieve]

    def __init__(
        self,
        k: int = 10,
        *,
        reward: Any = "facility_location",
        metric: str = "cosine",
        targets: Any = None,
        epsilon: float = 0.1,
        sample: int = 2000,
        scale: float = 1.0,
        options: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.k = k
        self.reward = reward
        self.metric = metric
        self.targets = targets
        self.epsilon = epsilon
        self.sample = sample
        self.scale = scale
        self.options = options
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select rows of a whole table."""
        X, targets = collect_frame(X), {} if self.targets is None else {"targets": self.targets}
        options = {"scale": self.scale, "random_state": self.random_state} | (self.options or {}) | targets
        source = read_vectors(X, column=options.pop("column", None), ids=options.pop("ids", None))
        self.selection_ = select(source, self.k, reward=self.reward, metric=self.metric, **options)
        self.__dict__.pop("sieves_", None)
        (self.n_seen_, self.n_features_in_), rows = source.table.shape, self.selection_.rows
        self._columns = list(getattr(X, "columns", []))
        self._best = StreamPicks(rows, self.selection_.value, as_dense(source.table[rows]), self.selection_.ids)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take the next rows of a stream into account.

        Parameters
        ----------
        X : as in select, iterator or ParquetFile
            The next rows, or an iterator over several chunks of them.
        y : None
            Ignored.

        Returns
        -------
        Selector
            Itself, with the best selection so far.
        """
        if isinstance(X, Iterator) or hasattr(X, "iter_batches"):
            for some in X.iter_batches() if hasattr(X, "iter_batches") else X:
                self.partial_fit(some)
            return self
        if isinstance(X, list) and X and np.ndim(X[0]) == 2:
            raise InputError("partial_fit takes one chunk, or an iterator. Pass a list of chunks as iter(chunks).")
        if hasattr(X, "shape") and X.shape[0] == 0:  # readers may give empty chunks
            return self
        source = read_vectors(X)
        chunk, rows = self._scale_rows(source.table), as_dense(source.table)
        if not hasattr(self, "sieves_"):
            self._begin(chunk.shape[1])
        self._check_width(chunk, "the chunks before")
        self._waiting = [*self._waiting, (chunk, rows, [None] * len(rows) if source.ids is None else source.ids)]
        self.n_seen_, self._best = self.n_seen_ + len(rows), None
        if self._targets is not None or sum(len(part[0]) for part in self._waiting) >= self.sample:
            self._take_waiting()
        return self

    @property
    def rows_(self) -> Ints:
        """Numbers of the picked rows, in the order in which they were picked."""
        return self._best_picks.rows

    @property
    def value_(self) -> float:
        """What the picked rows are worth."""
        return self._best_picks.value

    @property
    def vectors_(self) -> Floats32:
        """The picked rows themselves."""
        return self._best_picks.vectors

    @property
    def ids_(self) -> Any:
        """Names of the picked rows; None if the input has none."""
        return self._best_picks.ids

    def get_support(self, indices: bool = False) -> Bools | Ints:
        """Return a mask of the picked rows, or their numbers in ascending order."""
        check_fitted(self)
        if indices:
            return np.sort(self.rows_)
        mask = np.zeros(self.n_seen_, dtype=bool)
        mask[self.rows_] = True
        return mask

    def transform(self, X: Any) -> Any:
        """Return the picked rows of a table or frame, in ascending order; those of a file as an array."""
        rows, X = self.get_support(indices=True), collect_frame(X)
        X = X if hasattr(X, "shape") else read_vectors(X).table
        if X.shape[0] <= rows.max(initial=-1):
            raise InputError(f"transform takes the table that fit selected row {rows[-1]} of. Got {X.shape[0]} rows.")
        if hasattr(X, "iloc"):
            return X.iloc[rows]
        if type(X).__module__.partition(".")[0] == "polars":
            return X[rows.tolist()]
        return X.take(rows) if type(X).__module__.startswith("pyarrow") else X[rows]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns, which stay as they are."""
        check_fitted(self)
        columns = input_features if input_features is not None else getattr(self, "_columns", [])
        return np.array(columns if len(columns) else [f"x{i}" for i in range(self.n_features_in_)], dtype=object)

    def set_output(self, *, transform: Any = None) -> Self:
        """Do nothing, for pipelines: rows are returned in the kind of table that they came in."""
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Select rows of a table, and return them."""
        X = collect_frame(X)
        return self.fit(X).transform(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_seen_")

    @property
    def _best_picks(self) -> StreamPicks:
        """The best selection so far; in a stream, filled up with rows of other sieves if it has fewer than k."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("A Selector has no picks before fit or partial_fit.")
        if self._best is None:
            twin = copy.copy(self)
            if self._waiting:  # the targets are not yet known
                twin._held = {}
                twin._take_waiting()
            self._best = twin._fill_up()
        return self._best

    def _fill_up(self) -> StreamPicks:
        best = copy.deepcopy(max(self.sieves_.values(), key=lambda sieve: sieve.value, default=Sieve(self.k, 0.0)))
        taken = [row for power in sorted(self.sieves_, reverse=True) for row in self.sieves_[power].rows]
        others = np.array(list(dict.fromkeys(row for row in taken if row not in best.rows)), dtype=np.int64)
        if len(others) and len(best.rows) < self.k:
            chunk = self._scale_rows(np.stack([self._held[row][0] for row in others.tolist()]))
            best.guess = 0.0  # takes whatever comes
            best.take(chunk, self._similar(chunk), others)
        held = [self._held[row] for row in best.rows]
        named = any(name is not None for _, name in held)  # the first chunk of a pandas frame may only count its rows
        names = [row if name is None else name for row, (_, name) in zip(best.rows, held, strict=True)]
        vectors = np.array([vector for vector, _ in held], dtype=np.float32).reshape(len(held), self.n_features_in_)
        return StreamPicks(np.array(best.rows, dtype=np.int64), best.value, vectors, np.array(names) if named else None)

    def _scale_rows(self, table: Any, name: str = "vectors") -> Floats32:
        if self.metric not in ("cosine", "dot"):
            raise InputError(f"A stream takes metric cosine or dot. Got {self.metric!r}.")
        return as_dense(make_vectors(table, self.metric, name).take(slice(None)))

    def _begin(self, width: int) -> None:
        at_least_one("k", self.k)
        at_least_one("sample", self.sample)
        if self.reward not in STREAMED:
            raise InputError(f"A stream takes reward {' or '.join(STREAMED)}. Got {self.reward!r}.")
        if not 0 < self.epsilon < 1:
            raise InputError(f"epsilon must be between 0 and 1. Got {self.epsilon!r}.")
        if not (self.scale > 0 and np.isfinite(self.scale)):
            raise InputError(f"scale must be above 0. Got {self.scale!r}.")
        if self.options:
            raise InputError(f"options= are for fit, and a stream keeps to none. Got {', '.join(self.options)}.")
        self.n_features_in_, self._targets = width, None
        if self.reward == "log_det":
            self._targets = np.zeros((0, width), dtype=np.float32)
        elif self.targets is not None:
            self._targets = self._scale_rows(read_vectors(self.targets, "targets").table, "targets")
            self._check_width(self._targets, "the first chunk")
        self.n_seen_, self._largest, self._held, self.sieves_, self._waiting = 0, 0.0, {}, {}, []

    def _take_waiting(self) -> None:
        """Let the sieves see the rows that wait, of which targets are drawn first if there are none yet."""
        chunk, rows = (np.concatenate([part[i] for part in self._waiting]) for i in range(2))
        names = [name for part in self._waiting for name in part[2]]
        if self._targets is None:
            rng = as_generator(self.random_state)
            self._targets = chunk[np.sort(rng.choice(len(chunk), min(self.sample, len(chunk)), replace=False))]
        similar, first = self._similar(chunk), self.n_seen_ - len(chunk)
        alone = np.log1p(self.scale * lengths_of(chunk)) if self.reward == "log_det" else similar.sum(1, np.float64)
        self._largest = max(self._largest, float(alone.max(initial=0.0)))
        self._keep_sieves(len(self._targets))
        for sieve in self.sieves_.values():
            for at in sieve.take(chunk, similar, first + np.arange(len(chunk))):
                self._held[first + at] = rows[at], names[at]
        self._waiting = []

    def _check_width(self, rows: Floats32, where: str) -> None:
        if rows.shape[1] != self.n_features_in_:
            raise InputError(f"Rows must have {self.n_features_in_} numbers, as in {where}. Got {rows.shape[1]}.")

    def _similar(self, chunk: Floats32) -> Floats32:
        assert self._targets is not None
        return np.maximum(chunk @ self._targets.T, np.float32(0.0))

    def _keep_sieves(self, n_targets: int) -> None:
        """Drop the sieves whose guess of the best value is too low by now, and add those that are possible."""
        if self._largest <= 0:
            return
        step = math.log1p(self.epsilon)
        low = math.ceil(math.log(self._largest) / step - 1e-9)
        high = math.floor(math.log(2 * self.k * self._largest) / step + 1e-9)
        scale = self.scale if self.reward == "log_det" else None
        kept = {power: sieve for power, sieve in self.sieves_.items() if power >= low}
        if len(kept) < len(self.sieves_):
            held = {row for sieve in kept.values() for row in sieve.rows}
            self._held = {row: self._held[row] for row in held}
        for power in range(low, high + 1):
            if power not in kept:
                kept[power] = Sieve(self.k, (1.0 + self.epsilon) ** power, n_targets, self.n_features_in_, scale)
        self.sieves_ = kept


class StreamPicks(NamedTuple):
    rows: Ints
    value: float
    vectors: Floats32
    ids: Any


class Sieve:
    """One candidate selection: takes every row that adds enough, for one guess of the best value."""

    def __init__(self, k: int, guess: float, n_targets: int = 0, width: int = 0, scale: float | None = None) -> None:
        self.k, self.guess, self.scale, self.value = k, guess, scale, 0.0
        self.rows: list[int] = []
        self.best = np.zeros(n_targets, dtype=np.float32)
        self.axes, self.shares = np.zeros((0, width)), np.zeros(0)

    def take(self, chunk: Floats32, similar: Floats32, numbers: Ints) -> list[int]:
        """Take the rows of a chunk that add enough, by their numbers; return their places in the chunk."""
        at, taken = 0, []
        while at < len(chunk) and len(self.rows) < self.k:
            least = (self.guess / 2.0 - self.value) / (self.k - len(self.rows))
            at, gain = self._next(chunk, similar, at, least)
            if at < len(chunk):
                self.rows.append(int(numbers[at]))
                self.value += gain
                self._add(chunk[at].astype(np.float64), similar[at], gain)
                taken.append(at)
                at += 1
        return taken

    def _next(self, chunk: Floats32, similar: Floats32, at: int, least: float) -> tuple[int, float]:
        if self.scale is None:
            return first_above(similar, self.best, at, least)
        gains = np.log(np.maximum(self._remaining(chunk[at:].astype(np.float64)), 1.0))
        enough = np.flatnonzero(gains >= least)
        return (at + int(enough[0]), float(gains[enough[0]])) if len(enough) else (len(chunk), 0.0)

    def _remaining(self, rows: Floats) -> Floats:
        """Return 1 + scale * squared length of what the picks do not explain of some rows."""
        assert self.scale is not None
        explained = (rows @ self.axes.T) ** 2 @ self.shares
        return 1.0 + self.scale * (np.einsum("ij,ij->i", rows, rows) - explained)

    def _add(self, row: Floats, similar: Floats32, gain: float) -> None:
        if self.scale is None:
            self.best = np.maximum(self.best, similar)
            return
        axis = row - (self.shares * (self.axes @ row)) @ self.axes
        self.axes, self.shares = np.vstack([self.axes, axis]), np.append(self.shares, self.scale / math.exp(gain))
