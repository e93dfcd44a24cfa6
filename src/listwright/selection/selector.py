"""Selection as an estimator, and from streams that are read once."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from listwright._internal.arrays import Bools, Floats, Floats32, Ints, as_generator, at_least_one
from listwright._internal.parameters import Parameters, check_fitted
from listwright._kernels.tiles import first_above
from listwright.errors import InputError
from listwright.selection.intake import read_vectors
from listwright.selection.select import select
from listwright.selection.similarity import make_vectors

STREAMED = ("facility_location", "log_det")


class Selector(Parameters):
    """Picks k rows of a table, or of a stream of which every row is seen once.

    `fit` calls `select`. `partial_fit` takes one chunk of rows after the other (from a generator, a Parquet reader or a
    memory-mapped file), keeps a few candidate selections and forgets all other rows: sieve streaming [1]_, whose best
    selection is worth at least 1/2 - epsilon of the best k rows of the whole stream. `transform` returns the picked
    rows of a table or frame, so that it can stand in a pipeline that chooses training data.

    Parameters
    ----------
    k : int, default 10
        Number of rows.
    reward : str, default "facility_location"
        What a selection is worth, as in `select`; streams take "facility_location" and "log_det".
    metric : str, default "cosine"
        Similarity of two rows, as in `select`; streams take "cosine" and "dot".
    targets : array-like, optional
        Rows to represent. A stream without targets represents a sample of its first chunk.
    epsilon : float, default 0.1
        Precision of a stream: smaller is slower and uses more memory.
    sample : int, default 2000
        Size of the sample of the first chunk.
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
        The picked rows themselves, of a stream.
    value_ : float
        What they are worth.
    n_seen_ : int
        Number of rows seen.
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
    _weights: Floats | None  # of the targets; None for log det
    sieves_: dict[int, Sieve]

    def __init__(
        self,
        k: int = 10,
        *,
        reward: str = "facility_location",
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
        targets = {} if self.targets is None else {"targets": self.targets}
        options = {"scale": self.scale, "random_state": self.random_state} | (self.options or {}) | targets
        self.selection_ = select(X, self.k, reward=self.reward, metric=self.metric, **options)
        self.rows_, self.value_ = self.selection_.rows, self.selection_.value
        self.n_seen_ = int(read_vectors(X).table.shape[0]) if not hasattr(X, "__len__") else len(X)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take the next rows of a stream into account.

        Parameters
        ----------
        X : as in select
            The next rows.
        y : None
            Ignored.

        Returns
        -------
        Selector
            Itself, with the best selection so far.
        """
        chunk = self._rows(X)
        if not hasattr(self, "sieves_"):
            self._begin(chunk)
        similar = self._similar(chunk)
        alone = similar @ self._weights if self._weights is not None else np.log1p(self.scale * _squares(chunk))
        self._largest = max(self._largest, float(alone.max(initial=0.0)))
        self._keep_sieves(chunk.shape[1])
        for sieve in self.sieves_.values():
            sieve.take(chunk, similar, self.n_seen_)
        self.n_seen_ += len(chunk)
        best = max(self.sieves_.values(), key=lambda sieve: sieve.value, default=None)
        if best is not None:
            self.rows_, self.value_ = np.array(best.rows, dtype=np.int64), best.value
            self.vectors_ = np.array(best.vectors, dtype=np.float32).reshape(len(best.rows), -1)
        return self

    def get_support(self, indices: bool = False) -> Bools | Ints:
        """Return a mask of the picked rows, or their numbers in ascending order."""
        check_fitted(self)
        if indices:
            return np.sort(self.rows_)
        mask = np.zeros(self.n_seen_, dtype=bool)
        mask[self.rows_] = True
        return mask

    def transform(self, X: Any) -> Any:
        """Return the picked rows of a table or frame, in ascending order."""
        rows = self.get_support(indices=True)
        if hasattr(X, "iloc"):
            return X.iloc[rows]
        if type(X).__module__.partition(".")[0] == "polars":
            return X[rows.tolist()]
        return X.take(rows) if type(X).__module__.startswith("pyarrow") else X[rows]

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Select rows of a table, and return them."""
        return self.fit(X).transform(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rows_")

    def _rows(self, X: Any) -> Floats32:
        """Return the rows of a chunk, scaled as the metric asks for."""
        if self.metric not in ("cosine", "dot"):
            raise InputError(f"A stream takes metric cosine or dot. Got {self.metric!r}.")
        rows = make_vectors(read_vectors(X).table, self.metric).take(slice(None))
        return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float32)

    def _begin(self, chunk: Floats32) -> None:
        """Start a stream: check parameters, and choose the targets."""
        at_least_one("k", self.k)
        if self.reward not in STREAMED:
            raise InputError(f"A stream takes reward {' or '.join(STREAMED)}. Got {self.reward!r}.")
        if not 0 < self.epsilon < 1:
            raise InputError(f"epsilon must be between 0 and 1. Got {self.epsilon!r}.")
        self.n_seen_, self._targets = 0, chunk[:0]
        self._largest, self._weights, self.sieves_ = 0.0, None, {}
        if self.reward == "facility_location":
            rng = as_generator(self.random_state)
            some = np.sort(rng.choice(len(chunk), min(self.sample, len(chunk)), replace=False))
            self._targets = chunk[some] if self.targets is None else self._rows(self.targets)
            self._weights = np.ones(len(self._targets))

    def _similar(self, chunk: Floats32) -> Floats32:
        """Return the similarities of a chunk to the targets."""
        return np.maximum(chunk @ self._targets.T, np.float32(0.0))

    def _keep_sieves(self, width: int) -> None:
        """Drop the sieves whose guess of the best value is too low by now, and add those that are possible."""
        if self._largest <= 0:
            return
        step = math.log1p(self.epsilon)
        low = math.ceil(math.log(self._largest) / step - 1e-9)
        high = math.floor(math.log(2 * self.k * self._largest) / step + 1e-9)
        kept = {power: sieve for power, sieve in self.sieves_.items() if power >= low}
        for power in range(low, high + 1):
            guess = (1.0 + self.epsilon) ** power
            if power not in kept:
                scale = None if self._weights is not None else self.scale
                kept[power] = Sieve(self.k, guess, len(self._targets), width, scale)
        self.sieves_ = kept


class Sieve:
    """One candidate selection: takes every row that adds enough, for one guess of the best value."""

    def __init__(self, k: int, guess: float, n_targets: int, width: int, scale: float | None) -> None:
        self.k, self.guess, self.scale, self.value = k, guess, scale, 0.0
        self.rows: list[int] = []
        self.vectors: list[Floats32] = []
        self.best = np.zeros(n_targets, dtype=np.float32)
        self.axes, self.shares = np.zeros((0, width)), np.zeros(0)

    def take(self, chunk: Floats32, similar: Floats32, first: int) -> None:
        """Take the rows of a chunk that add enough; `first` is the number of its first row."""
        at = 0
        while at < len(chunk) and len(self.rows) < self.k:
            least = (self.guess / 2.0 - self.value) / (self.k - len(self.rows))
            at, gain = self._next(chunk, similar, at, least)
            if at >= len(chunk):
                return
            self.rows.append(first + at)
            self.vectors.append(chunk[at])
            self.value += gain
            self._add(chunk[at].astype(np.float64), similar[at], gain)
            at += 1

    def _next(self, chunk: Floats32, similar: Floats32, at: int, least: float) -> tuple[int, float]:
        """Return the first row from `at` on that adds enough, and what it adds."""
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
        """Update the state with a pick."""
        if self.scale is None:
            self.best = np.maximum(self.best, similar)
            return
        axis = row - (self.shares * (self.axes @ row)) @ self.axes
        self.axes, self.shares = np.vstack([self.axes, axis]), np.append(self.shares, self.scale / math.exp(gain))


def _squares(chunk: Floats32) -> Floats:
    """Return the squared length of each row."""
    return np.einsum("ij,ij->i", chunk, chunk, dtype=np.float64)
