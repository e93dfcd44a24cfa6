"""The smallest and largest value that every column had in training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from listwright._internal.arrays import Floats32
from listwright._internal.saved import saved_as
from listwright.problems import Problems


@saved_as("Span")
@dataclass(frozen=True, eq=False)
class Span:
    """The range of each column of one table."""

    low: Floats32  # the smallest and largest value of each column
    high: Floats32

    def validation_error(self) -> str:
        """Return what is wrong with a range that was read from a file; "" if nothing is."""
        if self.low.ndim != 1 or self.low.shape != self.high.shape:
            return "the ends of ranges must be equal in number"
        ends = np.stack([self.low, self.high])
        right = np.isfinite(ends).all() and (ends[0] <= ends[1]).all()
        return "" if right else "ranges must be finite, from low to high"

    @classmethod
    def of(cls, table: Any) -> Self:
        """Return the range of each column; columns of an empty table span from 0 to 0."""
        if not table.shape[0]:
            zeros = np.zeros(table.shape[1], dtype=np.float32)
            return cls(zeros, zeros)
        ends = (table.min(axis=0), table.max(axis=0))
        low, high = (np.asarray(end.toarray() if sparse.issparse(end) else end, dtype=np.float32) for end in ends)
        return cls(low.reshape(-1), high.reshape(-1))

    def merged(self, other: Self) -> Self:
        """Return the range over both tables."""
        return type(self)(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def limits(self, tolerance: float) -> tuple[Floats32, Floats32]:
        """Return the range widened on both sides by `tolerance` times its width."""
        low, high = self.low.astype(np.float64), self.high.astype(np.float64)
        width = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
        most = float(np.finfo(np.float32).max)
        ends = (np.clip(end, -most, most) for end in (low - tolerance * width, high + tolerance * width))
        lowest, highest = (end.astype(np.float32) for end in ends)
        return lowest, highest


@saved_as("Ranges")
@dataclass(frozen=True, eq=False)
class Ranges:
    """The ranges of the features, and of the context and the vectors if a model uses them.

    They are saved with a fitted model, in its signature, so that its users can detect input that is unlike the training
    data.
    """

    features: Span  # ranges of the features
    context: Span | None = None  # ranges of the context and of the vectors
    vectors: Span | None = None

    @classmethod
    def of(cls, problems: Problems) -> Self:
        """Return the ranges over a batch of problems."""
        return cls(
            Span.of(problems.features),
            None if problems.context is None else Span.of(problems.context),
            None if problems.vectors is None else Span.of(problems.vectors),
        )

    def merged(self, other: Self) -> Self:
        """Return the ranges over the problems of both."""
        pairs = (self.context, other.context), (self.vectors, other.vectors)
        context, vectors = (None if one is None or two is None else one.merged(two) for one, two in pairs)
        return type(self)(self.features.merged(other.features), context, vectors)
